"""Small campaigns against the real program, and against stand-ins with defects."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from hw_sim.campaign import command, coup_command, pictures
from hw_sim.campaign.black_box import HeardMessage, find, replay
from hw_sim.campaign.comparison import SpanComparer
from hw_sim.campaign.evening_run import CampaignPlan, EveningRun, run_evening, run_evenings
from hw_sim.campaign.explain import Disagreement, Explanation, explain
from hw_sim.campaign.report import report
from hw_sim.campaign.slices import Slice
from hw_sim.cli import main
from hw_sim.evening import script
from hw_sim.events import BallPass, ClockReading, TableCommand
from hw_sim.faults import FaultyEvening, Strike
from hw_sim.world import T_US
from tests.hw_sim_campaign.stand_in import falsifier, stand_in, voider

PLAN = CampaignPlan("middle", evening_coups=14)
MIDDLE = 4
"""A mark with others before and after it."""


def _part(plan: CampaignPlan, index: int = 0) -> Slice:
    evening_run = plan.evening(index)
    return Slice(evening_run, plan.faulty(evening_run, index), 0, len(evening_run.marks) - 1)


@cache
def _some_result() -> tuple[int, int]:
    """(mark, time in µs) of a right result in the middle of the first evening."""
    part = _part(PLAN)
    messages: list[HeardMessage] = []

    def receive(each: HeardMessage) -> bool:
        messages.append(each)
        return True

    replay(find(), part.lines(), receive)
    for span, after in zip(part.spans()[MIDDLE:], part.spans()[MIDDLE + 1 :], strict=False):
        results = [t for t in messages if t.topic == "result" and span.start_us <= t.t < after.start_us]
        if len(results) == 1 and [outcome.get("number") for outcome in span.outcomes] == [results[0].payload["number"]]:
            return span.index, results[0].t
    raise AssertionError("no result in the middle of the evening")


def _report(plan: CampaignPlan, *played: EveningRun) -> dict[str, Any]:
    return report(plan, 1, played, 1.0, 1e-4)


def test_a_campaign_from_end_to_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "CampaignPlan", partial(CampaignPlan, evening_coups=50))
    code = main(["campaign", "--coups", "100", "--seed", "end to end", "--jobs", "2", "--out", str(tmp_path / "out")])
    found = json.loads((tmp_path / "out" / "report.json").read_text())
    assert 100 <= found["coups"] < 110, "two whole evenings"
    assert found["counts"]["right"] >= 0.9 * found["coups"]
    assert found["counts"]["false_valid"] == found["counts"]["wrong_number"] == 0
    assert len(found["void_delay_ms"]) >= 6, "an evening has nearly every cause"
    assert code == (1 if found["failures"] else 0)
    ET.fromstring((tmp_path / "out" / "report.html").read_text())
    written = capsys.readouterr()
    assert "seed end to end, faults × 1: " in written.out
    assert ("passed" if not found["failures"] else "FAILED") in written.out


def test_a_wrong_number_is_found_with_its_coup_and_nothing_explains_it(tmp_path: Path) -> None:
    mark, t_us = _some_result()
    honest = {row.coup for row in run_evening(PLAN, 0, find()).rows if row.kind != "right"}
    falsified = run_evening(PLAN, 0, falsifier(tmp_path, t_us))
    found = _report(PLAN, falsified)
    (wrong,) = (each for each in found["disagreements"] if each["kind"] == "wrong_number")
    assert wrong["coup"] == f"{PLAN.seed}/0/{mark}"
    assert not wrong["explained"]
    assert {row.coup for row in falsified.rows if row.kind != "right"} == honest | {f"{PLAN.seed}/0/{mark}"}, (
        "the rest was compared"
    )
    assert "1 wrong numbers (wrong_number)" in found["failures"]


def test_a_void_after_the_number_is_out_is_found(tmp_path: Path) -> None:
    mark, t_us = _some_result()
    found = _report(PLAN, run_evening(PLAN, 0, voider(tmp_path, t_us)))
    assert f"{PLAN.seed}/0/{mark}" in [
        each["coup"] for each in found["disagreements"] if each["kind"] == "void_after_number"
    ]
    assert "1 voids after the number was out (void_after_number)" in found["failures"]


def test_a_coup_that_goes_wrong_only_after_others_is_played_after_them(tmp_path: Path) -> None:
    mark, t_us = _some_result()
    part = _part(PLAN)
    alone = sum(map(len, Slice(part.evening, part.faulty, mark, mark).lines()))
    assert sum(map(len, Slice(part.evening, part.faulty, 0, mark).lines())) > 2 * alone
    program = falsifier(tmp_path, t_us, when=f"len(log) > {2 * alone}")
    assert not run_evening(PLAN, 0, program).explained[f"{PLAN.seed}/0/{mark}"].alone
    played = coup_command.play(PLAN, 0, mark, program)
    assert played.part.first < mark
    assert played.compared is not None
    assert [each.kind for each in played.compared.comparisons] == ["wrong_number"]


def test_any_number_of_jobs_gives_the_same_report() -> None:
    one, two = (list(run_evenings(PLAN, 20, jobs, find())) for jobs in (1, 2))
    assert [evening_run.index for evening_run in one] == [0, 1]
    first, second = _report(PLAN, *one), _report(PLAN, *two)
    del first["timing"], second["timing"]
    assert first == second


def test_a_layout_of_one_beam_must_be_refused(tmp_path: Path) -> None:
    plan = CampaignPlan("beams", evening_coups=1)
    index = next(i for i in count() if len(plan.evening(i).header["beams_deg"]) == 1)
    evening_run = run_evening(plan, index, find())
    assert evening_run.refused
    assert (evening_run.failed, evening_run.rows) == (None, ())
    evening_run = run_evening(plan, index, stand_in(tmp_path, "sys.stdin.read()"))
    assert not evening_run.refused
    assert evening_run.failed is not None
    assert "not refused" in evening_run.failed


def test_an_evening_that_ends_by_an_error_fails(tmp_path: Path) -> None:
    evening_run = run_evening(PLAN, 0, stand_in(tmp_path, "sys.stderr.write('disk on fire'); sys.exit(70)"))
    assert evening_run.failed == "exit code 70: disk on fire"
    assert not evening_run.refused
    assert "1 evenings ended by an error" in _report(PLAN, evening_run)["failures"]


BLIND: dict[str, Callable[[frozenset[str]], bool]] = {
    "one": lambda without: "missed" not in without,
    "either": lambda without: not without,
    "both": lambda without: not {"missed", "stray"} <= without,
    "nothing": lambda without: True,
}
"""Whether the beams see nothing of the second coup, though those faults are left out."""
EXPLAINED = {
    "one": Explanation(("missed",), together=False, alone=True, strikes=("0.000 s missed: a fault",)),
    "either": Explanation(
        ("missed", "stray"), together=False, alone=True,
        strikes=("0.000 s missed: a fault", "0.000 s stray: a fault"),
    ),
    "both": Explanation(
        ("missed", "stray"), together=True, alone=True,
        strikes=("0.000 s missed: a fault", "0.000 s stray: a fault"),
    ),
    "nothing": Explanation((), together=False, alone=True, strikes=()),
}  # fmt: skip


@pytest.mark.parametrize("cause", BLIND)
def test_a_disagreement_is_some_faults_or_all_of_theirs_or_ours(cause: str) -> None:
    evening_run = script(["valid", "valid"], seed=1)
    start_us = round(evening_run.marks[1].start_s * 1e6)

    def add_faults(without: frozenset[str]) -> FaultyEvening:
        blind = BLIND[cause](without)
        events = [e for e in evening_run.events() if not (blind and isinstance(e, BallPass) and e.t_us >= start_us)]
        return FaultyEvening(
            events, [Strike(kind, 0, 10**12, "a fault") for kind in ("missed", "stray")], evening_run.truth, 1.0
        )

    found, cpu_s = explain(
        evening_run, add_faults(frozenset()), add_faults, [Disagreement(1, 1, frozenset({"missed"}))], find()
    )
    assert found == {1: EXPLAINED[cause]}
    assert found[1].found == (cause != "nothing")
    assert cpu_s > 0


def test_a_slice_has_what_stood_before_it() -> None:
    part = _part(PLAN)
    header, *lines = Slice(part.evening, part.faulty, MIDDLE, MIDDLE).lines()
    first = _from_open(lines)[0]
    mark = part.evening.marks[MIDDLE]
    assert json.loads(header)["last_number"] == mark.last_number
    assert json.loads(first) == {
        "kind": "command",
        "t": round(round(mark.start_s * 1e6) * part.faulty.scale),
        "name": "open",
        "by": "chef",
    }


def test_readers_met_the_ball_of_a_coup_that_is_played_alone() -> None:
    """Else nothing would prove that no pocket holds the ball when the rotor stops (docs/rulebook.md, N5)."""
    plan = CampaignPlan("s1", faults=0)
    evening = plan.evening(2)
    faulty = plan.faulty(evening, 2)
    stops = [index for index, mark in enumerate(evening.marks) if mark.scenario == "obstacle_rotor_stops"]
    assert len(stops) > 2
    for mark in stops:
        part = Slice(evening, faulty, mark, mark)
        comparer = SpanComparer(part.spans(), evening.world.layout.beams_deg)
        replay(find(), part.lines(), comparer.receive)
        comparer.finish()
        assert not comparer.compared[-1].disagreement, mark


def test_a_slice_numbers_the_coups_of_its_commands_as_its_table_does() -> None:
    plan = CampaignPlan("confirmed", people=10, evening_coups=30)
    part = _part(plan)
    confirmed = [e for e in part.faulty.events if isinstance(e, TableCommand) and e.coup is not None]
    at_us = confirmed[-1].t_us
    mark = next(span.index for span in reversed(part.spans()) if span.start_us <= at_us)
    assert mark > 0
    again = [json.loads(line) for line in Slice(part.evening, part.faulty, mark, mark).lines()]
    first = part.evening.marks[mark].first
    assert [line["coup"] for line in again if line.get("coup")] == [
        e.coup - first for e in confirmed if e.coup is not None and e.t_us >= part.spans()[mark].start_us
    ]


@pytest.mark.parametrize(("people", "options"), [(1.0, ""), (0.0, " --people 0"), (2.5, " --people 2.5")])
def test_a_plan_names_the_options_that_play_it_again(people: float, options: str) -> None:
    assert CampaignPlan("s", people=people).options() == options


def test_slices_make_up_the_evening() -> None:
    part = _part(PLAN)
    lines = list(part.lines())
    again = list(Slice(part.evening, part.faulty, 0, MIDDLE).lines())[:-1]
    again += _from_open(list(Slice(part.evening, part.faulty, MIDDLE + 1, part.last).lines()))[1:]
    # The test above holds how a slice numbers its coups.
    assert [re.sub(rb'"coup":\d+', b"", line) for line in again] == [
        re.sub(rb'"coup":\d+', b"", line) for line in lines
    ]


def test_a_slice_begins_with_the_readings_of_the_clock_in_time_order() -> None:
    """Also one that was made while the rotor was watched before the slice."""
    part = _part(PLAN)
    cut = replace(part, first=MIDDLE)
    readings = [ClockReading(t_us, 1_700_000_000_000_000 + t_us, 2_000) for t_us in (0, cut.start_us - 1_000_000)]
    events = sorted([*readings, *part.faulty.events], key=T_US)
    cut = replace(cut, faulty=replace(part.faulty, events=events))
    times = [event.t_us for event in cut.events()]
    assert times == sorted(times)
    assert [event for event in cut.events() if isinstance(event, ClockReading)] == readings


def _from_open(lines: list[bytes]) -> list[bytes]:
    """Those from the command "open" on; before it stands how the rotor turned, and where the ball lay."""
    at = next(n for n, line in enumerate(lines) if b'"open"' in line)
    assert all(b'"rotor"' in line or b'"pocket"' in line for line in lines[1:at])
    return lines[at:]


def test_a_missing_package_is_reported_before_anything_is_played(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(pictures, "find_spec", lambda name: None if name == "matplotlib" else object())
    assert main(["campaign", "--out", str(tmp_path)]) == 69
    assert "pip install './hw_sim[campaign]'" in capsys.readouterr().err


@pytest.mark.parametrize("wanted", ["0", "-1", "x"])
def test_numbers_that_make_no_campaign_are_refused(wanted: str) -> None:
    with pytest.raises(SystemExit):
        main(["campaign", "--coups", wanted])


def test_a_report_that_cannot_be_written_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["campaign", "--out", str(tmp_path / "file")]) == 73
    assert "cannot write" in capsys.readouterr().err


def test_a_missing_program_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["campaign", "--wheeld", str(tmp_path / "none"), "--out", str(tmp_path)]) == 69
    assert "none is missing or cannot be run" in capsys.readouterr().err
