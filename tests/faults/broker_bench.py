"""The daemon's journal, connection, outbox and command intake, fed with simulated coups; and a settlement core."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.broker.mqtt_bench import OFFLINE, ONLINE, settings
from tests.broker.world import access_of, queued_intake
from tests.faults.broker_coups import ROOT
from tests.journal.journals import OWNER
from wheeld.broker.mqtt import MqttConnection
from wheeld.broker.outbox import Outbox
from wheeld.core.step import Reply, Step
from wheeld.feed import Feed, FeedError, FeedMessage, Login, Manner
from wheeld.journal.journal import Journal
from wheeld.service.host_clock import SystemClock

PATIENCE_S = 60.0
"""How long a test waits for a real event before it fails."""
LOOK_S = 0.02
"""How often a condition without an event is checked."""
NOW_UTC_US = 1_795_200_000_000_000


async def until(holds: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
    """Wait until `holds` is true, where there is no event to wait for."""
    async with asyncio.timeout(patience_s):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(LOOK_S)


class ShortSleepClock(SystemClock):
    """The host's clock, but no sleep is longer than a tenth of a second: back-off has tests of its own."""

    def __init__(self) -> None:
        self.asked_s: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.asked_s.append(seconds)
        await super().sleep(min(seconds, 0.1))


class Wheel:
    """The part of a daemon that publishes. Commands that the intake accepts are done at once."""

    def __init__(self, journal: Journal, port: int, *, settlement_ack: bool = True, **mqtt: Any) -> None:
        clock = ShortSleepClock()
        root = ROOT + "/"
        self.clock, self.journal = clock, journal
        self.connection = MqttConnection(
            settings(port, **mqtt),
            access=access_of(root),
            online=ONLINE,
            offline=OFFLINE,
            clock=clock,
            rng=random.Random(1),
        )
        self.outbox = Outbox(
            store=journal, publisher=self.connection, clock=clock, root=root, settlement_ack=settlement_ack
        )
        self.intake, self.requests = queued_intake(journal, self.outbox, root=root, clock=clock)
        self.sequenced: list[bytes] = []
        """Every sequenced message, as stored."""

    async def store(self, step: Step) -> None:
        """Store a step, as the table loop does."""
        await self.journal.append(step, NOW_UTC_US)
        self.sequenced += [message.payload for message in step.messages if message.seq is not None]

    async def execute_commands(self) -> None:
        """Answer every command that the intake accepts; runs until cancelled."""
        while True:
            command = await self.requests.get()
            done = Reply(0, command.id, command.name, command.by, done=True, user=command.user)
            await self.journal.append(Step(replies=(done,)), NOW_UTC_US)

    async def until_settled(self, patience_s: float = PATIENCE_S) -> None:
        """Wait until nothing is owed any more."""
        async with asyncio.timeout(patience_s):
            while await self.outbox.depth():  # noqa: ASYNC110  there is no event to wait for
                await asyncio.sleep(LOOK_S)


@asynccontextmanager
async def turning(port: int, path: Path, **mqtt: Any) -> AsyncIterator[Wheel]:
    """Run a wheel on the journal at `path`; none of its tasks may end before the block does."""
    journal = await Journal.open(path, OWNER, at_utc_us=NOW_UTC_US)
    wheel = Wheel(journal, port, **mqtt)
    works = (
        wheel.connection.run(),
        wheel.outbox.run(),
        wheel.intake.run(wheel.connection.inbox),
        wheel.execute_commands(),
    )
    tasks = [asyncio.create_task(work) for work in works]
    try:
        yield wheel
        assert not any(task.done() for task in tasks), tasks
    finally:
        for task in tasks:
            task.cancel()
        _, pending = await asyncio.wait(tasks, timeout=PATIENCE_S)
        await journal.close()
        assert not pending, f"cancelled, and still running: {pending}"


class Settlement:
    """A settlement core: stores what the feed hands out, acknowledges it, and continues after it when it restarts."""

    def __init__(
        self, port: int, log: Callable[[str], object] = lambda _: None, *, host: str = "127.0.0.1", **login: Any
    ) -> None:
        self.stored: list[FeedMessage] = []
        self.refused: list[FeedError] = []
        self.counters: dict[str, int] = {}
        self._host = host
        self._login = Login(port=port, client_id="settlement", keepalive_s=5, **login)
        self._manner = Manner(tell=log, every_s=0.05, answer_s=1.0, answer_s_max=4.0, retry_s=0.05, retry_s_max=0.1)

    async def run(self) -> None:
        """Store and acknowledge messages until cancelled."""
        last = self.stored[-1] if self.stored else None
        after_seq, after_hash = (last.seq, last.hash) if last else (0, None)
        async with Feed(
            self._host, root=ROOT, after_seq=after_seq, after_hash=after_hash, login=self._login, manner=self._manner
        ) as feed:
            while True:
                try:
                    message = await anext(feed)
                except FeedError as error:
                    self.refused.append(error)
                    continue
                finally:
                    self.counters = feed.counters
                self.stored.append(message)
                await feed.ack(message)

    async def until(self, seq: int, patience_s: float = PATIENCE_S) -> None:
        """Wait until it has stored message `seq`."""
        await until(lambda: bool(self.stored) and self.stored[-1].seq >= seq, patience_s)


@asynccontextmanager
async def settling(settlement: Settlement) -> AsyncIterator[Settlement]:
    """Run it until the block ends."""
    task = asyncio.create_task(settlement.run())
    try:
        yield settlement
        assert not task.done(), task
    finally:
        task.cancel()
        await asyncio.wait({task})


def check(sequenced: list[bytes], settlement: Settlement, where: str) -> None:
    """The settlement core has every message once, in order, with the same bytes."""
    got = [message.payload for message in settlement.stored]
    lost, doubled = len(set(sequenced) - set(got)), len(got) - len(set(got))
    assert (lost, doubled) == (0, 0), where
    assert got == sequenced, f"out of order: {where}"
