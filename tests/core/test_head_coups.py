"""Whole games of a wheel with a head: what its reports prove, what voids, what is never a result."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from tests.core.head_evening import CHEF, MERCURY, SLINGSHOT, HeadEvening
from wheeld.core.facts import Fact
from wheeld.core.observations import ForeignObject, HeadBall, HeadGame, HeadRotor, Observation
from wheeld.core.tracking.evidence import Topic
from wheeld.core.tracking.observer import Observer

FAIR = msgspec.structs.replace(MERCURY, game="fair", wheel="fair", rotor_direction="ccw")


def running(setting: object = MERCURY, laps: int | None = 2) -> HeadEvening:
    """A coup in the middle of its run."""
    evening = HeadEvening(setting).ready()  # type: ignore[arg-type]
    evening.report_phase("running")
    for lap in range(1, (laps or 1) + 1):
        evening.ball(None if laps is None else lap, None if laps is None else "cw")
        evening.line()
    assert evening.state == "ball_running"
    return evening


# --- The Mercury 360 alone --------------------------------------------------------------------------------------------


def test_a_mercury_proves_a_coup_by_its_own_lines() -> None:
    evening = HeadEvening().ready()
    evening.game(32)
    assert evening.verdicts() == [("result", 32)]
    (result,) = evening.of("result")
    assert (result["laps"], result["ball_direction"], result["rotor_direction"]) == (8, "cw", "ccw")
    assert (result["rotor_rpm"], result["sightings"]) == (15.4, [])
    assert result["left_track_at"] == "2026-11-20T18:00:11.500000Z"
    assert (result["unproven"], result["confirmed_by"], result["confirmed_reason"]) == ([], None, None)
    assert (result["margin"], result["margin_of"]) == (None, None)
    assert evening.state == "operations"
    assert evening.table.counters == {"late": 0, "stray_pulses": 0, "double_pulses": 0}


def test_game_after_game() -> None:
    evening = HeadEvening().ready()
    for number in (32, 0, 17):
        evening.game(number)
        assert evening.say("operations_done").done
        evening.head_way = "cw" if evening.head_way == "ccw" else "ccw"
        evening.goes_on()
    assert evening.verdicts() == [("result", 32), ("result", 0), ("result", 17)]
    assert evening.notices() == []


def test_laps_are_latched_over_the_run_though_state_5_has_none() -> None:
    """1.6: `rr` is back to 00 with the number; nor does a smaller count later in the run take laps away."""
    evening = HeadEvening().ready()
    evening.runs(5)
    evening.ball(1, "cw")
    evening.falls(4)
    assert evening.verdicts() == [("result", 4)]
    assert evening.of("result")[0]["laps"] == 5


def test_laps_that_are_taken_back_prove_nothing() -> None:
    """The count began anew: which launch it belongs to is unknown."""
    evening = HeadEvening().ready()
    evening.runs(5)
    evening.ball(0, "cw")
    evening.ball(1, "cw")
    evening.falls(4)
    assert evening.verdicts() == [("void", "breakdown")]


@pytest.mark.parametrize("bets", ["open", "closed"])
def test_two_laps_are_too_few_reported_with_the_number(bets: str) -> None:
    evening = HeadEvening().ready()
    evening.runs(2)
    if bets == "closed":
        evening.say("rien_ne_va_plus")
    evening.falls(4)
    assert evening.verdicts() == [("void", "too_few_laps")]
    void = evening.of("void")[0]
    assert (void["evidence"]["laps_proven"], void["laps_needed"]) == (2, 3)
    assert evening.state == "rien_va"
    assert evening.notices() == ["number_after_void"]


def test_four_laps_where_four_are_asked() -> None:
    """South Dakota and New South Wales."""
    four = msgspec.structs.replace(MERCURY, min_laps=4)
    for laps, verdict in ((3, ("void", "too_few_laps")), (4, ("result", 9))):
        evening = HeadEvening(four).ready()
        evening.game(9, laps)
        assert evening.verdicts() == [verdict]


def test_the_ball_with_the_rotor_is_void_within_its_first_lines() -> None:
    evening = HeadEvening().ready()
    evening.report_phase("running")
    evening.ball(1, "ccw")
    evening.line()
    assert evening.verdicts() == [("void", "same_direction")]
    assert evening.of("void")[0]["evidence"]["ball_direction"] == "ccw"
    evening.report_phase("closing")
    evening.falls(4)
    assert evening.verdicts() == [("void", "same_direction")]
    assert evening.notices() == ["number_after_void"]


def test_a_ball_that_is_found_to_run_the_other_way_is_void_too() -> None:
    evening = running()
    evening.ball(3, "ccw")
    assert evening.verdicts() == [("void", "same_direction")]


@pytest.mark.parametrize("setting", [MERCURY, CHEF])
def test_the_heads_own_flag_is_enough(setting: object) -> None:
    """1.4: bit 2 while the ball runs is a void game; the same flag in state 2 is about a launch that failed."""
    evening = HeadEvening(setting).ready()  # type: ignore[arg-type]
    evening.warns("same_direction")
    evening.lines(6)
    evening.warns("launch_failed")
    evening.lines(6)
    evening.warns()
    assert (evening.verdicts(), evening.notices()) == ([], ["launch_awaited"])
    evening.report_phase("running")
    evening.warns("same_direction")
    assert evening.verdicts() == [("void", "same_direction")]
    assert evening.of("void")[0]["evidence"]["said_by"] == "head"
    evening.warns("same_direction", "ball_not_detected")
    evening.report_phase("closing")
    evening.falls(3)
    assert evening.verdicts() == [("void", "same_direction")]


def test_the_flag_counts_until_the_number_is_reported() -> None:
    evening = running(laps=8)
    evening.report_phase("closing")
    evening.report_phase("number")
    evening.warns("same_direction")
    evening.number(3)
    assert evening.verdicts() == [("void", "same_direction")]


def test_a_flag_that_stands_as_the_ball_is_seen_counts() -> None:
    evening = HeadEvening().ready()
    evening.warns("same_direction")
    evening.report_phase("running")
    assert evening.verdicts() == [("void", "same_direction")]


def test_a_single_lost_ball_and_a_slow_rotor_void_nothing() -> None:
    """1.8: flag 1 in state 4 comes in single lines; on a Mercury it is the rotor's speed."""
    evening = running(laps=8)
    evening.warns("ball_not_detected")
    evening.line()
    evening.warns("rotor_speed")
    evening.report_phase("closing")
    evening.falls(3)
    assert evening.verdicts() == [("result", 3)]


