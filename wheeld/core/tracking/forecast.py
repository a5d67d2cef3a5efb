"""What a running ball will do: how many laps it can still make, and when it will leave the track.

A forecast decides nothing: only passes prove laps (R2). With a forecast the chef can stop a ball by hand before its
coup is void, and displays can show when the ball will fall.

Balls slow differently on different wheels. Recorded balls slow hard at first, often hardest between 1.0 and 0.6 laps/s,
then hardly at all until they leave the track at 0.43–0.50. On one wheel this is the same from coup to coup. So the run
of each ball that left the track by itself is added to the *habit* of its wheel: the mean slowing at each speed, and the
speed at the last pass. Before enough runs of a wheel are known, the least slowing of all recorded balls is used. So no
ball is reported as too weak if it could run far enough on any wheel.
"""

from __future__ import annotations

from itertools import pairwise
from math import fsum
from typing import TypeAlias

import msgspec

from wheeld.core.tracking.evidence import Pass

BIN_REV_S, BIN_LOW_REV_S, BINS = 0.05, 0.40, 24
"""The bins of speeds, from below the slowest ball to 1.6 laps/s. A faster ball slows down to these speeds later."""
ENOUGH_RUNS, SURE_RUNS, KEPT_RUNS = 3, 10, 20
"""A habit is used after `ENOUGH_RUNS` runs, and shows after `SURE_RUNS` whether a run is strange. It is the mean of
about the latest `KEPT_RUNS` runs, because balls are changed and tracks are cleaned."""
SOFT = [0.003 + 0.045 * (BIN_LOW_REV_S + (place + 0.5) * BIN_REV_S) ** 2 for place in range(BINS)]
"""The least slowing of all recorded balls at each speed, by friction and air, in laps/s²."""
LEAVE_LOW_REV_S = 0.42
"""For a wheel whose habit is not known. No ball stays on the track at a lower speed than this. So the laps until a ball
has slowed to this speed are the most that it can make."""
LEAVE_SPREAD_REV_S = 0.025
SLOWING_SPREAD = 0.25
"""How far a run may differ from the habit of its wheel, because of tilt or the place of its launch."""
LEFT_REV_S_MAX = 0.60
"""If a ball was last seen faster than this, a hand took it, or beams missed laps. Its run is not added to the habit."""

TimedSpeed: TypeAlias = tuple[int, float]


class Habit(msgspec.Struct):
    """How balls slow on a wheel. For each bin of speeds, `slowing`: the mean slowing in laps/s²; `runs`: how many runs
    it is made of. `leave_rev_s`: the mean speed at which balls left the track.

    `strange`: how much the latest ball differed from this habit, as a fraction of its speed: the most in a lap, or when
    it left the track. A hand or a wire may have touched it. 0 until `SURE_RUNS` runs are known.
    """

    slowing: list[float] = msgspec.field(default_factory=lambda: [0.0] * BINS)
    runs: list[int] = msgspec.field(default_factory=lambda: [0] * BINS)
    leave_rev_s: float = 0.465
    strange: float = 0.0

    @property
    def left(self) -> int:
        """How many runs this habit is made of."""
        return max(self.runs)

    def add(self, passes: list[Pass]) -> None:
        """Add the passes of a run, after the ball has left the track."""
        last = _laps(passes, passes[-1].beam)
        laps = [two for beam in {seen.beam for seen in passes} for two in pairwise(_laps(passes, beam))]
        # Use two laps only if the beam missed no lap between them.
        hops = [(one, two) for one, two in laps if two[0] - one[0] < 0.6e6 / one[1] + 0.6e6 / two[1]]
        lap = _last_lap(passes)
        parts = [0.0 if lap is None else max(0.0, 1 - LEFT_REV_S_MAX / lap[0])]
        for (before_us, before), (after_us, after) in hops:
            if self.runs[place := _bin((before + after) / 2)] >= SURE_RUNS:
                lost = self.slowing[place] * (after_us - before_us) / 1e6
                parts.append(abs(before - after - lost) / before)
        self.strange = max(parts) if self.left >= SURE_RUNS else 0.0
        if len(last) < 2 or last[-1][1] > LEFT_REV_S_MAX:
            return
        (before_us, before), (after_us, after) = last[-2:]
        left_rev_s = after - (before - after) / (after_us - before_us) * (passes[-1].t_us - after_us)
        self.leave_rev_s += (left_rev_s - self.leave_rev_s) / min(self.left + 1, KEPT_RUNS)
        slowings: dict[int, list[float]] = {}
        for (before_us, before), (after_us, after) in hops:
            slowing = (before - after) / (after_us - before_us) * 1e6
            slowings.setdefault(_bin((before + after) / 2), []).append(slowing)
        for place, found in slowings.items():
            self.runs[place] = min(self.runs[place] + 1, KEPT_RUNS)
            self.slowing[place] += (fsum(found) / len(found) - self.slowing[place]) / self.runs[place]

    def covers(self, speed_rev_s: float) -> bool:
        """Whether enough runs are known from this speed down to the speed at which balls leave the track: at each speed
        between, or at a neighbouring one."""
        low, high = _bin(self.leave_rev_s + BIN_REV_S), _bin(speed_rev_s)
        known = [max(self.runs[place - 1 : place + 2]) >= ENOUGH_RUNS for place in range(max(1, low), high + 1)]
        return self.left >= ENOUGH_RUNS and all(known)

    def profile(self) -> list[float]:
        """Return the slowing at each speed in laps/s²: the mean, where runs are known; elsewhere the mean of the next
        lower speed with runs, otherwise of the lowest speed with runs. It is never below the least slowing of all
        recorded balls."""
        known = [slowing for slowing, runs in zip(self.slowing, self.runs, strict=True) if runs]
        slowing, filled = known[0] if known else 0.0, []
        for place in range(BINS):
            slowing = self.slowing[place] if self.runs[place] else slowing
            filled.append(max(slowing, SOFT[place]))
        return filled


