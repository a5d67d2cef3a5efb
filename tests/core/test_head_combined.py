"""A SlingShot 2 for number and rotor, beams of our own for launch, laps and direction."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.evening import FALL_S, Way, ball_passes
from tests.core.head_evening import COMBINED, MERCURY, HeadEvening
from wheeld.core.observations import BallPass, HeadGame, Rotor
from wheeld.core.tracking.observer import Observer

ENCODED = msgspec.structs.replace(COMBINED, rotor="sensors", rotor_ticks=148)
AUTO = msgspec.structs.replace(COMBINED, auto_rien_ne_va_plus_rev_s=1.0)


def both(setting: object = COMBINED, *, laps: float = 10.0, number: int = 32) -> HeadEvening:
    """A game that beams and head see alike."""
    evening = HeadEvening(setting).ready()  # type: ignore[arg-type]
    evening.launches_past_beams(laps)
    evening.wait(FALL_S)
    evening.falls(number)
    return evening


def test_beams_prove_what_no_line_of_the_head_reports() -> None:
    evening = both()
    assert evening.verdicts() == [("result", 32)]
    (result,) = evening.of("result")
    assert result["laps"] >= 8
    assert (result["ball_direction"], result["rotor_direction"], result["unproven"]) == ("cw", "ccw", [])
    assert result["left_track_at"] < result["number_at"]
    assert result["margin_of"] in ("laps", "direction")
    assert evening.notices() == []


def test_game_after_game() -> None:
    evening = both()
    for number in (5, 0):
        evening.say("operations_done")
        evening.goes_on()
        evening.launches_past_beams()
        evening.wait(FALL_S)
        evening.falls(number)
    assert evening.verdicts() == [("result", 32), ("result", 5), ("result", 0)]


def test_beams_that_prove_too_few_laps_void_it_as_the_ball_leaves() -> None:
    evening = HeadEvening(COMBINED).ready()
    passes = evening.launch(laps=2, rev_s=0.9)
    evening.report_phase("running", 2)
    evening.until(passes[-1].t_us + 3_000_000)
    assert evening.verdicts() == [("void", "too_few_laps")]
    evening.falls(32)
    assert evening.verdicts() == [("void", "too_few_laps")]
    assert evening.notices()[-1] == "number_after_void"


def test_beams_that_see_it_run_with_the_rotor_void_it() -> None:
    evening = HeadEvening(COMBINED).ready()
    evening.launch(evening.way)
    evening.report_phase("running", 2)
    assert evening.verdicts() == [("void", "same_direction")]


def test_the_heads_flag_voids_it_too() -> None:
    evening = HeadEvening(COMBINED).ready()
    evening.launch()
    evening.report_phase("running")
    evening.warns("same_direction")
    evening.lines(2)
    assert evening.verdicts() == [("void", "same_direction")]


def test_a_ball_that_the_beams_missed_altogether_is_never_a_result() -> None:
    evening = HeadEvening(COMBINED).ready()
    evening.report_phase("running", 2)
    assert evening.state == "faites_vos_jeux"
    evening.lines(2)
    assert evening.state == "ball_running"
    evening.report_phase("closing", 20)
    evening.falls(32)
    assert evening.verdicts() == [("void", "breakdown")]
    assert evening.state == "suspended"


@pytest.mark.parametrize("flag", [True, False])
def test_a_flag_or_an_early_number_does_not_wait_for_beams(*, flag: bool) -> None:
    evening = HeadEvening(COMBINED).ready()
    evening.report_phase("running")
    if flag:
        evening.warns("same_direction")
    else:
        evening.number(3)
    assert evening.verdicts() == [("void", "same_direction" if flag else "breakdown")]


def test_beams_that_see_a_run_late_belong_to_the_coup_that_the_heads_report_began_and_prove_nothing_of_it() -> None:
    """4 s after the head's report it is another run, or half of one: one coup, and never a result."""
    evening = HeadEvening(COMBINED).ready()
    evening.report_phase("running", 4)
    assert evening.state == "ball_running"
    evening.launch(laps=8)
    evening.lines(10)
    evening.report_phase("closing", 4)
    evening.falls(32)
    assert evening.verdicts() == [("void", "breakdown")]


