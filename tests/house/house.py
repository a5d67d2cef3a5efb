"""A whole house for tests: wheels with real journals, a cabinet's broker, three brokers of the house, collectors.

The brokers keep nothing on disk. The cabinet's broker hands everything on to one of the three, by its bridge, and goes
to the next one when that is gone. Each collector is a process, connected to all three.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiomqtt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from tests.broker.mqtt_bench import OFFLINE, ONLINE, settings
from tests.broker.world import access_of, queued_intake, working
from tests.feed.test_real import HastyClock
from tests.feed.wheel import SITE, Wheel
from tests.house.disk import Disk
from tests.house.postgres import Cluster
from tests.journal.journals import RawSigner
from tests.mosquitto import Mosquitto, free_port
from wheeld.broker.mqtt import MqttConnection
from wheeld.broker.outbox import Outbox
from wheeld.core.messages.chain import unsigned
from wheeld.core.step import Message, Step, Topic
from wheeld.journal.journal import Journal, JournalError
from wheeld.journal.opening import Owner

PATIENCE_S = 60.0
TOPICS: tuple[Topic, ...] = ("result", "void", "ruling", "table")
LEASE_S = 2.0
WITNESS_KEY = Ed25519PrivateKey.from_private_bytes(bytes([1]) * 32)
ROOT = Path(__file__).parents[2]
COLLECT = ("wheeld_house", "collect")
"""The module and the first word of a collector's command."""
BRIDGE = """\
connection cabinet
address {addresses}
round_robin true
remote_clientid cabinet-1
bridge_protocol_version mqttv311
cleansession true
local_cleansession false
keepalive_interval 5
restart_timeout 1 2
bridge_attempt_unsubscribe false
notifications false
"""
LEAVES = (("result", "out"), ("void", "out"), ("ruling", "out"), ("table", "out"), ("reply", "out"), ("cmd/+/+", "in"))


class HouseTable:
    """A wheel: its journal, outbox and intake, composed as the daemon does, and who writes its messages."""

    def __init__(self, name: str, journal: Journal, port: int, key: Ed25519PrivateKey | None) -> None:
        self.name, self.key = name, key
        self.root = f"wheel/v1/{SITE}/{name}"
        self.wheel = Wheel(name, key)
        self.stored = 0
        """How many messages its journal has for certain."""
        self._has_room, self.plays = asyncio.Event(), asyncio.Event()
        self._has_room.set()
        self._port = port
        self._compose(journal)

    def _compose(self, journal: Journal) -> None:
        clock, root = HastyClock(), self.root + "/"
        self.journal, self._failed = journal, asyncio.Event()
        self.connection = MqttConnection(
            settings(self._port, client_id=f"wheeld-{self.name}"),
            access=access_of(root),
            online=ONLINE,
            offline=OFFLINE,
            clock=clock,
            rng=random.Random(1),
        )
        self.outbox = Outbox(store=journal, publisher=self.connection, clock=clock, root=root, settlement_ack=False)
        self.intake, _ = queued_intake(journal, self.outbox, root=root, clock=clock)
        self.plays.set()

    def works(self) -> Sequence[Coroutine[Any, Any, None]]:
        return self.connection.run(), self.outbox.run(), self.intake.run(self.connection.inbox)

    async def run(self, path: Path) -> None:
        """Play. The daemon halts when its journal fails, and is started again when its disk has room."""
        while True:
            try:
                async with asyncio.TaskGroup() as group:
                    for work in (*self.works(), self._halt()):
                        group.create_task(work)
            except* JournalError:
                self.plays.clear()
            await self.journal.close()
            await self._has_room.wait()
            journal = await journal_of(path, self.name, self.key)
            # What was not stored was never said.
            self.stored = await journal.last_seq()
            del self.wheel.sent[self.stored :], self.wheel.seqs[self.stored :], self.wheel.hashes[self.stored + 1 :]
            self._compose(journal)

    async def _halt(self) -> None:
        await self._failed.wait()
        await self.journal.last_seq()  # raises what it failed of

    async def fill_disk(self) -> None:
        """From now on nothing new fits into its journal."""
        self._has_room.clear()
        await self._limit(1)

    async def free_disk(self) -> None:
        """There is room again. Returns when the wheel plays."""
        await self._limit(2**31)
        self._has_room.set()
        await self.plays.wait()

    async def sleep_on_disk(self, seconds: float) -> None:
        """A call of its journal that takes so long. The others wait."""
        if self.plays.is_set():
            await asyncio.wrap_future(self.journal._thread.submit(time.sleep, seconds))

    async def _limit(self, pages: int) -> None:
        if self.plays.is_set():
            rows = self.journal._writer.reader.database.rows
            with suppress(JournalError):  # one that has failed stays so
                await asyncio.wrap_future(self.journal._thread.submit(rows, f"PRAGMA max_page_count = {pages}"))

    async def say(self, rng: random.Random) -> None:
        """The next message, of any kind and month. Nothing while the wheel is halted."""
        if not self.plays.is_set():
            return
        topic = rng.choice(TOPICS)
        at = f"2026-{rng.randint(10, 12)}-{rng.randint(1, 28):02}T20:00:00.000000Z"
        _, payload = self.wheel.say(topic, at=at, coup=self.wheel.seq, number=rng.randrange(37))
        seq = self.wheel.seq
        try:
            told = payload if self.key is None else unsigned(payload)  # the journal signs it
            await self.journal.append(Step(messages=(Message(seq, topic, told, seq),)), seq)
            self.stored = seq
        except JournalError:
            self.plays.clear()
            self._failed.set()

    async def close(self) -> None:
        await self.journal.close()

    async def published(self) -> list[bytes]:
        """Every message of the feed that its journal has."""
        return [message.payload for message in await self.journal.again(1, 1_000_000)]


