"""How far verdicts were from other verdicts, each measure by itself and as published."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.evening import FRENCH, Evening
from tests.core.head_evening import HeadEvening
from wheeld.core.observations import HeadGame
from wheeld.core.tracking.evidence import Margin, Seen


def seen(offset: float) -> Seen:
    return Seen(0, 0, 5, offset, 0.0)


@pytest.mark.parametrize(
    ("measured", "value", "of"),
    [
        (Margin.laps(0.0), 0.0, "laps"),
        (Margin.laps(0.25), 0.25, "laps"),
        (Margin.laps(9.0), 1.0, "laps"),
        (Margin.laps(3 - 2.6), 0.4, "laps"),
        (Margin.laps(-0.4), 0.0, "laps"),
        (Margin.direction(0), 0.0, "direction"),
        (Margin.direction(3), 0.5, "direction"),
        (Margin.direction(40), 1.0, "direction"),
        (Margin.number(None, [seen(0.0)], (1.0, 1.0), 0.165), 0.5, "slowing"),
        (Margin.number(Margin.laps(0.3), [seen(0.0)], (0.5, 1.0), 0.0), 0.3, "laps"),
        (Margin.number(Margin.laps(1.0), [seen(0.0)], (0.5, 1.0), 0.0), 0.5, "sight"),
        (Margin.pocket([seen(0.1), seen(0.3)]), 0.5, "pocket"),
        (Margin.pocket([seen(-0.4), seen(-0.36)]), 0.05, "pocket"),
        (Margin.pocket([seen(-0.3), seen(0.3)]), 1.0, "pocket"),
        (Margin.rotor(300_000, 1_500_000), 0.8, "rotor"),
        (Margin.early(250_000), 0.25, "time"),
        (Margin.early(9_000_000), 1.0, "time"),
    ],
)
def test_each_measure_runs_from_the_edge_to_sure(measured: Margin, value: float, of: str) -> None:
    assert (measured.value, measured.of) == (value, of)


def test_the_least_measure_is_the_margin() -> None:
    assert min(Margin.laps(0.5), Margin.direction(2), Margin.pocket([seen(0.0)])) == Margin(0.333, "direction")


def test_an_ordinary_coup_has_a_large_margin() -> None:
    evening = Evening().open()
    result = evening.coup(8)
    assert result["margin"] > 0.8
    assert result["margin_of"] in ("laps", "direction", "pocket")
    assert "low_margin" not in evening.notices()


def test_a_coup_of_hardly_three_proven_laps_has_a_low_margin() -> None:
    evening = Evening().open()
    passes = evening.launch(laps=3.75)
    evening.until(passes[-1].t_us)
    evening.fall(8)
    (result,) = evening.of("result")
    assert 3 <= result["laps"] < 3.2
    assert (result["margin"], result["margin_of"]) == (round(result["laps"] - 3, 3), "laps")
    (low,) = [notice for notice in evening.of("notice") if notice["notice"] == "low_margin"]
    assert low["figures"] == {"verdict": "result", "margin": result["margin"], "margin_of": "laps"}
    assert low["coup"] == result["coup"]


def test_a_void_for_laps_that_the_passes_nearly_show_has_a_low_margin() -> None:
    evening = Evening(msgspec.structs.replace(FRENCH, unproven="void")).open()
    passes = evening.launch(laps=3.3)
    evening.until(passes[-1].t_us)
    evening.wait(3)
    (void,) = evening.of("void")
    assert (void["cause"], void["margin"], void["margin_of"]) == ("too_few_laps", 0.0, "laps")
    assert "low_margin" in evening.notices()


def test_a_persons_command_has_no_margin() -> None:
    evening = Evening().open()
    evening.void_by_chef()
    (void,) = evening.of("void")
    assert (void["margin"], void["margin_of"]) == (None, None)


def test_the_margin_of_an_early_launch_is_its_time() -> None:
    """A head reports a launch a lap after it was made: here the command came 233 ms too late."""
    evening = HeadEvening().ready()
    evening.game(8)
    evening.spin += 1
    evening.report_phase("ready")
    assert evening.say("operations_done").done
    evening.wait(0.1)
    evening.observe(HeadGame(evening.now_us, "running", evening.spin))
    (void,) = evening.of("void")
    assert (void["cause"], void["margin_of"]) == ("early_launch", "time")
    assert void["margin"] == pytest.approx(0.233, abs=0.001)


def test_a_stop_of_a_rotor_whose_ticks_came_close_together_has_a_large_margin() -> None:
    evening = Evening().open()
    evening.launch(laps=6)
    evening.wait(2)
    evening.turn(0)
    evening.wait(3)
    (void,) = evening.of("void")
    assert (void["cause"], void["margin_of"]) == ("rotor_stopped_running", "rotor")
    assert void["margin"] > 0.9
