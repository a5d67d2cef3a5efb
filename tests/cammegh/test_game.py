"""What lines prove of a run, rule by rule."""

from __future__ import annotations

import pytest

from firmware_protocol.cammegh import events as e
from firmware_protocol.cammegh.session import Setup
from firmware_protocol.cammegh.status import Flag, Product
from tests.cammegh.bench import DISPLAY, MERCURY, SLINGSHOT, Desk, extended, of, status

RUN = (status(2), status(3), status(4))


def after(setup: Setup, *lines: str) -> Desk:
    desk = Desk(setup)
    desk.hear(*lines)
    return desk


def number(desk: Desk) -> e.Number:
    (one,) = of(e.Number, desk.events)
    return one


def laps(desk: Desk) -> list[int]:
    return [one.laps for one in of(e.Laps, desk.events)]


def balls(desk: Desk) -> list[str]:
    return [one.ball for one in of(e.BallDirection, desk.events)]


# The number


def test_bare_number_and_status_line_make_a_number_in_either_order() -> None:
    for lines in (("27", status(5, number=27)), (status(5, number=27), "27")):
        desk = after(SLINGSHOT, *RUN, *lines, status(5, number=27), status(2, 12, 27))
        assert number(desk) == e.Number(number(desk).host_ns, 27, 11, whole=True)
        assert not of(e.NumberDisagrees, desk.events)
        assert not of(e.UnobservedCoup, desk.events)


@pytest.mark.parametrize(
    ("lines", "bare", "shown"),
    [
        (("27", status(5, number=28)), 27, 28),
        (("27", "28", status(5, number=27)), 28, 27),
        (("27", status(5, number=None)), 27, None),
        ((status(5, number=27), status(5, number=27), status(2, 12, 27)), None, 27),
    ],
)
def test_without_two_lines_there_is_no_number(lines: tuple[str, ...], bare: int | None, shown: int | None) -> None:
    desk = after(SLINGSHOT, *RUN, *lines)
    assert [(one.bare, one.status, one.spin) for one in of(e.NumberDisagrees, desk.events)] == [(bare, shown, 11)]
    desk.hear(status(5, number=27), status(5, number=27), "27")
    assert not of(e.Number, desk.events)


def test_a_bare_number_alone_is_no_result_and_does_not_wait_for_the_next_coup() -> None:
    desk = after(SLINGSHOT, *RUN, "27", status(4), status(4), status(4))
    assert desk.session.counters["stray_bare"] == 1
    desk.hear(status(5, number=27), status(2, 12, 27))
    assert not of(e.Number, desk.events)
    assert len(of(e.NumberDisagrees, desk.events)) == 1


def test_bare_numbers_without_a_run_are_counted() -> None:
    desk = after(SLINGSHOT, status(5), "34", "34")
    assert desk.events == of(e.Connected, desk.events) + of(e.RotorSpeed, desk.events)
    assert desk.session.counters["stray_bare"] == 2
    desk = Desk(SLINGSHOT)
    assert desk.hear("12") == []


def test_a_port_without_bare_numbers_needs_two_lines_in_a_row() -> None:
    desk = after(DISPLAY, *RUN, status(5, number=27))
    assert not of(e.Number, desk.events)
    desk.hear("12", status(5, number=28), status(5, number=None), status(5, number=28))
    assert number(desk).number == 28
    assert desk.session.counters["stray_bare"] == 1
    desk = after(DISPLAY, *RUN, status(5, number=27), status(2, 12, 27))
    assert not of(e.Number, desk.events)
    assert len(of(e.NumberDisagrees, desk.events)) == 1


def test_a_number_that_changes_later_is_reported() -> None:
    desk = after(SLINGSHOT, *RUN, "27", status(5, number=27), status(2, 12, 27), status(2, 12, 26))
    assert not of(e.NumberDisagrees, desk.events)
    desk.hear(status(2, 12, 26))
    (late,) = of(e.NumberDisagrees, desk.events)
    assert (late.spin, late.bare, late.status) == (12, 27, 26)


FIVE = status(5, number=27)
CORRECTED = status(5, number=12)


@pytest.mark.parametrize("correction", [["12", CORRECTED], [CORRECTED, "12"], [CORRECTED, CORRECTED],
                                        ["12", CORRECTED, CORRECTED], [CORRECTED, FIVE, "12", CORRECTED]])  # fmt: skip
