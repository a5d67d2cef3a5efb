"""Evenings at wheels with a head, a SlingShot 2 with beams on pins or a Mercury 360 alone: the real daemon's verdicts
are the true outcomes."""

from __future__ import annotations

from pathlib import Path

import pytest

from hw_sim.cammegh.coups import Model
from hw_sim.evening import Evening, draw_evening, script
from hw_sim.table import Outcome
from tests.gpio.combined import played

SCRIPTS = {
    "valid": 2,
    "valid_few_laps": 3,
    "obstacle_falls": 4,
    "same_direction": 3,
    "early_launch": 1,
    "launch_before_tout_va": 1,
    "too_few_laps": 3,
    "rotor_stops_running": 2,
    "rotor_stopped_at_launch": 0,
    "rotor_reverses_running": 4,
    "foreign_object": 1,
    "chef_void": 4,
    "suspend_running": 2,
    "la_derniere": 2,
    "stray_pulse": 1,
}
"""A scenario, before a valid coup, and a seed. Without those that only readers or a cable can show."""
ALONE = (
    "valid",
    "same_direction",
    "early_launch",
    "too_few_laps",
    "rotor_stops_running",
    "foreign_object",
    "chef_void",
)
"""Those that a Mercury 360 decides without beams."""
EVENINGS = (20, 33)
"""Seeds of whole evenings without such scenarios."""


def verdict(outcome: Outcome) -> str:
    return f"result {outcome['number']}" if outcome["kind"] == "result" else f"void {outcome['cause']}"


def check_verdicts(
    evening: Evening, directory: Path, patches: pytest.MonkeyPatch, model: Model = Model.SLINGSHOT_2
) -> None:
    house = played(evening, directory, patches, model)
    assert house.verdicts == [verdict(outcome) for outcome in evening.truth], evening.header
    for result in house.of("result"):
        assert (result["unproven"], result["confirmed_by"]) == ([], None)
        assert result["laps"] >= 3


@pytest.mark.parametrize("kind", SCRIPTS)
def test_a_coup_of_each_kind_gets_its_true_verdict(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_verdicts(script([kind, "valid"], SCRIPTS[kind]), tmp_path, monkeypatch)


@pytest.mark.parametrize("kind", ALONE)
def test_a_mercury_needs_no_beams(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_verdicts(script([kind, "valid"], 1), tmp_path, monkeypatch, Model.MERCURY_360)


@pytest.mark.parametrize("seed", EVENINGS)
def test_a_whole_evening_gets_its_true_verdicts(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_verdicts(draw_evening(seed), tmp_path, monkeypatch)


@pytest.mark.parametrize("kind", ["valid", "valid_few_laps", "too_few_laps"])
def test_without_beams_no_coup_is_a_result(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    house = played(script([kind, "valid"], 3), tmp_path, monkeypatch, unproven="void")
    assert house.of("result") == []
    assert {"void breakdown"} <= {*house.verdicts}
