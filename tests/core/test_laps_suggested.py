"""Laps that the passes suggest and do not prove (R2, N3), and the chef who may answer for them."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from tests.core.evening import FALL_S, FRENCH, Evening, ball_passes
from tests.core.head_evening import COMBINED, HeadEvening
from wheeld.core.observations import BallPass
from wheeld.core.setting import TableSetting
from wheeld.core.tracking.beams import BallTracker

CHEF, VOID = FRENCH, msgspec.structs.replace(FRENCH, unproven="void")
SUGGESTED = [3.0, 3.1, 3.2, 3.3, 3.4, 3.45]
"""Laps that were run, from 10 degrees before a beam: as many passes as less than three proven laps."""


def played(laps: float, setting: TableSetting) -> Evening:
    """A ball that ran so many laps, and fell into 9."""
    evening = Evening(setting).open()
    evening.run(laps=laps, rev_s=0.9)
    evening.fall(9)
    return evening


def evidence(evening: Evening) -> dict[str, Any]:
    (void,) = evening.of("void")
    assert void["cause"] == "too_few_laps"
    figures: dict[str, Any] = void["evidence"]
    return figures


@pytest.mark.parametrize("laps", SUGGESTED)
def test_a_coup_is_void_where_a_house_says_so_and_says_how_many_laps_it_may_have_had(laps: float) -> None:
    figures = evidence(played(laps, VOID))
    assert figures["laps_proven"] < 3 <= laps <= figures["laps_at_most"]


@pytest.mark.parametrize("laps", SUGGESTED)
def test_the_chef_answers_for_them(laps: float) -> None:
    evening = played(laps, CHEF)
    assert (evening.state, evening.verdicts()) == ("awaiting_chef", [])
    assert "at least 3 laps" in evening.last("table").payload["waiting_for"]
    assert evening.say("confirm", by="Rossi", reason="seen by all", coup=1).done
    (result,) = evening.of("result")
    assert (result["number"], result["unproven"], result["confirmed_by"]) == (9, ["R2"], "Rossi")
    assert result["laps"] < 3
    assert result["left_track_at"] is not None
    assert result["margin_of"] in ("direction", "pocket")


def test_the_chef_may_declare_it_null_too() -> None:
    evening = played(3.2, CHEF)
    assert evening.say("rien_va").done
    assert evening.verdicts() == [("void", "chef")]


@pytest.mark.parametrize("laps", [1.3, 2.0, 2.4])
def test_laps_that_cannot_have_been_enough_are_void_for_him_too(laps: float) -> None:
    figures = evidence(played(laps, CHEF))
    assert laps <= figures["laps_at_most"] < 3


@pytest.mark.parametrize("setting", [CHEF, VOID])
def test_laps_that_are_proven_need_no_chef(setting: TableSetting) -> None:
    assert played(4.0, setting).verdicts() == [("result", 9)]


def test_he_answers_for_no_other_thing_that_is_not_proven() -> None:
    """N8: which way the ball ran is not known; nobody confirms that."""
    evening = Evening(CHEF).open()
    evening.run(laps=3.2, rev_s=0.9)
    evening.observer.run.opposite = False
    evening.fall(9)
    assert evening.verdicts() == [("void", "breakdown")]


@pytest.mark.parametrize("unproven", ["void", None])
def test_a_head_that_calls_the_number_leaves_the_laps_to_beams_and_chef(unproven: str | None) -> None:
    evening = HeadEvening(msgspec.structs.replace(COMBINED, unproven=unproven)).ready()
    passes = evening.launch(laps=3.2, rev_s=0.9)
    evening.until(passes[4].t_us)
    evening.report_phase("running")
    evening.until(passes[-1].t_us)
    evening.wait(FALL_S)
    evening.falls(9)
    if unproven == "void":
        assert evidence(evening)["laps_at_most"] >= 3.2
        return
    assert evening.verdicts() == []
    assert evening.confirm().done
    assert evening.of("result")[0]["unproven"] == ["R2"]


@pytest.mark.parametrize("seed", range(200))
def test_laps_at_most_are_never_fewer_than_the_laps_that_were_run(seed: int) -> None:
    """As long as no beam misses the ball at an end of its run; one that is lost in the middle is found again."""
    draw = random.Random(seed)
    beams_deg = tuple(360 / count * n for count in [draw.choice((2, 3, 4, 6))] for n in range(count))
    beams_deg = (0.0, 100.0) if len(beams_deg) == 2 else beams_deg
    laps, rev_s, from_deg = draw.uniform(2, 8), draw.uniform(0.9, 2.2), draw.uniform(0, 360)
    run = ball_passes(beams_deg, draw.choice(("cw", "ccw")), start_us=10**6, rev_s=rev_s, laps=laps, from_deg=from_deg)
    if draw.random() < 0.3 and len(run) > 20:
        del run[8:14]
    assert at_most(beams_deg, run) >= laps - 1e-6


def at_most(beams_deg: tuple[float, ...], run: list[BallPass]) -> float:
    """What a tracker says at the end of the run, as the observer asks it."""
    ball = BallTracker(beams_deg)
    for seen in run:
        if ball.overdue_us is not None and ball.overdue_us < seen.t_us:
            ball.note_gone()
        ball.take(seen.t_us, seen.beam)
    most = ball.record().laps_at_most
    assert most is not None
    return most


@pytest.mark.parametrize("turns_on", [True, False])
def test_a_pocket_that_is_not_proven_is_his_to_answer_for_as_well(turns_on: bool) -> None:
    """R3b: neither the laps nor the pocket are proven. When readers see the ball there again, laps are his."""
    evening = Evening(CHEF).open()
    evening.run(laps=3.2, rev_s=0.9)
    evening.wait(FALL_S)
    evening.lying = 9
    evening.wait(1.2)
    evening.turn(0)
    evening.wait(8)
    assert (evening.state, evening.verdicts()) == ("awaiting_chef", [])
    if turns_on:
        evening.turn(20)
        evening.wait(6)
    assert (evening.state, evening.verdicts()) == ("awaiting_chef", [])
    assert evening.say("confirm", coup=1, reason="seen by all").done
    assert evening.of("result")[0]["unproven"] == (["R2"] if turns_on else ["R2", "R3"])
