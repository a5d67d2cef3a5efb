"""Forecasts: how balls slow on a wheel, and what is published of a ball before it leaves the track."""

from __future__ import annotations

import math

import pytest

from tests.core.evening import FALL_S, Evening, ball_passes
from tests.core.free_balls import pushed, touched
from wheeld.core.observations import BallPass
from wheeld.core.tracking.beams import Beams, Chain
from wheeld.core.tracking.evidence import Pass
from wheeld.core.tracking.forecast import BINS, ENOUGH_RUNS, KEPT_RUNS, SOFT, SURE_RUNS, Habit, forecast

TWO, FOUR = (0.0, 100.0), (0.0, 90.0, 180.0, 270.0)
LEAVE_REV_S = 0.46
LOSS = 0.08
"""Part of its speed that the ball of `ball_passes` loses a lap; it leaves this wheel at 0.46 laps/s."""


def laps_from(rev_s: float) -> float:
    """Laps until that ball is as slow as it leaves."""
    return math.log(rev_s / LEAVE_REV_S) / LOSS


def leaves_us(rev_s: float) -> int:
    return round((math.exp(LOSS * laps_from(rev_s)) - 1) / (LOSS * rev_s) * 1e6)


def chain(run: list[BallPass], beams_deg: tuple[float, ...] = FOUR) -> Chain:
    beams, passes, turn_deg = Beams(beams_deg), [Pass(run[0].t_us, run[0].beam, 0.0)], 0.0
    for seen in run[1:]:
        turn_deg += beams.ahead_deg(passes[-1].beam, seen.beam, "cw")
        passes.append(Pass(seen.t_us, seen.beam, turn_deg))
    return Chain("cw", passes)


def whole_run(rev_s: float, beams_deg: tuple[float, ...] = FOUR, from_deg: float = 10.0) -> Chain:
    laps = laps_from(rev_s)
    return chain(ball_passes(beams_deg, "cw", start_us=0, rev_s=rev_s, laps=laps, from_deg=from_deg), beams_deg)


def habit_of(beams_deg: tuple[float, ...] = FOUR, runs: int = ENOUGH_RUNS + 1) -> Habit:
    habit = Habit()
    for run in range(runs):
        habit.add(whole_run(1.5 + 0.1 * (run % 5), beams_deg, from_deg=37.0 * run).passes)
    return habit


