"""Which things of a house a question is about.

Every word that names something must be found in a thing's name or area, or be its kind, before that thing is told of: a
thing that isn't there is missing, and no other one is told in its place. What is asked is `home_question`'s, what is said
of the things `home_answer`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from backend.sources.home_question import IMPLIED, NOT, Asked, Part, Reader, Words, whole
from backend.sources.home_states import MEASURED, UNKNOWN, Thing
from backend.sources.home_words import HomeWords

MEANS: Final[Mapping[str, frozenset[str]]] = {
    "on": frozenset(
        {"on", "heating", "cooling", "drying", "fanning", "set_heat", "set_cool"}
        | {"playing", "paused", "working", "returning"}
    ),
    "off": frozenset({"off"}),
    "open": frozenset({"open", "opening", "closing"}),
    "closed": frozenset({"closed"}),
    "locked": frozenset({"locked"}),
    "unlocked": frozenset({"unlocked", "locking", "unlocking", "jammed"}),
    "home": frozenset({"home"}),
    "away": frozenset({"away", "elsewhere"}),
    "low": frozenset({"low"}),
    "normal": frozenset({"normal"}),
    "motion": frozenset({"motion", "occupied"}),
    "heating": frozenset({"heating"}),
    "cooling": frozenset({"cooling"}),
    "armed": frozenset({"armed", "armed_home", "armed_away", "armed_night", "armed_vacation"}),
    "disarmed": frozenset({"disarmed"}),
    "triggered": frozenset({"triggered"}),
    "playing": frozenset({"playing"}),
    "working": frozenset({"working"}),
    "docked": frozenset({"docked", "charging"}),
    "connected": frozenset({"connected"}),
    "disconnected": frozenset({"disconnected"}),
    "wet": frozenset({"wet"}),
    "detected": frozenset({"detected"}),
    "problem": frozenset({"problem"}),
}
"""The states of ours that a state asked for holds for: what is just closing isn't closed."""
_ALSO: Final = {"garage_door": ("door",), "gate": ("door",), "tracker": ("person",)}
_BY_NAME: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(("light", "fan", "media", "switch", "vacuum"), frozenset({"on"})),
    "climate": frozenset({"on", "heating"}),
    **dict.fromkeys(
        ("door", "garage_door", "gate", "window", "cover", "valve"), frozenset({"open"})
    ),
    "lock": frozenset({"locked"}),
    "alarm": frozenset({"armed", "disarmed"}),
}
"""What a thing must be able to be, to be of the kind that its name tells: "Garage Band" opens nothing."""
_MEASURED: Final = frozenset(MEASURED.values())
_LOCKABLE: Final = frozenset({"door", "garage_door", "gate", "window"})


@dataclass(frozen=True, slots=True)
class Chosen:
    """The things that a question is about, and the state that is asked of them, "" for none.

    `missing` is what isn't among the things, in the words of the question, "" for a kind or an area that nothing is of;
    `undecided` tells that the state that was asked for is none that they could have.
    """

    things: tuple[Thing, ...]
    state: str = ""
    missing: tuple[str, ...] = ()
    undecided: bool = False


