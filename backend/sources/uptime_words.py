"""Which services a question is about, and the sentences that tell of them.

Decides what counts as a service's name in a question, when a question asks for all, and what is said of a name that
nothing monitors. That nothing is monitored under a name is never passed over: "all are up" would be no answer to it.
How the states are had is `backend.sources.uptime`'s; the words of each language are in its `uptime.toml`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
import re
from typing import Any, Final

from backend import languages
from backend.languages import own_or_default
from backend.text.days import is_past
from backend.text.words import fold, tokens

STATES: Final = ("down", "up", "pending", "maintenance")
"""By Uptime Kuma's own numbers."""
UNKNOWN: Final = "unknown"
_TOLD_IN: Final = ("down", "pending", "maintenance", UNKNOWN, "up")
"""What is down is told first."""
_MOST_NAMED: Final = 6
_MOST_UNKNOWN_WORDS: Final = 4
"""A question with more words that nobody knows is about something else, or about all if it has a word for that."""
_MOST_WORDS: Final = 6
"""Of a name, in a row."""
_SHORTEST_STEM: Final = 3
_WORD: Final = re.compile(r"\w+")
_MOST_DIGITS: Final = 5
_BREAK: Final = "|"
"""Stands for a phrase that names nothing; no folded word is that."""


@dataclass(frozen=True, slots=True)
class Service:
    """A monitor, and its state as one of our words."""

    id: str
    name: str
    state: str


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a question asks for: `named` by their names, `generic` by words like "server", `unknown` names, or `whole`.

    `how_many`, `down` and `up` tell what of all is asked, `every` that it is of all of them, `either` of one of several;
    `ours` that any word of it is about services at all. `open` tells that it says more than is understood: how many they
    are, which of them not, or of one that it is up and of another that it is down.
    """

    named: tuple[Service, ...]
    generic: frozenset[str]
    unknown: tuple[str, ...]
    whole: bool
    ours: bool
    how_many: bool
    down: bool
    up: bool
    every: bool
    either: bool
    open: bool
    which_up: bool


def told(
    services: Sequence[Service], query: str, language: str, *, shared: bool = False
) -> list[str]:
    """Return the sentences that answer, none where the question is about something else; blocks while words are read.

    `shared` tells that the question goes to several sources, so that words which name no service may be for another.
    """
    words = own_or_default(language, "uptime")
    locale = language if language in languages.SPOKEN else languages.DEFAULT
    if not services:
        return [words["none"]]
    asked = _asked(services, query, language, words)
    unknown = asked.unknown
    too_many = sum(len(name.split()) for name in unknown) > _MOST_UNKNOWN_WORDS
    if (shared and not asked.ours) or (asked.whole and too_many):
        unknown = ()
    elif too_many and not asked.named:
        return []
    said = _by_state(asked.named, words, locale)
    for name in unknown:
        said.append(_capital(words["unwatched"].format(name=name)))
    if asked.whole or not said or not (asked.ours or asked.named):
        said += _summary(services, asked, words, locale)
    return said


def holds(services: Sequence[Service], statement: str, language: str, year: int) -> bool | None:
    """Return whether what a statement says of services is so; None where that can't be told.

    "Any service is down", "jellyfin is up", "all services are up": what is down is one at least, what is up is all of
    those that are meant. A state that isn't known decides nothing, and today's state nothing of yesterday.
    """
    asked = _asked(services, statement, language, own_or_default(language, "uptime"))
    if (
        is_past(statement, language, year)
        or asked.open
        or asked.unknown
        or not (asked.ours or asked.named)
    ):
        return None
    states = [service.state for service in asked.named or services]
    if not states or not (asked.down or asked.up):
        return None
    sought = "down" if asked.down else "up"
    if asked.either or (asked.down and not asked.every):
        if sought in states:
            return True
    elif any(state not in (sought, UNKNOWN) for state in states):
        return False
    if UNKNOWN in states:
        return None
    return sought in states


def _summary(
    services: Sequence[Service], asked: _Asked, words: Mapping[str, Any], locale: str
) -> list[str]:
    """Return what isn't up, and how many are; as a question puts it: first the number where it asks how many."""
    total = len(services)
    if total == 1:
        return [] if asked.named else _by_state(services, words, locale)
    already = {service.id for service in asked.named}
    # Those that a general word names come first, lest they are among the ones that aren't told.
    rest = sorted(
        (service for service in services if service.id not in already),
        key=lambda service: service.id not in asked.generic,
    )
    up = sum(service.state == "up" for service in services)
    down = sum(service.state == "down" for service in services)
    others = _by_state((service for service in rest if service.state != "up"), words, locale)
    counted = words["counted"]
    if up == total:
        if asked.which_up:
            return _by_state(rest, words, locale)
        return [_numbered(counted["all_up"], total, locale, total=total)]
    if asked.how_many and asked.down:
        # What isn't known to be down isn't known to be up either.
        sure = down > 0 or all(service.state != UNKNOWN for service in services)
        count = [_numbered(counted["down"], down, locale, count=down, total=total)] if sure else []
        return [*count, *others]
    count = [_numbered(counted["up"], up, locale, count=up, total=total)]
    if asked.how_many:
        return [*count, *others]
    if asked.which_up:
        return [*_by_state((one for one in rest if one.state == "up"), words, locale), *others]
    return [*others, *count]


