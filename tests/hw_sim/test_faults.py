"""Sensor faults: each at its rate, each with a record of its strikes, and none that changes another."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import TypeVar

import msgspec
import pytest

from hw_sim import log
from hw_sim.cli import main
from hw_sim.evening import Evening, script
from hw_sim.events import (
    BallPass,
    ClockReading,
    End,
    ForeignObject,
    RotorEdge,
    SensorState,
    Sighting,
    SimEvent,
    TableCommand,
)
from hw_sim.faults import GROSS, JITTER_US_MAX, KINDS, FaultyEvening, Rates, add_faults, swarm
from hw_sim.wheel import POCKETS
from hw_sim.world import us

SEEDS = (4, 8, 15)
"""Two beams and a reader, six and three, four and three; 37, 74 and 148 ticks."""
MORE_SEEDS = (*SEEDS, 3, 7, 10, 18, 19, 20, 21, 22, 23)
"""For what doesn't strike in every evening."""
LOUD = replace(Rates().times(1e5), stray_per_h=600.0, repeated_frame_per_h=60.0, clock_step_per_h=30.0)
"""Gross faults fifty times an hour, so that an evening of minutes has some; half of the passes and falls."""
Kind = TypeVar("Kind", bound=SimEvent)


@cache
def evening(seed: int) -> Evening:
    return script(
        ["valid", "stray_pulse", "too_few_laps", "number_after_void", "foreign_object", "breakdown_link", "valid"], seed
    )


@cache
def clean(seed: int) -> list[SimEvent]:
    return list(evening(seed).events())


def with_only(kind: str, seed: int, rates: Rates = LOUD) -> FaultyEvening:
    return add_faults(evening(seed), f"seed {seed}", rates.only(frozenset({kind})))


def of(kind: type[Kind], events: Iterable[SimEvent]) -> list[Kind]:
    return [event for event in events if isinstance(event, kind)]


def added(after: FaultyEvening, seed: int) -> list[SimEvent]:
    return list((Counter(after.events) - Counter(clean(seed))).elements())


def gone(after: FaultyEvening, seed: int) -> list[SimEvent]:
    return list((Counter(clean(seed)) - Counter(after.events)).elements())


@pytest.mark.parametrize("seed", SEEDS)
def test_without_rates_there_are_no_faults(seed: int) -> None:
    after = add_faults(evening(seed), "any", Rates().only(frozenset()))
    assert after == FaultyEvening(clean(seed), [], evening(seed).truth, 1.0), seed


@pytest.mark.parametrize("kind", KINDS)
def test_each_fault_strikes_and_is_recorded(kind: str) -> None:
    struck = 0
    for seed in MORE_SEEDS:
        after = with_only(kind, seed)
        struck += bool(after.strikes)
        assert after.strikes or after.events == clean(seed), seed
        assert {strike.fault for strike in after.strikes} <= {kind}, seed
        assert all(0 <= strike.from_us <= strike.to_us and strike.what for strike in after.strikes), seed
    assert struck


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind not in ("drift", "jitter", "late_frame", "late_sensor", "lost_tick")]
)
def test_only_strikes_change_events(kind: str) -> None:
    """Every event that was added, lost or changed is within a strike."""
    for seed in SEEDS:
        after = with_only(kind, seed)
        for event in [*added(after, seed), *gone(after, seed)]:
            near = [h for h in after.strikes if h.from_us - 2 <= event.t_us <= h.to_us]
            assert near or isinstance(event, ClockReading), (seed, event)


