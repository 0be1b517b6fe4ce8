"""What an article of a book has to say on a question, whichever way the book is read.

Decides what a question's words weigh, whether an article is on its topic, which passages of it say most, and which
articles are the best of all that were read. Where articles come from is `zim`'s and `kiwix_serve`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
import itertools
import math
import re
from typing import Final

from backend.languages import DEFAULT
from backend.text import language as languages, markup, parts
from backend.text.pieces import PART_OF_WORD, coverage, edged, is_code
from backend.text.words import content_words, fold, tokens

MOST_BOOKS: Final = 2
MOST_HITS: Final = 8
"""So many articles of a search are looked at by their titles, and `_MOST_READ` of all are read."""
_MOST_READ: Final = 3
_MOST_ARTICLES: Final = 2
MOST_QUOTED: Final = 3
MOST_BYTES: Final = 1_000_000
"""An article is read up to here; what is longer is a list or a log."""
_MOST_PASSAGES: Final = 400
_MOST_WEIGHED: Final = 24
_SAME_WORD: Final = 0.75
"""A title names a thing by words that share this much with those of the question."""
_COVERED: Final = 0.6
"""So much of what the words weigh an article must hold to be on the question's topic."""
_NEAR_BEST: Final = 0.7
PROMISING: Final = 0.4
"""A book that can hold less of the question isn't searched further."""
_FOREIGN: Final = 0.7
"""What is in another language than the question counts so much of what is in the same."""
_LISTED: Final = 0.6
_LIST: Final = 0.5
"""A page of which more than the share `_LISTED` stands in lists is a list, and counts so much."""
_SAME_ARTICLE: Final = 0.6
"""Two articles of one name whose beginnings share so many of their words are editions of one."""
_CODE_WEIGHT: Final = 3.0
_FIRST: Final = 0.2
"""What the first passage of an article is given before others: there it says what the thing is."""
_NUMBERING: Final = re.compile(r"^\s*(?:[A-Z0-9]+\.)+[0-9]*\s+")
"""The number before the heading of a chapter."""
# ISO 639-3 and 639-2, as books name their language, where it isn't the first two letters of a code.
_CODES: Final = {
    "deu": "de", "ger": "de", "spa": "es", "nld": "nl", "dut": "nl", "pol": "pl", "por": "pt", "zho": "zh",
    "chi": "zh", "swe": "sv", "ces": "cs", "cze": "cs", "tur": "tr", "ukr": "uk", "ell": "el", "gre": "el",
    "dan": "da", "ind": "id", "kor": "ko", "jpn": "ja", "ara": "ar", "hye": "hy", "kat": "ka", "slk": "sk",
    "est": "et", "gle": "ga", "fas": "fa", "per": "fa", "mal": "ml", "bul": "bg", "srp": "sr", "hrv": "hr",
}  # fmt: skip


def languages_of(codes: str) -> tuple[str, ...]:
    """Return the languages of a book by the codes that it names, parted by commas; none where it doesn't say."""
    named = (code.strip().lower() for code in codes.split(","))
    return tuple(
        _CODES.get(code) or languages.primary(code)[:2] for code in named if code and code != "mul"
    )


@dataclass(frozen=True, slots=True)
class Article:
    """What an article has to say on a question: (section, text) of its passages, the best first."""

    url: str
    title: str
    language: str | None
    passages: tuple[tuple[str, str], ...]
    score: float


def best(articles: Iterable[Article]) -> list[Article]:
    """Return the articles that say most, each once: a book may be there twice, and in two editions."""
    chosen: list[Article] = []
    for article in sorted(articles, key=lambda article: -article.score):
        if chosen and article.score < _NEAR_BEST * chosen[0].score:
            break
        if not any(_same(article, other) for other in chosen):
            chosen.append(article)
    return chosen[:_MOST_ARTICLES]


def _same(one: Article, other: Article) -> bool:
    if fold(one.title) != fold(other.title) or one.language != other.language:
        return False
    words, others = (
        {word for _, text in article.passages for word in tokens(text)} for article in (one, other)
    )
    return len(words & others) >= _SAME_ARTICLE * min(len(words), len(others))