@pytest.mark.parametrize("when", ["running", "closing"])
def test_a_game_that_the_wheel_declares_void_is_a_breakdown(when: str) -> None:
    evening = running(laps=8)
    if when == "closing":
        evening.report_phase("closing")
    evening.warns("void_game", void=True)
    evening.warns("void_game", "rotor_speed", void=True)
    assert evening.verdicts() == [("void", "breakdown")]
    assert evening.of("void")[0]["evidence"]["warnings"] == "void_game"
    assert evening.state == "suspended"
    evening.falls(3)
    assert evening.verdicts() == [("void", "breakdown")]
    assert evening.notices() == ["number_after_void"]


def test_a_wheel_that_voids_its_game_when_none_is_on_is_a_notice_and_no_more() -> None:
    evening = HeadEvening().ready()
    evening.warns("void_game", void=True)
    assert (evening.verdicts(), evening.notices()) == ([], ["wheel_void"])


@pytest.mark.parametrize("phase", ["ready", "idle", "locked"])
def test_a_run_that_ends_without_a_number_is_a_breakdown(phase: str) -> None:
    evening = running(laps=8)
    evening.report_phase(phase)  # type: ignore[arg-type]
    assert evening.verdicts() == [("void", "breakdown")]
    assert evening.of("void")[0]["evidence"]["what"] == "no number came"
    evening.report_phase("idle")
    assert evening.verdicts() == [("void", "breakdown")]


def test_a_run_that_was_void_already_ends_quietly() -> None:
    evening = running(laps=8)
    evening.say("rien_va")
    evening.warns("void_game", void=True)
    evening.report_phase("ready")
    assert (evening.verdicts(), evening.notices()) == ([("void", "chef")], [])


