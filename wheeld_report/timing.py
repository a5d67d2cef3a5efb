"""Finds late beams and a tilted bowl: compares when a beam saw the ball with a prediction from another beam.

In each lap the ball passes each beam once. A cubic curve through four passes of one beam predicts when the ball was at
a second beam. If the first beam is late, so are its four passes and the prediction. So the difference shows how much
later the second beam is than the first. Each pair is compared both ways, and this cancels the error of the curve.

Three causes change the time of a pass, each in its own way:

- a late beam: by the same time, in both directions of the ball;
- a beam that is not at its configured angle: by the same angle, with the opposite sign if the ball runs the other way;
- a tilt: by an angle that grows as the ball slows (with the square of the lap time), also with the opposite sign.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy import stats

from wheeld_report.wheel import LoggedRun, WheelRecord

BEAMS_MIN = 3
"""With only two beams, nobody knows which of them is late."""
RUNS_MIN = 20
"""A direction with fewer runs is not used."""
GRAVITY_M_S2, RADIUS_M = 9.81, 0.36
"""`RADIUS_M` is the radius of the ball's path in a bowl of 32 inches. If a bowl is larger by some factor, the true tilt
is larger than the computed one by the same factor."""
Floats = NDArray[np.float64]


class RunTimes(msgspec.Struct, frozen=True):
    """One run. `late_s`: how late each beam is, compared with the mean of all. `grown_deg`: by how many degrees more,
    in the ball's direction, each beam seems to be shifted in the slow half of the run than in the fast half. `lap2_s2`:
    how much larger the mean square of the lap time is in the slow half. The last two are None if the run is too
    short."""

    forward: bool
    late_s: Floats
    grown_deg: Floats | None
    lap2_s2: float | None


class Late(msgspec.Struct, frozen=True):
    """How late a beam is compared with the other beams, the standard error, and the number of runs used. `one_way`: all
    these runs have one direction, so a wrong angle looks like a delay."""

    late_s: float
    error_s: float
    runs: int
    one_way: bool


class Tilt(msgspec.Struct, frozen=True):
    """The tilt of the bowl, the standard error of each of its two components, the angle of its lowest point (clockwise
    from the mark from which beams are measured), and the number of runs used."""

    tilt_deg: float
    error_deg: float
    low_deg: float
    runs: int


def timed(wheel: WheelRecord) -> list[RunTimes]:
    """Return the times of those sampled runs that have enough passes in a row."""
    if len(wheel.layout.beams_deg) < BEAMS_MIN:
        return []
    angles = np.array(wheel.layout.beams_deg)
    return [found for run in wheel.runs if (found := _timed(run, angles)) is not None]


def lateness(runs: Sequence[RunTimes]) -> list[Late]:
    """Return how late each beam is, or nothing if there are too few runs. The beam with the median delay counts as on
    time (if two beams are in the middle, the earlier one)."""
    ways = [np.array([run.late_s for run in runs if run.forward == forward]) for forward in (True, False)]
    known = [way for way in ways if len(way) >= RUNS_MIN]
    if not known:
        return []
    means = np.mean([way.mean(axis=0) for way in known], axis=0)
    errors = np.sqrt(sum(way.var(axis=0, ddof=1) / len(way) for way in known)) / len(known)
    means -= np.sort(means)[(len(means) - 1) // 2]
    count = sum(map(len, known))
    return [Late(float(mean), float(error), count, len(known) == 1) for mean, error in zip(means, errors, strict=True)]


def p_of(value: float, tolerated: float, error: float, count: int) -> float:
    """Return the chance of a value this far from 0 or further, to either side, if the true value is at most
    `tolerated`."""
    return min(1.0, 2 * float(stats.t.sf((abs(value) - tolerated) / max(error, 1e-12), count - 2)))


def _timed(run: LoggedRun, angles: Floats) -> RunTimes | None:
    count = len(angles)
    forward = run.ball_direction == "cw"
    sign = 1 if forward else -1
    order = np.argsort(sign * angles % 360)
    places = np.argsort(order)
    times = np.array([t_us for t_us, _ in run.passes]) / 1e6
    at = places[np.array([beam for _, beam in run.passes])]
    gaps = np.concatenate([[0], np.cumsum(np.diff(at) % count != 1)])
    if len(times) <= 3 * count:
        return None
    starts = np.arange(count, len(times) - 2 * count)
    starts = starts[gaps[starts - count] == gaps[starts + 2 * count]]
    # Compute how much later than predicted the other beams saw the ball, in s: a row for each start, a column for each
    # of these beams.
    ways_deg, after = sign * angles[order], np.arange(1, count)
    gone = (ways_deg[(at[starts][:, None] + after) % count] - ways_deg[at[starts]][:, None]) % 360 / 360
    nodes = [times[starts + lap * count][:, None] for lap in (-1, 0, 1, 2)]
    foretold = (
        -gone * (gone - 1) * (gone - 2) / 6 * nodes[0]
        + (gone + 1) * (gone - 1) * (gone - 2) / 2 * nodes[1]
        - (gone + 1) * gone * (gone - 2) / 2 * nodes[2]
        + (gone + 1) * gone * (gone - 1) / 6 * nodes[3]
    )
    residuals: Floats = times[starts[:, None] + after] - foretold
    laps = times[starts + count] - times[starts]
    first = np.repeat(order[at[starts]], count - 1)
    second = order[(at[starts][:, None] + after) % count].ravel()
    whole = _against_mean(first, second, residuals.ravel(), count)
    if whole is None:
        return None
    slow = laps > np.median(laps)
    degrees = 360 * residuals / laps[:, None]
    halves = []
    for half in (slow, ~slow):
        of_half = np.repeat(half, count - 1)
        halves.append(_against_mean(first[of_half], second[of_half], degrees.ravel()[of_half], count))
    late, early = halves
    if late is None or early is None:
        return RunTimes(forward, whole, None, None)
    return RunTimes(forward, whole, late - early, float((laps[slow] ** 2).mean() - (laps[~slow] ** 2).mean()))


def _against_mean(first: NDArray[np.intp], second: NDArray[np.intp], residuals: Floats, count: int) -> Floats | None:
    """Return the residual of each beam against the mean of all beams. None if a pair of beams was never observed."""
    flat = first * count + second
    met = np.bincount(flat, minlength=count * count).reshape(count, count) + np.eye(count)
    if not met.all():
        return None
    means = np.bincount(flat, residuals, count * count).reshape(count, count) / met
    found: Floats = (means - means.T).sum(axis=0) / (2 * count)
    return found


def tilt_of(runs: Sequence[RunTimes], angles: Sequence[float]) -> Tilt | None:
    """Return how far the bowl is from level. None if there are too few runs of one direction."""
    ways = [[run for run in runs if run.forward == forward] for forward in (True, False)]
    long = [[(run.grown_deg, run.lap2_s2) for run in way if run.grown_deg is not None] for way in ways]
    if min(map(len, long)) < RUNS_MIN:
        return None
    # The difference between the directions cancels a beam's delay. The difference between the halves of a run, in
    # `grown_deg`, cancels a wrong angle.
    turn = 1j * np.exp(1j * np.radians(np.array(angles))) * 2 / len(angles)
    sums = [np.array([grown for grown, _ in way]) @ turn for way in long]
    wave = complex(sums[0].mean() - sums[1].mean()) / 2
    error = math.sqrt(sum(float(part.var(ddof=1)) / 2 / len(part) for part in sums)) / 2
    grown_s2 = float(np.mean([lap2_s2 for way in long for _, lap2_s2 in way]))
    per_deg = GRAVITY_M_S2 / (math.tau**2 * RADIUS_M) * grown_s2
    low_deg = math.degrees(cmath.phase(wave)) % 360
    return Tilt(abs(wave) / per_deg, error / per_deg, low_deg, sum(map(len, long)))
