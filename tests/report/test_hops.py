"""What sensors miss that something goes round past."""

from __future__ import annotations

import pytest

from wheeld_report.sensors import hops

FOUR = (0.0, 90.0, 180.0, 270.0)


def rounds(angles: tuple[float, ...], laps: int, lap_s: float = 1.0, *, forward: bool = True) -> list[tuple[int, int]]:
    """Every report of a thing that goes round evenly."""
    sign = 1 if forward else -1
    return sorted(
        (round(1e6 * lap_s * (lap + (sign * angle % 360) / 360)), sensor)
        for lap in range(laps)
        for sensor, angle in enumerate(angles)
    )


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("angles", [FOUR, (10.0, 100.0), (270.0, 30.0, 150.0), (5.0, 20.0, 200.0)])
def test_who_reports_everything_misses_nothing(angles: tuple[float, ...], forward: bool) -> None:
    seen, missed = hops(rounds(angles, 10, forward=forward), angles, forward=forward)
    assert seen == (10,) * len(angles)
    assert missed == (0,) * len(angles)


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("left_out", [4, 9, 21])
def test_one_that_is_left_out_is_missed_by_its_sensor(left_out: int, forward: bool) -> None:
    reports = rounds(FOUR, 10, forward=forward)
    _, sensor = reports.pop(left_out)
    seen, missed = hops(reports, FOUR, forward=forward)
    assert missed == tuple(int(each == sensor) for each in range(4))
    assert sum(seen) == 39


def test_a_sensor_that_reports_nothing_misses_each_time() -> None:
    reports = [each for each in rounds(FOUR, 10) if each[1] != 2]
    seen, missed = hops(reports, FOUR, forward=True)
    assert (seen[2], missed) == (0, (0, 0, 10, 0))


def test_a_stray_pulse_is_nobodys_miss() -> None:
    reports = sorted([*rounds(FOUR, 10), (3_300_000, 3)])
    seen, missed = hops(reports, FOUR, forward=True)
    assert (sum(seen), missed) == (40, (0, 0, 0, 0))


def test_where_the_speed_is_known_one_sensor_alone_can_miss() -> None:
    reports = rounds((30.0,), 10)
    del reports[4]
    assert hops(reports, (30.0,), forward=True, speed_deg_s=360.0) == ((9,), (1,))
    assert hops(reports, (30.0,), forward=True, speed_deg_s=180.0)[1] != (1,)
