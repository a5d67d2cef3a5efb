"""One run of the ball: what two lines in a row agree on."""

from __future__ import annotations

from collections.abc import Iterator

from firmware_protocol.cammegh import events as e
from firmware_protocol.cammegh.laps import LapCount
from firmware_protocol.cammegh.number import RunNumber
from firmware_protocol.cammegh.status import Direction, Extended, StateCode, Status
from firmware_protocol.cammegh.voids import VoidWarnings

_ON_TRACK = frozenset({StateCode.BALL_IN_RIM, StateCode.NO_MORE_BETS})
"""Where a lap count and a direction mean something (1.6); in state 5 the count is back at 0."""


class HeadRun:
    """Begins with a line in state 3 or 4. `from_launch`: the line before showed that no ball ran. `laps_before`: what
    the lap counter showed then."""

    def __init__(self, first: Status, *, from_launch: bool, laps_before: int, automatic: bool) -> None:
        self.spin = first.spin
        self.number = RunNumber(first.number)
        self.warnings = VoidWarnings(automatic=automatic)
        self.count = LapCount(laps_before)
        self.is_void = False
        """`WheelVoid` was reported."""
        self._from_launch = from_launch
        self._states: set[StateCode] = set()
        self._ball: Direction | None = None
        self._directions_before: tuple[Direction, Direction] | None = None

    @property
    def whole(self) -> bool:
        """Every part was heard, from before the launch through states 3 and 4, without a silence."""
        return self._from_launch and self._states >= _ON_TRACK

    def interrupted(self) -> None:
        """Lines may be missing here, and perhaps the ball was launched again under the same spin number.

        The laps and directions agreed on may be another run's. A Mercury counts on, so its next lines prove its own.
        """
        self._from_launch = False
        self.count.interrupted()
        self._ball = self._directions_before = None

    def line(self, status: Status, host_ns: int) -> Iterator[e.Event]:
        """What a line of the running ball shows together with the line before it."""
        if status.state in _ON_TRACK and status.extended:
            yield from self._laps(status.extended.laps, host_ns)
            yield from self._directions(status.extended, status.rotor, host_ns)
        else:
            self._directions_before = None
            self.count.line_without_count()

    def enter(self, state: StateCode, host_ns: int) -> Iterator[e.Event]:
        """The line is in `state`, perhaps for the first time in this run."""
        if state is StateCode.BALL_OFF_TRACK and state not in self._states:
            yield e.BallOffTrack(host_ns, self.spin)
        self._states.add(state)

    def _laps(self, shown: int, host_ns: int) -> Iterator[e.Event]:
        reported = self.count.laps
        if laps := self.count.count(shown, host_ns):
            yield e.Laps(host_ns, self.spin, laps)
        elif reported and self.count.broken:
            yield e.Laps(host_ns, self.spin, 0)

    def _directions(self, shown: Extended, rotor: Direction, host_ns: int) -> Iterator[e.Event]:
        before, self._directions_before = self._directions_before, (shown.ball, rotor)
        if self._ball != shown.ball and before == (shown.ball, rotor):
            self._ball = shown.ball
            yield e.BallDirection(host_ns, self.spin, shown.ball, rotor)
