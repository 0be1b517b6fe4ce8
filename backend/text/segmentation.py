"""Where sentences end, in a whole text and in one that is still coming.

Ends are found by marks (full stops, question marks, line ends, list marks) and judged by rules over the words of
each language (`languages/<code>/segmentation.toml`); for languages that have none, a full stop is put to the
`sentencex` library. A judgement looks back to the beginning of its sentence and of its line, and forward to the next word or to the end of an open
quotation, no further: so a text in pieces gives the sentences of the whole text, each as soon as
nothing that may come can change it. What is done with sentences is left to others.
"""

from __future__ import annotations

from functools import lru_cache
import re
from typing import Final

from backend import languages
from backend.text.measures import share
from backend.text.quotations import held

_BULLETS: Final = "•‣▪●◦"
_DASHES: Final = "-–—"
_CLOSERS: Final = "\"'”’»›)\\]」』）】》*_"
_MARK: Final = re.compile(rf"[.!?…‽؟۔।。！？｡．\n){_BULLETS}]")
"""Every place where a sentence might end or an item of a list begin; the patterns below look closer."""
_RUN: Final = re.compile(r"[.!?…‽؟۔।]+")
_STOP: Final = re.compile(
    # Marks, spaced ones too (". . ."), and what closes after them: the numbers of notes, quotation marks, brackets.
    # French puts a space before its guillemet. White space has to follow.
    r"(?:(?<!\S)[.!?](?:[ \u00a0][.!?])+|[.!?…‽؟۔।]+)(?:\[\d{1,3}\])*"
    r"(?:(?:(?<=[^\W\d_]{3}\.)|(?<=[)\]]\.))\d{1,2}(?: \d{1,2})*(?=\s+[^\W\d_]))?"
    rf"(?:[{_CLOSERS}“]|[ \u00a0\u202f]»(?![^\W_]))*(?=\s|\Z)"
)
_UNSURE: Final = re.compile(
    # What may yet become the numbers of notes.
    rf"[.!?…‽؟۔।]+(?:\[\d{{0,3}}\]?)*(?:\d{{1,2}}(?: \d{{1,2}})*)?[{_CLOSERS}“]*\s*\Z"
)
_WIDE: Final = re.compile(
    # Scripts that put no space between sentences.
    rf"(?:[。！？｡]|[.!?]+(?=[\u3040-\u30ff\u3400-\u9fff])|(?<![0-9０-９])．|．(?![0-9０-９]))+[{_CLOSERS}]*"
)
_ITEM: Final = re.compile(r"(?<=\s)\(?(?:\d{1,2}|[A-Za-z]|[ivx]{2,4})\)\Z|(?<=\s)\d{1,2}\.\)?\Z")
_OPENERS: Final = "\"'“”„‚‘’«»‹›(\\[{¿¡*_#>「『（【《"
_NEXT: Final = re.compile(rf"(?:,,|[{_OPENERS}\s])*")
_WORD_BEFORE: Final = re.compile(r"[^\s\"'“„‚‘«»‹›(\[{/–—*_]+\Z")
_LIST_MARK: Final = re.compile(
    r"(?:[•‣▪●◦*+–—-]|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{2,4})[.)]|#{1,6})(?=\s|\Z)"
)
_LABEL: Final = re.compile(
    r"(?:[•‣▪●◦*–—-]\s+)?(?:\(?(?:\d{1,3}|[A-Za-z]|[ivx]{2,4})[.)]+|\d{1,3}(?:\.\d{1,3})+\.)\Z"
)
_WHOLE_WORD: Final = re.compile(r"[^\s.]\s|[^\s.].*\S\s", re.DOTALL)
_TWO_WORDS: Final = re.compile(r"\S+\s+\S+\s")
_WITH_FIGURE: Final = re.compile(r"(?:[\d½⅓⅔¼¾][.,]?)*-?")
_FIGURE_BEFORE: Final = re.compile(r"[\d½⅓⅔¼¾][\s\u00a0\u202f]?-?\Z")
_NUMBERED_BEFORE: Final = re.compile(r"(?<![^\W\d_])([^\W\d_]+)\.?[ \u00a0\u202f]\Z")
_FIGURE_AFTER: Final = re.compile(r"[\d.,½⅓⅔¼¾]+[ \u00a0\u202f]?([^\W\d_]+)")
_TELLS: Final = 3
"""A short form of so many letters tells a unit without a figure before it."""
_NEXT_WORD: Final = re.compile(r"\S+")
_WORD: Final = re.compile(r"[^\W_]+(?:[.-][^\W_]+)*")
_BULLET: Final = re.compile(rf"[{_BULLETS}]")
_DOTTED: Final = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]\Z")
_ROMAN: Final = re.compile(r"[IVXLC]+\Z")
_CENTURY: Final = re.compile(r"[IVX]{2,}\Z")
"""After a number: "w latach 90. XX wieku"."""
_LOOKAHEAD: Final = 24
"""So many characters of the next word are enough to judge by."""
_SHORT_LINE: Final = 60
"""A line shorter than this (characters) wasn't broken for lack of room: what follows is something else."""
_WINDOW: Final = 160
"""So many characters before a full stop are put to the library."""
_LOOK_BACK: Final = 8


