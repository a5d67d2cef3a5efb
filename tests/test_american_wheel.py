"""An American wheel: 38 pockets with "00", South Dakota's rules. The simulator has its rotor on its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from hw_sim import log
from hw_sim.campaign.black_box import find
from hw_sim.campaign.evening_run import CampaignPlan, run_evening
from hw_sim.configuration import sections
from hw_sim.evening import AMERICAN, Evening, script
from hw_sim.wheel import AMERICAN_POCKETS, POCKETS, printed
from wheeld.config.reading import parse
from wheeld.core import pockets
from wheeld.core.houses import PROFILES
from wheeld.replay import replay
from wheeld.screen.describe import describe

DOUBLE_ZERO = max(AMERICAN_POCKETS)
FROM_DOUBLE_ZERO = 93
"""The first of three coups comes out with 00, the second is void: seed of `NULL_BETWEEN`."""
NULL_BETWEEN = ["valid", "same_direction", "valid"]
EVENINGS, COUPS = 3, 25


def said(evening: Evening) -> list[dict[str, Any]]:
    """The messages of that evening."""
    lines = replay(log.lines(evening.header, evening.events()))
    return [msgspec.json.decode(line)["payload"] for line in lines]


def of(messages: list[dict[str, Any]], topic: str) -> list[dict[str, Any]]:
    return [message for message in messages if message.get("schema") == f"{topic}/1"]


@pytest.fixture(name="evening", scope="module")
def played() -> Evening:
    return script(NULL_BETWEEN, FROM_DOUBLE_ZERO, american=True)


def test_the_simulator_and_the_program_have_the_same_rotor_from_two_sources() -> None:
    layout = PROFILES[AMERICAN].pockets
    assert layout.order == AMERICAN_POCKETS
    assert [layout.facts[number].label for number in layout.order] == [printed(number) for number in AMERICAN_POCKETS]
    assert PROFILES["venezia", "fair"].pockets.order == POCKETS


@pytest.mark.parametrize("index", range(EVENINGS))
def test_an_evening_with_faults_has_no_wrong_number(index: int) -> None:
    plan = CampaignPlan("american wheel", americans=1, evening_coups=COUPS)
    assert plan.evening(index).header["house"] == "south-dakota"
    found = run_evening(plan, index, find())
    assert found.failed is None, index
    if not found.refused:  # one beam
        assert len(found.rows) >= COUPS
    assert {row.kind for row in found.rows} & {"wrong_number", "false_valid", "void_after_number"} == set(), index


def test_the_check_finds_readers_that_round_to_the_pockets_of_another_wheel(
    evening: Evening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pockets.DOUBLE_ZERO, "pocket_deg", 360 / 37)
    wrong = [result["number"] for result in of(said(evening), "result")]
    assert wrong != [outcome["number"] for outcome in evening.truth if outcome["kind"] == "result"]


def test_double_zero_comes_out_as_it_is_printed(evening: Evening) -> None:
    messages = said(evening)
    first = of(messages, "result")[0]
    assert (first["number"], first["label"], first["announcement"]) == (DOUBLE_ZERO, "00", "Double zero")
    assert (first["pocket_index"], first["neighbours"]) == (19, [13, 1, 27, 10])
    assert [first[name] for name in ("colour", "parity", "half", "dozen", "column")] == [None] * 5
    assert [first[name] for name in ("sectors", "finals_plein", "finals_cheval")] == [[]] * 3
    assert (of(messages, "table")[-1]["last_number"], of(messages, "table")[-1]["last_label"]) == (24, "24")
    assert (of(messages, "board")[-1]["numbers"], of(messages, "board")[-1]["labels"]) == ([24, 37], ["24", "00"])
    (line,) = [line for line in map(shown, messages) if line.startswith("result") and "00" in line.split()]
    assert "00 · Double zero" in line


def shown(message: dict[str, Any]) -> str:
    return describe(message.get("schema", "").split("/")[0], msgspec.json.encode(message), "en")


def test_a_void_is_no_spin_by_the_state_s_article_and_people_put_the_ball_back_in_double_zero(evening: Evening) -> None:
    messages = said(evening)
    (void,) = of(messages, "void")
    assert (void["words"], void["article"], void["laps_needed"]) == ("no spin", "ARSD 20:18:34:05–06", 4)
    assert void["why"].startswith("N1, ARSD 20:18:34:05–06; R1, ")
    waiting = [table["waiting_for"] for table in of(messages, "table") if table["state"] == "rien_va"]
    assert any("put the ball back in 00" in text for text in waiting), waiting
    assert any('"spin again"' in text for text in waiting), waiting
    assert all(table["language"] == "en" for table in of(messages, "table"))


@pytest.mark.parametrize("seed", range(3))
def test_a_coup_of_fewer_than_four_laps_is_void(seed: int) -> None:
    evening = script(["valid", "lap_margin"], seed, american=True)
    verdicts = [message for message in said(evening) if message.get("schema") in ("result/1", "void/1")]
    told = [message.get("number", message.get("cause")) for message in verdicts]
    assert told[0] == evening.truth[0]["number"]
    assert verdicts[1]["schema"] == f"{evening.truth[1]['kind']}/1", seed
    assert evening.world.runs[1].laps >= 4 or verdicts[1]["schema"] == "void/1", seed


def test_the_simulator_writes_it_into_a_configuration_as_it_is_printed(tmp_path: Path) -> None:
    layout = script(["valid"], 0, american=True).world.layout
    text = sections(layout, site="sd", table="one", last_number=DOUBLE_ZERO, port=tmp_path / "tty", speed=1)
    assert 'last_number = "00"' in text
    config = parse(text + '[journal]\npath = "j.sqlite"\n[mqtt]\nhost = "127.0.0.1"\n')
    assert (config.table.last_number, config.table.number_before) == ("00", DOUBLE_ZERO)
    assert config.table.min_laps == 4
