"""Corners of docs/rulebook.md: commands in the first passes of a launch, and launches made out of a game."""

from __future__ import annotations

import pytest

from tests.core.evening import Evening
from wheeld.core.observations import CommandName


def first_passes(evening: Evening) -> None:
    """A launch, two passes of it: one too few to prove it."""
    evening.until(evening.launch(laps=6)[1].t_us)


@pytest.mark.parametrize("stopped_by", ["direction", "fault"])
def test_operations_stay_owed_when_play_stops_in_the_first_passes_of_an_early_launch(stopped_by: str) -> None:
    """§6: after an early launch both are owed."""
    evening = Evening().open()
    evening.coup(8)
    first_passes(evening)
    if stopped_by == "direction":
        evening.say("suspend")
    else:
        evening.sensor("beam/3", ok=False)
        evening.sensor("beam/3", ok=True)
    evening.wait(1)
    evening._planned.clear()
    evening.say("resume")
    assert evening.state == "rien_va"
    evening.put_back()
    evening.say("tout_va")
    assert evening.state != "faites_vos_jeux"


@pytest.mark.parametrize("names", [("suspend",), ("close",), ("close", "open"), ("tout_va",)])
def test_a_ball_that_the_chef_declared_null_is_no_second_null_coup(names: tuple[CommandName, ...]) -> None:
    """§1: a coup is one launch. It was void by the chef's command, two passes seen."""
    evening = Evening().open()
    first_passes(evening)
    for name in ("rien_va", *names):
        evening.say(name)
    evening.wait(1)
    assert evening.verdicts() == [("void", "chef")]


def test_a_run_under_way_as_the_table_opens_hides_no_launch() -> None:
    """§6: launched while closed, opened, taken off; launched anew, slower and soon: a coup of its own."""
    evening = Evening()
    evening.wait(5)
    evening.run(laps=6)
    assert evening.say("open").done
    evening.wait(2)
    evening.run(rev_s=0.8, laps=5)
    evening.fall(9)
    assert evening.verdicts() == [("result", 9)]


def test_a_ball_put_back_after_such_a_run_is_no_breakdown() -> None:
    evening = Evening()
    evening.wait(5)
    evening.run(laps=6)
    assert evening.say("open").done
    evening.wait(8)
    evening.say("rien_ne_va_plus")
    evening.put_back()
    assert evening.verdicts() == []


def test_a_weak_launch_before_a_suspension_is_a_coup_of_its_game() -> None:
    """§6: launched, however few its passes; A6: what was running is void as a breakdown."""
    evening = Evening().open()
    evening.wait(2)
    evening.until(evening.launch(laps=0.3)[-1].t_us)
    evening.say("suspend")
    evening.fall(9)
    evening.wait(10)
    assert evening.verdicts() == [("void", "breakdown")]
