"""What was shown or said and waits to be decided, in the order in which it happened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

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


class Wait(NamedTuple):
    """From when something counts, and until when it waits."""

    counts_us: int
    until_us: int


WaitOf: TypeAlias = Callable[[Happening], Wait]
"""How a happening waits, as the table stands now."""


class Waitlist(msgspec.Struct):
    """Gives out what happened in the order of its time, each when no open question holds it any more. `unheard`: since
    when words of people may be on their way, and until when they can arrive; None: everybody has been heard."""

    waiting: list[Happening] = []
    unheard: tuple[int, int] | None = None

    def put(self, what: Evidence | Command) -> None:
        """Something was shown or said. Of two at the same time what was shown is first, then what came first."""
        if isinstance(what, Command):
            happening = Happening(what.t_us, command=what)
        else:
            happening = Happening(what.evidence_us, evidence=what)
        self.waiting.append(happening)

    @property
    def said(self) -> frozenset[CommandName]:
        """The words that wait."""
        return frozenset(happening.command.name for happening in self.waiting if happening.command is not None)

    def take(self, now_us: int, wait_of: WaitOf) -> Happening | None:
        """The first that need not wait, taken out; None while each must. Words keep their order: each waits behind an
        earlier one that waits."""
        is_behind = False
        for happening, wait in self._in_order(wait_of):
            is_word = happening.command is not None
            is_held = wait.until_us >= now_us or (is_behind and is_word)
            if not is_held or len(self.waiting) > WAITING_MAX:
                self.waiting.remove(happening)
                return happening
            is_behind |= is_word
        return None

    def due_us(self, now_us: int, wait_of: WaitOf) -> int | None:
        """When the next of them has waited long enough; None while nothing waits for a time. What has waited long
        enough and was not given out at `now_us` waits behind another one, and time alone does not free it."""
        ends_us = (wait_of(happening).until_us for happening in self.waiting)
        return min((until_us + 1 for until_us in ends_us if until_us >= now_us), default=None)

    def _in_order(self, wait_of: WaitOf) -> Iterator[tuple[Happening, Wait]]:
        """All, each by the time from which it counts now."""
        waits = [(happening, wait_of(happening)) for happening in self.waiting]
        yield from sorted(waits, key=lambda one: (one[1].counts_us, one[0].command is not None))