@pytest.mark.parametrize(
    ("report_s", "verdict"),
    [
        (-0.6, ("void", "breakdown")),
        (-0.4, ("result", 32)),
        (0.7, ("result", 32)),
        (2.9, ("result", 32)),
        (3.1, ("void", "breakdown")),
        (18.0, ("void", "breakdown")),
    ],
)
def test_the_heads_report_must_come_with_the_first_pass_or_it_is_of_another_run(
    report_s: float, verdict: tuple[str, object]
) -> None:
    """The head reports `report_s` after the first pass; laps and direction of one run are not those of another."""
    evening = HeadEvening(COMBINED).ready()
    launch_us = evening.now_us + 2_000_000
    passes = ball_passes(COMBINED.beams_deg, "cw", start_us=launch_us, rev_s=1.8, laps=10.0)
    evening.plan(*passes)
    evening.until(passes[0].t_us + round(report_s * 1e6) - 500_000)
    evening.report_phase("running")
    evening.until(max(passes[-1].t_us, evening.now_us))
    evening.report_phase("closing")
    evening.wait(FALL_S)
    evening.falls(32)
    assert evening.verdicts() == [verdict]


def test_a_head_that_begins_its_run_as_the_ball_has_left_saw_another() -> None:
    evening = HeadEvening(COMBINED).ready()
    passes = evening.launch(laps=3.9, rev_s=2.4)
    evening.until(passes[-1].t_us - 400_000)
    evening.report_phase("running")
    assert evening.now_us > passes[-1].t_us
    evening.report_phase("closing")
    evening.wait(FALL_S)
    evening.falls(32)
    assert evening.verdicts() == [("void", "breakdown")]


def test_a_ball_that_only_the_beams_saw_run_is_never_a_result() -> None:
    """The head reports nothing: after the time that any number takes, it is a breakdown."""
    evening = HeadEvening(COMBINED).ready()
    passes = evening.launch()
    evening.until(passes[-1].t_us)
    evening.lines(31)
    assert evening.verdicts() == [("void", "breakdown")]
    assert evening.of("void")[0]["evidence"]["what"] == "no_ball_seen"


def test_a_number_without_a_run_of_the_heads_own_is_never_a_result() -> None:
    evening = HeadEvening(COMBINED).ready()
    passes = evening.launch()
    evening.until(passes[-1].t_us)
    evening.falls(32)
    assert evening.verdicts() == [("void", "breakdown")]


def test_a_run_whose_beginning_only_the_beams_saw_is_never_a_result() -> None:
    """The head was silent until the ball ran: nothing proves that it is the same ball."""
    evening = HeadEvening(COMBINED).ready()
    evening.goes_silent()
    evening.silent = False
    evening.sensor("head", ok=True)
    assert evening.say("resume").done
    evening.launches_past_beams()
    evening.wait(FALL_S)
    evening.falls(32)
    assert evening.verdicts() == [("void", "breakdown")]


def test_a_number_while_the_beams_still_see_it_run_is_one_breakdown() -> None:
    evening = HeadEvening(COMBINED).ready()
    passes = evening.launch(laps=14)
    evening.report_phase("running")
    evening.until(passes[-9].t_us)
    evening.number(32)
    assert evening.verdicts() == [("void", "breakdown")]
    evening.until(passes[-1].t_us)
    evening.lines(8)
    assert evening.verdicts() == [("void", "breakdown")]
    assert evening.notices() == []
    assert not evening.table.is_running


@pytest.mark.parametrize(("rest_s", "verdict"), [(1.9, ("void", "breakdown")), (2.1, ("result", 32))])
def test_a_number_sooner_than_a_ball_comes_to_rest_is_another_balls(rest_s: float, verdict: tuple[str, object]) -> None:
    evening = HeadEvening(COMBINED).ready()
    passes = evening.launch()
    evening.report_phase("running", 2)
    evening.until(passes[-1].t_us)
    evening.report_phase("closing")
    evening.until(passes[-1].t_us + round(rest_s * 1e6))
    evening.number(32)
    evening.lines(3)
    assert evening.verdicts() == [verdict]


def test_an_edge_may_put_deadlines_off_and_a_pass_does_more() -> None:
    """What holds of one observation is not assumed of the next."""
    observer = Observer(ENCODED)
    for edge in range(4):
        observer.observe(Rotor(edge * 20_000, edge, "cw"))
    assert observer.only_postpones
    observer.observe(BallPass(100_000, 0))
    assert not observer.only_postpones


