"""Laps that stay proven whichever pulses were strays (R2): how many strays each layout bears, and what that costs."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from hw_sim.table import laps_safe
from tests.core.evening import ball_passes
from wheeld.cli.provable import certain_laps
from wheeld.core.observations import BallPass
from wheeld.core.tracking.beams import BallTracker

WHEELS = Path(__file__).parents[2] / "docs" / "wheels.md"
EVEN = {count: tuple(360 * n / count for n in range(count)) for count in range(3, 9)}
RUNS = 400


def proven(beams_deg: tuple[float, ...], pulses: list[BallPass], strays: int) -> float:
    ball = BallTracker(beams_deg, strays=strays)
    for pulse in sorted(pulses, key=lambda pulse: pulse.t_us):
        ball.take(pulse.t_us, pulse.beam)
    return ball.record().laps or 0.0


def run_of(rng: random.Random, beams_deg: tuple[float, ...], laps: float) -> list[BallPass]:
    """The passes of a run from any place on the track, either way."""
    off_deg = rng.uniform(0, 360)
    turned = tuple((deg + off_deg) % 360 for deg in beams_deg)
    start_us = 5_000_000
    return ball_passes(turned, rng.choice(("cw", "ccw")), start_us=start_us, rev_s=rng.uniform(0.7, 1.6), laps=laps)


def beside(rng: random.Random, run: list[BallPass], beams: int, *, at_end: bool) -> BallPass:
    """A stray as near as can be to a pass that the ball would have made before its first one, or after its last."""
    one, two = (run[-2], run[-1]) if at_end else (run[1], run[0])
    step = (two.beam - one.beam) % beams
    hop_us = two.t_us - one.t_us
    return BallPass(two.t_us + round(hop_us * rng.uniform(0.85, 1.3)), (two.beam + step) % beams)


def with_two_strays(rng: random.Random, beams: int, run: list[BallPass]) -> list[BallPass]:
    ends = rng.choice(((False, True), (True, True), (False, False)))
    for at_end in ends:
        stray = beside(rng, run, beams, at_end=at_end)
        run = [*run, stray] if at_end else [stray, *run]
    return run


@pytest.mark.parametrize("count", [4, 5, 6, 7, 8])
def test_two_strays_at_the_worst_times_make_no_short_run_valid(count: int) -> None:
    """Where only one stray was expected, they did."""
    rng, before = random.Random(f"strays {count}"), 0
    for _ in range(RUNS):
        pulses = with_two_strays(rng, count, run_of(rng, EVEN[count], rng.uniform(2.7, 2.99)))
        assert proven(EVEN[count], pulses, strays=2) < 3 - 1e-6
        before += proven(EVEN[count], pulses, strays=1) >= 3 - 1e-6
    assert before > 0.03 * RUNS


@pytest.mark.parametrize("count", [3, 4, 8])
@pytest.mark.parametrize("strays", [1, 2, 3])
def test_fewer_passes_than_may_be_strays_prove_nothing(count: int, strays: int) -> None:
    run = run_of(random.Random(1), EVEN[count], 4)
    for passes in range(strays + 1):
        assert proven(EVEN[count], run[:passes], strays) == 0
    assert proven(EVEN[count], run[: strays + 3], strays) > 0


TWO = (45.0, 315.0)
END_OF_RUN = (
    *((1, 0.0), (0, 207), (1, 857), (0, 1086), (1, 1773), (0, 2033), (0, 3204), (1, 4353), (0, 4818), (1, 6200)),
    *((0, 6699), (1, 8183), (0, 8719), (1, 10316)),
)
"""Beam and ms of the last passes of a simulated ball past two beams at 60 and 153 degrees; of a stray at 8386."""
STRAY_MS = 8386


def tracked(beams_deg: tuple[float, ...], pulses: list[BallPass]) -> BallTracker:
    """A tracker that took these, and knows that the ball has left where its next pass did not come."""
    ball = BallTracker(beams_deg)
    for pulse in sorted(pulses, key=lambda pulse: pulse.t_us):
        if ball.overdue_us is not None and pulse.t_us > ball.overdue_us:
            ball.note_gone()
        ball.take(pulse.t_us, pulse.beam)
    return ball


def test_a_stray_in_the_seconds_before_a_launch_never_turns_the_ball_round() -> None:
    """Two beams: a stray and the first two passes of a fast ball are three of a slow one that turns the other way."""
    run = ball_passes(TWO, "cw", start_us=5_000_000, rev_s=1.7, laps=6)
    for before_us in range(100_000, 3_000_000, 10_000):
        ball = BallTracker(TWO)
        for pulse in [BallPass(run[0].t_us - before_us, run[0].beam ^ 1), *run]:
            ball.take(pulse.t_us, pulse.beam)
            assert ball.run.direction in (None, "cw"), f"{before_us} µs before"


def test_passes_behind_a_stray_at_the_end_of_a_run_are_no_launch_of_the_next_coup() -> None:
    """A stray took the place of a pass, and the ball's last passes did not fit behind it. Then the chef answered."""
    passes = sorted([*END_OF_RUN, (1, STRAY_MS)], key=lambda each: each[1])
    pulses = [BallPass(5_000_000 + round(ms * 1000), beam) for beam, ms in passes]
    ball = tracked((60.0, 153.0), pulses)
    ball.note_gone()
    assert ball.run.last_us == 5_000_000 + STRAY_MS * 1000
    ball.forget_run()
    assert ball.few_passes(pulses[-1].t_us + 10_000_000) is None


