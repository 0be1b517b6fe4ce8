"""All words of a language, read from data files: nothing here or elsewhere in the code speaks a language.

A language is a folder beside this file: `spoken.toml` (what we say by ourselves), `words.toml` (function words,
fillers, names of languages), `segmentation.toml`, `number_words.toml`, `units.toml`. A folder is all that a new
language needs. One without `spoken.toml` is only read: its documents are found and quoted. Each file is read when it
is first asked for. What the words are used for is decided by those who ask: `text/`, `answer/`, `planning/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
import tomllib
from typing import Any, Final

_FOLDER: Final = Path(__file__).parent

DEFAULT: Final = "en"
"""What is spoken where a language has no words of its own."""

SPOKEN: Final = (
    DEFAULT,
    *sorted(
        path.parent.name for path in _FOLDER.glob("*/spoken.toml") if path.parent.name != DEFAULT
    ),
)
"""Codes of all languages that we speak, the default first."""

READ: Final = frozenset(path.parent.name for path in _FOLDER.glob("*/words.toml"))
"""Codes of all languages whose words are told apart in documents and questions, spoken or not."""


@lru_cache(maxsize=128)
def table(code: str, name: str) -> Mapping[str, Any]:
    """Return `<code>/<name>.toml`; empty where the language or the file isn't there."""
    if code not in READ:
        return {}
    try:
        with (_FOLDER / code / f"{name}.toml").open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        return {}


def own_or_default(code: str, name: str) -> Mapping[str, Any]:
    """Return `<code>/<name>.toml`, that of the default language where there is none."""
    return table(code, name) or table(DEFAULT, name)


@lru_cache(maxsize=1)
def symbols() -> Mapping[str, Any]:
    """Return the symbols of units and currencies, which all languages write alike."""
    with (_FOLDER / "symbols.toml").open("rb") as file:
        return tomllib.load(file)


@dataclass(frozen=True, slots=True)
class Words:
    """Words by their use in a sentence, folded (see `text.words.fold`).

    `fillers` may hold several words in a row; `light` are verbs and the like that name nothing; `alone` ask for nothing
    where nothing else is said; `marks` are letters that few other languages of the same script use, `letters` all that
    its own words and the loan words in it have beside those from a to z.
    """

    function: frozenset[str] = frozenset()
    fillers: tuple[str, ...] = ()
    question: frozenset[str] = frozenset()
    light: frozenset[str] = frozenset()
    alone: frozenset[str] = frozenset()
    marks: str = ""
    letters: str = ""
    languages: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Segmentation:
    """What a full stop may follow without ending a sentence, without that full stop.

    What is in lower case is meant however it is written; with a capital only so: "Mass." is a state, "mass" a word.

    `abbreviations` never end a sentence before a name or a number; `titles` stand before names; `numbered` stand
    before figures ("No. 5"); `final` may end one ("etc."); `pieces` stand behind figures ("6 pcs."), as short forms
    of units do; `ordinals` says that "3." is how the language writes "third", `months` what follows it in dates;
    `compounds` end longer words that stand before figures ("Hauptstr. 5");
    `starters` are words that begin a sentence, and are no names; `capitals` says that nouns begin with one.
    """

    abbreviations: frozenset[str] = frozenset()
    titles: frozenset[str] = frozenset()
    numbered: frozenset[str] = frozenset()
    compounds: tuple[str, ...] = ()
    final: frozenset[str] = frozenset()
    pieces: frozenset[str] = frozenset()
    ordinals: bool = False
    months: frozenset[str] = frozenset()
    starters: frozenset[str] = frozenset()
    capitals: bool = False


class Lexicon:
    """The words of one language, each table read when first used. Empty tables for an unknown language."""

    def __init__(self, code: str) -> None:
        """Bind to the language of `code`, a primary subtag in lower case."""
        self.code = code

    def table(self, name: str) -> Mapping[str, Any]:
        """Return the file `name` as it stands; empty where there is none."""
        return table(self.code, name)

    @cached_property
    def spoken(self) -> Mapping[str, str]:
        """What we say by ourselves, by key; the default language's where there is none."""
        return own_or_default(self.code, "spoken")

    @cached_property
    def words(self) -> Words:
        """Words by their use."""
        data = self.table("words")
        return Words(
            function=frozenset(data.get("function", "").split()),
            fillers=tuple(sorted(data.get("fillers", ()), key=len, reverse=True)),
            question=frozenset(data.get("question", "").split()),
            light=frozenset(data.get("light", "").split()),
            alone=frozenset(data.get("alone", "").split()),
            marks=data.get("marks", ""),
            letters=data.get("letters", ""),
            languages=data.get("languages", {}),
        )

    @cached_property
    def segmentation(self) -> Segmentation:
        """What a full stop may follow without ending a sentence."""
        data = self.table("segmentation")
        return Segmentation(
            abbreviations=frozenset(data.get("abbreviations", "").split()),
            titles=frozenset(data.get("titles", "").split()),
            numbered=frozenset(data.get("numbered", "").split()),
            compounds=tuple(data.get("compounds", "").split()),
            final=frozenset(data.get("final", "").split()),
            pieces=frozenset(data.get("pieces", "").split()),
            ordinals=data.get("ordinals", False),
            months=frozenset(data.get("months", "").split()),
            starters=frozenset(data.get("starters", "").split()),
            capitals=data.get("capitals", False),
        )

    @cached_property
    def short_units(self) -> Mapping[str, str]:
        """Units by their short forms, in lower case; with a full stop where the form counts with it alone."""
        short = self.table("units").get("short", {})
        return {form: unit for unit, forms in short.items() for form in forms.split()}


@lru_cache(maxsize=64)
def load(code: str) -> Lexicon:
    """Return the words of the language `code` ("de")."""
    return Lexicon(code)


def spoken(code: str, key: str, **fields: str) -> str:
    """Return what is said for `key` in the language `code`, else in the default language.

    A field named `language` is a code, and is put into words ("in German"). Raises KeyError for an unknown key or
    a missing field.
    """
    lexicon = load(code if code in SPOKEN else DEFAULT)
    if "language" in fields:
        names = lexicon.words.languages
        fields["language"] = names.get(fields["language"], names["other"])
    return lexicon.spoken[key].format(**fields)
