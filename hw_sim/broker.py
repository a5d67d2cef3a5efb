"""A mosquitto broker for the demo, on a free loopback port."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from hw_sim.child import Child, child, free_port, listens
from hw_sim.exits import UnavailableError

SYSTEM_PROGRAMS = ("/usr/sbin", "/usr/local/sbin")
"""Further directories in which mosquitto is searched. Debian installs it in one that is not in a user's PATH."""


class Broker(NamedTuple):
    """A running broker, and its port."""

    process: Child
    port: int


def program() -> str:
    """Return the broker's program, from PATH or SYSTEM_PROGRAMS. Raises UnavailableError."""
    where = os.pathsep.join([os.environ.get("PATH", os.defpath), *SYSTEM_PROGRAMS])
    found = shutil.which("mosquitto", path=where)
    if found is None:
        raise UnavailableError("the broker mosquitto is not installed: apt-get install mosquitto")
    return found


def configuration(port: int) -> str:
    """Return the text of the broker's configuration file."""
    lines = [f"listener {port} 127.0.0.1", "allow_anonymous true", "persistence false", "log_dest stderr"]
    if os.geteuid() == 0:
        lines.append("user root")  # otherwise mosquitto changes to a user that may not exist or cannot read this file
    return "\n".join(lines) + "\n"


@asynccontextmanager
async def broker(directory: Path) -> AsyncIterator[Broker]:
    """Run a broker until the block ends. Its files are in `directory`. Raises UnavailableError."""
    port, file = free_port(), directory / "broker.conf"
    file.write_text(configuration(port), encoding="utf-8")
    async with child("mosquitto", [program(), "-c", str(file)], directory / "broker.log") as process:
        await listens(process, port)
        yield Broker(process, port)