def test_a_number_that_the_wheels_own_lines_disagree_about_is_none() -> None:
    evening = running(laps=8)
    evening.report_phase("closing")
    evening.report_phase("number")
    evening.number(None)
    assert evening.verdicts() == [("void", "breakdown")]
    evening.number(None)
    assert evening.verdicts() == [("void", "breakdown")]


def test_a_run_without_laps_is_not_proven_and_nobody_may_confirm_it() -> None:
    """A Mercury that is not in its extended mode: what this wheel could prove is not the chef's to confirm."""
    evening = HeadEvening().ready()
    evening.game(3, laps=None)
    assert evening.verdicts() == [("void", "breakdown")]
    assert evening.of("void")[0]["evidence"]["unproven"] == "R1 R2"


@pytest.mark.parametrize(
    ("laps", "verdict"),
    [
        ((1, 2, 4, 5), ("result", 9)),
        ((3, 4, 5, 5), ("result", 9)),
        ((0, 0, 2, 4), ("result", 9)),
        ((4, 5, 6, 6), ("void", "breakdown")),
        ((10, 10, 10, 10), ("void", "breakdown")),
    ],
)
def test_laps_that_no_ball_can_run_prove_none(laps: tuple[int, ...], verdict: tuple[str, object]) -> None:
    """A field that is stuck: a head counts from the first lap on."""
    evening = HeadEvening().ready()
    evening.report_phase("running")
    for lap in laps:
        evening.ball(lap, "cw")
        evening.line()
    evening.report_phase("closing")
    evening.falls(9)
    assert evening.verdicts() == [verdict]


# --- The rotor --------------------------------------------------------------------------------------------------------


def slow_down(evening: HeadEvening, *decirpm: int) -> None:
    for value in decirpm:
        evening.rpm = value / 10
        evening.line()


def test_a_rotor_that_slows_to_a_stand_is_void_within_two_seconds() -> None:
    evening = running(laps=8)
    slow_down(evening, 120, 67, 10)
    stood_us = evening.now_us
    slow_down(evening, 0)
    assert evening.verdicts() == []
    slow_down(evening, 0)
    assert evening.verdicts() == [("void", "rotor_stopped_running")]
    assert evening.now_us - stood_us <= 2_000_000
    assert evening.of("void")[0]["evidence"]["last_tick_us"] == stood_us
    slow_down(evening, 0, 0, 0, 100)
    assert len(evening.verdicts()) == 1


def test_off_the_track_it_is_a_stop_before_the_drop() -> None:
    """A SlingShot 2 with option 32 reports when the ball leaves: N5, not N4."""
    evening = HeadEvening(CHEF).ready()
    evening.runs(None)
    evening.report_phase("off_track")
    evening.ball(None, runs=False)
    slow_down(evening, 20, 0, 0)
    assert evening.verdicts() == [("void", "rotor_stopped_before_drop")]


def test_a_runaway_whose_speed_field_wraps_has_not_stopped() -> None:
    """B1 of the captures: 89.8, then 000 above 99.9 rpm; then the wheel brakes, and stands."""
    evening = running(CHEF, laps=None)
    evening.report_phase("closing")
    slow_down(evening, 144, 50, 44, 138, 234, 327, 425, 524, 616, 714, 806, 898)
    for rpm in (None, None, None, None):
        evening.rpm = rpm  # type: ignore[assignment]
        evening.line()
    assert evening.verdicts() == []
    slow_down(evening, 699, 349, 47, 5, 0)
    assert evening.verdicts() == []
    slow_down(evening, 0)
    assert evening.verdicts() == [("void", "rotor_stopped_running")]


def launched_at(rpm: float | None, setting: object = MERCURY) -> HeadEvening:
    """A whole run but for its number, the speed field at `rpm` from before the launch."""
    evening = HeadEvening(setting).ready()  # type: ignore[arg-type]
    evening.rpm = rpm  # type: ignore[assignment]
    evening.line()
    evening.runs(8 if setting is MERCURY else None)
    return evening


@pytest.mark.parametrize("setting", [MERCURY, CHEF])
@pytest.mark.parametrize("field", [None, 0.0])
def test_a_rotor_that_nobody_saw_turn_is_never_a_result(setting: object, field: float | None) -> None:
    """000 from before the launch to the number, with no reading before it that explains it."""
    evening = HeadEvening(setting)  # type: ignore[arg-type]
    evening.rpm = field  # type: ignore[assignment]
    evening.ready()
    evening.runs(8 if setting is MERCURY else None)
    evening.falls(9)
    assert evening.verdicts() == [("void", "breakdown")]


