"""HTML and Markdown as headed parts of plain text.

Decides what of a page is its text: what is hidden, runs, navigates, or only points elsewhere is dropped. Where a
page comes from, and what becomes of its text, is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
import re
from typing import TYPE_CHECKING, Final

from backend.text.parts import Part, row_lines

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_DROPPED: Final = (
    "script,style,noscript,template,svg,math annotation,iframe,object,form,button,select,textarea,input,"
    "nav,footer,aside,[hidden],[aria-hidden=true],[role=navigation],dialog,"
    # MediaWiki's marks, edit links, tables of contents, and boxes of links.
    ".mw-editsection,.reference,.references,.reflist,.toc,#toc,.navbox,.metadata,.ambox,.noprint,"
    ".mw-jump-link,.catlinks,.printfooter,.sistersitebox,.hatnote,.mw-empty-elt,.shortdescription"
)
_HIDING: Final = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?:\.0+)?\s*(?:;|$)|font-size\s*:\s*0",
    re.IGNORECASE,
)
_MOST_NESTED: Final = 2_000
_MOST_TAG: Final = 4_000
"""What a page needs no more of, in elements in each other and characters of a tag. The parser takes the square of both
in time, for which it holds up every thread of the process."""
_OPENED: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)")
_NOT_NESTED: Final = frozenset((
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
    "p", "li", "dt", "dd", "tr", "td", "th", "tbody", "thead", "tfoot", "option",
))  # fmt: skip
"""Elements that are empty, or that the next of their kind ends."""
_HEADING: Final = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_BLOCK: Final = frozenset((
    "address", "article", "blockquote", "body", "caption", "center", "dd", "details", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "header", "hr", "html", "legend", "li", "main", "ol", "p", "pre",
    "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
))  # fmt: skip


@dataclass(slots=True)
class _Writer:
    """Collects blocks under the heading they stand under. The first heading of the top level is the title."""

    title: str = ""
    parts: list[Part] = field(default_factory=list)
    _path: list[tuple[int, str]] = field(default_factory=list)
    _blocks: list[list[str]] = field(default_factory=list)
    _joined: bool = False

    def heading(self, level: int, text: str) -> None:
        """Begin a part; `level` 1 is the highest."""
        self.end()
        if level == 1 and not self.title:
            self.title = text
            self._path = []
            return
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        if text:
            self._path.append((level, text))

    def block(self, text: str, *, line: bool = False) -> None:
        """Add a paragraph, or a `line` of a list or table, which follows the line before it."""
        if not text:
            return
        if line and self._joined:
            self._blocks[-1].append(text)
        else:
            self._blocks.append([text])
        self._joined = line

    def lines(self, lines: list[str]) -> None:
        """Add a whole list or table."""
        self.block("\n".join(lines))

    def end(self) -> None:
        """End the part."""
        if self._blocks:
            text = "\n\n".join("\n".join(lines) for lines in self._blocks)
            self.parts.append(Part(tuple(heading for _, heading in self._path), text))
        self._blocks = []
        self._joined = False


@dataclass(frozen=True, slots=True)
class Page:
    """A page as text. `title`, `language` (as the page says it) and `date` are "" where it doesn't say."""

    title: str
    language: str
    date: str
    parts: tuple[Part, ...]


def html(source: str) -> Page:
    """Return the text of an HTML page; whatever is given, there is some reading of it."""
    from selectolax.lexbor import LexborHTMLParser

    source = _shortened(source.replace("\x00", ""))
    if _too_deep(source):
        text = _inline(_TAG.sub(" ", _RUNNING.sub(" ", source)))
        return Page("", "", "", (Part((), text),) if text else ())
    tree = LexborHTMLParser(source)
    root = tree.root
    if root is None:
        return Page("", "", "", ())
    language = root.attributes.get("lang") or ""
    head = tree.css_first("head > title")
    head_title = _inline(head.text()) if head is not None else ""
    dated = tree.css_first(
        "meta[property='article:published_time'],meta[name=date],meta[name='dcterms.date']"
    )
    date = (dated.attributes.get("content") or "") if dated is not None else ""
    for node in tree.css(_DROPPED):
        node.decompose()
    for node in tree.css("[style]"):
        if _HIDING.search(node.attributes.get("style") or ""):
            node.decompose()
    start = (
        tree.css_first("main")
        or tree.css_first("[role=main]")
        or tree.css_first("article")
        or tree.body
    )
    writer = _Writer()
    if start is not None:
        _walk(start, writer)
    writer.end()
    return Page(writer.title or head_title, language, date, tuple(writer.parts))


