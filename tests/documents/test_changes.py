"""How many files a change goes through, by the lists of docs/architecture.md: from now on no more."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ARCHITECTURE = (Path(__file__).parents[2] / "docs/architecture.md").read_text(encoding="utf-8")
MOST = {("Another maker's head", ""): 5, ("A kind of sensor", "6"): 14, ("A kind of sensor", "7"): 14}
"""By the change, and by the step that is not taken: one sensor tells how something stands, another sees what passes."""


def files_of(change: str, left_out: str) -> set[str]:
    """Files and packages of the numbered steps but one, without the tests that hold them."""
    steps = re.search(rf"^\*\*{change}\*\*\n.*?(^1\. .+?)^Tests: ", ARCHITECTURE, re.MULTILINE | re.DOTALL)
    assert steps is not None, change
    taken = [step for step in re.split(r"^(?=\d+\. )", steps[1], flags=re.MULTILINE) if step]
    named = " ".join(step for step in taken if not step.startswith(f"{left_out or 'no'}. "))
    return set(re.findall(r"`([\w-]+/[\w./-]+(?:\.\w+|/)|\w+\.md)`", named))


@pytest.mark.parametrize(("change", "most"), MOST.items())
def test_a_change_goes_through_no_more_files(change: tuple[str, str], most: int) -> None:
    assert 1 <= len(files_of(*change)) <= most, files_of(*change)
