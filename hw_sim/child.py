"""The programs that the demo starts. Each has its own session and writes its output to a file. The demo ends each by
its pid. Even if the demo is killed, its programs end too: a daemon that still runs would keep the journal locked.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NoReturn

from hw_sim.exits import UnavailableError

END_S_MAX = 5.0
"""A child that does not end within this time is killed. A program normally ends within a fraction of a second."""
LOG_LINES_SHOWN = 6
"""How many of the last lines of output are shown if a child has ended by itself."""

READY_S_MAX = 20.0
"""How long to wait until a server listens. It usually takes less than two seconds, and longer on a small and busy
computer."""
RETRY_S = 0.05

PR_SET_PDEATHSIG = 1
"""The number of this option of prctl(2)."""


class Child:
    """One running program. Its output is in the file `log`."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, log: Path) -> None:
        self.name, self.log = name, log
        self._process = process

    async def ended(self) -> str:
        """Wait until the program ends by itself. Returns a text with its exit code and its last lines of output."""
        code = await self._process.wait()
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_LINES_SHOWN:]
        return "\n  ".join([f"{self.name} ended with exit code {code}; its last lines:", *(lines or ["(none)"])])

    async def must_run(self) -> NoReturn:
        """Wait until the program ends by itself, which is an error. Raises UnavailableError."""
        raise UnavailableError(await self.ended())

    def kill(self) -> None:
        """End the program at once, as a power cut does. Does nothing if it has ended already."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def stop(self) -> None:
        """Ask the program to end, and kill it if it does not. Does nothing if it has ended already."""
        if self._process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        try:
            await asyncio.wait_for(self._process.wait(), END_S_MAX)
        except TimeoutError:
            self.kill()
            await self._process.wait()


@asynccontextmanager
async def child(name: str, command: list[str], log: Path) -> AsyncIterator[Child]:
    """Run `command` until the block ends. The program has its own session, so that Ctrl-C reaches only the demo, which
    then ends its programs."""
    with log.open("wb") as file:
        parent = os.getpid()
        prctl = ctypes.CDLL(None, use_errno=True).prctl

        def set_up() -> None:
            """Let the system kill the child when `parent` is killed. The child calls this before it starts its program.
            If `parent` has ended already, the child ends at once."""
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)

        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
            preexec_fn=set_up,
        )
    running = Child(name, process, log)
    try:
        yield running
    finally:
        await running.stop()


def free_port() -> int:
    """Return a loopback port on which no program listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def listens(process: Child, port: int) -> None:
    """Wait until `process` listens on `port`. Raises UnavailableError if it ends before that, or takes too long."""
    ended = asyncio.create_task(process.ended())
    try:
        async with asyncio.timeout(READY_S_MAX):
            while not ended.done():
                with suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    return
                await asyncio.wait({ended}, timeout=RETRY_S)
            raise UnavailableError(f"{process.name} did not start: {ended.result()}")
    except TimeoutError:
        raise UnavailableError(f"{process.name} did not listen on port {port} within {READY_S_MAX:g} s") from None
    finally:
        ended.cancel()
