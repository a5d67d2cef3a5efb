"""The feed against a real mosquitto and the daemon's own journal, outbox and intake: killed, denied, falsified."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiomqtt

from tests.broker.mqtt_bench import OFFLINE, ONLINE, PATIENCE_S, settings
from tests.broker.world import access_of, queued_intake, working
from tests.feed.broker import MISUSES, DishonestBroker
from tests.feed.wheel import SITE, Wheel
from tests.journal.journals import OWNER
from tests.mosquitto import Mosquitto
from wheeld.broker.mqtt import MqttConnection
from wheeld.broker.outbox import Outbox
from wheeld.core.step import Message, Step, Topic
from wheeld.feed import Feed, FeedError, FeedMessage, Login, Manner
from wheeld.journal.journal import Journal
from wheeld.service.host_clock import SystemClock

TABLE = "3"
ROOT = f"wheel/v1/{SITE}/{TABLE}"
TOPICS: tuple[Topic, ...] = ("result", "void", "table")


class HastyClock(SystemClock):
    """Back-off is tested elsewhere; here nobody wants to wait for it."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(min(seconds, 0.1))


class Daemon:
    """Journal, connection, outbox and intake, composed as the daemon does."""

    def __init__(self, journal: Journal, port: int) -> None:
        clock = HastyClock()
        self.journal = journal
        self.wheel = Wheel(TABLE)
        root = ROOT + "/"
        self.connection = MqttConnection(
            settings(port), access=access_of(root), online=ONLINE, offline=OFFLINE, clock=clock, rng=random.Random(1)
        )
        self.outbox = Outbox(store=journal, publisher=self.connection, clock=clock, root=root, settlement_ack=True)
        self.intake, self.requests = queued_intake(journal, self.outbox, root=root, clock=clock)

    async def say(self, topic: Topic) -> None:
        _, payload = self.wheel.say(topic)
        seq = self.wheel.seq
        await self.journal.append(Step(messages=(Message(seq, topic, payload, seq),)), seq)


@asynccontextmanager
async def daemon(port: int, path: Path) -> AsyncIterator[Daemon]:
    journal = await Journal.open(path / "journal", OWNER, at_utc_us=1)
    running = Daemon(journal, port)
    works = (running.connection.run(), running.outbox.run(), running.intake.run(running.connection.inbox))
    try:
        async with working(*works):
            yield running
    finally:
        await journal.close()


def feed_of(port: int, stored: list[FeedMessage], tell: Callable[[str], object] = print) -> Feed:
    """A feed that goes on behind what is stored."""
    after_seq, after_hash = (stored[-1].seq, stored[-1].hash) if stored else (0, None)
    manner = Manner(tell=tell, every_s=0.05, answer_s=0.5, answer_s_max=1.0, retry_s=0.05, retry_s_max=0.1)
    login = Login(port=port, client_id="settlement-3", keepalive_s=5)
    return Feed("127.0.0.1", root=ROOT, after_seq=after_seq, after_hash=after_hash, login=login, manner=manner)


async def settle(feed: Feed, stored: list[FeedMessage], until_seq: int) -> list[FeedError]:
    """Store and acknowledge until this one is stored; returns what was refused."""
    refused = []
    async with asyncio.timeout(PATIENCE_S):
        while not stored or stored[-1].seq < until_seq:
            try:
                message = await anext(feed)
            except FeedError as error:
                refused.append(error)
                continue
            stored.append(message)
            await feed.ack(message)
    return refused


