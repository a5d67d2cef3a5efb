"""The judge of one line, and the guard against chatter, on a clock that the test sets."""

from __future__ import annotations

from wheeld.core.facts import Trouble
from wheeld.core.observations import SensorState
from wheeld.sources.chatter import PULSES, QUIET_US, WITHIN_US, ChatterGuard
from wheeld.sources.line_state import GOOD_US, GOOD_US_MAX, RELAPSE_US, RETELL_US, LineState

DOWN = Trouble.NOTHING_HEARD


def reports(line: LineState, t_us: int) -> list[SensorState]:
    return list(line.report(t_us, t_us))


def is_back_after_us(line: LineState, t_us: int) -> int:
    """Have it fail at `t_us`; for how long it must be good."""
    assert [seen.ok for seen in line.happens(Trouble.MISDATED, t_us, t_us)] == [False]
    for good_us in range(GOOD_US, GOOD_US_MAX + 1, GOOD_US):
        if [seen.ok for seen in reports(line, t_us + good_us)] == [True]:
            return good_us
    raise AssertionError


def test_a_trouble_that_stands_is_a_fault_at_once_and_until_it_has_been_over_for_a_while() -> None:
    line = LineState("test")
    line.stands(DOWN)
    assert reports(line, 1) == [SensorState(1, "link", ok=False, what=DOWN)]
    assert reports(line, 60_000_000) == []
    line.over(DOWN)
    assert reports(line, 60_000_000 + GOOD_US - 1) == []
    assert reports(line, 60_000_000 + GOOD_US) == [SensorState(60_000_000 + GOOD_US, "link", ok=True)]
    assert line.troubles == ()


def test_a_line_that_was_never_heard_counts_at_once_when_it_is() -> None:
    """Board and daemon are switched on in either order."""
    line = LineState("test")
    line.stands(DOWN)
    assert list(line.report(0, 5_000_000)) == [SensorState(0, "link", ok=False, what=DOWN)]
    line.over(DOWN)
    assert list(line.report(5_000_000, 5_000_100)) == [SensorState(5_000_000, "link", ok=True)]


def test_a_line_that_is_new_and_fails_again_soon_must_be_good_for_a_while() -> None:
    line = LineState("test")
    line.stands(DOWN)
    list(line.report(0, 5_000_000))
    line.over(DOWN)
    list(line.report(5_000_000, 5_000_100))
    assert is_back_after_us(line, 6_000_000) == 2 * GOOD_US


def test_what_was_reported_late_of_the_time_before_is_no_good_time() -> None:
    """A cable that is back gives what the ring kept; that is not the line's time since."""
    line = LineState("test")
    line.stands(DOWN)
    list(line.report(1_000, 5_000_000))
    line.over(DOWN)
    assert list(line.report(5_000_000, 5_100_000)) == []


def test_a_line_that_fails_again_soon_must_be_good_for_twice_as_long() -> None:
    line = LineState("test")
    waits_us, t_us = [], 1
    for _ in range(6):
        waits_us.append(is_back_after_us(line, t_us))
        t_us += waits_us[-1] + RELAPSE_US - 1
    assert [us // GOOD_US for us in waits_us] == [1, 2, 4, 8, 16, 16]
    assert is_back_after_us(line, t_us + RELAPSE_US) == GOOD_US


def test_another_trouble_is_told_but_not_at_any_rate() -> None:
    line = LineState("test")
    line.stands(Trouble.NO_ANSWER)
    reports(line, 0)
    line.stands(DOWN)
    assert reports(line, RETELL_US - 1) == []
    assert reports(line, RETELL_US) == [SensorState(RETELL_US, "link", ok=False, what=DOWN)]
    assert line.troubles == (DOWN, Trouble.NO_ANSWER)
    assert list(line.happens(Trouble.MISDATED, RETELL_US, RETELL_US)) == []
    assert line.fault_count == 1


def test_a_warning_is_told_once_each_time_and_only_while_the_line_is_up() -> None:
    line = LineState("test")
    told = [SensorState(5, "link", ok=True, what=Trouble.LINE_DAMAGED)]
    line.stands(Trouble.LINE_DAMAGED)
    assert reports(line, 5) == told
    assert reports(line, 5) == []
    line.over(Trouble.LINE_DAMAGED)
    reports(line, 5)
    line.stands(Trouble.LINE_DAMAGED)
    assert reports(line, 5) == told
    line.over(Trouble.LINE_DAMAGED)
    line.stands(DOWN)
    reports(line, 5)
    line.stands(Trouble.LINE_DAMAGED)
    assert reports(line, 5) == []


def test_pulses_that_a_ball_can_make_count() -> None:
    guard = ChatterGuard()
    apart_us = -(-WITHIN_US // (PULSES - 1))
    assert all(guard.counts("beam/0", number * apart_us) for number in range(10 * PULSES))
    assert guard.chattering == ()


def test_pulses_that_no_ball_makes_do_not_count_until_they_have_been_over_for_a_while() -> None:
    guard = ChatterGuard()
    counted = [guard.counts("beam/0", number) for number in range(PULSES + 1)]
    assert counted == [*[True] * (PULSES - 1), False, False]
    assert guard.counts("beam/1", PULSES)
    assert guard.quiet(PULSES + QUIET_US - 1) == []
    assert guard.quiet(PULSES + QUIET_US) == ["beam/0"]
    assert guard.counts("beam/0", PULSES + QUIET_US)
