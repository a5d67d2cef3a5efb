"""The report of a campaign that nobody played."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from hw_sim.campaign.black_box import HeardMessage
from hw_sim.campaign.comparison import ComparedSpan, Comparison, MarkSpan, compare
from hw_sim.campaign.evening_run import CampaignPlan, EveningRun
from hw_sim.campaign.explain import Explanation
from hw_sim.campaign.page import page
from hw_sim.campaign.plots import plots
from hw_sim.campaign.report import report
from hw_sim.campaign.rows import EarlyWarning, IdleSuspension, VerdictRow, early_warnings, idle_suspensions, rows
from hw_sim.campaign.slices import Slice
from hw_sim.evening import campaign_evening
from hw_sim.events import SensorState
from hw_sim.faults import FaultyEvening, Strike
from hw_sim.table import Outcome
from hw_sim.wheel import WheelLayout
from hw_sim.world import World
from tests.hw_sim_campaign.messages import came_out, notice, result, void, was_void

PLAN = CampaignPlan("s", 1.0)
WALL_S = 10.0
BY_STRAY = Explanation(("stray",), together=False, alone=True, strikes=("1.000 s stray: beam 0",))
BY_ALL = Explanation(("stray", "missed"), together=True, alone=True, strikes=())
BY_NONE = Explanation((), together=False, alone=True, strikes=())


def _row(kind: str = "right", truth: str = "result", verdict: str = "result", **more: object) -> VerdictRow:
    blank = dict.fromkeys(VerdictRow.__slots__)
    return VerdictRow(**{**blank, "coup": "s/0/1", "scenario": "x", "kind": kind, "truth": truth, "verdict": verdict,
                  "beams": 2, **more})  # type: ignore[arg-type]  # fmt: skip


def _evening_run(
    *some: VerdictRow,
    explained: Explanation = BY_STRAY,
    warnings: tuple[EarlyWarning, ...] = (),
    idle: tuple[IdleSuspension, ...] = (),
    **more: object,
) -> EveningRun:
    blank = {"refused": False, "failed": None, "simulator_s": 6.0, "black_box_s": 12.0}
    causes = {row.coup: explained for row in some}
    return EveningRun(0, some, warnings, idle, causes, **{**blank, **more})  # type: ignore[arg-type]


def _failures(
    *some: VerdictRow, explained: Explanation = BY_STRAY, share: float = 1e-4, failed: str | None = None
) -> list[str]:
    failures: list[str] = report(PLAN, 1, [_evening_run(*some, explained=explained, failed=failed)], WALL_S, share)[
        "failures"
    ]
    return failures


def test_a_campaign_without_a_wrong_verdict_passes() -> None:
    assert _failures(_row(), _row("unproven", verdict="too_few_laps"), _row(truth="chef", verdict="chef")) == []


@pytest.mark.parametrize("kind", ["wrong_number", "false_valid", "void_after_number"])
def test_one_verdict_that_costs_somebody_money_fails_whatever_explains_it(kind: str) -> None:
    (failure,) = _failures(_row(), _row(kind))
    assert kind in failure


@pytest.mark.parametrize("kind", ["false_void", "wrong_cause", "late", "missed", "extra_void", "premature", "stranded"])
def test_other_disagreements_fail_only_when_nothing_explains_them(kind: str) -> None:
    assert _failures(_row(), _row(kind)) == []
    assert _failures(_row(), _row(kind), explained=BY_ALL) == []
    assert _failures(_row(), _row(kind), explained=BY_NONE) == ["1 disagreements that no fault explains"]


@pytest.mark.parametrize(("kind", "failures"), [("false_void", 0), ("missed", 1), ("wrong_cause", 1)])
def test_a_scenario_that_makes_a_stray_of_its_own_explains_a_void_and_nothing_else(kind: str, failures: int) -> None:
    assert len(_failures(_row(), _row(kind, scenario="stray_pulse"), explained=BY_NONE)) == failures
    assert len(_failures(_row(), _row(kind, scenario="valid"), explained=BY_NONE)) == 1


def test_more_than_two_numbers_that_await_the_chef_fail_an_ordinary_campaign_only() -> None:
    two = [_evening_run(*(_row("asked", verdict="nothing") for _ in range(2)))]
    three = [_evening_run(*(_row("asked", verdict="nothing") for _ in range(3)))]
    assert report(PLAN, 1, two, WALL_S, 1e-4)["failures"] == []
    asked = "in 3 of 3 valid coups the chef must confirm the number"
    assert report(PLAN, 1, three, WALL_S, 1e-4)["failures"] == [asked]
    for hard in (replace(PLAN, faults=10), replace(PLAN, margin=True)):
        assert report(hard, 1, three, WALL_S, 1e-4)["failures"] == []


def test_an_idle_suspension_is_counted_and_more_than_one_in_a_hundred_thousand_coups_fail() -> None:
    one = IdleSuspension("s/0/1", 7_000_000, ("rotor",))
    for count, failures in ((0, 0), (1, 0), (2, 1)):
        found = report(PLAN, 1, [_evening_run(_row(), idle=(one,) * count)], WALL_S, 1e-4)
        assert found["idle_suspensions"]["count"] == count
        assert len(found["failures"]) == failures
    assert found["idle_suspensions"]["all"][0]["replay"] == "hw-sim coup s/0/1"
    assert "Idle suspensions: 2." in page(found, [])
    assert report(replace(PLAN, faults=10), 1, [_evening_run(_row(), idle=(one,) * 2)], WALL_S, 1e-4)["failures"] == []


def test_false_voids_fail_when_they_are_more_than_allowed() -> None:
    voids = [_row("false_void", verdict="breakdown")] * 3
    assert _failures(*voids[:2]) == [], "two may be luck in a short campaign"
    assert _failures(*voids) == ["3 false voids of 3 valid coups, more than one in 10,000"]
    assert _failures(*voids, *[_row()] * 27, share=0.1) == []
    assert _failures(*voids, *[_row()] * 26, share=0.1) != []


def test_an_evening_that_ended_by_an_error_fails() -> None:
    assert _failures(_row(), failed="exit code 70") == ["1 evenings ended by an error"]


def test_a_campaign_that_compared_nothing_fails() -> None:
    assert _failures() == ["nothing was compared"]


def test_the_matrix_counts_a_wrong_number_apart_from_the_number() -> None:
    some = [
        _row(),
        _row(),
        _row("wrong_number"),
        _row("missed", verdict="nothing"),
        _row(truth="chef", verdict="chef"),
    ]
    found = report(PLAN, 1, [_evening_run(*some)], WALL_S, 1e-4)
    assert found["confusion"] == {
        "result": {"result": 2, "another number": 1, "nothing": 1},
        "chef": {"chef": 1},
    }


def test_delays_are_reported_by_cause_against_their_deadlines() -> None:
    delays = [_row(truth="chef", verdict="chef", delay_us=ms * 1000, allowed_us=50_000) for ms in (1, 2, 60)]
    found = report(PLAN, 1, [_evening_run(*delays)], WALL_S, 1e-4)["void_delay_ms"]
    assert found == {
        "chef": {"voids": 3, "median": 2.0, "p99": 60.0, "most": 60.0, "least_before_deadline": -10.0, "late": 0}
    }


def test_margins_are_counted_in_tenths_and_the_lowest_are_named() -> None:
    some = [_row(margin=value, margin_of="laps", coup=f"s/0/{value}") for value in (0.0, 0.05, 0.95, 1.0)] + [_row()]
    found = report(PLAN, 1, [_evening_run(*some)], WALL_S, 1e-4)["margin"]
    assert found["tenths"] == [2, 0, 0, 0, 0, 0, 0, 0, 0, 2]
    assert (found["known"], found["of"]) == (4, {"laps": 4})
    assert [low["coup"] for low in found["lowest"]] == ["s/0/0.0", "s/0/0.05", "s/0/0.95", "s/0/1.0"]


def test_laps_seen_are_compared_with_laps_run_by_beams() -> None:
    some = [
        _row(laps_run=8.0, laps_seen=7.5),
        _row(laps_run=6.0, laps_seen=6.5),
        _row(laps_run=5, laps_seen=5, beams=3),
    ]
    found = report(PLAN, 1, [_evening_run(*some)], WALL_S, 1e-4)["laps"]
    assert found["2"] == {"coups": 2, "unseen_mean": 0.0, "unseen_most": 0.5, "overstated": 1}
    assert found["3"]["coups"] == 1


def test_the_share_that_cannot_be_proven_is_of_three_to_three_point_three_laps() -> None:
    some = [_row(laps_run=3.0), _row("unproven", laps_run=3.29), _row("unproven", laps_run=3.3), _row(laps_run=2.99)]
    found = report(PLAN, 1, [_evening_run(*some)], WALL_S, 1e-4)["unproven"]
    assert found == {"2": {"ran": 2, "unproven": 1, "share": 0.5}}


def test_what_limited_it_follows_from_the_processor_seconds() -> None:
    found = report(PLAN, 1, [_evening_run(_row())], WALL_S, 1e-4)["timing"]
    assert found["limited_by"].startswith("wheeld: 6.0 s of processor in the simulator, 12.0 s in wheeld, 1.80 cores")
    assert found["coups_per_s"] == 0.1


def test_a_disagreement_names_what_plays_it_again() -> None:
    plan = CampaignPlan("a/b", 10.0, margin=True)
    evening_run = _evening_run(_row("false_void", verdict="breakdown", coup="a/b/3/7", number=4))
    (disagreement,) = report(plan, 1, [evening_run], WALL_S, 1e-4)["disagreements"]
    assert disagreement["replay"] == "hw-sim coup a/b/3/7 --faults 10 --margin"
    assert (disagreement["truth"], disagreement["told"], disagreement["causes"]) == ("result 4", "breakdown", ["stray"])


def _compared(outcome: Outcome, *verdict: HeardMessage) -> ComparedSpan:
    verdicts = [each for each in verdict if each.topic != "notice"]
    notices = tuple(each for each in verdict if each.topic == "notice")
    return ComparedSpan(MarkSpan(4, 0, (outcome,)), compare([outcome], verdicts), notices)


def _warnings_of(outcome: Outcome, *verdict: HeardMessage) -> list[EarlyWarning]:
    layout = WheelLayout("campione", "roulette", 37, (0.0, 90.0), (0.0,))
    return list(early_warnings("s/0", _compared(outcome, *verdict), World(layout, None), 1.0))  # type: ignore[arg-type]


def test_a_row_has_the_truth_and_the_verdict() -> None:
    (row,) = rows("s/0", _compared(was_void("chef"), void("chef", 11_000_000, margin=0.25, margin_of="time")), 2)
    assert (row.coup, row.truth, row.verdict, row.kind) == ("s/0/4", "chef", "chef", "right")
    assert (row.delay_us, row.allowed_us, row.margin, row.margin_of) == (1_000_000, 2_000_000, 0.25, "time")
    (row,) = rows("s/0", _compared(came_out(17), result(25)), 2)
    assert (row.number, row.verdict_number, row.laps_run, row.laps_seen, row.delay_us) == (17, 25, 8.0, 7.5, None)


def test_a_stranded_table_has_a_row_of_nothing() -> None:
    compared = ComparedSpan(MarkSpan(4, 0, ()), (Comparison("stranded", None, None),), ())
    (row,) = rows("s/0", compared, 2)
    assert (row.kind, row.truth, row.verdict) == ("stranded", "nothing", "nothing")


def test_a_void_foreseen_counts_from_its_first_warning() -> None:
    warning, again = notice("void_foreseen", 7_000_000), notice("void_foreseen", 8_000_000)
    (found,) = _warnings_of(was_void("too_few_laps"), warning, again, void("too_few_laps"))
    assert found == EarlyWarning("s/0/4", "foreseen", 3_000_000, 4_000_000)


def test_warnings_of_what_did_not_come() -> None:
    warning = notice("void_foreseen", 7_000_000)
    assert [each.of for each in _warnings_of(came_out(17), warning, result(17))] == ["false"]
    assert [each.of for each in _warnings_of(was_void("chef"), warning, void("chef"))] == ["moot"]
    assert [each.of for each in _warnings_of(was_void("too_few_laps"), void("too_few_laps"))] == ["unforeseen"]
    assert _warnings_of(came_out(17), result(17)) == []
    other = notice("void_foreseen", 7_000_000, coup=2)
    assert _warnings_of(came_out(17), other, result(17)) == []


def _whole() -> tuple[list[VerdictRow], tuple[EarlyWarning, ...]]:
    some = [
        _row(laps_run=8.0, laps_seen=7.5, margin=0.5, margin_of="laps"),
        _row("unproven", verdict="too_few_laps", laps_run=3.1),
        _row("false_void", verdict="<breakdown>"),
        _row(truth="chef", verdict="chef", delay_us=3_000, allowed_us=50_000),
    ]
    return some, (EarlyWarning("s/0/1", "foreseen", 10, 20), EarlyWarning("s/0/1", "leaving", 30, None, -40))


def test_the_page_is_well_formed_whole_and_the_same_each_time() -> None:
    some, warnings = _whole()
    found = report(PLAN, 1, [_evening_run(*some, warnings=warnings)], WALL_S, 1e-4)
    text = page(found, plots(some, warnings, found))
    assert text == page(found, plots(some, warnings, found))
    tree = ET.fromstring(text)
    assert len(tree.findall(".//{http://www.w3.org/2000/svg}svg")) == 7
    ids = [element.get("id") for element in tree.iter() if element.get("id") and "}g" not in element.tag]
    assert len(ids) == len(set(ids)), "two pictures share a definition"
    assert "http" not in text.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons.org", ""
    ).replace("https://matplotlib.org", "")
    assert "&lt;breakdown&gt;" in text


def test_the_json_has_nothing_that_json_has_not() -> None:
    some, warnings = _whole()
    found = report(PLAN, 1, [_evening_run(*some, warnings=warnings)], WALL_S, 1e-4)
    assert json.loads(json.dumps(found, allow_nan=False)) == found


@pytest.mark.parametrize(("at_us", "idle"), [(5_000_000, 1), (12_000_000, 0), (16_000_000, 1), (31_000_000, 0)])
def test_an_idle_suspension_is_explained_by_a_gross_fault_or_the_scenarios_own(at_us: int, idle: int) -> None:
    evening = campaign_evening("idle", 1)
    evening.world.direct_events.append(SensorState(30_000_000, "rotor", ok=False))
    strikes = [Strike("slip", 10_000_000, 12_000_000, ""), Strike("jitter", 0, 99_000_000, "")]
    part = Slice(evening, FaultyEvening([], strikes, [], 1.0), 0, 0)
    message = HeardMessage(at_us, "table", {"state": "suspended", "failing": ["rotor"]})
    compared = ComparedSpan(MarkSpan(3, 0, ()), (), (), (message,))
    assert len(list(idle_suspensions("s/0", compared, part))) == idle
    assert not list(idle_suspensions("s/0", replace(compared, suspensions=()), part))
