"""How a language calls the things of a house and their states: the tables of `languages/<code>/ha.toml`, made ready.

Decides when two words are one ("window", "windows"; "Küche", "Küchen" in "Küchenlicht") and which word of ours a phrase
is. What a question asks with them is `home_question`'s, what is said with them `home_answer`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
import re
from typing import Any, Final, Literal
import unicodedata

from backend import languages
from backend.text.words import fold

Use = Literal[
    "kind",
    "state",
    "all",
    "any",
    "which",
    "count",
    "here",
    "not",
    "someone",
    "target",
    "skip",
    "and",
]
_SHORTEST: Final = 3
"""Letters that are left of a word without its ending, and that the first part of a compound has."""
_WORD: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Meaning:
    """One thing that a phrase can be: a kind or a state by our word for it, or a word that does something in a question.

    `plural` tells that a kind is named in the plural; `weak` that a state's word is as often a preposition.
    """

    use: Use
    word: str = ""
    plural: bool = False
    weak: bool = False


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a question: as it was asked, and folded."""

    asked: str
    word: str


class HomeWords:
    """The words of one language; those of the default language where it has none of its own."""

    def __init__(self, code: str) -> None:
        """Read the table of `code`, a primary subtag."""
        if not languages.table(code, "ha"):
            code = languages.DEFAULT
        self.data = languages.table(code, "ha")
        self.phrases: dict[tuple[str, ...], list[Meaning]] = {}
        for kind, forms in self.data["kinds"].items():
            one, _, many = forms.partition("|")
            for plural, side in ((False, one), (True, many)):
                self._add(side, Meaning("kind", kind, plural=plural))
        weak = set(self._folded(self.data["words"].get("weak", "")))
        for state, forms in self.data["asked"].items():
            for phrase in self._folded(forms):
                self._add(" ".join(phrase), Meaning("state", state, weak=phrase in weak))
        uses: tuple[Use, ...] = (
            "all", "any", "which", "count", "here", "not", "someone", "target", "skip", "and"
        )  # fmt: skip
        for use in uses:
            self._add(self.data["words"][use], Meaning(use))
        self.longest = max(map(len, self.phrases))
        self.head_first: bool = self.data["head_first"]
        self._endings = tuple(_set(self.data["endings"]))
        own = languages.load(code).words
        self._function = own.function | own.question | own.light
        self._compounds = sorted(_set(self.data["compounds"]), key=len, reverse=True)
        self._uncut = tuple(_set(self.data["uncut"]))

    @staticmethod
    def _folded(forms: str) -> Iterator[tuple[str, ...]]:
        for form in forms.split("/"):
            phrase = tuple(fold(form).split())
            if phrase:
                yield phrase

    def _add(self, forms: str, meaning: Meaning) -> None:
        for phrase in self._folded(forms):
            known = self.phrases.setdefault(phrase, [])
            if all((other.use, other.word) != (meaning.use, meaning.word) for other in known):
                known.append(meaning)

    def tokens(self, text: str) -> list[Token]:
        """Return the words of a text; a compound that ends in a kind of thing is two."""
        found = []
        for asked in _WORD.findall(unicodedata.normalize("NFC", text)):
            for word in fold(asked).split():
                found += [Token(asked, part) for part in self._parts(word)]
        return found

    def words(self, text: str) -> tuple[str, ...]:
        """Return the folded words of a text, compounds in two."""
        return tuple(token.word for token in self.tokens(text))

    def _parts(self, word: str) -> tuple[str, ...]:
        if (word,) not in self.phrases and not word.endswith(self._uncut):
            for end in self._compounds:
                if word.endswith(end) and len(word) - len(end) >= _SHORTEST:
                    return word[: -len(end)], end
        return (word,)

    def found(
        self, words: Sequence[str], least: int = 1, taken: Sequence[str] = ()
    ) -> Iterator[tuple[int, int, list[Meaning]]]:
        """Yield where phrases of at least `least` words stand, how long they are, and what they are.

        The longest come first, and none is within another, or where `taken` has a mark.
        """
        used = [bool(mark) for mark in taken] or [False] * len(words)
        for size in range(min(self.longest, len(words)), least - 1, -1):
            for at in range(len(words) - size + 1):
                if not any(used[at : at + size]):
                    means = self.phrases.get(tuple(words[at : at + size]))
                    if means:
                        used[at : at + size] = [True] * size
                        yield at, size, means

    def alike(self, one: str, other: str) -> bool:
        """Return whether two words are forms of one."""
        return one == other or not self.stems(one).isdisjoint(self.stems(other))

    def stems(self, word: str) -> frozenset[str]:
        """Return a word, and what is left of it without an ending: words that share one are forms of one."""
        return _stems(word, self._endings)

    def function(self, word: str) -> bool:
        """Return whether a word names nothing."""
        return word in self._function

    def generic(self, name: str) -> bool:
        """Return whether a name is no one thing's: kinds, states and function words alone."""
        return all((word,) in self.phrases or self.function(word) for word in fold(name).split())

    def states(self) -> Mapping[str, str]:
        """Return our word for states by what a language calls them, folded."""
        return {
            " ".join(phrase): meaning.word
            for phrase, means in self.phrases.items()
            for meaning in means
            if meaning.use == "state"
        }

    def say(self, key: str, **fields: Any) -> str:
        """Return one of the sentences, with its fields."""
        text: str = self.data["say"][key].format(**fields)
        return text

    def listed(self, names: Sequence[str]) -> str:
        """Return names as one says them one after the other."""
        if len(names) < 2:
            return "".join(names)
        return f"{', '.join(names[:-1])} {self.data['say']['and']} {names[-1]}"

    def predicate(self, state: str, kind: str, form: str = "") -> str:
        """Return what is said of a thing that is `state`, in a grammatical form; "" is the first one."""
        said = self.data["states"]
        forms = str(said.get(f"{kind}_{state}") or said[state]).split("|")
        at: int = self.data["forms"].split().index(form) if form else 0
        return forms[min(at, len(forms) - 1)]

    def told(self, state: str) -> str:
        """Return the word for a state by itself, "" for one that isn't ours."""
        said = str(self.data["states"].get(state, "")).split("|")[0]
        first, _, rest = said.partition(" ")
        return rest if rest and first in self.data["copulas"].split() else said

    def form(self, name: str, kind: str) -> str:
        """Return the grammatical form of a name: by the noun in it, else by its ending, else by its kind."""
        # Accents tell "Rollläden" from "Rollladen".
        words = _WORD.findall(unicodedata.normalize("NFC", name).casefold())
        order = words if self.head_first else list(reversed(words))
        for word in order:
            for form, nouns in self.data["nouns"].items():
                if word in _nouns(nouns):
                    return str(form)
        for word in order[:1]:
            for end, form in self.data.get("by_ending", {}).items():
                if word.endswith(end):
                    return str(form)
        return str(self.data["kind_forms"].get(kind, self.data["kind_forms"]["other"]))

    def together(self, forms: Sequence[str]) -> str:
        """Return the form of several things together."""
        if len(forms) == 1:
            return forms[0]
        plural: Mapping[str, str] = self.data["plural"]
        several = {plural[form] for form in forms}
        return several.pop() if len(several) == 1 else plural["mixed"]


@lru_cache(maxsize=64)
def _nouns(words: str) -> frozenset[str]:
    return frozenset(words.casefold().split())


@lru_cache(maxsize=64)
def _set(words: str) -> frozenset[str]:
    return frozenset(fold(words).split())


@lru_cache(maxsize=4096)
def _stems(word: str, endings: tuple[str, ...]) -> frozenset[str]:
    """Return a word, and what is left of it without an ending."""
    if not word.isalpha():
        return frozenset((word,))
    return frozenset(
        (
            word,
            *(
                word[: -len(end)]
                for end in endings
                if word.endswith(end) and len(word) - len(end) >= _SHORTEST
            ),
        )
    )


@lru_cache(maxsize=16)
def home_words(code: str) -> HomeWords:
    """Return the words of a language."""
    return HomeWords(code)
