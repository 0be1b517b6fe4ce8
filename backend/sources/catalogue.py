"""The books of a kiwix-serve, as its catalogue tells of them: https://specs.opds.io/opds-1.2.

Decides what of an entry is of use, and which two books are the best for a question. Fetching it is `kiwix_serve`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote, urlsplit

from backend.sources.books import MOST_BOOKS, languages_of
from backend.text.pieces import coverage, edged

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_GENERAL: Final = "wikipedia"
"""The category, and the beginning of the names, of what is asked about everything."""
_SHORT: Final = "mini"
"""The flavour of a book of which each article is but its beginning."""
_MOST: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Volume:
    """A book: `name` is how the server knows it, `link` where it says that it is, `home` its address.

    `edition` is what its flavours share, `about` what it says of itself, in the form that pieces of words are found in.
    """

    id: str
    name: str
    link: str
    home: str
    edition: str
    about: str
    languages: tuple[str, ...]
    general: bool
    whole: bool
    articles: int

    @property
    def language(self) -> str | None:
        """Its language, None if it is in several or doesn't say."""
        return self.languages[0] if len(self.languages) == 1 else None

    def path(self, link: str) -> str | None:
        """Return the path of an article by a link to it; None where that leads out of the book.

        3.3 has links /BOOK/PATH, in which it leaves "?" as it is, 3.7 has /content/BOOK/PATH.
        """
        # What stands before it is of whatever passes requests on to the server.
        _, found, path = unquote(link).partition(f"{unquote(self.link)}/")
        if not found or not path or not {".", ".."}.isdisjoint(path.split("/")):
            return None
        return path

    def address(self, path: str) -> str:
        """Return the address of an article, for a person to open."""
        return f"{self.home}/{quote(path)}"


def volumes(entries: Iterable[Element], url: str) -> Iterator[Volume]:
    """Yield the books of a catalogue of the server at `url`; an entry that can't be opened is none."""
    for entry in entries:
        links = (
            link.get("href", "").strip().rstrip("/")
            for link in entry.findall("link")
            if link.get("type", "").startswith("text/html")
        )
        link = path_of(next(links, ""))
        name = unquote(link.rpartition("/")[2])
        if not name:
            continue

        def said(key: str, entry: Element = entry) -> str:
            return " ".join((entry.findtext(key) or "").split())

        yield Volume(
            id=said("id"),
            name=name,
            link=link,
            home=_beneath(url, link),
            edition=said("name") or name,
            about=edged(" ".join((said("title"), said("summary"), said("name") or name))),
            languages=languages_of(said("language")),
            general=said("category") == _GENERAL
            or any(each.startswith(_GENERAL) for each in (name, said("name"))),
            whole=said("flavour") != _SHORT,
            articles=number(said("articleCount")),
        )


def number(text: str | None) -> int:
    """Return a count as a server writes it; 0 for what is none."""
    try:
        return min(_MOST, max(0, int(text or "0")))
    except ValueError:
        return 0


def path_of(link: str) -> str:
    """Return the path of an address, "" for what is none."""
    try:
        return urlsplit(link).path
    except ValueError:
        return ""


def _beneath(url: str, link: str) -> str:
    """Return the address of a book: the server may have been told under which path it stands, or not."""
    place = urlsplit(url)
    inside = link.startswith(f"{place.path}/") if place.path else True
    return f"{place.scheme}://{place.netloc}{'' if inside else place.path}{link}"


def _extent(volume: Volume) -> tuple[bool, int, str, str]:
    return volume.whole, volume.articles, volume.name, volume.about


def choose(known: Iterable[Volume], words: Sequence[str], language: str) -> list[Volume]:
    """Return the books that a question is put to, at most two.

    First those in its language, of them the one whose title and description hold most of the words, else one that is
    about everything; and beside it one that is what the first isn't.
    """
    editions: dict[tuple[str, tuple[str, ...]], Volume] = {}
    for volume in known:
        key = volume.edition, volume.languages
        editions[key] = max(editions.get(key, volume), volume, key=_extent)
    weights = dict.fromkeys(words, 1.0)

    def near(volume: Volume) -> int:
        return 2 if language in volume.languages else 0 if volume.languages else 1

    ranked = sorted(
        editions.values(),
        key=lambda each: (
            -near(each),
            -coverage(each.about, weights),
            not each.general,
            -each.articles,
            each.name,
            each.languages,
        ),
    )
    if not ranked:
        return []
    first, *others = ranked
    others.sort(key=lambda each: (-near(each), each.general == first.general))
    return [first, *others[: MOST_BOOKS - 1]]
