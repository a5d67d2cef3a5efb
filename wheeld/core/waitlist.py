"""What was shown or said and waits to be decided, in the order in which it happened."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from typing import TypeAlias

import msgspec

from wheeld.core.observations import Command, CommandName
from wheeld.core.tracking.evidence import Evidence

WAITING_MAX = 256
"""Kept at once. A question is open for some seconds: nobody says more in that time, and sensors show far less. The
oldest is decided without an answer when more comes, so that memory stays bounded."""


class Happening(msgspec.Struct, frozen=True):
    """Something that happened at `t_us`: shown by sensors (`evidence`), or said by a person (`command`)."""

    t_us: int
    evidence: Evidence | None = None
    command: Command | None = None

    @property
    def latest_us(self) -> int:
        """The latest moment at which it can have happened: later than `t_us` only of a word that is in doubt."""
        until_us = None if self.command is None else self.command.until_us
        return self.t_us if until_us is None else max(self.t_us, until_us)

    @property
    def what(self) -> Evidence | Command:
        """Whichever it is."""
        what = self.evidence or self.command
        assert what is not None, "a happening is one of the two"
        return what


HeldUntil: TypeAlias = Callable[[Happening], int | None]
"""Until when this waits; None: it need not."""


class Waitlist:
    """Gives out what happened in the order of its time, each when no open question holds it any more."""

    def __init__(self, waiting: list[Happening]) -> None:
        self.waiting = waiting

    def put(self, what: Evidence | Command) -> None:
        """Something was shown or said. Of two at the same time what was shown is first, then what came first."""
        if isinstance(what, Command):
            happening = Happening(what.t_us, command=what)
        else:
            happening = Happening(what.evidence_us, evidence=what)
        insort(self.waiting, happening, key=_order)

    @property
    def said(self) -> frozenset[CommandName]:
        """The words that wait."""
        return frozenset(happening.command.name for happening in self.waiting if happening.command is not None)

    def take(self, now_us: int, held_until_us: HeldUntil) -> Happening | None:
        """The first that need not wait, taken out; None while each must. Words keep their order: each waits behind an
        earlier one that waits, unless nobody knows when that one was said."""
        is_behind = False
        for place, happening in enumerate(self.waiting):
            until_us = held_until_us(happening)
            is_word = happening.command is not None
            is_held = until_us is not None and (until_us >= now_us or self._is_doubt_open(happening, place))
            is_held |= is_behind and is_word
            if not is_held or len(self.waiting) > WAITING_MAX:
                return self.waiting.pop(place)
            is_behind |= is_word and happening.latest_us == happening.t_us
        return None

    def _is_doubt_open(self, word: Happening, place: int) -> bool:
        """Whether nobody knows when this word was said, and something behind that place was shown before its latest
        moment: it may have been said after that. Facts of the same time keep their order."""
        is_in_doubt = word.latest_us > word.t_us
        return is_in_doubt and any(
            one.evidence is not None and one.t_us <= word.latest_us for one in self.waiting[place + 1 :]
        )

    def due_us(self, now_us: int, held_until_us: HeldUntil) -> int | None:
        """When the next of them has waited long enough; None while nothing waits for a time. What has waited long
        enough and was not given out at `now_us` waits behind another one, and time alone does not free it."""
        ends = (held_until_us(happening) for happening in self.waiting)
        return min((until_us + 1 for until_us in ends if until_us is not None and until_us >= now_us), default=None)


def _order(happening: Happening) -> tuple[int, bool]:
    return happening.t_us, happening.command is not None
