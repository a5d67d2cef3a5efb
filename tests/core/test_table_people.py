"""What people ask of the table (A1–A6): granted, refused with a reason, recorded."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.evening import FRENCH, Evening
from tests.core.table_in_state import table_in
from wheeld.core.observations import Command, CommandName

# --- commands and their answers ----------------------------------------------------------------------------------


def test_each_command_is_answered_with_its_id_who_and_why() -> None:
    evening = Evening()
    reply = evening.say("open", by="chef Rossi")
    assert (reply.name, reply.by, reply.done, reply.id) == ("open", "chef Rossi", True, "id-0")
    again = evening.say("open")
    assert (again.done, again.why) == (False, "the table is open")


def test_a_button_that_is_refused_is_a_notice_at_the_table() -> None:
    """It has no id, and nobody can be answered: the reply is for the log, the notice for the people."""
    evening = Evening()
    done = evening.observe(Command(evening.now_us, "open", "chef"))
    assert [(reply.id, reply.done) for reply in done.replies] == [(None, True)]
    assert evening.notices() == []
    refused = evening.observe(Command(evening.now_us, "tout_va", "chef Rossi", "hurry"))
    assert [(reply.id, reply.done, reply.why) for reply in refused.replies] == [(None, False, "nothing was void")]
    (notice,) = evening.of("notice")
    assert (notice["notice"], notice["by"], notice["reason"]) == ("refused", "chef Rossi", "hurry")
    assert "tout_va" in notice["text"]
    assert "nothing was void" in notice["text"]


@pytest.mark.parametrize("ask", [Command(0, "open", "b", coup=7), Command(0, "bouler", "b")])
def test_a_button_refused_before_the_law_is_asked_is_a_notice_too(ask: Command) -> None:
    evening = Evening()
    evening.observe(ask)
    assert evening.notices() == ["refused"]


@pytest.mark.parametrize("coup", [0, 1, 3, 99])
def test_a_command_for_another_coup_is_refused_and_does_nothing(coup: int) -> None:
    evening = Evening().open()
    evening.coup(22)
    evening.say("operations_done")
    evening.launch()
    evening.wait(2)
    assert evening.table.coup == 2
    count = len(evening.published)
    reply = evening.say("rien_va", coup=coup)
    assert not reply.done
    assert f"coup {coup}" in reply.why
    assert "coup 2" in reply.why
    assert evening.published[count:] == []
    assert evening.say("rien_va", coup=2).done


def test_the_coup_at_hand_is_that_of_the_open_bets() -> None:
    """The table message "faites vos jeux" and the launch after it are one coup."""
    evening = Evening().open()
    coup = evening.of("table")[-1]["coup"]
    evening.launch()
    evening.wait(2)
    assert evening.table.coup == coup == 1


REFUSED: list[tuple[str, CommandName]] = [
    ("closed", "operations_done"),
    ("closed", "rien_ne_va_plus"),
    ("closed", "tout_va"),
    ("closed", "resume"),
    ("closed", "last_coup"),
    ("closed", "close"),
    ("faites_vos_jeux", "open"),
    ("faites_vos_jeux", "operations_done"),
    ("faites_vos_jeux", "tout_va"),
    ("faites_vos_jeux", "resume"),
    ("ball_running", "open"),
    ("ball_running", "operations_done"),
    ("ball_running", "tout_va"),
    ("operations", "rien_ne_va_plus"),
    ("operations", "tout_va"),
    ("operations", "rien_va"),
    ("rien_va", "operations_done"),
    ("rien_va", "rien_ne_va_plus"),
    ("rien_va", "rien_va"),
    ("suspended", "suspend"),
    ("suspended", "open"),
    ("suspended", "tout_va"),
    ("suspended", "rien_va"),
    ("suspended", "operations_done"),
]


@pytest.mark.parametrize(("state", "name"), REFUSED)
def test_what_makes_no_sense_now_is_refused_with_a_reason_and_changes_nothing(state: str, name: CommandName) -> None:
    evening = table_in(state)
    count = len(evening.published)
    reply = evening.say(name)
    assert not reply.done
    assert reply.why
    assert evening.published[count:] == []
    assert evening.state == state


@pytest.mark.parametrize("state", ["faites_vos_jeux", "operations", "rien_va", "suspended"])
def test_the_direction_may_close_at_any_moment(state: str) -> None:
    evening = table_in(state)
    verdicts = evening.verdicts()
    assert evening.say("close", by="direction").done
    assert evening.state == "closed"
    assert evening.verdicts() == verdicts


@pytest.mark.parametrize("state", ["closed", "faites_vos_jeux", "operations", "rien_va"])
def test_a_suspension_ends_where_it_began(state: str) -> None:
    evening = table_in(state)
    assert evening.say("suspend", by="direction").done
    assert evening.state == "suspended"
    assert evening.say("resume", by="direction").done
    assert evening.state == state


def test_a_suspension_of_a_running_coup_ends_in_rien_va() -> None:
    evening = table_in("ball_running")
    evening.say("suspend")
    assert evening.verdicts() == [("void", "breakdown")]
    evening.say("resume")
    assert evening.state == "rien_va"


# --- tout va (C11) -----------------------------------------------------------------------------------------------


def test_tout_va_is_refused_while_the_ball_is_elsewhere() -> None:
    evening = table_in("rien_va")
    evening.lying = 9
    evening.wait(5)
    refused = evening.say("tout_va")
    assert (refused.done, "pocket of the last number" in refused.why) == (False, True)
    assert "ball_misplaced" in evening.notices()
    assert "remettre la bille dans le 17" in evening.of("table")[-1]["waiting_for"]
    evening.put_back()
    assert evening.say("tout_va").done


def test_tout_va_is_refused_while_nobody_saw_the_ball_go_home() -> None:
    evening = Evening().open()
    evening.launch(laps=5)
    evening.wait(1.5)
    evening.say("rien_va")
    evening._planned.clear()
    evening.wait(3)
    assert not evening.say("tout_va").done


def test_at_a_tables_first_coup_the_chefs_word_serves() -> None:
    evening = Evening(msgspec.structs.replace(FRENCH, last_number=None)).open()
    evening.launch(laps=5)
    evening.wait(1.5)
    evening.say("rien_va")
    assert evening.say("tout_va").done
    assert evening.state == "faites_vos_jeux"


def test_without_a_last_number_the_ball_may_lie_anywhere() -> None:
    """Where it is seen first is its place: no other is known."""
    evening = Evening(msgspec.structs.replace(FRENCH, last_number=None))
    evening.lying = 9
    evening.wait(5)
    evening.open()
    evening.wait(5)
    assert evening.notices() == []


def test_also_without_a_last_number_a_ball_that_went_elsewhere_was_moved() -> None:
    evening = Evening(msgspec.structs.replace(FRENCH, last_number=None))
    evening.lying = 9
    evening.wait(5)
    evening.open()
    evening.lying = 30
    evening.wait(5)
    assert evening.notices() == ["unobserved_coup"]


def sighted(evening: Evening, number: int, times: int) -> None:
    """Wait until the ball was seen in `number` so many times in a row."""
    pocket = evening.readers.tracker
    while (pocket.number, pocket.state.streak_length) != (number, times):
        evening.wait(0.1)


def test_tout_va_wants_the_ball_seen_at_least_twice_in_its_pocket() -> None:
    """A ball thrown back may bounce once in its pocket and lie in another."""
    evening = Evening().open()
    evening.launch(laps=5)
    evening.wait(1.5)
    evening.say("rien_va")
    evening._planned.clear()
    evening.lying = 17
    sighted(evening, 17, 1)
    assert not evening.say("tout_va").done
    sighted(evening, 17, 2)
    assert evening.say("tout_va").done


def test_one_sighting_in_another_pocket_refuses_tout_va() -> None:
    evening = table_in("rien_va")
    evening.lying = 9
    sighted(evening, 9, 1)
    refused = evening.say("tout_va")
    assert (refused.done, "pocket of the last number" in refused.why) == (False, True)


def test_lost_for_more_than_two_reader_intervals_and_a_fifth_is_too_long() -> None:
    for after_us, done in ((2_150_000, True), (2_250_000, False)):
        evening = table_in("rien_va")
        evening.lying = None
        evening.until(evening.observer.pocket.sightings[-1].t_us + after_us)
        assert evening.say("tout_va").done == done, after_us


def test_while_the_rotor_stands_the_ball_last_seen_at_home_is_there() -> None:
    """No reader can meet a ball that doesn't turn, and the bouler may stop the rotor between coups (A7)."""
    evening = table_in("rien_va")
    evening.turn(0)
    evening.wait(60)
    assert evening.say("tout_va").done


