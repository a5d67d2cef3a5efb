"""The table's loop: everything in order, stored before anything else, nothing acknowledged sooner."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import cast

import msgspec
import pytest

from firmware_protocol.host import Position
from tests.config.test_config import GOOD
from tests.sources.test_board_feed import HandClock, settle
from wheeld.config.reading import parse
from wheeld.core.observations import Command, Heard, Level, SensorState, TimePassed
from wheeld.core.step import Step
from wheeld.core.table import Table
from wheeld.daemon.table_loop import QUEUE_MAX, Ears, TableLoop
from wheeld.journal.rows import JournalError
from wheeld.sources.board.board import Board
from wheeld.sources.clock import HostTime
from wheeld.sources.sensing import Batch


class FakeBoard:
    """Up or not, and what was acknowledged to it."""

    def __init__(self) -> None:
        self.is_up = self.keeps_times = True
        self.acknowledged: list[Position] = []

    def acknowledge(self, position: Position) -> None:
        self.acknowledged.append(position)

    def now_us(self, host_ns: int) -> int:
        return host_ns // 1_000

    def clock_now(self, host_ns: int) -> HostTime:
        return HostTime(host_ns, 0, 0)


class AnyClock(HandClock):
    """Every sleep ends at the next step."""

    async def sleep(self, seconds: float) -> None:
        await self._stepped.wait()


class Rig:
    """A loop with a real table, and a store that the test can block."""

    def __init__(self) -> None:
        self.board = FakeBoard()
        self.clock = AnyClock()
        self.stored: list[Step] = []
        self.positions: list[Position | None] = []
        self.disk = asyncio.Event()
        self.disk.set()
        self.failure: JournalError | None = None
        self.changes = 0
        self.table, _ = Table.start(parse(GOOD).table, boot_id="b", started_utc_us=1_800_000_000_000_000)
        self.table.apply(Level(0, "object", active=False))
        self.came_ns: int | None = None
        """When a word came that is not put yet."""
        self.loop = TableLoop(
            self.table,
            cast("Board", self.board),
            clock=self.clock,
            store=self._store,
            on_change=self._changed,
            ears=Ears(came_ns=lambda: self.came_ns),
        )

    async def _store(self, step: Step, at_utc_us: int, position: Position | None) -> None:
        assert at_utc_us == self.clock.utc_us()
        await self.disk.wait()
        if self.failure:
            raise self.failure
        self.stored.append(step)
        self.positions.append(position)

    def _changed(self) -> None:
        self.changes += 1

    @asynccontextmanager
    async def running(self) -> AsyncIterator[asyncio.Task[None]]:
        task: asyncio.Task[None] = asyncio.create_task(self.loop.run())
        yield task
        task.cancel()
        with suppress(asyncio.CancelledError, JournalError):
            await task


OPEN = Command(5, name="open", by="button")


@pytest.fixture
def rig() -> Rig:
    return Rig()


async def test_events_are_acknowledged_when_all_that_follows_is_stored(rig: Rig) -> None:
    async with rig.running():
        rig.disk.clear()
        await rig.loop.put(Batch([OPEN, TimePassed(9)], Position(1, 7)))
        await settle()
        assert rig.board.acknowledged == []
        assert rig.changes == 0
        rig.disk.set()
        await settle()
        assert rig.board.acknowledged == [Position(1, 7)]
        assert [message.topic for step in rig.stored for message in step.messages] == ["table", "board"]
        assert rig.changes == 1


async def test_what_people_see_may_change_with_a_level_of_which_nothing_follows(rig: Rig) -> None:
    """The door's switch chatters and was told to be open already: the event record has to look."""
    async with rig.running():
        await rig.loop.put(Batch([Level(5, "door", active=False)], None))
        await settle()
        assert rig.changes == 1


async def test_with_what_follows_is_stored_how_far_the_events_had_come(rig: Rig) -> None:
    """Also of a command between two batches; a batch is stored whole or not at all."""
    async with rig.running():
        await rig.loop.put(Batch([TimePassed(5)], Position(1, 6)))
        await rig.loop.say(msgspec.structs.replace(OPEN, id="a"), came_ns=None)
        close = msgspec.structs.replace(OPEN, t_us=8, name="close")
        await rig.loop.put(Batch([close, msgspec.structs.replace(OPEN, t_us=9)], Position(1, 9)))
        await rig.loop.put(Batch([msgspec.structs.replace(close, t_us=10)], None))
        await settle()
        assert rig.positions == [Position(1, 6), Position(1, 9), Position(1, 9)]
        topics = [[message.topic for message in step.messages] for step in rig.stored]
        moved, ended = ["table", "board"], ["notice", "table", "board"]
        assert topics == [moved, [*ended, *moved], ended]
        assert [len(step.replies) for step in rig.stored] == [1, 2, 1]
        states = [msgspec.json.decode(step.memory or b"")["state"] for step in rig.stored]
        assert states == ["faites_vos_jeux", "faites_vos_jeux", "closed"]


