"""What the reports of a head prove of the rotor, report by report."""

from __future__ import annotations

import pytest

from tests.core.evening import Way
from wheeld.core.observations import HeadRotor
from wheeld.core.tracking.ball import Run
from wheeld.core.tracking.head import FAST_RPM_MIN, REPORT_FRESH_US, SLOW_RPM_MAX, HeadRotorState, RotorFromHead

LINE_US = 500_000


class Reported(RotorFromHead):
    """A rotor with a run that was launched at the first line."""

    def __init__(self) -> None:
        super().__init__(HeadRotorState(), Run(launched_us=LINE_US))
        self.now_us = 0

    def say(self, *rpms: float | None, way: Way = "ccw") -> list[str | None]:
        """Report these speeds, line by line. Return what each line proves."""
        proven: list[str | None] = []
        for rpm in rpms:
            self.now_us += LINE_US
            proven.append(self.report(HeadRotor(self.now_us, rpm, way)))
        return proven


def test_two_reports_in_a_row_prove_a_direction_even_the_one_in_the_line_of_the_launch() -> None:
    rotor = Reported()
    assert (rotor.say(15.4), rotor.direction) == ([None], None)
    assert (rotor.say(15.4), rotor.direction) == ([None], "ccw")
    assert (rotor.say(15.4, way="cw"), rotor.direction) == ([None], None)
    assert (rotor.say(15.4, way="cw"), rotor.direction) == (["turned_back"], "cw")
    launched = RotorFromHead(rotor.state, Run(launched_us=rotor.now_us))
    assert launched.direction == "cw"
    assert RotorFromHead(rotor.state, Run(launched_us=rotor.now_us + 1)).direction is None


def test_a_rotor_that_perhaps_stands_has_no_direction() -> None:
    rotor = Reported()
    rotor.say(15.4, 15.4, 0.0)
    assert rotor.direction is None
    rotor.say(15.4)
    assert rotor.direction == "ccw"


@pytest.mark.parametrize("way", ["cw", "ccw"])
def test_after_a_stop_two_reports_must_agree_on_a_direction_again_and_prove_no_second_stop(way: Way) -> None:
    rotor = Reported()
    assert rotor.say(15.4, 15.4, 0.0, 0.0) == [None, None, None, "stopped"]
    assert (rotor.say(15.4, way=way), rotor.direction) == ([None], None)
    assert (rotor.say(15.4, way=way), rotor.direction) == ([None], way)


@pytest.mark.parametrize("way", ["cw", "ccw"])
def test_after_missing_lines_two_reports_must_agree_on_a_direction_again_and_prove_no_stop(way: Way) -> None:
    rotor = Reported()
    rotor.say(15.4, 15.4)
    rotor.state.forget()
    assert (rotor.say(15.4, way=way), rotor.direction) == ([None], None)
    assert (rotor.say(15.4, way=way), rotor.direction) == ([None], way)


def test_a_speed_from_before_missing_lines_explains_no_zero_after_them() -> None:
    rotor = Reported()
    rotor.say(15.4, 15.4)
    rotor.state.forget()
    assert rotor.say(0.0, 0.0) == [None, None]
    assert not rotor.was_seen_turning


def test_nothing_is_known_of_the_speed_before_a_report_and_after_missing_lines() -> None:
    rotor = Reported()
    assert (rotor.rpm(0), rotor.is_standing) == (None, True)
    rotor.say(15.4)
    assert (rotor.rpm(rotor.now_us), rotor.is_standing) == (15.4, False)
    rotor.say(0.0)
    assert (rotor.rpm(rotor.now_us), rotor.is_standing) == (0.0, True)
    rotor.say(15.4)
    rotor.state.forget()
    assert (rotor.rpm(rotor.now_us), rotor.is_standing) == (None, True)


def test_a_report_shows_the_speed_until_it_is_older_than_two_seconds() -> None:
    rotor = Reported()
    rotor.say(15.4)
    assert rotor.rpm(rotor.now_us + REPORT_FRESH_US) == 15.4
    assert rotor.rpm(rotor.now_us + REPORT_FRESH_US + 1) is None


@pytest.mark.parametrize(
    ("before_rpm", "proven", "seen_turning"),
    [
        (SLOW_RPM_MAX, "stopped", True),
        (SLOW_RPM_MAX + 0.1, None, False),
        (FAST_RPM_MIN - 0.1, None, False),
        (FAST_RPM_MIN, None, True),
    ],
)
def test_a_zero_is_a_stop_after_a_slow_report_and_a_field_that_begins_again_after_a_fast_one(
    before_rpm: float, proven: str | None, *, seen_turning: bool
) -> None:
    rotor = Reported()
    assert rotor.say(before_rpm, 0.0, 0.0) == [None, None, proven]
    assert rotor.was_seen_turning == seen_turning


def test_single_zeros_after_a_slow_report_are_explained() -> None:
    """Each may be damaged, or the rotor may have stood for it: two in a row would be a stop."""
    rotor = Reported()
    assert set(rotor.say(15.4, 0.0, 15.4, 0.0, 15.4)) == {None}
    assert rotor.was_seen_turning
