"""Warnings of a SlingShot 2 that make a game void if they last too long (its guide, 4.1).

A Mercury 360 has neither of these bits.
"""

from __future__ import annotations

from collections.abc import Iterator

from firmware_protocol.cammegh.events import VoidReason
from firmware_protocol.cammegh.laps import LINE_NS
from firmware_protocol.cammegh.status import Flag, StateCode, Status

BALL_LOST_NS = 5_000_000_000
"""In state 4 "ball not detected" is ignored for 5 s, or 10 lines. Single lines with this warning are common (1.8)."""
LAUNCH_FAILED_NS = 3_000_000_000
"""The warning of a failed launch may be ignored for the first 3 s of state 3."""


class Spell:
    """Measures how long every line has shown a condition, in the time of the wheel."""

    def __init__(self, *, automatic: bool) -> None:
        self._automatic = automatic
        self._lines = 0
        self._since_ns = 0

    def lasted_ns(self, host_ns: int, *, holds: bool) -> int:
        """Return how long the condition has lasted, with this line. 0 if it does not hold now.

        Lines that the wheel sends by itself are counted, because a host that was delayed reads many at once. For
        answers to polls the time is measured, because they come when the host asks.
        """
        if not holds:
            self._lines = 0
            return 0
        if not self._lines:
            self._since_ns = host_ns
        self._lines += 1
        return self._lines * LINE_NS if self._automatic else host_ns - self._since_ns


class VoidWarnings:
    """The warnings of one run. `automatic`: the wheel sends lines by itself, every 500 ms."""

    def __init__(self, *, automatic: bool) -> None:
        self._ball_lost = Spell(automatic=automatic)
        self._in_rim = Spell(automatic=automatic)

    def line(self, status: Status, host_ns: int) -> Iterator[VoidReason]:
        """Yield each reason for which this line makes the game void."""
        in_rim_ns = self._in_rim.lasted_ns(host_ns, holds=status.state is StateCode.BALL_IN_RIM)
        is_lost = status.state is StateCode.NO_MORE_BETS and Flag.BALL_NOT_DETECTED in status.flags
        lost_ns = self._ball_lost.lasted_ns(host_ns, holds=is_lost)
        is_late = in_rim_ns > LAUNCH_FAILED_NS or status.state is not StateCode.BALL_IN_RIM
        if Flag.LAUNCH_FAILED in status.flags and is_late:
            yield "launch_failed"
        if lost_ns >= BALL_LOST_NS:
            yield "ball_not_detected"
