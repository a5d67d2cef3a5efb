"""How long a card lasts, in docs/operations.md: the arithmetic, the default, and the bytes that are measured."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.journal.bytes_per_coup import BytesPerCoup, measured
from wheeld.journal.setting import EVIDENCE_BYTES_MAX

PAGE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()
SECTION = PAGE.split("\n## How long a card lasts\n")[1].split("\n## ")[0]
ROWS = re.findall(r"^\| (\w+).*? \| ([\d,]*) ?\| ([\d.]+) \|$", SECTION, re.MULTILINE)
BYTES = {what: int(number.replace(",", "")) for what, number, _ in ROWS if number}
GB = {what: float(number) for what, _, number in ROWS}
DAYS = 5 * 365.2
MARGIN = 1.5
"""What the page allows for is more than what is measured, and no more than so many times as much."""
PAGES_OF_SQLITE = 1.08
"""Evidence is counted without what is left free in the file's pages."""


def figure(pattern: str) -> float:
    """The one number of the section that stands so."""
    (found,) = re.findall(pattern, SECTION)
    return float(found.replace(",", ""))


@pytest.fixture(scope="module")
def per_coup() -> BytesPerCoup:
    return measured(100)


def test_a_coup_takes_no_more_than_is_written_and_not_much_less(per_coup: BytesPerCoup) -> None:
    minutes = 60 / figure(r"\((\d+) games an hour")
    found = {"records": per_coup.records, "evidence": per_coup.evidence(60 * minutes)}
    for what, size in found.items():
        assert size <= BYTES[what] <= MARGIN * size, f"{what}: {size:,.0f}"


def test_what_was_measured_is_as_written(per_coup: BytesPerCoup) -> None:
    assert figure(r"([\d,]+) bytes of records and") == pytest.approx(per_coup.records, rel=0.1)
    assert figure(r"records and ([\d,]+) of") == pytest.approx(per_coup.evidence(60), rel=0.15)


def test_the_sum_is_right_and_the_card_holds_it() -> None:
    a_day = figure(r"\((\d+) games an hour") * figure(r"on (\d+) hours")
    coups = figure(r"a day, ([\d,]+) in five years")
    assert (a_day, coups) == (figure(r": (\d+) coups a day"), a_day * DAYS)
    assert GB["records"] == pytest.approx(coups * BYTES["records"] / 1e9, abs=0.05)
    assert GB["evidence"] == pytest.approx(EVIDENCE_BYTES_MAX * PAGES_OF_SQLITE / 1e9, abs=0.05)
    assert figure(r"\((\d+) GB\)") * 1e9 == EVIDENCE_BYTES_MAX
    assert figure(r"goes back (\d+) days") == EVIDENCE_BYTES_MAX // BYTES["evidence"] // a_day
    assert GB["the"] * 1000 == figure(r"SystemMaxUse=(\d+)M")
    together = GB.pop("together")
    assert together == pytest.approx(sum(GB.values()), abs=0.01)
    assert together < figure(r"([\d.]+) GB are at hand") == figure(r"A card of (\d+) GB") * 0.9
