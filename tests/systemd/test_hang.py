"""The whole daemon with one part hung: systemd's watchdog is not fed, and the log names the part."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from hw_sim.evening import script
from tests.cli.live import PATIENCE_S, write_config
from tests.journal.journals import OWNER
from tests.mosquitto import free_port
from wheeld.broker.outbox import Outbox
from wheeld.config.reading import load
from wheeld.daemon.root import Daemon
from wheeld.journal.journal import Journal
from wheeld.service.host_clock import SystemClock
from wheeld.service.watchdog import CHECK_S
from wheeld.sources.board.feed import BoardFeed

WATCHDOG_S = 0.8


class Manager:
    """systemd's end of the notify socket."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))
        self._socket.setblocking(False)
        self.feeds = 0

    def close(self) -> None:
        self._socket.close()

    def receive(self) -> None:
        """Count the feeds that have come."""
        with contextlib.suppress(BlockingIOError):
            while True:
                self.feeds += self._socket.recv(4096) == b"WATCHDOG=1"


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Manager]:
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
    monkeypatch.setenv("WATCHDOG_USEC", str(round(WATCHDOG_S * 1e6)))
    with contextlib.closing(Manager(tmp_path / "notify")) as manager:
        yield manager


@asynccontextmanager
async def daemon(directory: Path) -> AsyncIterator[Journal]:
    """A daemon without board and broker; its journal."""
    config = load(write_config(directory, script(["valid"], seed=3), broker_port=free_port()))
    clock = SystemClock()
    journal = await Journal.open(config.journal.path, OWNER, at_utc_us=clock.utc_us())
    running = asyncio.create_task(Daemon(config, journal, clock, memory=None).run())
    try:
        yield journal
        assert not running.done(), running
    finally:
        running.cancel()
        await asyncio.wait({running})
        await journal.close()


async def until(holds: Callable[[], bool], what: str) -> None:
    deadline = asyncio.get_running_loop().time() + PATIENCE_S
    while not holds():
        assert asyncio.get_running_loop().time() < deadline, what
        await asyncio.sleep(0.02)


async def hang(_: object) -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize(("part", "loop"), [("sensors", (BoardFeed, "tick")), ("outbox", (Outbox, "run"))])
async def test_the_watchdog_is_not_fed_when_a_loop_hangs(
    part: str, loop: tuple[type, str], tmp_path: Path, manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*loop, hang)
    with capture_logs() as logs:
        async with daemon(tmp_path):
            await until(lambda: any(log.get("missing") == [part] for log in logs), f"{part} is missed")
            await asyncio.sleep(2 * CHECK_S)
            manager.receive()
            assert manager.feeds == 0


async def test_the_watchdog_is_not_fed_when_the_journal_hangs(tmp_path: Path, manager: Manager) -> None:
    def fed(times: int) -> bool:
        manager.receive()
        return manager.feeds >= times

    release = threading.Event()
    with capture_logs() as logs:
        async with daemon(tmp_path) as journal:
            await until(lambda: fed(3), "feeds before the hang")
            journal._thread.submit(release.wait)
            try:
                await until(lambda: any(log.get("missing") == ["journal"] for log in logs), "the journal is missed")
                manager.receive()
                manager.feeds = 0
                await asyncio.sleep(2 * CHECK_S)
                manager.receive()
                assert manager.feeds == 0
            finally:
                release.set()
            await until(lambda: fed(1), "feeds when it is back")
