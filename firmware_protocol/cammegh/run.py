"""One run of the ball: what its lines have borne out so far."""

from __future__ import annotations

from collections.abc import Iterator

from firmware_protocol.cammegh import events as e
from firmware_protocol.cammegh.laps import LapCount
from firmware_protocol.cammegh.status import Direction, Extended, Flag, State, Status

_ON_TRACK = frozenset({State.BALL_IN_RIM, State.NO_MORE_BETS})
"""Where a lap count and a direction mean something (1.6); in state 5 the count is back at 0."""


class Run:
    """Begun with a line in state 3 or 4. `from_launch`: the line before said that no ball ran. `number_before`: of the
    game before, which each line still shows."""

    def __init__(self, spin: int, number_before: int | None, *, from_launch: bool) -> None:
        self.spin = spin
        self.number_before = number_before
        self.void = False
        """`WheelVoid` was told."""
        self.settled = False
        """A number, or that there is none, was told."""
        self.count = LapCount()
        self.ball: Direction | None = None
        """As the latest two lines in a row that agree had it."""
        self.same_direction = False
        self.number: int | None = None
        """The number that was told, as long as nothing contradicts it."""
        self.other_number: int | None = None
        """What the latest line said after that."""
        self.called_lines = 0
        """Lines in state 5 so far."""
        self.waiting_number: int | None = None
        """Of one `*X;5`, on a port without bare numbers."""
        self._from_launch = from_launch
        self._states: set[State] = set()
        self._opposite: bool | None = None
        self._before: tuple[Direction, Direction] | None = None

    @property
    def whole(self) -> bool:
        """Heard from before the launch through states 3 and 4, without a silence."""
        return self._from_launch and self._states >= _ON_TRACK

    @property
    def opposite(self) -> bool | None:
        """Whether the ball ran against the rotor, as far as directions or the wheel's flag said it."""
        return False if self.same_direction else self._opposite

    def interrupted(self) -> None:
        """Lines may be missing here, and perhaps the ball was launched again, under the same spin number: what laps and
        directions were borne out may be another run's. A Mercury counts on, so its next lines bear out its own."""
        self._from_launch = False
        self.count.interrupted()
        self.ball = self._opposite = self._before = None

    def enters(self, state: State) -> bool:
        """Whether this is the run's first line in `state`."""
        first = state not in self._states
        self._states.add(state)
        return first

    def see(self, status: Status, host_ns: int) -> Iterator[e.Event]:
        """What a line in state 3 or 4 bears out."""
        if status.state in _ON_TRACK and status.extended:
            yield from self._compare(status.extended, status.rotor, host_ns)
        else:
            self._before = None
            self.count.unheard()
        if status.state in _ON_TRACK and Flag.SAME_DIRECTION in status.flags:
            yield from self._same("flag", host_ns)

    def _compare(self, now: Extended, rotor: Direction, host_ns: int) -> Iterator[e.Event]:
        """With the line before: what both say is believed."""
        told = self.count.laps
        if laps := self.count.more(now.laps, host_ns):
            yield e.Laps(host_ns, self.spin, laps)
        elif told and self.count.broken:
            yield e.Laps(host_ns, self.spin, 0)
        before, self._before = self._before, (now.ball, rotor)
        if self.ball != now.ball and before == (now.ball, rotor):
            self.ball = now.ball
            self._opposite = now.ball != rotor
            yield e.BallDirection(host_ns, self.spin, now.ball, rotor)
            if not self._opposite:
                yield from self._same("directions", host_ns)

    def _same(self, by: e.Witness, host_ns: int) -> Iterator[e.Event]:
        if not self.same_direction:
            self.same_direction = True
            yield e.SameDirection(host_ns, self.spin, by)