@pytest.mark.parametrize("rates", [Rates(), Rates().times(100), LOUD], ids=["ordinary", "worse", "loud"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_faulty_evening_is_in_order_and_repeatable(seed: int, rates: Rates) -> None:
    first, second = (add_faults(evening(seed), "x", rates) for _ in range(2))
    assert first == second, seed
    assert all(a.t_us <= b.t_us for a, b in itertools.pairwise(first.events)), seed
    assert first.events[0].t_us >= 0, seed
    assert [i for i, e in enumerate(first.events) if isinstance(e, End)] == [len(first.events) - 1], seed


@pytest.mark.parametrize("kind", KINDS)
def test_leaving_a_fault_out_changes_no_other(kind: str) -> None:
    rates = replace(LOUD, drift_ppm=0.0)
    one, other = add_faults(evening(8), "y", rates), add_faults(evening(8), "y", rates, without=frozenset({kind}))
    assert [strike for strike in one.strikes if strike.fault != kind] == other.strikes


def test_rates_grow_to_where_they_are_still_rates() -> None:
    assert Rates().times(1) == Rates()
    assert Rates().times(2).missed == 2 * Rates().missed
    loudest = Rates().times(1e9)
    for name in ("missed", "doubled", "bounce", "touch", "lost_tick"):
        assert getattr(loudest, name) == 0.5, name
    assert (loudest.jitter_us, loudest.drift_ppm) == (JITTER_US_MAX, 100)
    assert loudest.reset_per_h == Rates().reset_per_h * 1e9
    assert Rates().times(0) == Rates().only(frozenset())
    assert len(KINDS) == len(fields(Rates))
    assert {"stuck_on", "reset", "slip"} <= GROSS
    assert not {"missed", "stray", "drift"} & GROSS


def test_a_swarm_has_faults_off_and_far_up_and_is_ordinary_in_the_mean() -> None:
    rng = random.Random(1)
    drawn = [swarm(rng, Rates()) for _ in range(2_000)]
    for kind in KINDS:
        factors = Counter(round(one.of(kind) / Rates().of(kind), 6) for one in drawn)
        assert 0.25 < factors[0.0] / 2_000 < 0.45, kind
        if kind not in ("bounce", "touch", "jitter", "drift"):  # these meet their bounds
            assert set(factors) == {0, 1, 3, 10}, kind
            assert 0.85 < sum(f * n for f, n in factors.items()) / 2_000 < 1.15, kind
    assert len({tuple(one.of(kind) > 0 for kind in KINDS) for one in drawn}) > 1_500


def test_events_are_written_as_the_format_has_them() -> None:
    events: list[tuple[SimEvent, dict[str, object]]] = [
        (RotorEdge(1, 57, "cw"), {"t": 1, "kind": "rotor", "tick": 57, "direction": "cw"}),
        (BallPass(2, 3), {"t": 2, "kind": "ball", "beam": 3}),
        (Sighting(3, 0), {"t": 3, "kind": "pocket", "reader": 0}),
        (ForeignObject(4, present=False), {"t": 4, "kind": "object", "present": False}),
        (SensorState(5, "beam/2", ok=False), {"t": 5, "kind": "sensor", "sensor": "beam/2", "ok": False}),
        (TableCommand(6, "open", "chef"), {"t": 6, "kind": "command", "name": "open", "by": "chef"}),
        (TableCommand(7, "bouler", "chef", "r", "w"), {"t": 7, "kind": "command", "name": "bouler", "by": "chef",
                                                 "reason": "r", "who": "w"}),
        (ClockReading(8, 1_000, 20), {"t": 8, "kind": "clock", "utc_us": 1_000, "error_us": 20}),
        (End(9), {"t": 9, "kind": "end"}),
    ]  # fmt: skip
    header, *lines = log.lines({"kind": "wheel"}, [event for event, _ in events])
    assert json.loads(header) == {"kind": "wheel"}
    assert [json.loads(line) for line in lines] == [expected for _, expected in events]
    assert all(line.endswith(b"\n") for line in lines)


# beams


@pytest.mark.parametrize("seed", SEEDS)
def test_any_pass_may_be_missed(seed: int) -> None:
    after = with_only("missed", seed)
    seen = of(BallPass, clean(seed))
    left = of(BallPass, after.events)
    assert 0.3 < len(left) / len(seen) < 0.7, seed
    assert len(seen) - len(left) == len(after.strikes), seed
    assert after.events == [e for e in clean(seed) if not isinstance(e, BallPass) or e in left], seed


@pytest.mark.parametrize("seed", SEEDS)
def test_a_doubled_pass_is_at_its_own_beam_and_close(seed: int) -> None:
    after = with_only("doubled", seed)
    extra = added(after, seed)
    assert len(extra) > 0.3 * len(of(BallPass, clean(seed))), seed
    for event in extra:
        assert isinstance(event, BallPass), seed
        origin = range(event.t_us - 15_000, event.t_us - 499)
        assert [p for p in of(BallPass, clean(seed)) if p.beam == event.beam and p.t_us in origin], seed


@pytest.mark.parametrize("seed", SEEDS)
def test_strays_come_at_their_rate(seed: int) -> None:
    extra = added(with_only("stray", seed, replace(Rates(), stray_per_h=3_600)), seed)
    outage_s = sum(o.to_s - o.from_s for o in evening(seed).world.outages)
    assert 0.8 < len(extra) / (evening(seed).end_s - outage_s) < 1.2, seed
    assert {e.beam for e in of(BallPass, extra)} == set(range(len(evening(seed).world.layout.beams_deg))), seed


@pytest.mark.parametrize("kind", ["stuck_on", "stuck_off"])
def test_a_stuck_beam_is_silent_and_half_the_time_reports_it(kind: str) -> None:
    reported = silent = 0
    for seed in MORE_SEEDS:
        after = with_only(kind, seed)
        extra = added(after, seed)
        assert bool(of(BallPass, extra)) == (kind == "stuck_on" and bool(after.strikes)), seed
        for strike in after.strikes:
            beam = int(strike.what.split()[1]) - 1
            inside = [
                p for p in of(BallPass, after.events) if p.beam == beam and strike.from_us <= p.t_us <= strike.to_us
            ]
            assert not inside, seed
            tests = [s for s in of(SensorState, extra) if s.sensor == f"beam/{beam}" and s.t_us == strike.to_us]
            reported += strike.what.endswith("its self-test reports it")
            silent += strike.what.endswith("nothing reports it")
            assert bool(tests) == (
                strike.what.endswith("its self-test reports it") and strike.to_us < after.events[-1].t_us
            ), seed
    assert min(reported, silent) > 0.3 * (reported + silent) > 1


def test_a_chattering_beam_pulses_without_end() -> None:
    count = 0
    for seed in MORE_SEEDS:
        after = with_only("chatter", seed)
        for strike in after.strikes:
            beam = int(strike.what.split()[1]) - 1
            inside = [p.t_us for p in of(BallPass, after.events) if p.beam == beam]
            inside = [
                strike.from_us,
                *(t for t in inside if strike.from_us <= t <= strike.to_us),
                min(strike.to_us, after.events[-1].t_us),  # the evening may end first
            ]
            if not any(evening(seed).world.is_silent("link", t) for t in (strike.from_us, strike.to_us)):
                assert max(b - a for a, b in itertools.pairwise(inside)) <= 50_000, seed
                count += 1
    assert count > 3


# readers


def test_a_dead_reader_sees_nothing() -> None:
    hidden = 0
    for seed in MORE_SEEDS:
        after = with_only("dead_reader", seed)
        hidden += len(of(Sighting, gone(after, seed)))
        for strike in after.strikes:
            reader = int(strike.what.split()[1]) - 1
            inside = [s for s in of(Sighting, after.events) if strike.from_us <= s.t_us <= strike.to_us]
            assert not [s for s in inside if s.reader == reader], seed
    assert hidden > 20


def test_when_all_readers_are_dead_none_sees_anything() -> None:
    hidden = 0
    for seed in MORE_SEEDS:
        after = with_only("dead_readers", seed)
        hidden += len(of(Sighting, gone(after, seed)))
        for strike in after.strikes:
            assert not [s for s in of(Sighting, after.events) if strike.from_us <= s.t_us <= strike.to_us], seed
    assert hidden > 20


def test_a_late_sensor_reports_all_that_it_sees_by_as_much_later() -> None:
    moved = 0
    for seed in MORE_SEEDS:
        after = with_only("late_sensor", seed)
        words = [strike.what.split() for strike in after.strikes]
        late = {(f"{kind}/{int(number) - 1}", int(by)) for kind, number, _, by, *_ in words}
        for was in gone(after, seed):
            assert isinstance(was, BallPass | Sighting), seed
            sensor = f"beam/{was.beam}" if isinstance(was, BallPass) else f"reader/{was.reader}"
            possible = {msgspec.structs.replace(was, t_us=was.t_us + by) for of, by in late if of == sensor}
            assert possible & set(after.events), (seed, was)
            moved += 1
    assert moved > 20


def test_bounces_are_seen_in_falls_only() -> None:
    count = 0
    for seed in MORE_SEEDS:
        extra = added(with_only("bounce", seed), seed)
        falls = evening(seed).world.falls
        count += len(extra)
        assert all(isinstance(e, Sighting) for e in extra), seed
        assert all(any(us(fall.left_s) < e.t_us <= us(fall.rest_s) for fall in falls) for e in extra), seed
    assert count > 8


def test_a_touched_pocket_is_seen_if_it_stands_before_the_reader() -> None:
    count = 0
    for seed in MORE_SEEDS:
        world = evening(seed).world
        touches = {us(t_s): number for fall in world.falls for t_s, number in fall.touches}
        for seen in of(Sighting, added(with_only("touch", seed), seed)):
            angle = world.rotor.angle_at(seen.t_us / 1e6) - world.layout.readers_deg[seen.reader] / 360
            assert touches[seen.t_us] == POCKETS[round(-angle * 37) % 37], seed
            count += 1
    assert count > 1


# the encoder


@pytest.mark.parametrize("seed", SEEDS)
def test_edges_are_lost_at_their_rate(seed: int) -> None:
    edges = of(RotorEdge, clean(seed))
    after = with_only("lost_tick", seed)
    assert 0.4 < len(of(RotorEdge, after.events)) / len(edges) < 0.6, seed
    few = with_only("lost_tick", seed, replace(Rates(), lost_tick=0.02))
    assert 0.01 < len(few.strikes) / len(edges) < 0.03, seed
    assert {e.t_us for e in gone(few, seed)} == {strike.from_us for strike in few.strikes}, seed


@pytest.mark.parametrize("seed", SEEDS)
def test_edges_jitter_a_little(seed: int) -> None:
    edges, after = of(RotorEdge, clean(seed)), with_only("jitter", seed, Rates())
    moved = Counter(e.tick for e in edges)
    assert moved == Counter(e.tick for e in of(RotorEdge, after.events)), seed
    off_us = [
        there.t_us - here.t_us
        for here, there in zip(edges, of(RotorEdge, after.events), strict=True)
        if here.tick == there.tick
    ]
    assert max(map(abs, off_us)) <= JITTER_US_MAX, seed
    assert 50 < (sum(o * o for o in off_us) / len(off_us)) ** 0.5 < 70, seed


def test_a_slipped_encoder_is_wrong_by_as_much_until_the_scenario_ends() -> None:
    rates = replace(LOUD, slip_per_h=20.0)
    after, seed = next((a, s) for a, s in ((with_only("slip", s, rates), s) for s in MORE_SEEDS) if len(a.strikes) == 1)
    (strike,) = after.strikes
    by, ticks = int(strike.what.split()[-2]), evening(seed).world.layout.rotor_ticks
    assert 2 <= abs(by) <= 40
    assert strike.to_us in {us(mark.end_s) for mark in evening(seed).marks}
    for was, reported in zip(of(RotorEdge, clean(seed)), of(RotorEdge, after.events), strict=True):
        wrong = by if strike.from_us <= was.t_us <= strike.to_us else 0
        assert reported == RotorEdge(was.t_us, (was.tick + wrong) % ticks, was.direction)


# board, cable and clocks


@pytest.mark.parametrize(("kind", "low_us", "high_us"), [("reset", 3e5, 2e6), ("lost_frame", 2e4, 6e4)])
def test_while_the_link_is_down_only_commands_arrive(kind: str, low_us: float, high_us: float) -> None:
    count = 0
    for seed in MORE_SEEDS:
        after = with_only(kind, seed)
        downs = [(h.from_us, h.to_us) for h in after.strikes]
        links = [s for s in of(SensorState, added(after, seed)) if s.sensor == "link"]
        for start, end in downs:
            if any(a < start <= b or a <= end < b for a, b in downs):  # two at once are one
                continue
            if end >= after.events[-1].t_us:
                continue
            assert low_us <= end - start <= high_us, seed
            inside = [e for e in after.events if start < e.t_us < end]
            assert not [e for e in inside if not isinstance(e, TableCommand)], seed
            assert [s.ok for s in links if s.t_us in (start, end)] == [False, True], seed
            count += 1
        assert of(TableCommand, after.events) == of(TableCommand, clean(seed)), seed
        assert len(of(ForeignObject, after.events)) == len(of(ForeignObject, clean(seed))), seed
    assert count > 8


def test_objects_and_self_tests_are_reported_when_the_link_is_back() -> None:
    for seed in MORE_SEEDS:
        after = with_only("reset", seed, replace(LOUD, reset_per_h=2_000.0))
        assert gone(after, seed), seed
        for kind in (ForeignObject, SensorState):
            was = [e for e in of(kind, clean(seed)) if e != SensorState(e.t_us, "link", ok=False)]
            reported = {msgspec.structs.replace(e, t_us=0) for e in of(kind, after.events)}
            assert {msgspec.structs.replace(e, t_us=0) for e in was} <= reported, seed
        late = [e for e in of(ForeignObject, added(after, seed)) if e.t_us not in {h.to_us for h in after.strikes}]
        assert not late, seed


def test_a_silent_link_carries_no_faults() -> None:
    for seed in SEEDS:
        outage = next(o for o in evening(seed).world.outages if o.sensor == "link")
        for kind in ("stray", "chatter", "bounce", "reset", "lost_frame"):
            extra = added(with_only(kind, seed, LOUD.times(10)), seed)
            assert not [e for e in extra if us(outage.from_s) < e.t_us < us(outage.to_s)], (seed, kind)


def test_a_repeated_frame_stands_twice() -> None:
    after, seed = next((a, s) for a, s in ((with_only("repeated_frame", s), s) for s in MORE_SEEDS) if a.strikes)
    windows = [(strike.from_us, strike.to_us) for strike in after.strikes]
    twice = [
        e for e in clean(seed) if any(a <= e.t_us <= b for a, b in windows) and not isinstance(e, TableCommand | End)
    ]
    assert twice
    assert set(added(after, seed)) == set(twice)


def test_in_a_late_frame_each_sensor_keeps_its_order_and_others_may_not() -> None:
    mixed = 0
    for luck in range(6):
        after = add_faults(
            evening(8), f"late {luck}", replace(LOUD, late_frame_per_h=1_000.0).only(frozenset({"late_frame"}))
        )
        for sensor in {_sensor(event) for event in clean(8)}:
            was = [e for e in clean(8) if _sensor(e) == sensor]
            reported = [e for e in after.events if _sensor(e) == sensor]
            assert [msgspec.structs.replace(e, t_us=0) for e in reported] == [
                msgspec.structs.replace(e, t_us=0) for e in was
            ], (luck, sensor)
        for event in added(after, 8):
            assert any(strike.from_us <= event.t_us <= strike.to_us for strike in after.strikes), luck
        mixed += [_sensor(e) for e in after.events] != [_sensor(e) for e in clean(8)]
    assert mixed


def _sensor(event: SimEvent) -> tuple[object, ...]:
    return type(event), getattr(event, "beam", None), getattr(event, "reader", None)


def test_a_clock_that_drifts_dates_everything_and_the_truth_with_it() -> None:
    after = with_only("drift", 8)
    assert 0 < abs(after.scale - 1) <= 1e-4
    for was, reported in zip(clean(8), after.events, strict=True):
        assert reported == msgspec.structs.replace(was, t_us=round(was.t_us * after.scale))
    for outcome, dated in zip(evening(8).truth, after.truth, strict=True):
        assert outcome["kind"] == dated["kind"]
        if outcome["kind"] == "void":
            assert dated["evidence_t"] == round(outcome["evidence_t"] * after.scale)
            assert 0 <= dated["deadline_t"] - outcome["deadline_t"] * after.scale < 1
        else:
            assert dated["out_t"] == round(outcome["out_t"] * after.scale)
            assert 0 <= dated["closed_t"] - outcome["closed_t"] * after.scale < 1


def test_a_stray_in_the_fall_is_in_the_truth_where_something_happens_before_the_proof() -> None:
    found = 0
    for seed in SEEDS:
        rates = replace(Rates(), stray_per_h=3_600).only(frozenset({"stray"}))
        after = add_faults(script(["suspend_at_rest", "launched_again_at_rest", "valid"], seed), f"stray {seed}", rates)
        strays = [strike.from_us for strike in after.strikes]
        for outcome in after.truth:
            before = [t_us for t_us in strays if 0 < outcome.get("out_t", 0) - t_us < 2_000_000]
            told = max(before, default=None) if "disturbed" in outcome else None
            assert outcome.get("stray_t") == told, (seed, outcome)
            found += told is not None
    assert found


def test_a_step_of_utc_is_recorded_and_changes_nothing_else() -> None:
    after = with_only("clock_step", 8, replace(Rates(), clock_step_per_h=60.0))
    assert [e for e in after.events if not isinstance(e, ClockReading)] == clean(8)
    first, *others = of(ClockReading, after.events)
    assert (first.t_us, first.utc_us) == (0, 1_795_197_600_000_000)
    assert len(others) == len(after.strikes) > 0
    for a, b in itertools.pairwise([first, *others]):
        assert 200_000 <= abs((b.utc_us - b.t_us) - (a.utc_us - a.t_us)) <= 3_600_000_000


# the command


def recorded(out: Path, *options: str) -> tuple[bytes, list[dict[str, object]]]:
    assert (
        main(["record", "--out", str(out), "--scenario", "valid", "chef_void", "valid", "--seed", "8", *options]) == 0
    )
    truth = json.loads(out.with_suffix(".truth.json").read_text())
    seen = ("evidence_t", "deadline_t", "out_t", "closed_t", "down_t", "readers_dead", "stray_t")
    return out.read_bytes(), [{key: outcome[key] for key in outcome if key not in seen} for outcome in truth]


def test_record_can_be_noisy(tmp_path: Path) -> None:
    clean_log, truth = recorded(tmp_path / "clean.jsonl")
    noisy_log, noisy_truth = recorded(tmp_path / "noisy.jsonl", "--noise")
    faulty_log, faulty_truth = recorded(tmp_path / "faulty.jsonl", "--faults", "1e5")
    assert truth == noisy_truth == faulty_truth
    assert len({clean_log, noisy_log, faulty_log}) == 3
    assert b'"link"' not in noisy_log
    assert b'"link"' in faulty_log
