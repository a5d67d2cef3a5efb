"""`LAW.md` is what the table says."""

from __future__ import annotations

from pathlib import Path

from wheeld.core import law_document
from wheeld.core.law import CLAUSES


def test_the_page_is_current() -> None:
    page = Path(law_document.__file__).with_name("LAW.md").read_text()
    assert page == law_document.document(), "run: python -m wheeld.core.law_document > wheeld/core/LAW.md"


def test_every_clause_is_on_the_page() -> None:
    page = law_document.document()
    assert all(f"| {clause.fact.value} |" in page and clause.row.why in page for clause in CLAUSES)
    assert page.count("**void**") == sum(clause.row.void is not None for clause in CLAUSES)
