"""The machine that the tests of the unit share; `make test-systemd` prepares it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.systemd.machine import Machine, booted

PROJECT = Path(__file__).parents[2]
_REPORT = pytest.StashKey[list[str]]()


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A booted machine, with the project installed by the commands of docs/by-hand.md."""
    with _installed(tmp_path_factory.mktemp("machine")) as machine:
        yield machine


@pytest.fixture(scope="module")
def own_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A machine of their own for tests that boot it again."""
    with _installed(tmp_path_factory.mktemp("own")) as machine:
        yield machine


@contextmanager
def _installed(directory: Path) -> Iterator[Machine]:
    root = os.environ.get("WHEELD_ROOT")
    if root is None:
        pytest.skip("`make test-systemd` prepares a Debian and boots it")
    with booted(Path(root), PROJECT, directory) as machine:
        install(machine)
        yield machine


def install(machine: Machine) -> None:
    """Run the commands of docs/by-hand.md, except pip, which has no network here, and udev, which has no devices."""
    _, _, section = (PROJECT / "docs" / "by-hand.md").read_text().partition("\n## Install it at a wheel\n")
    commands = re.findall(r"^ {4}((?:install |systemd-).+)$", section.partition("\n## ")[0], re.MULTILINE)
    assert len(commands) == 8, commands
    machine.shell("\n".join(["cd /mnt/project", *commands]))
    machine.run("systemctl", "daemon-reload")


@pytest.fixture
def measured(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Note a line of figures for the report at the end."""
    return lambda line: request.config.stash.setdefault(_REPORT, []).append(line)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if lines := config.stash.get(_REPORT, []):
        terminalreporter.section("measured in the machine")
        for line in lines:
            terminalreporter.write_line(line)
