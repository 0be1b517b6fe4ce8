"""What a question asks of the things of a house.

Decides by whole words what in a question is the name of a thing, an area, a kind, a state, or a word that counts; what
is left names something too, if it is no function word. Which things are meant is `home_choice`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from backend.sources.home_states import MEASURED
from backend.sources.home_words import HomeWords, Meaning, Token, Use

Words = tuple[str, ...]
Quantity = Literal["", "all", "any", "which", "count"]
_Mark = Callable[[int, int, str], None]

_OPPOSITE: Final = {
    "on": "off",
    "open": "closed",
    "locked": "unlocked",
    "home": "away",
    "low": "normal",
    "armed": "disarmed",
    "connected": "disconnected",
}
NOT: Final = _OPPOSITE | {other: one for one, other in _OPPOSITE.items()}
IMPLIED: Final = {
    "motion": "motion",
    "smoke": "detected",
    "gas": "detected",
    "moisture": "wet",
    "problem": "problem",
}
"""What is asked of a kind when only the kind is named: "is there smoke"."""
_MEASURED: Final = frozenset(MEASURED.values())
_QUANTITIES: Final[tuple[Quantity, ...]] = ("count", "which", "all", "any")
_MOST_UNKNOWN: Final = 3
"""A question with more words that name nothing here isn't about this house's things."""
_MOST_WORDS: Final = 60
_NOUN_CHARS: Final = 60
_BETWEEN: Final = 2
"""So many function words belong to what stands around them: "the light in the attic"."""


@dataclass(frozen=True, slots=True)
class Part:
    """One of the things that a question names, those that "and" parts: a name as it is, and other words.

    `said` is what it is called in the question.
    """

    name: Words
    others: Words
    said: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks: of kinds, of what its parts name, in areas, in one of the states, of how many.

    The last of the states counts that things can be in; `strong` tells that one is no mere preposition. `target` asks
    for what a device is set to. `known` is False where nothing in it speaks of a house.
    """

    kinds: Words
    plural: bool
    states: Words
    strong: bool
    quantity: Quantity
    areas: tuple[Words, ...]
    parts: tuple[Part, ...]
    said: str
    target: bool
    known: bool

    @property
    def plain(self) -> bool:
        """Whether nothing but kinds and states is named."""
        return not (self.areas or self.parts)


