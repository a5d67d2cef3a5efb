"""A SlingShot 2 alone: no line of it has laps. Its coups are void, or await the chef, as the table is set."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec
import pytest

from tests.core.evening import Evening
from tests.core.head_evening import CHEF, SLINGSHOT, HeadEvening
from tests.core.test_table_states import stand
from wheeld.core.observations import Command, CommandName

ITALIAN = msgspec.structs.replace(
    CHEF, game="fair", wheel="fair", rotor_direction="ccw", min_laps=4, void_words="nulla vale", language="it"
)


def awaiting(setting: object = CHEF) -> HeadEvening:
    evening = HeadEvening(setting).ready()  # type: ignore[arg-type]
    evening.game(32, None)
    return evening


def test_under_void_a_coup_without_proof_of_its_laps_is_a_breakdown() -> None:
    evening = HeadEvening(SLINGSHOT).ready()
    evening.game(32, None)
    assert evening.verdicts() == [("void", "breakdown")]
    assert evening.of("void")[0]["evidence"] == {"spin": 11, "number": 32, "pocket_index": 1, "unproven": "R2"}
    assert evening.state == "suspended"
    assert not evening.confirm(coup=1).done


def test_under_chef_the_number_awaits_him_bets_closed() -> None:
    evening = awaiting()
    assert evening.verdicts() == []
    table = evening.of("table")[-1]
    assert (table["state"], table["bets"], table["last_number"]) == ("awaiting_chef", "closed", 17)
    assert table["waiting_codes"] == ["confirm"]
    assert evening.of("board")[-1]["state"] == "awaiting_chef"
    expected = 'confirmation by the chef: at least 3 laps of the ball, which no sensor proves; otherwise "rien va"'
    assert table["waiting_for"] == expected
    assert evening.table.is_running


def test_bets_that_nobody_closed_close_with_the_number() -> None:
    evening = HeadEvening(CHEF).ready()
    evening.runs(None)
    evening.falls(32)
    closed_us = evening.now_us
    assert evening.of("table")[-1]["bets"] == "closed"
    evening.lines(20)
    assert evening.confirm().done
    result = evening.of("result")[0]
    assert result["bets_closed_at"] == result["number_at"] < result["at"]
    assert result["t_us"] > closed_us


def test_he_is_asked_in_the_tables_language_and_for_its_laps() -> None:
    table = awaiting(ITALIAN).of("table")[-1]
    expected = (
        "conferma del capo tavolo: almeno 4 giri della pallina, che nessun sensore prova; altrimenti «nulla vale»"
    )
    assert table["waiting_for"] == expected


def test_confirmed_it_is_a_result_marked_as_confirmed() -> None:
    evening = awaiting()
    reply = evening.confirm(reason="five laps, all saw it")
    assert (reply.done, evening.verdicts(), evening.state) == (True, [("result", 32)], "operations")
    (result,) = evening.of("result")
    assert (result["unproven"], result["laps"], result["ball_direction"]) == (["R2"], None, None)
    assert (result["confirmed_by"], result["confirmed_reason"]) == ("Rossi", "five laps, all saw it")
    assert result["confirmed_user"] == "chef-x"
    assert (result["rotor_direction"], result["rotor_rpm"]) == ("ccw", 15.4)
    assert evening.of("table")[-1]["last_number"] == 32
    assert evening.say("operations_done").done
    evening.goes_on()
    evening.game(3, None)
    assert evening.confirm().done
    assert evening.verdicts() == [("result", 32), ("result", 3)]


def test_the_rotor_and_the_hour_are_those_of_the_number_not_of_the_confirmation() -> None:
    evening = awaiting()
    number_us = evening.now_us
    evening.rpm, evening.head_way = 3.0, "cw"
    evening.lines(30)
    evening.confirm()
    (result,) = evening.of("result")
    assert (result["rotor_rpm"], result["rotor_direction"]) == (15.4, "ccw")
    assert result["t_us"] - number_us == 30_000_000
    assert result["number_at"] < result["at"]


def test_he_may_declare_it_null_instead() -> None:
    evening = awaiting()
    assert evening.say("rien_va", reason="two laps").done
    assert evening.verdicts() == [("void", "chef")]
    assert evening.state == "rien_va"
    reply = evening.confirm()
    assert (reply.done, reply.why) == (False, "rulebook 2: a void coup never becomes a result")


def launch(evening: HeadEvening) -> None:
    evening.spin += 1
    evening.report_phase("ready")
    evening.report_phase("running")


def unseen(evening: HeadEvening) -> None:
    evening.report_phase("running")


def silence(evening: HeadEvening) -> None:
    evening.goes_silent()


def broken(evening: HeadEvening) -> None:
    evening.sensor("head/sensors", ok=False)


def jump(evening: HeadEvening) -> None:
    evening.jump(14)


def declared(evening: HeadEvening) -> None:
    evening.warns("void_game", void=True)


def other_number(evening: HeadEvening) -> None:
    evening.number(33)


def taken_back(evening: HeadEvening) -> None:
    evening.number(None)


@pytest.mark.parametrize("happens", [other_number, taken_back])
@pytest.mark.parametrize("stopped", [False, True])
def test_a_wheel_that_contradicts_its_number_leaves_it_to_the_chef_to_name_one(
    happens: Callable[[HeadEvening], None], *, stopped: bool
) -> None:
    """N8, R3b: the ball lies in a pocket, and all can see it; no sensor proves which. Nobody confirms it unnamed."""
    evening = awaiting()
    if stopped:
        evening.say("suspend")
    happens(evening)
    if stopped:
        evening.say("resume")
    assert (evening.verdicts(), evening.state) == ([], "awaiting_chef")
    assert evening.notices() == ["number_corrected"]
    expected = 'the number by the chef, because no sensor proves it; otherwise "rien va"'
    assert evening.of("table")[-1]["waiting_for"] == expected
    refused = evening.say("confirm", coup=1, reason="seen by all")
    assert (refused.done, refused.why) == (
        False,
        "R3b, Art. 11: no sensor proves which number it is: name the number",
    )
    assert evening.say("confirm", coup=1, reason="all saw the 32", number=32).done
    (result,) = evening.of("result")
    assert (result["number"], result["unproven"], result["confirmed_by"]) == (32, ["R2", "R3"], "chef")


@pytest.mark.parametrize(("happens", "kind"), [(jump, "unobserved_coup"), (declared, "wheel_void")])
def test_what_a_wheel_reports_of_later_games_is_a_notice_while_a_number_awaits_the_chef(
    happens: Callable[[HeadEvening], None], kind: str
) -> None:
    evening = awaiting()
    happens(evening)
    assert (evening.verdicts(), evening.notices(), evening.state) == ([], [kind], "awaiting_chef")
    assert evening.confirm(coup=1).done
    assert evening.verdicts() == [("result", 32)]


@pytest.mark.parametrize("corrected", [False, True])
def test_the_number_of_a_launch_that_counts_for_nothing_takes_no_place(*, corrected: bool) -> None:
    """N2: the next game of the wheel, from its launch to its number, while the chef has not answered."""
    evening = awaiting()
    evening.goes_on()
    evening.game(5, None)
    if corrected:
        evening.number(6)
    assert (evening.verdicts(), evening.state) == ([], "awaiting_chef")
    seen = [notice for notice in evening.of("notice") if notice["notice"] == "number_seen"]
    assert seen[0]["text"].endswith("that launch counts for nothing; the number before still awaits the chef")
    assert "launch_too_early" in evening.notices()
    assert evening.confirm(coup=1).done
    assert evening.verdicts() == [("result", 32)]


@pytest.mark.parametrize("happens", [launch, unseen])
def test_a_launch_while_a_number_awaits_the_chef_counts_for_nothing(happens: Callable[[HeadEvening], None]) -> None:
    """N2, N8: the number goes on awaiting him."""
    evening = awaiting()
    happens(evening)
    assert (evening.verdicts(), evening.state) == ([], "awaiting_chef")
    assert "launch_too_early" in evening.notices()
    assert evening.confirm(coup=1).done
    assert (evening.verdicts(), evening.state) == ([("result", 32)], "operations")


@pytest.mark.parametrize("happens", [silence, broken])
def test_a_fault_while_a_number_awaits_the_chef_voids_nothing(happens: Callable[[HeadEvening], None]) -> None:
    """N8: the number is out. Play is suspended after his word: nobody bets on a wheel that can't be seen."""
    evening = awaiting()
    happens(evening)
    assert (evening.verdicts(), evening.state) == ([], "awaiting_chef")
    assert evening.confirm(coup=1).done
    assert (evening.verdicts(), evening.state) == ([("result", 32)], "suspended")


