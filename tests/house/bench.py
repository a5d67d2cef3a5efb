"""What a house of many wheels costs: `python -m tests.house.bench 1000`, or `make bench-house`.

Simulated wheels say recorded evenings, each with a name and a key of its own, at the pace of one coup a minute. They
publish at three brokers, and answer `resend` as wheels do. Two collectors, as processes, store all in a private
PostgreSQL on the disk. At the end the database must have all that was said, once, and nothing else.

The wheels of one broker share one connection, in place of the bridges of their cabinets.
"""

# ruff: noqa: T201  its output is what it is for
from __future__ import annotations

import argparse
import asyncio
import hashlib
import heapq
import json
import random
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from datetime import UTC, datetime
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import mqtt5
import psycopg
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.bench.live import Usage
from tests.evenings import script
from tests.evenings.players import Player, setting_of
from tests.evenings.wheels import Wheel as EveningWheel
from tests.feed.wheel import SITE, Wheel, reply_to
from tests.house.house import TOPICS, CollectorProcess, collector_settings
from tests.house.postgres import Cluster
from tests.mosquitto import Mosquitto
from wheeld.broker.outbox import RESEND_BATCH, RESEND_PAUSE_S
from wheeld.mqtt.client import MqttClient, connected

COUP_S = 60.0
"""From coup to coup, at the pace of a table."""
LOOK_S = 0.01
"""How often the observer looks at what stands."""
STEP_S = 10.0
"""How long each rate lasts while it is raised."""
RATES = (250, 400, 630, 1000, 1600, 2500, 4000)
"""Records a second, one after the other, until the delay grows."""
GROWN_S = 1.0
"""The delay has grown if half of the messages in the last quarter of a step take longer."""
QUIET_S = 3.0
PATIENCE_S = 3600.0
LEASE_S = 15.0
BROKER = ("set_tcp_nodelay true", "max_queued_messages 20000")
"""As docs/collector.md asks of the house's brokers."""


class Recorded(NamedTuple):
    """One message of a recorded evening. `at_s`: since its start, at the pace of the bench."""

    at_s: float
    leaf: str
    members: Mapping[str, Any]


class Evening(NamedTuple):
    """A recorded evening, that is said again and again."""

    messages: Sequence[Recorded]
    coups: int
    lasts_s: float


def recorded_evening(name: str) -> Evening:
    """The messages of the feed in a written evening, with a coup a minute."""
    written = script.read(name)
    wheel = EveningWheel(setting_of(written))
    Player(wheel).play(written)
    said = [message for message in wheel.published if message.topic in TOPICS]
    coups = max(message.payload["coup"] for message in said)
    pace = coups * COUP_S / (wheel.now_us / 1e6)
    dropped = ("schema", "seq", "site", "table", "prev", "hash")
    return Evening(
        [
            Recorded(
                message.t_us / 1e6 * pace,
                message.topic,
                {key: of for key, of in message.payload.items() if key not in dropped},
            )
            for message in said
        ],
        coups,
        coups * COUP_S,
    )


class Table:
    """One wheel: what it said, and when it gave each message to its broker."""

    def __init__(self, number: int, evening: Evening) -> None:
        self.name = f"wheel-{number:05}"
        self.root = f"wheel/v1/{SITE}/{self.name}"
        self.key = Ed25519PrivateKey.generate()
        self.wheel = Wheel(self.name, self.key)
        self.said_s: list[float] = []
        self.questions: list[bytes] = []
        self.answered = 0
        self._coming = self._messages(evening)
        self.next: tuple[float, Recorded] = next(self._coming)

    def say(self) -> tuple[str, bytes]:
        """The next message of its evening."""
        _, message = self.next
        at = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        sent = self.wheel.say(message.leaf, **{**message.members, "at": at})
        self.said_s.append(time.monotonic())
        self.next = next(self._coming)
        return sent

    def digest(self) -> bytes:
        """Of all that it said, in order."""
        whole = hashlib.sha256()
        for _, payload in self.wheel.sent:
            whole.update(hashlib.sha256(payload).digest())
        return whole.digest()

    def _messages(self, evening: Evening) -> Iterator[tuple[float, Recorded]]:
        again = 0
        while True:
            for message in evening.messages:
                coup = message.members["coup"] + again * evening.coups
                at_s = again * evening.lasts_s + message.at_s
                yield at_s, message._replace(members={**message.members, "coup": coup})
            again += 1


