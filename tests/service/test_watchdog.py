"""The watchdog is fed while every part works, and by nobody when one of them hangs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest
from structlog.testing import capture_logs

from tests.broker.feed import Feed
from tests.broker.world import DirectStore, FakeBroker, VirtualClock
from tests.journal.journals import open_writer
from wheeld.broker.outbox import Outbox
from wheeld.core.observations import Observation, TimePassed
from wheeld.ports import Publication
from wheeld.service.watchdog import FEEDS, TurningClock, TurningPublisher, Watch, watched
from wheeld.sources.board.board import Board
from wheeld.sources.board.feed import BoardFeed
from wheeld.sources.sensing import Batch

WATCHDOG_S = 20.0
PUBLISH_S_MAX = 7.0
WHILE_S = 40.0
"""Two of its intervals: without a feed in them the host would have restarted."""


class TalkingBoard:
    """One observation a tick."""

    position = None
    next_tick_ns = 2**63

    def tick(self, host_ns: int) -> list[Observation]:
        return [TimePassed(t_us=host_ns // 1_000)]


class SlowBroker(FakeBroker):
    """Confirms only while `confirms` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.confirms = asyncio.Event()
        self.confirms.set()

    async def publish(self, publication: Publication, *, session: int) -> None:
        await self.confirms.wait()
        await super().publish(publication, session=session)


class Bench:
    """The watched parts, real but for the disk, the broker and the board, each with a switch that hangs it."""

    def __init__(self, path: Path) -> None:
        self.clock, self.broker, self.messages = VirtualClock(), SlowBroker(), Feed()
        self.store = DirectStore(open_writer(path))
        self.fed_s: list[float] = []
        self.applied_us = 0
        self.applies, self.takes, self.answers = True, asyncio.Event(), asyncio.Event()
        self.takes.set()
        self.answers.set()
        self.watch = Watch(clock=self.clock, feed=self._feed, table_now_us=lambda: self.applied_us)
        publisher = TurningPublisher(self.broker, self.watch.outbox, clock=self.clock, publish_s_max=PUBLISH_S_MAX)
        self.outbox = Outbox(store=self.store, publisher=publisher, clock=self.clock, root="w/", settlement_ack=False)
        self.sensors = BoardFeed(
            cast("Board", TalkingBoard()),
            TurningClock(self.clock, self.watch.sensors),
            watched(self._apply, self.watch.table),
        )

    def append(self) -> None:
        self.store.file.append(self.messages.step("result"), 1)
        self.store.news.set()

    def _feed(self) -> None:
        self.fed_s.append(self.clock.monotonic_ns() / 1e9)

    async def _apply(self, batch: Batch) -> None:
        await self.takes.wait()
        if self.applies:
            self.applied_us = batch.observations[-1].t_us

    async def ask(self) -> None:
        await self.answers.wait()

    async def fed_during(self, seconds: float) -> list[float]:
        """When it was fed, in seconds from now."""
        count, now_s = len(self.fed_s), self.clock.monotonic_ns() / 1e9
        await self.clock.advance(seconds)
        return [at_s - now_s for at_s in self.fed_s[count:]]


@asynccontextmanager
async def running(path: Path) -> AsyncIterator[Bench]:
    bench = Bench(path)
    work = [
        bench.watch.run(WATCHDOG_S),
        bench.watch.ask_journal(bench.ask, WATCHDOG_S),
        bench.outbox.run(),
        bench.sensors.tick(),
    ]
    tasks = {asyncio.create_task(each) for each in work}
    try:
        yield bench
        assert not any(task.done() for task in tasks), tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        bench.store.file.close()


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with running(tmp_path / "journal.sqlite") as bench:
        yield bench


def assert_steady(fed_s: list[float], seconds: float) -> None:
    """So often that two could be lost."""
    gaps = [later - earlier for earlier, later in zip([0.0, *fed_s], [*fed_s, seconds], strict=True)]
    assert max(gaps) <= WATCHDOG_S / FEEDS + 1.0, fed_s


async def test_it_is_fed_at_once_and_steadily_without_a_broker(bench: Bench) -> None:
    fed_s = await bench.fed_during(WHILE_S)
    assert fed_s[0] < 1.0
    assert_steady(fed_s, WHILE_S)


async def test_a_broker_without_messages_is_no_hang(bench: Bench) -> None:
    bench.broker.up()
    assert_steady(await bench.fed_during(WHILE_S), WHILE_S)
    bench.broker.down()
    bench.append()
    assert_steady(await bench.fed_during(WHILE_S), WHILE_S)
    bench.broker.up()
    assert_steady(await bench.fed_during(WHILE_S), WHILE_S)
    assert len(bench.broker.received) == 1


async def test_a_broker_that_refuses_is_no_hang(bench: Bench) -> None:
    bench.broker.refuse.add("w/result")
    bench.broker.up()
    bench.append()
    assert_steady(await bench.fed_during(WHILE_S), WHILE_S)


async def test_a_broker_that_takes_its_time_within_the_time_out_is_no_hang(bench: Bench) -> None:
    bench.broker.up()
    for _ in range(5):
        bench.broker.confirms.clear()
        bench.append()
        assert_steady(await bench.fed_during(PUBLISH_S_MAX), PUBLISH_S_MAX)
        bench.broker.confirms.set()
        await bench.clock.advance(0.5)


def hang_outbox(bench: Bench) -> Callable[[], None]:
    bench.broker.confirms.clear()
    bench.append()
    return bench.broker.confirms.set


def hang_sensors(bench: Bench) -> Callable[[], None]:
    bench.takes.clear()
    return bench.takes.set


def hang_journal(bench: Bench) -> Callable[[], None]:
    bench.answers.clear()
    return bench.answers.set


def hang_table(bench: Bench) -> Callable[[], None]:
    bench.applies = False
    return lambda: setattr(bench, "applies", True)


@pytest.mark.parametrize("part", ["outbox", "sensors", "journal", "table"])
async def test_a_part_that_hangs_starves_it_and_is_named(part: str, bench: Bench) -> None:
    bench.broker.up()
    await bench.clock.advance(30.0)
    with capture_logs() as logs:
        mend = globals()[f"hang_{part}"](bench)
        fed_s = await bench.fed_during(3 * WATCHDOG_S)
        assert all(at_s <= WATCHDOG_S - 5 for at_s in fed_s), "fed though a part hung"
        mend()
        assert_steady(await bench.fed_during(WHILE_S), WHILE_S)
    logged = [(log["event"], log.get("missing")) for log in logs if log["event"].startswith("watchdog")]
    assert logged == [("watchdog.starved", [part]), ("watchdog.fed_again", None)]
