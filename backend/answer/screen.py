"""What is for the screen only, taken out of a text: tags, links, markup, marks of citations, emoji, thinking.

Knows Markdown, HTML and what models and encyclopedias leave in a text, in any language; the words of a voice are
`answer/speech.py`'s.
"""

from __future__ import annotations

import html
import re
from typing import Final

from backend.contract import LABELS

_THINK: Final = re.compile(
    r"<(think|thinking|reasoning|thought)>.*?(?:</\1>|\Z)|\A.*?</(?:think|thinking|reasoning|thought)>",
    re.DOTALL | re.IGNORECASE,
)
_HTML_TAG: Final = re.compile(
    r"</?(?:a|abbr|b|blockquote|br|center|cite|code|dd|del|div|dl|dt|em|figure|font|h[1-6]|hr|i|img|ins|kbd|li|"
    r"mark|ol|p|pre|q|s|samp|script|section|small|span|strong|style|sub|sup|table|tbody|td|th|thead|tr|tt|u|ul|"
    r"var|video|wbr)\b[^<>]*>",
    re.IGNORECASE,
)
_BREAK_TAG: Final = re.compile(r"<(?:br|hr|/p|/li|/h[1-6]|/div|/tr)\b[^<>]*>", re.IGNORECASE)
_ENTITY: Final = re.compile(r"&(?:#\d+|#x[0-9a-fA-F]+|[a-zA-Z]+\d*);")
_FENCE: Final = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
_IMAGE: Final = re.compile(r"!\[([^\[\]\n]{0,400})\]\([^)\n]*\)")
_LINK: Final = re.compile(r"\[([^\[\]\n]{1,400})\]\((?:[^()\n]|\([^()\n]*\))*\)")
_URL: Final = re.compile(
    r"<?(?:https?|ftp)://[^\s<>()（）]+[^\s<>()（）.,;:!?。、]>?|\bwww\.[^\s<>()]+[^\s<>().,;:!?]",
    re.IGNORECASE,
)
_URL_MARK: Final = "\x00"
_URL_ASIDE: Final = re.compile(
    rf"\s*[(（\[][^()（）\[\]]{{0,24}}{_URL_MARK}[^()（）\[\]]{{0,12}}[)）\]]"
)
_URL_LEAD: Final = re.compile(rf"\s*[:：]?\s*{_URL_MARK}")
_NOTE: Final = re.compile(
    r"\s*\^\[?\d+\]?\^|\[\^\w+\]|\s?\[(?:\d+(?:\s?[,–-]\s?\d+)*|[a-z]+ needed|note \d+|\.\.\.|…)\]"
)
_EMPHASIS: Final = re.compile(r"(\*{1,3}|_{1,3}|~~)(?=\S)(.{1,400}?)(?<=\S)\1", re.DOTALL)
_CODE: Final = re.compile(r"`+([^`\n]*)`+")
_HEADING: Final = re.compile(r"^[ \t]*#{1,6}[ \t]+|[ \t]+#+[ \t]*$", re.MULTILINE)
_QUOTE: Final = re.compile(r"^[ \t]*>(?![ \t]?\d)[ \t]?", re.MULTILINE)
_RULE: Final = re.compile(
    r"^[ \t]*(?:[-*_=][ \t]*){3,}$|^[ \t]*[|:-][ \t|:-]*$(?<=[|:-])", re.MULTILINE
)
_ROW: Final = re.compile(r"^[ \t]*\|(.*?)\|?[ \t]*$", re.MULTILINE)
_BULLET: Final = re.compile(r"^[ \t]*(?:[-*+•‣▪●◦–—][ \t]+|\d{1,3}[.)][ \t]+(?=\S))", re.MULTILINE)
_NO_ORDINAL: Final = re.compile(
    r"^[ \t]*(?:[-*+•‣▪●◦–—][ \t]+|\d{1,3}\)[ \t]+(?=\S))", re.MULTILINE
)
_NUMBERED: Final = re.compile(r"^[ \t]*\d{1,3}\.[ \t]+(?=\S)", re.MULTILINE)
_SPACES: Final = re.compile(r"[ \t\u00a0\u202f\n\r]+")
_EMPTY: Final = re.compile(r"\(\s*[;,]?\s*\)")
_WORD_MARK: Final = re.compile(r"\w [,.;!?]")
_BEFORE_MARK: Final = re.compile(r" +([,.;!?])(?!\d|\.)")
_TWO_MARKS: Final = re.compile(r"([,;:]) ?(?=[.!?](?:\s|\Z))")
_EMOJI: Final = re.compile(
    "[\U0001f000-\U0001faff\u2600-\u26ff\u2700-\u27bf\u2b00-\u2bff\u231a-\u23ff\ufe0e\ufe0f\u20e3\u200d\U000e0020-\U000e007f]"
)
_ENTITY_ID: Final = re.compile(r"\b[a-z]+(?:_[a-z]+)*\.([a-z0-9]+(?:_[a-z0-9]+)+)\b")
_PATH: Final = re.compile(r"(?<![\w/])~?(?:/[\w.-]*[\w-])+/?|(?<!\w)~(?=/)")
_IPA: Final = re.compile("[ˈˌəɪʊɔæɑɛŋθðʒʃʔɡɹɾɫɵøɐ]")
_ASIDE: Final = re.compile(r" ?\(([^()]*)\)")
_LATEX: Final = re.compile(
    r"\\[()\[\]]|\\(?:text|mathrm|mathbf)\{([^}]*)\}|\\[,;! ]|\${1,2}(?=[^$\d\s][^$\n]*\$)|(?<=[^$\d\s])\${1,2}"
)
_TAIL_TAGS: Final = re.compile(
    r"\s*\((?:"
    + "|".join(LABELS)
    + r")(?:\s*(?:,|;|and|&|\+)\s*(?:"
    + "|".join(LABELS)
    + r"))*\)(?=\s*[.!?]?\s*\Z)",
    re.IGNORECASE,
)