@dataclass(frozen=True, slots=True)
class Topic:
    """The words of a question in one book, each with its weight; `known` are those that the book holds.

    `language` is the book's, None where it is in several or doesn't say.
    """

    weights: Mapping[str, float]
    known: tuple[str, ...]
    language: str | None
    foreign: bool

    @classmethod
    def of(cls, words: Sequence[str], language: str | None, asked_in: str) -> Topic:
        """Weigh the words alike, which is right where an article has them all, or a title does."""
        weights = {word: _CODE_WEIGHT if is_code(word) else 1.0 for word in words}
        return cls(weights, tuple(words), language, language not in (None, asked_in))

    def counted(self, counts: Mapping[str, int], total: int) -> Topic:
        """Weigh the words by how rare they are: `counts` of the book's `total` articles hold them.

        So it is seen which of them a question can do without.
        """
        weights = {
            word: max(0.1, math.log((max(total, count) + 1) / (count + 0.5)))
            * (_CODE_WEIGHT if is_code(word) else 1.0)
            for word, count in counts.items()
        }
        known = tuple(word for word in self.known if counts[word])
        return Topic(weights, known, self.language, self.foreign)

    @property
    def promise(self) -> float:
        """How much of the question the book could hold at most, 0 to 1; less for another language."""
        total = sum(self.weights.values())
        held = sum(self.weights[word] for word in self.known)
        return held / total * (_FOREIGN if self.foreign else 1.0) if total else 0.0

    def searches(self) -> Iterator[str]:
        """Yield what an index that wants all words of a search is asked for, where no article has all words.

        One word after the other is left out, the commonest first.
        """
        rarest = sorted(self.known, key=lambda word: -self.weights[word])
        for count in range(min(len(rarest), len(self.weights) - 1), len(rarest) // 2, -1):
            yield " ".join(rarest[:count])

    def phrases(self) -> Iterator[str]:
        """Yield runs of the words, the longest first: the name of the thing is one of them."""
        words = tuple(self.weights)
        for length in range(len(words), 0, -1):
            for start in range(len(words) - length + 1):
                yield " ".join(words[start : start + length])

    def named(self, title: str) -> float:
        """Return how much the words and a title name the same thing, 0 to 1."""
        # "1.1. What Is Debian?" is about Debian.
        bare = _NUMBERING.sub("", title)
        own = content_words(bare, self.language or DEFAULT) or tokens(bare)
        if not own:
            return 0.0
        asked = edged(" ".join(self.weights))
        return coverage(edged(title), self.weights, _SAME_WORD) * coverage(
            asked, dict.fromkeys(own, 1.0), _SAME_WORD
        )

    def likely(self, lists: Iterable[Iterable[tuple[str, str]]]) -> list[tuple[str, str]]:
        """Return (path, name) of the articles that are worth reading, of (path, title) as indexes offer them, best first.

        What several lists hold, or one holds on top, is likely, and what is called as the question calls it. Titles alone
        don't decide: that of the right article may share no word with the question, and others all but one.
        """
        marks: dict[str, float] = {}
        names: dict[str, tuple[float, str]] = {}
        for offered in lists:
            for rank, (path, title) in enumerate(offered):
                marks[path] = marks.get(path, 0.0) + 0.5 / (1 + rank)
                names[path] = max(names.get(path, (-1.0, "")), (self.named(title), title))
        best = sorted(marks, key=lambda path: -(marks[path] + names[path][0]))
        return [(path, names[path][1]) for path in best[:_MOST_READ]]

    def read(self, content: str, *, title: str, name: str, url: str) -> Article | None:
        """Return an article that is called `title`, and also `name`; None if it isn't on the topic."""
        return self.said(markup.html(content), title=title, name=name, url=url)

    def said(self, page: markup.Page, *, title: str, name: str, url: str) -> Article | None:
        """Return what a page says, as `read` does."""
        title = page.title or title
        cut = list(itertools.islice(parts.passages(page.parts), _MOST_PASSAGES))
        called = edged(f"{title}\n{name}")
        # A part of a word means nothing in another language.
        least = 1.0 if self.foreign else PART_OF_WORD
        rated = []
        for at in self._likely(cut):
            there = edged("\n".join(cut[at]))
            rated.append(
                (
                    coverage(there, self.weights, least) + (_FIRST if at == 0 else 0.0),
                    -at,
                    coverage(called + there, self.weights, least),
                )
            )
        rated.sort(reverse=True)
        # In one passage: the words of a question are somewhere in any long article.
        covered = max((whole for _, _, whole in rated), default=0.0)
        if covered < _COVERED:
            return None
        quoted = [-at for _, at, _ in rated[:MOST_QUOTED]]
        score = covered + max(self.named(title), self.named(name))
        if _is_list(cut):
            score *= _LIST
        if self.foreign:
            score *= _FOREIGN
        language = languages.primary(page.language) if page.language else self.language
        return Article(url, title, language, tuple(cut[at] for at in quoted), score)

    def _likely(self, cut: Sequence[tuple[str, str]]) -> list[int]:
        """Return the places of the passages worth a closer look: a quick one at how their words begin."""
        if len(cut) <= _MOST_WEIGHED:
            return list(range(len(cut)))
        starts = [word[: max(4, len(word) - 2)] for word in self.known]
        count = {
            at: sum(start in text for start in starts)
            for at, text in enumerate(text.casefold() for _, text in cut)
        }
        return [0, *sorted(range(1, len(cut)), key=lambda at: -count[at])[: _MOST_WEIGHED - 1]]


def _is_list(cut: Iterable[tuple[str, str]]) -> bool:
    """Return whether a page mostly lists other things, as disambiguations do."""
    total = listed = 0
    for _, text in cut:
        for line in text.split("\n"):
            total += len(line)
            listed += len(line) if line.startswith("- ") else 0
    return listed > _LISTED * total