@pytest.mark.parametrize(("unread", "verdict"), [(1, ("result", 9)), (2, ("void", "breakdown"))])
@pytest.mark.parametrize("before", [15.4, 40.0])
def test_two_lines_without_a_speed_after_a_slow_one_are_perhaps_a_stop(
    before: float, unread: int, verdict: tuple[str, object]
) -> None:
    evening = launched_at(before)
    for rpm in [None] * unread:
        evening.rpm = rpm  # type: ignore[assignment]
        evening.line()
    evening.rpm = before
    evening.line()
    evening.falls(9)
    assert evening.verdicts() == [verdict]


@pytest.mark.parametrize(("rpm", "verdict"), [(89.8, ("result", 9)), (41.0, ("void", "breakdown"))])
def test_lines_without_a_speed_are_no_stop_only_of_a_rotor_that_ran_away(
    rpm: float, verdict: tuple[str, object]
) -> None:
    """The field wraps near 99.9; a rotor that was at 41 may have been stopped by a hand (N8)."""
    evening = launched_at(rpm)
    evening.rpm = None  # type: ignore[assignment]
    evening.lines(3)
    evening.falls(9)
    assert evening.verdicts() == [verdict]


def test_lines_without_a_speed_before_the_launch_are_of_no_run() -> None:
    evening = HeadEvening()
    evening.rpm = None  # type: ignore[assignment]
    evening.ready()
    evening.rpm = 15.4
    evening.line()
    evening.game(9)
    assert evening.verdicts() == [("result", 9)]


@pytest.mark.parametrize("before", [898, None])
def test_a_zero_after_no_slow_reading_proves_no_stop(before: int | None) -> None:
    evening = running(laps=8)
    evening.rpm = None if before is None else before / 10  # type: ignore[assignment]
    evening.line()
    slow_down(evening, 0, 0, 0)
    assert evening.verdicts() == []


def test_the_slingshots_own_stop_and_reversal_before_each_launch_is_normal() -> None:
    """1.8: in state 2 it slows to 000, waits, and may turn the other way."""
    evening = HeadEvening(CHEF).ready()
    slow_down(evening, 125, 67, 10, 1, 0, 0, 0)
    evening.head_way = "cw"
    slow_down(evening, 81, 162)
    evening.game(8, None)
    assert evening.verdicts() == []
    assert evening.confirm().done
    assert evening.of("result")[0]["rotor_direction"] == "cw"


def test_a_rotor_turned_round_while_the_ball_runs_has_stopped() -> None:
    evening = running(laps=8)
    evening.head_way = "cw"
    evening.line()
    assert evening.verdicts() == []
    evening.line()
    assert evening.verdicts() == [("void", "rotor_stopped_running")]


def test_one_line_with_the_other_direction_is_no_reversal() -> None:
    """Status lines have no checksum."""
    evening = running(laps=8)
    evening.head_way = "cw"
    evening.line()
    evening.head_way = "ccw"
    evening.report_phase("closing")
    evening.falls(2)
    assert evening.verdicts() == [("result", 2)]


def test_turned_round_at_the_launch_it_had_stopped_before() -> None:
    """N4 is armed from the launch on: one line with the new direction came before."""
    evening = HeadEvening().ready()
    evening.head_way = "cw"
    evening.line()
    evening.runs(6, "ccw")
    evening.falls(5)
    assert evening.verdicts() == [("result", 5)]


def test_a_ball_launched_on_a_standing_rotor_is_void() -> None:
    evening = HeadEvening().ready()
    slow_down(evening, 20, 0, 0, 0)
    evening.report_phase("running")
    evening.line()
    assert evening.verdicts() == [("void", "rotor_stopped_running")]


def test_a_fair_wheel_that_turns_the_wrong_way_is_a_breakdown() -> None:
    evening = HeadEvening(FAIR, way="cw").ready()
    evening.report_phase("running", 1)
    assert evening.verdicts() == [("void", "breakdown")]
    assert evening.of("void")[0]["evidence"]["configured"] == "ccw"
    right = HeadEvening(FAIR).ready()
    right.game(4)
    assert right.verdicts() == [("result", 4)]


