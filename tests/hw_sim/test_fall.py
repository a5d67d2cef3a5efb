"""The fall: as long as real ones, scattered as real ones, and in a pocket that is where the ball came down."""

from __future__ import annotations

import random
import statistics
from functools import cache

import pytest

from hw_sim.fall import FALL_S, Bias, fall, fall_off_obstacle
from hw_sim.rotor import SimRotor
from hw_sim.wheel import POCKETS, BallRun, Fall, Track

FALLS = 2000


def played(seed: int) -> tuple[BallRun, SimRotor, random.Random]:
    rng = random.Random(seed)
    turning = rng.choice((1, -1))
    run = BallRun.free(Track.draw(rng), rng.uniform(0, 100), rng.random(), turning, rng.uniform(1.3, 2.6))
    return run, SimRotor(rng.random(), -turning * rng.uniform(10, 20) / 60, 0.002), rng


@cache
def falls() -> list[tuple[BallRun, SimRotor, Fall]]:
    return [(run, rotor, fall(run, rotor, rng)) for run, rotor, rng in map(played, range(FALLS))]


def test_a_fall_lasts_as_long_as_the_recorded_ones() -> None:
    lengths = [fallen.rest_s - fallen.left_s for _, _, fallen in falls()]
    assert FALL_S[0] <= min(lengths) < 2.7, min(lengths)
    assert 5.0 < max(lengths) <= FALL_S[1], max(lengths)
    assert 3.2 < statistics.median(lengths) < 3.8, statistics.median(lengths)


def test_touches_come_in_order_after_the_slope_and_before_rest() -> None:
    for run, _, fallen in falls():
        times = [t_s for t_s, _ in fallen.touches]
        assert fallen.left_s == run.end_s
        assert times == sorted(times)
        assert fallen.left_s + 0.7 < times[0]
        assert times[-1] < fallen.rest_s - 0.4, "it rattles in its pocket"
        assert 2 <= len(times) <= 12


def test_the_ball_scatters_by_several_pockets_and_rather_the_way_it_came() -> None:
    on = []
    for run, _, fallen in falls():
        way = (POCKETS.index(fallen.number) - POCKETS.index(fallen.touches[0][1])) * run.turning
        on.append((way + 18) % 37 - 18)
    assert 4 < statistics.mean(map(abs, on)) < 7, statistics.mean(map(abs, on))
    assert 1 < statistics.mean(on) < 4, statistics.mean(on)
    assert sum(abs(way) > 9 for way in on) > FALLS / 20


def test_every_number_comes_as_often_as_chance_lets_it() -> None:
    counts = [sum(fallen.number == number for _, _, fallen in falls()) for number in POCKETS]
    expected = FALLS / 37
    chi_squared = sum((count - expected) ** 2 / expected for count in counts)
    assert chi_squared < 67, chi_squared  # 36 degrees of freedom: one honest wheel in a thousand fails


@pytest.mark.parametrize("turning", [1, -1])
def test_the_ball_comes_down_a_part_of_a_lap_after_it_left(turning: int) -> None:
    """In the bowl's frame, where the rotor stood at the first touch: ahead of where it left the track."""
    ways = []
    for run, rotor, fallen in falls():
        if run.turning == turning:
            t_s, number = fallen.touches[0]
            place = rotor.angle_at(t_s) + POCKETS.index(number) / 37
            ways.append((place - run.angle - turning * run.laps) * turning % 1.0)
    assert 0.1 < min(ways) < 0.3 < statistics.median(ways) < 0.5 < max(ways) < 0.8, (min(ways), max(ways))


@pytest.mark.parametrize("seed", range(50))
def test_a_ball_falls_off_an_obstacle_sooner_than_off_the_track(seed: int) -> None:
    run, rotor, rng = played(seed)
    fallen = fall_off_obstacle(run, 12.0, rotor, rng)
    assert fallen.left_s == pytest.approx(run.end_s + 12.0)
    assert 0.7 < fallen.rest_s - fallen.left_s < 5.5, seed
    assert all(fallen.left_s < t_s < fallen.rest_s for t_s, _ in fallen.touches), seed


@pytest.mark.parametrize("seed", range(50))
@pytest.mark.parametrize("speed", [0.0, 0.2])
def test_a_ball_also_falls_into_a_rotor_that_stands_or_turns_with_it(seed: int, speed: float) -> None:
    run, _, rng = played(seed)
    fallen = fall(run, SimRotor(0.0, run.turning * speed, 0.002), rng)
    assert FALL_S[0] <= fallen.rest_s - fallen.left_s <= FALL_S[1], seed


def test_a_biased_rotor_favours_its_pockets_as_much_as_it_says() -> None:
    bias = Bias(frozenset(POCKETS[5:14]), 1.5)
    rng = random.Random("bias")
    fallen = [bias.applied(each, rng).number for _, _, each in falls()]
    share = sum(number in bias.numbers for number in fallen) / len(fallen)
    assert share == pytest.approx(1.5 * 9 / 37, abs=4 * 0.5 / len(fallen) ** 0.5)
    assert share > 1.2 * 9 / 37
