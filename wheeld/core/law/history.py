"""Where the table stood lately, by the time of the evidence that moved it: what comes late meets the state of its own
time."""

from __future__ import annotations

import msgspec

from wheeld.core.facts import State
from wheeld.core.tracking.beams import LEAVE_REV_S

KEPT = 16
"""A launch is proven within about a lap, or within 30 s when a reader must see where the ball lies. In that time people
cannot move the table more often."""
STILL_RUNNING_US = round(1e6 / LEAVE_REV_S)
"""For this long after a restart, a ball that is first seen may have run before the restart. Even the slowest ball is
seen within one lap. If its coup was void, the same run is no second launch (docs/rulebook.md 2: once void, it never
becomes another)."""


class Stood(msgspec.Struct, frozen=True):
    """From `since_us` on, on the sensing clock, the table stood in `state`, and its latest coup was `coup`."""

    since_us: int
    state: State
    coup: int


class History(msgspec.Struct):
    """Latest last. It does not outlive a restart."""

    stood: list[Stood]

    @classmethod
    def starting_in(cls, state: State, coup: int, *, is_void: bool) -> History:
        """At sensing time 0 the table is in `state`. Where coup `coup` is void its ball may still run: until it can't
        any more, the table counts as it stood in that run."""
        if is_void:
            return cls([Stood(0, State.BALL_RUNNING, coup), Stood(STILL_RUNNING_US, state, coup)])
        return cls([Stood(0, state, coup)])

    def at(self, t_us: int) -> Stood:
        """Where the table stood at `t_us`, as far as is remembered."""
        before = [stood for stood in self.stood if stood.since_us <= t_us]
        return before[-1] if before else self.stood[0]

    def between(self, first_us: int, last_us: int) -> list[Stood]:
        """Where the table stood at any time from `first_us` to `last_us`."""
        inside = [stood for stood in self.stood if first_us < stood.since_us <= last_us]
        return [self.at(first_us), *inside]

    def move(self, since_us: int, state: State, coup: int) -> None:
        """The table moved."""
        since_us = max(since_us, self.stood[-1].since_us)
        self.stood = [*self.stood[-KEPT + 1 :], Stood(since_us, state, coup)]
