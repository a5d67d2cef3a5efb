"""A wheel's own head at the simulated table. Every half second it sends a status line of what truly happens."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from hw_sim.cable import Cable
from hw_sim.cammegh.coups import HeadPhase, Model
from hw_sim.cammegh.evening_coups import CALLED, WAITING, Line, line_at
from hw_sim.cammegh.head import SimHead
from hw_sim.events import SimEvent
from hw_sim.world import World

STOPPED = 6
MISFIRES = 8
"""The flag of a failed launch."""
LOST_US = 100_000
"""Bytes that are not read within this time are lost, because the line has no flow control."""
HEARD_BYTES_MAX = 4096


class WatchedHead(SimHead):
    """The head of the wheel of `world`, as a `Device` at the end of a `SimLine`."""

    def __init__(self, model: Model, world: Callable[[], World], rng: random.Random, cable: Cable) -> None:
        super().__init__(model, iter(()), rng)
        self.cable = cable
        self.silent = False
        """Whether it has no power."""
        self.is_stopped = False
        """Whether it has stopped its own game. A person must start it again."""
        self.misfires = False
        self._world = world
        self._begins_anew = False

    def reset(self) -> None:
        """Begin again, as after a loss of power."""
        self._begins_anew = True
        self._arriving.clear()

    def feed(self, event: SimEvent) -> None:
        """Ignore `event`: the head looks at the wheel itself."""

    def data_to_send(self, room: int = HEARD_BYTES_MAX) -> bytes:
        """Return the bytes that arrive now. Bytes that were not read in time are lost."""
        self._arriving = [one for one in self._arriving if one[0] > self._now_us - LOST_US]
        return b"" if self.silent else self.cable.carry(super().data_to_send())[:room]

    def receive(self, data: bytes) -> None:
        """Take the bytes that the host writes."""
        if not self.silent:
            super().receive(self.cable.carry(data))

    def _play(self) -> Iterator[None]:
        before = WAITING
        shown = 0
        while True:
            if self._begins_anew:
                self._begins_anew = False
                yield from self._power_cycle()
            line = line_at(self._world(), self._now_us / 1e6)
            if before == CALLED != line.state:
                self.spin = self.spin % 255 + 1
            shown = shown + 1 if line.state == before else 0
            before = line.state
            if not self.silent:
                self._show(line, is_new=shown == 0)
            yield

    def _show(self, line: Line, *, is_new: bool) -> None:
        state, flags, rpm, number = line.state, 0, line.rpm, line.number
        if self.is_stopped:
            state, rpm, number = STOPPED, 0.0, None
        elif state == WAITING and self.misfires:
            flags = MISFIRES
        if number is not None and is_new:
            self.last_number = number
            self._send(f"{number:2d}" if self.level != "basic" else f"*W{number:2d}")
        phase = HeadPhase(state, 1, line.rotor, (rpm, rpm), line.ball, flags, (line.laps, line.laps))
        self._status = (phase, 0, number)
        if self.automatic and self.level != "basic":
            self._send_status()
