"""The feed: bytes to the board's session and back, batches to the table, on time that the test moves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from firmware_protocol import messages as m
from firmware_protocol.codec import FrameDecoder, encode_frame
from firmware_protocol.host import Position
from firmware_protocol.wire import decode_from_host, encode
from tests.sources.scripted_board import LAYOUT, SETTING, TABLE
from wheeld.core.facts import Trouble
from wheeld.core.observations import BallPass, ClockReading, Level, SensorState, TimePassed
from wheeld.ports import LinkClosedError
from wheeld.sources.board.board import Board
from wheeld.sources.board.feed import TICK_S, BoardFeed
from wheeld.sources.sensing import Batch


class HandClock:
    """Time passes only in `step`."""

    def __init__(self) -> None:
        self.now_ns = 0
        self._stepped = asyncio.Event()

    def monotonic_ns(self) -> int:
        return self.now_ns

    def utc_us(self) -> int:
        return 1_800_000_000_000_000 + self.now_ns // 1_000

    async def sleep(self, seconds: float) -> None:
        assert 0 <= seconds <= TICK_S
        until_ns = self.now_ns + round(seconds * 1e9)
        while self.now_ns < until_ns:
            await self._stepped.wait()

    async def step(self, ms: int) -> None:
        self.now_ns += ms * 1_000_000
        self._stepped.set()
        self._stepped.clear()
        await settle()


async def settle() -> None:
    """Let every task go on until all wait."""
    for _ in range(20):
        await asyncio.sleep(0)


class ScriptedLink:
    """The test is the line: it puts in what the board sends and sees what the host sends."""

    def __init__(self) -> None:
        self._incoming: asyncio.Queue[bytes] = asyncio.Queue()
        self._decoder = FrameDecoder()
        self.sent: list[m.FromHost] = []
        self.broken = False

    def send(self, message: m.FromBoard) -> None:
        self._incoming.put_nowait(encode_frame(encode(message)))

    def hang_up(self) -> None:
        self._incoming.put_nowait(b"")

    async def read(self) -> bytes:
        data = await self._incoming.get()
        if not data:
            raise LinkClosedError("gone")
        return data

    async def write(self, data: bytes) -> None:
        if self.broken:
            raise LinkClosedError("gone")
        self.sent += map(decode_from_host, self._decoder.feed(data))

    async def close(self) -> None:
        raise AssertionError


class Rig:
    """A feed with a link, and a table that takes batches as it pleases."""

    def __init__(self) -> None:
        self.clock = HandClock()
        self.board = Board(SETTING, TABLE, hello_token=7, host_ns=0)
        self.taken: list[Batch] = []
        self.busy = asyncio.Event()
        self.busy.set()
        self.feed = BoardFeed(self.board, self.clock, self._take)
        self.link = ScriptedLink()

    async def _take(self, batch: Batch) -> None:
        await self.busy.wait()
        self.taken.append(batch)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[asyncio.Task[None]]:
        ticking = asyncio.create_task(self.feed.tick())
        serving: asyncio.Task[None] = asyncio.create_task(self.feed.serve(self.link))
        await settle()
        yield serving
        assert not ticking.done(), "time stands still"
        for task in (ticking, serving):
            task.cancel()
            with suppress(asyncio.CancelledError, LinkClosedError):
                await task

    async def introduce(self) -> None:
        """Hello and identity, one time request with its reply, and how everything stands; no question waits for time to
        pass."""
        (hello,) = self.link.sent
        assert isinstance(hello, m.Hello)
        self.link.send(m.Identity(hello.token, 1, 1, 1, 1, 0, 0, 1, "B-1", "1.0", "0" * 16, 768, 512, LAYOUT))
        await settle()
        request = next(sent for sent in self.link.sent if isinstance(sent, m.SyncRequest))
        self.link.send(m.SyncReply(1, request.token, 5_000_000, 5_000_000))
        self.link.send(m.Heartbeat(1, 5_001_000, 0, 0, 0, 0))
        await settle()


async def test_what_the_board_sends_arrives_and_is_answered() -> None:
    rig = Rig()
    async with rig.running():
        await rig.introduce()
        rig.link.send(m.Events(1, 0, (m.TimedEvent(5_010_000, m.BallPass(2)),)))
        await settle()
        observations = [seen for batch in rig.taken for seen in batch.observations]
        assert [type(seen) for seen in observations if not isinstance(seen, Level)] == [
            ClockReading,
            TimePassed,
            BallPass,
        ]
        position = rig.taken[-1].position
        assert position == Position(1, 1)
        rig.board.acknowledge(position)
        await rig.clock.step(100)
        assert rig.link.sent[-1] == m.Ack(1, 1)


async def test_a_busy_table_holds_the_reader_back_and_loses_nothing() -> None:
    rig = Rig()
    async with rig.running():
        await rig.introduce()
        rig.taken.clear()
        rig.busy.clear()
        for seq in range(3):
            rig.link.send(m.Events(1, seq, (m.TimedEvent(5_010_000 + seq, m.BallPass(seq)),)))
        await settle()
        assert rig.taken == []
        rig.busy.set()
        await settle()
        seen = [seen.beam for batch in rig.taken for seen in batch.observations if isinstance(seen, BallPass)]
        assert seen == [0, 1, 2]


async def test_without_a_link_time_is_kept_and_silence_reported() -> None:
    rig = Rig()
    async with rig.running() as serving:
        rig.link.hang_up()
        await settle()
        with pytest.raises(LinkClosedError):
            await serving
        for _ in range(60):
            await rig.clock.step(100)
        (batch,) = rig.taken
        assert batch.observations == [SensorState(t_us=0, sensor="link", ok=False, what=Trouble.NOTHING_HEARD)]
        assert [type(sent) for sent in rig.link.sent] == [m.Hello]  # when it was opened, and none since


async def test_a_link_that_breaks_while_ticking_is_an_error_for_its_reader_only() -> None:
    rig = Rig()
    async with rig.running() as serving:
        rig.link.broken = True
        await rig.clock.step(100)
        assert not serving.done()
        rig.link.hang_up()
        await settle()
        with pytest.raises(LinkClosedError):
            await serving