def test_an_old_speed_is_not_the_results() -> None:
    evening = running(laps=8)
    evening.report_phase("closing")
    evening.wait(3)
    evening.number(3)
    assert evening.of("result")[0]["rotor_rpm"] is None


# --- What no line reported --------------------------------------------------------------------------------------------


def silence(evening: HeadEvening) -> None:
    evening.goes_silent()


def broken(evening: HeadEvening) -> None:
    evening.sensor("head/sensors", ok=False)


@pytest.mark.parametrize(("happens", "named"), [(silence, "the wheel head,"), (broken, "the wheel head's sensors,")])
def test_a_silent_or_a_broken_head_is_a_breakdown(happens: Callable[[HeadEvening], None], named: str) -> None:
    evening = running(laps=8)
    happens(evening)
    assert evening.verdicts() == [("void", "breakdown")]
    assert evening.state == "suspended"
    assert evening.of("table")[-1]["waiting_for"].startswith(f"repair {named}")
    assert not evening.say("resume").done


@pytest.mark.parametrize("phase", ["running", "closing"])
def test_what_is_received_after_a_silence_is_no_launch_that_was_seen(phase: str) -> None:
    evening = HeadEvening().ready()
    evening.goes_silent()
    evening.silent = False
    evening.sensor("head", ok=True)
    assert evening.say("resume").done
    evening.report_phase(phase)  # type: ignore[arg-type]
    assert evening.verdicts() == [("void", "breakdown")]
    evening.ball(8, "cw")
    evening.falls(8)
    assert evening.verdicts() == [("void", "breakdown")]


def after_silence(evening: HeadEvening, rpm: float = 15.4) -> HeadEvening:
    """The head's line works again, and play goes on. The first line after it has this speed."""
    evening.goes_silent()
    evening.silent, evening.rpm = False, rpm
    evening.sensor("head", ok=True)
    assert evening.say("resume").done
    return evening


def test_a_run_after_a_silence_in_a_run_is_another_run() -> None:
    """After two minutes no ball of the run before is on its way."""
    evening = after_silence(running(laps=8))
    evening.lines(121)
    assert evening.say("tout_va").done
    evening.report_phase("running")
    assert evening.verdicts() == [("void", "breakdown"), ("void", "breakdown")]


def test_a_speed_from_before_a_silence_makes_a_zero_after_it_no_stop() -> None:
    """N8: nobody saw the rotor turn, and nobody saw it stop."""
    evening = after_silence(HeadEvening().ready(), rpm=0.0)
    evening.report_phase("ready")
    evening.game(9)
    assert evening.verdicts() == [("void", "breakdown")]


def test_a_warning_from_before_a_silence_is_of_no_run_after_it() -> None:
    evening = HeadEvening().ready()
    evening.warns("same_direction")
    after_silence(evening).report_phase("ready")
    evening.game(9)
    assert evening.verdicts() == [("result", 9)]


@pytest.mark.parametrize(
    ("state", "verdicts", "notices"),
    [
        ("closed", [], ["unobserved_coup"]),
        ("faites_vos_jeux", [], ["unobserved_coup"]),
        ("bets closed", [("void", "breakdown")], []),
        ("ball_running", [("void", "breakdown")], []),
        ("operations", [("result", 8)], ["unobserved_coup"]),
        ("rien_va", [("void", "chef")], ["unobserved_coup"]),
        ("suspended", [], ["unobserved_coup"]),
    ],
)
def test_a_spin_number_that_jumps_is_a_coup_that_nobody_saw(
    state: str, verdicts: list[tuple[str, object]], notices: list[str]
) -> None:
    """1.8: 146 to 147, 9 to 21, no line read: published, never guessed."""
    evening = HeadEvening()
    if state != "closed":
        evening.ready()
    match state:
        case "bets closed":
            evening.say("rien_ne_va_plus")
        case "ball_running" | "rien_va":
            evening.report_phase("running")
            evening.ball(8, "cw")
            if state == "rien_va":
                evening.say("rien_va")
        case "operations":
            evening.game(8)
        case "suspended":
            evening.say("suspend")
    evening.jump(146)
    assert (evening.verdicts(), evening.notices()) == (verdicts, notices)
    evening.report_phase("number")
    assert evening.verdicts() == verdicts