def test_a_ball_on_an_obstacle_locks_the_bets_when_any_number_is_overdue() -> None:
    evening = HeadEvening(COMBINED).ready()
    evening.launches_past_beams()
    evening.lines(28)
    assert evening.state == "rien_ne_va_plus"
    evening.lines(3)
    assert evening.of("table")[-1]["bets"] == "locked"
    evening.falls(32)
    assert evening.verdicts() == [("result", 32)]


@pytest.mark.parametrize(("wait_s", "cause"), [(0, "rotor_stopped_running"), (40, "rotor_stopped_before_drop")])
def test_a_rotor_that_the_head_sees_stop(wait_s: float, cause: str) -> None:
    evening = HeadEvening(COMBINED).ready()
    evening.launch(laps=14)
    evening.report_phase("running", 2)
    evening.lines(wait_s)
    for rpm in (5.0, 0.0, 0.0):
        evening.rpm = rpm
        evening.line()
    assert evening.verdicts() == [("void", cause)]
    assert evening.of("void")[0]["margin"] is None


def test_an_encoder_of_our_own_may_observe_the_rotor() -> None:
    evening = HeadEvening(ENCODED)
    evening.turn(20, "ccw")
    evening.ready()
    evening.launches_past_beams()
    evening.wait(FALL_S)
    evening.falls(32)
    assert evening.verdicts() == [("result", 32)]
    assert evening.of("result")[0]["rotor_rpm"] == pytest.approx(20, abs=0.1)
    evening.say("operations_done")
    evening.goes_on()
    evening.launch(laps=14)
    evening.report_phase("running", 2)
    evening.turn(0)
    evening.wait(2)
    assert evening.verdicts()[-1] == ("void", "rotor_stopped_running")
    assert evening.of("void")[-1]["margin_of"] == "rotor"


def test_a_mercurys_laps_may_stand_beside_an_encoder() -> None:
    evening = HeadEvening(msgspec.structs.replace(MERCURY, rotor="sensors", rotor_ticks=148))
    evening.turn(20, "ccw")
    evening.ready()
    evening.game(9)
    assert evening.verdicts() == [("result", 9)]
    assert evening.of("result")[0]["rotor_direction"] == "ccw"


def test_rien_ne_va_plus_by_itself_as_the_beams_see_it_slow() -> None:
    evening = both(AUTO)
    result = evening.of("result")[0]
    assert result["launched_at"] < result["bets_closed_at"] < result["left_track_at"]


@pytest.mark.parametrize(
    ("beams_deg", "verdicts"), [((0, 120, 240), [("void", "too_few_laps")]), ((0, 90, 180, 270), [])]
)
def test_a_weak_launch_is_void_for_what_the_beams_saw(
    beams_deg: tuple[float, ...], verdicts: list[tuple[str, str]]
) -> None:
    """Two passes, a third of a lap apart or less, and the ball is back where it lay; the wheel fires again."""
    evening = HeadEvening(msgspec.structs.replace(COMBINED, beams_deg=beams_deg)).ready()
    evening.warns("launch_failed")
    evening.plan(BallPass(evening.now_us + 100_000, 0), BallPass(evening.now_us + 700_000, 1))
    evening.lines(5)
    assert evening.verdicts() == verdicts


def test_a_run_that_ended_in_a_hand_hides_no_launch() -> None:
    evening = HeadEvening(COMBINED).ready()
    evening.launch(laps=6)
    evening.report_phase("running", 2)
    evening.say("rien_va")
    assert not evening.say("tout_va").done
    evening._planned.clear()
    evening.report_phase("ready", 6)
    assert evening.say("tout_va").done
    evening.wait(2)
    evening.launches_past_beams()
    evening.wait(FALL_S)
    evening.falls(9)
    assert evening.verdicts() == [("void", "chef"), ("result", 9)]


def ended_in_a_hand() -> HeadEvening:
    """A coup that the chef declared null, its ball taken out of the run; the head's game ends without a number."""
    evening = HeadEvening(COMBINED).ready()
    evening.launch(laps=6)
    evening.report_phase("running", 2)
    evening.say("rien_va")
    evening._planned.clear()
    evening.warns("no_number", void=True)
    evening.report_phase("ready", 6)
    return evening


def test_a_launch_that_the_head_reports_before_the_beams_have_proven_it_is_no_part_of_the_run_before() -> None:
    evening = ended_in_a_hand()
    passes = evening.launch(rev_s=0.9, laps=4)
    evening.until(passes[1].t_us + 50_000)
    evening.observe(HeadGame(evening.now_us, "running", evening.spin))
    evening.until(passes[-1].t_us)
    assert evening.verdicts() == [("void", "chef"), ("void", "early_launch")]


