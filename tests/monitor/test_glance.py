"""How a wheel looks at one moment, for pages that draw it."""

from __future__ import annotations

import pytest

from tests.core.evening import Evening
from wheeld.core.observations import Rotor
from wheeld.core.tracking.ball import Run
from wheeld.core.tracking.head import HeadRotorState, RotorFromHead
from wheeld.monitor.lines import glance


def apart_deg(first: float, second: float) -> float:
    return abs((first - second + 180) % 360 - 180)


def test_a_rotor_that_turns_is_seen_where_it_is_and_how_fast() -> None:
    evening = Evening(rpm=20, way="ccw").open()
    evening.wait(5)
    seen = glance(evening.table)
    assert seen.rotor_rpm == pytest.approx(-20, abs=0.2)
    assert seen.rotor_deg is not None
    assert apart_deg(seen.rotor_deg, evening._angle_deg % 360) < 2.5  # one of 148 sectors
    assert (seen.ball, seen.laps, seen.object) == ("at_rest", None, "clear")


def test_a_rotor_that_stands_is_drawn_where_it_was_seen_last() -> None:
    evening = Evening(rpm=20).open()
    evening.turn(0)
    evening.wait(5)
    seen = glance(evening.table)
    assert seen.rotor_rpm == 0
    assert seen.rotor_deg is not None


def test_a_ball_that_runs_has_the_laps_that_are_proven() -> None:
    evening = Evening(way="ccw").open()
    evening.launch(laps=10)
    evening.wait(3)
    seen = glance(evening.table)
    assert (seen.ball, seen.direction, seen.number) == ("on_track", "cw", None)
    assert seen.laps is not None
    assert 3 < seen.laps < 6


def test_a_ball_at_rest_is_drawn_in_its_pocket() -> None:
    evening = Evening().open()
    evening.coup(23)
    seen = glance(evening.table)
    assert (seen.ball, seen.number) == ("at_rest", 23)


def test_an_object_in_the_cylinder_is_seen() -> None:
    evening = Evening().open()
    evening.drop()
    assert glance(evening.table).object == "present"


def test_how_fast_a_rotor_turns_that_has_just_begun_is_not_known() -> None:
    evening = Evening(rpm=20)
    evening.observe(Rotor(1_000, 5, "cw"))
    seen = glance(evening.table)
    assert (seen.rotor_rpm, seen.rotor_deg) == (None, None)


def test_a_head_reports_no_angle() -> None:
    assert RotorFromHead(HeadRotorState(), Run()).angle_deg(0) is None
