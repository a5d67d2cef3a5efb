"""Programs that run beside the demo: each in a session of its own, ended by its pid, with its output in a file. None
outlives the demo, however that ends: a daemon left behind would hold its journal, and open the next demo's port.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from hw_sim.exits import UnavailableError

END_S_MAX = 5.0
"""An orderly end takes a fraction of a second; a child that takes longer is killed."""
LOG_LINES_SHOWN = 6
"""The last lines of its output, when a child ended by itself."""

READY_S_MAX = 20.0
"""A server listens within a second or two; on a small and busy computer within a few."""
RETRY_S = 0.05

PR_SET_PDEATHSIG = 1
"""Source: prctl(2)."""


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

    def kill(self) -> None:
        """End it at once, as a power cut does. Harmless when it has ended."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def stop(self) -> None:
        """Ask it to end; kill it if it does not. Harmless when it has ended."""
        if self._process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        try:
            await asyncio.wait_for(self._process.wait(), END_S_MAX)
        except TimeoutError:
            self.kill()
            await self._process.wait()


def _killed_with(parent: int) -> Callable[[], None]:
    """What a child does before it becomes its program, so that the system kills it when `parent` is killed, or was."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl

    def set_up() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    return set_up


@asynccontextmanager
async def child(name: str, command: list[str], log: Path) -> AsyncIterator[Child]:
    """Run `command` until this is left. In a session of its own, so that Ctrl-C reaches the demo only, which then ends
    its children."""
    with log.open("wb") as file:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
            preexec_fn=_killed_with(os.getpid()),
        )
    running = Child(name, process, log)
    try:
        yield running
    finally:
        await running.stop()


def free_port() -> int:
    """A loopback port on which nothing listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def listens(process: Child, port: int) -> None:
    """Return when it listens. Raises DemoError when it ends instead, or takes too long."""
    ended = asyncio.create_task(process.ended())
    try:
        async with asyncio.timeout(READY_S_MAX):
            while not await _answers(port):
                await asyncio.wait({ended}, timeout=RETRY_S)
                if ended.done():
                    raise DemoError(f"{process.name} did not start: {ended.result()}")
    except TimeoutError:
        raise DemoError(f"{process.name} did not listen on port {port} within {READY_S_MAX:g} s") from None
    finally:
        ended.cancel()


async def _answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True