def test_a_ball_that_is_reported_before_any_state_of_the_game_was_launched_unseen() -> None:
    after = HeadEvening(memory=HeadEvening().ready().memory)
    after.ball(4, "cw")
    assert after.verdicts() == [("void", "breakdown")]


def test_a_ball_that_still_runs_after_a_jump_was_launched_unseen() -> None:
    evening = running()
    evening.jump(13)
    assert evening.say("resume").done
    assert evening.say("tout_va").done
    evening.lines(3)
    evening.ball(5, "cw")
    assert evening.verdicts() == [("void", "breakdown")] * 2


def test_each_fact_is_concluded_once_in_a_run() -> None:
    observer = Observer(MERCURY)
    lines: list[Observation] = [
        HeadGame(0, "ready", 11),
        HeadRotor(0, 15.4, "ccw"),
        HeadGame(1, "running", 11),
        HeadRotor(1, 15.4, "ccw"),
        *(HeadBall(laps, True, "cw", laps) for laps in (1, 2, 3)),
        HeadGame(4, "off_track", 11),
        HeadBall(5, False, None, None),
    ]
    facts = [each.fact for line in lines for each in observer.observe(line)]
    assert facts == [Fact.LAUNCHED, Fact.OPPOSITE_DIRECTION, Fact.LEFT_TRACK_UNPROVEN]


def test_a_number_of_another_game_than_the_one_that_ran_proves_nothing() -> None:
    evening = running(laps=8)
    evening.report_phase("closing")
    evening.number(3, spin=12)
    assert evening.verdicts() == [("void", "breakdown")]


def test_a_run_that_changes_its_number_proves_nothing() -> None:
    evening = running(laps=8)
    evening.spin += 1
    evening.report_phase("closing")
    evening.falls(3)
    assert evening.verdicts() == [("void", "breakdown")]


def test_a_run_that_was_not_received_whole_proves_nothing() -> None:
    evening = running(laps=8)
    evening.report_phase("closing")
    evening.number(3, whole=False)
    assert evening.verdicts() == [("void", "breakdown")]


@pytest.mark.parametrize("closed", [False, True])
def test_a_number_without_any_run_is_no_result(*, closed: bool) -> None:
    evening = HeadEvening().ready()
    if closed:
        evening.say("rien_ne_va_plus")
    evening.report_phase("number")
    evening.number(3)
    evening.number(3)
    assert evening.verdicts() == ([("void", "breakdown")] if closed else [])
    assert evening.notices() == ([] if closed else ["unobserved_coup"])


def test_a_number_may_be_repeated_without_harm() -> None:
    evening = HeadEvening().ready()
    evening.game(3)
    evening.number(3)
    evening.ball(4, "cw")
    evening.ball(0, runs=False)
    evening.lines(2)
    assert (evening.verdicts(), evening.notices()) == ([("result", 3)], [])


@pytest.mark.parametrize("number", [4, None])
def test_a_number_corrected_after_the_result_is_one_notice_and_changes_nothing(number: int | None) -> None:
    evening = HeadEvening().ready()
    evening.game(3)
    evening.number(number)
    evening.number(number)
    assert (evening.verdicts(), evening.notices()) == ([("result", 3)], ["number_corrected"])
    assert evening.of("table")[-1]["last_number"] == 3
    assert evening.state == "operations"


def test_a_number_after_one_that_was_none_is_a_notice_too() -> None:
    evening = running(laps=8)
    evening.report_phase("closing")
    evening.number(None)
    evening.number(4)
    assert (evening.verdicts(), evening.notices()) == ([("void", "breakdown")], ["number_corrected"])


def test_after_a_jump_the_same_spin_number_is_another_game() -> None:
    """A wheel that was switched on again counts from 001."""
    evening = HeadEvening().ready()
    evening.game(3)
    evening.jump(11)
    evening.number(4)
    assert evening.notices() == ["unobserved_coup", "unobserved_coup"]


