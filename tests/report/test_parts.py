"""Each part of a report finds its own fault, says so in words, and accuses no wheel in good order of it."""

from __future__ import annotations

from functools import cache

import msgspec
import pytest

from tests.report.played import BIASED, NINE, Fault, play, wheel_of
from wheeld.core.catalogue import Catalogue
from wheeld.core.pockets import SINGLE_ZERO
from wheeld_report.checks import FALSE_ALARMS, Check, judge
from wheeld_report.health import WheelReport, health
from wheeld_report.wheel import SensorPlaces, VoidCoup, WheelRecord

COUPS = 1_000
SAY = Catalogue("en")


@cache
def report(fault: Fault = Fault(), coups: int = COUPS, seed: int = 3) -> WheelReport:  # noqa: B008  frozen
    return health(wheel_of(list(play(seed, coups, fault))), SAY)


def test_a_wheel_in_good_order_is_accused_of_nothing() -> None:
    found = report()
    assert (found.verdict, found.findings) == ("nothing_found", [])
    assert found.numbers.enough
    assert all(trend.enough for trend in found.trends)
    assert {trend.code for trend in found.trends} == {
        "rotor_speed",
        "laps",
        "ball_time",
        "last_lap",
        "rotor_slowing",
        "rest_to_result",
    }


@pytest.mark.parametrize(
    ("fault", "code", "words"),
    [
        (Fault(bias=BIASED), "sectors", "times their share"),
        (Fault(bias=BIASED, bias_late=True), "sectors_second_half", "in the second half of the coups: the "),
        (Fault(blind_beam=0.05), "sensor_misses", "beam 2 missed the ball"),
        (Fault(tilt_deg=0.5), "tilt", "the wheel is out of level by about 0.5°; its lowest point is near "),
        (Fault(late_beam_s=0.04), "beam_late", "beam 2 reports the ball 40 ms later than the other beams"),
        (Fault(blind_reader=0.1), "sensor_misses", "reader 2 missed the ball"),
        (Fault(rotor_lost=0.4), "drift_rotor_speed", "speed of the rotor: changed by -"),
        (Fault(one_way=0.45), "direction_balance", "bouler Rossi launched"),
        (Fault(slipping=0.25), "undecided", "the sensors did not decide "),
        (Fault(slipping=0.1, slips_late=True), "undecided_rising", "were in the second half"),
        (Fault(low_late=0.09), "low_margins_rising", "by the measure direction, were in the second half"),
        (Fault(signature=0.7), "signature", "bouler Rossi, "),
        (Fault(more_voids=12), "voids_rising", "were in the second half"),
    ],
)
def test_a_fault_is_found_and_named(fault: Fault, code: str, words: str) -> None:
    found = report(fault)
    assert found.verdict == "found"
    (check,) = [each for each in found.findings if each.code == code][:1]
    assert words in check.said
    assert check.action.endswith(".")
    assert check.p <= check.held_to < FALSE_ALARMS


def test_a_tilted_wheel_is_found_by_where_balls_leave_the_track() -> None:
    wheel = wheel_of(list(play(3, COUPS)))
    wheel.runs = [
        msgspec.structs.replace(run, last_beam=0) if run.ball_direction == "cw" and at < 700 else run
        for at, run in enumerate(wheel.runs)
    ]
    found = health(wheel, SAY)
    (check,) = found.findings
    assert check.code == "drop_zone"
    assert check.said.startswith("the ball left the track between beam 1 and beam 2 ")


def test_a_ball_that_leaves_backwards_left_in_the_part_before_its_last_beam() -> None:
    wheel = wheel_of(list(play(3, 50)))
    wheel.runs = [msgspec.structs.replace(wheel.runs[0], last_beam=0, ball_direction="ccw")]
    assert [zone.count for zone in health(wheel, SAY).zones.zones] == [0, 0, 0, 1]


def test_a_table_that_launches_one_way_accuses_no_bouler() -> None:
    wheel = wheel_of(list(play(3, COUPS)))
    wheel.coups = [msgspec.structs.replace(coup, ball_direction="cw") for coup in wheel.coups]
    found = health(wheel, SAY).balance
    assert (found.one_way, found.checks) == (True, [])


def test_few_coups_are_too_few_and_a_plain_fault_is_found_all_the_same() -> None:
    found = report(coups=250)
    assert found.verdict == "too_small"
    assert found.numbers.coups_needed > 500
    assert not any(trend.enough for trend in found.trends if trend.code == "laps")
    blind = report(Fault(blind_beam=0.2), coups=250)
    assert [each.code for each in blind.findings] == ["sensor_misses"]


def test_a_wheel_without_sensors_of_its_own_or_without_any_coup_has_a_report() -> None:
    bare = WheelRecord(
        site="a", table="b", test=False, pockets=SINGLE_ZERO, voids=[VoidCoup(at_utc_us=1, cause="chef")]
    )
    assert health(bare, SAY).verdict == "too_small"
    head = wheel_of(list(play(3, 600)))
    head.layout, head.runs = SensorPlaces(), []
    found = health(head, SAY)
    assert (found.zones.coups, found.zones.zones, found.sensors.sensors) == (0, [], [])


@pytest.mark.parametrize(("measure", "each"), [("pocket", 8), ("slowing", 60)])
def test_low_margins_are_found_by_their_measure(measure: str, each: int) -> None:
    wheel = wheel_of(list(play(3, 600)))
    wheel.coups = [
        msgspec.structs.replace(coup, margin=0.1, margin_of=measure) if at % each == 0 else coup
        for at, coup in enumerate(wheel.coups)
    ]
    (check,) = health(wheel, SAY).findings
    assert (check.code, f"by the measure {measure}" in check.said) == ("low_margins", True)


def test_the_promise_is_shared_by_all_checks() -> None:
    many = [Check(code=f"c{at}", p=0.004, said="", action="") for at in range(9)]
    both = [Check(code=name, p=0.004, said="", action="", group="numbers") for name in ("a", "b", "c", "d")]
    assert judge([*many, *both]) == []
    assert sum(check.held_to for check in (*many, *both)) == pytest.approx(FALSE_ALARMS)
    (alone,) = judge([many[0]])
    assert alone.held_to == FALSE_ALARMS / 2


def test_the_bias_of_the_simulator_is_the_one_that_the_page_names() -> None:
    assert (len(NINE), BIASED.times) == (9, 1.5)