def test_a_ball_that_ran_and_was_seen_once_elsewhere_is_not_in_its_pocket() -> None:
    """The launch took it from its pocket: that it once lay there counts no more."""
    evening = Evening().open()
    evening.launch(laps=5)
    evening.wait(1.5)
    evening.say("rien_va")
    evening._planned.clear()
    evening.lying = 9
    while evening.readers.tracker.number != 9:
        evening.wait(0.2)
    assert not evening.say("tout_va").done


def test_a_ball_put_back_home_after_a_void_is_worth_no_notice() -> None:
    evening = Evening().open()
    evening.run()
    evening.say("rien_va")
    evening.put_back()
    evening.wait(5)
    assert evening.notices() == []
    assert evening.say("tout_va").done


# --- la dernière (A5) --------------------------------------------------------------------------------------------


def test_la_derniere_closes_the_table_after_the_next_valid_coup() -> None:
    evening = Evening().open()
    assert evening.say("last_coup").done
    assert evening.of("table")[-1]["last_coup"] is True
    evening.coup(8)
    assert evening.state == "operations"
    assert evening.say("operations_done").done
    assert evening.state == "closed"
    assert evening.of("table")[-1]["last_coup"] is False


def test_a_void_does_not_use_la_derniere_up() -> None:
    evening = Evening().open()
    evening.say("last_coup")
    for _ in range(2):
        evening.void_by_chef()
        assert evening.say("tout_va").done
        assert evening.state == "faites_vos_jeux"
        assert evening.of("table")[-1]["last_coup"] is True
    evening.coup(8)
    evening.say("operations_done")
    assert evening.state == "closed"


