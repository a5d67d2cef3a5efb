"""Hands on the rotor that void nothing: what the log shows of them bears the truth out."""

from __future__ import annotations

import itertools

import pytest

from hw_sim.evening import script
from hw_sim.log import lines
from tests.hw_sim.log_reader import Log

SEEDS = range(15)


def _played(name: str, seed: int) -> Log:
    evening = script([name], seed)
    (outcome,) = evening.truth
    assert outcome["kind"] == "result", (name, seed)
    return Log(lines(evening.header, evening.events()))


def _speeds(log: Log, start_us: int, end_us: int) -> list[tuple[float, float]]:
    """(time in s, mean speed in rev/s) of the rotor, over fifths of a second or whole sectors that take longer."""
    edges = [edge for edge in log.rotor if start_us <= edge["t"] <= end_us]
    assert len({edge["direction"] for edge in edges}) == 1
    found, last = [], 0
    for i, edge in enumerate(edges):
        took_s = (edge["t"] - edges[last]["t"]) / 1e6
        if took_s > 0.2:
            found.append((edge["t"] / 1e6, (i - last) / log.header["rotor_ticks"] / took_s))
            last = i
    return found


def _hardest_braking(speeds: list[tuple[float, float]]) -> float:
    """In rev/s², between speeds a second apart."""
    return max((a - b) / (t - s) for (s, a), (t, b) in zip(speeds, speeds[5:], strict=False))


@pytest.mark.parametrize(
    ("name", "least", "most"), [("rotor_pushed_running", 1.1, 1.7), ("rotor_braked_running", 0.4, 0.85)]
)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_hand_on_the_rotor_while_the_ball_runs(name: str, least: float, most: float, seed: int) -> None:
    log = _played(name, seed)
    passes = log.times("ball")
    speeds = _speeds(log, passes[0], passes[-1] + 3_000_000)
    assert least < speeds[-1][1] / speeds[0][1] < most, seed
    assert min(speed for _, speed in speeds) > 0.05, seed


@pytest.mark.parametrize("seed", SEEDS)
def test_a_hand_brakes_the_rotor_while_the_ball_is_in_its_pocket(seed: int) -> None:
    """By the third sighting at the latest it is slower, and it turns on."""
    log = _played("rotor_braked_in_pocket", seed)
    seen = [t for t in log.times("pocket") if t > log.times("ball")[-1]]
    speeds = _speeds(log, log.times("ball")[-1], seen[2])
    assert 0.015 < _hardest_braking(speeds) < 0.13, seed
    assert speeds[-1][1] < 0.95 * speeds[0][1], seed
    assert min(speed for _, speed in speeds) > 0.05, seed


@pytest.mark.parametrize("seed", SEEDS)
def test_a_hand_stops_the_rotor_when_the_number_is_out(seed: int) -> None:
    log = _played("rotor_stopped_after_number", seed)
    seen = [t for t in log.times("pocket") if t > log.times("ball")[-1]]
    done = log.times("command", name="operations_done")[-1]
    edges = log.times("rotor")
    assert len([t for t in edges if seen[2] < t < done]) > 1, seed
    assert max(b - a for a, b in itertools.pairwise([*edges, log.lines[-1]["t"]])) > 1_500_000, seed
    assert edges[-1] < done, seed
