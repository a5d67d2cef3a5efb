"""Numbers and sectors against chance."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wheeld.core.catalogue import Catalogue
from wheeld.core.pockets import SINGLE_ZERO, label_of
from wheeld_report.checks import NUMBERS_LIMIT, POWER_MIN
from wheeld_report.numbers import (
    EFFECT_POCKETS,
    EFFECT_TIMES,
    RECENT_US,
    WIDTHS,
    NumberCounts,
    coups_needed,
    numbers,
    power_of_chi_square,
)
from wheeld_report.wheel import ValidCoup

SAY = Catalogue("en")
POCKETS, ROTOR_ORDER = SINGLE_ZERO.count, SINGLE_ZERO.order


def of_counts(counts: list[int]) -> NumberCounts:
    coups = [ValidCoup(at_utc_us=0, coup=1, pocket=at) for at, count in enumerate(counts) for _ in range(count)]
    return numbers(coups, SINGLE_ZERO, SAY)


def test_numbers_that_come_equally_often_are_as_likely_as_can_be() -> None:
    found = of_counts([20] * POCKETS)
    assert (found.chi_square, found.p_chi_square, found.p_sectors) == (0, 1, 1)
    assert found.counts == [20] * POCKETS
    assert found.enough


@pytest.mark.parametrize("first", [0, 20, 33])
def test_a_sector_is_found_where_it_is_also_across_the_zero(first: int) -> None:
    inside = {(first + each) % POCKETS for each in range(9)}
    found = of_counts([30 if at in inside else 14 for at in range(POCKETS)])
    (window,) = [each for each in found.windows if each.width == 9]
    assert (window.first, window.middle) == tuple(label_of(ROTOR_ORDER[(first + on) % POCKETS]) for on in (0, 4))
    assert (window.count, round(window.times, 3)) == (270, round(270 / 662 / (9 / 37), 3))
    assert window.times_low < window.times < window.times_high
    assert found.p_sectors < NUMBERS_LIMIT
    (check,) = [each for each in found.checks if each.code == "sectors"]
    assert f"the 9 pockets around {window.middle} came 1.68 times their share" in check.said


def test_a_pocket_that_never_comes_is_found_too() -> None:
    found = of_counts([0, *[30] * 36])
    (check,) = [each for each in found.checks if each.code == "sectors"]
    assert check.p < NUMBERS_LIMIT
    assert check.said.startswith("the pocket of 0 came 0 times its share")


def test_what_began_late_is_found_in_the_coups_since() -> None:
    fair = [at % POCKETS for at in range(20 * POCKETS)]
    biased = [*fair[: 4 * POCKETS], *[at % 9 for at in range(45)]]
    before = [*fair, *fair[:-400]]

    def found(places: list[int], recent_from: int = 0) -> dict[str, float]:
        since = {at: RECENT_US + 1 if at >= recent_from else 0 for at in range(len(places))}
        coups = [ValidCoup(at_utc_us=since[at], coup=at, pocket=place) for at, place in enumerate(places)]
        return {check.code: check.p for check in numbers(coups, SINGLE_ZERO, SAY).checks}

    late = found([*before, *biased])
    assert late["sectors_second_half"] < late["sectors"]
    assert "sectors_recent" not in late  # all were within four weeks
    assert found([*before, *biased], recent_from=len(before))["sectors_recent"] < NUMBERS_LIMIT
    assert found(fair)["sectors_second_half"] == pytest.approx(1, abs=0.1)


def test_few_coups_say_nothing_and_the_report_says_so() -> None:
    found = of_counts([5, *[4] * 36])
    assert (found.enough, found.power, found.checks, found.windows) == (False, 0.0, [], [])
    found = of_counts([6] * POCKETS)
    assert (found.enough, len(found.checks)) == (False, 2)
    assert 0 < found.power < POWER_MIN


def test_power_is_that_of_simulated_wheels_with_the_named_fault() -> None:
    needed = coups_needed(POCKETS)
    assert power_of_chi_square(needed - 1, POCKETS) < POWER_MIN <= power_of_chi_square(needed, POCKETS)
    shares = np.full(POCKETS, (1 - EFFECT_POCKETS * EFFECT_TIMES / POCKETS) / (POCKETS - EFFECT_POCKETS))
    shares[:EFFECT_POCKETS] = EFFECT_TIMES / POCKETS
    drawn = np.random.default_rng(1).multinomial(needed, shares, size=400)
    hits = sum(of_counts(counts.tolist()).p_chi_square <= NUMBERS_LIMIT for counts in drawn)
    assert hits / 400 == pytest.approx(POWER_MIN, abs=0.07)


@pytest.mark.parametrize("total", [300, 1_000])
def test_fair_wheels_are_accused_as_seldom_as_promised(total: int) -> None:
    drawn = np.random.default_rng(2).multinomial(total, np.full(POCKETS, 1 / POCKETS), size=2_000)
    reports = [of_counts(counts.tolist()) for counts in drawn[:1_000]]
    at_ten = sum(each.p_sectors <= 0.1 for each in reports) / 1_000
    assert at_ten == pytest.approx(0.1, abs=4 * math.sqrt(0.09 / 1_000))
    alarms = sum(min(each.p_sectors, each.p_chi_square) <= NUMBERS_LIMIT for each in reports)
    assert alarms <= 15  # 5 are promised; of a thousand right programs one gets more
    assert len(WIDTHS) == len(reports[0].windows)