def test_a_number_corrected_while_it_is_shown_is_reported_once(correction: list[str]) -> None:
    desk = after(SLINGSHOT, *RUN, "27", FIVE, *correction, CORRECTED, status(2, 12, 12), status(2, 12, 12))
    assert number(desk).number == 27
    assert [(one.spin, one.bare, one.status) for one in of(e.NumberDisagrees, desk.events)] == [(11, 27, 12)]


def test_a_number_corrected_by_the_last_line_that_shows_it_and_the_next_game() -> None:
    desk = after(SLINGSHOT, *RUN, "27", FIVE, CORRECTED, status(2, 12, 12), status(2, 12, 12))
    assert [(one.spin, one.bare, one.status) for one in of(e.NumberDisagrees, desk.events)] == [(11, 27, 12)]


def test_a_number_corrected_on_a_port_without_bare_numbers_takes_two_lines() -> None:
    desk = after(DISPLAY, *RUN, FIVE, FIVE, CORRECTED)
    assert not of(e.NumberDisagrees, desk.events)
    desk.hear("12", CORRECTED)
    assert [(one.bare, one.status) for one in of(e.NumberDisagrees, desk.events)] == [(27, 12)]


@pytest.mark.parametrize("stray", [["12"], [CORRECTED], ["12", FIVE, CORRECTED], [CORRECTED, FIVE, CORRECTED],
                                   ["27", FIVE], [CORRECTED, status(5, number=13)],
                                   [status(5, number=None)] * 2])  # fmt: skip
def test_one_line_corrects_no_number(stray: list[str]) -> None:
    desk = after(SLINGSHOT, *RUN, "27", FIVE, *stray, FIVE, status(2, 12, 27))
    assert number(desk).number == 27
    assert not of(e.NumberDisagrees, desk.events)


def test_a_number_comes_once_a_run_though_the_state_flickers() -> None:
    five = status(5, number=27)
    desk = after(SLINGSHOT, *RUN, "27", five, five, status(4, number=27), "27", five, five, status(2, 12, 27))
    assert [one.whole for one in of(e.Number, desk.events)] == [True, False]


# What was not heard


def test_a_game_joined_in_the_middle_is_not_whole() -> None:
    desk = after(SLINGSHOT, status(4), "27", status(5, number=27))
    assert not number(desk).whole
    desk = after(SLINGSHOT, status(3), status(4), "27", status(5, number=27))
    assert not number(desk).whole
    desk = after(SLINGSHOT, status(2), status(3), "27", status(5, number=27))
    assert not number(desk).whole
    desk = after(SLINGSHOT, status(2), status(4), "27", status(5, number=27))
    assert not number(desk).whole


def test_the_spin_number_that_moves_on_without_a_result_is_an_unobserved_coup() -> None:
    desk = after(SLINGSHOT, status(4, 146, 9))
    desk.tick(400_000_000_000)
    desk.hear(status(2, 147, 21))
    assert not of(e.UnobservedCoup, desk.events)
    events = desk.hear(status(2, 147, 21))
    (one,) = of(e.UnobservedCoup, events)
    assert (one.from_spin, one.to_spin, one.number_before, one.number_after) == (146, 147, 9, 21)
    desk.hear(status(3, 147, 21), status(4, 147, 21), " 8", status(5, 147, 8))
    assert number(desk).number == 8


@pytest.mark.parametrize("first", [1, 2, 4, 5])
def test_a_jump_is_one_unobserved_coup_wherever_it_lands(first: int) -> None:
    desk = after(SLINGSHOT, *RUN, "27", status(5, number=27), *[status(first, 14, 3)] * 3)
    assert len(of(e.UnobservedCoup, desk.events)) == 1
    assert len(of(e.Number, desk.events)) == 1


def test_a_single_line_with_another_spin_number_is_damage() -> None:
    desk = after(SLINGSHOT, *RUN, status(4, 91), status(4, 92), status(4), "27", status(5, number=27))
    assert desk.session.counters["lone_spin"] == 2
    assert number(desk).whole
    assert not of(e.UnobservedCoup, desk.events)