def strip(text: str, *, ordinals: bool = False) -> str:
    """Take out what is for the screen only.

    With `ordinals`, "3." is how the language writes "third": one alone at the start is no mark of a list.
    """
    out = text
    if "<" in out or "</" in out:
        out = _THINK.sub("", out)
        out = _HTML_TAG.sub("", _BREAK_TAG.sub("\n", out))
    if "&" in out:
        out = _ENTITY.sub(lambda each: html.unescape(each.group()), out)
    out = _lines(_links(out), ordinals)
    out = _TAIL_TAGS.sub("", out)
    out = _EMOJI.sub("", out)
    out = _ENTITY_ID.sub(lambda each: each[1].replace("_", " "), out)
    if "/" in out:
        out = _PATH.sub(_path, out)
    if "\\" in out:
        out = _LATEX.sub(lambda each: each[1] or "", out)
    if "(" in out and _IPA.search(out):
        out = _ASIDE.sub(_without_ipa, out)
    if "--" in out:
        out = re.sub(r"(?<=\s)-{2,3}(?=\s)|(?<=\w)-{2,3}(?=\w)", "–", out)
    return text if out == text else tidy(out)


def _links(text: str) -> str:
    out = text
    if "[" in out:
        out = _LINK.sub(r"\1", _IMAGE.sub(r"\1", out))
        out = _NOTE.sub("", out)
    if "^" in out:
        out = _NOTE.sub("", out)
    marked = _URL.sub(_URL_MARK, out.replace(_URL_MARK, ""))
    if _URL_MARK in marked:
        marked = _URL_ASIDE.sub("", marked)
        out = _URL_LEAD.sub("", marked)
    return out


def _lines(text: str, ordinals: bool) -> str:
    """Take out Markdown, and make one line of many: what ends without a mark gets a full stop."""
    out = text
    if "`" in out or "~~~" in out:
        out = _FENCE.sub("", out)
        out = _CODE.sub(lambda each: each[1] if re.search(r"\W|\d|_", each[1]) else each[0], out)
    if "*" in out or "_" in out or "~~" in out:
        out = _EMPHASIS.sub(_emphasis, out)
    bullet = _NO_ORDINAL if ordinals and len(_NUMBERED.findall(out)) < 2 else _BULLET
    marked = bool(bullet.match(out)) and out.strip() not in ("-", "—", "–")
    if "\n" not in out and not marked and not re.match(r"[ \t]*(?:#{1,6} |>|\|)", out):
        return out
    out = _ROW.sub(
        lambda each: ", ".join(cell.strip() for cell in each[1].split("|") if cell.strip()),
        _RULE.sub("", out),
    )
    lines: list[str] = []
    for line in out.splitlines():
        item = bool(bullet.match(line) or _HEADING.match(line))
        plain = bullet.sub("", _QUOTE.sub("", _HEADING.sub("", line))).strip()
        if not plain:
            if lines and line.strip() == "":
                lines[-1] = _closed(lines[-1])
            continue
        if lines and (item or not plain[0].islower()):
            lines[-1] = _closed(lines[-1])
        lines.append(plain)
    return " ".join(lines)


def _closed(line: str) -> str:
    return (
        f"{line}."
        if line[-1:].isalnum()
        or (line[-1:] in ")]%°\"”»'’²³" and line[-2:-1] not in (".", "!", "?"))
        else line
    )


def _emphasis(match: re.Match[str]) -> str:
    mark, inner = match.group(1), match.group(2)
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    if mark[0] == "_" and (before.isalnum() or after.isalnum()):
        return match.group()
    if mark == "*" and (before.isdigit() or after.isdigit()):
        return match.group()
    return inner


def _path(match: re.Match[str]) -> str:
    path = match.group()
    if len(path) < 2 or (path.count("/") < 2 and not path.startswith("~")):
        return path
    return " ".join(part.lstrip(".") for part in path.strip("~/").split("/") if part)


def _without_ipa(match: re.Match[str]) -> str:
    kept = [part.strip() for part in match[1].split(";") if not _IPA.search(part)]
    if len(kept) == match[1].count(";") + 1:
        return match.group()
    return f" ({'; '.join(kept)})" if kept else ""


def tidy(text: str) -> str:
    """Close the gaps that were left."""
    out = _SPACES.sub(" ", text).strip()
    out = _EMPTY.sub("", out) if "(" in out else out
    out = _BEFORE_MARK.sub(r"\1", out) if _WORD_MARK.search(out) else out
    out = _TWO_MARKS.sub("", out)
    return _SPACES.sub(" ", out).strip()