def test_la_derniere_announced_in_operations_is_the_coup_after() -> None:
    evening = table_in("operations")
    evening.say("last_coup")
    evening.say("operations_done")
    assert evening.state == "faites_vos_jeux"
    evening.coup(30)
    evening.say("operations_done")
    assert evening.state == "closed"


def test_an_early_launch_after_la_derniere_still_ends_in_closing() -> None:
    """The coup was valid and is used up; both debts are paid first, in either order."""
    for first, second in (("tout_va", "operations_done"), ("operations_done", "tout_va")):
        evening = Evening().open()
        evening.say("last_coup")
        evening.coup(8)
        evening.launch(laps=6)
        evening.wait(1.5)
        evening._planned.clear()
        evening.put_back()
        assert evening.verdicts() == [("result", 8), ("void", "early_launch")]
        assert evening.say(first).done  # type: ignore[arg-type]
        assert evening.state != "closed"
        assert evening.say(second).done  # type: ignore[arg-type]
        assert evening.state == "closed", first


def test_a_table_reopened_after_la_derniere_plays_on() -> None:
    evening = Evening().open()
    evening.say("last_coup")
    evening.coup(8)
    evening.say("operations_done")
    assert evening.say("open").done
    evening.coup(9)
    evening.say("operations_done")
    assert evening.state == "faites_vos_jeux"


def test_closing_forgets_la_derniere() -> None:
    evening = Evening().open()
    evening.say("last_coup")
    evening.say("close")
    evening.say("open")
    evening.coup(8)
    evening.say("operations_done")
    assert evening.state == "faites_vos_jeux"