def _shortened(source: str) -> str:
    """Return a page without the tags that are too long: pictures written into their addresses, mostly."""
    pieces = source.split(">")
    if max(map(len, pieces)) <= _MOST_TAG:
        return source
    kept = []
    for piece in pieces:
        begun = _OPENED.search(piece) if len(piece) > _MOST_TAG else None
        if begun is None or len(piece) - begun.start() <= _MOST_TAG:
            kept.append(f"{piece}>")
            continue
        # What looks like a tag may be a script, and the tag the one that ends it.
        end = piece.rfind("</")
        kept.append(piece[: begun.start()] + (f"{piece[end:]}>" if end > begun.start() else ""))
    return "".join(kept).removesuffix(">")


def _too_deep(source: str) -> bool:
    if source.count("<") <= _MOST_NESTED:
        return False
    depth = 0
    for end, name in _OPENED.findall(source):
        if name.lower() in _NOT_NESTED:
            continue
        depth = max(0, depth - 1) if end else depth + 1
        if depth > _MOST_NESTED:
            return True
    return False


def _inline(text: str) -> str:
    return " ".join(text.split())


def _walk(start: LexborNode, writer: _Writer) -> None:
    """Write what is under `start`, in order. Without recursion: pages can nest deeper than Python."""
    words: list[str] = []
    item = ""

    def flush() -> None:
        nonlocal item
        text = _inline("".join(words))
        words.clear()
        if text:
            writer.block(f"{item}{text}", line=bool(item))
            item = ""

    # A node, and whether it is being left.
    stack: list[tuple[LexborNode, bool]] = [(start, False)]
    numbers: dict[int, int] = {}
    while stack:
        node, leaving = stack.pop()
        tag = node.tag or ""
        if leaving:
            flush()
            continue
        if tag == "-text":
            words.append(node.text_content or "")
            continue
        if tag == "br":
            words.append(" ")
            continue
        if tag in _HEADING:
            flush()
            writer.heading(int(tag[1]), _inline(node.text(separator="")))
            continue
        if tag == "pre":
            flush()
            writer.block(node.text().strip("\n"))
            continue
        if tag == "table" and (rows := _rows(node)) is not None:
            flush()
            caption = node.css_first("caption")
            if caption is not None:
                writer.block(_inline(caption.text()))
            writer.lines(rows)
            continue
        if tag in _BLOCK:
            flush()
            if tag == "li":
                item = _mark(node, numbers)
            stack.append((node, True))
        children = list(node.iter(include_text=True))
        stack += [(child, False) for child in reversed(children)]
    flush()


def _mark(item: LexborNode, numbers: dict[int, int]) -> str:
    """Return the mark of a list item as plain text has it; `numbers` counts those of each list."""
    parent = item.parent
    if parent is None or parent.tag != "ol":
        return "- "
    number = numbers[parent.mem_id] = numbers.get(parent.mem_id, 0) + 1
    return f"{number}. "


def _rows(table: LexborNode) -> list[str] | None:
    """Return the lines of a table of data; None for one that only lays out."""
    if table.css_first("table table") is not None or table.css_first(
        "td h2, td h3, td ul, td p + p"
    ):
        return None
    header: list[str] | None = None
    rows: list[list[str]] = []
    for row in table.css("tr"):
        cells = [cell for cell in row.iter() if cell.tag in ("td", "th")]
        texts = [_inline(cell.text(separator=" ")) for cell in cells]
        if (
            header is None
            and not rows
            and len(cells) > 1
            and all(cell.tag == "th" for cell in cells)
        ):
            header = texts
        else:
            rows.append(texts)
    if header is None and all(len(row) < 2 for row in rows):
        return None
    return row_lines(header, rows)


_FRONT: Final = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_KEY: Final = re.compile(r"^(\w+)[ \t]*:[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_ATX: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*\Z")
_SETEXT: Final = re.compile(r" {0,3}(=+|-+)[ \t]*\Z")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_RULE: Final = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}\Z")
_ITEM: Final = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_ALIGN: Final = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\Z")
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_RUNNING: Final = re.compile(
    r"<(script|style|template)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE
)
_TAG: Final = re.compile(r"</?[A-Za-z][^<>]{0,500}>")
_CELL: Final = re.compile(r"(?<!\\)\|")
_MARKS: Final = (
    (re.compile(r"!\[([^\]\[]*)\]\([^()\s]*(?:\s+\"[^\"]*\")?\)"), r"\1"),
    (re.compile(r"\[([^\]\[]+)\]\([^()\s]*(?:\s+\"[^\"]*\")?\)"), r"\1"),
    (re.compile(r"\[([^\]\[]+)\]\[[^\]\[]*\]"), r"\1"),
    (re.compile(r"\[\[(?:[^\]\[|]+\|)?([^\]\[|]+)\]\]"), r"\1"),
    (re.compile(r"\[\^[^\]\[]+\]"), ""),
    (re.compile(r"(\*\*|__)(?=\S)(.{1,500}?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<![\w*])\*(?=[^\s*])([^*]+?)(?<=\S)\*(?![\w*])"), r"\1"),
    (re.compile(r"(?<![\w_])_(?=[^\s_])([^_]+?)(?<=\S)_(?![\w_])"), r"\1"),
    (re.compile(r"~~(?=\S)(.{1,500}?)(?<=\S)~~"), r"\1"),
    (re.compile(r"`+([^`]+)`+"), r"\1"),
    (re.compile(r"\\([\\`*_{}\[\]()#+\-.!|<>~])"), r"\1"),
)


