"""XML from outside, as a tree.

Decides what is refused: document types, and with them every entity that a document could define, and what nests deeper
than anybody means. How large a document may be is up to whoever fetches it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_DEEPEST: Final = 50
_LOOSE: Final = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9A-Fa-f]{1,6});)")
"""An ampersand that stands for itself, as programs that paste addresses into XML leave it."""


def tree(source: bytes) -> Element:
    """Return the root of a document, every name in it without its namespace. Raises ValueError."""
    from xml.etree.ElementTree import TreeBuilder
    from xml.parsers import expat

    builder = TreeBuilder()
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise ValueError("the XML nests too deep")
        builder.start(_local(name), {_local(key): value for key, value in attributes.items()})

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(_local(name))

    def refuse(*_: object) -> None:
        raise ValueError("the XML has a document type")

    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(_LOOSE.sub(b"&amp;", source), True)
    except (expat.ExpatError, LookupError) as error:
        raise ValueError(f"no XML ({error})") from error
    return builder.close()


def _local(name: str) -> str:
    return name.rpartition("}")[2]
