"""How often a ball that nobody touched seems touched: `python -m tests.core.free_balls RUNS SEED`.

Each wheel is another bowl with other beams. Its balls are launched as the simulator's croupier launches them. A beam
misses a pass, or reports it a little early or late. Only the tracker and its measure are tried, without a table.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from typing import NamedTuple

from hw_sim.evening import BEAMS
from hw_sim.table import SimTable
from hw_sim.wheel import WheelLayout
from wheeld.core.observations import BallPass
from wheeld.core.tracking.beams import BallTracker
from wheeld.core.tracking.evidence import HAND_PART, LOW, Margin, Seen
from wheeld.core.tracking.forecast import SURE_RUNS, Habit

RUNS_OF_A_WHEEL = 100
MISSED = 0.01
"""The part of the passes that a beam misses."""
JITTER_US = 300.0
"""How early or late a pass is reported, as a standard deviation."""
IN_PLACE = Seen(0, 0, 0, 0.0, 0.0)
"""A sighting in the middle of a pocket."""


class Touched(NamedTuple):
    """Of `runs`: how many a notice calls touched, and the largest measure."""

    runs: int
    told: int
    most: float


def touched(runs: int, seed: str, hand: float = 0.0) -> Touched:
    """Measure them. `hand`: the part of its speed that each ball of a known wheel loses at once after two laps."""
    found = [strange for n in range(0, runs, RUNS_OF_A_WHEEL) for strange in _of_a_wheel(f"{seed} {n}", hand)]
    margins = [Margin.number(None, [IN_PLACE], (1.0, 1.0), strange) for strange in found]
    return Touched(len(found), sum(margin.value < LOW for margin in margins), max(found))


def _of_a_wheel(seed: str, hand: float) -> Iterator[float]:
    rng = random.Random(seed)
    count = rng.choice([beams for beams in BEAMS if beams >= 2])
    beams_deg = tuple(360 / count * beam for beam in range(count))
    layout = WheelLayout("campione", "roulette", 37, beams_deg, (30.0, 150.0, 270.0))
    table, habit = SimTable(layout, rng, 17), Habit()
    for n in range(RUNS_OF_A_WHEEL + SURE_RUNS):
        run, known, tracker = table.launch(), n >= SURE_RUNS, BallTracker(beams_deg)
        table.wait_until(run.end_s + 5.0)
        noted = [
            BallPass(round(at_s * 1e6 + rng.gauss(0, JITTER_US)), beam)
            for at_s, beam in run.passes(beams_deg)
            if rng.random() >= MISSED
        ]
        for seen in pushed(noted, hand, after=2 * count) if known else noted:
            tracker.take(seen.t_us, seen.beam)
        if (chain := tracker.leading) is None:
            continue
        habit.add(chain.passes)
        if known:
            yield HAND_PART if tracker.state.earlier_deg else habit.strange  # as `BallFromBeams.quality`


def pushed(run: list[BallPass], part: float, after: int = 8) -> list[BallPass]:
    """After so many passes the ball loses that part of its speed at once."""
    slower, from_us = 1 / (1 - part), run[after].t_us
    late = [BallPass(from_us + round((seen.t_us - from_us) * slower), seen.beam) for seen in run[after:]]
    return [*run[:after], *late]


def main(runs: int, seed: str) -> None:
    found = touched(runs, seed)
    said = f"{found.told} seem touched, the measure is {found.most:.3f} at most"
    sys.stdout.write(f"{found.runs:,} free balls, seed {seed}: {said}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
