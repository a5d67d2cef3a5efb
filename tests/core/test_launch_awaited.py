"""docs/rulebook.md 6: a wheel that has the command to launch and does not launch voids nothing; a notice reports it."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.evening import Evening
from tests.core.head_evening import CHEF, COMBINED, SLINGSHOT, HeadEvening
from wheeld.replay import replay


def awaited(evening: Evening) -> list[int]:
    """When it was reported."""
    notices = [one for one in evening.published if one.topic == "notice"]
    return [one.payload["t_us"] for one in notices if one.payload["notice"] == "launch_awaited"]


def test_no_ball_within_a_minute_of_rien_ne_va_plus_is_reported_once() -> None:
    evening = Evening().open()
    evening.say("rien_ne_va_plus")
    said_us = evening.now_us
    evening.wait(200)
    assert awaited(evening) == [said_us + 60_000_000]
    notice = evening.of("notice")[-1]
    assert notice["text"].endswith("rulebook 6: this voids nothing; the table waits for the launch")
    assert (evening.state, evening.verdicts()) == ("rien_ne_va_plus", [])
    assert "launch" in evening.last("table").payload["waiting_for"]
    evening.run()
    evening.fall(9)
    assert evening.verdicts() == [("result", 9)]


@pytest.mark.parametrize("name", ["rien_va", "suspend", "close"])
def test_nothing_is_awaited_any_more_after_the_coup_ended_otherwise(name: str) -> None:
    evening = Evening().open()
    evening.say("rien_ne_va_plus")
    evening.wait(5)
    assert evening.say(name).done  # type: ignore[arg-type]
    evening.wait(100)
    assert awaited(evening) == []


def test_a_ball_that_runs_is_awaited_no_more() -> None:
    evening = Evening().open()
    evening.say("rien_ne_va_plus")
    evening.wait(5)
    evening.run()
    evening.fall(9)
    evening.wait(100)
    assert awaited(evening) == []


def test_it_is_reported_anew_in_the_next_game() -> None:
    evening = Evening().open()
    for _ in range(2):
        evening.say("rien_ne_va_plus")
        evening.wait(70)
        evening.run()
        evening.fall(9)
        evening.say("operations_done")
    assert len(awaited(evening)) == 2


def test_after_a_restart_the_minute_begins_anew() -> None:
    evening = Evening().open()
    evening.wait(1000)
    evening.say("rien_ne_va_plus")
    again = Evening(memory=evening.memory)
    again.wait(100)
    assert awaited(again) == [60_000_000]


def test_the_log_of_its_coup_replays_to_the_same_notice() -> None:
    evening = Evening().open()
    evening.say("rien_ne_va_plus")
    evening.wait(70)
    evening.run()
    evening.fall(9)
    (log,) = evening.evidence
    assert sum(b"launch_awaited" in line for line in replay(log.log.splitlines())) == 1


# --- a head that says so ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", [CHEF, COMBINED])
@pytest.mark.parametrize("closed", [False, True])
def test_a_misfire_is_reported_once_while_its_flag_stands(setting: object, *, closed: bool) -> None:
    evening = HeadEvening(setting).ready()  # type: ignore[arg-type]
    if closed:
        evening.say("rien_ne_va_plus")
    for _ in range(3):
        evening.warns("launch_failed")
        evening.lines(2)
    assert len(awaited(evening)) == 1
    assert evening.of("notice")[-1]["text"].startswith("the wheel reports that its launch failed; ")
    evening.warns()
    evening.warns("launch_failed")
    assert len(awaited(evening)) == 2
    assert evening.verdicts() == []


def test_a_misfire_while_a_ball_runs_or_no_launch_is_awaited_is_none() -> None:
    evening = HeadEvening(CHEF)
    evening.warns("launch_failed")
    evening.warns()
    evening.ready()
    evening.report_phase("running")
    evening.warns("launch_failed")
    assert awaited(evening) == []


@pytest.mark.parametrize("again", ["operations_done", "tout_va", "resume", "open"])
def test_a_misfire_that_stands_as_bets_open_is_reported_then(again: str) -> None:
    """The wheel fires by itself, also while the table pays: its flag is a level, and nobody was told of it then."""
    evening = HeadEvening(CHEF).ready()
    match again:
        case "operations_done":
            evening.game(32, None)
            evening.say("confirm", coup=1, reason="seen by all")
            evening.goes_on()
        case "tout_va":
            evening.runs(None)
            evening.say("rien_va")
            evening.warns("no_number", void=True)
            evening.report_phase("ready", 3)
        case "resume":
            evening.say("suspend")
        case _:
            evening.say("close")
    evening.warns("launch_failed")
    evening.lines(2)
    assert awaited(evening) == []
    assert evening.say(again).done  # type: ignore[arg-type]
    (text,) = [one["text"] for one in evening.of("notice") if one["notice"] == "launch_awaited"]
    assert text.endswith("this voids nothing; the table waits for the launch")
    assert evening.state == "faites_vos_jeux"
    assert evening.say("rien_ne_va_plus").done
    evening.lines(2)
    assert len(awaited(evening)) == 1


def test_a_misfire_that_a_restart_hid_is_reported_after_it() -> None:
    """The head reports its flag anew."""
    evening = HeadEvening(CHEF).ready()
    after = HeadEvening(CHEF, memory=evening.memory)
    after.report_phase("ready")
    after.warns("launch_failed")
    assert len(awaited(after)) == 1


@pytest.mark.parametrize("setting", [CHEF, COMBINED])
def test_a_misfire_that_ended_while_the_line_failed_hides_no_later_one(setting: object) -> None:
    """After a gap the head reports the warnings that stand, and nothing if none does."""
    evening = HeadEvening(setting).ready()  # type: ignore[arg-type]
    evening.warns("launch_failed")
    evening.goes_silent()
    evening.silent = False
    evening.sensor("head", ok=True)
    evening.report_phase("ready", 2)
    assert evening.say("resume").done
    assert len(awaited(evening)) == 1
    evening.warns("launch_failed")
    assert len(awaited(evening)) == 2


# --- a wheel that launches by itself and stops its game ---------------------------------------------------------------

BOTH = [SLINGSHOT, CHEF, COMBINED]


def stopped(evening: Evening) -> list[str]:
    """What was said of it."""
    return [one["text"] for one in evening.of("notice") if one["notice"] == "wheel_stopped"]


def at(place: str, setting: object) -> HeadEvening:
    """A table of that wheel in a state in which no ball runs."""
    evening = HeadEvening(setting).ready()  # type: ignore[arg-type]
    match place:
        case "rien_ne_va_plus":
            evening.say("rien_ne_va_plus")
        case "operations":
            evening.launches_past_beams() if setting is COMBINED else evening.runs(None)
            evening.falls(32)
            if evening.state == "awaiting_chef":
                evening.say("confirm", coup=1, reason="seen by all")
        case "rien_va":
            evening.say("rien_ne_va_plus")
            evening.say("rien_va")
    assert evening.state == place
    return evening


@pytest.mark.parametrize(
    ("place", "setting"),
    [(place, one) for place in ("faites_vos_jeux", "rien_ne_va_plus", "rien_va") for one in BOTH]
    + [("operations", CHEF)],
)
def test_a_wheel_that_stops_its_game_under_an_open_table_suspends_it(place: str, setting: object) -> None:
    """State 6 of a SlingShot 2 (docs/wheels.md 1.3): no coup can be observed, and bets are not shown open (N8)."""
    evening = at(place, setting)
    verdicts = evening.verdicts()
    evening.report_phase("idle", 3)
    assert (evening.state, evening.verdicts()) == ("suspended", verdicts)
    (text,) = stopped(evening)
    assert text.startswith("the wheel has stopped its game; N8")
    table = evening.of("table")[-1]
    assert (table["bets"], table["waiting_codes"], table["failing"]) == ("closed", ["start_wheel", "resume"], [])
    assert table["waiting_for"] == "start the wheel, which has stopped its game, then resumption of play"
    refused = evening.say("resume")
    assert not refused.done
    assert refused.why.endswith("the wheel has stopped its game, and no coup could be observed: start the wheel first")
    evening.report_phase("ready", 2)
    assert evening.state == "suspended"
    assert evening.of("table")[-1]["waiting_codes"] == ["resume"]
    assert evening.say("resume").done
    assert evening.state == place
    assert len(stopped(evening)) == 1


def test_one_damaged_line_stops_nothing() -> None:
    """A line has no checksum: 2 and 6 differ in one bit."""
    evening = HeadEvening(CHEF).ready()
    evening.report_phase("idle")
    evening.report_phase("ready", 5)
    assert (evening.state, stopped(evening)) == ("faites_vos_jeux", [])


def test_a_wheel_that_reports_its_stop_once_more_has_stopped_since_the_first_line() -> None:
    """A line that opens again tells the state of the game again."""
    evening = HeadEvening(CHEF).ready()
    evening.report_phase("idle", 3)
    evening.report_phase("idle", 3)
    assert (evening.state, len(stopped(evening))) == ("suspended", 1)


def test_a_stopped_wheel_at_a_closed_table_is_no_fault_and_is_started_before_the_table_opens() -> None:
    evening = HeadEvening(CHEF)
    evening.report_phase("idle", 5)
    assert (evening.state, stopped(evening)) == ("closed", [])
    assert evening.of("table")[-1]["waiting_codes"] == ["start_wheel", "open"]
    assert not evening.say("open").done
    evening.report_phase("ready", 2)
    assert evening.say("open").done
    assert not evening.say("open").done


def test_a_restart_learns_it_again_by_its_lines() -> None:
    evening = HeadEvening(CHEF).ready()
    after = HeadEvening(CHEF, memory=evening.memory)
    after.report_phase("idle", 2)
    assert (after.state, len(stopped(after))) == ("suspended", 1)


def test_a_silence_in_which_it_was_started_leaves_no_stop() -> None:
    evening = HeadEvening(CHEF).ready()
    evening.report_phase("idle", 3)
    evening.goes_silent()
    assert evening.of("table")[-1]["waiting_codes"] == ["repair", "resume"]
    evening.silent = False
    evening.sensor("head", ok=True)
    evening.report_phase("ready", 2)
    assert evening.say("resume").done


def test_a_wheel_that_stops_while_its_number_awaits_the_chef_suspends_play_after_his_word() -> None:
    evening = HeadEvening(CHEF).ready()
    evening.game(32, None)
    evening.report_phase("idle", 3)
    assert (evening.state, evening.verdicts(), stopped(evening)) == ("awaiting_chef", [], [])
    assert evening.say("confirm", coup=1, reason="seen by all").done
    assert (evening.state, evening.verdicts(), len(stopped(evening))) == ("suspended", [("result", 32)], 1)
    evening.report_phase("ready", 2)
    assert evening.say("resume").done
    assert evening.state == "operations"


def test_a_wheel_that_stops_under_a_ball_that_only_beams_saw_voids_its_coup() -> None:
    """No number will come (N8)."""
    evening = HeadEvening(COMBINED).ready()
    evening.launch(laps=10)
    evening.wait(3)
    assert evening.state == "ball_running"
    evening.report_phase("idle", 2)
    assert (evening.state, evening.verdicts()) == ("suspended", [("void", "breakdown")])


def test_a_wheel_that_stops_in_its_own_game_is_one_breakdown_and_is_started_before_play_goes_on() -> None:
    evening = HeadEvening(CHEF).ready()
    evening.report_phase("running", 4)
    evening.report_phase("idle", 4)
    assert (evening.state, evening.verdicts(), stopped(evening)) == ("suspended", [("void", "breakdown")], [])
    assert not evening.say("resume").done
    evening.report_phase("ready", 2)
    assert evening.say("resume").done


def test_a_wheel_that_people_turn_and_launch_at_is_not_stopped() -> None:
    """State 6 of a Mercury 360 is a closed table, or a rotor that nobody turned for ten minutes: the bouler does."""
    evening = HeadEvening().ready()
    evening.report_phase("idle", 5)
    assert (evening.state, stopped(evening)) == ("faites_vos_jeux", [])


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("fr", "remettre en marche la roulette, qui a arrêté son jeu, puis reprise du jeu"),
        ("it", "riavviare la roulette, che ha fermato il suo gioco, poi ripresa del gioco"),
    ],
)
def test_people_read_it_in_their_language(language: str, words: str) -> None:
    evening = HeadEvening(msgspec.structs.replace(CHEF, language=language)).ready()
    evening.report_phase("idle", 3)
    assert evening.of("table")[-1]["waiting_for"] == words