@pytest.mark.parametrize(("stop", "state", "go_on"), [("suspend", "suspended", "resume"), ("close", "closed", "open")])
def test_the_direction_stops_play_at_any_moment_and_the_number_is_kept(
    stop: CommandName, state: str, go_on: CommandName
) -> None:
    """A6, R3b: a number that people saw is not lost."""
    evening = awaiting()
    assert evening.say(stop, by="direction").done
    assert (evening.verdicts(), evening.state) == ([], state)
    step = {"resume": "resumption of play", "open": "opening of the table"}[go_on]
    words = 'confirmation by the chef: at least 3 laps of the ball, which no sensor proves; otherwise "rien va"'
    assert evening.of("table")[-1]["waiting_for"] == f"{step}, then {words}"
    assert not evening.say("confirm", coup=1, reason="seen by all").done
    assert evening.say(go_on).done
    assert evening.state == "awaiting_chef"
    assert evening.confirm(coup=1).done
    assert (evening.verdicts(), evening.state) == ([("result", 32)], "operations")


def test_a_number_that_awaits_the_chef_survives_a_restart() -> None:
    """N8."""
    evening = awaiting()
    after = HeadEvening(CHEF, memory=evening.memory)
    assert (after.verdicts(), after.state) == ([], "awaiting_chef")
    assert after.confirm(coup=1).done
    assert after.verdicts() == [("result", 32)]


