"""Computes what a wheel's own head shows of the simulated wheel, which may also have other sensors.

The head follows those rules of the vendor's guide that a host can observe. It detects a ball after one lap, reports "no
more bets" some seconds before the ball leaves the track, and reports the number soon after the ball rests. Laps and the
ball's direction are for heads that report them. A SlingShot 2 does not.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from hw_sim.cammegh.head import LINE_US
from hw_sim.world import World

BEFORE_LEAVING_S = 3.0
CALLED_AFTER_S = 0.6
CALLED_FOR_S = 4.0
WAITS_S = 3.0
WAITING, RUNNING, CLOSING, CALLED = 2, 3, 4, 5


class Line(NamedTuple):
    """What the head shows at one moment. `number` is None while it shows none."""

    state: int
    number: int | None
    rpm: float
    rotor: int
    ball: int
    laps: int


def line_at(world: World, t_s: float) -> Line:
    """Return what the head of the wheel shows at `t_s`."""
    speed = world.rotor.speed_at(t_s)
    begun = bisect_right(world.runs, t_s, key=lambda run: run.t_s)
    rpm, rotor = abs(speed) * 60, 0 if speed > 0 else 1
    if not begun:
        return Line(WAITING, None, rpm, rotor, 0, 0)
    state, number = _state(world, begun, t_s)
    run = world.runs[begun - 1]
    return Line(state, number, rpm, rotor, 0 if run.turning > 0 else 1, int(run.laps_at(t_s)))


def _state(world: World, begun: int, t_s: float) -> tuple[int, int | None]:
    """Return the state at `t_s`, when `begun` runs have begun, and the number while it is shown."""
    run = world.runs[begun - 1]
    if run.laps_at(t_s) < 1:
        return WAITING, None
    # At least one line shows that the ball runs.
    closing_s = max(run.end_s - BEFORE_LEAVING_S, run.time_at(1) + LINE_US / 1e6)
    if t_s < max(run.end_s, closing_s):
        return (RUNNING if t_s < closing_s else CLOSING), None
    fall = next((fall for fall in world.falls if run.end_s <= fall.rest_s), None)
    if fall is None or (begun < len(world.runs) and world.runs[begun].t_s < fall.rest_s):
        # The ball is on an obstacle, or a hand took it. The head waits some seconds for it.
        return (CLOSING if t_s < run.end_s + WAITS_S else WAITING), None
    called_s = fall.rest_s + CALLED_AFTER_S
    if t_s < called_s:
        return CLOSING, None
    return (CALLED, fall.number) if t_s < called_s + CALLED_FOR_S else (WAITING, None)