class _Rules:
    """The judgement of one language."""

    def __init__(self, language: str, whole: bool) -> None:
        self.whole = whole
        lexicon = languages.load(language)
        self.language = language
        self.data = lexicon.segmentation
        self.starters = lexicon.words.function | self.data.starters
        self.known = bool(lexicon.table("segmentation"))
        self.units = {form.rstrip("."): unit for form, unit in lexicon.short_units.items()}
        self.symbols = languages.symbols()["units"]

    def ends(
        self, text: str, start: int, place: int, column: int, *, final: bool
    ) -> tuple[list[tuple[int, int]], int]:
        """Return (end of a sentence, start of the next) for each boundary that is sure, and how far it looked.

        The first sentence begins at `start`, and has no end before `place`. `column` is the number of characters of
        the first line that stand before `text`. With `final` there is nothing to come, and all is sure.
        """
        found: list[tuple[int, int]] = []
        while mark := _MARK.search(text, place):
            place = mark.start()
            ending = self._ending(text, start, place, column, final)
            if ending is None:
                return found, place
            if not ending:
                run = _RUN.match(text, place)
                place = run.end() if run else place + 1
                continue
            following = _skip_space(text, ending)
            if following >= len(text) and not final:
                return found, place
            found.append((ending, following))
            start = place = following
        return found, len(text)

    def _ending(self, text: str, start: int, mark: int, column: int, final: bool) -> int | None:
        """Return where the sentence that began at `start` ends by the mark at `mark`.

        0 if it doesn't end, None if that can't be told before more of the text has come.
        """
        each = text[mark]
        if each == "\n":
            return self._line(text, start, mark, column, final)
        item = None
        if each in ".)":
            item = _ITEM.search(text, max(start, mark - 5), mark + 1)
        elif each in _BULLETS and text[mark - 1 : mark].isspace():
            item = _BULLET.match(text, mark)
        if item:
            if mark + 2 >= len(text):
                return 0 if final else None
            if text[mark + 1].isspace() and self._item(text, start, item):
                return item.start()
        if each == ")" or each in _BULLETS:
            return 0
        if wide := _WIDE.match(text, mark):
            end = wide.end()
            if not final and not text[end : end + _LOOKAHEAD].strip(".!?．"):
                return None
            if text[end - 1] in "」』" and "\u3041" <= text[end : end + 1] <= "\u3096":
                return 0
            return _unless(held(text, start, mark, end, final=final, whole=self.whole), end)
        match = _STOP.match(text, mark)
        if not match:
            return None if not final and _UNSURE.match(text, mark) else 0
        end = match.end()
        begin = _after_openers(text, end)
        if not final and not _seen(text, begin):
            return None
        if begin >= len(text):
            return end
        if not self._stop(text, start, mark, end, begin):
            return 0
        return _unless(held(text, start, mark, end, final=final, whole=self.whole), end)

    def _line(self, text: str, start: int, mark: int, column: int, final: bool) -> int | None:
        """Judge the line end at `mark`."""
        end = _skip_space(text, mark)
        if not final and not _seen(text, end):
            return None
        last = mark
        while last > start and text[last - 1].isspace():
            last -= 1
        if end >= len(text) or text.find("\n", mark + 1, end) >= 0:
            return last
        first = text.rfind("\n", 0, mark) + 1
        if _LIST_MARK.match(text, end) or text.startswith("#", first):
            return last
        length = mark - first + (0 if first else column)
        broken = length >= _SHORT_LINE or text[end].islower() or text[last - 1] in ",;"
        return 0 if broken else last

    def _item(self, text: str, start: int, match: re.Match[str]) -> bool:
        """Return whether a mark within a line is the next one of the list that the sentence begins."""
        mark = match.group()
        if match.start() <= start:
            return False
        if mark in _BULLETS:
            return True
        first = _LIST_MARK.match(text, start)
        return first is not None and _follows(first.group(), mark)

    def _stop(self, text: str, start: int, stop: int, end: int, begin: int) -> bool:
        """Judge the full stop (or another mark) at `stop`; the next word begins at `begin`."""
        following = text[begin]
        if following in _DASHES:
            after_dash = _skip_space(text, begin + 1)
            return not text[after_dash : after_dash + 1].islower()
        if following in ",;:)%":
            return False
        if following in ".…":
            return _after_dots(text, begin, end)
        word = _WORD.match(text, begin, begin + _LOOKAHEAD)
        after = word.group() if word else ""
        if following.islower() and not (len(after) > 1 and after[1].isupper()):
            return _next_item(text, start, end)
        if not any(map(str.isalnum, text[start:stop])):
            return False
        if text[stop] != "." or text[stop + 1] == "." or text[stop - 1].isspace():
            return True
        before = _WORD_BEFORE.search(text, max(start, stop - 40), stop)
        token = before.group() if before else ""
        if not token:
            return True
        if _LABEL.match(text[start : stop + 1]):
            return False
        if len(after) == 1 and after.isalpha() and text.startswith(".", begin + 1):
            after = ""
        before_token = text[max(start, stop - len(token) - 3) : stop - len(token)]
        measured = self._measure(token, before_token, after, text[begin : begin + _LOOKAHEAD])
        if measured is not None:
            return measured
        if token == "1" and text[start : stop - 1].rstrip().endswith(":"):
            return False  # the mark of a list within a sentence: "Two ways: 1. Open it."
        if token.isdigit() and self._counted(text, start, stop - len(token)):
            return after.lower() not in self.data.months
        return self._word(token, after) and (self.known or self._library(text, start, end, begin))

    def _measure(self, token: str, before: str, after: str, ahead: str) -> bool | None:
        """Judge the full stop of a short form behind a figure: "3 Std. 15 Min." is one value.

        None where `token` is no such form, or nothing follows that belongs to its value.
        """
        unit = _WITH_FIGURE.sub("", token, count=1)
        figure = unit != token or _FIGURE_BEFORE.search(before) is not None
        form = unit.lower()
        if form in self.units or (figure and form in self.data.pieces):
            if not figure and len(form) < _TELLS:
                return None
            if after[:1].isnumeric():
                return False
            if not figure:
                return None
            if after.lower() in self.starters:
                return True
            if len(after) > 1 and after.lower() in self.units:
                return False
            return not self.data.capitals
        greater = self.symbols.get(unit) if figure else None
        if not greater or (unit.lower() in self.data.numbered and after[:1].isnumeric()):
            return None
        more = _FIGURE_AFTER.match(ahead)
        smaller = (self.symbols.get(more[1]) or self.units.get(more[1].lower(), "")) if more else ""
        # A symbol is no short form: its full stop is the sentence's.
        return not share(greater, smaller)

    def _counted(self, text: str, start: int, place: int) -> bool:
        """Return whether the figure at `place` is the number of something: "Tab. 4."; an ordinal it isn't."""
        before = _NUMBERED_BEFORE.search(text, max(start, place - 16), place)
        return before is not None and before[1].lower() in self.data.numbered

    def _word(self, token: str, after: str) -> bool:
        """Judge a full stop by the word before it and the word after it."""
        data = self.data
        last = token.rpartition("-")[2]
        forms = {last, last.lower()}
        final = not forms.isdisjoint(data.final)
        starter = after.lower() in self.starters
        before_figure = after[:1].isdigit() or _ROMAN.match(after)
        if before_figure and (
            not forms.isdisjoint(data.numbered) or last.lower().endswith(data.compounds)
        ):
            return False
        if len(token) > 1 and token.isupper() and token.isalpha() and not final:
            return not (data.ordinals and _ROMAN.match(token)) or starter
        if not (forms.isdisjoint(data.titles) and forms.isdisjoint(data.abbreviations)):
            return False
        if final or _DOTTED.match(token) or (len(token) == 1 and token.isupper()):
            return starter
        if token.isdigit() and len(token) <= 2:
            if data.ordinals:
                return starter and after.lower() not in data.months
            return not _CENTURY.match(after)
        return True

    def _library(self, text: str, start: int, end: int, begin: int) -> bool:
        """Ask sentencex about the full stop before `end`."""
        import sentencex

        first = max(start, end - _WINDOW)
        # Of what follows no more than the next word: more may not have come yet.
        following = _NEXT_WORD.match(text, begin, begin + _LOOKAHEAD)
        window = text[first : following.end() if following else begin]
        place = end - first
        done = 0
        for sentence in sentencex.segment(self.language, window):
            done += len(sentence)
            if place <= done <= place + (begin - end):
                return True
        return False


