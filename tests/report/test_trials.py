"""A short form of `make test-report`: what it tries, it would find broken; and docs/report.md has its rows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.report.played import Fault
from tests.report.trials import FAIR_COUPS, ROWS, Row, codes, is_as_sure, is_kept
from wheeld.core.pockets import SINGLE_ZERO
from wheeld_report.numbers import coups_needed

PAGE = (Path(__file__).parents[2] / "docs" / "report.md").read_text()
TABLE = re.findall(r"^\| (.+?) \| ([\d,]+) \| (\d+) of (\d+), ([\d.]+) % ", PAGE, re.MULTILINE)
WHEELS = 8


def test_fair_wheels_are_accused_of_nothing() -> None:
    alarms = sum(bool(codes(seed, FAIR_COUPS, Fault())) for seed in range(WHEELS))
    assert is_kept(WHEELS, alarms)
    assert not is_kept(WHEELS, 3)
    assert not is_kept(1_000, 25)


@pytest.mark.parametrize("row", [row for row in ROWS if row.least > 0.9], ids=lambda row: f"{row.name}, {row.coups}")
def test_a_fault_is_found_on_all_but_few_wheels(row: Row) -> None:
    hits = sum(bool(codes(seed, row.coups, row.fault) & row.codes) for seed in range(WHEELS))
    assert is_as_sure(row, hits, WHEELS)
    assert not is_as_sure(row, 2, WHEELS)


def test_the_page_has_the_table_and_each_row_is_as_sure_as_promised() -> None:
    (fair, *rows) = TABLE
    assert (fair[0], fair[1]) == ("none", str(FAIR_COUPS))
    assert is_kept(int(fair[3]), int(fair[2]))
    assert [(name, int(coups.replace(",", ""))) for name, coups, *_ in rows] == [(row.name, row.coups) for row in ROWS]
    for row, (_, _, hits, faulty, percent) in zip(ROWS, rows, strict=True):
        assert is_as_sure(row, int(hits), int(faulty)), row.name
        assert float(percent) == pytest.approx(100 * int(hits) / int(faulty), abs=0.05)


def test_the_page_says_from_how_many_coups_on_a_sample_is_enough() -> None:
    few = coups_needed(SINGLE_ZERO.count) - 1
    assert f"so up to\n{few} coups" in PAGE or f"so up to {few} coups" in PAGE
