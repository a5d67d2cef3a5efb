"""Laps, speeds and times: how they are distributed, and whether they drift.

Coups of one bouler are alike, so single coups are not independent. Therefore the medians of blocks are compared. A
block is at least half an hour, a bouler's time (A4). A drift counts if it is surely larger than what people may cause
at a wheel without a fault.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec
import numpy as np
from scipy import stats

from wheeld.core.catalogue import Catalogue, translatable
from wheeld_report.checks import CONFIDENCE, Check
from wheeld_report.wheel import LoggedRun, ValidCoup, WheelRecord

BLOCK_COUPS = 30
"""The fewest coups in a block: half an hour, at one coup a minute."""
BLOCKS_MIN, BLOCKS_MAX = 10, 60
"""A line through fewer blocks shows nothing. With more blocks than the second number, the line is not better, and each
block is less certain."""
RUNS_OF_BLOCK = 5
"""The fewest sampled runs in a block. Sampled runs are further apart than coups, so these blocks are as independent as
blocks of coups."""
EXACT = 1e-9
"""The error that is assumed for a line if all blocks lie exactly on it."""
DAY_US = 86_400_000_000
BINS = 24


class Measure(NamedTuple):
    """What is measured. `tolerated`: the allowed drift over the whole period, as a share of the median."""

    code: str
    label: str
    unit: str
    tolerated: float
    action: str
    of_coup: Callable[[ValidCoup], float | None] = lambda _: None
    of_run: Callable[[LoggedRun], float | None] = lambda _: None


_PEOPLE = translatable(
    "Look at how the boulers launch the ball and turn the rotor. If this has not changed, clean the ball and the track."
)
_BALL = translatable("Clean the ball and the track, check the ball's weight and size, and change it; level the wheel.")

MEASURES = (
    Measure(
        "rotor_speed",
        translatable("speed of the rotor"),
        translatable("turns a minute"),
        0.15,
        translatable("Check the bearing, and the motor if there is one; ask the boulers how fast they turn."),
        of_coup=lambda coup: coup.rotor_rpm,
    ),
    Measure("laps", translatable("laps of the ball"), translatable("laps"), 0.2, _PEOPLE, lambda coup: coup.laps),
    Measure("ball_time", translatable("time on the track"), "s", 0.2, _PEOPLE, lambda coup: coup.ball_s),
    Measure(
        "last_lap",
        translatable("time of the last lap"),
        "s",
        0.1,
        _BALL,
        of_run=lambda run: run.last_lap_s,
    ),
    Measure(
        "rotor_slowing",
        translatable("loss of the rotor's speed"),
        translatable("share that is lost in a second"),
        0.5,
        translatable("Clean and oil the rotor's bearing, and check whether something touches the rotor."),
        of_run=lambda run: run.slowing,
    ),
    Measure(
        "rest_to_result",
        translatable("time from rest to result"),
        "s",
        0.25,
        translatable("Align the readers (wheeld doctor --number), clean them, and look at the speed of the rotor."),
        of_coup=lambda coup: coup.rest_s,
    ),
)


class Block(NamedTuple):
    """The median of successive values, and their mean time in days since `first_at_utc_us`."""

    day: float
    median: float


class Trend(msgspec.Struct, kw_only=True):
    """`spread`: the 5th, 25th, 50th, 75th and 95th percentiles. `change`: the change over the period, as a share of the
    median, with its interval, or None if there are too few blocks. `bins`: a histogram from `low` to `high`."""

    code: str
    label: str
    unit: str
    count: int
    first_at_utc_us: int
    spread: list[float]
    low: float
    high: float
    bins: list[int]
    blocks: list[Block]
    enough: bool
    tolerated: float
    change: float | None = None
    change_low: float | None = None
    change_high: float | None = None
    checks: list[Check] = []


def trends(wheel: WheelRecord, say: Catalogue) -> list[Trend]:
    """Return the trend of each measure that has values."""
    found = []
    for measure in MEASURES:
        values = [(one.at_utc_us, measure.of_coup(one)) for one in wheel.coups]
        values += [(run.at_utc_us, measure.of_run(run)) for run in wheel.runs]
        known = [(at_utc_us, value) for at_utc_us, value in values if value is not None]
        if known:
            is_sampled = measure.of_run is not Measure._field_defaults["of_run"]
            sizes = np.array([value for _, value in known])
            days = (np.array([at_utc_us for at_utc_us, _ in known]) - known[0][0]) / DAY_US
            spread = [float(each) for each in np.percentile(sizes, (5, 25, 50, 75, 95))]
            bins, edges = np.histogram(sizes, BINS)
            count = min(BLOCKS_MAX, len(known) // (RUNS_OF_BLOCK if is_sampled else BLOCK_COUPS))
            parts = list(zip(np.array_split(days, count), np.array_split(sizes, count), strict=True)) if count else []
            trend = Trend(
                code=measure.code,
                label=say.say(measure.label),
                unit=say.say(measure.unit) if measure.unit != "s" else "s",
                count=len(known),
                first_at_utc_us=known[0][0],
                spread=spread,
                low=float(edges[0]),
                high=float(edges[-1]),
                bins=bins.tolist(),
                blocks=[Block(float(np.mean(when)), float(np.median(what))) for when, what in parts],
                enough=count >= BLOCKS_MIN and spread[2] > 0,
                tolerated=measure.tolerated,
            )
            if trend.enough:
                _fit(trend, measure, say)
            found.append(trend)
    return found


def _fit(trend: Trend, measure: Measure, say: Catalogue) -> None:
    """Fit a line through the blocks, and compute the chance of its slope if the true drift is within the tolerance."""
    days = np.array([block.day for block in trend.blocks])
    span = days[-1] - days[0]
    if span <= 0:
        return
    line = stats.linregress(days, [block.median for block in trend.blocks])
    scale = span / trend.spread[2]
    change, error = float(line.slope * scale), float(line.stderr * scale)
    error = error if error > 0 else EXACT
    freedom = len(trend.blocks) - 2
    half = float(stats.t.isf((1 - CONFIDENCE) / 2, freedom)) * error
    trend.change, trend.change_low, trend.change_high = change, change - half, change + half
    p = min(1.0, 2 * float(stats.t.sf((abs(change) - measure.tolerated) / error, freedom)))
    said = say.say(
        "{measure}: changed by {change} % over the period (95 % sure: {low} to {high})",
        measure=trend.label,
        **{
            name: f"{100 * value:+.0f}"
            for name, value in (("change", change), ("low", change - half), ("high", change + half))
        },
    )
    trend.checks = [Check(code=f"drift_{trend.code}", p=p, said=said, action=say.say(measure.action))]
