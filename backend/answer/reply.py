"""What a model's reply says: which sources it names and its text, read while it comes in.

A reply is the JSON object that was asked for, or prose in its place with tags in parentheses, as models write that
aren't held to a schema. It is decided here what in a text is a tag; whether the tags are right is decided by the
gates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
import json
import re
from typing import Any, Final, Literal

from pydantic_core import from_json

from backend.answer.phrases import has_miss_mark
from backend.contract import LABELS
from backend.llm.thoughts import after_thoughts
from backend.types import Section

_GROUP: Final = re.compile(
    r"[ \t]*(?P<mark>[*_`]{0,3})[(\[（【](?P<inside>[^()\[\]（）【】\n]{1,160})[)\]）】](?P=mark)"
)
_PARTS: Final = re.compile(r"\s*[,;/|&+、，]\s*")
_JOINED: Final = re.compile(r"\s+[^\W\d_]{1,3}\s+")
"""The word for "and", in whatever language."""
_PREFIX: Final = re.compile(
    r"^(?:sources?|tags?)\s*[:=]?\s+(?=\S)|^(?:[^\W\d_]{3,12})\s*[:=：]", re.IGNORECASE
)
_LISTED: Final = re.compile(
    r"(?:\A|(?<=[.!?…\n]))\s*[*_`]*([^\W\d_]{3,12}\s*[:=：][^.!?\n]{1,80})\.?\s*\Z"
)
"""A line of sources at the end: "Sources: house, web"."""
_GROUP_AT_END: Final = re.compile(r"[(\[（]([^()\[\]（）]{2,80})[)\]）][.!]?\Z")
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z_.-]{1,24}")
_MARK: Final = re.compile(r"[ \t]*\[\d{1,2}(?:\s*[,–-]\s*\d{1,2})*\](?!\()")
_ENDS: Final = (".", "!", "?", "…", "。", "！", "？", "؟", "।")
_CLOSING: Final = "\"'”’»«“)]」』）"
_CONTROL: Final = re.compile(r"[\x00-\x1f]")
_OPENING: Final = re.compile(r"\s*(?:```\w*\s*)?(?=\{)")


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply read to its end.

    `named` are the tags as the model wrote them, those offered by their right names; `whole` is false where the
    text ends before its end. `written` is the text with the tags in it.
    """

    form: Literal["json", "prose", "malformed"]
    named: tuple[str, ...]
    text: str
    whole: bool = True
    written: str = field(default="", compare=False)


class Tags:
    """Knows a tag when it sees one."""

    def __init__(self, sections: Sequence[Section]) -> None:
        """Take what was offered."""
        self.offered = tuple(section.source for section in sections)
        labels = {section.source: section.label for section in sections}
        self._names = _names(labels)
        self._known = frozenset(_names(LABELS)) | frozenset(self._names)
        self._written = frozenset(
            _plain(match["inside"])
            for section in sections
            for passage in section.passages
            for match in _GROUP.finditer(passage.text)
        )

    def name(self, written: str) -> str:
        """Return the tag that `written` means if it was offered, else `written` itself."""
        bare = _PREFIX.sub("", written.strip(" \t\"'`*_.:[]()")).strip()
        return self._names.get(" ".join(bare.casefold().split()), bare)

    def named(self, group: str, *, apart: bool = False) -> tuple[str, ...]:
        """Return the names in `group`, the inside of a parenthesis, if it is one of tags; else ().

        One that stands `apart`, after the end of a sentence, may hold names that are no tags beside some that are.
        """
        if has_miss_mark(group):
            return ()
        whole = self.name(group)
        if whole in self.offered:
            return (whole,)
        bare = _PREFIX.sub("", group.strip()) or group
        listed = [part for part in _PARTS.split(bare) if part]
        joined = [self.name(part) for each in listed for part in _JOINED.split(each)]
        if all(map(self._knows, joined)):
            return tuple(joined)
        names = [self.name(part) for part in listed]
        if any(map(self._knows, names)) and (apart or all(map(_WORD.fullmatch, names))):
            return tuple(names)
        return ()

    def _knows(self, name: str) -> bool:
        return name in self.offered or name.casefold() in self._known

    def without(self, text: str) -> tuple[str, tuple[str, ...]]:
        """Return `text` without its tags and marks such as "[1]", and the names of the tags in order.

        What stands in parentheses in the material itself is text, unless it names what was offered.
        """
        names: list[str] = []

        def drop(match: re.Match[str]) -> str:
            before = match.string[: match.start()]
            inside = match["inside"]
            found = self.named(inside, apart=not before.strip() or ends_sentence(before))
            if self._is_text(inside) and not any(name in self.offered for name in found):
                return match[0]
            names.extend(name for name in found if name not in names)
            return "" if found else match[0]

        bare = _GROUP.sub(drop, _MARK.sub("", text)).strip()
        last = _LISTED.search(bare)
        if last is not None:
            found = self.named(last[1])
            if found and set(found) <= set(self.offered):
                names.extend(name for name in found if name not in names)
                bare = bare[: last.start()].rstrip()
        last = _GROUP_AT_END.search(bare)
        if (
            last is not None
            and not has_miss_mark(last[1])
            and not self._is_text(last[1])
            and (not bare[: last.start()].strip() or ends_sentence(bare[: last.start()]))
        ):
            # After the last sentence nothing but tags stands in parentheses alone.
            parts = _PARTS.split(last[1].strip())
            if len(parts) <= 4 and all(_WORD.fullmatch(part) for part in parts):
                names.extend(part for part in parts if part not in names)
                bare = bare[: last.start()].rstrip()
        return re.sub(r"\s+([.,;:!?])(?=\s|\Z)", r"\1", bare), tuple(names)

    def _is_text(self, inside: str) -> bool:
        """Return whether the material has the same in parentheses."""
        return _plain(inside) in self._written


