"""The regulations, read in place beside the repository; never copied."""

from __future__ import annotations

from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "regulations"


def text(name: str) -> str:
    """One regulation's text; the test is skipped where it is not at hand."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"{path} is not here")
    return path.read_text(encoding="utf-8")
