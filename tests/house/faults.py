"""Faults of a house, drawn from a seed: what is killed, stopped, cut and forged while the wheels play."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.house.disk import Disk
from tests.house.house import COLLECT, PATIENCE_S, CollectorProcess, House, HouseTable, Link, forged
from tests.house.postgres import Cluster
from tests.mosquitto import Mosquitto

SEEDS = range(
    int(os.environ.get("WHEELD_HOUSE_SEED", "1")),
    int(os.environ.get("WHEELD_HOUSE_SEED", "1")) + int(os.environ.get("WHEELD_HOUSE_NIGHTS", "3")),
)
WHEELS = int(os.environ.get("WHEELD_HOUSE_WHEELS", "3"))
PLAY_S = 10.0
"""How long the wheels play while parts fail."""
FAULTS_LEAST = int(os.environ.get("WHEELD_HOUSE_FAULTS", "0"))
"""They go on until so many were drawn."""
SOME = 3
"""At how many wheels one forger publishes."""
LIES = ("a message is forged", "messages come again")
EXPECTED = {"signature", "conflict", "chain"}
"""Alarms of the messages that are forged. Nothing else is wrong, so any other one is false."""


class Faults:
    """One history. Each part is broken by one fault at a time, and works again when that fault ends."""

    def __init__(self, house: House, rng: random.Random) -> None:
        self._house, self._rng = house, rng
        self._broken: set[object] = set()
        self.happened: list[str] = []
        self._idle = 0
        """How many of these found their part down already, and did nothing."""
        self.kinds: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {
            "a collector is killed": self._kill_collector,
            "a collector stands still": self._pause_collector,
            "a broker is killed": self._kill_broker,
            "a broker stands still": self._pause_broker,
            "the database crashes": self._crash_database,
            "the database is killed": self._kill_database,
            "the connections of the database are killed": self._kill_backends,
            "the database stands still": self._pause_database,
            "the disk of a wheel is full": self._fill_wheel,
            "the disk of a wheel is slow": self._slow_wheel,
            "a message is forged": self._forge,
            "messages come again": self._repeat,
        }
        if house.links:
            self.kinds["a link is cut"] = self._cut_link
        if house.disks:
            self.kinds |= {"a disk is full": self._fill_disk, "a disk is slow": self._slow_disk}

    @property
    def failed(self) -> int:
        """How many faults there were. A lie is none."""
        return sum(name not in LIES for name in self.happened) - self._idle

    async def run(self, seconds: float) -> None:
        """Let faults happen for this time, sometimes two at once. All are over when it returns."""
        loop = asyncio.get_running_loop()
        until_s = loop.time() + seconds
        running = list[asyncio.Task[None]]()
        while loop.time() < until_s or self.failed < FAULTS_LEAST:
            some = self._rng.sample(sorted(self.kinds), self._rng.choice((1, 1, 2)))
            for name in (*some, self._rng.choice(LIES)):
                self.happened.append(name)
                running.append(asyncio.create_task(self.kinds[name]()))
            await asyncio.sleep(self._rng.uniform(0.2, 1.5))
        await asyncio.gather(*running)

    async def lie(self) -> None:
        """Forge the next message of each wheel that signs, and send the last ones again."""
        for table in self._house.tables[:-1]:
            false = forged(table, seq=table.wheel.seq + 1, prev=table.wheel.hashes[-1], key=None)
            await self._publish(table, "result", false)
        await self._repeat()
        await asyncio.sleep(0.5)

    async def _kill_collector(self) -> None:
        await self._break(self._house.collectors, CollectorProcess.kill, CollectorProcess.start, 2.0)

    async def _pause_collector(self) -> None:
        await self._break(self._house.collectors, CollectorProcess.pause, CollectorProcess.resume, 5.0)

    async def _kill_broker(self) -> None:
        await self._break(self._house.brokers, Mosquitto.kill, Mosquitto.start, 3.0)

    async def _pause_broker(self) -> None:
        await self._break(self._house.brokers, Mosquitto.pause, Mosquitto.resume, 3.0)

    async def _crash_database(self) -> None:
        cluster = self._house.cluster
        await self._break([cluster], type(cluster).crash, type(cluster).start, 2.0)

    async def _kill_database(self) -> None:
        cluster = self._house.cluster
        await self._break([cluster], type(cluster).kill, type(cluster).start, 2.0)

    async def _pause_database(self) -> None:
        cluster = self._house.cluster
        await self._break([cluster], type(cluster).pause, type(cluster).resume, 3.0)

    async def _cut_link(self) -> None:
        await self._break(self._house.links, Link.cut, Link.mend, 5.0)

    async def _fill_disk(self) -> None:
        """Of the database, of a broker's queue, or of what the collectors log."""
        with_new_log = self._rng.random() < 0.5

        def fill(part: Cluster | Disk) -> None:
            if isinstance(part, Cluster) and with_new_log:
                part.use_new_log()
            _disk(part).fill()

        await self._break(self._disks(), fill, _mend, 3.0)

    async def _slow_disk(self) -> None:
        call_s = self._rng.uniform(0.01, 0.3)
        await self._break(self._disks(), lambda part: _disk(part).slow(call_s), _mend, 5.0)

    def _disks(self) -> Sequence[Cluster | Disk]:
        return [self._house.cluster, *self._house.disks]

    async def _fill_wheel(self) -> None:
        async with self._wheel() as table:
            await table.fill_disk()
            await asyncio.sleep(self._rng.uniform(0.5, 5.0))
            await table.free_disk()

    async def _slow_wheel(self) -> None:
        """Each call of its journal takes so long."""
        loop, call_s = asyncio.get_running_loop(), self._rng.uniform(0.05, 0.5)
        async with self._wheel() as table:
            until_s = loop.time() + self._rng.uniform(0.5, 5.0)
            while loop.time() < until_s:
                await table.sleep_on_disk(call_s)

    @asynccontextmanager
    async def _wheel(self) -> AsyncIterator[HouseTable]:
        """One whose disk works."""
        table = self._rng.choice([table for table in self._house.tables if table not in self._broken])
        self._broken.add(table)
        try:
            yield table
        finally:
            self._broken.discard(table)

    async def _kill_backends(self) -> None:
        house = self._house
        if house.cluster in self._broken:
            self._idle += 1
        else:
            self._broken.add(house.cluster)
            try:
                await asyncio.to_thread(house.cluster.kill_backends, house.database)
                await asyncio.sleep(0.5)  # until it has recovered
            finally:
                self._broken.discard(house.cluster)

    async def _forge(self) -> None:
        """At a wheel that signs: the next number, or one that is over, by who has no key, or by a clone."""
        for table in self._some(self._house.tables[:-1]):
            seq = max(1, table.wheel.seq - self._rng.choice((-1, -1, 0, 3)))
            key = self._rng.choice((None, Ed25519PrivateKey.generate(), table.key if seq <= table.wheel.seq else None))
            # A clone has left the true history before: what follows it could be the first that a collector hears.
            prev = "ab" * 32 if key is not None and key is table.key else table.wheel.hashes[seq - 1]
            await self._publish(table, "result", forged(table, seq=seq, prev=prev, key=key))

    async def _repeat(self) -> None:
        """The last messages of a wheel, at another broker than the wheel's perhaps."""
        for table in self._some(self._house.tables):
            for leaf, payload in table.wheel.sent[: table.stored][-10:]:
                await self._publish(table, leaf, payload)

    def _some(self, tables: Sequence[HouseTable]) -> Sequence[HouseTable]:
        return self._rng.sample(tables, min(SOME, len(tables)))

    async def _publish(self, table: HouseTable, leaf: str, payload: bytes) -> None:
        up = [broker for broker in self._house.brokers if broker not in self._broken]
        if up:
            await self._house.publish(self._rng.choice(up), table, leaf, payload)

    async def _break(
        self, parts: Sequence[object], breaks: Callable[..., object], mends: Callable[..., object], longest_s: float
    ) -> None:
        whole = [part for part in parts if part not in self._broken]
        if not whole:
            self._idle += 1
            return
        part, seconds = self._rng.choice(whole), self._rng.uniform(0.1, longest_s)
        self._broken.add(part)
        try:
            await asyncio.to_thread(breaks, part)
            await asyncio.sleep(seconds)
            await asyncio.to_thread(mends, part)
        finally:
            self._broken.discard(part)


