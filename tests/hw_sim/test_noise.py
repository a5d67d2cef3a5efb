"""Sensors that lie: each fault at its rate, and nothing that the truth rests on."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from hw_sim.cli import main
from hw_sim.evening import Evening, script
from hw_sim.events import BallPass, End, RotorEdge, Sighting, SimEvent
from hw_sim.noise import JITTER_US_MAX, Rates, spoil
from hw_sim.world import us

CLEAN = Rates(missed=0, doubled=0, stray_per_s=0, lost_ticks=0, jitter_us=0, bounces=0)
SEEDS = range(4)


@cache
def night(seed: int) -> Evening:
    return script(["valid", "too_few_laps", "number_after_void", "breakdown_link"], seed)


def spoilt(seed: int, rates: Rates) -> tuple[list[SimEvent], list[SimEvent]]:
    return list(night(seed).events()), spoil(night(seed), random.Random(seed), rates)


def of(kind: type[SimEvent], events: list[SimEvent]) -> list[SimEvent]:
    return [event for event in events if isinstance(event, kind)]


@pytest.mark.parametrize("seed", SEEDS)
def test_no_rates_no_lies(seed: int) -> None:
    before, after = spoilt(seed, CLEAN)
    assert after == before, seed


@pytest.mark.parametrize("seed", SEEDS)
def test_a_noisy_evening_is_in_order_and_repeatable(seed: int) -> None:
    _, first = spoilt(seed, Rates())
    _, second = spoilt(seed, Rates())
    assert first == second, seed
    assert all(a.t_us <= b.t_us for a, b in itertools.pairwise(first)), seed
    assert first[0].t_us >= 0, seed
    assert [type(e) for e in first].count(End) == 1, seed


@pytest.mark.parametrize("seed", SEEDS)
def test_missed_passes_spare_first_laps_and_short_runs(seed: int) -> None:
    before, after = spoilt(seed, replace(CLEAN, missed=1.0))
    kept = {e.t_us for e in of(BallPass, after)}
    assert len(kept) < len(of(BallPass, before)), seed
    beams = night(seed).world.layout.beams_deg
    for run in night(seed).world.runs:
        times = [us(t_s) for t_s, _ in run.passes(beams)]
        sure = times if run.laps < 6 else times[: len(beams) + 1]
        down = [(us(o.from_s), us(o.to_s)) for o in night(seed).world.outages]
        sure = [t for t in sure if not any(a <= t <= b for a, b in down)]
        assert set(sure) <= kept, seed
        assert run.laps < 6 or times[-1] not in kept, seed


@pytest.mark.parametrize("seed", SEEDS)
def test_a_doubled_pass_is_at_its_own_beam_and_close(seed: int) -> None:
    before, after = spoilt(seed, replace(CLEAN, doubled=1.0))
    extra = Counter(after) - Counter(before)
    assert extra.total() == len(of(BallPass, before)), seed
    passes = {b: [e.t_us for e in before if isinstance(e, BallPass) and e.beam == b] for b in range(8)}
    for event in extra:
        assert isinstance(event, BallPass), seed
        origin = range(event.t_us - 15_000, event.t_us - 499)
        assert any(at in origin for at in passes[event.beam]), seed


@pytest.mark.parametrize("seed", SEEDS)
def test_edges_jitter_a_little_and_get_lost(seed: int) -> None:
    before, after = spoilt(seed, replace(CLEAN, lost_ticks=0.5, jitter_us=200.0))
    edges, left = of(RotorEdge, before), of(RotorEdge, after)
    assert 0.45 < len(left) / len(edges) < 0.55, seed
    near = {(e.t_us // 1000, e.tick) for e in edges if isinstance(e, RotorEdge)}
    for e in left:
        assert isinstance(e, RotorEdge), seed
        assert any(((e.t_us + off) // 1000, e.tick) in near for off in (-JITTER_US_MAX, 0, JITTER_US_MAX)), seed


def test_bounces_are_seen_in_falls_only() -> None:
    for seed in SEEDS:
        before, after = spoilt(seed, replace(CLEAN, bounces=1.0))
        extra = list((Counter(after) - Counter(before)).elements())
        falls = night(seed).world.falls
        assert len(extra) >= len(falls) - 1, seed
        assert all(isinstance(e, Sighting) for e in extra), seed
        assert all(any(us(f.left_s) < e.t_us < us(f.rest_s) for f in falls) for e in extra), seed


def test_a_silent_link_carries_no_noise() -> None:
    evenings = [script(["breakdown_link"], seed) for seed in range(10)]
    for seed, one in enumerate(evenings):
        (outage,) = one.world.outages
        noisy = spoil(one, random.Random(seed), replace(CLEAN, stray_per_s=5.0))
        strays = len(of(BallPass, noisy)) - len(of(BallPass, list(one.events())))
        assert strays > 3 * one.end_s, seed
        assert not [e for e in of(BallPass, noisy) if us(outage.from_s) < e.t_us < us(outage.to_s)], seed


def test_record_can_be_noisy(tmp_path: Path) -> None:
    for name, options in (("clean", []), ("noisy", ["--noise"])):
        assert main(["record", "--out", str(tmp_path / f"{name}.jsonl"), "--seed", "3", *options]) == 0
    assert (tmp_path / "clean.jsonl").read_bytes() != (tmp_path / "noisy.jsonl").read_bytes()
    assert (tmp_path / "clean.truth.json").read_bytes() == (tmp_path / "noisy.truth.json").read_bytes()


@pytest.mark.parametrize("seed", range(10))
def test_no_stray_while_a_hand_carries_the_ball_to_another_pocket(seed: int) -> None:
    one = script(["wrong_pocket_after_void"], seed)
    noisy = spoil(one, random.Random(seed), replace(CLEAN, stray_per_s=5.0))
    wrong, right = one.world.stays[-2:]
    carried = range(us(wrong.to_s), us(right.from_s))
    assert [e for e in of(BallPass, noisy) if us(wrong.from_s) < e.t_us < us(wrong.to_s)], seed
    assert not [e for e in of(BallPass, noisy) if e.t_us in carried], seed
