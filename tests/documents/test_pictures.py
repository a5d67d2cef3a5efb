"""Pictures of the documents: each is shown by a page and small. That a shown one exists, the tests of links say."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
BYTES_MAX = 150_000
"""A clone has every one of its versions."""
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("path", sorted(PICTURES.iterdir()), ids=lambda path: path.name)
def test_a_picture_is_shown_and_small(path: Path) -> None:
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size <= BYTES_MAX
    assert [page.name for page in PAGES if f"pictures/{path.name})" in page.read_text()]
