"""How figures are spread."""

from __future__ import annotations

import math

from wheeld.page.wheel import Distribution


def test_a_figure_counts_up_to_and_with_its_bound() -> None:
    spread = Distribution((1.0, 2.0))
    for figure in (0.5, 1.0, 1.5, 2.0, 2.5):
        spread.add(figure)
    assert spread.at_most == [(1.0, 2), (2.0, 4), (math.inf, 5)]
    assert spread.total == 7.5


def test_nothing_was_counted() -> None:
    assert Distribution((1.0,)).at_most == [(1.0, 0), (math.inf, 0)]