def _skip_space(text: str, start: int) -> int:
    while start < len(text) and text[start].isspace():
        start += 1
    return start


def _after_openers(text: str, end: int) -> int:
    """Return where the next word begins, behind white space, quotation marks and brackets."""
    match = _NEXT.match(text, end)
    return match.end() if match else end


def _seen(text: str, begin: int) -> bool:
    """Return whether enough of the next word has come to judge by it."""
    ahead = text[begin : begin + _LOOKAHEAD]
    if ahead[:1] and ahead[0] in _DASHES:
        return _skip_space(text, begin + 1) < len(text)
    if ahead[:1].isnumeric():  # and of the unit that may follow a figure
        return len(ahead) == _LOOKAHEAD or bool(_TWO_WORDS.match(ahead))
    return len(ahead) == _LOOKAHEAD or bool(_WHOLE_WORD.search(ahead))


def _unless(held: bool | None, end: int) -> int | None:
    return None if held is None else 0 if held else end


def _after_dots(text: str, begin: int, end: int) -> bool:
    """Return whether a sentence ends before the dots at `begin`: "raak. ...en toen", "compounds. . . . The"."""
    rest = text[begin : begin + _LOOKAHEAD]
    if rest.startswith(("...", "…")):
        return True
    dots = re.match(r"(?:\.\s?)+", rest)
    return dots is not None and rest[dots.end() : dots.end() + 1].isupper()


