"""What holds for all tests in real seconds."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _what_is_left_open_fails_this_test() -> Iterator[None]:
    """A connection that a test leaves open is found when Python collects it, which may be in a later test."""
    yield
    gc.collect()
