"""A small world for the edges: virtual time, a broker in memory with faults, and the journal without its thread."""

from __future__ import annotations

import asyncio
import heapq
import random
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any

from wheeld.broker.budget import SparingLog
from wheeld.broker.commands import CommandIntake
from wheeld.broker.outbox import Outbox
from wheeld.broker.roles import TableAccess
from wheeld.core.catalogue import Catalogue, Language
from wheeld.core.observations import Command
from wheeld.journal.journal import Journal
from wheeld.journal.writer import JournalWriter
from wheeld.ports import ConnectionLostError, HostClock, OwedMessage, Publication, PublishRefusedError
from wheeld.service.program import Program


async def settle(turns: int = 60) -> None:
    """Let every task run as far as it can without time passing."""
    for _ in range(turns):
        await asyncio.sleep(0)


async def nobody_seals(*, by: str, why: str, user: str | None = None) -> None:
    """What the intake is given where there is no key."""


class Heard:
    """A table that keeps what it is told. `said_utc_us`: what the senders say of when it was said."""

    def __init__(self) -> None:
        self.commands: asyncio.Queue[Command] = asyncio.Queue()
        self.said_utc_us: list[int | None] = []
        self.still: tuple[int, int] | None = None

    async def say(self, command: Command, *, came_ns: int | None, said_utc_us: int | None) -> None:
        self.said_utc_us.append(said_utc_us)
        await self.commands.put(command)

    def standing_still(self) -> tuple[int, int] | None:
        return self.still


def access_of(root: str) -> TableAccess:
    """The table of that root, with the users of all roles."""
    _, _, site, table, _ = root.split("/")
    return TableAccess.of(site, table)


class Answers:
    """A network that keeps what the intake publishes itself."""

    def __init__(self, root: str, clock: HostClock) -> None:
        self.access, self.sparing_log = access_of(root), SparingLog(clock)
        self.said: list[Publication] = []

    async def answer(self, publication: Publication) -> None:
        self.said.append(publication)


def queued_intake(
    journal: Journal,
    outbox: Outbox,
    *,
    root: str,
    clock: HostClock,
    language: Language = "en",
    heard: Heard | None = None,
    network: Answers | None = None,
    test: bool = False,
) -> tuple[CommandIntake, asyncio.Queue[Command]]:
    """An intake without a table, and the queue to which it submits commands."""
    heard = heard or Heard()
    intake = CommandIntake(
        journal=journal,
        outbox=outbox,
        seal=nobody_seals,
        program=Program(),
        table=heard,
        catalogue=Catalogue(language),
        network=network or Answers(root, clock),
        clock=clock,
        test=test,
    )
    return intake, heard.commands


@asynccontextmanager
async def working(*works: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """These run as tasks until this is left; none may end before."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        yield
        assert not any(task.done() for task in tasks), tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


class VirtualClock:
    """`HostClock` whose time passes only in `advance`."""

    def __init__(self, utc_us: int = 1_700_000_000_000_000) -> None:
        self._now_ns = 0
        self._start_utc_us = utc_us
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []
        self._count = 0
        self.slept_s: list[float] = []

    def monotonic_ns(self) -> int:
        return self._now_ns

    def utc_us(self) -> int:
        return self._start_utc_us + self._now_ns // 1000

    async def sleep(self, seconds: float) -> None:
        self._count += 1
        self.slept_s.append(seconds)
        wake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now_ns + round(seconds * 1e9), self._count, wake))
        await wake

    async def advance(self, seconds: float) -> None:
        """Pass this time, waking sleepers in their order."""
        await settle()
        until_ns = self._now_ns + round(seconds * 1e9)
        while self._sleepers and self._sleepers[0][0] <= until_ns:
            self._now_ns, _, wake = heapq.heappop(self._sleepers)
            if not wake.done():
                wake.set_result(None)
            await settle()
        self._now_ns = until_ns


class DirectStore:
    """`Store` over a journal file, in the caller's own thread: the order of everything is the seed's alone."""

    def __init__(self, file: JournalWriter) -> None:
        self.file = file
        self.news = asyncio.Event()

    def has_news(self) -> bool:
        return self.news.is_set()

    async def wait_news(self) -> None:
        await self.news.wait()
        self.news.clear()

    async def owed(self, after_id: int, limit: int) -> list[OwedMessage]:
        return self.file.reader.owed(after_id, limit)

    async def mark_sent(self, ids: Sequence[int], *, await_settlement: bool) -> None:
        self.file.mark_sent(ids, await_settlement=await_settlement)

    async def settle(self, seq: int) -> int:
        return self.file.settle(seq)

    async def again(self, from_seq: int, limit: int) -> list[OwedMessage]:
        return self.file.again(from_seq, limit)

    async def reopen_retained(self) -> None:
        self.news.set()
        self.file.reopen_retained()

    async def last_seq(self) -> int:
        return self.file.reader.last_seq()

    async def depth(self) -> int:
        return self.file.reader.depth()


class FakeBroker:
    """`Publisher` and broker in one. Faults, each a probability per publication, drawn from the seed:

    `drop_before`: the connection ends and the broker has nothing; `drop_after`: the broker has it, the confirmation is
    lost. `refuse` names topics that the broker does not accept. `forget` is a broker that restarted without a disk.
    """

    def __init__(self, seed: int = 0, *, drop_before: float = 0.0, drop_after: float = 0.0) -> None:
        self.rng = random.Random(seed)
        self.drop_before = drop_before
        self.drop_after = drop_after
        self.refuse: set[str] = set()
        self.received: list[tuple[int, Publication]] = []
        self.retained: dict[str, bytes] = {}
        self._number = 0
        self._up = asyncio.Event()
        self._over = asyncio.Event()

    def up(self) -> None:
        """A new connection."""
        if not self._up.is_set():
            self._number += 1
            self._over = asyncio.Event()
            self._up.set()

    def down(self) -> None:
        """The connection ends."""
        self._up.clear()
        self._over.set()

    def forget(self) -> None:
        """The broker restarts and has lost what it retained."""
        self.down()
        self.retained.clear()

    async def connected(self) -> int:
        await self._up.wait()
        return self._number

    async def lost(self, session: int) -> None:
        if session == self._number:
            await self._over.wait()

    async def publish(self, publication: Publication, *, session: int) -> None:
        for _ in range(self.rng.randrange(3)):
            await asyncio.sleep(0)
        if not self._up.is_set() or session != self._number:
            raise ConnectionLostError("gone")
        if self.rng.random() < self.drop_before:
            self.down()
            raise ConnectionLostError("dropped before")
        if publication.topic in self.refuse:
            raise PublishRefusedError("not authorized")
        self.received.append((session, publication))
        if publication.retain:
            self.retained[publication.topic] = publication.payload
        if self.rng.random() < self.drop_after:
            self.down()
            raise ConnectionLostError("dropped after")

    @property
    def payloads(self) -> list[bytes]:
        """What it received, in order."""
        return [publication.payload for _, publication in self.received]