class Wheels:
    """All wheels, at their brokers. `speed`: how many times as fast as at a table. At 0 nobody plays."""

    def __init__(self, count: int, rng: random.Random) -> None:
        evenings = [recorded_evening(name) for name in script.names()]
        self.tables = [Table(number, evenings[number % len(evenings)]) for number in range(count)]
        self.speed = 0.0
        self.unsent = 0
        self._by_root = {table.root: table for table in self.tables}
        self._clients: list[MqttClient] = []
        self._tasks: set[asyncio.Task[None]] = set()
        # Each began at another moment: else all would have their coups at the same second.
        self._began_s = {table.name: -rng.uniform(0, COUP_S) for table in self.tables}
        self._due = [(table.next[0] + self._began_s[table.name], table.name, table) for table in self.tables]
        heapq.heapify(self._due)
        self._now_s = 0.0

    @property
    def said(self) -> int:
        return sum(len(table.said_s) for table in self.tables)

    async def connect(self, brokers: Sequence[Mosquitto], stack: AsyncExitStack) -> None:
        for number, broker in enumerate(brokers):
            login = mqtt5.ConnectPacket(f"cabinets-{number}", clean_start=True, keep_alive=3600)
            client = await stack.enter_async_context(
                connected("127.0.0.1", broker.port, login, take=self._note, timeout_s=30.0)
            )
            self._clients.append(client)
            topics = [f"{table.root}/cmd/collector/resend" for table in self.tables[number :: len(brokers)]]
            for first in range(0, len(topics), 100):
                await client.subscribe(*topics[first : first + 100])

    async def play(self) -> None:
        """Until it is cancelled."""
        loop = asyncio.get_running_loop()
        before_s = loop.time()
        while True:
            now_s = loop.time()
            self._now_s += (now_s - before_s) * self.speed
            before_s = now_s
            for table in self._until(self._now_s):
                self._publish(table, *table.say())
            await asyncio.sleep(0.002)

    def skip(self, seconds: float) -> None:
        """So long the wheels play while nobody hears them. The brokers get what they would have retained."""
        self._now_s += seconds
        for table in self._until(self._now_s):
            table.say()
        for table in self.tables:
            for leaf, payload in dict(table.wheel.sent).items():
                self._publish(table, leaf, payload)

    async def sent(self) -> None:
        """Wait until the brokers have all that was said."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _until(self, now_s: float) -> Iterator[Table]:
        while self._due[0][0] <= now_s:
            _, name, table = self._due[0]
            yield table
            heapq.heapreplace(self._due, (table.next[0] + self._began_s[name], name, table))

    def _publish(self, table: Table, leaf: str, payload: bytes) -> None:
        self._start(self._client(table).publish(f"{table.root}/{leaf}", payload, retain=leaf in TOPICS))

    def _client(self, table: Table) -> MqttClient:
        return self._clients[int(table.name[-5:]) % len(self._clients)]

    def _start(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _note(self, publication: object) -> None:
        assert isinstance(publication, mqtt5.PublishPacket)
        table = self._by_root[publication.topic.removesuffix("/cmd/collector/resend")]
        table.questions.append(bytes(publication.payload))
        if len(table.questions) == 1:
            self._start(self._answer(table))

    async def _answer(self, table: Table) -> None:
        """As the outbox of a wheel: a few messages at a time, to the last one, then the replies."""
        client = self._client(table)
        seq = min(json.loads(question)["from_seq"] for question in table.questions)
        while some := table.wheel.sent[seq - 1 : seq - 1 + RESEND_BATCH]:
            for leaf, payload in some:
                await client.publish(f"{table.root}/{leaf}", payload)
            seq += len(some)
            await asyncio.sleep(RESEND_PAUSE_S)
        for question in table.questions:
            _, reply = reply_to(question, done=True, why="again", last_seq=table.wheel.seq, user="collector")
            await client.publish(f"{table.root}/reply", reply)
        table.answered += len(table.questions)
        table.questions.clear()


class Observer(threading.Thread):
    """Looks at the last number of each wheel that stands, and dates it."""

    def __init__(self, dsn: str, tables: Sequence[Table]) -> None:
        super().__init__(daemon=True)
        self._sql = psycopg.connect(dsn, autocommit=True)
        self._tables = tables
        self._over = threading.Event()
        self.pid = self._sql.info.backend_pid
        self.heads: dict[str, int] = {}
        self.delays: list[tuple[float, float]] = []
        """When a message was said, and how long after that it stood."""

    @property
    def stored(self) -> int:
        return sum(self.heads.values())

    def run(self) -> None:
        tables = {table.name: table for table in self._tables}
        while not self._over.wait(LOOK_S):
            row = self._sql.execute("select array_agg(table_name), array_agg(head_seq) from house.wheel").fetchone()
            now_s = time.monotonic()
            assert row is not None
            for name, head in zip(row[0] or (), row[1] or (), strict=True):
                before = self.heads.get(name, 0)
                if head > before:
                    self.delays += [(said_s, now_s - said_s) for said_s in tables[name].said_s[before:head]]
                    self.heads[name] = head

    def stop(self) -> None:
        self._over.set()
        self.join()
        self._sql.close()


class Costs(NamedTuple):
    """Processor seconds so far, by part."""

    collectors: float
    postgresql: float
    brokers: float
    bench: float

    def since(self, before: Costs) -> Costs:
        return Costs(*(now - then for now, then in zip(self, before, strict=True)))


def _tree_s(pid: int, without: int) -> float:
    """Of a server with its processes, those that have ended too."""
    ticks = [int(each) for each in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[13:15]]
    total = Usage.of(pid).cpu_s + sum(ticks) / 100
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        if int(child) != without:
            try:
                total += Usage.of(int(child)).cpu_s
            except FileNotFoundError:
                continue
    return total


class Bench:
    """The house that is measured."""

    def __init__(
        self, clusters: Sequence[Cluster], brokers: Sequence[Mosquitto], wheels: Wheels, observer: Observer
    ) -> None:
        self.clusters, self.brokers, self.wheels, self.observer = clusters, brokers, wheels, observer
        self.collectors: list[CollectorProcess] = []
        self.rows: list[tuple[str, str]] = []

    def note(self, what: str, found: str) -> None:
        self.rows.append((what, found))
        print(f"{what}: {found}", flush=True)

    def costs(self) -> Costs:
        return Costs(
            sum(Usage.of(each.pid).cpu_s for each in self.collectors),
            sum(_tree_s(each.pid, self.observer.pid) for each in self.clusters),
            sum(Usage.of(each.pid).cpu_s for each in self.brokers),
            time.process_time(),
        )

    def resident_mb(self) -> str:
        return ", ".join(f"{Usage.of(each.pid).resident_kb / 1024:.0f} MB" for each in self.collectors)

    async def caught_up(self, count: int | None = None) -> float:
        """Wait until so many messages stand, or all that were said. Returns the seconds."""
        began_s = time.monotonic()
        while self.observer.stored < (self.wheels.said if count is None else count):
            assert time.monotonic() - began_s < PATIENCE_S, (self.observer.stored, self.wheels.said)
            await asyncio.sleep(0.05)
        return time.monotonic() - began_s

    async def asked(self) -> float:
        """Wait until each wheel was asked, and none is asked any more. Returns the seconds."""
        began_s = quiet_s = time.monotonic()
        while time.monotonic() - quiet_s < QUIET_S:
            assert time.monotonic() - began_s < PATIENCE_S
            await asyncio.sleep(0.05)
            if any(table.questions or not table.answered for table in self.wheels.tables):
                quiet_s = time.monotonic()
        return quiet_s - began_s

    async def started(self) -> None:
        """Start the collectors, and wait until one of them has the wheels."""
        for each in self.collectors:
            each.start()
        began_s = time.monotonic()
        while not any(": collected here" in each.log for each in self.collectors):
            assert time.monotonic() - began_s < PATIENCE_S
            await asyncio.sleep(0.05)

    async def at_the_real_rate(self, seconds: float) -> float:
        before, said = self.costs(), self.wheels.said
        from_s = time.monotonic()
        self.wheels.speed = 1.0
        await asyncio.sleep(seconds)
        self.wheels.speed = 0.0
        await self.caught_up()
        took, count = time.monotonic() - from_s, self.wheels.said - said
        spent = self.costs().since(before)
        self.note("records a second at the real rate", f"{count / seconds:.0f} ({count} in {seconds:.0f} s)")
        self.note("from publication to commit", _delays(self.observer.delays, from_s))
        for part, cpu_s in spent._asdict().items():
            a_wheel = cpu_s / took / len(self.wheels.tables)
            self.note(
                f"processor of {part}",
                f"{cpu_s / took * 100:.1f} % of a core: {a_wheel * 1e6:.0f} µs a second for a wheel, "
                f"{cpu_s / count * 1e6:.0f} µs for a record",
            )
        self.note("memory of the collectors", self.resident_mb())
        return count / seconds

    async def raised(self, real: float) -> None:
        """Raise the rate until the delay grows."""
        for rate in RATES:
            before, said = self.costs(), self.wheels.said
            from_s = time.monotonic()
            self.wheels.speed = rate / real
            await asyncio.sleep(STEP_S)
            self.wheels.speed = 1.0  # the next message of a wheel shows that one is missing
            count = self.wheels.said - said
            late_s = await self.caught_up(self.wheels.said)
            self.note(
                f"{count / STEP_S:.0f} records a second",
                f"{_delays(self.observer.delays, from_s)}, all stored {late_s:.1f} s after the last; "
                f"{_for_a_record(self.costs().since(before), count)}",
            )
            self.wheels.speed = 0.0
            await self.caught_up()
            last = [delay for at_s, delay in self.observer.delays if at_s > from_s + STEP_S * 3 / 4]
            if quantiles(last, n=4)[1] > GROWN_S:
                return

    async def away(self, minutes: float) -> None:
        """The collectors are away so long, while the wheels play."""
        for each in self.collectors:
            await asyncio.to_thread(each.end)
        said = self.wheels.said
        self.wheels.skip(minutes * 60)
        await self.wheels.sent()
        owed = self.wheels.said - said
        await self.started()
        before, began_s = self.costs(), time.monotonic()
        self.wheels.speed = 1.0
        await self.caught_up(self.wheels.said)
        took = time.monotonic() - began_s
        self.wheels.speed = 0.0
        await self.caught_up()
        spent = self.costs().since(before)
        self.note(
            f"after {minutes:g} minutes without a collector",
            f"{owed} records in {took:.0f} s while play goes on, {owed / took:.0f} a second; "
            f"{_for_a_record(spent, owed)}",
        )
        self.note("memory of the collectors then", self.resident_mb())

    def compare(self, cluster: Cluster, database: str) -> None:
        """The database has all that was said, once, and nothing else."""
        rows = cluster.sql(
            database,
            "select w.table_name, count(*), sha256(string_agg(sha256(r.payload), ''::bytea order by r.seq)) "
            "from house.record r join house.wheel w on w.id = r.wheel group by 1",
        )
        stored = {name: (count, bytes(digest)) for name, count, digest in rows}
        lost = doubled = other = 0
        for table in self.wheels.tables:
            count, digest = stored.pop(table.name, (0, b""))
            said = len(table.wheel.sent)
            lost, doubled = lost + max(0, said - count), doubled + max(0, count - said)
            other += count == said and digest != table.digest()
        self.note("records said and stored", f"{self.wheels.said}: {lost} lost, {doubled} doubled, {other} differ")
        ((alarms,),) = cluster.sql(database, "select count(*) from house.alarm")
        ((size,),) = cluster.sql(database, "select pg_database_size(current_database())")
        self.note("room in the database", f"{size / self.wheels.said / 1000:.1f} kB for a record")
        assert (lost, doubled, other, alarms, stored) == (0, 0, 0, 0, {}), (lost, doubled, other, alarms, stored)


def _for_a_record(spent: Costs, count: int) -> str:
    return (
        ", ".join(f"{part} {cpu_s / count * 1e6:.0f} µs" for part, cpu_s in spent._asdict().items()) + " for a record"
    )


def _delays(delays: Sequence[tuple[float, float]], from_s: float) -> str:
    found = [delay for at_s, delay in list(delays) if at_s >= from_s]
    cuts = quantiles(found, n=100)
    return f"p50 {cuts[49] * 1e3:.0f} ms, p99 {cuts[98] * 1e3:.0f} ms, longest {max(found) * 1e3:.0f} ms"


async def bench(options: argparse.Namespace) -> None:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="wheeld-bench-")))
        clusters = [stack.enter_context(Cluster(durable=True))]
        if options.standby:
            clusters.append(stack.enter_context(Cluster(clusters[0], durable=True)))
            clusters[0].wait_for_standby()
        database = clusters[0].database()
        brokers = [stack.enter_context(Mosquitto(folder, *BROKER, log_type="information")) for _ in range(3)]
        wheels = Wheels(options.wheels, random.Random(1))
        await wheels.connect(brokers, stack)
        observer = Observer(clusters[0].dsn(database), wheels.tables)
        observer.start()
        stack.callback(observer.stop)
        whole = Bench(clusters, brokers, wheels, observer)
        keys = {table.name: table.key for table in wheels.tables}
        with ExitStack() as ending:
            for number in range(options.collectors):
                name = f"collector-{number + 1}"
                file = collector_settings(folder, name, clusters[0].dsn(database), brokers, keys, lease_s=LEASE_S)
                each = CollectorProcess(file, folder / f"{name}.log")
                whole.collectors.append(each)
                ending.callback(each.kill)
            playing = asyncio.create_task(wheels.play())
            await whole.started()
            whole.note("from the start until each wheel was asked", f"{await whole.asked():.0f} s")
            real = await whole.at_the_real_rate(options.seconds)
            await whole.raised(real)
            await whole.away(options.outage)
            playing.cancel()
            await asyncio.to_thread(whole.compare, clusters[0], database)
            for each in whole.collectors:
                assert await asyncio.to_thread(each.end) == 0, each.log[-2000:]
        servers = "a server and its standby" if options.standby else "one server"
        print(f"\n{options.wheels} wheels, 3 brokers, {options.collectors} collectors, PostgreSQL: {servers}")
        for what, found in whole.rows:
            print(f"  {what:45} {found}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.house.bench", description=__doc__)
    parser.add_argument("wheels", type=int)
    parser.add_argument("--collectors", type=int, choices=(1, 2), default=2)
    parser.add_argument("--standby", action="store_true", help="commits wait for a second server")
    parser.add_argument("--seconds", type=float, default=30.0, help="how long the wheels play at the real rate")
    parser.add_argument("--outage", type=float, default=10.0, help="minutes of play while no collector runs")
    asyncio.run(bench(parser.parse_args()))


if __name__ == "__main__":
    main()
