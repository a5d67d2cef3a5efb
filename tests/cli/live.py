"""A whole wheel for a test: `wheeld run` as a process, a simulated board on a pty, and who listens to the broker."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiomqtt

from hw_sim.board import BoardSetup
from hw_sim.configuration import board_setup, sections
from hw_sim.evening import Evening

PATIENCE_S = 40.0
"""For events that come within a second or two; only a defect, or a very busy machine, waits so long."""
Log = dict[str, Any]


def write_config(directory: Path, evening: Evening, *, broker_port: int, more: str = "") -> Path:
    """A configuration for the wheel of `evening`; `more` is added in the `[sensors]` section."""
    table, number, path = evening.header["table"], evening.header["last_number"], directory / "wheel.toml"
    layout = evening.world.layout
    wheel = sections(layout, site="test", table=table, last_number=number, port=directory / "board", speed=2)
    mqtt = f'[mqtt]\nhost = "127.0.0.1"\nport = {broker_port}\n'
    path.write_text(f'{wheel}{more}\n[journal]\npath = "journal.sqlite"\n{mqtt}[log]\nlevel = "debug"\n')
    return path


def setup_of(evening: Evening) -> BoardSetup:
    """The board of that wheel."""
    return board_setup(evening.world.layout)


class Daemon:
    """`wheeld run` and what it logs."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.logs: list[Log] = []
        self.raw: list[str] = []
        """What it said otherwise than as JSON, on standard output or standard error."""
        self._news = asyncio.Event()
        self._reading = asyncio.create_task(self._read())

    async def until(self, event: str, matches: Callable[[Log], bool] = lambda _: True) -> Log:
        """The first log line of that name (which matches); fails with all of them when it does not come."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                self._news.clear()
                found = next((log for log in self.logs if log["event"] == event and matches(log)), None)
                if found is not None:
                    return found
                assert not self._reading.done(), f"ended before {event}: {self.logs}"
                await self._news.wait()

    async def end(self, how: signal.Signals | None = signal.SIGTERM) -> int:
        """Its exit code, after `how` was sent."""
        if how is not None and self.process.returncode is None:
            self.process.send_signal(how)
        async with asyncio.timeout(PATIENCE_S):
            await self._reading
            return await self.process.wait()

    async def _read(self) -> None:
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            try:
                self.logs.append(json.loads(line))
            except json.JSONDecodeError:
                self.logs.append({"event": "NOT JSON", "line": line.decode()})
                if line.endswith(b"\n"):  # else it was killed as it wrote
                    self.raw.append(line.decode())
            self._news.set()
        self._news.set()


@asynccontextmanager
async def running(config: Path, *, prefix: Sequence[str] = ()) -> AsyncIterator[Daemon]:
    """A daemon, killed at the latest when the test is over; all that it has said is JSON. `prefix`: a command that
    becomes it."""
    command = [*prefix, sys.executable, "-m", "wheeld", "run", "-c", str(config)]
    pipe, both = asyncio.subprocess.PIPE, asyncio.subprocess.STDOUT
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=both)
    daemon = Daemon(process)
    try:
        yield daemon
    finally:
        await daemon.end(signal.SIGKILL)
    assert daemon.raw == []


class Listener:
    """Everything that the daemon publishes, in the order in which it came."""

    def __init__(self, client: aiomqtt.Client) -> None:
        self.client = client
        self.received: list[tuple[str, dict[str, Any]]] = []
        self._news = asyncio.Event()

    async def listen(self) -> None:
        """Receive until cancelled."""
        async for message in self.client.messages:
            leaf = message.topic.value.split("/", 4)[4]
            if not leaf.startswith(("cmd/", "ack")):
                self.received.append((leaf, json.loads(message.payload)))
                self._news.set()

    def of(self, *leaves: str) -> list[dict[str, Any]]:
        """The payloads of these topics."""
        return [payload for leaf, payload in self.received if leaf in leaves]

    async def until(self, matches: Callable[[Listener], bool], what: str) -> None:
        """Return when it is so; fails with what was received instead."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not matches(self):
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"{what} did not come; received {self.received}") from None


@asynccontextmanager
async def listening(port: int) -> AsyncIterator[Listener]:
    """A subscriber to every wheel."""
    async with aiomqtt.Client("127.0.0.1", port) as client:
        await client.subscribe("wheel/v1/#", qos=1)
        listener = Listener(client)
        task = asyncio.create_task(listener.listen())
        try:
            yield listener
        finally:
            task.cancel()
            await asyncio.wait([task])