def _by_state(services: Iterable[Service], words: Mapping[str, Any], locale: str) -> list[str]:
    """Return a sentence for each state that some are in."""
    names: dict[str, list[str]] = {}
    for service in services:
        of_state = names.setdefault(service.state, [])
        if service.name not in of_state:
            of_state.append(service.name)
    return [
        _numbered(
            words["named"][state],
            len(names[state]),
            locale,
            names=_listed(names[state], words, locale),
        )
        for state in _TOLD_IN
        if state in names
    ]


def _listed(names: Sequence[str], words: Mapping[str, Any], locale: str) -> str:
    from babel.lists import format_list

    shown = list(names[:_MOST_NAMED])
    if (left := len(names) - len(shown)) > 0:
        shown.append(_numbered(words["more"], left, locale, count=left))
    return format_list(shown, locale=locale)


def _numbered(forms: Mapping[str, str], number: int, locale: str, **fields: str | int) -> str:
    """Return the text for a number: the form for just that number, else for its plural."""
    form = forms.get(str(number))
    if form is None and len(forms) > 1:
        from babel import Locale

        form = forms.get(Locale.parse(locale).plural_form(number))
    return (form or forms["other"]).format(**fields)


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _asked(
    services: Sequence[Service], query: str, language: str, words: Mapping[str, Any]
) -> _Asked:
    asked = words["asked"]
    sets = {key: frozenset(row.split()) for key, row in asked.items() if isinstance(row, str)}
    folded = f" {fold(query)} "
    how_many = any(f" {phrase} " in folded for phrase in asked["how_many"])
    for phrase in asked["phrases"]:
        folded = folded.replace(f" {phrase} ", f" {_BREAK} ")
    said = folded.split()
    said_set = set(said)
    own = languages.load(language).words
    ours = frozenset().union(*(sets[key] for key in ("all", "things", "up", "down", "states")))
    counts = own_or_default(language, "number_words")["words"]
    empty = ours | sets["other"] | own.function | own.question | own.light | {_BREAK}
    empty |= {word for phrase in own.fillers for word in phrase.split()}
    empty -= sets["specific"]

    def names_something(span: Sequence[str]) -> bool:
        return any(word not in empty for word in span) and _BREAK not in span

    named, generic, taken = _found(services, said, sorted(sets["endings"]), names_something)
    whole = not said_set.isdisjoint(sets["all"])
    left = ["" if at in taken or word in empty else word for at, word in enumerate(said)]
    number = max(
        (counts.get(word, 0) or _whole(word) for word in left if word),
        default=0,
    )
    for at, word in enumerate(left):
        # "All 3" and "the two routers" are no names; "NAS 2" isn't "NAS", and "10.0.0.5" is an address.
        if word.isdecimal() and at - 1 in taken:
            left[at] = f"{said[at - 1]} {word}"
        elif word in counts or (word.isdecimal() and not _beside(said, at, str.isdecimal)):
            left[at] = "" if whole or named else word
    if whole or named or any(word and word not in sets["certain"] for word in left):
        left = ["" if word in sets["certain"] else word for word in left]
    up = not said_set.isdisjoint(sets["up"])
    every = not said_set.isdisjoint(sets["every"])
    denied = not said_set.isdisjoint(sets["not"]) and up
    down = denied or not said_set.isdisjoint(sets["down"])
    return _Asked(
        named=named,
        generic=generic,
        unknown=_in_a_row(left, query),
        whole=whole,
        ours=not said_set.isdisjoint(ours),
        how_many=how_many,
        down=down,
        up=not down and up,
        every=every,
        either=not said_set.isdisjoint(sets["or"]),
        open=(down and not denied and _apart(said, sets["up"], sets["down"]))
        or (number > 1 and not every)
        or any(f" {phrase} " in f" {fold(query)} " for phrase in asked["bounds"]),
        which_up=not (down or not up or said_set.isdisjoint(sets["which"])),
    )


