"""Histories of a dishonest broker, by seed (`make feed` plays a hundred thousand)."""

from __future__ import annotations

import pytest

from tests.feed.broken import BROKEN
from tests.feed.histories import play

HISTORIES = 400
BROKEN_MAX = 1000
"""Histories in which each of the defects of `broken.py` is found at least once."""


@pytest.mark.parametrize("part", range(4))
def test_nothing_wrong_nothing_doubled_nothing_stuck(part: int) -> None:
    for number in range(part, HISTORIES, 4):
        assert play(f"test {number}").problems == (), f"python -m tests.feed 'test {number}'"


def test_the_same_seed_is_the_same_history() -> None:
    for seed in ("twice 1", "twice 2", "twice 3"):
        assert play(seed).digest == play(seed).digest


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_found(name: str) -> None:
    with BROKEN[name]():
        assert any(play(f"broken {number}").problems for number in range(BROKEN_MAX))