class Forecast(msgspec.Struct, frozen=True):
    """The forecast at a pass: the ball's speed, the most laps that it can still make, and the likely, earliest and
    latest times at which it leaves the track. The times are None if too few runs of the wheel are known."""

    speed_rev_s: float
    laps_most: float
    leaves_us: int | None = None
    earliest_us: int | None = None
    latest_us: int | None = None


def forecast(passes: list[Pass], habit: Habit) -> Forecast | None:
    """Return the forecast at the last pass. None before a whole lap was seen: within a lap a tilt changes the speed."""
    lap = _last_lap(passes)
    if lap is None:
        return None
    speed, since_us = lap
    if not habit.covers(speed):
        return Forecast(speed, _to_leave(speed, LEAVE_LOW_REV_S, SOFT)[0])
    profile = habit.profile()
    speed -= profile[_bin(speed)] * since_us / 1e6
    leave, spread = habit.leave_rev_s, LEAVE_SPREAD_REV_S
    (laps_most, late_us) = _to_leave(speed, leave - spread, profile, 1 - SLOWING_SPREAD)
    early_us = _to_leave(speed, leave + spread, profile, 1 + SLOWING_SPREAD)[1]
    t_us = passes[-1].t_us
    return Forecast(speed, laps_most, t_us + _to_leave(speed, leave, profile)[1], t_us + early_us, t_us + late_us)


def _bin(speed_rev_s: float) -> int:
    place = int((speed_rev_s - BIN_LOW_REV_S) / BIN_REV_S)
    return place if 0 <= place < BINS else BINS - 1 if place > 0 else 0


def _to_leave(speed_rev_s: float, leave_rev_s: float, profile: list[float], part: float = 1.0) -> tuple[float, int]:
    """Return (laps, µs) until the ball has slowed to `leave_rev_s`, with `part` times the slowing in `profile`."""
    laps = seconds = 0.0
    if speed_rev_s <= leave_rev_s:
        return laps, 0
    speed, last = speed_rev_s, _bin(leave_rev_s)
    for place in range(_bin(speed_rev_s), last - 1, -1):  # the slowing in a bin is constant
        low = BIN_LOW_REV_S + place * BIN_REV_S if place > last else leave_rev_s
        slowing = profile[place] * part
        seconds += (speed - low) / slowing
        laps += (speed * speed - low * low) / 2 / slowing
        speed = low
    return laps, round(seconds * 1e6)


def _laps(passes: list[Pass], beam: int) -> list[TimedSpeed]:
    """Return (middle in µs, speed) of each whole lap between passes of `beam`. Over a whole lap, a tilt has no
    effect."""
    same = [seen for seen in passes if seen.beam == beam]
    return [
        ((before.t_us + after.t_us) // 2, 1e6 / (after.t_us - before.t_us))
        for before, after in pairwise(same)
        if abs(after.turn_deg - before.turn_deg - 360) < 1e-6
    ]


def _last_lap(passes: list[Pass]) -> tuple[float, int] | None:
    """Return (mean speed, µs since its middle) of the lap that ends at the last pass. None if no pass began it."""
    last = passes[-1]
    for seen in reversed(passes):
        if abs(last.turn_deg - seen.turn_deg - 360) < 1e-6:
            return 1e6 / (last.t_us - seen.t_us), (last.t_us - seen.t_us) // 2
    return None