def test_a_run_that_begins_without_its_state_is_a_run() -> None:
    """The ball's own report may come first."""
    evening = HeadEvening().ready()
    evening.line()
    evening.ball(1, "cw")
    assert evening.state == "ball_running"
    evening.game(6)
    assert evening.verdicts() == [("result", 6)]


def test_a_restart_in_a_run_is_a_breakdown_and_no_second_coup() -> None:
    evening = running(laps=8)
    after = HeadEvening(memory=evening.memory)
    assert after.verdicts() == [("void", "breakdown")]
    after.report_phase("closing", 3)
    after.falls(9)
    assert after.verdicts() == [("void", "breakdown")]
    assert after.notices() == ["number_after_void"]


@pytest.mark.parametrize(
    ("state", "verdict"),
    [("faites_vos_jeux", "breakdown"), ("operations", "early_launch"), ("rien_va", None), ("closed", None)],
)
def test_a_ball_that_runs_already_at_a_start_was_launched_unseen(state: str, verdict: str | None) -> None:
    evening = HeadEvening()
    if state != "closed":
        evening.ready()
    if state == "operations":
        evening.game(8)
    if state == "rien_va":
        evening.report_phase("running")
        evening.say("rien_va")
    after = HeadEvening(memory=evening.memory)
    assert after.state == state
    after.report_phase("running")
    assert after.verdicts() == ([] if verdict is None else [("void", verdict)])
    assert after.notices() == (["launch_while_closed"] if state == "closed" else [])


# --- Between coups ----------------------------------------------------------------------------------------------------


def test_a_launch_before_the_operations_are_done_is_early() -> None:
    evening = HeadEvening().ready()
    evening.game(3)
    evening.goes_on()
    evening.runs(8)
    assert evening.verdicts() == [("result", 3), ("void", "early_launch")]


def test_tout_va_waits_while_the_head_reports_a_running_ball_then_the_chefs_word_serves() -> None:
    evening = running(laps=8)
    evening.say("rien_va")
    reply = evening.say("tout_va")
    assert (reply.done, evening.state) == (False, "rien_va")
    assert "put the ball back in 17" in evening.of("table")[-1]["waiting_for"]
    evening.report_phase("ready")
    evening.ball(0, runs=False)
    reply = evening.say("tout_va")
    assert (reply.done, evening.state) == (True, "faites_vos_jeux")
    assert reply.why.endswith("no sensor sees where the ball lies: the person's word counts")
    assert evening.notices() == ["chefs_word"]
    assert evening.of("notice")[0]["by"] == "chef"


def test_at_a_first_coup_there_is_nothing_to_remark() -> None:
    evening = running(msgspec.structs.replace(MERCURY, last_number=None), laps=8)
    evening.say("rien_va")
    evening.report_phase("ready")
    assert evening.say("tout_va").why == "rulebook 3, Art. 11: the ball is in its pocket, the game goes on"
    assert evening.notices() == []


def test_a_run_under_way_as_the_table_opens_is_of_no_coup() -> None:
    evening = HeadEvening()
    evening.report_phase("ready")
    evening.report_phase("running")
    assert evening.notices() == ["launch_while_closed"]
    assert not evening.say("open").done
    evening.ball(8, "cw")
    evening.report_phase("closing")
    assert not evening.say("open").done
    evening.falls(9)
    assert evening.say("open").done
    assert evening.verdicts() == []
    assert evening.notices() == ["launch_while_closed", "unobserved_coup"]
    evening.goes_on()
    evening.game(4)
    assert evening.verdicts() == [("result", 4)]


def test_an_object_sensor_beside_a_head_counts() -> None:
    evening = running(laps=8)
    evening.drop()
    assert evening.verdicts() == [("void", "foreign_object")]
    evening.observe(ForeignObject(evening.now_us, present=False))
    evening.report_phase("ready")
    assert evening.say("tout_va").done