@pytest.mark.parametrize("beams_deg", [TWO, FOUR])
@pytest.mark.parametrize("rev_s", [0.7, 0.9, 1.3])
def test_of_a_wheel_with_enough_runs_it_is_known_when_its_balls_leave(
    beams_deg: tuple[float, ...], rev_s: float
) -> None:
    habit, run = habit_of(beams_deg), whole_run(rev_s, beams_deg)
    for seen_passes in range(len(run.passes) // 2, len(run.passes)):
        found = forecast(run.passes[:seen_passes], habit)
        if found is None:
            continue
        assert found.leaves_us is not None, seen_passes
        assert found.earliest_us is not None, seen_passes
        assert found.latest_us is not None, seen_passes
        assert found.earliest_us <= leaves_us(rev_s) <= found.latest_us + 1, seen_passes
        assert abs(found.leaves_us - leaves_us(rev_s)) < 1_500_000, seen_passes
        left = laps_from(rev_s) - run.passes[seen_passes - 1].turn_deg / 360 - 1
        assert found.laps_most >= left, seen_passes


def test_no_ball_is_called_too_weak_that_makes_its_laps() -> None:
    for habit in (Habit(), habit_of()):
        for laps in (3.1, 3.5, 4.0, 6.0):
            run = whole_run(LEAVE_REV_S * math.exp(LOSS * laps))
            for seen_passes in range(1, len(run.passes)):
                found = forecast(run.passes[:seen_passes], habit)
                so_far = run.passes[seen_passes - 1].turn_deg / 360
                assert found is None or so_far + found.laps_most >= run.passes[-1].turn_deg / 360, (laps, seen_passes)


def test_of_a_new_wheel_it_is_not_known_when_a_ball_leaves() -> None:
    run = whole_run(1.2)
    found = forecast(run.passes, Habit())
    assert found is not None
    assert (found.leaves_us, found.earliest_us, found.latest_us) == (None, None, None)


def test_before_a_whole_lap_was_seen_there_is_no_forecast() -> None:
    run = whole_run(1.2)
    assert forecast(run.passes[:4], habit_of()) is None
    assert forecast(run.passes[:5], habit_of()) is not None


def test_speeds_of_no_run_are_not_covered() -> None:
    habit = habit_of()
    assert habit.covers(1.2)
    assert not habit_of(runs=ENOUGH_RUNS - 1).covers(1.2)
    slow = Habit()
    for _ in range(ENOUGH_RUNS):
        slow.add(whole_run(0.8).passes)
    assert slow.covers(0.6)
    assert not slow.covers(1.2)


def test_a_ball_stopped_by_a_hand_is_not_added() -> None:
    habit, before = habit_of(), habit_of()
    habit.add(whole_run(1.8).passes[:12])
    habit.add(whole_run(1.8).passes[:3])
    assert habit == before


def test_a_wheel_that_changes_is_learnt_anew() -> None:
    """The latest twenty runs count: balls are changed, tracks are cleaned."""
    habit = habit_of(runs=100)
    assert habit.left == KEPT_RUNS
    assert abs(habit.leave_rev_s - LEAVE_REV_S) < 0.03
    for _ in range(60):
        habit.add(chain(ball_passes(FOUR, "cw", start_us=0, rev_s=1.5, laps=math.log(1.5 / 0.54) / LOSS)).passes)
    assert abs(habit.leave_rev_s - 0.54) < 0.03


def test_speeds_without_a_mean_take_that_of_the_next() -> None:
    profile = habit_of().profile()
    assert len(profile) == BINS
    assert profile[0] == pytest.approx(profile[1], rel=0.5)
    assert all(slowing >= soft for slowing, soft in zip(profile, SOFT, strict=True))
    assert Habit().profile() == SOFT


def game(evening: Evening, rev_s: float, laps: float, number: int = 9) -> None:
    evening.launch(rev_s=rev_s, laps=laps)
    evening.until(max(seen.t_us for seen in evening._planned))
    evening.wait(FALL_S)
    evening.fall(number)
    evening.say("operations_done")


def evening_after(coups: int) -> Evening:
    evening = Evening().open()
    for _ in range(coups):
        game(evening, 1.5, laps_from(1.5))
    return evening


def test_the_chef_learns_of_a_ball_too_weak_before_it_leaves() -> None:
    evening = evening_after(5)
    notices = len(evening.of("notice"))
    rev_s = LEAVE_REV_S * math.exp(LOSS * 2.2)
    passes = evening.launch(rev_s=rev_s, laps=2.2)
    evening.until(passes[-1].t_us)
    (warning,) = [notice for notice in evening.of("notice")[notices:] if notice["notice"] == "void_foreseen"]
    assert warning["figures"]["laps_at_most"] < 3
    assert warning["t_us"] < passes[-1].t_us
    assert evening.state == "ball_running"
    evening.wait(4)
    assert evening.verdicts()[-1] == ("void", "too_few_laps")


def test_leaving_is_published_once_a_coup_and_near_the_time() -> None:
    evening = evening_after(5)
    notices = [notice for notice in evening.of("notice") if notice["notice"] != "number_seen"]
    assert {notice["notice"] for notice in notices} == {"leaving_foreseen"}
    assert 1 <= len(notices) <= 2
    for notice in notices:
        figures = notice["figures"]
        assert figures["leaves_earliest_us"] <= figures["leaves_us"] <= figures["leaves_latest_us"]
        assert notice["t_us"] < figures["leaves_us"] < notice["t_us"] + 4_000_000
    assert "void_foreseen" not in evening.notices()


def test_a_new_wheel_warns_only_of_what_no_wheel_would_carry_on() -> None:
    evening = Evening().open()
    passes = evening.launch(rev_s=0.46, laps=1.3)
    evening.until(passes[-1].t_us)
    assert evening.notices() == ["void_foreseen"]
    (warning,) = evening.of("notice")
    assert "leaves_us" not in warning["figures"]


@pytest.mark.parametrize(("part", "least", "most"), [(0.0, 0.0, 0.02), (0.3, 0.24, 0.35), (-0.3, 0.24, 0.35)])
def test_a_ball_that_something_touched_changes_its_speed_as_no_free_one_does(
    part: float, least: float, most: float
) -> None:
    touched = chain(pushed(ball_passes(FOUR, "cw", start_us=0, rev_s=1.6, laps=laps_from(1.6)), part)).passes
    few, known = habit_of(runs=SURE_RUNS - 1), habit_of(runs=3 * SURE_RUNS)
    few.add(touched)
    known.add(touched)
    assert few.strange == 0, "too few runs are known"
    assert least <= known.strange <= most


def test_nobody_seems_to_touch_the_free_balls_of_many_wheels() -> None:
    """`python -m tests.core.free_balls 100000 1` tries more."""
    assert touched(500, "1").told == 0
    assert touched(200, "1", hand=0.3).told > 140


def test_a_ball_that_was_taken_at_speed_is_strange() -> None:
    whole, habit = whole_run(1.6).passes, habit_of(runs=SURE_RUNS)
    habit.add(whole[: len(whole) // 4])
    assert habit.strange > 0.4
    habit.add(whole)
    assert habit.strange < 0.02


def test_a_number_whose_ball_was_touched_is_told_and_stands() -> None:
    evening, laps = Evening().open(), laps_from(1.8)
    for number in range(SURE_RUNS + 1):
        passes = evening.launch(laps=laps)
        if number == SURE_RUNS:
            assert "low_margin" not in evening.notices()
            evening._planned.clear()
            passes = pushed(passes, 0.3)
            evening.plan(*passes)
        evening.until(passes[-1].t_us)
        evening.fall(number)
        evening.say("operations_done")
    assert [result["number"] for result in evening.of("result")] == [*range(SURE_RUNS + 1)]
    (low,) = [notice for notice in evening.of("notice") if notice["notice"] == "low_margin"]
    assert low["figures"]["margin_of"] == "slowing"
