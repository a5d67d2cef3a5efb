"""The socket of the monitor, with real connections and a clock that is turned by hand."""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.broker.world import VirtualClock, working
from tests.core.evening import FRENCH, Evening
from wheeld.core.observations import BallPass
from wheeld.core.step import Message, Step
from wheeld.monitor.lines import Glance, glance
from wheeld.monitor.server import AGAIN_S, FRAME_S, LISTENERS_MAX, SEEN_MAX, Monitor, bound

STREAM_BYTES_MAX = 2**20


@pytest.fixture
def path() -> Iterator[Path]:
    with TemporaryDirectory() as name:  # pytest's own directories are too long for a socket
        yield Path(name) / "monitor"


class Bench:
    """A monitor whose glances are counted."""

    def __init__(self, path: Path) -> None:
        self.clock = VirtualClock()
        self.evening = Evening().open()
        self.glances = 0
        self.path = path
        self.monitor = Monitor(path, FRENCH, clock=self.clock, glance=self._glance)

    def _glance(self) -> Glance:
        self.glances += 1
        return glance(self.evening.table)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[asyncio.StreamReader]:
        reader, writer = await asyncio.open_unix_connection(self.path, limit=STREAM_BYTES_MAX)
        try:
            yield reader
        finally:
            writer.close()
            await writer.wait_closed()


async def until(is_so: Callable[[], bool]) -> None:
    """Let everything else run until it is so."""
    while not is_so():  # noqa: ASYNC110  what is awaited has no event
        await asyncio.sleep(0)


def is_there(path: Path) -> bool:
    return path.exists()


@asynccontextmanager
async def running(path: Path) -> AsyncIterator[Bench]:
    bench = Bench(path)
    async with working(bench.monitor.run()):
        await until(lambda: is_there(path))
        yield bench


async def line(reader: asyncio.StreamReader) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(await asyncio.wait_for(reader.readline(), 10))
    return found


async def turned(bench: Bench, seconds: float) -> None:
    """That much later; the loop has turned until all that was due is done."""
    await bench.clock.advance(seconds)


async def test_who_listens_gets_the_wheel_and_then_frames_with_what_was_seen(path: Path) -> None:
    async with running(path) as bench, bench.listening() as reader:
        assert (await line(reader))["table"] == FRENCH.table
        first = await line(reader)
        assert (first["line"], first["seen"]) == ("frame", [])
        bench.monitor.note([BallPass(5, 2), BallPass(7, 3)])
        await turned(bench, FRAME_S)
        second = await line(reader)
        assert second["seen"] == [[5, "beam", 2], [7, "beam", 3]]
        assert second["glance"]["ball"] == "at_rest"


async def test_the_daemon_stops_while_a_page_looks_on(path: Path) -> None:
    bench = Bench(path)
    monitor = asyncio.create_task(bench.monitor.run())
    await until(lambda: is_there(path))
    async with bench.listening() as reader:
        await line(reader)
        monitor.cancel()
        await asyncio.wait({monitor}, timeout=10)
        assert monitor.done()
    assert not is_there(path)


async def test_while_nobody_listens_nothing_is_made(path: Path) -> None:
    async with running(path) as bench:
        bench.monitor.note([BallPass(5, 2)])
        await turned(bench, 10)
        assert bench.glances == 0
        async with bench.listening() as reader:
            await line(reader)
            assert (await line(reader))["seen"] == []
        await until(lambda: not bench.monitor._listeners)
        made = bench.glances
        await turned(bench, 10)
        assert bench.glances <= made + 1  # the one whose time had come


async def test_frames_come_twenty_times_a_second_at_most(path: Path) -> None:
    async with running(path) as bench, bench.listening() as reader:
        await line(reader)
        await line(reader)
        await turned(bench, 10)
        assert 150 <= bench.glances <= 10 / FRAME_S + 1


async def test_a_void_is_told_with_its_evidence_also_to_who_comes_later(path: Path) -> None:
    async with running(path) as bench:
        bench.evening.launch("ccw", laps=5)
        bench.evening.wait(4)
        void = bench.evening.last("void")
        step = Step((Message(0, "void", void.bytes),), coup_logs=(bench.evening.evidence[-1],))
        bench.monitor.note_step(step)
        bench.monitor.note_step(Step())  # nothing that happens later takes it away
        for _ in range(2):
            async with bench.listening() as reader:
                assert (await line(reader))["line"] == "about"
                told = await line(reader)
                assert (told["line"], told["void"]) == ("axis", void.payload)
                assert told["marks"]


async def test_more_listeners_than_there_may_be_are_sent_away(path: Path) -> None:
    async with running(path) as bench:
        async with bench.listening(), bench.listening(), bench.listening(), bench.listening() as last:
            await line(last)
            assert len(bench.monitor._listeners) == LISTENERS_MAX
            async with bench.listening() as refused:
                assert await asyncio.wait_for(refused.read(), 10) == b""
        assert bench.monitor.counters["refused"] == 1


async def test_a_listener_who_does_not_read_misses_frames_and_keeps_nobody_waiting(path: Path) -> None:
    async with running(path) as bench, bench.listening():
        await until(lambda: bool(bench.monitor._listeners))
        bench.monitor.note([BallPass(t_us, 1) for t_us in range(SEEN_MAX)])
        for _ in range(3_000):
            bench.monitor.note([BallPass(t_us, 1) for t_us in range(SEEN_MAX)])
            await turned(bench, FRAME_S)
            if bench.monitor.counters["frames_missed"]:
                break
        (writer,) = bench.monitor._listeners
        assert bench.monitor.counters["frames_missed"] == 1
        assert writer.transport.get_write_buffer_size() < 2 * 65_536


async def test_what_is_sent_to_the_socket_is_not_heard(path: Path) -> None:
    async with running(path) as bench:
        reader, writer = await asyncio.open_unix_connection(path)
        writer.write(b'{"name":"open"}\n' * 10_000)
        await writer.drain()
        assert (await line(reader))["line"] == "about"
        writer.close()
        assert bench.evening.state == "faites_vos_jeux"


async def test_a_chattering_sensor_fills_no_memory(path: Path) -> None:
    async with running(path) as bench, bench.listening() as reader:
        await line(reader)
        await line(reader)
        bench.monitor.note([BallPass(t_us, 1) for t_us in range(100_000)])
        await turned(bench, FRAME_S)
        assert len((await line(reader))["seen"]) == SEEN_MAX


async def test_a_socket_that_cannot_be_made_is_tried_again(path: Path) -> None:
    bench = Bench(path.parent / "later" / "monitor")
    async with working(bench.monitor.run()):
        await turned(bench, AGAIN_S + 1)
        assert not is_there(bench.path)
        bench.path.parent.mkdir()
        await turned(bench, AGAIN_S)
        await until(lambda: is_there(bench.path))
        async with bench.listening() as reader:
            assert (await line(reader))["line"] == "about"


async def test_nothing_stays_behind(path: Path) -> None:
    async with running(path):
        pass
    assert not is_there(path)


def test_only_owner_and_group_may_connect(path: Path) -> None:
    with bound(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o660


def test_a_socket_that_a_crash_left_is_replaced_and_a_file_is_not(path: Path) -> None:
    bound(path).close()
    bound(path).close()
    path.unlink()
    path.write_text("kept")
    with pytest.raises(OSError, match="in use"):
        bound(path)
    assert path.read_text() == "kept"