def front_matter(source: str) -> tuple[Mapping[str, str], str]:
    """Return the `key: value` lines before a text, keys in lower case, and the text."""
    found = _FRONT.match(source)
    if found is None:
        return {}, source
    keys = {key.lower(): value.strip("\"'") for key, value in _KEY.findall(found[1])}
    return keys, source[found.end() :]


def markdown(source: str) -> Page:
    """Return the text of a Markdown document; whatever is given, there is some reading of it."""
    keys, body = front_matter(source.replace("\r\n", "\n").replace("\r", "\n"))
    body = _RUNNING.sub("", _COMMENT.sub("", body))
    writer = _Writer(keys.get("title", ""))
    _read_lines(body.split("\n"), writer, titled=bool(writer.title))
    writer.end()
    date = keys.get("date") or keys.get("published") or keys.get("updated") or ""
    return Page(
        writer.title, keys.get("language") or keys.get("lang") or "", date, tuple(writer.parts)
    )


def _read_lines(lines: list[str], writer: _Writer, *, titled: bool) -> None:
    paragraph: list[str] = []
    fence: str | None = None
    at = 0

    def flush() -> None:
        if paragraph:
            writer.block("\n".join(unwrapped(paragraph)))
            paragraph.clear()

    while at < len(lines):
        line = lines[at].expandtabs(4)
        at += 1
        if fence is not None:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = None
                writer.block("\n".join(paragraph))
                paragraph.clear()
            else:
                paragraph.append(line)
            continue
        line = re.sub(r"^(?: {0,3}> ?)+", "", line)
        if opening := _FENCE.match(line):
            flush()
            fence = opening[1]
        elif not line.strip():
            flush()
        elif heading := _ATX.match(line):
            flush()
            text = plain(heading[2] or "")
            if not (titled and len(heading[1]) == 1 and text == writer.title):
                writer.heading(len(heading[1]), text)
        elif (
            len(paragraph) == 1 and (under := _SETEXT.match(line)) and not _ITEM.match(paragraph[0])
        ):
            text = plain(paragraph.pop())
            if not (titled and under[1][0] == "=" and text == writer.title):
                writer.heading(1 if under[1][0] == "=" else 2, text)
        elif _RULE.match(line):
            flush()
        elif "|" in line and at < len(lines) and "-" in lines[at] and _ALIGN.match(lines[at]):
            flush()
            rows = []
            end = at + 1
            while end < len(lines) and "|" in lines[end] and lines[end].strip():
                rows.append(_cells(lines[end]))
                end += 1
            writer.lines(row_lines(_cells(line), rows))
            at = end
        else:
            paragraph.append(line)
    if fence is not None:
        writer.block("\n".join(paragraph))
    else:
        flush()


def _cells(line: str) -> list[str]:
    return [plain(cell) for cell in _CELL.split(line.strip().strip("|"))]


def unwrapped(lines: list[str]) -> Iterator[str]:
    """Yield the items of a list, or the one line of a paragraph, that `lines` were wrapped from."""
    current: list[str] = []
    for line in lines:
        if (mark := _ITEM.match(line)) is not None:
            if current:
                yield plain(" ".join(current))
            sign = mark[0].strip()
            bullet = "-" if sign in ("-", "*", "+") else sign
            content = re.sub(r"^\[[ xX]\][ \t]+", "", line[mark.end() :])
            current = [f"{bullet} {content.strip()}"]
        else:
            current.append(line.strip())
    if current:
        yield plain(" ".join(current))


def plain(text: str) -> str:
    """Return a line of Markdown without its marks."""
    for pattern, replacement in _MARKS:
        text = pattern.sub(replacement, text)
    return _inline(_TAG.sub("", text))