@pytest.mark.parametrize("setting", [MERCURY, SLINGSHOT, CHEF])
def test_stored_evidence_replays_to_the_same_bytes(setting: object) -> None:
    evening = HeadEvening(setting).ready()  # type: ignore[arg-type]
    laps = 8 if setting is MERCURY else None
    evening.game(8, laps)
    evening.confirm()
    for name in ("resume", "operations_done", "tout_va"):
        evening.say(name)
    evening.goes_on()
    evening.runs(laps)
    slow_down(evening, 30, 0, 0)
    published = [message.bytes for message in evening.published]
    replayed = evening.replayed()
    assert len(evening.evidence) == 2
    assert replayed == published[2 : 2 + len(replayed)]
    last_verdict = max(n for n, message in enumerate(evening.published) if message.topic in ("result", "void"))
    assert 2 + len(replayed) > last_verdict


# --- commands before the head has reported the ball ------------------------------------------------------------------


def test_a_launch_dates_from_before_the_revolution_that_the_head_counts() -> None:
    """N2: operations that ended 50 ms before the head's report ended after the launch."""
    evening = HeadEvening().ready()
    evening.game(9)
    evening.goes_on()
    evening.wait(0.45)
    evening.say("operations_done")
    evening.wait(0.05)
    evening.observe(HeadGame(evening.now_us, "running", evening.spin))
    assert evening.verdicts() == [("result", 9), ("void", "early_launch")]


def test_rien_va_just_before_the_heads_report_voids_the_coup_that_is_reported() -> None:
    """N7: any time before the number is out; the ball ran, and only the head had not reported it."""
    evening = HeadEvening().ready()
    evening.ask("rien_va")
    evening.game(9)
    assert evening.verdicts() == [("void", "chef")]
    assert [reply.done for reply in evening.replies if reply.name == "rien_va"] == [True]


def test_rien_va_long_before_the_launch_is_of_no_coup() -> None:
    evening = HeadEvening().ready()
    assert not evening.say("rien_va").done
    evening.lines(3)
    evening.game(9)
    assert evening.verdicts() == [("result", 9)]


def test_rien_va_with_bets_closed_is_of_the_ball_that_the_head_reports_next() -> None:
    """One ball, one void."""
    evening = HeadEvening().ready()
    evening.say("rien_ne_va_plus")
    assert evening.say("rien_va").done
    evening.runs()
    evening.falls(9)
    assert evening.verdicts() == [("void", "chef")]


# --- games that a former process did not receive ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spin", "verdicts"), [(11, []), (12, [("void", "breakdown")]), (200, [("void", "breakdown")])]
)
def test_a_game_that_was_played_while_no_daemon_listened_is_noticed(spin: int, verdicts: list[object]) -> None:
    """docs/wheels.md 1.8. Bets are closed on a coup whose ball no line reported."""
    evening = HeadEvening().ready()
    evening.say("rien_ne_va_plus")
    after = HeadEvening(memory=evening.memory)
    after.spin = spin
    after.report_phase("ready", 2)
    assert after.verdicts() == verdicts


def test_a_game_after_one_that_was_called_is_noticed_too_if_no_daemon_listened() -> None:
    """The game that the head reported last had not begun."""
    evening = HeadEvening().ready()
    evening.game(9)
    evening.goes_on()
    after = HeadEvening(memory=evening.memory)
    after.spin = evening.spin + 1
    after.report_phase("ready", 2)
    assert (after.verdicts(), after.notices()) == ([], ["unobserved_coup"])


def test_the_game_after_one_that_a_restart_cut_is_no_surprise() -> None:
    evening = running(laps=8)
    after = HeadEvening(memory=evening.memory)
    after.spin = evening.spin + 1
    after.report_phase("ready", 2)
    assert (after.verdicts(), after.notices()) == ([("void", "breakdown")], [])


@pytest.mark.parametrize("spin", [11, 12, 0, 1])
def test_the_game_after_one_that_was_called_is_no_surprise_after_a_restart(spin: int) -> None:
    evening = HeadEvening().ready()
    evening.game(9)
    after = HeadEvening(memory=evening.memory)
    after.spin = spin
    after.report_phase("ready", 2)
    assert (after.verdicts(), after.notices()) == ([], [])


def test_a_head_opens_no_question_about_its_number() -> None:
    """It reports the number, and no sighting before: there is nothing to prove later, and nothing to give up."""
    evening = running(laps=8)
    observer = evening.observer
    assert (observer.pocket.place(0), observer.pocket.sightings) == (None, [])
    assert [question.topic for question in observer.questions(evening.now_us)] == [Topic.UNREPORTED]
