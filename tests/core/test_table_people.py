"""What people ask of the table (A1–A6): granted, refused with a reason, recorded."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.evening import CLOCKWISE, FRENCH, Evening
from tests.core.table_in_state import table_in
from wheeld.core.observations import Command, CommandName

# --- commands and their answers ----------------------------------------------------------------------------------


def test_each_command_is_answered_with_its_id_who_and_why() -> None:
    evening = Evening()
    reply = evening.say("open", by="chef Rossi")
    assert (reply.name, reply.by, reply.done, reply.id) == ("open", "chef Rossi", True, "id-0")
    again = evening.say("open")
    assert (again.done, again.why) == (False, "the table is open")


def test_what_a_word_does_names_the_person_and_the_sender() -> None:
    """In the reply, in the state that it led to, in a notice; a button has no name at the broker."""
    evening = Evening()
    step = evening.observe(Command(evening.now_us, "open", "Anna", "time", id="c", user="chef-3"))
    assert [(reply.by, reply.user) for reply in step.replies] == [("Anna", "chef-3")]
    assert [(one["by"], one["user"], one["reason"]) for one in evening.of("table")[-1:]] == [("Anna", "chef-3", "time")]
    evening.observe(Command(evening.now_us, "last_coup", "Bo", "late", id="d", user="direction"))
    (notice,) = evening.of("notice")
    assert (notice["notice"], notice["by"], notice["user"]) == ("last_coup", "Bo", "direction")
    evening.observe(Command(evening.now_us, "suspend", "button"))
    assert [(one["by"], one["user"]) for one in evening.of("table")[-1:]] == [("button", None)]


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
    assert notice["text"] == '"tout va" refused: nothing was void'


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
    evening._planned.clear()
    evening.wait(3)
    evening.say("resume")
    assert evening.state == "rien_va"


@pytest.mark.parametrize("launched", ["before the suspension", "during the suspension", "while a sensor failed"])
def test_resume_is_refused_while_a_ball_is_seen_running(launched: str) -> None:
    """§6: nobody may bet on a coup that was not observed fully."""
    evening = Evening().open()
    if launched == "before the suspension":
        passes = evening.launch()
        evening.wait(2)
    if launched == "while a sensor failed":
        evening.sensor("reader/1", ok=False)
    else:
        evening.say("suspend", by="direction", reason="a quarrel")
    if launched != "before the suspension":
        passes = evening.launch()
        evening.wait(2)
    evening.sensor("reader/1", ok=True)
    count = len(evening.published)
    refused = evening.say("resume", by="direction")
    assert (refused.done, "a ball runs" in refused.why) == (False, True)
    assert (evening.state, evening.published[count:]) == ("suspended", [])
    evening.until(passes[-1].t_us)
    assert not evening.say("resume", by="direction").done
    evening.fall(30)
    assert evening.say("resume", by="direction").done
    assert evening.of("result") == []


# --- tout va (C11) -----------------------------------------------------------------------------------------------


def test_tout_va_is_refused_while_the_ball_is_elsewhere() -> None:
    evening = table_in("rien_va")
    evening.lying = 9
    evening.wait(5)
    refused = evening.say("tout_va")
    assert (refused.done, "pocket of the last number" in refused.why) == (False, True)
    assert "ball_misplaced" in evening.notices()
    assert "put the ball back in 17" in evening.of("table")[-1]["waiting_for"]
    evening.put_back()
    assert evening.say("tout_va").done


def test_a_rotor_that_stands_after_a_void_must_turn_before_tout_va() -> None:
    """docs/rulebook.md 3: the ball is back, but only a reader that meets it can say so. Where it lay before the rotor
    stopped is not said any more: nobody can see it."""
    evening = table_in("rien_va")
    evening.lying = 9
    evening.wait(5)
    evening.turn(0)
    evening.wait(4)
    evening.lying = 17
    table = evening.last("table").payload
    assert table["waiting_codes"][:3] == ["put_back", "turn_rotor", "tout_va"]
    assert "then turn the rotor, so that a reader can see the ball" in table["waiting_for"]
    refused = evening.say("tout_va")
    assert (refused.done, refused.why.endswith("does the rotor turn?")) == (False, True)
    evening.turn(20)
    evening.wait(4)
    assert "turn_rotor" not in evening.last("table").payload["waiting_codes"]
    assert evening.say("tout_va").done


def test_tout_va_waits_ten_seconds_for_a_reader_to_see_the_ball_and_is_then_refused() -> None:
    """docs/rulebook.md 6: the reply gives the reason."""
    evening = Evening().open()
    evening.launch(laps=5)
    evening.wait(1.5)
    evening.say("rien_va")
    evening._planned.clear()
    evening.wait(3)
    asked_us = evening.now_us
    refused = evening.say("tout_va")
    assert (refused.done, refused.t_us - asked_us) == (False, 10_000_001)
    assert refused.why.endswith("no reader has seen the ball in its pocket yet: does the rotor turn?")


def test_tout_va_said_before_a_reader_has_seen_the_ball_is_granted_when_one_does() -> None:
    evening = Evening().open()
    evening.launch(laps=5)
    evening.wait(1.5)
    evening.say("rien_va")
    evening._planned.clear()
    evening.wait(3)
    evening.ask("tout_va")
    evening.ask("rien_ne_va_plus")
    evening.wait(5)
    assert len(evening.replies) == 2
    evening.put_back()
    assert [reply.done for reply in evening.replies[2:]] == [True, True], "a word waits behind the one before"
    states = [table["state"] for table in evening.of("table")]
    assert states[-2:] == ["faites_vos_jeux", "rien_ne_va_plus"], "and each is published"


@pytest.mark.parametrize(("name", "state"), [("suspend", "suspended"), ("close", "closed")])
def test_the_direction_need_not_wait_for_a_tout_va(name: CommandName, state: str) -> None:
    """A6: at any moment."""
    evening = Evening().open()
    evening.launch(laps=5)
    evening.wait(1.5)
    evening.say("rien_va")
    evening._planned.clear()
    evening.wait(3)
    evening.ask("tout_va")
    evening.ask(name)
    assert [(reply.name, reply.done) for reply in evening.replies[-2:]] == [("tout_va", False), (name, True)]
    assert evening.state == state


def test_what_is_said_behind_a_tout_va_is_not_done_after_a_close_that_was_said_later() -> None:
    """Words keep their order: "open", said while the table was open, opens no closed table."""
    evening = Evening().open()
    evening.launch(laps=5)
    evening.wait(1.5)
    evening.say("rien_va")
    evening._planned.clear()
    evening.wait(3)
    for name in ("tout_va", "open", "close"):
        evening.ask(name)
    evening.wait(12)
    assert [(reply.name, reply.done) for reply in evening.replies[-3:]] == [
        ("tout_va", False), ("open", False), ("close", True),
    ]  # fmt: skip
    assert evening.state == "closed"


def test_at_a_tables_first_coup_the_chefs_word_serves() -> None:
    evening = Evening(msgspec.structs.replace(FRENCH, last_number=None)).open()
    evening.launch(laps=5)
    evening.wait(1.5)
    evening.say("rien_va")
    evening._planned.clear()
    refused = evening.say("tout_va")
    assert (refused.done, "a ball runs or falls" in refused.why) == (False, True)
    assert evening.last("table").payload["waiting_codes"] == ["block_ball", "ball_at_rest", "tout_va"]
    evening.wait(8)
    assert evening.last("table").payload["waiting_codes"] == ["clear_obstacle", "tout_va"]
    assert evening.say("tout_va").done
    assert evening.notices()[-1] == "chefs_word"
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
    assert evening.notices() == ["unobserved_coup", "sensor_trouble"]


def sighted(evening: Evening, number: int, times: int) -> None:
    """Wait until the ball was seen in `number` so many times in a row."""
    pocket = evening.readers
    while (pocket.pocket, len(pocket.state.streak)) != (CLOCKWISE.index(number), times):
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
    evening.ask("tout_va")
    assert [reply.name for reply in evening.replies] == ["open", "rien_va"]
    sighted(evening, 17, 2)
    assert (evening.replies[-1].name, evening.replies[-1].done) == ("tout_va", True)


def test_one_sighting_in_another_pocket_refuses_tout_va() -> None:
    evening = table_in("rien_va")
    evening.lying = 9
    sighted(evening, 9, 1)
    asked = len(evening.replies)
    evening.ask("tout_va")
    assert len(evening.replies) == asked, "one sighting may be a bounce"
    sighted(evening, 9, 2)
    refused = evening.replies[-1]
    assert (refused.done, "pocket of the last number" in refused.why) == (False, True)


def test_a_ball_that_was_taken_does_not_lie_in_its_pocket_any_more() -> None:
    """docs/rulebook.md 3: known once the rotor has turned by the widest gap between two readers, and two pockets."""
    for after_us, done in ((1_100_000, True), (1_250_000, False)):
        evening = table_in("rien_va")
        evening.lying = None
        evening.until(evening.observer.pocket.sightings[-1].t_us + after_us)
        asked = len(evening.replies)
        evening.ask("tout_va")
        assert [reply.done for reply in evening.replies[asked:]] == [True] * done, after_us


def test_a_ball_that_was_taken_is_not_back_because_the_rotor_stops() -> None:
    evening = table_in("rien_va")
    evening.lying = None
    evening.wait(3)
    assert evening.last("table").payload["waiting_codes"] == ["no_launch", "put_back", "tout_va"]
    evening.turn(0)
    evening.wait(3)
    evening.ask("tout_va")
    evening.wait(11)
    assert (evening.replies[-1].done, "does the rotor turn?" in evening.replies[-1].why) == (False, True)
    assert evening.state == "rien_va"


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
    while evening.readers.pocket != CLOCKWISE.index(9):
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
    assert evening.of("table")[-1]["last_coup"] == "this"
    evening.coup(8)
    assert evening.state == "operations"
    assert evening.of("table")[-1]["last_coup"] == "played"
    assert evening.say("operations_done").done
    assert evening.state == "closed"
    assert evening.of("table")[-1]["last_coup"] is None


@pytest.mark.parametrize("is_announced", [False, True])
def test_a_close_before_la_derniere_was_played_is_published(is_announced: bool) -> None:
    """C14: it is announced before a table stops."""
    evening = Evening().open()
    if is_announced:
        evening.say("last_coup")
    assert evening.say("close").done
    assert evening.notices()[-1] == "early_end"


def test_a_close_after_la_derniere_is_no_news() -> None:
    evening = Evening().open()
    evening.say("last_coup")
    evening.coup(8)
    assert evening.say("close").done
    assert evening.state == "closed"
    assert "early_end" not in evening.notices()


def test_a_void_does_not_use_la_derniere_up() -> None:
    evening = Evening().open()
    evening.say("last_coup")
    for _ in range(2):
        evening.void_by_chef()
        assert evening.of("table")[-1]["last_coup"] == "next"
        assert evening.say("tout_va").done
        assert evening.state == "faites_vos_jeux"
        assert evening.of("table")[-1]["last_coup"] == "this"
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


def test_la_derniere_said_again_in_its_own_run_is_still_that_coup() -> None:
    evening = Evening().open()
    evening.say("last_coup")
    evening.launch()
    evening.wait(2)
    count = len(evening.published)
    again = evening.say("last_coup")
    assert (again.done, "so already" in again.why) == (True, True)
    assert evening.published[count:] == []
    evening.until(max(seen.t_us for seen in evening._planned))
    evening.fall(8)
    evening.say("operations_done")
    assert evening.state == "closed"


def test_a_void_of_the_coup_that_ran_at_the_announcement_uses_nothing_up() -> None:
    evening = Evening().open()
    evening.launch(laps=5)
    evening.wait(1.5)
    evening.say("last_coup")
    evening.say("rien_va")
    evening._planned.clear()
    evening.put_back()
    evening.say("tout_va")
    assert evening.of("table")[-1]["last_coup"] == "this"
    evening.coup(8)
    evening.say("operations_done")
    assert evening.state == "closed"


def test_la_derniere_taken_back_after_it_was_played_lets_the_game_go_on() -> None:
    """Until the table is closed: afterwards it is opened again."""
    evening = Evening().open()
    evening.say("last_coup")
    evening.coup(8)
    assert evening.say("last_coup_off").done
    assert evening.say("operations_done").done
    assert evening.state == "faites_vos_jeux"
    evening.say("last_coup")
    evening.coup(9)
    evening.say("operations_done")
    assert evening.state == "closed"


# --- a close in a run (C11 "in any case") ------------------------------------------------------------------------


def closed_in_a_run() -> Evening:
    """17 came out last; the direction ended play while the next coup ran, and a hand stopped the ball."""
    evening = table_in("ball_running")
    assert evening.say("close", by="direction", reason="a fire").done
    evening._planned.clear()
    evening.wait(60)
    return evening


def test_after_a_close_in_a_run_the_ball_goes_back_and_tout_va_is_said_at_the_next_opening() -> None:
    evening = closed_in_a_run()
    assert (evening.state, evening.verdicts()) == ("closed", [("void", "breakdown")])
    opened = evening.say("open")
    assert (opened.done, '"tout va" is still owed' in opened.why) == (True, True)
    table = evening.of("table")[-1]
    assert (table["state"], table["bets"]) == ("rien_va", "closed")
    assert table["waiting_for"] == 'put the ball back in 17, then "tout va", when you see the ball in its pocket'
    assert not evening.say("tout_va").done
    evening.put_back()
    assert evening.say("tout_va").done
    assert evening.of("table")[-1]["waiting_for"] == '"rien ne va plus", then launch of the ball'
    assert evening.say("rien_ne_va_plus").done
    assert evening.of("table")[-1]["waiting_for"] == "launch of the ball"
    assert evening.coup(4)["coup"] == 2


def test_a_launch_at_such_an_opening_is_early() -> None:
    evening = closed_in_a_run()
    evening.say("open")
    evening.launch()
    evening.wait(2)
    assert evening.verdicts() == [("void", "breakdown"), ("void", "early_launch")]


@pytest.mark.parametrize(
    "owed", ["closed after rien va", "suspended in the run, then closed", "closed before the proof"]
)
def test_tout_va_stays_owed_whatever_closed_the_table(owed: str) -> None:
    evening = table_in("rien_va" if owed == "closed after rien va" else "faites_vos_jeux")
    if owed != "closed after rien va":
        passes = evening.launch(laps=6)
        evening.until(passes[1].t_us if owed == "closed before the proof" else passes[5].t_us)
    if owed == "suspended in the run, then closed":
        evening.say("suspend")
    evening.say("close")
    evening.wait(5)
    assert len(evening.verdicts()) == 1
    evening.say("open")
    assert evening.state == "rien_va"
    evening.put_back()
    assert evening.say("tout_va").done
    assert evening.state == "faites_vos_jeux"


@pytest.mark.parametrize("paid_first", [True, False])
def test_tout_va_that_was_said_is_not_owed_again(paid_first: bool) -> None:
    """After an early launch, whichever is settled first."""
    evening = table_in("rien_va, operations owed")
    evening.put_back()
    if paid_first:
        evening.say("operations_done")
    evening.say("tout_va")
    evening.say("close")
    evening.say("open")
    assert evening.state == "faites_vos_jeux"


def test_a_close_without_a_void_owes_nothing() -> None:
    for state in ("faites_vos_jeux", "operations", "suspended"):
        evening = table_in(state)
        evening.say("close")
        evening.say("open")
        assert evening.state == "faites_vos_jeux", state


# --- who and why (A6) --------------------------------------------------------------------------------------------


def who_and_why(evening: Evening) -> tuple[str, str | None, str | None]:
    table = evening.of("table")[-1]
    return table["state"], table["by"], table["reason"]


def test_suspension_resumption_and_closing_are_published_with_who_and_why() -> None:
    evening = Evening().open()
    assert who_and_why(evening) == ("faites_vos_jeux", "chef", "")
    evening.say("suspend", by="Verdi, direction", reason="a quarrel at the table")
    assert who_and_why(evening) == ("suspended", "Verdi, direction", "a quarrel at the table")
    evening.say("resume", by="Neri, direction", reason="settled")
    assert who_and_why(evening) == ("faites_vos_jeux", "Neri, direction", "settled")
    evening.say("close", by="Verdi, direction", reason="end of the day")
    assert who_and_why(evening) == ("closed", "Verdi, direction", "end of the day")


def test_who_suspended_stays_published_while_the_suspension_lasts() -> None:
    """The message is retained: a control office that comes later reads it too."""
    evening = Evening().open()
    evening.say("suspend", by="direction", reason="a quarrel")
    evening.sensor("beam/1", ok=False)
    assert "beam 2" in evening.of("table")[-1]["waiting_for"]
    assert who_and_why(evening) == ("suspended", "direction", "a quarrel")


def test_what_no_person_did_names_nobody() -> None:
    evening = Evening()
    assert who_and_why(evening) == ("closed", None, None)
    evening.open()
    evening.sensor("beam/1", ok=False)
    assert who_and_why(evening) == ("suspended", None, None)
    evening.sensor("beam/1", ok=True)
    evening.say("resume", by="chef", reason="cleaned")
    evening.run()
    assert who_and_why(evening) == ("ball_running", None, None)


def test_the_reason_of_one_void_is_not_that_of_the_next() -> None:
    evening = Evening().open()
    evening.run()
    evening.say("rien_va", by="Anna", reason="a late bet")
    assert who_and_why(evening) == ("rien_va", "Anna", "a late bet")
    evening.wait(30)
    evening.launch(laps=6)
    evening.wait(4)
    assert evening.verdicts()[-1] == ("void", "early_launch")
    assert who_and_why(evening) == ("rien_va", None, None)


@pytest.mark.parametrize("word", ["resume", "close"])
def test_only_the_direction_ends_its_own_suspension(word: CommandName) -> None:
    """A6; after a restart, too. Whoever of the direction it is, and what anybody else suspended the chef resumes."""
    evening = Evening().open()
    evening.say("suspend", by="Verdi", user="direction", role="direction", reason="a quarrel")
    assert evening.of("table")[-1]["waiting_codes"] == ["direction", "resume"]
    evening = Evening(memory=evening.memory)
    for refused in (evening.say(word, user="chef-3", role="chef"), evening.say(word)):  # and a button
        assert (refused.done, "only the direction" in refused.why) == (False, True)
    assert evening.say(word, by="Neri", user="direction-2", role="direction", reason="settled").done
    assert "direction" not in evening.of("table")[-1]["waiting_codes"]
    if word == "resume":
        evening.say("suspend", role="chef", reason="a spilled drink")
        assert evening.say("resume", role="chef").done


def test_who_and_why_survive_a_restart() -> None:
    before = Evening().open()
    before.say("suspend", by="direction", reason="a quarrel")
    after = Evening(memory=before.memory)
    after.sensor("beam/1", ok=False)
    assert who_and_why(after) == ("suspended", "direction", "a quarrel")
