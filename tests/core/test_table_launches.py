"""When a launch counts: by its first pass, whatever the table did until three passes proved it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from tests.core.evening import CLOCKWISE, FRENCH, START_UTC_US, Evening
from tests.core.table_in_state import table_in
from wheeld.core.instants import to_text
from wheeld.core.observations import BallPass, CommandName, Rotor, Sighting


def first_passes(evening: Evening, count: int = 2) -> None:
    """A launch, and the first of its passes: too few to prove it."""
    passes = evening.launch(laps=6)
    evening.until(passes[count - 1].t_us)


def proof(evening: Evening) -> None:
    """The passes that prove it."""
    evening.wait(1)


def say(*names: CommandName) -> Callable[[Evening], None]:
    def give_commands(evening: Evening) -> None:
        for name in names:
            evening.ask(name, by="direction")

    return give_commands


def closed(evening: Evening) -> None:
    evening.wait(2)


def opened(evening: Evening) -> None:
    evening.open()


def operations(evening: Evening) -> None:
    evening.open().coup(8)


def null(evening: Evening) -> None:
    evening.open().void_by_chef()


def both_owed(evening: Evening) -> None:
    """An early launch: "tout va" and the operations are owed."""
    operations(evening)
    first_passes(evening, 5)
    evening._planned.clear()
    evening.put_back()


def suspended(evening: Evening) -> None:
    evening.open().say("suspend")


def suspended_from_closed(evening: Evening) -> None:
    closed(evening)
    evening.say("suspend")


# --- the table moved on between the first pass and the proof ------------------------------------------------------


@pytest.mark.parametrize(
    ("at_first_pass", "then", "void", "after"),
    [
        (operations, say("operations_done"), "early_launch", "rien_va"),
        (operations, say("operations_done", "rien_ne_va_plus"), "early_launch", "rien_va"),
        (null, say("tout_va"), "early_launch", "rien_va"),
        (null, say("tout_va", "rien_ne_va_plus"), "early_launch", "rien_va"),
        (both_owed, say("tout_va"), "early_launch", "rien_va"),
        (opened, say("suspend"), "breakdown", "suspended"),
        (operations, say("suspend"), "early_launch", "suspended"),
        (opened, say("suspend", "resume"), "breakdown", "suspended"),
        (opened, say("close"), "breakdown", "closed"),
        (opened, say("close", "open"), "breakdown", "rien_va"),
    ],
)
def test_a_launch_counts_from_its_first_pass(
    at_first_pass: Callable[[Evening], None], then: Callable[[Evening], None], void: str, after: str
) -> None:
    """N2, N8: an early launch is not made good by a command given before the table could prove it."""
    evening = Evening()
    at_first_pass(evening)
    before = evening.verdicts()
    first_passes(evening)
    then(evening)
    assert evening.verdicts() == before
    proof(evening)
    assert evening.verdicts() == [*before, ("void", void)]
    assert evening.state == after
    evening.until(max(seen.t_us for seen in evening._planned))
    evening.fall(30)
    evening.wait(5)
    assert evening.verdicts() == [*before, ("void", void)]


@pytest.mark.parametrize(
    ("at_first_pass", "then", "after"),
    [(closed, say("open"), "closed"), (suspended, say("resume"), "suspended")],
)
def test_a_launch_made_while_no_game_was_on_stays_of_no_game(
    at_first_pass: Callable[[Evening], None], then: Callable[[Evening], None], after: str
) -> None:
    """docs/rulebook.md 6: it is a notice, and where its ball falls is no result. "Open" and "resume" are refused
    while it runs."""
    evening = Evening()
    at_first_pass(evening)
    before = evening.verdicts()
    first_passes(evening)
    then(evening)
    proof(evening)
    assert [notice for notice in evening.notices() if notice.startswith("launch_while")]
    evening.until(max(seen.t_us for seen in evening._planned))
    evening.fall(30)
    evening.wait(5)
    assert evening.verdicts() == before
    assert evening.state == after


def test_such_a_void_is_dated_by_the_first_pass() -> None:
    evening = Evening()
    operations(evening)
    passes = evening.launch(laps=6)
    evening.until(passes[1].t_us)
    evening.say("operations_done")
    proof(evening)
    void = evening.last("void").payload
    assert void["evidence_at"] == to_text(START_UTC_US + passes[0].t_us)
    assert void["coup"] == 2


def test_after_an_early_launch_in_both_debts_the_operations_are_owed_again() -> None:
    evening = Evening()
    both_owed(evening)
    before = evening.verdicts()
    first_passes(evening)
    say("tout_va")(evening)
    proof(evening)
    assert evening.verdicts() == [*before, ("void", "early_launch")]
    evening._planned.clear()
    evening.put_back()
    assert evening.replies[-1].done, "it waited for the ball in its pocket"
    assert evening.state == "operations"


def test_a_ball_launched_as_play_was_suspended_must_be_put_back_first() -> None:
    evening = Evening()
    opened(evening)
    first_passes(evening)
    say("suspend")(evening)
    proof(evening)
    evening._planned.clear()
    evening.wait(3)
    say("resume")(evening)
    assert evening.state == "rien_va"


@pytest.mark.parametrize(
    ("at_first_pass", "then", "notice", "after"),
    [
        (closed, say("suspend"), "launch_while_closed", "suspended"),
        (suspended_from_closed, say("resume"), "launch_while_suspended", "suspended"),
        (suspended, say("close"), "launch_while_suspended", "closed"),
    ],
)
def test_where_no_game_was_on_a_launch_is_no_coup(
    at_first_pass: Callable[[Evening], None], then: Callable[[Evening], None], notice: str, after: str
) -> None:
    evening = Evening()
    at_first_pass(evening)
    first_passes(evening)
    then(evening)
    proof(evening)
    assert evening.state == after
    assert evening.verdicts() == []
    assert [each for each in evening.notices() if each.startswith("launch")] == [notice]


def test_rien_ne_va_plus_between_the_passes_changes_nothing_of_the_launch() -> None:
    """The bets close a moment after the ball left the hand: as at every coup."""
    evening = Evening().open()
    first_passes(evening)
    say("rien_ne_va_plus")(evening)
    proof(evening)
    assert evening.verdicts() == []
    assert evening.state == "rien_ne_va_plus"


def test_what_was_owed_or_paid_during_the_first_passes_of_a_void_ball_does_not_matter() -> None:
    """From both debts to one is no other place: launched before "tout va" it is N2, once."""
    evening = Evening()
    both_owed(evening)
    before = evening.verdicts()
    first_passes(evening)
    say("operations_done")(evening)
    proof(evening)
    assert evening.verdicts() == [*before, ("void", "early_launch")]


def test_a_launch_in_the_moment_after_the_command_is_in_time() -> None:
    evening = Evening()
    operations(evening)
    say("operations_done")(evening)
    first_passes(evening)
    proof(evening)
    assert evening.verdicts() == [("result", 8)]
    assert evening.state == "ball_running"


def test_a_new_launch_while_the_first_one_goes_on_the_obstacle_is_a_breakdown() -> None:
    """N8: its first pass came while the table still waited for the fall."""
    evening = Evening().open()
    evening.run(laps=6)
    due_us = evening.observer.deadline_us()
    assert due_us is not None
    evening.until(due_us + 100_000)
    fall_us = evening.observer.pocket.fall_due_us(evening.observer.run.last_us or 0)
    evening.until(fall_us - 250_000)
    passes = evening.launch(rev_s=0.9, laps=6)
    evening.until(fall_us + 100_000)
    assert passes[0].t_us < fall_us < passes[2].t_us
    assert (evening.state, evening.verdicts()) == ("ball_on_obstacle", [])
    proof(evening)
    assert evening.verdicts() == [("void", "breakdown")]
    assert evening.state == "suspended"


# --- "rien va" as the ball starts (N7) ----------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("early", [False, True])
def test_rien_va_at_the_first_passes_voids_once_with_the_pass_that_proves_the_launch(
    count: int, *, early: bool
) -> None:
    """N7: any time before the number is out. It is dated when it was said."""
    evening = Evening().open()
    if early:
        evening.say("rien_ne_va_plus")
    first_passes(evening, count)
    said_us = evening.now_us
    evening.ask("rien_va", by="chef Rossi", user="chef-3", reason="dispute")
    proof(evening)
    assert evening.replies[-1].done
    void = evening.last("void").payload
    assert (void["by"], void["user"], void["reason"]) == ("chef Rossi", "chef-3", "dispute")
    assert void["evidence_at"] == to_text(START_UTC_US + said_us)
    assert evening.verdicts() == [("void", "chef")]
    assert evening.state == "rien_va"
    evening._planned.clear()
    evening.put_back()
    assert evening.say("tout_va").done
    assert evening.coup(30)["coup"] == 2


@pytest.mark.parametrize("rpm", [20, 0])
def test_rien_va_long_after_a_stray_is_refused(rpm: float) -> None:
    evening = Evening().open()
    evening.turn(rpm)
    evening.wait(5)
    evening.plan(BallPass(evening.now_us + 100_000, 1))
    evening.wait(10)
    assert not evening.say("rien_va").done
    assert evening.verdicts() == []


# --- a foreign object since the first pass (N6) -------------------------------------------------------------------


@pytest.mark.parametrize("early", [False, True])
def test_an_object_that_was_there_at_any_time_since_the_first_pass_voids(*, early: bool) -> None:
    evening = Evening().open()
    if early:
        evening.say("rien_ne_va_plus")
    first_passes(evening)
    evening.drop()
    evening.drop(present=False)
    proof(evening)
    assert evening.verdicts() == [("void", "foreign_object")]
    assert evening.state == "rien_va"


def test_an_object_cleared_after_the_first_pass_was_there_at_the_launch() -> None:
    evening = Evening().open()
    evening.drop()
    first_passes(evening)
    evening.drop(present=False)
    proof(evening)
    assert evening.verdicts() == [("void", "foreign_object")]


def test_an_object_cleared_before_the_first_pass_voids_nothing() -> None:
    evening = Evening().open()
    evening.drop()
    evening.wait(0.5)
    evening.drop(present=False)
    evening.wait(0.01)
    first_passes(evening)
    proof(evening)
    assert evening.verdicts() == []
    assert evening.state == "ball_running"


# --- a ball taken off and launched again (N8) ---------------------------------------------------------------------


def taken_off(evening: Evening, after_laps: float, gone_s: float) -> None:
    """A ball that ran so far, then is not on the track for a while."""
    evening.run(laps=after_laps)
    evening.wait(gone_s)
    assert evening.verdicts() == []


@pytest.mark.parametrize("gone_s", [2.0, 3.5, 5.0])
def test_a_ball_found_again_faster_than_it_was_is_a_second_launch(gone_s: float) -> None:
    """No ball gains speed by itself: the first launch was not seen to its end."""
    evening = Evening().open()
    taken_off(evening, 6, gone_s)
    evening.run(laps=4)
    assert evening.verdicts() == [("void", "breakdown")]
    assert evening.state == "suspended"


def test_a_ball_found_again_the_other_way_is_a_second_launch() -> None:
    evening = Evening().open()
    taken_off(evening, 6, 2.0)
    evening.launch(evening.way, rev_s=0.8, laps=3)
    evening.wait(3)
    assert evening.verdicts() == [("void", "breakdown")]


def test_a_ball_found_again_as_slow_as_it_must_be_ran_all_the_while() -> None:
    evening = Evening().open()
    passes = evening.launch(laps=12)
    for hidden in passes[20:30]:
        evening._planned.remove(hidden)
    evening.until(passes[-1].t_us)
    evening.fall(9)
    assert evening.verdicts() == [("result", 9)]


# --- each opening is a game of its own ----------------------------------------------------------------------------


def test_a_run_that_ended_in_a_hand_does_not_hide_the_next_launch() -> None:
    """Launched while closed, taken off; the next launch is slower and soon, yet no part of that run."""
    evening = Evening()
    evening.wait(2)
    evening.run(laps=6)
    evening.wait(8)
    assert evening.notices() == ["launch_while_closed"]
    assert evening.say("open").done
    evening.run(rev_s=0.9, laps=5)
    assert evening.state == "ball_running"
    evening.fall(9)
    assert evening.verdicts() == [("result", 9)]
    assert evening.of("result")[0]["laps"] <= 5


def test_bets_that_were_closed_at_an_earlier_opening_are_open_now() -> None:
    """A2: the closing time in the result is that of this coup."""
    evening = Evening().open()
    evening.say("rien_ne_va_plus")
    say("close", "open")(evening)
    opened_us = evening.now_us
    last_pass_us = evening.run()
    evening.fall(9)
    result = evening.of("result")[0]
    assert opened_us < last_pass_us
    assert result["bets_closed_at"] == to_text(START_UTC_US + last_pass_us)


@pytest.mark.parametrize("laps", [2.5, 6.0])
def test_a_number_after_bets_closed_without_a_launch_is_a_breakdown(laps: float) -> None:
    """N8: the ball ran before the table was opened, its laps proven or not, and lay on an obstacle that nobody saw; no
    coup of this game was observed."""
    evening = Evening()
    evening.wait(2)
    evening.launch(rev_s=0.9, laps=laps)
    evening.until(max(seen.t_us for seen in evening._planned))
    evening.wait(15)
    assert evening.notices() == ["launch_while_closed"]
    say("open", "rien_ne_va_plus")(evening)
    evening.fall(9)
    evening.wait(2)
    assert evening.verdicts() == [("void", "breakdown")]
    assert evening.state == "suspended"


@pytest.mark.parametrize("resumed", [False, True])
def test_a_table_with_a_failing_sensor_cannot_be_opened(*, resumed: bool) -> None:
    evening = Evening()
    evening.wait(2)
    evening.sensor("beam/1", ok=False)
    assert evening.state == "suspended"
    if resumed:
        assert not evening.say("resume").done
    assert evening.say("close").done
    refused = evening.say("open")
    assert (refused.done, "sensor" in refused.why) == (False, True)
    assert evening.state == "closed"
    evening.sensor("beam/1", ok=True)
    assert evening.say("open").done


# --- pulses that are no launch, and launches too weak to be followed ----------------------------------------------


THIRDS = msgspec.structs.replace(FRENCH, beams_deg=(0, 120, 240))


@pytest.mark.parametrize("turns", [True, False])
def test_two_passes_and_then_nothing_are_a_launch_only_while_the_rotor_turns(*, turns: bool) -> None:
    """Readers cannot find where the ball lies while the rotor stands: two strays may be a hand at the bowl."""
    evening = Evening(THIRDS).open()
    evening.wait(3)
    if not turns:
        evening.turn(0)
        evening.wait(5)
    evening.lying = None
    evening.plan(BallPass(evening.now_us + 100_000, 0), BallPass(evening.now_us + 700_000, 1))
    evening.wait(15)
    assert evening.verdicts() == ([("void", "too_few_laps")] if turns else [])


@pytest.mark.parametrize("state", ["faites_vos_jeux", "bets closed before the launch", "operations"])
def test_two_passes_of_a_hand_launch_nothing(state: str) -> None:
    """docs/rulebook.md 6: less than a third of a lap apart, and nothing after them: the bouler puts the ball on the
    track, and launches it later."""
    evening = table_in(state)
    before = evening.verdicts()
    evening.lying = None
    evening.wait(2)
    evening.plan(BallPass(evening.now_us, 0), BallPass(evening.now_us + 500_000, 1))
    evening.wait(10)
    assert evening.verdicts() == before
    evening.run()
    evening.fall(9)
    early = state == "operations"
    assert evening.verdicts() == [*before, ("void", "early_launch") if early else ("result", 9)]


def test_a_third_pass_decides() -> None:
    evening = Evening().open()
    evening.lying = None
    evening.wait(2)
    evening.plan(*(BallPass(evening.now_us + 500_000 * n, n) for n in range(3)))
    evening.wait(4)
    assert evening.verdicts() == [("void", "too_few_laps")]


@pytest.mark.parametrize("last_number", [17, None])
def test_where_the_ball_lies_after_such_passes_decides(last_number: int | None) -> None:
    """It is published when the ball is seen in its pocket, dated by the first pass."""
    evening = Evening(msgspec.structs.replace(FRENCH, last_number=last_number)).open()
    evening.lying = None
    evening.wait(2)
    first_us = evening.now_us
    evening.plan(BallPass(first_us, 0), BallPass(first_us + 500_000, 1))
    evening.wait(4)
    assert evening.verdicts() == []
    evening.lying = 9
    evening.wait(5)
    assert evening.verdicts() == [("void", "too_few_laps")]
    assert evening.of("void")[0]["evidence_at"] == to_text(START_UTC_US + first_us)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("after_s", [3.5, 6.5])
def test_a_stray_after_such_passes_hides_no_launch(count: int, after_s: float) -> None:
    """It comes while the ball falls, or when readers have begun to see it in its pocket."""
    evening = Evening().open()
    evening.lying = None
    evening.wait(2)
    first_us = evening.now_us
    passes = [BallPass(first_us + n * 500_000, n) for n in range(count)]
    evening.plan(*passes, BallPass(passes[-1].t_us + round(after_s * 1e6), 3))
    evening.wait(4)
    evening.lying = 9
    evening.wait(8)
    assert evening.verdicts() == [("void", "too_few_laps")]
    assert evening.of("void")[0]["evidence_at"] == to_text(START_UTC_US + first_us)


def test_a_stray_and_a_ball_that_is_seen_for_the_first_time_launch_nothing() -> None:
    evening = Evening(msgspec.structs.replace(FRENCH, last_number=None)).open()
    evening.plan(BallPass(evening.now_us + 100_000, 0))
    evening.wait(4)
    evening.lying = 9
    evening.wait(5)
    assert evening.verdicts() == []


def confirmed(number: int, *, sightings: int) -> Evening:
    """A hand stopped the rotor after so many sightings of the fallen ball, the chef gave the number, and the rotor
    turns again. Readers have not met it three times yet."""
    evening = Evening().open()
    evening.run()
    evening.wait(3)
    evening.lying = number
    while len(evening.readers.state.streak) < sightings:
        evening.wait(0.1)
    evening.turn(0)
    evening.wait(8)
    assert evening.state == "awaiting_chef"
    assert evening.say("confirm", coup=1, number=number, reason="all saw it").done
    evening.turn(20)
    return evening


def weakly_launch(evening: Evening, into: int) -> None:
    """One pass, and the ball lies in that pocket."""
    evening.lying = None
    evening.plan(BallPass(evening.now_us + 500_000, 2))
    evening.wait(4)
    evening.lying = into
    evening.wait(6)


@pytest.mark.parametrize("sightings", [0, 1, 2])
@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ((), "early_launch"),
        (("operations_done",), "too_few_laps"),
        (("operations_done", "rien_ne_va_plus"), "too_few_laps"),
    ],
)
def test_from_the_pocket_that_the_chef_gave_one_pass_is_a_launch(
    said: tuple[CommandName, ...], cause: str, sightings: int
) -> None:
    """docs/rulebook.md 6: seen on the track and then lying in another pocket. R3b: by his word it lay in that one."""
    evening = confirmed(9, sightings=sightings)
    for word in said:
        assert evening.say(word).done
    weakly_launch(evening, into=30)
    assert evening.verdicts() == [("result", 9), ("void", cause)]


def test_in_the_pocket_that_the_chef_gave_one_pulse_launches_nothing() -> None:
    evening = confirmed(9, sightings=1)
    weakly_launch(evening, into=9)
    assert evening.verdicts() == [("result", 9)]
    assert evening.state == "operations"


@pytest.mark.parametrize("misplaced", [False, True])
def test_from_the_pocket_in_which_tout_va_was_granted_one_pass_is_a_launch(*, misplaced: bool) -> None:
    """docs/rulebook.md 3: for "tout va" the ball lies in its pocket, so it is launched from there. Readers met it twice
    there, and a number asks for more. It counts for nothing where it was put by mistake before."""
    evening = Evening().open()
    evening.launch(laps=5)
    evening.wait(1.5)
    assert evening.say("rien_va").done
    evening._planned.clear()
    evening.wait(8)
    if misplaced:
        evening.lying = 30
        evening.wait(4.5)
        assert not evening.say("tout_va").done
    evening.lying = 17
    while (evening.readers.pocket, len(evening.readers.state.streak)) != (CLOCKWISE.index(17), 2):
        evening.wait(0.1)
    assert evening.say("tout_va").done
    weakly_launch(evening, into=30)
    assert evening.verdicts() == [("void", "chef"), ("void", "too_few_laps")]


def test_a_ball_that_runs_as_the_chef_confirms_does_not_lie_where_he_says() -> None:
    """It was launched while the number awaited him, and counts for nothing (R3b), also with a stray as it falls."""
    evening = Evening().open()
    evening.run()
    evening.wait(3)
    evening.lying = 9
    evening.wait(1.5)
    evening.turn(0)
    evening.wait(8)
    evening.turn(20)
    passes = evening.launch(laps=6)
    evening.until(passes[6].t_us)
    assert evening.say("confirm", coup=1, number=9, reason="all saw it").done
    evening.until(passes[-1].t_us)
    evening.wait(2.6)
    evening.plan(BallPass(evening.now_us + 100_000, 1))
    evening.wait(0.4)
    evening.lying = 30
    evening.wait(6)
    assert evening.verdicts() == [("result", 9)]


def test_readers_that_called_another_pocket_know_better_where_the_ball_lies() -> None:
    """R3b: a hand moved it there before the chef gave the number. A pulse beside it launches nothing."""
    evening = Evening().open()
    evening.run()
    evening.wait(3)
    evening.lying = 9
    evening.wait(1.5)
    evening.turn(0)
    evening.wait(8)
    evening.turn(20)
    evening.lying = 30
    evening.wait(4.5)
    assert evening.say("confirm", coup=1, number=9, reason="all saw it").done
    weakly_launch(evening, into=30)
    assert evening.verdicts() == [("result", 9)]


def test_after_two_such_passes_the_pocket_still_decides() -> None:
    evening = Evening().open()
    evening.wait(3)
    evening.turn(0)
    evening.wait(5)
    evening.lying = None
    evening.plan(BallPass(evening.now_us + 100_000, 0), BallPass(evening.now_us + 500_000, 1))
    evening.wait(8)
    evening.turn(20)
    evening.lying = 9
    evening.wait(5)
    assert evening.verdicts() == [("void", "too_few_laps")]


def test_a_weak_launch_is_known_by_the_first_sighting_however_slow_the_rotor() -> None:
    """At 5 turns a minute one reader needs 24 s from its first sighting to its third."""
    evening = Evening(msgspec.structs.replace(FRENCH, readers_deg=(30,)), rpm=5).open()
    evening.wait(30)
    evening.lying = None
    evening.plan(BallPass(evening.now_us + 500_000, 2))
    evening.wait(5)
    evening.lying = 9
    evening.wait(45)
    assert evening.verdicts() == [("void", "too_few_laps")]


def test_two_pulses_launch_no_ball_that_a_slow_rotor_has_not_yet_brought_back_to_its_reader() -> None:
    """docs/rulebook.md 6: at 5 turns a minute the one reader meets a lying ball every 12 s. Until then it is not
    gone."""
    evening = Evening(msgspec.structs.replace(FRENCH, readers_deg=(30,), beams_deg=(0, 120, 240)), rpm=5).open()
    evening.wait(30)
    while not isinstance(evening.seen[-1], Sighting):
        evening.wait(0.001)
    evening.plan(BallPass(evening.now_us + 100_000, 0), BallPass(evening.now_us + 750_000, 1))
    evening.wait(40)
    assert evening.verdicts() == []


@pytest.mark.parametrize("edges", [1, 2])
def test_a_rattling_encoder_turns_no_rotor_the_wrong_way(edges: int) -> None:
    """A rotor that stands as the ball is launched: its first edges may be one border, rattled; R1 needs three."""
    evening = Evening(way="ccw").open()
    evening.turn(0)
    evening.wait(5)
    tick = [seen for seen in evening.seen if isinstance(seen, Rotor)][-1].tick
    passes = evening.launch("cw")
    evening.until(passes[3].t_us)
    for n in range(edges):
        evening.observe(Rotor(evening.now_us + n, (tick + 1 + n) % 148, "cw"))
    evening.now_us += edges
    evening.turn(20, "ccw")
    evening.until(passes[-1].t_us)
    assert evening.verdicts() == []
    evening.fall(9)
    assert evening.verdicts() == [("result", 9)]
    assert evening.of("result")[0]["rotor_direction"] == "ccw"


def test_readers_side_by_side_see_one_bounce_not_a_number() -> None:
    """R3: sightings of a few degrees may all be of one moment in a pocket that the ball leaves again."""
    evening = Evening(msgspec.structs.replace(FRENCH, readers_deg=(30, 31, 32))).open()
    evening.run()
    evening.wait(3)
    evening.lying = 30
    while len(evening.readers.state.streak) < 3:
        evening.wait(0.005)
    evening.wait(0.2)
    assert evening.verdicts() == []
    evening.lying = 9
    evening.wait(7)
    assert evening.verdicts() == [("result", 9)]


def test_a_launch_while_a_number_awaits_the_chef_counts_for_nothing_though_it_is_proven_after_his_word() -> None:
    """One "rien va" is one void, of the coup whose number awaited him."""
    evening = Evening(msgspec.structs.replace(FRENCH, confirm_numbers=True)).open()
    evening.run()
    evening.fall(9)
    assert evening.state == "awaiting_chef"
    evening.wait(3)
    first_passes(evening)
    evening.ask("rien_va", by="chef")
    proof(evening)
    assert (evening.verdicts(), evening.state) == ([("void", "chef")], "rien_va")
    assert "launch_too_early" in evening.notices()