class Reader:
    """Reads a reply piece by piece."""

    def __init__(self, tags: Tags) -> None:
        self._tags = tags
        self._raw = ""
        self._object: dict[str, Any] | None = None

    def feed(self, piece: str) -> None:
        """Take the next piece."""
        self._raw += piece
        self._object = _partial(self._raw)

    @property
    def named(self) -> tuple[str, ...] | None:
        """The tags, once it is known that no more will come; None till then, and to the end of prose.

        None too where several were offered and none is listed: the text may name them yet.
        """
        found = self._object
        if found is None or "text" not in found or next(iter(found)) != "sources":
            return None
        listed = _listed(found["sources"], self._tags)
        return listed if listed or len(self._tags.offered) == 1 else None

    @property
    def text(self) -> str:
        """The text of the JSON object so far."""
        text = self._object.get("text") if self._object else None
        return text if isinstance(text, str) else ""

    def finish(self) -> Reply:
        """Return what the reply says."""
        raw = after_thoughts(self._raw).strip()
        # There may be prose, or a fence, before the object that was asked for.
        start = re.search(r'\A(?:```\w*\s*)?\{|\{\s*"(?:sources|text)"', raw)
        if start is not None:
            raw, whole = raw[raw.index("{", start.start()) :], True
            found = _partial(raw)
            text = found.get("text") if found is not None else None
            if found is None or not isinstance(text, str):
                return Reply("malformed", (), "")
            try:
                json.JSONDecoder(strict=False).raw_decode(raw)
            except ValueError:
                whole = False
            bare, inside = self._tags.without(text)
            named = _listed(found.get("sources"), self._tags) or inside
            return Reply("json", named, bare, whole, text)
        bare, named = self._tags.without(raw)
        return Reply("prose", named, bare, written=raw)


def ends_sentence(text: str) -> bool:
    """Return whether `text` ends where a sentence may end."""
    return text.rstrip().rstrip(_CLOSING).endswith(_ENDS)


def is_question(sentence: str) -> bool:
    """Return whether `sentence` asks something."""
    return sentence.rstrip().rstrip(_CLOSING).endswith(("?", "？", "؟"))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _names(labels: Mapping[str, str]) -> dict[str, str]:
    """Return tag by each way in which it is written, in folded case."""
    names: dict[str, str] = {}
    for tag, label in labels.items():
        for way in (tag, label, f"{tag} — {label}", f"{tag} - {label}", f"{tag}: {label}"):
            names[way.casefold()] = tag
    return names


def _listed(value: object, tags: Tags) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    names = [
        tags.name(part) for each in values if isinstance(each, str) for part in each.split(",")
    ]
    return tuple(dict.fromkeys(name for name in names if name))


def _partial(raw: str) -> dict[str, Any] | None:
    """Return as much of the JSON object that `raw` begins as has come; None if it begins none."""
    raw = after_thoughts(raw)
    opening = _OPENING.match(raw)
    if opening is None:
        return None
    try:
        found = from_json(_CONTROL.sub(" ", raw[opening.end() :]), allow_partial="trailing-strings")
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
