"""What is said of the weather: which figures a question is about, and the sentences that tell them, made for the ear.

Decides what is answered first ("will it rain" by whether it does), which days or hours are meant, and from where on
rain and wind are worth a word. All words are data (`languages/<code>/forecast.toml`). Where the figures come from is
`openmeteo`'s, which days words name `text.days`'.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import lru_cache
import re
from typing import Any, Final, Literal

from backend.languages import own_or_default
from backend.sources.openmeteo import DAYS, Figures, Weather
from backend.text.days import named_days
from backend.text.patterns import any_of
from backend.text.since import Hours
from backend.text.words import fold

LIKELY: Final = 50
"""From this chance in per cent on, rain is likely."""
_SUBJECTS: Final = (
    "sunrise",
    "sunset",
    "uv",
    "humidity",
    "storm",
    "snow",
    "rain",
    "wind",
    "cold",
    "warm",
    "temperature",
)
"""What a question may be about, the first that its words name."""
_MERELY: Final = ("wind", "cold", "warm", "temperature")
"""What "dry" comes before where both are asked for."""
_COMES_DOWN: Final = ("rain", "snow", "storm")
_SKY: Final = {
    "clear": (0,),
    "mostly_clear": (1,),
    "partly_cloudy": (2,),
    "overcast": (3,),
    "fog": (45, 48),
    "drizzle": (51, 53, 55),
    "freezing_rain": (56, 57, 66, 67),
    "light_rain": (61,),
    "rain": (63,),
    "heavy_rain": (65,),
    "light_snow": (71, 77),
    "snow": (73,),
    "heavy_snow": (75,),
    "showers": (80, 81),
    "heavy_showers": (82,),
    "snow_showers": (85, 86),
    "thunderstorm": (95,),
    "hail": (96, 99),
}
_WORD: Final = {code: name for name, codes in _SKY.items() for code in codes}
_SNOW: Final = frozenset((71, 73, 75, 77, 85, 86))
_STORM: Final = frozenset((95, 96, 99))
_WET: Final = frozenset(code for code in _WORD if code >= 51)
_PARTS: Final = {"afternoon": (12, 18)}
_MUCH: Final = 10.0
"""So much rain is spoken of, in millimetres; ten a day soak a garden."""
_FELT: Final = 3.0
"""What it feels like is told where it differs by so many degrees."""
_MILE: Final = 1.609344
_INCH: Final = 25.4
_SHORT: Final = 3
"""More days than this are told in few words each."""
_DAY_HOURS: Final = 24


@dataclass(frozen=True, slots=True)
class Limits:
    """From where on rain (per cent) and wind (miles an hour) are spoken of."""

    chance: float
    wind: float


@dataclass(frozen=True, slots=True)
class Said:
    """Sentences, whether what was asked is so (None: it was no such question), and until when they hold, if not all day."""

    sentences: tuple[str, ...]
    verdict: bool | None = None
    soon: bool = False


@dataclass(frozen=True, slots=True)
class Asking:
    """A question about the weather: its words, who asks, and the place as it is named in a sentence ("" for home)."""

    text: str
    language: str
    now: datetime
    units: Literal["metric", "us"]
    place: str = ""
    settled: bool = True
    """Whether the place is a town or village, which languages say "in" of; of others only the name is said."""


@dataclass(frozen=True, slots=True)
class _Span:
    """The weather of a day, or of a part of one, and how it is named ("tomorrow morning")."""

    when: str
    day: date
    figures: Figures


@lru_cache(maxsize=16)
def _patterns(language: str) -> Mapping[str, re.Pattern[str]]:
    return {
        name: any_of(patterns)
        for name, patterns in own_or_default(language, "forecast")["asked"].items()
    }


def said(weather: Weather, asking: Asking, limits: Limits, hours: Hours) -> Said:
    """Return what answers a question; blocks while words are read."""
    return _Teller(weather, asking, limits, hours).said()


def word(code: int | None) -> str:
    """Return what a day is in a word: dry, rain, snow or storm."""
    if code in _STORM:
        return "storm"
    if code in _SNOW:
        return "snow"
    return "rain" if code in _WET else "dry"


class _Teller:
    """Tells the weather to one who asks; `now` is in the zone of the place."""

    def __init__(self, weather: Weather, asking: Asking, limits: Limits, hours: Hours) -> None:
        self._weather = weather
        self._asking = asking
        self._limits = limits
        self._hours = hours
        self._now = asking.now.astimezone(weather.zone)
        self._today = self._now.date()
        self._words = own_or_default(asking.language, "forecast")
        self._asked = fold(asking.text)
        self._when = named_days(asking.text, asking.language, self._today)
        self._first = True
        # "Will it stay dry" asks for rain, too: "yes" says that there is none.
        self._dry = self._is("dry") and not any(map(self._is, _COMES_DOWN))

    def said(self) -> Said:
        subject = next((name for name in _SUBJECTS if self._is(name)), "")
        if self._dry and (not subject or subject in _MERELY):
            subject = "rain"
        when = self._when
        if not when.days and when.part is None and when.hours is None:
            if subject in _COMES_DOWN and self._is("when"):
                return self._next(subject)
            if (told := self._at_once(subject)) is not None:
                return told
        if subject in ("sunrise", "sunset"):
            return self._sun(subject)
        days = self._days(subject)
        if days and max(days) < 0:
            return Said((self._words["past"],))
        if days and min(day for day in days if day >= 0) >= DAYS:
            return Said((self._words["beyond"].format(days=DAYS),))
        spans = (
            [span for day in days if 0 <= day < DAYS if (span := self._span(day)) is not None]
            if when.hours is None
            else self._from_now(when.hours)
        )
        if not any(span.figures.told or span.figures.wet for span in spans):
            named = self._joined([self._name(day, when.part) for day in days[:_SHORT]])
            return Said((self._sentence("no_data", when=named),))
        beyond = len(days) > len(spans) and max(days, default=0) >= DAYS
        told = self._of(subject, spans)
        if beyond:
            told = replace(
                told, sentences=(*told.sentences, self._words["beyond"].format(days=DAYS))
            )
        return told

    def _is(self, name: str) -> bool:
        pattern = _patterns(self._asking.language).get(name)
        return pattern is not None and pattern.search(self._asked) is not None

    def _days(self, subject: str) -> list[int]:
        """Return the days that are meant, by their distance: where none is named, today for what is asked alone, else three."""
        if self._when.days:
            return list(self._when.days)
        alone = subject or self._when.part or self._when.hours
        return [0] if alone else [0, 1, 2]

    # Figures of a time.

    def _span(self, day: int) -> _Span | None:
        """Return the weather of a day or its part; of today what is left of it."""
        at = self._today + timedelta(days=day)
        part, whole = self._when.part, self._weather.days.get(at, Figures())
        name = self._name(day, part)
        if part is not None:
            begin, end = self._part(at, part)
            over = end <= self._now
            figures = _together(self._between(begin if over else max(begin, self._hour()), end))
            return _Span(name, at, figures if figures.told or figures.wet else whole)
        if not whole.told and not whole.wet:
            whole = _together(self._between(self._midnight(at), self._midnight(at, 1)))
        if day == 0:
            left = _together(self._between(self._hour(), self._midnight(at, 1)))
            # How warm a day gets is asked in the evening too; that it rained in the morning helps nobody.
            whole = replace(
                whole,
                chance=left.chance if left.chance is not None else whole.chance,
                amount=left.amount if left.amount is not None else whole.amount,
                code=left.code if left.code is not None else whole.code,
            )
        return _Span(name, at, whole)

    def _from_now(self, hours: int) -> list[_Span]:
        begin = self._hour()
        known = [at for at, figures in self._weather.hours if figures.told or figures.wet]
        if known:
            # Of no more hours than are told of.
            hours = min(hours, max(1, (known[-1] - begin) // timedelta(hours=1) + 1))
        name = (
            self._words["next_hours"].format(hours=hours) if hours > 1 else self._words["next_hour"]
        )
        return [_Span(name, self._today, _together(self._between(begin, _later(self._now, hours))))]

    def _part(self, at: date, part: str) -> tuple[datetime, datetime]:
        evening, morning = self._hours.evening, self._hours.morning
        match part:
            case "morning":
                return self._midnight(at, hour=morning), self._midnight(at, hour=12)
            case "afternoon":
                return self._midnight(at, hour=12), self._midnight(at, hour=max(evening, 13))
            case "evening":
                return self._midnight(at, hour=evening), self._midnight(at, 1)
            case _:
                return self._midnight(at, hour=evening), self._midnight(at, 1, hour=morning)

    def _midnight(self, at: date, days: int = 0, hour: int = 0) -> datetime:
        day = at + timedelta(days=days)
        return datetime(day.year, day.month, day.day, hour, tzinfo=self._weather.zone)

    def _hour(self) -> datetime:
        return self._now.replace(minute=0, second=0, microsecond=0)

    def _between(self, begin: datetime, end: datetime) -> list[Figures]:
        """Return the hours from `begin` to `end`; compared as moments, whatever the clocks do between."""
        first, last = begin.timestamp(), end.timestamp()
        return [figures for at, figures in self._weather.hours if first <= at.timestamp() < last]

    # Names of times.

    def _name(self, day: int, part: str | None) -> str:
        words = self._words
        weekday = (self._today.weekday() + day) % 7
        which = {0: "today", 1: "tomorrow"}.get(day, "on")
        if part is not None:
            return str(words["part"][which][part]).format(
                day=words["weekdays"][weekday], on=words["on"][weekday]
            )
        if day in (0, 1):
            return str(words[which])
        if day < 7:
            return str(words["on"][weekday])
        return str(words["on_date"]).format(
            on=words["on"][weekday], date=self._date(self._today + timedelta(days=min(day, 400)))
        )

    def _date(self, day: date) -> str:
        from babel.dates import format_skeleton

        return str(format_skeleton("MMMMd", day, locale=self._asking.language))

    def _together_named(self, spans: Sequence[_Span]) -> str:
        """Return the name of several days: "in the next three days", "on Saturday and on Sunday"."""
        if len(spans) >= _SHORT and spans[0].day == self._today:
            return str(self._words["next_days"]).format(days=len(spans))
        if len(spans) > _SHORT:
            weekdays = self._words["weekdays"]
            return str(self._words["from_to"]).format(
                first=spans[0].when,
                last=spans[-1].when,
                first_day=weekdays[spans[0].day.weekday()],
                last_day=weekdays[spans[-1].day.weekday()],
            )
        return self._joined([span.when for span in spans])

    def _joined(self, names: Sequence[str]) -> str:
        last = (
            f" {self._words['and']} ".join([", ".join(names[:-1]), names[-1]])
            if len(names) > 1
            else ""
        )
        return last or (names[0] if names else "")

    # Sentences.

    def _of(self, subject: str, spans: Sequence[_Span]) -> Said:
        if subject in _COMES_DOWN and any(span.figures.wet for span in spans):
            return self._down(subject, [span for span in spans if span.figures.wet])
        if subject == "wind" and any(span.figures.wind is not None for span in spans):
            return self._wind([span for span in spans if span.figures.wind is not None])
        if subject in ("cold", "warm", "temperature"):
            told = [self._warmth(subject, span) for span in spans]
            if any(told):
                return Said(tuple(each for each in told if each))
        if subject == "uv" and any(span.figures.uv is not None for span in spans):
            return Said(
                tuple(
                    self._sentence("uv", when=span.when, uv=round(span.figures.uv))
                    for span in spans
                    if span.figures.uv is not None
                )
            )
        told = [self._day(span, short=len(spans) > _SHORT) for span in spans]
        return Said(tuple(each for each in told if each))

    def _down(self, subject: str, spans: Sequence[_Span]) -> Said:
        """Tell whether rain, snow or a thunderstorm comes, and how surely."""
        sure = [span for span in spans if self._comes(subject, span.figures, LIKELY)]
        maybe = [span for span in spans if self._comes(subject, span.figures, self._limits.chance)]
        chosen = sure or maybe or spans
        kind = "yes" if sure else "maybe" if maybe else "no"
        chance = chosen[0].figures.chance if len(chosen) == 1 else None
        if chance is None or (kind == "no" and subject != "rain"):
            tail = ""
        else:
            tail = self._words["chance_tail"].format(chance=round(chance))
        name = (
            chosen[0].when
            if len(chosen) == 1
            else self._together_named(chosen)
            if kind == "no"
            else (self._joined([span.when for span in chosen]))
        )
        sentence = self._sentence(f"{subject}_{kind}", when=name, chance=tail)
        return Said((sentence,), kind == ("no" if self._dry else "yes"))

    def _comes(self, subject: str, figures: Figures, least: float) -> bool:
        """Return whether it comes by the chance, where one is told, else by the sky and what falls."""
        kind = word(figures.code)
        if subject == "rain":
            if figures.chance is not None:
                return figures.chance >= least and kind != "snow"
            return kind in ("rain", "storm") or (kind == "dry" and (figures.amount or 0.0) >= 1)
        return kind == subject and (figures.chance is None or figures.chance >= least)

    def _next(self, subject: str) -> Said:
        """Tell when rain, snow or a thunderstorm is next expected."""
        begin = self._hour()
        for at, figures in self._weather.hours:
            if at >= begin and self._comes(subject, figures, LIKELY):
                day = (at.date() - self._today).days
                tail = (
                    ""
                    if figures.chance is None
                    else (self._words["chance_tail"].format(chance=round(figures.chance)))
                )
                if at - begin < timedelta(hours=1):
                    return Said(
                        (self._sentence(f"{subject}_yes", when=self._words["now"], chance=tail),),
                        True,
                        True,
                    )
                return Said(
                    (
                        self._sentence(
                            f"{subject}_next",
                            when=self._name(day, None),
                            time=self._clock(at),
                            chance=tail,
                        ),
                    ),
                    True,
                    True,
                )
        spans = [
            span
            for day in sorted(self._weather.days)
            if day >= self._today
            and (span := self._span((day - self._today).days)) is not None
            and span.figures.wet
        ]
        # What is told of whole days only, or is no more than possible, is no reason to say that none comes.
        found = [
            span
            for least in (LIKELY, self._limits.chance)
            for span in spans
            if self._comes(subject, span.figures, least)
        ]
        if found:
            return self._down(subject, found[:1])
        days = max(1, len(spans))
        name = self._words["next_days"].format(days=days)
        return Said((self._sentence(f"{subject}_no", when=name, chance=""),), False)

    def _wind(self, spans: Sequence[_Span]) -> Said:
        strongest = max(spans, key=lambda span: span.figures.wind or 0.0)
        strong = self._windy(strongest.figures)
        name = strongest.when if strong or len(spans) == 1 else self._together_named(spans)
        key = "wind_yes" if strong else "wind_no"
        return Said((self._sentence(key, when=name, wind=self._speed(strongest.figures)),), strong)

    def _warmth(self, subject: str, span: _Span) -> str:
        figures = span.figures
        if subject == "cold" and figures.low is not None:
            return self._sentence("cold", when=span.when, low=self._degrees(figures.low))
        if subject == "warm" and figures.high is not None:
            return self._sentence("warm", when=span.when, high=self._degrees(figures.high))
        between = self._range(figures)
        return self._sentence("temperature", when=span.when, range=between) if between else ""

    def _day(self, span: _Span, *, short: bool) -> str:
        """Return the weather of a day in one sentence; "" where nothing is told of it."""
        figures, words = span.figures, self._words
        pieces = [self._sky(figures), self._range(figures)]
        if not short:
            if figures.chance is not None and figures.chance >= self._limits.chance:
                key = "chance_snow" if word(figures.code) == "snow" else "chance"
                pieces.append(words[key].format(chance=round(figures.chance)))
            if (
                figures.amount is not None
                and figures.amount >= _MUCH
                and word(figures.code) == "rain"
            ):
                pieces.append(words["amount"].format(amount=self._amount(figures.amount)))
            if self._windy(figures):
                pieces.append(words["wind"].format(wind=self._speed(figures)))
        told = ", ".join(piece for piece in pieces if piece)
        return self._sentence("day", when=span.when, told=told) if told else ""

    def _at_once(self, subject: str) -> Said | None:
        """Tell how it is now, where that is asked for and known; else None."""
        now, when = self._weather.now, self._when
        if self._is("future") or not (now.told or now.wind is not None):
            return None
        kind = word(now.code)
        if subject in _COMES_DOWN and (self._is("present") or when.now) and now.code is not None:
            comes = kind == subject or (subject == "rain" and kind == "storm")
            first = self._sentence(f"{subject}ing_{'yes' if comes else 'no'}")
            later = (
                ""
                if comes
                or (span := self._span(0)) is None
                or not self._comes(subject, span.figures, self._limits.chance)
                else self._down(subject, [span]).sentences[0]
            )
            later = later.removeprefix(self._words["no" if self._dry else "yes"])
            told = (first, _capital(later)) if later else (first,)
            return Said(told, comes is not self._dry, True)
        if subject == "humidity" and now.humidity is not None:
            return Said((self._sentence("humidity", humidity=round(now.humidity)),), None, True)
        if subject == "wind" and when.now and now.wind is not None:
            strong = self._windy(now)
            key = "windy_yes" if strong else "windy_no"
            return Said((self._sentence(key, wind=self._speed(now)),), strong, True)
        warmth = subject in ("cold", "warm", "temperature")
        if not (warmth or (when.now and not subject)) or now.low is None:
            return None
        pieces = [self._sky(now)]
        if now.felt is not None and abs(now.felt - now.low) >= _FELT:
            pieces.append(self._words["felt"].format(felt=self._degrees(now.felt)))
        if self._windy(now):
            pieces.append(self._words["wind"].format(wind=self._speed(now)))
        tail = "".join(f", {piece}" for piece in pieces if piece)
        return Said(
            (self._sentence("at_once", temperature=self._degrees(now.low), tail=tail),), None, True
        )

    def _sun(self, subject: str) -> Said:
        told = []
        for day in self._when.days or (0,):
            rise, fall = self._weather.sun.get(
                self._today + timedelta(days=max(-1, min(day, DAYS))), (None, None)
            )
            at = rise if subject == "sunrise" else fall
            name = self._name(day, None)
            if at is not None:
                told.append(self._sentence(subject, when=name, time=self._clock(at)))
            else:
                told.append(self._sentence("no_data", when=name))
        return Said(tuple(told))

    def _sentence(self, key: str, **fields: Any) -> str:
        """Return a sentence with its fields; the first names the place."""
        words, asking = self._words, self._asking
        named = asking.place if self._first else ""
        beside = named and not (asking.settled and words["where"])
        self._first = False
        where = words["where"].format(name=named) if named and not beside else ""
        for one, other in words.get("contracted", ()):
            where = where.replace(one, other)
        begins = self._is("yes_no")
        yes, no = (words["no"], words["yes"]) if self._dry else (words["yes"], words["no"])
        text = str(words[key]).format(
            where=where,
            yes=yes if begins else "",
            no=no if begins else "",
            **fields,
        )
        text = _capital(text)
        return words["prefix"].format(name=named, text=text) if beside else text

    # Figures in words.

    def _sky(self, figures: Figures) -> str:
        name = _WORD.get(figures.code) if figures.code is not None else None
        return str(self._words["sky"][name]) if name else ""

    def _windy(self, figures: Figures) -> bool:
        return figures.wind is not None and figures.wind / _MILE >= self._limits.wind

    def _us(self) -> bool:
        return self._asking.units == "us"

    def _degrees(self, celsius: float) -> int:
        return round(celsius * 1.8 + 32 if self._us() else celsius)

    def _range(self, figures: Figures) -> str:
        low, high = figures.low, figures.high
        if low is None or high is None:
            key, one = ("down_to", low) if high is None else ("up_to", high)
            return "" if one is None else str(self._words[key]).format(degrees=self._degrees(one))
        first, last = self._degrees(low), self._degrees(high)
        if first == last:
            return f"{first}°"
        return str(self._words["range"]).format(low=first, high=last)

    def _speed(self, figures: Figures) -> str:
        kmh = figures.wind or 0.0
        if self._us():
            return str(self._words["mph"]).format(speed=round(kmh / _MILE))
        return str(self._words["kmh"]).format(speed=round(kmh))

    def _amount(self, millimetres: float) -> str:
        if not self._us():
            return f"{round(millimetres)} mm"
        from babel.numbers import format_decimal

        inches = format_decimal(round(millimetres / _INCH, 1), locale=self._asking.language)
        return str(self._words["inches"]).format(inches=inches)

    def _clock(self, at: datetime) -> str:
        from babel.dates import format_time

        return str(format_time(at, "short", locale=self._asking.language))


def _together(figures: Iterable[Figures]) -> Figures:
    """Return the weather of a span from that of its hours: the gravest sky, the lowest and the highest of the rest."""
    hours = list(figures)

    def of(name: str) -> list[float]:
        return [value for each in hours if (value := getattr(each, name)) is not None]

    codes, amounts = of("code"), of("amount")
    return Figures(
        int(max(codes)) if codes else None,
        min(of("low"), default=None),
        max(of("high"), default=None),
        max(of("chance"), default=None),
        sum(amounts) if amounts else None,
        max(of("wind"), default=None),
    )


def _later(now: datetime, hours: int) -> datetime:
    return datetime.fromtimestamp(now.timestamp() + hours * 3600, now.tzinfo)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
