"""The machine that the tests of the unit share; `make test-systemd` prepares it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.systemd.machine import Machine, booted

PROJECT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def machine() -> Iterator[Machine]:
    """Booted, and the project installed in it by the README's own commands."""
    root = os.environ.get("WHEELD_ROOT")
    if root is None:
        pytest.skip("`make test-systemd` prepares a Debian and boots it")
    with booted(Path(root), PROJECT) as machine:
        install(machine)
        yield machine


def install(machine: Machine) -> None:
    """What the README says, but for pip, which has no network here, and udev, which has no devices."""
    section = re.search(
        r"^## Install it at a wheel\n\n((?: {4}.+\n)+)", (PROJECT / "README.md").read_text(), re.MULTILINE
    )
    assert section is not None
    lines = [line.strip() for line in section[1].splitlines()]
    commands = [line for line in lines if line.startswith(("install ", "systemd-"))]
    assert len(commands) == 7, commands
    machine.shell("\n".join(["cd /mnt/project", *commands]))
    machine.run("systemctl", "daemon-reload")