async def depth_is(running: Daemon, depth: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while await running.outbox.depth() != depth:  # noqa: ASYNC110  it tells nobody
            await asyncio.sleep(0.02)


def check(stored: list[FeedMessage], wheel: Wheel) -> None:
    assert [message.payload for message in stored] == [payload for _, payload in wheel.sent]


async def test_broker_killed_and_started_again(tmp_path: Path) -> None:
    broker, total, stored = Mosquitto(tmp_path).start(), 60, list[FeedMessage]()
    try:
        async with daemon(broker.port, tmp_path) as running, feed_of(broker.port, stored) as feed:
            settling = asyncio.create_task(settle(feed, stored, total))
            for n in range(total):
                await running.say(TOPICS[n % 3])
                if n in (15, 30, 45):
                    await asyncio.sleep(0.02)
                    broker.kill()
                    broker.start()
            assert await settling == []
            check(stored, running.wheel)
            await depth_is(running, 0)
    finally:
        broker.kill()


async def test_a_caller_that_crashes_again_and_again(tmp_path: Path) -> None:
    total, stored = 60, list[FeedMessage]()
    rng = random.Random(3)
    with Mosquitto(tmp_path) as broker:
        async with daemon(broker.port, tmp_path) as running:
            while len(stored) < total:
                async with feed_of(broker.port, stored) as feed:
                    for _ in range(min(10, total - running.wheel.seq)):
                        await running.say("result")
                    await settle(feed, stored, rng.randint(len(stored) + 1, running.wheel.seq))
                    feed._ack_is_due = False  # the crash comes before it is sent
                    feed._ack_sent.set()
            check(stored, running.wheel)
            async with feed_of(broker.port, stored) as feed:
                await running.say("table")
                await settle(feed, stored, total + 1)
                await depth_is(running, 0)


async def test_a_resend_that_the_access_list_denies_is_reported(tmp_path: Path) -> None:
    """The broker confirms such a publication all the same; only the silence tells."""
    access, reports, stored = tmp_path / "access", list[str](), list[FeedMessage]()
    # Whoever it is may read all, and write beside the commands only.
    access.write_text(f"topic read wheel/#\ntopic write {ROOT}/+\n")
    with Mosquitto(tmp_path, f"acl_file {access}") as broker:
        async with daemon(broker.port, tmp_path) as running:
            for _ in range(3):
                await running.say("result")  # nobody hears these
            await depth_is(running, 3)
            await running.connection.connected()
            async with asyncio.timeout(PATIENCE_S):
                while running.outbox.counters["published"] < 3:  # noqa: ASYNC110  it tells nobody
                    await asyncio.sleep(0.02)
            async with feed_of(broker.port, stored, reports.append) as feed:
                async with asyncio.timeout(PATIENCE_S):
                    while not any(line.startswith("no answer to resend from seq 1") for line in reports):  # noqa: ASYNC110
                        await asyncio.sleep(0.02)
                assert stored == []
                access.write_text(
                    f"topic read wheel/#\ntopic write {ROOT}/+\ntopic write {ROOT}/cmd/settlement/resend\n"
                )
                broker.reload()
                assert await settle(feed, stored, 3) == []
                check(stored, running.wheel)


async def test_a_dishonest_broker(tmp_path: Path) -> None:
    """Between two brokers, with a fifth of all that the wheel says."""
    total, stored, rng = 90, list[FeedMessage](), random.Random("lies")
    middle = DishonestBroker(rng, 0.2, MISUSES)
    with Mosquitto(tmp_path) as near, Mosquitto(tmp_path) as far:
        async with (
            daemon(near.port, tmp_path) as running,
            relaying(near.port, far.port, middle),
            feed_of(far.port, stored) as feed,
        ):
            settling = asyncio.create_task(settle(feed, stored, total))
            for n in range(total):
                await running.say(TOPICS[n % 3])
                await asyncio.sleep(0.01)
            refused = await settling
            check(stored, running.wheel)
            middle.honest()
            await depth_is(running, 0)
    assert middle.played.total() > 15
    assert {error.fault for error in refused} & {"edited", "conflict", "malformed"}


@asynccontextmanager
async def relaying(near: int, far: int, middle: DishonestBroker) -> AsyncIterator[None]:
    async with aiomqtt.Client("127.0.0.1", near) as wheel, aiomqtt.Client("127.0.0.1", far) as house:
        await wheel.subscribe([(f"{ROOT}/{leaf}", 1) for leaf in (*TOPICS, "reply")])
        await house.subscribe([(f"{ROOT}/{leaf}", 1) for leaf in ("ack", "cmd/settlement/resend")])
        tasks = [asyncio.create_task(_lie(wheel, house, middle)), asyncio.create_task(_carry(house, wheel))]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task


async def _lie(here: aiomqtt.Client, there: aiomqtt.Client, middle: DishonestBroker) -> None:
    async for message in here.messages:
        leaf = message.topic.value.removeprefix(f"{ROOT}/")
        for arrived, payload in middle.through([(leaf, bytes(message.payload))]):
            await there.publish(f"{ROOT}/{arrived}", payload, qos=1)


async def _carry(here: aiomqtt.Client, there: aiomqtt.Client) -> None:
    async for message in here.messages:
        await there.publish(message.topic.value, message.payload, qos=1)
