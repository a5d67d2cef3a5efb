"""The rotor as a wheel head reports it, regularly: a speed and a direction."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from wheeld.core.observations import Direction, HeadRotor
from wheeld.core.tracking.parts import RotorPart
from wheeld.core.tracking.run import Run

LINES_AGREE = 2
"""A stop counts when this many reports in a row say it, and a direction when two do: a single one may be damaged."""
SLOW_RPM_MAX = 40.0
"""A rotor that stops was seen at this speed or slower in the line before. The hardest braking on record loses 35 rpm
from report to report. A runaway gains ten, and then its field may wrap to 0."""
FAST_RPM_MIN = 89.0
"""The field wraps to 0 only after a speed of at least this: on record a rotor gains ten from report to report. A 0
after a speed between `SLOW_RPM_MAX` and this one is not explained."""
FRESH_US = 2_000_000
"""An older report says nothing of how fast it turns now."""
Surprise: TypeAlias = Literal["stopped", "turned_back"]


class HeadRotorState(msgspec.Struct):
    """What is remembered of the reports.

    `direction`: the direction that two lines in a row agreed on. `reported`: the direction in the latest line in which
    the rotor turned; such lines have said so since `since_us`.
    `moved_us`: when the latest line came in which the rotor turned. `standing`: how many lines since then say that it
    stands. Such a line counts only if the speed before was slow enough for a stop.
    `before_rpm`: the speed that explains a 0 or a speed that cannot be read: the latest one; None if nothing does.
    `unread`: how many lines since the launch have a 0 that nothing explains, or no speed that can be read.
    """

    direction: Direction | None = None
    reported: Direction | None = None
    since_us: int = 0
    rpm: float | None = None
    last_us: int | None = None
    moved_us: int = 0
    before_rpm: float | None = None
    standing: int = 0
    unread: int = 0

    def arm(self) -> None:
        """A ball was launched: a stop counts from here on (N4)."""
        self.standing = self.unread = 0

    def forget(self) -> None:
        """Reports are missing here: the next two must agree anew."""
        self.direction = self.reported = self.last_us = self.before_rpm = None
        self.standing = 0


class RotorFromHead(RotorPart):
    """The rotor part of a table whose head reports it; all state in `state`. `run` is the run that the head reports."""

    def __init__(self, state: HeadRotorState, run: Run) -> None:
        self.state, self._run = state, run

    @property
    def direction(self) -> Direction | None:
        """By the latest report since the head's first one of the run, if others confirm it; None while it stands, or
        while no run is reported."""
        state, since_us = self.state, self._run.launched_us
        fresh = since_us is not None and state.last_us is not None and state.last_us >= since_us
        return state.direction if fresh and state.reported == state.direction and not state.standing else None

    @property
    def is_standing(self) -> bool:
        """Whether it stands by the latest report; before the first nobody knows."""
        return self.state.rpm == 0 or self.state.last_us is None

    @property
    def was_seen_turning(self) -> bool:
        """Whether its lines since the launch show that it turned. One unclear line may be damaged. With more of them
        the rotor perhaps stood (N8)."""
        return self.state.unread < LINES_AGREE

    def rpm(self, at_us: int) -> float | None:
        """As reported last; None when the field cannot be read, or was not lately."""
        last_us = self.state.last_us
        return self.state.rpm if last_us is not None and at_us - last_us <= FRESH_US else None

    def report(self, seen: HeadRotor) -> Surprise | None:
        """Take one report in. What it proves: that the rotor stopped, that it stopped and turned back, or nothing."""
        state = self.state
        state.rpm, state.last_us = seen.rpm, seen.t_us
        was_slow = state.before_rpm is not None and state.before_rpm <= SLOW_RPM_MAX
        was_fast = state.before_rpm is not None and state.before_rpm >= FAST_RPM_MIN
        state.unread += not (seen.rpm or was_fast or (seen.rpm == 0 and was_slow))
        if seen.rpm == 0:
            state.standing += was_slow
            if state.standing != LINES_AGREE:
                return None
            state.direction = state.reported = None
            return "stopped"
        state.standing, state.moved_us = 0, seen.t_us
        if seen.rpm is not None or not was_fast:
            state.before_rpm = seen.rpm
        return "turned_back" if self._turns(seen) else None

    def _turns(self, seen: HeadRotor) -> bool:
        """Compare the line with the one before; True at the one that proves that it turned back."""
        state = self.state
        if seen.direction != state.reported:
            state.reported, state.since_us = seen.direction, seen.t_us
            return False
        back = state.direction not in (None, seen.direction)
        state.direction = seen.direction
        return back