class Reader:
    """Reads questions on things with these names in these areas, asked in the area `here`, in one language."""

    def __init__(
        self, names: Iterable[Words], areas: Iterable[Words], here: Words, words: HomeWords
    ) -> None:
        """Take names that are no kind's, and areas, the longest of which count."""
        self._words = words
        self._here = here
        self._areas = sorted({*areas, here} - {()}, key=lambda area: (-len(area), area))
        self._in_areas = {
            stem for area in self._areas for word in area for stem in words.stems(word)
        }
        self._names = set(names)

    def read(self, text: str) -> Asked:
        """Return what a text asks of these things."""
        tokens = self._words.tokens(text)[:_MOST_WORDS]
        words = [token.word for token in tokens]
        marks: list[str] = [""] * len(words)
        means: dict[int, list[Meaning]] = {}

        def mark(at: int, size: int, what: str) -> None:
            marks[at : at + size] = [what] * size

        def take(least: int) -> None:
            for at, size, found in list(self._words.found(words, least, marks)):
                mark(at, size, "phrase")
                means[at] = found

        # Names come before phrases, phrases of several words ("garage door") before areas ("garage").
        names = dict(self._find_names(words, marks, mark))
        take(2)
        areas = list(self._find_areas(words, marks, mark))
        take(1)
        for at, word in enumerate(words):
            if not marks[at]:
                marks[at] = "function" if self._words.function(word) else "noun"
        return self._asked(tokens, marks, means, names, areas)

    def _find_names(
        self, words: Sequence[str], marks: list[str], mark: _Mark
    ) -> Iterator[tuple[int, Words]]:
        """Yield where names stand in the question as they are, the longest first."""
        counted = any(
            meaning.use in _QUANTITIES
            for _, _, means in self._words.found(words)
            for meaning in means
        )
        stems = {stem for word in words for stem in self._words.stems(word)}
        heard = [
            name for name in self._names if all(stems & self._words.stems(word) for word in name)
        ]
        for name in sorted(heard, key=lambda name: (-len(name), name)):
            common = self._common(name)
            if common and counted:
                # "Which kitchen lights are on" is about more than the "Kitchen light".
                continue
            for at in range(len(words) - len(name) + 1):
                stands = tuple(words[at : at + len(name)])
                same = stands == name if common else self._same(stands, name)
                if same and not any(marks[at : at + len(name)]):
                    mark(at, len(name), "name")
                    yield at, name
                    break

    def _common(self, name: Words) -> bool:
        """Return whether a name is made of an area and a kind: "Kitchen light"."""
        kinds = [word for word in name if self._is(word, "kind")]
        return bool(kinds) and all(
            self._words.generic(word) or not self._in_areas.isdisjoint(self._words.stems(word))
            for word in name
        )

    def _find_areas(self, words: Sequence[str], marks: list[str], mark: _Mark) -> Iterator[Words]:
        for area in self._areas:
            if all(self._is(word, "state") for word in area):
                continue
            # What is one word may be heard as two, and the other way round.
            for size in dict.fromkeys((len(area), 1, len(area) + 1)):
                for at in range(len(words) - size + 1):
                    if any(marks[at : at + size]):
                        continue
                    stands = words[at : at + size]
                    heard = size != len(area) and self._words.alike("".join(stands), "".join(area))
                    if heard or self._same(stands, area):
                        mark(at, size, "area")
                        yield area

    def _is(self, word: str, use: Use) -> bool:
        return any(meaning.use == use for meaning in self._words.phrases.get((word,), ()))

    def _same(self, some: Sequence[str], others: Sequence[str]) -> bool:
        return len(some) == len(others) and all(map(self._words.alike, some, others))

    def _asked(
        self,
        tokens: Sequence[Token],
        marks: list[str],
        means: Mapping[int, list[Meaning]],
        names: Mapping[int, Words],
        areas: list[Words],
    ) -> Asked:
        """Put together what the words of a question are."""
        uses = {meaning.use for found in means.values() for meaning in found}
        nouns = [at for at, what in enumerate(marks) if what == "noun"]
        kinds, states = self._kinds_and_states(means, narrowed=bool(names or nouns))
        asked = [
            NOT.get(meaning.word, meaning.word) if _is_not(means.get(at - 1)) else meaning.word
            for at, meaning in states
        ]
        if "here" in uses and self._here:
            areas.append(self._here)
        heads, others = self._heads(kinds, asked)
        quantity: Quantity = next((use for use in _QUANTITIES if use in uses), "")
        if not heads and "someone" in uses:
            away = any(state in ("home", "away") for state in asked)
            heads = ["motion" if areas and not away else "person"]
            quantity = quantity or "any"
        if not asked and heads and heads[0] in IMPLIED:
            asked = [IMPLIED[heads[0]]]
        return Asked(
            kinds=tuple(dict.fromkeys(heads)),
            plural=any(meaning.plural for _, meaning in kinds),
            states=tuple(asked),
            strong=any(not meaning.weak for _, meaning in states),
            quantity=quantity,
            areas=tuple(dict.fromkeys(areas)),
            parts=_parts(tokens, marks, means, names, sorted((*nouns, *others))),
            said=_said(tokens, marks, means, range(len(tokens))),
            target="target" in uses,
            known=len(nouns) <= _MOST_UNKNOWN
            and bool(states or heads or names or "target" in uses),
        )

    @staticmethod
    def _kinds_and_states(
        means: Mapping[int, list[Meaning]], *, narrowed: bool
    ) -> tuple[list[tuple[int, Meaning]], list[tuple[int, Meaning]]]:
        """Return kinds and states by where they stand; `narrowed` tells that something else is named."""
        kinds: list[tuple[int, Meaning]] = []
        states: list[tuple[int, Meaning]] = []
        either: list[tuple[int, Meaning, Meaning]] = []
        for at in sorted(means):
            kind = next((meaning for meaning in means[at] if meaning.use == "kind"), None)
            state = next((meaning for meaning in means[at] if meaning.use == "state"), None)
            if kind and state:
                either.append((at, kind, state))
            elif kind:
                kinds.append((at, kind))
            elif state:
                states.append((at, state))
        for at, kind, state in either:
            # "Is the heating on" names a thing, "is the thermostat heating" a state.
            if states or not (kinds or narrowed):
                kinds.append((at, kind))
            else:
                states.append((at, state))
        return sorted(kinds, key=lambda each: each[0]), sorted(states, key=lambda each: each[0])

    def _heads(
        self, kinds: Sequence[tuple[int, Meaning]], states: Sequence[str]
    ) -> tuple[list[str], list[int]]:
        """Return the kinds that are asked of, and where kinds stand that only tell which: "window blinds"."""
        heads: list[tuple[int, str]] = []
        others: list[int] = []
        first = self._words.head_first
        for at, meaning in kinds if first else reversed(kinds):
            beside = at - 1 if first else at + 1
            if beside in (heads[-1][0] if heads else -2, others[-1] if others else -2):
                others.append(at)
            else:
                heads.append((at, meaning.word))
        measured = [head for head in heads if head[1] in _MEASURED]
        if len(heads) > 1 and measured and set(states) <= {"low", "normal"}:
            others += [at for at, word in heads if word not in _MEASURED]
            heads = measured
        return [word for _, word in sorted(heads)], others