class CollectorProcess:
    """A collector that can be killed, stopped and started again."""

    def __init__(
        self, settings_file: Path, log: Path, command: Sequence[str] = COLLECT, disk: Disk | None = None
    ) -> None:
        self._command = [sys.executable, "-m", *command, str(settings_file)]
        self._log, self._environment = log, {} if disk is None else disk.environment
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        path = os.pathsep.join((str(ROOT), str(ROOT / "house")))
        environment = {**os.environ, "PYTHONPATH": path, **self._environment}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._command, cwd=ROOT, env=environment, stdout=log, stderr=log)

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def end(self) -> int:
        """An orderly end; returns the exit code."""
        return self._end(signal.SIGTERM)

    def pause(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def log(self) -> str:
        return self._log.read_text() if self._log.exists() else ""

    def _end(self, how: signal.Signals) -> int:
        if self._process is None:
            return 0
        self._process.send_signal(how)
        code = self._process.wait(PATIENCE_S)
        self._process = None
        return code


class Link:
    """The way of the collectors to a port, which can be cut."""

    def __init__(self, target: int) -> None:
        self.port = free_port()
        self._command = [sys.executable, "-m", "tests.house.link", str(self.port), str(target)]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(self._command, cwd=ROOT, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.kill()
        self._process.wait(PATIENCE_S)
        self._process.stdout.close()

    def cut(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def mend(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)


class House:
    """Everything. `brokers`: the three of the house. `records` and `alarms`: what the database has."""

    def __init__(
        self,
        cluster: Cluster,
        database: str,
        brokers: list[Mosquitto],
        tables: list[HouseTable],
        links: list[Link] | None = None,
        disks: Sequence[Disk] = (),
    ) -> None:
        """`links`: of the collectors, to the database and to each broker. Without any they connect straight. `disks`:
        of the brokers that keep something, and at last of the collectors' logs."""
        self.cluster, self.database, self.brokers, self.tables = cluster, database, brokers, tables
        self.links = links or []
        self.collectors: list[CollectorProcess] = []
        self.disks = disks
        self.dsn = cluster.dsn(database, port=self.links[0].port if self.links else None)
        """What the collectors are told."""

    def collector(self, folder: Path, command: Sequence[str] = COLLECT) -> CollectorProcess:
        """Make one more, and start it."""
        name = f"collector-{len(self.collectors) + 1}"
        disk = self.disks[-1] if self.disks else None
        made = CollectorProcess(self.settings_file(folder, name), folder / f"{name}.log", command, disk)
        made.start()
        self.collectors.append(made)
        return made

    def settings_file(self, folder: Path, name: str) -> Path:
        """Write the settings of a collector."""
        return collector_settings(
            folder, name, self.dsn, self.links[1:] or self.brokers, {each.name: each.key for each in self.tables}
        )

    def stored(self, table: HouseTable) -> list[bytes]:
        rows = self.cluster.sql(
            self.database,
            "select r.payload from house.record r join house.wheel w on w.id = r.wheel "
            "where w.table_name = %s order by r.seq, r.stored_at",
            table.name,
        )
        return [bytes(payload) for (payload,) in rows]

    def alarms(self) -> list[tuple[str, str, int]]:
        rows = self.cluster.sql(self.database, "select table_name, kind, seq from house.alarms order by id")
        return [(name, kind, seq) for name, kind, seq in rows]

    async def differing(self) -> list[str]:
        """The tables whose journal and database differ, and how."""
        found = []
        for table in self.tables:
            journal, stored = await table.published(), await asyncio.to_thread(self.stored, table)
            if journal != stored:
                found.append(
                    f"{table.name}: journal {len(journal)}, database {len(stored)}, "
                    f"missing {len(set(journal) - set(stored))}, false {len(set(stored) - set(journal))}, "
                    f"twice {len(stored) - len(set(stored))}"
                )
        return found

    async def settled(self, within_s: float = PATIENCE_S) -> None:
        """Wait until the database has what the journals have. Raises AssertionError with the differences."""
        loop = asyncio.get_running_loop()
        until_s = loop.time() + within_s
        while differing := await self.differing():
            assert loop.time() < until_s, differing
            await asyncio.sleep(0.3)

    async def collected_by(self, number: int) -> None:
        """Wait until this collector hears all brokers and has all wheels, and the bridge has had time to come up."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                log = self.collectors[number].log
                if log.count(": connected") >= len(self.brokers) and log.count(": collected") >= len(self.tables):
                    break
                await asyncio.sleep(0.2)
        await asyncio.sleep(1.5)

    async def alarmed(self, kind: str) -> None:
        """Wait until there is an alarm of this kind."""
        async with asyncio.timeout(PATIENCE_S):
            while not any(each == kind for _, each, _ in await asyncio.to_thread(self.alarms)):  # noqa: ASYNC110
                await asyncio.sleep(0.3)

    async def publish(self, broker: Mosquitto, table: HouseTable, leaf: str, payload: bytes) -> None:
        """Publish at a broker of the house in the wheel's place. A broker that is away takes nothing."""
        try:
            async with aiomqtt.Client("127.0.0.1", broker.port, timeout=2) as client:
                await client.publish(f"{table.root}/{leaf}", payload, qos=1, retain=leaf == "notice")
        except aiomqtt.MqttError:
            return

    def logs(self) -> str:
        return "\n".join(f"--- {each.log[-3000:]}" for each in self.collectors)


def collector_settings(
    folder: Path,
    name: str,
    database: str,
    brokers: Sequence[Mosquitto | Link],
    wheels: Mapping[str, Ed25519PrivateKey | None],
    *,
    lease_s: float = LEASE_S,
) -> Path:
    """Write the settings of a collector, and the keys that it needs. Returns their file."""
    lines = [f'name = "{name}"', f'database = "{database}"', f"lease_s = {lease_s}"]
    witness = folder / "witness.key"
    witness.write_bytes(WITNESS_KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    lines += ["[witness]", 'name = "house.example"', f'key_file = "{witness}"']
    for broker in brokers:
        lines += ["[[brokers]]", 'host = "127.0.0.1"', f"port = {broker.port}"]
    for table, private in wheels.items():
        lines += ["[[wheels]]", f'site = "{SITE}"', f'table = "{table}"']
        if private is not None:
            key = folder / f"{table}.pub"
            key.write_bytes(private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
            lines.append(f'public_key_file = "{key}"')
    file = folder / f"{name}.toml"
    file.write_text("\n".join(lines) + "\n")
    return file


@asynccontextmanager
async def house(
    cluster: Cluster, folder: Path, tables: int = 3, database: str | None = None, *, parts_fail: bool = False
) -> AsyncIterator[House]:
    """A house whose wheels play; the last one has no key. Collectors are started by the test, and ended here.
    `parts_fail`: links of the collectors can be cut, and disks be full or slow, of the cluster too, which must have
    one. The cabinet's broker and the first of the house then keep their queues on disk, as Debian's do."""
    if database is None:
        database = await asyncio.to_thread(cluster.database)
    async with AsyncExitStack() as stack:
        disks = [_disk(folder / name) for name in ("cabinet", "broker", "collectors")] if parts_fail else []
        of_cabinet, of_broker, _ = disks or (None, None, None)
        kept = stack.enter_context(_broker(folder, of_broker))
        brokers = [kept, *(stack.enter_context(Mosquitto(folder)) for _ in range(2))]
        names = [f"campione-{number:02}" for number in range(tables)]
        bridge = BRIDGE.format(addresses=" ".join(f"127.0.0.1:{broker.port}" for broker in brokers)).splitlines()
        bridge += [f"topic wheel/v1/{SITE}/{name}/{leaf} {way} 1" for name in names for leaf, way in LEAVES]
        cabinet = stack.enter_context(_broker(folder, of_cabinet, "max_queued_messages 0", *bridge))
        made = []
        for number, name in enumerate(names):
            (folder / name).mkdir()
            key = Ed25519PrivateKey.generate() if number < tables - 1 else None
            journal = await journal_of(folder / name / "journal", name, key)
            made.append(HouseTable(name, journal, cabinet.port, key))
            stack.push_async_callback(made[-1].close)
        await stack.enter_async_context(working(*(table.run(folder / table.name / "journal") for table in made)))
        ports = [cluster.port, *(broker.port for broker in brokers)] if parts_fail else []
        links = [stack.enter_context(Link(port)) for port in ports]
        whole = House(cluster, database, brokers, made, links, disks)
        try:
            yield whole
        finally:
            for each in whole.collectors:
                await asyncio.to_thread(each.kill)


async def journal_of(path: Path, name: str, key: Ed25519PrivateKey | None) -> Journal:
    """The journal of this wheel, new or not."""
    signer = None if key is None else RawSigner(key.private_bytes_raw())
    return await Journal.open(path, Owner(SITE, name), at_utc_us=1, signer=signer)


def _disk(folder: Path) -> Disk:
    folder.mkdir()
    return Disk(folder)


def _broker(folder: Path, disk: Disk | None, *extra: str) -> Mosquitto:
    """A broker that keeps its queue on the disk, or one that keeps nothing."""
    if disk is None:
        return Mosquitto(folder, *extra)
    keeps = ("persistence true", f"persistence_location {disk.folder}/", "autosave_interval 1")
    return Mosquitto(folder, *keeps, *extra, environment=disk.environment)


def forged(table: HouseTable, *, seq: int, prev: str, key: Ed25519PrivateKey | None) -> bytes:
    """A message that somebody made who has not the wheel's key."""
    false = Wheel(table.name, key)
    false.seqs, false.hashes = [seq - 1], [prev]
    _, payload = false.say("result", at="2026-11-28T21:00:00Z", number=36, coup=1, false=True)
    assert json.loads(payload)["seq"] == seq
    return payload
