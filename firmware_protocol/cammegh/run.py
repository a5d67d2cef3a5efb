"""One run of the ball: the facts that two lines in a row show."""

from __future__ import annotations

from collections.abc import Iterator

from firmware_protocol.cammegh import events as e
from firmware_protocol.cammegh.laps import LapCount
from firmware_protocol.cammegh.number import RunNumber
from firmware_protocol.cammegh.status import Direction, StateCode, Status
from firmware_protocol.cammegh.voids import VoidWarnings

_ON_TRACK = frozenset({StateCode.BALL_IN_RIM, StateCode.NO_MORE_BETS})
"""The states in which the lap count and the direction are valid (1.6). In state 5 the count is back at 0."""


class HeadRun:
    """One run, which begins with a line in state 3 or 4. `from_launch`: the line before showed that no ball ran.
    `laps_before`: the lap counter before the run."""

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
        """Whether all lines of the run were read, from before the launch through states 3 and 4, without a silence."""
        return self._from_launch and self._states >= _ON_TRACK

    def interrupted(self) -> None:
        """Forget the laps and directions, because lines may be missing here.

        The ball may have been launched again with the same spin number, so they may belong to another run. A Mercury
        continues to count, so its next lines prove the laps of the current run.
        """
        self._from_launch = False
        self.count.interrupted()
        self._ball = self._directions_before = None

    def line(self, status: Status, host_ns: int) -> Iterator[e.Event]:
        """Report what a line shows about the running ball, together with the line before it."""
        if status.state in _ON_TRACK and status.extended:
            reported = self.count.laps
            if laps := self.count.count(status.extended.laps, host_ns):
                yield e.Laps(host_ns, self.spin, laps)
            elif reported and self.count.broken:
                yield e.Laps(host_ns, self.spin, 0)
            before, self._directions_before = self._directions_before, (status.extended.ball, status.rotor)
            if self._ball != status.extended.ball and before == (status.extended.ball, status.rotor):
                self._ball = status.extended.ball
                yield e.BallDirection(host_ns, self.spin, status.extended.ball, status.rotor)
        else:
            self._directions_before = None
            self.count.line_without_count()

    def enter(self, state: StateCode, host_ns: int) -> Iterator[e.Event]:
        """Note the state of the line, and report the first line in which the ball is off the track."""
        if state is StateCode.BALL_OFF_TRACK and state not in self._states:
            yield e.BallOffTrack(host_ns, self.spin)
        self._states.add(state)