def test_what_happens_to_a_ball_at_rest_does_not() -> None:
    """N4, N5 and N6 are about what comes before the number."""
    evening = awaiting()
    evening.drop()
    for rpm in (2.0, 0.0, 0.0, 0.0):
        evening.rpm = rpm
        evening.line()
    assert evening.notices() == ["foreign_object"]
    assert evening.say("rien_ne_va_plus").done
    assert evening.say("last_coup").done
    assert evening.confirm().done
    assert evening.verdicts() == [("result", 32)]
    evening.drop(present=False)
    assert evening.say("operations_done").done
    assert evening.state == "faites_vos_jeux"


def test_a_coup_that_lacks_more_than_laps_is_not_his_to_confirm() -> None:
    """State 4 was not received: nothing proves that the ball ran against the rotor (R1), as this wheel can."""
    evening = HeadEvening(CHEF).ready()
    evening.report_phase("running", 3)
    evening.falls(32)
    assert evening.verdicts() == [("void", "breakdown")]
    assert evening.of("void")[0]["evidence"]["unproven"] == "R1 R2"


def test_the_rotors_way_may_be_known_only_after_state_4_began() -> None:
    evening = HeadEvening(CHEF).ready()
    evening.head_way = "cw"
    evening.report_phase("running")
    evening.report_phase("closing")
    evening.falls(32)
    assert evening.confirm().done
    assert evening.of("result")[0]["rotor_direction"] == "cw"


def test_a_confirmation_without_its_coup_or_its_reason_is_refused() -> None:
    evening = awaiting()
    evening.observe(Command(evening.now_us, "confirm", "Rossi", "seen", None, "a"))
    assert not evening.replies[-1].done
    assert evening.replies[-1].why == "the command does not say which coup it confirms, and another coup may have begun"
    assert evening.confirm(reason="").why == "the command gives no reason, and the result must record a reason"
    assert evening.confirm(coup=7).why == "the command is for coup 7; it is coup 1 now"
    assert evening.verdicts() == []


@pytest.mark.parametrize(
    ("state", "why"),
    [
        ("closed", "no number awaits the chef"),
        ("faites_vos_jeux", "no number awaits the chef"),
        ("bets closed early", "no number awaits the chef"),
        ("ball_running", "R3, Art. 11: no number is out yet, and nobody may confirm what the sensors can still prove"),
        ("ball_on_obstacle", "R3b, Art. 11: no sensor proves which number it is: name the number"),
        ("operations", "the coup is a result already"),
        ("rien_va", "rulebook 2: a void coup never becomes a result"),
        ("suspended", "no number awaits the chef"),
    ],
)
def test_nobody_confirms_what_sensors_prove(state: str, why: str) -> None:
    evening: Evening = stand(state)
    before = (evening.state, evening.verdicts())
    evening.observe(Command(evening.now_us, "confirm", "Rossi", "seen", None, "a", evening.table.coup))
    assert (evening.replies[-1].done, evening.replies[-1].why) == (False, why)
    assert (evening.state, evening.verdicts()) == before


@pytest.mark.parametrize(
    ("unproven", "number", "cites"),
    [
        (("R2",), None, ["R2"]),
        (("R1", "R2"), None, ["R1", "R2"]),
        (("R3",), None, ["R3b"]),
        (("R2",), 9, ["R3b", "R2"]),
    ],
)
def test_the_answer_cites_what_the_chef_answers_for_and_nothing_that_is_proven(
    unproven: tuple[str, ...], number: int | None, cites: list[str]
) -> None:
    evening = awaiting()
    called = evening.table._state.current.called
    assert called is not None
    evening.table._state.current.called = msgspec.structs.replace(called, unproven=unproven)
    reply = evening.say("confirm", coup=evening.table.coup, number=number, reason="seen by all")
    assert reply.done
    assert re.findall(r"\bR\w+", reply.why) == cites