def _is_not(means: Sequence[Meaning] | None) -> bool:
    return any(meaning.use == "not" for meaning in means or ())


def _parts(
    tokens: Sequence[Token],
    marks: Sequence[str],
    means: Mapping[int, list[Meaning]],
    names: Mapping[int, Words],
    nouns: Sequence[int],
) -> tuple[Part, ...]:
    """Return what is named, parted where "and" stands."""
    ands = [at for at, found in means.items() if any(meaning.use == "and" for meaning in found)]
    parts = []
    for begin, end in pairwise((-1, *sorted(ands), len(tokens))):
        within = range(begin + 1, end)
        others = tuple(tokens[at].word for at in nouns if at in within)
        said = _said(tokens, marks, means, within)
        named = [name for at, name in sorted(names.items()) if at in within]
        if named or others:
            parts += [Part(name, others, said) for name in named or [()]]
    return tuple(parts)


def _said(
    tokens: Sequence[Token],
    marks: Sequence[str],
    means: Mapping[int, list[Meaning]],
    within: range,
) -> str:
    """Return what is named, in the words of the question: what isn't known of it, with what stands beside that."""
    runs: list[list[int]] = [[]]
    inside = False
    for at in within:
        inside = marks[at] in ("noun", "name", "area") or (
            marks[at] == "phrase"
            and (
                any(meaning.use == "kind" for meaning in means[at])
                if at in means
                # Inside a phrase of several words.
                else inside
            )
        )
        if inside:
            runs[-1].append(at)
        elif runs[-1]:
            runs.append([])
    runs = [run for run in runs if run]
    unknown = [run for run in runs if any(marks[at] == "noun" for at in run)] or runs
    said: list[str] = []
    for run, before in zip(unknown, [None, *unknown], strict=False):
        between = range(before[-1] + 1, run[0]) if before else range(0)
        if (
            before
            and 0 < len(between) <= _BETWEEN
            and {marks[at] for at in between} == {"function"}
        ):
            said[-1] += f" {whole(tokens, between)} {whole(tokens, run)}"
        else:
            said.append(whole(tokens, run))
    return ", ".join(said)[:_NOUN_CHARS].strip()


def whole(tokens: Sequence[Token], run: Iterable[int]) -> str:
    """Return words as they were asked; a compound was taken in two."""
    words: list[str] = []
    for at in run:
        if not words or words[-1] != tokens[at].asked:
            words.append(tokens[at].asked)
    return " ".join(words)
