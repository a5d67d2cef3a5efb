"""Corners of docs/rulebook.md: commands in the first passes of a launch, and launches made out of a game."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.evening import FALL_S, FRENCH, Evening, other
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
        evening.ask("suspend")
    else:
        evening.sensor("beam/3", ok=False)
        evening.sensor("beam/3", ok=True)
    evening.wait(1)
    evening._planned.clear()
    evening.wait(3)
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
        evening.ask(name)
    evening.wait(1)
    assert evening.verdicts() == [("void", "chef")]


def test_a_run_under_way_as_the_table_opens_hides_no_launch() -> None:
    """§6: launched while closed, taken off, opened; launched anew, slower and soon: a coup of its own."""
    evening = Evening()
    evening.wait(5)
    evening.run(laps=6)
    assert not evening.say("open").done
    evening.wait(8)
    assert evening.say("open").done
    evening.wait(2)
    evening.run(rev_s=0.8, laps=5)
    evening.fall(9)
    assert evening.verdicts() == [("result", 9)]


def test_a_ball_put_back_after_such_a_run_is_no_breakdown() -> None:
    evening = Evening()
    evening.wait(5)
    evening.run(laps=6)
    evening.wait(8)
    assert evening.say("open").done
    evening.say("rien_ne_va_plus")
    evening.put_back()
    assert evening.verdicts() == []


def test_a_weak_launch_before_a_suspension_is_a_coup_of_its_game() -> None:
    """§6: launched, however few its passes; A6: what was running is void as a breakdown."""
    evening = Evening().open()
    evening.wait(2)
    evening.until(evening.launch(laps=0.3)[-1].t_us)
    evening.ask("suspend")
    evening.fall(9)
    evening.wait(10)
    assert evening.verdicts() == [("void", "breakdown")]


def seen_in(number: int) -> Evening:
    """A ball seen in a pocket, and a hand that stopped the rotor before the number was proven (R3b)."""
    evening = Evening().open()
    evening.run()
    evening.wait(FALL_S)
    evening.lying = number
    evening.wait(1.5)
    evening.turn(0)
    evening.wait(8)
    assert (evening.state, evening.verdicts()) == ("awaiting_chef", [])
    return evening


def test_a_ball_that_a_hand_puts_elsewhere_while_its_number_awaits_the_chef_is_no_result() -> None:
    """R3b: the chef confirms the number that was seen, or gives another: his word decides."""
    evening = seen_in(9)
    evening.turn(20)
    evening.lying = 12
    evening.wait(6)
    assert (evening.state, evening.verdicts()) == ("awaiting_chef", [])
    assert evening.of("notice")[-1]["figures"]["number"] == 12
    unnamed = evening.say("confirm", coup=1, reason="all saw it")
    assert (unnamed.done, unnamed.why.endswith("name the number")) == (False, True)
    assert evening.say("confirm", coup=1, reason="it lay in 9, a hand moved it", number=9).done
    assert evening.verdicts() == [("result", 9)]


def test_a_ball_that_a_hand_puts_elsewhere_before_its_number_is_proven_awaits_the_chef() -> None:
    """R3b: two readers have met it in 9 when a hand puts it into 12, where all three meet it again and again."""
    evening = Evening().open()
    evening.run()
    evening.wait(FALL_S)
    evening.lying = 9
    while evening.observer.ball.rested_in is None:
        evening.wait(0.1)
    evening.lying = 12
    evening.wait(9)
    assert (evening.state, evening.verdicts()) == ("awaiting_chef", [])
    assert not evening.say("confirm", coup=1, reason="all saw it").done
    assert evening.say("confirm", coup=1, reason="it lay in 9, a hand moved it", number=9).done
    assert evening.verdicts() == [("result", 9)]


def test_a_ball_that_readers_see_in_the_same_pocket_again_needs_no_chef() -> None:
    evening = seen_in(9)
    evening.turn(20)
    evening.wait(6)
    assert evening.verdicts() == [("result", 9)]
    assert evening.of("result")[0]["unproven"] == []


def test_the_chef_gives_another_number_and_no_number_that_the_wheel_has_not() -> None:
    evening = seen_in(9)
    refused = evening.say("confirm", coup=1, reason="it lay there", number=40)
    assert (refused.done, refused.why) == (False, "the command gives a number that is not on the wheel")
    assert evening.say("confirm", coup=1, reason="it lay there", number=31).done
    (result,) = evening.of("result")
    assert (result["number"], result["unproven"], result["confirmed_by"]) == (31, ["R3"], "chef")


def test_a_weak_launch_while_no_game_was_on_is_of_no_coup() -> None:
    """§6: hands may have moved the ball; the table was opened before a reader saw where it lies."""
    evening = Evening()
    evening.wait(5)
    evening.until(evening.launch(laps=0.5)[-1].t_us)
    assert evening.say("open").done
    evening.fall(9)
    evening.wait(5)
    assert (evening.state, evening.verdicts()) == ("faites_vos_jeux", [])


def test_a_number_that_the_chef_confirmed_is_no_unobserved_coup_when_readers_see_it() -> None:
    """R3b: a hand stopped the rotor; after the chef's word it turns again, and the ball lies where everybody saw it."""
    evening = seen_in(23)
    assert evening.say("confirm", coup=1, reason="seen by all").done
    evening.turn(20)
    evening.wait(5)
    assert (evening.verdicts(), "unobserved_coup" in evening.notices()) == ([("result", 23)], False)


