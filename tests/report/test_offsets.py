"""A bouler's signature is found at him and in his direction, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from wheeld.core.catalogue import Catalogue
from wheeld_report.people import COUPS_MIN, Offsets, check_of, offsets
from wheeld_report.wheel import ValidCoup

POCKETS = 37


def played(steps: list[int], *, bouler: str = "Rossi", numbered: int = 1) -> list[Offsets]:
    places = np.cumsum([0, *steps]) % POCKETS
    coups = [
        ValidCoup(at_utc_us=at, coup=1 + numbered * at, pocket=int(place), bouler=bouler, ball_direction="cw")
        for at, place in enumerate(places)
    ]
    return offsets(coups, POCKETS)


def test_who_always_brings_it_as_far_is_found_with_the_way() -> None:
    (one,) = played([12 + at % 5 - 2 for at in range(100)])
    check = check_of(one, Catalogue("en"))
    assert (one.bouler, one.direction, one.coups, one.pockets) == ("Rossi", "cw", 100, 12)
    assert one.strength > 0.9
    assert check.p < 1e-20
    assert "bouler Rossi, ↻: the numbers of 100 launches lie about 12 pockets clockwise" in check.said


def test_ways_that_come_equally_often_are_as_likely_as_can_be() -> None:
    (one,) = played(list(range(POCKETS)) * 3)
    assert one.p == pytest.approx(1)


def test_after_a_void_and_with_few_coups_nothing_is_compared() -> None:
    assert played([12] * 100, numbered=2) == []
    assert played([12] * (COUPS_MIN - 1)) == []


@pytest.mark.parametrize("coups", [COUPS_MIN, 125])
def test_fair_boulers_are_accused_no_more_often_than_said(coups: int) -> None:
    drawn = np.random.default_rng(3).integers(0, POCKETS, size=(2_000, coups))
    accused = sum(played(steps.tolist())[0].p <= 0.01 for steps in drawn)
    assert accused <= 38  # 20 are said; of ten thousand right programs one gets more