async def test_what_cannot_be_stored_ends_the_loop_unacknowledged(rig: Rig) -> None:
    async with rig.running() as task:
        rig.failure = JournalError("full", Path("j"), "full")
        await rig.loop.put(Batch([OPEN], Position(1, 7)))
        await settle()
        with pytest.raises(JournalError):
            await task
        assert rig.board.acknowledged == []


async def test_without_a_position_nothing_is_acknowledged(rig: Rig) -> None:
    async with rig.running():
        await rig.loop.put(Batch([SensorState(0, "link", ok=False)], None))
        await settle()
        assert rig.board.acknowledged == []
        assert rig.changes == 1


async def test_a_command_waits_until_the_sensors_have_reported_up_to_its_time(rig: Rig) -> None:
    """What they saw before it is decided before it, also when it comes later."""
    async with rig.running():
        rig.clock.now_ns = 3_000_000_000
        await rig.loop.put(Batch([TimePassed(9)], None))
        await rig.loop.say(msgspec.structs.replace(OPEN, t_us=0, id="a"), came_ns=None)
        await settle()
        assert rig.stored == [], "dated 3 s, and nothing is reported beyond 9 µs"
        suspend = Command(3_000_001, name="suspend", by="button")
        await rig.loop.put(Batch([SensorState(2_999_999, "object", ok=False), suspend], None))
        await settle()
        replies = [reply for step in rig.stored for reply in step.replies]
        assert [(reply.name, reply.done, reply.t_us) for reply in replies] == [
            ("open", False, 3_000_000),
            ("suspend", False, 3_000_001),
        ]


async def test_while_the_sensors_are_silent_a_command_waits_for_nothing(rig: Rig) -> None:
    async with rig.running():
        rig.clock.now_ns = 3_000_000_000
        rig.board.is_up = False
        await rig.loop.put(Batch([TimePassed(9)], None))
        await rig.loop.say(msgspec.structs.replace(OPEN, t_us=0, id="a"), came_ns=None)
        await settle()
        (reply,) = rig.stored[-1].replies
        assert (reply.id, reply.done, reply.t_us) == ("a", True, 3_000_000)


async def test_commands_that_wait_are_applied_as_the_sensors_fall_silent(rig: Rig) -> None:
    async with rig.running():
        rig.clock.now_ns = 3_000_000_000
        await rig.loop.say(msgspec.structs.replace(OPEN, t_us=0, id="a"), came_ns=None)
        await settle()
        assert rig.stored == []
        rig.board.is_up = False
        await rig.loop.put(Batch([SensorState(8, "link", ok=False)], None))
        await settle()
        replies = [reply for step in rig.stored for reply in step.replies]
        assert [(reply.name, reply.done) for reply in replies] == [("open", False)]


async def test_the_table_is_told_of_words_that_have_come_and_are_not_put_where_sensors_report_beyond_them(
    rig: Rig,
) -> None:
    """A disk that takes long to store one is no reason to publish a number over it."""
    async with rig.running():
        rig.came_ns = 2_000_000_000
        for t_us in (1_000_000, 3_000_000, 4_000_000):
            await rig.loop.put(Batch([TimePassed(t_us)], None))
            await settle()
        rig.came_ns = None
        await rig.loop.put(Batch([TimePassed(5_000_000)], None))
        await settle()
        told = [seen for seen in rig.table._recorder.observations if isinstance(seen, Heard)]
        assert told == [Heard(1_000_000, until_us=2_000_000), Heard(4_000_000)]


async def test_the_table_is_told_last_what_is_so_last(rig: Rig) -> None:
    """A standstill is told of the time at which it began, which the sensors have not reported yet. What is told after
    it must not come before it: the table would take everybody for unheard, and each number would wait a minute."""
    async with rig.running():
        await rig.loop.put(Batch([TimePassed(9)], None))
        beating = asyncio.create_task(rig.loop.beat())
        await settle()
        await rig.clock.step(2_000)  # no event was read in that time
        rig.came_ns = 1_000_000_000
        await rig.clock.step(2_000)
        rig.came_ns = None
        for t_us in (1_000, 5_000_000):
            await rig.loop.put(Batch([TimePassed(t_us)], None))
            await settle()
        beating.cancel()
        told = [seen.until_us for seen in rig.table._recorder.observations if isinstance(seen, Heard)]
        assert told[-2:] == [1_000_000, None]


async def test_nobody_is_overtaken_at_a_full_queue() -> None:
    """A board's line is judged by one task and read by another. If a fault came after the level that is told when the
    line is back, the table would wait for that level for ever."""
    rig, order = Rig(), list[int]()

    async def put(number: int) -> None:
        await rig.loop.put(Batch([TimePassed(number)], None))
        order.append(number)

    puts = [asyncio.create_task(put(number)) for number in range(1, QUEUE_MAX + 2)]
    await settle()
    assert order == [*range(1, QUEUE_MAX + 1)]
    last = asyncio.create_task(put(QUEUE_MAX + 2))  # it runs before the one that waited, which is woken now
    rig.loop._batches.get_nowait()
    await settle()
    assert order == [*range(1, QUEUE_MAX + 2)]
    rig.loop._batches.get_nowait()
    await asyncio.gather(*puts, last)
    assert order == [*range(1, QUEUE_MAX + 3)]