def test_a_ball_put_back_at_a_closed_table_is_no_unobserved_coup() -> None:
    """Play ended in the run (A6): the ball goes back (docs/rulebook.md 6)."""
    evening = Evening().open()
    evening.run()
    evening.say("close")
    evening.wait(4)
    evening.put_back()
    evening.wait(5)
    assert (evening.state, "unobserved_coup" in evening.notices()) == ("closed", False)


def test_what_the_chef_is_asked_names_the_number_that_is_not_proven() -> None:
    """R3b: the laps of this coup are proven; its number is not."""
    assert seen_in(9).last("table").payload["waiting_for"] == (
        'confirmation by the chef: the number seen (9), which is not proven, or another; otherwise "rien va"'
    )


def test_the_chef_is_asked_for_a_number_that_no_reader_saw() -> None:
    """A hand stopped the rotor while the ball may lie unseen in a pocket."""
    evening = Evening(msgspec.structs.replace(FRENCH, readers_deg=(30,))).open()
    evening.run()
    evening.wait(3)
    evening.turn(0)
    evening.wait(8)
    table = evening.last("table").payload
    assert (table["state"], table["waiting_for"]) == (
        "awaiting_chef",
        'the number by the chef, because no sensor proves it; otherwise "rien va"',
    )


@pytest.mark.parametrize("laps", [2.0, 6.0])
@pytest.mark.parametrize("against", [True, False])
def test_a_second_ball_changes_nothing_of_a_number_that_awaits_the_chef(laps: float, *, against: bool) -> None:
    """R3b, N8: a launch meanwhile counts for nothing: neither its direction nor its laps void the coup before."""
    evening = seen_in(9)
    seen_at = evening.of("notice")[-1]["at"]
    evening.lying = None
    evening.turn(20)
    evening.wait(1)
    evening.run(other(evening.way) if against else evening.way, laps=laps)
    evening.wait(4)
    assert (evening.state, evening.verdicts()) == ("awaiting_chef", [])
    assert evening.say("confirm", coup=1, reason="all saw it").done
    (result,) = evening.of("result")
    assert result["left_track_at"] < result["number_at"] <= seen_at


def test_a_launch_before_the_chef_has_confirmed_the_number_is_too_early() -> None:
    """N2: also when he confirms it, and the operations are done, between its first passes."""
    evening = seen_in(9)
    evening.lying = None
    evening.turn(20)
    evening.wait(1)
    passes = evening.launch(laps=9)
    evening.until(passes[1].t_us)
    evening.ask("confirm", coup=1, reason="all saw it")
    evening.wait(0.05)
    evening.ask("operations_done")
    evening.until(passes[-1].t_us)
    evening.fall(12)
    evening.wait(4)
    assert ("result", 12) not in evening.verdicts()


def test_two_sightings_of_one_reader_across_a_turned_rotor_are_no_whole_turn() -> None:
    """R3: a hand stopped the rotor and turned it the other way between them."""
    evening = Evening().open()
    evening.run()
    evening.wait(2)
    evening.lying = 9
    while "number_seen" not in evening.notices():
        evening.wait(0.02)
    evening.wait(0.1)
    evening.turn(0)
    evening.wait(0.2)
    evening.turn(10, "cw")
    evening.wait(0.5)
    assert evening.verdicts() == []
