"""Faults, injected: a short form in every test run, the long form by `make faults`, and the counts at its end."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

LONG = os.environ.get("WHEELD_FAULTS") == "long"
SEED = os.environ.get("WHEELD_FAULTS_SEED", "1")
"""Of all luck in these tests; a failure's message carries it."""
_REPORT = pytest.StashKey[list[tuple[str, str]]]()


@pytest.fixture
def rounds() -> Callable[[int, int], int]:
    """`rounds(short, long)`: how many of something this form of the suite tries."""
    return lambda short, long: long if LONG else short


@pytest.fixture
def seed() -> str:
    return SEED


@pytest.fixture
def counted(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Note a line of counts for the suite's report: `counted("1,000 kills: 0 lost, 0 doubled")`."""
    return lambda line: request.config.stash.setdefault(_REPORT, []).append((request.node.name, line))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if lines := config.stash.get(_REPORT, []):
        terminalreporter.section(f"faults injected (seed {SEED}, {'long' if LONG else 'short'} form)")
        for name, line in lines:
            terminalreporter.write_line(f"{name}: {line}")