def _apart(said: Sequence[str], up: frozenset[str], down: frozenset[str]) -> bool:
    """Return whether a word for "up" is there that no word for "down" turns round, as in "hors ligne", "fuera de linea"."""
    return any(
        word in up and down.isdisjoint(said[max(0, at - 2) : at]) for at, word in enumerate(said)
    )


def _whole(word: str) -> int:
    return int(word) if word.isdecimal() and len(word) < _MOST_DIGITS else 0


def _beside(row: Sequence[str], at: int, test: Callable[[str], bool]) -> bool:
    """Return whether a neighbour of a place in a row passes."""
    return any(test(word) for word in (*row[max(0, at - 1) : at], *row[at + 1 : at + 2]))


def _in_a_row(left: Sequence[str], query: str) -> tuple[str, ...]:
    """Return the words that are left, those beside each other as one name, as they were written."""
    written: dict[str, str] = {}
    for word in _WORD.findall(query):
        written.setdefault(fold(word), word)
    row = " ".join(word or _BREAK for word in left).split()
    names = " ".join(written.get(word, word) for word in row).split(_BREAK)
    return tuple(dict.fromkeys(name.strip() for name in names if name.strip()))


def _found(
    services: Sequence[Service],
    said: Sequence[str],
    endings: Sequence[str],
    names_something: Callable[[Sequence[str]], bool],
) -> tuple[tuple[Service, ...], frozenset[str], set[int]]:
    """Return the services that words name, the ids of those that only general words name, and where names stand.

    The most words in a row that are a name or a part of one count: "Home Assistant" isn't "Home". Words are compared
    without the spaces between them and without their endings: "homeassistant's" is "Home Assistant".
    """
    # By how well a name fits: as a whole or in part, each as it is or but for its ending.
    tiers: tuple[dict[str, list[Service]], ...] = ({}, {}, {}, {})
    for service in services:
        name = tokens(service.name)
        for size in range(1, min(len(name), _MOST_WORDS) + 1):
            for at in range(len(name) - size + 1):
                joined = "".join(name[at : at + size])
                whole = size == len(name)
                _add(tiers[0 if whole else 2], joined, service)
                for stem in _stems(joined, endings):
                    _add(tiers[1 if whole else 3], stem, service)
    named: dict[str, Service] = {}
    generic: set[str] = set()
    taken: set[int] = set()
    for size in range(min(len(said), _MOST_WORDS), 0, -1):
        for at in range(len(said) - size + 1):
            span = said[at : at + size]
            if not taken.isdisjoint(range(at, at + size)):
                continue
            joined = "".join(span)
            if not names_something(span):
                generic.update(service.id for service in tiers[0].get(joined, ()))
                continue
            hits = _best(tiers, joined, _stems(joined, endings))
            if hits:
                taken.update(range(at, at + size))
                named.update((service.id, service) for service in hits)
    return tuple(named.values()), frozenset(generic), taken


def _best(
    tiers: Sequence[Mapping[str, list[Service]]], joined: str, stems: Sequence[str]
) -> list[Service]:
    for number, tier in enumerate(tiers):
        hits = [hit for key in (stems if number % 2 else (joined,)) for hit in tier.get(key, ())]
        if hits:
            return hits
    return []


def _add(tier: dict[str, list[Service]], key: str, service: Service) -> None:
    of_key = tier.setdefault(key, [])
    if not of_key or of_key[-1] is not service:
        of_key.append(service)


def _stems(word: str, endings: Iterable[str]) -> list[str]:
    """Return a word, and what is left of it without each ending that it has."""
    return [word] + [
        word[: -len(ending)]
        for ending in endings
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM
    ]
