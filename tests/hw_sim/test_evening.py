"""Evenings: the same seed gives the same bytes, and the log itself proves the truth."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from functools import cache

import pytest

from hw_sim import table as table_module
from hw_sim.configuration import OUTAGE_S
from hw_sim.evening import (
    AMERICAN,
    Evening,
    Mark,
    campaign_evening,
    draw_evening,
    drawable,
    script,
)
from hw_sim.events import End, SensorState, TableCommand
from hw_sim.exits import UsageError
from hw_sim.log import lines
from hw_sim.scenarios import SCENARIOS
from hw_sim.scenarios.unseen import BLIND_COUPS
from hw_sim.table import Outcome, SimTable, laps_safe
from hw_sim.wheel import HOUSES, Track, WheelLayout
from hw_sim.world import us
from tests.hw_sim.log_reader import Log

CASES = [(name, seed) for name in SCENARIOS for seed in range(4)]
SEEDS = range(8)
NOT_BY_PASSES = ("lap_margin", "beam_spared", "beam_blind", "launched_again_at_rest")
"""A beam that fails or is blind reports nothing; a ball that is launched again passes once more."""


@cache
def played(name: str, seed: int) -> tuple[Evening, Log]:
    evening = script([name], seed)
    return evening, Log(lines(evening.header, evening.events()))


@cache
def drawn(seed: int) -> tuple[Evening, Log]:
    evening = draw_evening(seed)
    return evening, Log(lines(evening.header, evening.events()))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_seed_always_gives_the_same_bytes(seed: int) -> None:
    first, second = (draw_evening(seed) for _ in range(2))
    assert list(lines(first.header, first.events())) == list(lines(second.header, second.events())), seed
    assert first.truth == second.truth, seed


@pytest.mark.parametrize("name", ["breakdown_idle", "breakdown_link", "link_cut_at_launch"])
def test_the_link_is_away_for_longer_than_the_silence_that_a_host_is_told_to_notice(name: str) -> None:
    """Unnoticed, the edges that the simulator drops meanwhile look as if the encoder had slipped."""
    for seed in range(40):
        told = [e for e in script([name], seed).events() if isinstance(e, SensorState) and e.sensor == "link"]
        away_us = [back.t_us - lost.t_us for lost, back in itertools.pairwise(told) if back.ok]
        assert away_us, seed
        assert min(away_us) > 1e6 * OUTAGE_S, seed


def test_seeds_differ() -> None:
    assert len({str(draw_evening(seed).truth) for seed in SEEDS}) == len(SEEDS)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_log_is_in_order_and_ends(seed: int) -> None:
    evening, log = drawn(seed)
    times = [line["t"] for line in log.lines]
    assert times == sorted(times), seed
    assert times[0] >= 0, seed
    assert isinstance(list(evening.events())[-1], End), seed
    assert log.of("command")[0]["name"] == "open", seed


def test_drawn_evenings_show_every_house_and_every_kind_of_layout() -> None:
    headers = [draw_evening(seed).header for seed in range(40)]
    assert {(h["house"], h["game"]) for h in headers} == {
        ("campione", "roulette"),
        ("campione", "fair"),
        ("venezia", "roulette-francese"),
        ("venezia", "fair"),
    }
    assert {len(h["beams_deg"]) for h in headers} == {2, 3, 4, 6, 8}
    assert {len(h["readers_deg"]) for h in headers} == {1, 2, 3}
    assert {h["rotor_ticks"] for h in headers} == {37, 74, 148, 296, 592}
    assert all(("rotor_direction" in h) == (h["wheel"] == "fair") == (h["game"] == "fair") for h in headers)
    assert any(h["last_number"] is None for h in headers)


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_the_last_sightings_show_the_pocket_that_the_truth_leaves(name: str, seed: int) -> None:
    """After a result its number, after a void the number before: three sightings at least, all in that pocket."""
    evening, log = played(name, seed)
    results = [o["number"] for o in evening.truth if o["kind"] == "result"]
    expected = results[-1] if results else evening.header["last_number"]
    seen = [log.pocket(line)[0] for line in log.of("pocket")]
    assert seen[-3:] == [expected] * 3, (name, seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_sighting_is_at_a_pocket(seed: int) -> None:
    """Where the rotor turns evenly, the interpolated place is the centre of a pocket to a hundredth."""
    _, log = drawn(seed)
    off = sorted(log.pocket(line)[1] for line in log.of("pocket"))
    assert off[int(len(off) * 0.9)] < 0.01, seed


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_results_have_their_laps_in_the_passes(name: str, seed: int) -> None:
    """The passes of the number's run, counted in the log, prove at least three laps and differ from the truth by
    less than one."""
    evening, log = played(name, seed)
    beams = len(evening.header["beams_deg"])
    last = evening.truth[-1]
    if last["kind"] != "result" or name in NOT_BY_PASSES:
        return
    # The passes after the last long silence of the beams.
    passes = log.of("ball")
    gaps = [i for i, (a, b) in enumerate(itertools.pairwise(passes)) if b["t"] - a["t"] > 4_000_000]
    run = passes[gaps[-1] + 1 :] if gaps else passes
    strays = 1 if name == "stray_pulse" else 0
    assert abs((len(run) - strays) / beams - last["laps"]) < 1, (name, seed)
    counts = [sum(line["beam"] == beam for line in run) for beam in range(beams)]
    assert min(counts) >= 4, (name, seed)


@pytest.mark.parametrize(("name", "against"), [("valid", True), ("same_direction", False)])
@pytest.mark.parametrize("seed", range(20))
def test_the_ball_runs_against_the_rotor_or_with_it(name: str, seed: int, *, against: bool) -> None:
    _, log = played(name, seed)
    beams = len(log.header["beams_deg"])
    run = log.of("ball")
    if beams == 2:  # the shorter way between the two beams is the shorter time
        t_0 = next(i for i in range(len(run)) if run[i]["beam"] == 0 and i + 2 < len(run))
        clockwise = run[t_0 + 1]["t"] - run[t_0]["t"] < run[t_0 + 2]["t"] - run[t_0 + 1]["t"]
    else:
        clockwise = (run[1]["beam"] - run[0]["beam"]) % beams == 1
    rotor = [line for line in log.rotor if line["t"] < run[0]["t"]][-1]
    assert ((rotor["direction"] == "cw") != clockwise) == against, seed


def _evidence(log: Log, cause: str, scenario: str) -> list[int]:
    """The moments in the log at which such a void can have its evidence."""
    if scenario == "disc_slips_running":
        return log.times("rotor")
    if cause == "breakdown":
        by_people = log.times("command", name="suspend") + log.times("command", name="close")
        return log.times("sensor", ok=False) + by_people
    if cause.startswith("rotor_stopped") and scenario != "rotor_stopped_at_launch":
        return log.times("rotor")
    return {
        "chef": log.times("command", name="rien_va"),
        "foreign_object": log.times("object", present=True),
    }.get(cause, log.times("ball"))


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_voids_have_their_evidence_in_the_log(name: str, seed: int) -> None:
    evening, log = played(name, seed)
    for outcome in evening.truth:
        if outcome["kind"] == "void":
            assert 0 < outcome["evidence_t"] < outcome["deadline_t"] < log.lines[-1]["t"], (name, seed)
            if outcome["cause"] != "too_few_laps":
                evidence = _evidence(log, outcome["cause"], name)
                assert outcome["evidence_t"] in evidence, (name, seed, outcome)


@pytest.mark.parametrize("name", ["too_few_laps", "too_weak_one_pass", "la_derniere"])
@pytest.mark.parametrize("seed", range(25))
def test_a_weak_ball_never_makes_its_laps(name: str, seed: int) -> None:
    """No beam is passed four times; the last pass is before the ball leaves; no reader sees it before it must be
    published, unless fewer than three passes could not prove the launch."""
    evening, log = played(name, seed)
    void = next(o for o in evening.truth if o["kind"] == "void")
    run = [t for t in log.times("ball") if t <= void["evidence_t"]]
    beams = [line["beam"] for line in log.of("ball")][: len(run)]
    assert max(beams.count(beam) for beam in beams) <= 3, seed
    assert len(run) <= 2.9 * len(evening.header["beams_deg"]) + 1, seed
    seen = [t for t in log.times("pocket") if void["evidence_t"] < t <= void["deadline_t"]]
    assert len(seen) == (0 if len(run) >= 3 else 3), seed


@pytest.mark.parametrize("name", ["rotor_stops_running", "obstacle_rotor_stops"])
@pytest.mark.parametrize("seed", range(25))
def test_a_stopped_rotor_is_silent_until_its_deadline(name: str, seed: int) -> None:
    evening, log = played(name, seed)
    (void,) = evening.truth
    assert not [t for t in log.times("rotor") if void["evidence_t"] < t < void["deadline_t"]], seed
    run_on = [t for t in log.times("ball") if t > void["evidence_t"]]
    assert bool(run_on) == (name == "rotor_stops_running"), seed


@pytest.mark.parametrize("seed", range(10))
def test_the_rotor_reverses_between_the_launches_of_a_french_wheel_only(seed: int) -> None:
    evening, log = drawn(seed)
    directions = {line["direction"] for line in log.rotor}
    if evening.header["wheel"] == "fair":
        assert directions == {evening.header["rotor_direction"]}, seed
    else:
        assert directions == {"cw", "ccw"}, seed


@pytest.mark.parametrize("seed", range(10))
def test_a_silent_link_carries_nothing(seed: int) -> None:
    _, log = played("breakdown_link", seed)
    (down,), (up,) = log.times("sensor", ok=False), log.times("sensor", ok=True)
    assert not [x for x in log.lines if down < x["t"] < up and x["kind"] != "command"], seed


@pytest.mark.parametrize("seed", range(20))
def test_a_wrong_pocket_meets_a_first_tout_va(seed: int) -> None:
    evening, log = played("wrong_pocket_after_void", seed)
    refused, accepted = log.times("command", name="tout_va")
    pockets = [(line["t"], log.pocket(line)[0]) for line in log.of("pocket")]
    assert [n for t, n in pockets if t < refused][-1] != evening.header["last_number"], seed
    assert [n for t, n in pockets if t < accepted][-3:] == [evening.header["last_number"]] * 3, seed


def test_launches_near_three_laps_give_results_and_voids() -> None:
    outcomes = [o for seed in range(20) for o in script(["lap_margin"], seed).truth]
    assert {o["kind"] for o in outcomes} == {"result", "void"}
    assert all(3 <= o["laps"] <= 4 for o in outcomes if o["kind"] == "result")


@pytest.mark.parametrize("seed", range(12))
def test_marks_divide_the_evening_and_its_truth(seed: int) -> None:
    evening = draw_evening(seed) if seed < 6 else campaign_evening(str(seed), 8)
    assert [outcome for mark in evening.marks for outcome in _of(evening, mark)] == evening.truth, seed
    for before, after in itertools.pairwise(evening.marks):
        assert before.end_s == after.start_s, seed
        numbers = [outcome["number"] for outcome in _of(evening, before) if outcome["kind"] == "result"]
        assert after.last_number == (numbers[-1] if numbers else before.last_number), (seed, before)
    for mark in evening.marks:
        assert {outcome["scenario"] for outcome in _of(evening, mark)} <= {mark.scenario}, seed
        times = [t for o in _of(evening, mark) if o["kind"] == "void" for t in (o["evidence_t"], o["deadline_t"])]
        assert all(mark.start_s * 1e6 < t < mark.end_s * 1e6 for t in times), (seed, mark)
        command_times = [e.t_us for e in evening.world.direct_events if isinstance(e, TableCommand)]
        assert not [t for t in command_times if t in (us(mark.start_s), us(mark.end_s))], (seed, mark)


@pytest.mark.parametrize("seed", range(6))
def test_at_each_mark_the_ball_is_in_the_last_numbers_pocket(seed: int) -> None:
    evening = campaign_evening(f"lies {seed}", 8)
    for mark in evening.marks:
        lying = [stay.number for stay in evening.world.stays if stay.from_s <= mark.start_s < stay.to_s]
        assert lying == ([] if mark.last_number is None else [mark.last_number]), (seed, mark)


def _of(evening: Evening, mark: Mark) -> list[Outcome]:
    return evening.truth[mark.first : mark.first + mark.count]


def test_campaign_evenings_come_at_all_tables_and_play_everything() -> None:
    evenings = [campaign_evening(str(seed), 3) for seed in range(400)]
    headers = [evening.header for evening in evenings]
    beams = Counter(len(header["beams_deg"]) for header in headers)
    assert set(beams) == set(range(1, 9))
    assert 0 < beams[1] < 25
    assert {len(header["readers_deg"]) for header in headers} == {1, 2, 3}
    assert {header["rotor_ticks"] for header in headers} == {37, 38, 74, 148, 296, 592}
    assert {header["wheel"] for header in headers} == {"french", "fair"}
    houses = Counter((header["house"], header["game"]) for header in headers)
    assert set(houses) == set(HOUSES)
    assert 50 < houses[AMERICAN] < 110, "a fifth of 400"
    assert {header["min_laps"] for header in headers if header["house"] == AMERICAN[0]} == {4}
    assert any(header["last_number"] is None for header in headers)
    played = Counter(mark.scenario for evening in evenings for mark in evening.marks)
    here = {
        scenario.name
        for evening in evenings
        for scenario in drawable(evening.world.layout)
        if scenario.weight or scenario.rare or scenario.hasty
    }
    assert set(played) == here | {"first_coup_void"}
    results = sum(outcome["kind"] == "result" for evening in evenings for outcome in evening.truth)
    assert results > 0.5 * sum(len(evening.truth) for evening in evenings)
    longest = max(BLIND_COUPS)
    assert all(3 <= len(evening.truth) < 3 + longest for evening in evenings)


def test_patient_people_press_once_and_hasty_ones_twice_early_and_late() -> None:
    def evening_of(people: float) -> Evening:
        return campaign_evening("people", 60, people=people)

    def doubled(evening: Evening) -> int:
        presses = [(e.name, e.t_us) for e in evening.events() if isinstance(e, TableCommand)]
        return sum(a == b and 0 < after - before < 600_001 for (a, before), (b, after) in itertools.pairwise(presses))

    calm, hasty = evening_of(0), evening_of(10)
    assert not [mark for mark in calm.marks if SCENARIOS[mark.scenario].hasty]
    assert sum(SCENARIOS[mark.scenario].hasty > 0 for mark in hasty.marks) > 0.5 * len(hasty.marks)
    assert doubled(hasty) > 10 > doubled(calm)


@pytest.mark.parametrize("seed", range(6))
def test_the_number_is_out_at_the_first_sighting_of_the_ball_at_rest(seed: int) -> None:
    for name in ("valid", "operations_done_before_proof", "ball_lifted_at_rest"):
        evening, log = played(name, seed)
        for outcome in evening.truth:
            if outcome["kind"] == "result":
                assert outcome["out_t"] in log.times("pocket"), (name, seed)
                seen = [log.pocket(line)[0] for line in log.of("pocket") if line["t"] == outcome["out_t"]]
                assert seen == [outcome["number"]], (name, seed)


@pytest.mark.parametrize("seed", range(8))
def test_a_chef_confirms_the_coup_at_hand(seed: int) -> None:
    evening = campaign_evening(f"confirmed {seed}", 40, people=5)
    for command in evening.events():
        if isinstance(command, TableCommand) and command.coup is not None:
            decided = [mark for mark in evening.marks if us(mark.start_s) <= command.t_us]
            assert 0 <= command.coup - decided[-1].first - 1 <= decided[-1].count, (seed, command)


def test_a_campaign_evening_is_repeatable_and_loses_no_time() -> None:
    first, second = (campaign_evening("a", 10) for _ in range(2))
    assert list(first.events()) == list(second.events())
    assert list(first.events()) != list(campaign_evening("b", 10).events())
    seconds = [campaign_evening(str(seed), 10).end_s / 10 for seed in range(20)]
    assert sum(seconds) / 20 < 45


def test_a_campaign_of_margins_launches_nothing_else() -> None:
    evening = campaign_evening("c", 30, margin=True)
    assert {mark.scenario for mark in evening.marks} == {"lap_margin"}
    assert {outcome["kind"] for outcome in evening.truth} == {"result", "void"}


def test_names_are_checked() -> None:
    with pytest.raises(UsageError, match="did you mean 'valid'"):
        script(["valld"])
    with pytest.raises(UsageError, match=r"no scenario is called 'qqq' \("):
        script(["qqq"])
    with pytest.raises(UsageError, match="name it first"):
        script(["valid", "first_coup_void"])
    assert script(["first_coup_void", "valid"]).header["last_number"] is None


@pytest.mark.parametrize("seed", range(20))
def test_a_reversal_needs_a_french_wheel(seed: int) -> None:
    assert script(["valid", "rotor_reverses_running"], seed).header["wheel"] == "french", seed


def test_each_scenario_has_a_description() -> None:
    assert all(s.about.endswith(".") and len(s.about) < 120 for s in SCENARIOS.values())


@pytest.mark.parametrize("seed", range(25))
def test_same_direction_has_its_deadline_at_the_pass_that_ends_the_first_lap(seed: int) -> None:
    evening, log = played("same_direction", seed)
    (void,) = evening.truth
    passes = log.times("ball")
    assert void["evidence_t"] == passes[0], seed
    assert abs(void["deadline_t"] - passes[len(evening.header["beams_deg"])]) <= 1, seed


def test_a_valid_coup_has_laps_to_prove() -> None:
    for seed in range(150):
        evening = draw_evening(seed)
        safe = laps_safe(evening.header["beams_deg"])
        sure = [o for o in evening.truth if o["kind"] == "result" and o["scenario"] != "lap_margin"]
        weak = [o for o in sure if o["laps"] < round(safe, 2)]
        assert not weak, (seed, weak)


@pytest.mark.parametrize("bouler", [(0.6, 0.9), (1.3, 2.6), (3.0, 4.0)])
@pytest.mark.parametrize("track", [Track(0.07, 0.12, 0.5, 0.0, 0.0), Track(0.010, 0.035, 0.43, 0.0, 0.0)])
def test_a_good_push_suits_the_track(
    bouler: tuple[float, float], track: Track, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_module, "LAUNCH_REV_S", bouler)
    layout = WheelLayout("campione", "roulette", 37, (0.0, 90.0), (0.0,))
    table = SimTable(layout, random.Random(1), 0)
    table.track = track
    for seconds in (0.0, 6.0):
        runs = [table.launch(seconds=seconds) for _ in range(60)]
        assert all(5.25 < run.laps <= 24 for run in runs)
        assert all(run.end_s - run.t_s >= seconds for run in runs)


def test_the_rotor_turns_until_the_ball_was_seen_as_often_as_asked() -> None:
    """A rotor that was fast once, and is nearly too slow for a table, would stop before."""
    table = SimTable(WheelLayout("campione", "roulette", 37, (0.0, 90.0), (0.0,)), random.Random(1), 0)
    table.now_s = table.world.rotor.order(table.now_s, 0.4, 0.2)
    while table.world.rotor.speed_at(table.now_s + 1) > table_module.ROTOR_LEAST_REV_S:
        table.now_s += 1
    since_s = table.now_s
    table.put_ball_in(0)
    table.wait_for_sightings(4)
    assert len(table.world.sightings(table.world.stays[-1], since_s, table.now_s + 0.001)) >= 4


def test_no_push_is_harder_than_a_hands() -> None:
    """Nor for ever without a run, on a track where no ball runs as long as asked."""
    layout = WheelLayout("campione", "roulette", 37, (0.0, 90.0), (0.0,))
    table = SimTable(layout, random.Random(1), 0)
    table.track = Track(0.07, 0.12, 0.5, 0.0, 0.0)
    speeds_rev_s = [table.launch(seconds=30).speed_rev_s for _ in range(60)]
    assert max(speeds_rev_s) <= table_module.HARDEST_REV_S
    assert min(speeds_rev_s) > table_module.LAUNCH_REV_S[1]