def test_a_result_without_its_run_is_an_unobserved_coup() -> None:
    desk = after(SLINGSHOT, status(2), status(5, number=27), status(5, number=27), status(2, 12, 27))
    assert [(one.from_spin, one.to_spin) for one in of(e.UnobservedCoup, desk.events)] == [(11, 11)]
    desk = after(SLINGSHOT, *RUN, "27", status(5, number=27), status(5, 12, 5), status(5, 12, 5))
    assert [(one.from_spin, one.to_spin) for one in of(e.UnobservedCoup, desk.events)] == [(12, 12)]


def test_a_game_that_goes_over_into_the_next_has_ended_without_a_number() -> None:
    desk = after(SLINGSHOT, *RUN, status(4, 12), "27", status(5, 12, 27))
    assert [one.spin for one in of(e.WheelVoid, desk.events)] == [11]
    assert (number(desk).spin, number(desk).whole) == (12, False)


def test_the_next_spin_number_after_a_void_that_was_heard_is_no_coup() -> None:
    desk = after(SLINGSHOT, *RUN, status(6), status(1, 12), status(2, 12))
    assert not of(e.UnobservedCoup, desk.events)
    desk = after(SLINGSHOT, *RUN)
    desk.tick(9_000_000_000)
    desk.hear(status(2, 12), status(2, 12))
    assert len(of(e.UnobservedCoup, desk.events)) == 1


def test_spin_numbers_wrap_by_product() -> None:
    for setup, last in ((SLINGSHOT, 256), (MERCURY, 255)):
        desk = after(setup, status(2, last), status(3, last), status(4, last), "27", status(5, last, 27),
                     status(2, 1, 27), status(2, 1, 27))  # fmt: skip
        assert not of(e.UnobservedCoup, desk.events)


def test_a_blank_last_number_is_a_wheel_that_was_switched_off() -> None:
    for spin in (1, 11):
        desk = after(SLINGSHOT, *RUN, status(2, spin, None), status(2, spin, None))
        assert [(one.from_spin, one.to_spin) for one in of(e.WheelRestarted, desk.events)] == [(11, spin)]


# Silence


def test_a_silence_in_the_run_takes_what_was_borne_out_with_it() -> None:
    lines = [extended(2), extended(3, 3), extended(4, 4), extended(4, 4)]
    desk = after(MERCURY, *lines)
    assert of(e.Silent, desk.tick(3_000_000_000))
    assert (laps(desk), balls(desk)) == ([3, 4], ["cw"])
    desk.hear(extended(4, 1), extended(4, 2), "27", extended(5, number=27))
    assert (laps(desk), balls(desk), number(desk).whole) == ([3, 4, 1], ["cw", "cw"], False)


# Laps and directions


def test_laps_are_what_two_lines_in_a_row_count_latched_over_states_3_and_4() -> None:
    in_rim = [extended(3, laps) for laps in (1, 2, 0x88)]
    leaving = [extended(4, laps) for laps in (4, 5, 0, 9)]
    desk = after(
        MERCURY, extended(2), *in_rim, *leaving, "27", extended(5, 0, number=27), extended(1, 0, spin=12, number=27)
    )
    assert laps(desk) == [1, 2, 4]


