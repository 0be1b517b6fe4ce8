"""Bytes as text, whatever they say of themselves.

Decides in which encoding a text of the web really is, and leaves out what no text has in it.
"""

from __future__ import annotations

import re
from typing import Final

_ENCODINGS: Final = re.compile(
    r"(?:iso-?8859-?|windows-?|cp-?)\d{1,4}(?:-\d+)?|latin-?\d|koi8-[ru]|gb2312|gbk|gb18030|big5|euc-(?:jp|kr)|"
    r"shift[-_]jis|macintosh"
)
"""Those in use whose tags are ASCII. Python knows others, some of which take the square of a text's length."""

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def decoded(body: bytes, declared: str = "") -> str:
    """Return `body` as text; `declared` is the encoding that it says it has, "" for none.

    What is valid UTF-8 is UTF-8, whatever it says of itself; a few broken bytes in it spoil only themselves.
    """
    return _CONTROL.sub("", _decoded(body, declared))


def _decoded(body: bytes, declared: str) -> str:
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return body.decode("utf-16", "replace")
    body = body.removeprefix(b"\xef\xbb\xbf")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        pass
    name = declared.lower()
    # As browsers do: who says Latin 1 means what Windows has of it.
    name = "windows-1252" if name in ("iso-8859-1", "latin1", "latin-1") else name
    if _ENCODINGS.fullmatch(name):
        try:
            return body.decode(name, "replace")
        except LookupError:
            pass
    text = body.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    whole = sum(not char.isascii() for char in text) - broken
    return text if whole > broken else body.decode("windows-1252", "replace")