def _follows(first: str, mark: str) -> bool:
    """Return whether `mark` may be a later mark of the list that `first` begins."""
    one, other = first.strip("()."), mark.strip("().")
    if first[-1] != mark[-1] or not one or one.isdigit() != other.isdigit():
        return False
    return int(one) + 1 == int(other) if one.isdigit() else one < other


def _next_item(text: str, start: int, end: int) -> bool:
    """Return whether "b." follows in a list that began with "a."."""
    first = _LIST_MARK.match(text, start)
    mark = _LIST_MARK.match(text, _skip_space(text, end))
    return bool(
        first
        and mark
        and first.group()[-1] == mark.group()[-1] == "."
        and ord(first.group()[0]) + 1 == ord(mark.group()[0])
    )


@lru_cache(maxsize=64)
def _rules(language: str, whole: bool) -> _Rules:
    return _Rules(language, whole)


def spans(text: str, language: str, *, whole_quotations: bool = False) -> list[tuple[int, int]]:
    """Return (start, end) of each sentence in order, without the white space around it.

    With `whole_quotations` the sentences of a quotation stay together, as what is said must not end within one.
    """
    result = []
    start = _skip_space(text, 0)
    for end, following in _rules(language, whole_quotations).ends(
        text, start, start, 0, final=True
    )[0]:
        result.append((start, end))
        start = following
    end = len(text.rstrip())
    if start < end:
        result.append((start, end))
    return result


def sentences(text: str, language: str, *, whole_quotations: bool = False) -> list[str]:
    """Return the sentences of `text` as `spans` finds them, white space inside each of them single spaces."""
    places = spans(text, language, whole_quotations=whole_quotations)
    return [" ".join(text[start:end].split()) for start, end in places]


class IncrementalSegmenter:
    """Sentences of a text that comes in pieces: the same as those of the whole text, whatever the pieces."""

    def __init__(self, language: str, *, whole_quotations: bool = False) -> None:
        """Begin a text in `language`, a primary subtag ("de")."""
        self._rules = _rules(language, whole_quotations)
        self._begin()

    def _begin(self) -> None:
        self._rest = ""
        self._taken = 0
        """What stands before is only there to look back at."""
        self._seen = 0
        """No sentence ends before this place but those that have left."""
        self._column = 0

    def feed(self, piece: str) -> list[str]:
        """Take the next piece; return the sentences that are complete whatever is still to come."""
        self._rest += piece
        return self._take(final=False)

    def finish(self) -> list[str]:
        """Return the sentences that are left; the next piece begins a new text."""
        result = self._take(final=True)
        if rest := self._rest[self._taken :].strip():
            result.append(" ".join(rest.split()))
        self._begin()
        return result

    def _take(self, *, final: bool) -> list[str]:
        text = self._rest
        taken = _skip_space(text, self._taken)
        found, seen = self._rules.ends(
            text, taken, max(taken, self._seen), self._column, final=final
        )
        result = []
        for end, following in found:
            result.append(" ".join(text[taken:end].split()))
            taken = following
        # A few characters of the sentences that have left stay: the patterns look back at them.
        drop = max(0, taken - _LOOK_BACK)
        line = text.rfind("\n", 0, drop) + 1
        while drop > line and text.startswith("#", drop):
            drop -= 1  # what is left begins with the mark of a heading only if its line does
        heading = "#" if drop > line and text.startswith("#", line) else ""
        self._column = (drop - line if line else self._column + drop) - len(heading)
        drop -= len(heading)
        self._rest = heading + text[drop + len(heading) :]
        self._taken, self._seen = taken - drop, seen - drop
        return result
