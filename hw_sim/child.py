"""Programs that run beside the demo: started in a session of their own, ended by their pid, their last words kept."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

END_S_MAX = 5.0
"""An orderly end takes a fraction of a second; whoever takes longer is killed."""
LAST_WORDS = 6
"""Lines of its log that are shown of a child that ended by itself."""


class DemoError(Exception):
    """The demo cannot start or go on; the text says why and what to do."""


class Child:
    """One running program; what it writes is in the file `log`."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, log: Path) -> None:
        self.name, self.log = name, log
        self._process = process

    async def ended(self) -> str:
        """Wait until it ends by itself; returns the words for it."""
        code = await self._process.wait()
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-LAST_WORDS:]
        return "\n  ".join([f"{self.name} ended with exit code {code}; its last words:", *(lines or ["(none)"])])

    async def stop(self) -> None:
        """Ask it to end, wait for that, insist; harmless when it has ended."""
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
    """Run `command` until this is left. In a session of its own: Ctrl-C is for the demo, which ends its children."""
    with log.open("wb") as file:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True
        )
    running = Child(name, process, log)
    try:
        yield running
    finally:
        await running.stop()