def test_three_strays_that_hardly_agree_are_no_second_launch() -> None:
    """That would void a coup whose ball is in its pocket. With a fourth pass they are one."""
    run = ball_passes(EVEN[4], "cw", start_us=5_000_000, rev_s=1.7, laps=10)
    gone_us = run[-1].t_us + 5_000_000
    again = [BallPass(gone_us + at_us, beam) for at_us, beam in ((0, 0), (135_000, 1), (300_000, 2))]
    ball = tracked(EVEN[4], [*run, *again])
    assert ball.run.launched_us == run[0].t_us
    ball.take(gone_us + 470_000, 3)
    assert ball.run.launched_us == gone_us


LAYOUTS = {"two, 60° apart": (0.0, 60.0), "two, 90° apart": (0.0, 90.0), "two, 120° apart": (0.0, 120.0)} | {
    name: EVEN[count]
    for count, name in ((3, "three"), (4, "four"), (5, "five"), (6, "six"), (7, "seven"), (8, "eight"))
}


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("strays", [1, 2])
def test_from_how_many_laps_on_a_run_is_certain(name: str, strays: int) -> None:
    """Not one run of so many laps proves fewer than three; a run of slightly fewer laps may."""
    beams_deg, rng = LAYOUTS[name], random.Random(f"certain {name}")
    certain = certain_laps(beams_deg, 3, strays)
    assert all(proven(beams_deg, run_of(rng, beams_deg, certain + 0.001), strays) >= 3 - 1e-6 for _ in range(60))
    few = [proven(beams_deg, run_of(rng, beams_deg, certain - 0.02), strays) for _ in range(400)]
    assert min(few) < 3 - 1e-6


def test_the_laps_that_are_certain_are_as_documented() -> None:
    rows = re.findall(
        r"^\| (t[^|]+|four|five|six|seven|eight) \| (\d) \| ([\d.]+) \|$", WHEELS.read_text(), re.MULTILINE
    )
    wanted = []
    for name, beams_deg in LAYOUTS.items():
        strays = 2 if len(beams_deg) >= 4 else 1
        wanted.append((name, str(strays), f"{certain_laps(beams_deg, 3, strays):.2f}"))
    assert rows == wanted


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_simulator_counts_no_run_as_certain_that_is_not(name: str) -> None:
    beams_deg = LAYOUTS[name]
    assert laps_safe(beams_deg) >= certain_laps(beams_deg, 3, 2 if len(beams_deg) >= 4 else 1)
