"""How many files a change goes through, by the lists of docs/architecture.md: from now on no more."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ARCHITECTURE = (Path(__file__).parents[2] / "docs/architecture.md").read_text(encoding="utf-8")
MOST = {"Another maker's head": 5}


def files_of(change: str) -> set[str]:
    """Files and packages of the numbered steps, without the tests that hold them."""
    steps = re.search(rf"^\*\*{change}\*\*\n.*?(^1\. .+?)^Tests: ", ARCHITECTURE, re.MULTILINE | re.DOTALL)
    assert steps is not None, change
    return set(re.findall(r"`([\w./-]+(?:\.\w+|/))`", steps[1]))


@pytest.mark.parametrize(("change", "most"), MOST.items())
def test_a_change_goes_through_no_more_files(change: str, most: int) -> None:
    assert 1 <= len(files_of(change)) <= most, files_of(change)
