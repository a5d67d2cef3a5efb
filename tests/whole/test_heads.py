"""Coups of each kind at a wheel with its own head, without faults: a SlingShot 2 with beams, object sensor and buttons
on pins, and a Mercury 360 alone. The verdicts are the true outcomes."""

from __future__ import annotations

from pathlib import Path

import pytest

from hw_sim.whole.house import House
from hw_sim.whole.plan import EveningPlan, PlannedCoup
from tests.whole.daemon import play
from tests.whole.oracles import problems

WITH_BEAMS = (
    "valid",
    "valid_few_laps",
    "obstacle_falls",
    "same_direction",
    "early_launch",
    "launch_before_tout_va",
    "too_few_laps",
    "rotor_stops_running",
    "rotor_stopped_at_launch",
    "rotor_reverses_running",
    "foreign_object",
    "chef_void",
    "suspend_running",
    "la_derniere",
    "stray_pulse",
)
"""Without those that only readers or a board's cable can show."""
ALONE = ("valid", "same_direction", "early_launch", "too_few_laps", "rotor_stops_running", "chef_void")
"""Those that a Mercury 360 decides without beams; of a short run it has to see a whole lap."""


def played(plan: EveningPlan, directory: Path) -> House:
    """The evening; its rounds have the verdicts that were played. The first coup is for the daemon to be there."""
    house = House(plan)
    play(house, directory)
    assert problems(house) == [], plan.text()
    first, *rest = house.witness.rounds
    assert not any(house.witness.was("daemon unwell", one.from_us, one.to_us) for one in rest), first
    return house


@pytest.mark.parametrize("kind", WITH_BEAMS)
def test_beams_prove_what_the_head_does_not_report(kind: str, tmp_path: Path) -> None:
    house = played(EveningPlan("heads/c", "slingshot_pins", (PlannedCoup("valid"), PlannedCoup(kind))), tmp_path)
    for result in house.witness.of("result"):
        assert (result.body["unproven"], result.body["confirmed_by"]) == ([], None)
        assert result.body["laps"] >= 3


@pytest.mark.parametrize("kind", ALONE)
def test_a_mercury_needs_no_beams(kind: str, tmp_path: Path) -> None:
    played(EveningPlan("c/c", "mercury", (PlannedCoup("valid"), PlannedCoup(kind))), tmp_path)