def _disk(part: Cluster | Disk) -> Disk:
    return part.disk if isinstance(part, Cluster) else part


def _mend(part: Cluster | Disk) -> None:
    _disk(part).mend()
    if isinstance(part, Cluster):
        part.recover()


async def play(
    house: House,
    folder: Path,
    seed: int,
    command: Sequence[str] = COLLECT,
    *,
    settle_s: float = PATIENCE_S,
) -> str:
    """Play the night of `seed`, and hold the database to the journals. Returns what happened. Raises AssertionError
    with what differs. Each error has a note with the seed and what the collectors logged."""
    rng = random.Random(seed)
    try:
        for _ in range(2):
            house.collector(folder, command)
        faults = Faults(house, random.Random(rng.random()))
        over = asyncio.Event()
        playing = asyncio.create_task(_evening(house, random.Random(rng.random()), over))
        try:
            await faults.run(PLAY_S)
        finally:
            over.set()
            await playing
        await house.settled(settle_s)
        # While parts fail a collector mostly catches up, and what is forged is not the next message there. Now it is.
        await faults.lie()
        await said(house, 2)
        await house.settled(settle_s)
        await asyncio.sleep(1.0)
        assert await house.differing() == [], faults.happened
        alarms = house.alarms()
        assert {kind for _, kind, _ in alarms} <= EXPECTED, (alarms, faults.happened)
        assert not [alarm for alarm in alarms if alarm[0] == house.tables[-1].name], (alarms, faults.happened)
        records = sum(table.wheel.seq for table in house.tables)
        kinds = ", ".join(f"{name}: {count}" for name, count in sorted(Counter(faults.happened).items()))
        drawn = f"{faults.failed} faults, beside those of a part that was down already (drawn: {kinds})"
        return f"{records} records of {len(house.tables)} wheels, {drawn}, {len(alarms)} alarms"
    except BaseException as wrong:
        wrong.add_note(f"seed {seed}\n{house.logs()}")
        raise


async def _evening(house: House, rng: random.Random, over: asyncio.Event) -> None:
    """Until it is over, and never ended in the middle of a message: the outbox of a wheel would not hear of that."""
    while not over.is_set():
        await rng.choice(house.tables).say(rng)
        await asyncio.sleep(rng.expovariate(30.0))


async def said(whole: House, count: int, seed: int = 1) -> None:
    """Each wheel says so many messages."""
    rng = random.Random(seed)
    for _ in range(count):
        for table in whole.tables:
            await table.say(rng)