def counted(*counts: int) -> tuple[list[int], int]:
    """What a run proves whose lines count so: the laps reported, and the runs whose count is not used."""
    lines = [extended(4 if index > len(counts) // 2 else 3, one) for index, one in enumerate(counts)]
    desk = after(MERCURY, extended(2), *lines, "27", extended(5, number=27), extended(1, spin=12, number=27))
    return laps(desk), desk.session.counters["laps_unproven"]


def test_laps_grow_as_a_ball_can() -> None:
    assert counted(3, 5, 7, 8, 8) == ([3, 5, 7, 8], 0)
    assert counted(1, 1, 2, 2, 3) == ([1, 2], 0)


@pytest.mark.parametrize("counts", [[10] * 8, [4] * 20, [0xFE, 0xFF, 0, 1, 2, 3], [7, 1, 2, 3, 4]])
def test_a_count_that_did_not_begin_with_the_run_proves_none(counts: list[int]) -> None:
    assert counted(*counts) == ([], 1)


def test_a_count_that_leaps_proves_none() -> None:
    assert counted(1, 4, 4, 5) == ([1, 4], 0), "one line was damaged, the next ones can be true"
    assert counted(1, 2, 9, 9, 9, 9, 9, 9, 9, 9) == ([1, 0], 1)
    assert counted(1, 2, 0x88, 3, 4) == ([1, 2, 3], 0)


def test_a_lap_count_is_followed_over_lines_that_were_lost_or_came_at_once() -> None:
    desk = after(MERCURY, extended(2), extended(3, 1))
    desk.hear(extended(3, 5), apart_ns=1_500_000_000)
    desk.hear(extended(3, 7), extended(3, 9), extended(4, 10), extended(4, 10), apart_ns=0)
    assert laps(desk) == [1, 5, 7, 9, 10]


def test_without_extended_lines_no_laps_are_known() -> None:
    desk = after(MERCURY, status(2), status(3), status(4), "27", status(5, number=27))
    assert (number(desk).number, laps(desk), balls(desk)) == (27, [], [])


def test_one_extended_line_bears_out_nothing() -> None:
    desk = after(MERCURY, extended(2), extended(3, 3), "27", extended(5, number=27))
    assert (number(desk).number, laps(desk), balls(desk)) == (27, [], [])


def test_directions_are_reported_once_two_lines_agree() -> None:
    desk = after(MERCURY, extended(2), extended(3, 1, ball=1), extended(3, 1), extended(3, 2), extended(4, 3, ball=1),
                 extended(4, 3))  # fmt: skip
    assert [(one.ball, one.rotor) for one in of(e.BallDirection, desk.events)] == [("cw", "ccw")]


def test_a_direction_that_two_later_lines_contradict_is_reported_anew() -> None:
    """The first two may show the game before, and must not hide a ball that ran with the rotor."""
    desk = after(MERCURY, extended(2), extended(3, 1), extended(3, 2), extended(4, 3, ball=1), extended(4, 3, ball=1))
    assert balls(desk) == ["cw", "ccw"]


@pytest.mark.parametrize(
    ("before", "counts", "proven"),
    [
        (0, [1, 2, 2, 3, 3, 4, 4], [1, 2, 3, 4]),
        (3, [3, 3, 3, 3, 3], []),
        (0, [3, 3, 3, 3, 3], [1]),
        (2, [2, 2, 3, 3, 3], []),
        (2, [1, 1, 2, 3, 3], [1, 2, 3]),
        (0, [1, 2, 3, 3, 1, 1, 2, 2], [1, 2, 3, 0]),
        (0, [1, 2, 3, 3, 0, 3, 4, 4], [1, 2, 3, 4]),
        (0, [2, 3, 3, 0, 0, 0], [2, 3]),
        (0, [2, 3, 3, 0, 1, 1], [2, 3, 0]),
    ],
)
def test_laps_are_those_of_this_run(before: int, counts: list[int], proven: list[int]) -> None:
    """A figure that stood before, never grew, or began anew counted something else."""
    head = [extended(2, before), extended(2, before)]
    desk = after(MERCURY, *head, *(extended(3 if at < 2 else 4, count) for at, count in enumerate(counts)))
    desk.hear("27", extended(5, number=27))
    assert laps(desk) == proven


def test_a_line_without_a_count_bears_none_out() -> None:
    desk = after(MERCURY, extended(2), extended(3, 1), extended(3, 2), extended(4, 3), status(4), status(4))
    desk.hear(extended(4, 3), status(4), "27", extended(5, number=27))
    assert laps(desk) == [1, 2]


def test_flags_that_stand_across_a_silence_are_reported_again() -> None:
    desk = after(MERCURY, extended(2, flags="2"))
    desk.tick(3_000_000_000)
    events = of(e.Warned, desk.hear(extended(2, flags="2"), extended(2, flags="2")))
    assert [one.flags for one in events] == [{Flag.SAME_DIRECTION}]


def test_the_number_of_the_game_before_needs_two_lines_in_state_5() -> None:
    """Each line shows it, and one wrong digit makes a 4 a 5."""
    ran = (status(2), status(3), status(4))
    desk = after(SLINGSHOT, *ran, "34", status(5), status(4))
    assert not of(e.Number, desk.events)
    desk = after(SLINGSHOT, *ran, "34", status(5), status(5))
    assert number(desk).number == 34


def test_one_damaged_line_at_the_end_does_not_outweigh_the_number() -> None:
    five = status(5, number=32)
    desk = after(SLINGSHOT, status(2), status(3), status(4), "32", five, five, status(5, number=33))
    desk.hear(status(2, 12, 32), status(2, 12, 32))
    assert number(desk).number == 32
    assert not of(e.UnobservedCoup, desk.events)
    assert not of(e.NumberDisagrees, desk.events)


def test_lines_that_bear_each_other_out_in_nothing_are_silence() -> None:
    desk = after(SLINGSHOT, status(2), status(3), status(4))
    desk.hear(*(status(4, spin=100 + odd) for odd in range(6)))
    assert of(e.Silent, desk.events)
    desk.hear(status(4), "27", status(5, number=27))
    assert not number(desk).whole


# Warnings


def test_flag_2_before_the_launch_is_a_warning_and_flag_8_a_launch_that_failed() -> None:
    desk = after(SLINGSHOT, status(2), *[status(2, flags="2")] * 12, *[status(2, flags="8")] * 12, *RUN[1:])
    assert [one.flags for one in of(e.Warned, desk.events)] == [
        {Flag.SAME_DIRECTION},
        {Flag.LAUNCH_FAILED},
        set(),
    ]
    assert not of(e.WheelVoid, desk.events)
    assert len(of(e.BallSeen, desk.events)) == 1


def test_a_sum_of_bits_is_all_of_them() -> None:
    desk = after(SLINGSHOT, status(2), status(2, flags="A"))
    assert of(e.Warned, desk.events)[0].flags == {Flag.LAUNCH_FAILED, Flag.SAME_DIRECTION}


@pytest.mark.parametrize(("lines", "void"), [(9, []), (10, ["ball_not_detected"]), (40, ["ball_not_detected"])])
def test_a_ball_not_detected_in_state_4_is_void_after_ten_messages(lines: int, void: list[str]) -> None:
    desk = after(SLINGSHOT, *RUN, *[status(4, flags="1")] * lines, status(4))
    assert [one.why for one in of(e.WheelVoid, desk.events)] == void


def test_single_lines_without_the_ball_are_nothing() -> None:
    desk = after(SLINGSHOT, *RUN, *[status(4, flags="1"), status(4)] * 14, "27", status(5, number=27))
    assert not of(e.WheelVoid, desk.events)
    assert number(desk).whole


def test_lines_read_at_once_count_as_the_time_they_took() -> None:
    desk = after(SLINGSHOT, *RUN)
    desk.hear(*[status(4, flags="1")] * 9, apart_ns=0)
    assert not of(e.WheelVoid, desk.events)
    desk.hear(status(4, flags="1"), apart_ns=0)
    assert len(of(e.WheelVoid, desk.events)) == 1


def test_answers_to_polls_count_by_their_dates() -> None:
    desk = after(Setup(Product.SLINGSHOT_2, poll_ns=100_000_000), *RUN)
    desk.hear(*[status(4, flags="1")] * 50, apart_ns=100_000_000)
    assert not of(e.WheelVoid, desk.events)
    desk.hear(status(4, flags="1"), apart_ns=100_000_000)
    assert [one.why for one in of(e.WheelVoid, desk.events)] == ["ball_not_detected"]


def test_a_failed_launch_is_ignored_for_3_s_of_state_3() -> None:
    flagged = status(3, flags="8")
    desk = after(SLINGSHOT, status(2), *[flagged] * 6, status(3), status(4))
    assert not of(e.WheelVoid, desk.events)
    desk = after(SLINGSHOT, status(2), *[flagged] * 7)
    assert [one.why for one in of(e.WheelVoid, desk.events)] == ["launch_failed"]
    desk = after(SLINGSHOT, *RUN, status(4, flags="8"))
    assert [one.why for one in of(e.WheelVoid, desk.events)] == ["launch_failed"]
    again = after(SLINGSHOT, status(2), *[flagged] * 6, status(2), *[flagged] * 6)
    assert [one.why for one in of(e.WheelVoid, again.events)] == ["no_number"]


@pytest.mark.parametrize("flags", ["8", "9", "A", "F"])
def test_a_mercury_voids_the_game(flags: str) -> None:
    desk = after(MERCURY, *RUN, status(4, flags=flags), status(1, flags=flags), status(1))
    assert [one.why for one in of(e.WheelVoid, desk.events)] == ["void_game"]
    desk = after(MERCURY, *RUN, status(1, flags=flags))
    assert [one.why for one in of(e.WheelVoid, desk.events)] == ["void_game"]


def test_a_mercury_voids_a_launch_that_no_line_saw() -> None:
    desk = after(MERCURY, status(2), status(2, flags="8"), status(2, flags="8"))
    assert len(of(e.WheelVoid, desk.events)) == 1
    desk = after(MERCURY, status(1), status(1, flags="8"))
    assert not of(e.WheelVoid, desk.events)


def test_after_the_number_nothing_voids() -> None:
    desk = after(MERCURY, *RUN, "27", status(5, number=27), status(5, number=27, flags="8"))
    assert not of(e.WheelVoid, desk.events)


@pytest.mark.parametrize(("setup", "state"), [(SLINGSHOT, 6), (SLINGSHOT, 2), (SLINGSHOT, 1), (MERCURY, 7)])
def test_a_game_that_ends_without_a_number(setup: Setup, state: int) -> None:
    desk = after(setup, *RUN, status(state))
    assert [one.why for one in of(e.WheelVoid, desk.events)] == ["no_number"]
    desk.hear(status(2), status(3), status(4), "27", status(5, number=27))
    assert number(desk).whole


def test_a_slingshot_s_state_7_is_no_end() -> None:
    desk = after(SLINGSHOT, *RUN, status(7), status(7), "27", status(5, number=27))
    assert len(of(e.BallOffTrack, desk.events)) == 1
    assert number(desk).whole
    assert not of(e.WheelVoid, desk.events)


def test_a_sensor_fault_is_mended_by_two_lines() -> None:
    desk = after(SLINGSHOT, status(6), status(6, flags="4"), status(6), status(6, flags="C"), status(6))
    assert (len(of(e.SensorFault, desk.events)), len(of(e.SensorMended, desk.events))) == (1, 0)
    desk.hear(status(6), status(6))
    assert (len(of(e.SensorFault, desk.events)), len(of(e.SensorMended, desk.events))) == (1, 1)


# The rotor


def speeds(desk: Desk) -> list[float | None]:
    return [one.rpm for one in of(e.RotorSpeed, desk.events)]


def test_000_after_slow_readings_stands_and_after_fast_ones_nobody_knows() -> None:
    fast = [status(4, rpm=rpm) for rpm in (71.4, 89.8, 0, 0, 69.9, 34.9, 4.7, 0.5, 0)]
    desk = after(SLINGSHOT, *RUN, *fast)
    assert speeds(desk)[3:] == [71.4, 89.8, None, None, 69.9, 34.9, 4.7, 0.5, 0.0]


@pytest.mark.parametrize("rpm", [10.0, 21.9, 30.0, 40.0])
def test_a_rotor_that_is_stopped_within_a_line_stands(rpm: float) -> None:
    run = [status(state, rpm=rpm) for state in (2, 3, 4)]
    desk = after(SLINGSHOT, *run, status(4, rpm=0), status(4, rpm=0), "27", status(5, number=27, rpm=0))
    assert speeds(desk) == [rpm, rpm, rpm, 0.0, 0.0, 0.0]


def test_000_after_more_than_40_rpm_may_be_a_runaway() -> None:
    desk = after(SLINGSHOT, *RUN, status(4, rpm=40.1), status(4, rpm=0), status(4, rpm=0))
    assert speeds(desk)[3:] == [40.1, None, None]


def test_000_from_before_the_launch_to_the_end_is_no_speed() -> None:
    lines = [status(state, rpm=0) for state in (1, 2, 2, 3, 3, 4, 4)]
    desk = after(SLINGSHOT, *lines, "27", status(5, number=27, rpm=0))
    assert speeds(desk) == [None] * 8


def test_000_is_unknown_at_first_and_after_a_silence() -> None:
    desk = after(SLINGSHOT, status(2, rpm=0), status(2, rpm=0.4), status(2, rpm=0))
    assert speeds(desk) == [None, 0.4, 0.0]
    desk.tick(9_000_000_000)
    desk.hear(status(2, rpm=0))
    assert speeds(desk)[-1] is None
