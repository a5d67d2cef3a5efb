"""A late beam is named, it alone; one that stands aside is not, and no other sensor is blamed for it."""

from __future__ import annotations

import math
import random

import pytest

from wheeld.core.pockets import SINGLE_ZERO
from wheeld_report.timing import RUNS_MIN, lateness, tilt_of, timed
from wheeld_report.wheel import LoggedRun, SensorPlaces, WheelRecord

FOUR = (0.0, 90.0, 180.0, 270.0)


def wheel(
    late_s: tuple[float, ...],
    angles: tuple[float, ...] = FOUR,
    aside_deg: tuple[float, ...] = (0.0,) * 4,
    ways: tuple[str, ...] = ("cw", "ccw"),
    missed: float = 0.0,
    pull_low: tuple[float, float] = (0.0, 0.0),
    runs: int = 60,
) -> WheelRecord:
    """Balls that lose speed evenly with the laps: from 2 to 0.5 rev/s."""
    rng = random.Random("timing")
    made = WheelRecord(site="a", table="b", test=False, pockets=SINGLE_ZERO, layout=SensorPlaces(angles, (), 0))
    for at in range(runs):
        way = ways[at % len(ways)]
        sign, start = 1 if way == "cw" else -1, rng.random()
        fade = rng.uniform(0.09, 0.13)
        passes = []
        for beam, angle in enumerate(angles):
            place = ((angle + aside_deg[beam]) / 360 * sign - start) % 1
            # By an angle that grows with the square of the time of a lap; early after the low side.
            lean = -sign * pull_low[0] * math.sin(math.radians(angle - pull_low[1]))
            passes += [
                (
                    math.expm1(fade * (lap + place)) / fade / 2
                    + late_s[beam]
                    + lean * (math.exp(fade * (lap + place)) / 2) ** 3,
                    beam,
                )
                for lap in range(12)
            ]
        seen = tuple((round(t_s * 1e6), beam) for t_s, beam in sorted(passes) if rng.random() >= missed)
        made.runs.append(
            LoggedRun(at_utc_us=at, ball_direction=way, last_beam=0, last_lap_s=None, slowing=None, passes=seen)
        )
    return made


def found_ms(made: WheelRecord) -> list[float]:
    return [1e3 * each.late_s for each in lateness(timed(made))]


@pytest.mark.parametrize("missed", [0.0, 0.02])
@pytest.mark.parametrize("angles", [FOUR, (10.0, 100.0, 200.0, 260.0), (270.0, 30.0, 150.0)])
def test_a_late_beam_is_late_by_what_it_is_and_no_other(angles: tuple[float, ...], missed: float) -> None:
    late = [0.0] * len(angles)
    late[1] = 0.03
    assert found_ms(wheel(tuple(late), angles, missed=missed)) == pytest.approx([1e3 * each for each in late], abs=1)


def test_two_late_beams_of_four_are_both_named() -> None:
    assert found_ms(wheel((0.02, 0.0, 0.02, 0.0))) == pytest.approx([20, 0, 20, 0], abs=1)


def test_a_beam_that_stands_aside_is_late_only_where_all_balls_run_one_way() -> None:
    aside = (0.0, 4.0, 0.0, 0.0)
    assert found_ms(wheel((0.0,) * 4, aside_deg=aside)) == pytest.approx([0] * 4, abs=1)
    (one, *_) = lateness(timed(wheel((0.0,) * 4, aside_deg=aside, ways=("cw",))))
    assert one.one_way
    assert max(found_ms(wheel((0.0,) * 4, aside_deg=aside, ways=("cw",)))) > 5


@pytest.mark.parametrize("low_deg", [0.0, 75.0, 260.0])
def test_a_tilt_is_found_with_its_low_side_and_neither_delay_nor_angle_is_one(low_deg: float) -> None:
    # In turns at one lap a second: gravity · sin(tilt) / (τ³ · radius).
    pull = 9.81 * math.radians(0.4) / (math.tau**3 * 0.36)
    aside, late = (0.0, 3.0, -1.0, 0.0), (0.0, 0.03, 0.0, 0.0)
    tilt = tilt_of(timed(wheel(late, aside_deg=aside, pull_low=(pull, low_deg), runs=200)), FOUR)
    assert tilt is not None
    assert tilt.tilt_deg == pytest.approx(0.4, abs=0.04)
    assert abs((tilt.low_deg - low_deg + 180) % 360 - 180) < 8
    level = tilt_of(timed(wheel(late, aside_deg=aside, runs=200)), FOUR)
    assert level is not None
    assert level.tilt_deg < 0.05
    assert tilt_of(timed(wheel(late, ways=("cw",))), FOUR) is None


def test_two_beams_and_few_runs_tell_nothing() -> None:
    assert timed(wheel((0.0, 0.03), (0.0, 180.0))) == []
    assert lateness(timed(wheel((0.0, 0.03, 0.0, 0.0), runs=RUNS_MIN - 1))) == []
