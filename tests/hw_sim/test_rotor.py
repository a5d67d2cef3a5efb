"""The rotor: exact ticks in both directions, hands that brake and reverse it."""

from __future__ import annotations

import itertools
import random

import pytest

from hw_sim.rotor import SimRotor, tick_entered

SEEDS = range(10)


def handled(seed: int) -> SimRotor:
    """A rotor that hands push, brake and reverse some ten times in two minutes."""
    rng = random.Random(seed)
    rotor = SimRotor(rng.random(), rng.choice((1, -1)) * rng.uniform(0.1, 0.4), rng.uniform(0.001, 0.003))
    t_s = 0.0
    for _ in range(10):
        t_s += rng.uniform(1, 12)
        t_s = rotor.order(t_s, rng.choice((0.0, 1.0, -1.0)) * rng.uniform(0.1, 0.4), rng.uniform(0.05, 0.4))
    return rotor


@pytest.mark.parametrize(("speed", "expected"), [(0.25, [1, 2, 3, 0]), (-0.25, [0, 3, 2, 1])])
def test_a_tick_is_the_sector_entered(speed: float, expected: list[int]) -> None:
    """Four sectors, from the middle of sector 0 (clockwise) or of sector 1 (counter-clockwise)."""
    rotor = SimRotor(0.125 if speed > 0 else 0.375, speed, 0.001)
    ticks = [tick_entered(k, 4, clockwise=cw) for _, k, cw in rotor.crossings(0.0, 0.25, 0.0, 4.02)]
    assert ticks == expected


@pytest.mark.parametrize("ticks", [37, 148, 592])
@pytest.mark.parametrize("seed", SEEDS)
def test_ticks_follow_the_convention_of_the_log(seed: int, ticks: int) -> None:
    """Clockwise the angle is tick/ticks at the edge, counter-clockwise (tick+1)/ticks."""
    rotor = handled(seed)
    for t_s, k, clockwise in rotor.crossings(0.0, 1 / ticks, 0.0, 120.0):
        tick = tick_entered(k, ticks, clockwise=clockwise)
        off = (rotor.angle_at(t_s) - (tick + (not clockwise)) / ticks) % 1.0
        assert min(off, 1 - off) < 1e-9, seed
        assert (rotor.speed_at(t_s) > 0) == clockwise or abs(rotor.speed_at(t_s)) < 1e-6, seed


@pytest.mark.parametrize("seed", SEEDS)
def test_no_border_is_crossed_unseen(seed: int) -> None:
    edges = list(handled(seed).crossings(0.0, 1 / 296, 0.0, 120.0))
    assert len(edges) > 1000, seed
    for (t_1, k_1, cw_1), (t_2, k_2, cw_2) in itertools.pairwise(edges):
        assert t_1 < t_2, seed
        moved = 0 if cw_1 != cw_2 else (1 if cw_2 else -1)
        assert k_2 - k_1 == moved, seed


@pytest.mark.parametrize("seed", SEEDS)
def test_angle_and_speed_agree_and_never_jump(seed: int) -> None:
    rotor, step_s = handled(seed), 0.001
    for i in range(0, 100_000, 37):
        t_s = i * step_s
        moved = rotor.angle_at(t_s + step_s) - rotor.angle_at(t_s)
        assert moved / step_s == pytest.approx(rotor.speed_at(t_s + step_s / 2), abs=5e-4), seed


def test_a_free_rotor_comes_to_rest_and_stays() -> None:
    rotor = SimRotor(0.0, 0.2, 0.01)
    assert rotor.speed_at(50.0) == pytest.approx(0.1)
    assert rotor.speed_at(101.0) == 0.0
    assert rotor.angle_at(500.0) == pytest.approx(10.0)
    assert not list(rotor.crossings(0.0, 0.01, 101.0, 500.0))


def test_a_hand_brakes_and_reverses() -> None:
    rotor = SimRotor(0.0, 0.2, 0.001)
    released_s = rotor.order(10.0, -0.3, 0.1)
    assert released_s == pytest.approx(10 + (0.198 + 0.3) / 0.1, abs=1e-9)
    assert rotor.speed_at(released_s) == pytest.approx(-0.3)
    assert rotor.speed_at(10.0) > 0
    assert rotor.speed_at(10 + 1.98) == pytest.approx(0.0, abs=1e-9)


def test_a_new_order_replaces_what_would_have_come() -> None:
    rotor = SimRotor(0.0, 0.2, 0.001)
    rotor.order(10.0, 0.0, 0.1)
    rotor.order(5.0, 0.4, 0.1)
    assert rotor.speed_at(12.0) > 0.39
