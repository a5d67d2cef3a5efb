"""A wheel's own head at the simulated table. Every half second it sends a status line about what truly happens.

The head follows those rules of the vendor's guide that a host can observe. It detects a ball after one lap, reports "no
more bets" some seconds before the ball leaves the track, and reports the number soon after the ball rests. It reports
laps and the ball's direction only if its model does: a SlingShot 2 does not.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Iterator

from hw_sim.cable import Cable
from hw_sim.cammegh.coups import HeadPhase, Model
from hw_sim.cammegh.head import LINE_US, SimHead
from hw_sim.events import SimEvent
from hw_sim.world import World

BEFORE_LEAVING_S = 3.0
CALLED_AFTER_S = 0.6
CALLED_FOR_S = 4.0
WAITS_S = 3.0
WAITING, RUNNING, CLOSING, CALLED, STOPPED = 2, 3, 4, 5, 6
MISFIRES = 8
"""The flag of a failed launch."""
LOST_US = 100_000
"""Bytes that are not read within this time are lost, because the line has no flow control."""
HEARD_BYTES_MAX = 4096


class WatchedHead(SimHead):
    """The head of the wheel of `world`, at the end of a `SimLine`."""

    def __init__(self, model: Model, world: Callable[[], World], rng: random.Random, cable: Cable) -> None:
        super().__init__(model, iter(()), rng)
        self.cable = cable
        self.silent = False
        """Whether the head has no power."""
        self.is_stopped = False
        """Whether the wheel has stopped its own game. A person must start it again."""
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
        """Return the bytes that arrive now. Bytes that the host did not read in time are lost."""
        self._arriving = [one for one in self._arriving if one[0] > self._now_us - LOST_US]
        return b"" if self.silent else self.cable.carry(super().data_to_send())[:room]

    def receive(self, data: bytes) -> None:
        """Take the bytes that the host writes."""
        if not self.silent:
            super().receive(self.cable.carry(data))

    def _play(self) -> Iterator[None]:
        before, shown = WAITING, 0
        while True:
            if self._begins_anew:
                self._begins_anew = False
                yield from self._power_cycle()
            world, t_s = self._world(), self._now_us / 1e6
            begun = bisect_right(world.runs, t_s, key=lambda run: run.t_s)
            seen, number = _state(world, begun, t_s)
            if before == CALLED != seen:
                self.spin = self.spin % 255 + 1
            shown = shown + 1 if seen == before else 0
            before = seen
            if not self.silent:
                speed = world.rotor.speed_at(t_s)
                state, flags, rpm = seen, 0, abs(speed) * 60
                if self.is_stopped:
                    state, rpm, number = STOPPED, 0.0, None
                elif state == WAITING and self.misfires:
                    flags = MISFIRES
                if number is not None and shown == 0:
                    self.last_number = number
                    self._send(f"{number:2d}" if self.level != "basic" else f"*W{number:2d}")
                ball, laps = 0, 0
                if begun:
                    run = world.runs[begun - 1]
                    ball, laps = int(run.turning < 0), int(run.laps_at(t_s))
                phase = HeadPhase(state, 1, int(speed <= 0), (rpm, rpm), ball, flags, (laps, laps))
                self._status = (phase, 0, number)
                if self.automatic and self.level != "basic":
                    self._send_status()
            yield


def _state(world: World, begun: int, t_s: float) -> tuple[int, int | None]:
    """Return the state at `t_s`, and the number that the head shows then. `begun`: how many runs have begun."""
    run = world.runs[begun - 1] if begun else None
    if run is None or run.laps_at(t_s) < 1:
        return WAITING, None
    # RUNNING lasts for one line or more after the first lap, even if the run is short.
    closing_s = max(run.end_s - BEFORE_LEAVING_S, run.time_at(1) + LINE_US / 1e6)
    if t_s < max(run.end_s, closing_s):
        return (RUNNING if t_s < closing_s else CLOSING), None
    fall = next((fall for fall in world.falls if run.end_s <= fall.rest_s), None)
    if fall is None or (begun < len(world.runs) and world.runs[begun].t_s < fall.rest_s):
        # The ball is on an obstacle, or a hand took it. The head waits for the ball for some seconds.
        return (CLOSING if t_s < run.end_s + WAITS_S else WAITING), None
    called_s = fall.rest_s + CALLED_AFTER_S
    if t_s < called_s:
        return CLOSING, None
    return (CALLED, fall.number) if t_s < called_s + CALLED_FOR_S else (WAITING, None)
