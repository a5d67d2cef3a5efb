"""Programs that run beside the demo: each in a session of its own, ended by its pid, with its output in a file."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from hw_sim.exits import UnavailableError

END_S_MAX = 5.0
"""An orderly end takes a fraction of a second; a child that takes longer is killed."""
LOG_LINES_SHOWN = 6
"""The last lines of its output, when a child ended by itself."""


class DemoError(UnavailableError):
    """The demo cannot start or go on; the text says why and what to do."""


class Child:
    """One running program; its output is in the file `log`."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, log: Path) -> None:
        self.name, self.log = name, log
        self._process = process

    async def ended(self) -> str:
        """Wait until it ends by itself. Returns a text about it, with the end of its output."""
        code = await self._process.wait()
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_LINES_SHOWN:]
        return "\n  ".join([f"{self.name} ended with exit code {code}; its last lines:", *(lines or ["(none)"])])

    async def stop(self) -> None:
        """Ask it to end; kill it if it does not. Harmless when it has ended."""
        if self._process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        try:
            await asyncio.wait_for(self._process.wait(), END_S_MAX)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()


@asynccontextmanager
async def child(name: str, command: list[str], log: Path) -> AsyncIterator[Child]:
    """Run `command` until this is left. In a session of its own, so that Ctrl-C reaches the demo only, which then ends
    its children."""
    with log.open("wb") as file:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True
        )
    running = Child(name, process, log)
    try:
        yield running
    finally:
        await running.stop()
