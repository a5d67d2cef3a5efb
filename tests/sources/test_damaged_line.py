"""Coups over a line that damages one byte of five hundred, both ways: nothing is void for it (N8)."""

from __future__ import annotations

import pytest

from hw_sim.cable import Cable
from tests.sources.damaged_line import play

COUPS = 12
ONE_IN = 500


def test_a_good_line_asks_for_nothing_again() -> None:
    trial = play(0, Cable())
    assert trial.is_right
    assert (trial.faults, trial.replays) == (0, 0)


@pytest.mark.parametrize("seed", range(COUPS))
def test_a_damaged_line_voids_nothing(seed: int) -> None:
    trial = play(seed, Cable(seed, damage=1 / ONE_IN))
    assert trial.is_right, f"seed {seed}: {trial}"
    assert trial.faults == 0
    assert trial.replays > 10, "the line was damaged"
