"""docs/rulebook.md 6: nobody may bet on a coup that was not observed fully. While a launched ball runs or falls, of
whichever coup, or of none, no command opens the bets; and nobody is stranded by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import msgspec
import pytest

from tests.core.evening import FRENCH, Evening
from tests.core.head_evening import COMBINED, MERCURY, HeadEvening
from wheeld.core.facts import State
from wheeld.core.law.needs import NO_OBSTACLE, Known
from wheeld.core.law.people import fact_of
from wheeld.core.law.rows import BEFORE_LAUNCH, COUP, Goto
from wheeld.core.law.table import Ruled, look_up
from wheeld.core.observations import Command, CommandName, HeadGame, HeadNumber
from wheeld.core.table_state import TableState
from wheeld.core.tracking.ball import FALL_US_MAX, HEAD_RUN_US_MAX, Ball, Phase, Where
from wheeld.core.tracking.evidence import Evidence
from wheeld.core.tracking.observer import Observer, ObserverState

WORDS: tuple[CommandName, ...] = ("open", "operations_done", "tout_va", "resume")
"""Every command that may open the bets."""
SOON_S = 16.0
"""A ball that nobody touches has rested by then, or lies on an obstacle: six seconds for the fall, and one and a half
turns of the slowest rotor of these tests."""
NO_NUMBER = msgspec.structs.replace(FRENCH, last_number=None)
PLACES = {
    Where.LIES: (Phase.NONE, None),
    Where.TAKEN: (Phase.NONE, None),
    Where.RUNS: (Phase.ON_TRACK, None),
    Where.FALLS: (Phase.OFF_TRACK, 20_000_000),
    Where.UNSEEN: (Phase.NONE, None),
}
"""What the observer remembers in each phase of a ball."""


def standings() -> Iterator[TableState]:
    """Every standing of the table that a command meets and in which no coup runs."""
    for state, resume_to in product(State, State):
        if state in COUP or resume_to in (*COUP, State.SUSPENDED) or (state, resume_to) == (State.CLOSED, State.CLOSED):
            continue
        for owed in (False, True):
            yield TableState(state=state, resume_to=resume_to, tout_va_owed=owed)
            yield TableState(state=state, resume_to=resume_to, tout_va_owed=owed, la_derniere="played")
    yield TableState()


def known(table: TableState, place: Where, name: CommandName) -> Known:
    phase, until_us = PLACES[place]
    observer = Observer(NO_NUMBER, ObserverState(ball=Ball(place, until_us)))
    observer.run.phase = phase
    observer.run.launched_us = None if place is Where.LIES else 1
    return Known(table, observer, NO_NUMBER.profile.pockets, 10_000_000, Command(10_000_000, name, by="chef"))


def ruled(table: TableState, place: Where, name: CommandName) -> Ruled:
    """What the law says to the command."""
    here = known(table, place, name)
    assert here.command is not None
    return look_up(Evidence(fact_of(here.command), here.now_us), here)


def opens_bets(table: TableState, place: Where, name: CommandName) -> bool:
    """Whether the command would lead to open bets, or back to where they were open."""
    row = ruled(table, place, name).row
    to = table.resume_to if row.next is Goto.RETURN else row.next
    return not row.refuse and to in BEFORE_LAUNCH


@pytest.mark.parametrize("name", WORDS)
def test_no_command_opens_the_bets_while_a_ball_runs_or_falls(name: CommandName) -> None:
    """In every state, wherever it leads. At rest, and after the time of a fall, each that would open them does."""
    opening = 0
    for table in standings():
        would = opens_bets(table, Where.LIES, name)
        opening += would
        assert not opens_bets(table, Where.RUNS, name), table
        assert not opens_bets(table, Where.FALLS, name), table
        assert opens_bets(table, Where.UNSEEN, name) == would, table
    assert opening


@pytest.mark.parametrize("name", WORDS)
def test_what_opens_no_bets_is_refused_no_more_than_without_a_ball(name: CommandName) -> None:
    """La dernière was played, or "tout va" is owed: nobody bets next. Only "resume" waits for a ball on the track."""
    for table, place in product(standings(), (Where.RUNS, Where.FALLS)):
        if opens_bets(table, Where.LIES, name) or (name == "resume" and place is Where.RUNS):
            continue
        rows = [ruled(table, seen, name).row for seen in (Where.LIES, place)]
        assert rows[0].refuse == rows[1].refuse, (table, place)
        assert rows[0].next == rows[1].next, (table, place)


@pytest.mark.parametrize("name", WORDS)
def test_a_person_answers_for_the_obstacle_where_the_word_opens_the_bets(name: CommandName) -> None:
    for table, place in product(standings(), Where):
        by_word = ruled(table, place, name).need is NO_OBSTACLE
        assert by_word == (place is Where.UNSEEN and opens_bets(table, place, name)), (table, place)


# --- at a wheel -------------------------------------------------------------------------------------------------------


def closed() -> Evening:
    evening = Evening()
    evening.wait(2)
    return evening


def suspended_with_open_bets() -> Evening:
    evening = Evening().open()
    evening.say("suspend", by="direction")
    return evening


def suspended_in_operations() -> Evening:
    evening = Evening().open()
    evening.coup(8)
    evening.say("suspend", by="direction")
    return evening


def a_first_coup_void() -> Evening:
    evening = Evening(NO_NUMBER).open()
    evening.launch(laps=6)
    evening.wait(1.5)
    evening.say("rien_va")
    evening._planned.clear()
    return evening


BEGINNINGS: dict[str, tuple[Callable[[], Evening], CommandName]] = {
    "closed": (closed, "open"),
    "suspended, bets were open": (suspended_with_open_bets, "resume"),
    "rien_va, no number yet": (a_first_coup_void, "tout_va"),
}


def codes(evening: Evening) -> list[str]:
    found = evening.last("table").payload["waiting_codes"]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_a_launch_of_no_coup_keeps_the_bets_closed_until_it_rests(beginning: str) -> None:
    """On the track, in its fall, and not a moment longer than readers need to see it at rest."""
    begin, word = BEGINNINGS[beginning]
    evening = begin()
    passes = evening.launch(laps=6)
    evening.until(passes[4].t_us)
    assert codes(evening) == [*(["block_ball"] if word == "tout_va" else []), "ball_at_rest", word]
    for _ in ("on the track", "falling"):
        refused = evening.say(word)
        assert (refused.done, "a ball runs or falls" in refused.why) == (False, True)
        evening.until(passes[-1].t_us + 2_000_000)
    assert codes(evening) == ["ball_at_rest", word]
    evening.wait(1)
    evening.lying = 9
    evening.wait(3.0)
    assert codes(evening) == [word]
    assert evening.say(word).done
    assert (evening.state, "chefs_word" in evening.notices()) == ("faites_vos_jeux", False)


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_a_ball_that_is_seen_nowhere_strands_nobody(beginning: str) -> None:
    """A hand took it, or it lies on an obstacle: no sensor knows. After the time of a fall a person's word counts, and
    is published."""
    begin, word = BEGINNINGS[beginning]
    evening = begin()
    evening.run(laps=6)
    evening._planned.clear()
    evening.wait(SOON_S)
    assert codes(evening) == ["clear_obstacle", word]
    assert evening.say(word, reason="taken out").done
    notice = next(one for one in evening.of("notice") if one["notice"] == "chefs_word")
    assert (notice["reason"], "no obstacle holds it" in notice["text"]) == ("taken out", True)
    assert evening.state == "faites_vos_jeux"
    evening.say("rien_ne_va_plus")
    assert evening.say("open").done
    assert evening.notices().count("chefs_word") == 1, "his word was given"
    evening.run()
    evening.fall(4)
    assert evening.verdicts()[-1] == ("result", 4)


@pytest.mark.parametrize("beginning", BEGINNINGS)
@pytest.mark.parametrize("rpm", [0.0, 15.0])
def test_the_refusal_ends_by_itself_however_the_rotor_turns(beginning: str, rpm: float) -> None:
    begin, word = BEGINNINGS[beginning]
    evening = begin()
    evening.run(laps=6)
    evening.turn(rpm)
    evening.wait(FALL_US_MAX / 1e6 + 1)
    assert codes(evening)[-2:] == ["clear_obstacle", word]
    assert evening.say(word).done


def test_pulses_that_no_ball_made_keep_nobody_waiting_once_readers_see_the_ball_lie() -> None:
    evening = suspended_with_open_bets()
    passes = evening.launch(laps=1.0)
    evening.lying = 17
    evening.until(passes[-1].t_us + 100_000)
    assert not evening.say("resume").done
    evening.wait(4.5)
    assert evening.say("resume").done
    assert evening.state == "faites_vos_jeux"


def test_a_ball_launched_while_the_number_awaits_the_chef_keeps_the_next_bets_closed() -> None:
    """It counts for nothing, and "operations done" would open the bets over it."""
    evening = Evening().open()
    evening.run()
    evening.wait(3)
    evening.lying = 9
    evening.wait(1.5)
    evening.turn(0)
    evening.wait(8)
    assert evening.state == "awaiting_chef"
    evening.turn(20)
    passes = evening.launch(laps=6)
    evening.until(passes[6].t_us)
    coup = evening.table.coup
    assert evening.say("confirm", coup=coup, number=9, reason="seen by all").done
    assert codes(evening) == ["ball_at_rest", "operations_done"]
    refused = evening.say("operations_done")
    assert (refused.done, "a ball runs or falls" in refused.why) == (False, True)
    evening.until(passes[-1].t_us)
    evening.wait(3)
    assert not evening.say("operations_done").done, "its run is forgotten, and it falls all the same"
    evening.lying = 9
    evening.wait(4.5)
    assert evening.say("operations_done").done
    assert evening.verdicts() == [("result", 9)]


@pytest.mark.parametrize(("stop", "go_on"), [("suspend", "resume"), ("close", "open")])
def test_nothing_comes_before_the_word_that_leads_back_to_the_chef(stop: CommandName, go_on: CommandName) -> None:
    """R3b: it is refused for nothing, so the table waits for nothing else, whatever ball runs meanwhile."""
    evening = Evening().open()
    evening.run()
    evening.wait(3)
    evening.lying = 9
    evening.wait(1.5)
    evening.turn(0)
    evening.wait(8)
    assert evening.say(stop, by="direction").done
    evening.turn(20)
    passes = evening.launch(laps=6)
    evening.until(passes[6].t_us)
    assert codes(evening) == [go_on, "confirm"]
    assert evening.say(go_on, by="direction").done
    assert evening.state == "awaiting_chef"


def test_operations_done_that_waited_for_a_proof_which_cannot_come_is_told_why() -> None:
    """The link failed before the number was proven: it awaits the chef, and operations are owed only after his word."""
    evening = Evening().open()
    evening.run()
    evening.wait(3)
    evening.lying = 9
    evening.wait(1.5)
    evening.ask("operations_done")
    evening.sensor("link", ok=False)
    evening.lying = None  # no reader is heard any more
    evening.wait(5)
    (reply,) = [one for one in evening.replies if one.name == "operations_done"]
    assert (reply.done, evening.state) == (False, "awaiting_chef")
    assert "awaits the chef" in reply.why


def test_a_number_that_the_chef_confirmed_leaves_no_ball_to_look_for() -> None:
    evening = Evening().open()
    evening.run()
    evening.wait(3)
    evening.lying = 9
    evening.wait(1.5)
    evening.turn(0)
    evening.wait(SOON_S)
    assert evening.say("confirm", coup=evening.table.coup, number=9, reason="seen by all").done
    assert codes(evening) == ["operations_done"]
    assert evening.say("operations_done").done
    assert "chefs_word" not in evening.notices()


def test_resume_into_rien_va_waits_for_the_track_only() -> None:
    """No bets open there: the ball goes back in its pocket first."""
    evening = Evening().open()
    passes = evening.launch(laps=6)
    evening.until(passes[8].t_us)
    evening.say("suspend", by="direction")
    assert codes(evening) == ["ball_at_rest", "resume"]
    assert not evening.say("resume").done
    evening.until(passes[-1].t_us + 2_500_000)
    assert codes(evening) == ["resume"]
    assert evening.say("resume").done
    assert (evening.state, codes(evening)) == ("rien_va", ["put_back", "tout_va"])


def test_la_derniere_closes_the_table_over_any_ball() -> None:
    evening = Evening().open()
    evening.say("last_coup")
    evening.coup(8)
    evening.say("suspend", by="direction")
    evening.run(laps=6)
    evening.wait(2.5)
    assert codes(evening) == ["resume"]
    assert evening.say("resume").done
    assert evening.say("operations_done").done
    assert evening.state == "closed"
    assert codes(evening) == ["ball_at_rest", "open"]


# --- at a wheel with a head -------------------------------------------------------------------------------------------


def test_a_heads_ball_keeps_the_bets_closed_until_its_number() -> None:
    evening = HeadEvening(MERCURY)
    evening.report_phase("ready", 2)
    evening.runs()
    assert codes(evening) == ["ball_at_rest", "open"]
    assert not evening.say("open").done
    evening.report_phase("off_track", 5)
    assert not evening.say("open").done
    evening.falls(9)
    assert codes(evening) == ["open"]
    assert evening.say("open").done


@pytest.mark.parametrize(("phase", "limit_us"), [("running", HEAD_RUN_US_MAX), ("off_track", FALL_US_MAX)])
def test_a_head_that_reports_a_ball_for_ever_strands_nobody(phase: str, limit_us: int) -> None:
    evening = HeadEvening(MERCURY)
    evening.report_phase("ready", 2)
    evening.report_phase("running")
    if phase == "off_track":
        evening.report_phase("off_track")
    assert not evening.say("open").done
    evening.lines(limit_us / 1e6 + 1)
    assert codes(evening) == ["clear_obstacle", "open"]
    assert evening.say("open").done


def test_a_head_that_is_ready_again_has_no_ball_on_its_way() -> None:
    """Also after a silence, in which its run was forgotten."""
    evening = HeadEvening(MERCURY)
    evening.report_phase("ready", 2)
    evening.report_phase("running", 2)
    evening.goes_silent()
    evening.wait(2)
    evening.silent = False
    evening.sensor("head", ok=True)
    assert evening.say("resume").done
    assert not evening.say("open").done
    evening.report_phase("ready", 2)
    assert evening.say("open").done
    assert "chefs_word" not in evening.notices()


def test_beams_beside_a_head_follow_the_ball_until_the_heads_number() -> None:
    evening = HeadEvening(COMBINED)
    evening.report_phase("ready", 2)
    evening.run(laps=6)
    assert not evening.say("open").done
    evening.wait(3)
    assert not evening.say("open").done
    evening.observe(HeadGame(evening.now_us, "number", evening.spin))
    assert not evening.say("open").done
    evening.observe(HeadNumber(evening.now_us, 9, evening.spin, whole=False))
    assert evening.say("open").done
    assert "chefs_word" not in evening.notices()