def test_nobody_waits_for_the_fall_of_a_ball_whose_game_the_head_has_ended() -> None:
    """An early launch is stopped by hand; then the table takes its time."""
    evening = both()
    evening.goes_on()
    evening.launch(laps=6)
    evening.report_phase("running", 2)
    evening._planned.clear()
    evening.warns("no_number", void=True)
    evening.report_phase("ready", 6)
    assert evening.say("tout_va").done
    evening.lines(40)
    assert (evening.verdicts()[1:], evening.state) == ([("void", "early_launch")], "operations")


def test_nobody_waits_for_the_fall_of_a_ball_that_ran_too_short_for_the_head() -> None:
    evening = HeadEvening(COMBINED).ready()
    evening.launch(rev_s=0.8, laps=0.9)
    evening.lines(40)
    assert (evening.verdicts(), evening.state) == ([("void", "too_few_laps")], "rien_va")


def test_a_silent_head_leaves_its_ball_to_nobody() -> None:
    evening = HeadEvening(COMBINED).ready()
    evening.launch(laps=14)
    evening.report_phase("running", 2)
    evening.goes_silent()
    assert evening.verdicts() == [("void", "breakdown")]
    evening.silent = False
    evening.sensor("head", ok=True)
    evening.report_phase("closing", 20)
    evening.falls(32)
    assert evening.verdicts() == [("void", "breakdown")]


def test_a_restart_in_a_run_is_one_breakdown() -> None:
    evening = HeadEvening(COMBINED).ready()
    evening.launch(laps=14)
    evening.report_phase("running", 2)
    after = HeadEvening(COMBINED, memory=evening.memory)
    assert after.verdicts() == [("void", "breakdown")]
    after.launch(laps=6)
    after.report_phase("closing", 20)
    after.falls(32)
    assert after.verdicts() == [("void", "breakdown")]


def test_stored_evidence_replays_to_the_same_bytes() -> None:
    evening = both()
    evening.say("operations_done")
    evening.goes_on()
    evening.report_phase("running", 20)
    evening.falls(3)
    published = [message.bytes for message in evening.published]
    replayed = evening.replayed()
    assert [one.verdict for one in evening.evidence] == ["result", "void"]
    assert replayed == published[2 : 2 + len(replayed)]
    assert len(replayed) > 8


@pytest.mark.parametrize("late_s", [0.0, 3.0, 8.0])
@pytest.mark.parametrize("before_rpm", [0.0, 15.4])
def test_a_head_whose_lines_come_late_calls_no_direction_or_stop_that_was_not(before_rpm: float, late_s: float) -> None:
    """A SlingShot 2 stops its rotor and turns it round before it fires: late lines report that as the ball runs."""
    evening = HeadEvening(COMBINED).ready()
    passes = evening.launch(laps=14, rev_s=1.8)
    evening.head_way = "cw"  # as it turned before the launch; since then "ccw", against the ball
    evening.rpm = before_rpm
    evening.lines(late_s)
    evening.rpm, evening.head_way = 15.4, "ccw"
    evening.report_phase("running")
    evening.until(passes[-1].t_us)
    assert {verdict for _, verdict in evening.verdicts()} <= {"breakdown"}


@pytest.mark.parametrize("way", ["cw", "ccw"])
def test_a_head_that_reports_with_the_rotor_counts_though_beams_prove_against_it(way: Way) -> None:
    beside = msgspec.structs.replace(MERCURY, ball="sensors", beams_deg=(0, 90, 180, 270))
    evening = HeadEvening(beside).ready()
    evening.launch()
    evening.report_phase("running", 2)
    evening.ball(2, way)
    assert evening.verdicts() == ([("void", "same_direction")] if way == evening.way else [])


def test_a_launch_that_a_cut_line_hides_from_beams_and_head_is_void() -> None:
    evening = HeadEvening(COMBINED).ready()
    passes = ball_passes(COMBINED.beams_deg, "cw", start_us=evening.now_us + 100_000, rev_s=1.5, laps=8)[:2]
    evening.plan(*passes)
    evening.until(passes[-1].t_us + 10_000)
    evening.sensor("link", ok=False)
    assert (evening.verdicts(), evening.state) == ([("void", "breakdown")], "suspended")
