"""Writes the sample ZIM of scripts/sample-zim: pages of the handbook and of GNOME's help, text only.

It turns each page into plain, semantic HTML with a title; where the pages come from and what
licence they have is the script's to say. Titles lose their chapter numbers: nobody speaks them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from html import escape
from pathlib import Path
import re
from xml.etree import ElementTree as ET

from libzim.writer import ContentProvider, Creator, Hint, IndexData, Item, StringProvider
from selectolax.lexbor import LexborHTMLParser

MAIN = "index"
METADATA = {
    "Title": "Debian and GNOME",
    "Description": "The Debian Administrator's Handbook and the help of the GNOME desktop",
    "Language": "eng",
    "Creator": "Raphaël Hertzog, Roland Mas, Freexian SARL; GNOME Documentation Project",
    "Publisher": "The Mnemolis authors",
    "Name": "debian-and-gnome",
    "License": "CC BY-SA 3.0",
    "Source": "Debian packages debian-handbook and gnome-user-docs",
}
CHAPTER = re.compile(r"^(?:(?:Chapter|Appendix) )?(?:\d+|[A-Z])(?:\.\d+)*\.\s+")
SPACE = re.compile(r"\s+")
MALLARD = "{http://projectmallard.org/1.0/}"
# Mallard's block elements, by what HTML calls them; inline ones are kept as their text.
BLOCKS = {
    "p": "p",
    "note": "blockquote",
    "list": "ul",
    "steps": "ol",
    "item": "li",
    "terms": "dl",
    "section": "section",
    "example": "div",
    "screen": "pre",
    "code": "pre",
    "quote": "blockquote",
    "table": "table",
    "thead": "thead",
    "tbody": "tbody",
    "tfoot": "tfoot",
    "tr": "tr",
    "td": "td",
}
SKIPPED = {"info", "links", "media", "comment", "desc", "cite", "synopsis"}


@dataclass(frozen=True, slots=True)
class Page:
    """One entry of the ZIM: its path, its title as spoken, and the HTML inside its body."""

    path: str
    title: str
    body: str


class Entry(Item):  # type: ignore[misc]  # libzim has no types
    """A page as libzim's writer wants it, an article for its indexes."""

    def __init__(self, page: Page) -> None:
        super().__init__()
        self._page = page

    def get_path(self) -> str:
        """Return where the page is, relative to the ZIM's root."""
        return self._page.path

    def get_title(self) -> str:
        """Return the title, for the title index."""
        return self._page.title

    def get_mimetype(self) -> str:
        """Return what kind of content it is."""
        return "text/html"

    def get_contentprovider(self) -> ContentProvider:
        """Return the whole HTML document."""
        title = escape(self._page.title)
        return StringProvider(
            f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>'
            f"<body>{self._page.body}</body></html>"
        )

    def get_hints(self) -> dict[Hint, int]:
        """Return whether it counts as an article."""
        return {Hint.FRONT_ARTICLE: True}


class Unindexed(IndexData):  # type: ignore[misc]  # libzim has no types
    """Keeps a page out of the full-text index."""

    def has_indexdata(self) -> bool:
        """Return that there is nothing to index."""
        return False


class Contents(Entry):
    """The list of all pages, which no search should find."""

    def get_hints(self) -> dict[Hint, int]:
        """Return that it is no article."""
        return {Hint.FRONT_ARTICLE: False}

    def get_indexdata(self) -> IndexData:
        """Return what to index: nothing. Without this method libzim reads the HTML."""
        return Unindexed()


def handbook_pages(folder: Path) -> Iterator[Page]:
    """Yield the pages of a book that publican made, without navigation and pictures."""
    for file in sorted(folder.glob("*.html")):
        if file.stem == "index":
            continue  # a table of contents, as long as the book has sections
        tree = LexborHTMLParser(file.read_text(encoding="utf-8"))
        body, heading = tree.body, tree.css_first("title")
        if body is None or heading is None:
            raise SystemExit(f"{file}: not a page of the handbook")
        title = CHAPTER.sub("", SPACE.sub(" ", heading.text()).strip())
        tree.strip_tags(["img", "script", "style"])
        for navigation in tree.css("#banner, #title, ul.docnav, div.toc, a.indexterm"):
            navigation.decompose()
        for numbered in tree.css("h1.title, h2.title"):
            numbered.decompose()
        yield Page(
            f"handbook/{file.stem}", title, f"<h1>{escape(title)}</h1>{body.inner_html or ''}"
        )


def mallard_pages(folder: Path) -> Iterator[Page]:
    """Yield the topics of a Mallard document. Guides with no text of their own, only links, are left out."""
    for file in sorted(folder.glob("*.page")):
        root = ET.parse(file).getroot()  # noqa: S314  # signed by Debian
        heading = root.find(f"{MALLARD}title")
        if heading is None:
            raise SystemExit(f"{file}: a page without a title")
        title = SPACE.sub(" ", "".join(heading.itertext())).strip()
        description = root.find(f"{MALLARD}info/{MALLARD}desc")
        text = "".join(_html(child, 2) for child in root if child is not heading)
        if not text.strip():
            continue
        lead = "" if description is None else f"<p>{escape(_flat(description))}</p>"
        yield Page(f"{folder.name}/{file.stem}", title, f"<h1>{escape(title)}</h1>{lead}{text}")


def _flat(element: ET.Element) -> str:
    return SPACE.sub(" ", "".join(element.itertext())).strip()


def _html(element: ET.Element, level: int) -> str:
    """Return a Mallard element as HTML, headings beginning at `level`; what follows it is not part of it."""
    if not element.tag.startswith(MALLARD):
        return ""
    name = element.tag.removeprefix(MALLARD)
    if name in SKIPPED:
        return ""
    inner = escape(element.text or "") + "".join(
        _html(child, level + (name == "section")) + escape(child.tail or "") for child in element
    )
    if name == "title":
        return f"<h{level}>{inner}</h{level}>"
    if name == "link" and (target := element.get("xref")) and "#" not in target:
        return f'<a href="{escape(target)}">{inner or escape(target)}</a>'
    tag = BLOCKS.get(name)
    if tag is None or (name == "code" and "\n" not in inner):
        return inner
    return f"<{tag}>{inner}</{tag}>"


def write(file: Path, pages: Iterable[Page]) -> int:
    """Write the ZIM, its full-text index in English, and return how many pages it has."""
    count = 0
    with Creator(file).config_indexing(True, "eng") as creator:
        creator.set_mainpath(MAIN)
        listed: list[str] = []
        for page in pages:
            creator.add_item(Entry(page))
            listed.append(f'<li><a href="{escape(page.path)}">{escape(page.title)}</a></li>')
            count += 1
        contents = f"<h1>{METADATA['Title']}</h1><p>{METADATA['Description']}.</p><ul>{''.join(listed)}</ul>"
        creator.add_item(Contents(Page(MAIN, METADATA["Title"], contents)))
        for name, value in METADATA.items():
            creator.add_metadata(name, value)
        creator.add_metadata("Date", date.today())
    return count


def main() -> None:
    """Read the folders named on the command line and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--handbook", type=Path, action="append", default=[])
    parser.add_argument("--mallard", type=Path, action="append", default=[])
    args = parser.parse_args()
    pages = [page for folder in args.handbook for page in handbook_pages(folder)]
    pages += [page for folder in args.mallard for page in mallard_pages(folder)]
    print(f"{write(args.file, pages)} pages")


if __name__ == "__main__":
    main()
