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


Happening: TypeAlias = Evidence | Command
"""What sensors showed, or a person said."""


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

    @property
    def said(self) -> frozenset[CommandName]:
        """The words that wait."""
        return frozenset(happening.name for happening in self.waiting if isinstance(happening, Command))

    def take(self, now_us: int, wait_of: WaitOf) -> Happening | None:
        """The first that need not wait, taken out; None while each must. Words keep their order: each waits behind an
        earlier one that waits."""
        is_behind = False
        for happening, wait in self._in_order(wait_of):
            is_word = isinstance(happening, Command)
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
        """All, each by the time from which it counts now. Of two at the same time what was shown is first, then what
        came first."""
        waits = [(happening, wait_of(happening)) for happening in self.waiting]
        yield from sorted(waits, key=lambda one: (one[1].counts_us, isinstance(one[0], Command)))
