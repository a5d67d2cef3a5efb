"""A table where the chef confirms each number before it is published, though sensors have proven all of it."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.evening import FRENCH, Evening
from tests.core.head_evening import MERCURY, HeadEvening
from wheeld.core.observations import CommandName
from wheeld.replay import replay

EACH = msgspec.structs.replace(FRENCH, confirm_numbers=True)
BY_A_HEAD = msgspec.structs.replace(MERCURY, confirm_numbers=True)


def fallen() -> Evening:
    """A valid coup whose ball lies in 9."""
    evening = Evening(EACH).open()
    evening.run(laps=6, rev_s=0.9)
    evening.fall(9)
    return evening


def test_a_proven_number_awaits_the_chef() -> None:
    evening = fallen()
    assert (evening.state, evening.verdicts()) == ("awaiting_chef", [])
    table = evening.last("table").payload
    assert table["waiting_codes"] == ["confirm"]
    assert table["waiting_for"] == 'confirmation by the chef: the number 9, or another; otherwise "rien va"'
    evening.wait(600)
    assert (evening.state, evening.verdicts()) == ("awaiting_chef", []), "nothing but his word ends that"


def test_he_confirms_it() -> None:
    evening = fallen()
    assert evening.say("confirm", by="Rossi", reason="seen", coup=1).done
    (result,) = evening.of("result")
    assert (result["number"], result["confirmed_by"], result["confirmed_reason"]) == (9, "Rossi", "seen")
    assert result["unproven"] == [], "sensors have proven it"
    assert result["laps"] >= 3
    assert result["margin_of"] in ("laps", "direction", "pocket", "passes")
    assert evening.state == "operations"


def test_he_gives_another_and_answers_for_it() -> None:
    evening = fallen()
    assert evening.say("confirm", by="Rossi", reason="it lies in 22", coup=1, number=22).done
    (result,) = evening.of("result")
    assert (result["number"], result["unproven"]) == (22, ["R3"])


def test_he_declares_it_void() -> None:
    """The void says what the sensors saw, and that it was his to decide."""
    evening = fallen()
    assert evening.say("rien_va").done
    (void,) = evening.of("void")
    assert (void["cause"], void["evidence"]) == ("chef", {"number_seen": 9})
    assert "R3b" in void["why"]


def test_a_number_that_is_not_proven_says_so() -> None:
    """R3b stays what it is: the rotor is stopped before the proof is complete."""
    evening = Evening(msgspec.structs.replace(EACH, readers_deg=(30,)), rpm=10).open()
    evening.run()
    evening.wait(6.5)
    evening.lying = 9
    while "number_seen" not in evening.notices():
        evening.wait(0.1)
    evening.turn(0)
    evening.wait(11)
    assert (evening.verdicts(), evening.state) == ([], "awaiting_chef")
    assert "which is not proven" in evening.last("table").payload["waiting_for"]
    assert evening.say("confirm", by="Rossi", reason="seen", coup=1).done
    (result,) = evening.of("result")
    assert (result["number"], result["unproven"]) == (9, ["R3"])


def test_voids_are_published_at_once() -> None:
    evening = Evening(EACH).open()
    evening.run(laps=2, rev_s=0.9)
    evening.wait(10)
    assert evening.verdicts() == [("void", "too_few_laps")]


@pytest.mark.parametrize(("stop", "go_on"), [("suspend", "resume"), ("close", "open")])
def test_the_number_outlasts_a_stop_of_play(stop: CommandName, go_on: CommandName) -> None:
    evening = fallen()
    assert evening.say(stop).done
    assert evening.say(go_on).done
    assert evening.say("confirm", by="Rossi", reason="seen", coup=1).done
    assert evening.verdicts() == [("result", 9)]


def test_the_number_of_a_head_awaits_him_too() -> None:
    evening = HeadEvening(BY_A_HEAD).ready()
    evening.game(32, 5)
    assert (evening.state, evening.verdicts()) == ("awaiting_chef", [])
    evening.confirm(by="Rossi")
    (result,) = evening.of("result")
    assert (result["number"], result["unproven"], result["confirmed_by"]) == (32, [], "Rossi")


def test_without_the_setting_nothing_changes() -> None:
    evening = Evening(FRENCH).open()
    evening.run(laps=6, rev_s=0.9)
    evening.fall(9)
    assert evening.verdicts() == [("result", 9)]


def test_it_stands_in_a_logs_header() -> None:
    header = msgspec.to_builtins(fallen().table.header())
    assert header["confirm_numbers"] is True
    assert "confirm_numbers" not in msgspec.json.decode(msgspec.json.encode(Evening(FRENCH).table.header()))
    assert list(replay([msgspec.json.encode(fallen().table.header())])) == []