class House:
    """The things of a house, their words made ready for questions in one language."""

    def __init__(self, things: Sequence[Thing], words: HomeWords, here: str = "") -> None:
        """Take the things, the words of a language and the area where someone asks."""
        self._words = words
        self._here = words.words(here)
        self.things = tuple(things)
        self._names = {thing: words.words(thing.name) for thing in self.things}
        self._areas = {thing: words.words(thing.area) for thing in self.things}
        self._kinds = {thing: self._kinds_of(thing) for thing in self.things}
        self._people = any(thing.kind == "person" for thing in self.things)

    def read(self, text: str) -> Asked:
        """Return what a text asks of these things."""
        # People may be called like a word that names nothing: "Ben", "Will".
        names = [
            name
            for thing, name in self._names.items()
            if name and (thing.kind == "person" or not self._words.generic(thing.name))
        ]
        return Reader(names, self._areas.values(), self._here, self._words).read(text)

    def apart(self, text: str) -> list[Asked]:
        """Return what a text asks: where "and" parts what states different things, each by itself.

        What states something of nothing states it of what was named before it ("closed and locked"); what states
        nothing belongs to what stands after it. "Open or closed" is one question.
        """
        tokens = self._words.tokens(text)
        ands = [
            at
            for at, _, means in self._words.found([token.word for token in tokens])
            if any(meaning.use == "and" for meaning in means)
        ]
        found: list[Asked] = []
        begin = 0
        for end in (*sorted(ands), len(tokens)):
            asked = self.read(whole(tokens, range(begin, end)))
            if found and asked.strong and not (asked.kinds or asked.parts):
                asked = replace(found[-1], states=asked.states, strong=True)
            # "The lamp on the desk" states nothing.
            states = asked.states if asked.strong or not asked.parts else ()
            if states and (asked.kinds or asked.parts):
                found.append(asked)
                begin = end + 1
        stated = {asked.states for asked in found}
        opposite = any((NOT.get(state[-1]),) in stated for state in stated)
        if len(stated) < 2 or opposite or begin <= len(tokens):
            return [self.read(text)]
        return found

    def _kinds_of(self, thing: Thing) -> frozenset[str]:
        kinds = {thing.kind, *_ALSO.get(thing.kind, ())}
        if thing.current:
            kinds.add("temperature")
        named = {
            meaning.word
            for _, _, means in self._words.found(self._names[thing])
            for meaning in means
            if meaning.use == "kind"
        }
        for kind in named:
            able = not _BY_NAME.get(kind, frozenset()).isdisjoint(thing.options)
            measures = thing.kind == "sensor" and kind in _MEASURED and thing.value[:1].isdigit()
            if able or measures:
                kinds.add(kind)
        return frozenset(kinds)

    def choose(self, asked: Asked) -> Chosen | None:
        """Return the things that are asked of; None where the question isn't about things of a house."""
        if not asked.known or not self.things:
            return None
        if asked.plain and asked.kinds and self._here and not (asked.plural or asked.quantity):
            # "Is the light on" is asked of the one beside who asks, where there is one.
            near = self._chosen(replace(asked, areas=(self._here,)))
            if near is not None and not near.undecided:
                return near
        missing = asked.said if asked.parts else ""
        return self._chosen(asked) or Chosen((), missing=(missing,))

    def _chosen(self, asked: Asked) -> Chosen | None:
        for state in (*reversed(asked.states), ""):
            for exact in (True, False):
                things = tuple(t for t in self.things if self._fits(t, asked, state, exact=exact))
                if things:
                    missing = tuple(
                        part.said
                        for part in asked.parts
                        if not any(self._is(t, part, exact=exact) for t in things)
                    )
                    undecided = not state and bool(asked.states) and asked.strong
                    return Chosen(self._once(things), state, missing, undecided)
        return None

    def _fits(self, thing: Thing, asked: Asked, state: str, *, exact: bool) -> bool:
        if state and MEANS[state].isdisjoint(thing.options):
            return False
        if asked.areas and not any(self._in_area(thing, area) for area in asked.areas):
            return False
        of_kind = not asked.kinds or not self._kinds[thing].isdisjoint(asked.kinds)
        if not of_kind and state in ("locked", "unlocked") and thing.kind == "lock":
            # A lock is asked of by its door.
            of_kind = not _LOCKABLE.isdisjoint(asked.kinds)
        if not of_kind:
            return False
        if not asked.parts and thing.kind == "tracker" and self._people:
            # Whoever is at home is, with a telephone or without.
            return False
        if not asked.parts:
            # Without a kind, a name or a word, only the state tells what is asked of.
            return bool(asked.kinds or state)
        if not exact and not (asked.kinds or state):
            return False
        return any(self._is(thing, part, exact=exact) for part in asked.parts)

    def _is(self, thing: Thing, part: Part, *, exact: bool) -> bool:
        """Return whether a part of a question names a thing.

        Not `exact`, the name may be a part of the thing's: "is the front door locked" is asked of the "Front door lock".
        """
        if exact and part.name:
            return self._names[thing] == part.name and self._has_all(thing, part.others)
        return self._has_all(thing, (*part.name, *part.others))

    def _has_all(self, thing: Thing, words: Words) -> bool:
        """Return whether every word is one of a thing's, also where what is one word was heard as two."""
        at = 0
        while at < len(words):
            if self._has(thing, words[at]):
                at += 1
            elif at + 1 < len(words) and self._has(thing, words[at] + words[at + 1]):
                at += 2
            else:
                return False
        return True

    def _has(self, thing: Thing, word: str) -> bool:
        for words in (self._names[thing], self._areas[thing]):
            joined = map("".join, pairwise(words))
            if any(self._words.alike(word, other) for other in (*words, *joined)):
                return True
        if thing.state == "elsewhere" and word in self._words.words(thing.value):
            return True
        means = self._words.phrases.get((word,), ())
        return any(m.use == "kind" and m.word in self._kinds[thing] for m in means)

    def _in_area(self, thing: Thing, area: Words) -> bool:
        if self._areas[thing]:
            return self._areas[thing] == area
        return self._has_all(thing, area)

    def _once(self, things: Sequence[Thing]) -> tuple[Thing, ...]:
        """Return each thing of the house once, however many entities tell of it in the same way."""
        kept: dict[tuple[object, ...], Thing] = {}
        for thing in things:
            alike = (self._names[thing], self._areas[thing], thing.options, thing.value)
            known = kept.get(alike)
            if known is None or _loud(thing) > _loud(known):
                kept[alike] = thing
        found = list(kept.values())
        told = {thing.id for thing in found}
        return tuple(
            thing
            for thing in found
            # A group is told by what it is made of, where that is told.
            if thing.members.isdisjoint(told)
            and not any(self._part_of(thing, other) for other in found)
        )

    def _part_of(self, thing: Thing, other: Thing) -> bool:
        """Return whether a thing is a part of a device that is told of in its whole, and is as that is."""
        name, whole = self._names[thing], self._names[other]
        return (
            bool(thing.device)
            and thing.device == other.device
            and (thing.kind, thing.state, thing.value) == (other.kind, other.state, other.value)
            and len(name) > len(whole)
            and name[: len(whole)] == whole
            # Gangs of a switch are several.
            and not any(map(str.isdigit, name[len(whole) :]))
        )


_LOUD: Final = frozenset().union(
    *(MEANS[state] for state in ("on", "open", "unlocked", "low", *IMPLIED.values()))
)


def _loud(thing: Thing) -> int:
    """Return how much a state matters where several entities of one name differ: an open door is never told as closed."""
    return 0 if thing.state == UNKNOWN else 2 if thing.state in _LOUD else 1
