"""What is said of the things of a house: sentences for the ear, each true by itself, in the language of the question.

Decides what comes first ("Yes, …"), what is told together, and what is left to "3 more". What isn't known is said to be
so, and takes "yes" and "no" away where it could turn them. Which things are asked of is `home_question`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from backend.sources.home_choice import MEANS, Chosen
from backend.sources.home_question import Asked
from backend.sources.home_states import MEASURED, UNKNOWN, Thing
from backend.sources.home_words import HomeWords
from backend.text.words import fold

_MOST_NAMES: Final = 6
_MOST_CHARS: Final = 220
"""Names in one sentence: a voice answer of 400 characters holds it and the next one."""
_MOST_VALUES: Final = 6
_FIGURES: Final = frozenset(MEASURED.values())
_STEM: Final = 5
"""Letters by which an area is known in a name."""
_CLEAR: Final = frozenset({"closed", "off", "locked", "normal"})
"""What is asked of several to hear that all is well: "are the windows closed" is asked of every one."""
_FEW: Final = 2
"""From so many things on, "all doors that I can see" is said for their names."""


class Answering:
    """Says what there is to say on one question in the language of `words`."""

    def __init__(self, asked: Asked, chosen: Chosen, words: HomeWords) -> None:
        """Take what is asked, and the things that it is asked of."""
        self._asked = asked
        self._chosen = chosen
        self._words = words
        names = [thing.name.casefold() for thing in chosen.things]
        self._twice = {name for name in names if names.count(name) > 1}

    def sentences(self) -> list[str]:
        """Return the sentences, the one that answers first."""
        chosen, words = self._chosen, self._words
        said = [
            words.say("not_seen" if what else "nothing_seen", what=what)
            for what in dict.fromkeys(chosen.missing)
        ]
        if chosen.undecided and any(thing.state != UNKNOWN for thing in chosen.things):
            said.append(words.say("cannot_tell"))
        if chosen.things:
            said += self._stated() if chosen.state else self._plainly(chosen.things)
        return [_begun(sentence) for sentence in said]

    def verdict(self) -> bool | None:
        """Return whether things are in the state that is stated of them; None where that can't be told.

        One is enough unless all are meant; where some are and some aren't, and neither is said, it can't be told.
        """
        chosen, quantity = self._chosen, self._asked.quantity
        if chosen.missing or chosen.undecided or not chosen.state or not chosen.things:
            return None
        known = {
            thing.state in MEANS[chosen.state]
            for thing in chosen.things
            if thing.state not in ("", UNKNOWN)
        }
        every = quantity == "all" or (not quantity and chosen.state in _CLEAR)
        if (quantity == "any" and True in known) or (every and False in known):
            return not every
        unknown = any(thing.state in ("", UNKNOWN) for thing in chosen.things)
        return None if unknown or not known or len(known) > 1 else known.pop()

    # Where a state is asked for.

    def _stated(self) -> list[str]:
        things, state, quantity = self._chosen.things, self._chosen.state, self._asked.quantity
        unknown = [thing for thing in things if thing.state == UNKNOWN]
        # A state that is none of ours is told as it is, and neither is nor isn't what was asked for.
        other_words = [thing for thing in things if not thing.state]
        known = [thing for thing in things if thing.state not in ("", UNKNOWN)]
        so = [thing for thing in known if thing.state in MEANS[state]]
        others = [thing for thing in known if thing not in so]
        unsure = bool(unknown or other_words)
        said = []
        if quantity == "count" and so:
            told = self._grouped(so)
            first = self._words.say("count", count=len(so), total=len(known), said=told[0])
            said = [first, *told[1:]]
        elif quantity == "all":
            if others:
                said = self._answered("no", self._grouped(others))
            elif so:
                said = self._answered("" if unsure else "yes", self._all(so))
        elif quantity in ("which", "count"):
            said = self._grouped(so) if so else self._all(others)
        elif quantity == "any":
            if so:
                said = self._answered("yes", self._grouped(so))
            else:
                said = self._answered("" if unsure else "no", self._all(others))
        elif others and state in _CLEAR:
            said = self._answered("no", self._grouped(others) if so else self._all(others))
        elif so and others:
            # "Is the light on" where there are several: each is told.
            said = [*self._grouped(so), *self._grouped(others)]
        elif so:
            one = not (self._asked.plural or state in _CLEAR)
            said = self._answered("yes" if one or not unsure else "", self._all(so))
        else:
            said = self._answered("" if unsure else "no", self._all(others))
        said += self._grouped(other_words)
        if unknown:
            said.append(self._not_known(unknown))
        if len(things) == 1:
            said += self._climate(things[0])
        return said

    def _answered(self, word: str, said: list[str]) -> list[str]:
        """Return sentences with "yes" or "no" before the first."""
        if not word or not said:
            return said
        return [self._words.say(word, said=said[0]), *said[1:]]

    def _all(self, things: Sequence[Thing]) -> list[str]:
        """Return what is said of things that are all meant: all of a kind by its name, where they are as one."""
        if not things:
            return []
        states = {thing.state for thing in things}
        if len(states) > 1 or len(things) < _FEW or not self._asked.plain:
            return self._grouped(things)
        kinds = self._asked.kinds if len(self._asked.kinds) == 1 else ("other",)
        table = self._words.data["all"]
        form, _, name = str(table.get(kinds[0], table["other"])).partition(":")
        does = self._words.predicate(states.pop(), things[0].kind, form.strip())
        return [self._words.say("does", name=name.strip(), does=does)]

    # Where the state itself is asked for.

    def _plainly(self, things: Sequence[Thing]) -> list[str]:
        quantities = [kind for kind in self._asked.kinds if kind in ("temperature", "battery")]
        measured = [thing for thing in things if self._value(thing, quantities)]
        others = [t for t in things if t not in measured and t.state not in ("", UNKNOWN)]
        unknown = [t for t in things if t not in measured and t not in others]
        said = []
        told = self._preferred(measured)
        for thing in told[:_MOST_VALUES]:
            key = "measured" if thing.kind in _FIGURES or thing.current else "is_value"
            if thing.state == "elsewhere":
                key = "elsewhere"
            elif self._asked.target and thing.target:
                key = "set_to"
            value = self._value(thing, quantities)
            said.append(self._words.say(key, name=self._name(thing), value=self._local(value)))
        if len(told) > _MOST_VALUES:
            said.append(f"{self._words.say('more', count=len(told) - _MOST_VALUES)}.")
        said += self._merged(others)
        if len(others) == 1 and not measured:
            said += self._climate(others[0])
        if unknown:
            said.append(self._not_known(unknown))
        return said

    def _value(self, thing: Thing, quantities: Sequence[str]) -> str:
        """Return the figure or text that is told of a thing, "" for one that is told by its state."""
        if thing.state == UNKNOWN:
            return ""
        if self._asked.target and thing.target:
            return thing.target
        if "temperature" in quantities and thing.current:
            return thing.current
        return thing.value

    def _preferred(self, things: Sequence[Thing]) -> list[Thing]:
        """Return what is measured in a room before what is measured in one of its devices."""
        areas = {word for area in self._asked.areas for word in area}
        if not areas or self._asked.parts:
            return list(things)
        words = self._words
        room = [
            thing
            for thing in things
            if all(
                (word,) in words.phrases or any(words.alike(word, area) for area in areas)
                for word in words.words(thing.name)
            )
        ]
        return room or list(things)

    def _merged(self, things: Sequence[Thing]) -> list[str]:
        """Return a sentence for each state, and one for each thing that several entities tell of."""
        by_name: dict[tuple[str, str], list[Thing]] = {}
        for thing in things:
            by_name.setdefault((thing.name.casefold(), thing.area), []).append(thing)
        said = []
        single = []
        for same in by_name.values():
            if len({thing.kind for thing in same}) == 1:
                single += same
                continue
            form = self._words.form(same[0].name, same[0].kind)
            does = [self._words.predicate(thing.state, thing.kind, form) for thing in same[:3]]
            said.append(self._words.say("does", name=same[0].name, does=self._words.listed(does)))
        return said + self._grouped(single)

    # Both.

    def _grouped(self, things: Sequence[Thing]) -> list[str]:
        """Return a sentence for each state that things are in."""
        groups: dict[str, list[Thing]] = {}
        said = []
        for thing in things:
            if thing.state in ("", "elsewhere"):
                key = "elsewhere" if thing.state else "is_value"
                said.append(self._words.say(key, name=self._name(thing), value=thing.value))
            else:
                groups.setdefault(self._words.predicate(thing.state, thing.kind), []).append(thing)
        for same in groups.values():
            first = same[0]
            form = self._words.together(
                [self._words.form(thing.name, thing.kind) for thing in same]
            )
            does = self._words.predicate(first.state, first.kind, form)
            said.append(self._words.say("does", name=self._names(same), does=does))
        return said

    def _names(self, things: Sequence[Thing]) -> str:
        """Return names as one says them, the last ones as a number where they are many."""
        names: list[str] = []
        for thing in things:
            name = self._name(thing)
            if thing.kind == "battery" and thing.value and self._chosen.state == "low":
                name = self._words.say("with_value", name=name, value=self._local(thing.value))
            if len(names) >= _MOST_NAMES or sum(map(len, names)) + len(name) > _MOST_CHARS:
                break
            names.append(name)
        left = len(things) - len(names)
        if left:
            names.append(self._words.say("more", count=left))
        return self._words.listed(names)

    def _name(self, thing: Thing) -> str:
        """Return a thing's name, with its area where the name alone could be another's, or says only what kind it is."""
        words, area = self._words, fold(thing.area)
        name = fold(thing.name)
        # "Garagentor" tells of the garage, "Küchenlicht" of the "Küche".
        told = not area or area[:_STEM] in name
        if not told and (thing.name.casefold() in self._twice or words.generic(thing.name)):
            return words.say("placed", area=thing.area, name=thing.name)
        return thing.name

    def _not_known(self, things: Sequence[Thing]) -> str:
        return self._words.say("unknown", names=self._names(things))

    def _climate(self, thing: Thing) -> list[str]:
        """Return what a climate device is set to, and what it measures."""
        if self._asked.target:
            return []
        told = (("target", thing.target), ("current", thing.current))
        return [self._words.say(key, value=self._local(value)) for key, value in told if value]

    def _local(self, value: str) -> str:
        """Return a figure as the language writes it."""
        decimal = self._words.data["decimal"]
        head, dot, tail = value.partition(".")
        if dot and head.lstrip("-").isdigit() and tail[:1].isdigit():
            return f"{head}{decimal}{tail}"
        return value


def _begun(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
