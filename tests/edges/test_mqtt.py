"""The connection to a real mosquitto: late, killed, stalled, refusing; the last will; both versions of the protocol."""

from __future__ import annotations

import asyncio
import gc
import os
import random
import signal
import socket
import subprocess
import sys
import textwrap
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import aiomqtt
import msgspec
import pytest
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from structlog.testing import capture_logs

from tests.broker import Mosquitto, free_port
from tests.edges.feed import Feed
from tests.edges.world import settle
from wheeld.edges.commands import CommandDoor
from wheeld.edges.host_clock import SystemClock
from wheeld.edges.journal import Journal
from wheeld.edges.mqtt import RETRY_FIRST_S, RETRY_MAX_S, STABLE_S, MqttConnection, MqttSettings
from wheeld.edges.outbox import Outbox
from wheeld.ports import ConnectionLostError, Publication, PublishRefusedError

ROOT = "wheel/v1/campione/3/"
ONLINE, OFFLINE = b'{"state":"online"}', b'{"state":"offline"}'
PATIENCE_S = 30.0
"""How long a test waits for a real event before it fails."""
TLS = Path(__file__).parent / "tls"


class RetryClock(SystemClock):
    """The host's clock, but the waits between attempts end when the test says so; `asked` tells of each."""

    def __init__(self) -> None:
        self.asked: asyncio.Queue[float] = asyncio.Queue()
        self.now_ns = 0
        self._go = asyncio.Semaphore(0)

    def monotonic_ns(self) -> int:
        return self.now_ns

    async def sleep(self, seconds: float) -> None:
        self.asked.put_nowait(seconds)
        await self._go.acquire()

    async def waiting(self) -> float:
        """Until the connection waits before its next attempt; returns for how long it would."""
        return await asyncio.wait_for(self.asked.get(), PATIENCE_S)

    def go(self) -> None:
        """End one wait."""
        self._go.release()


def settings(port: int, **more: Any) -> MqttSettings:
    return msgspec.structs.replace(MqttSettings(host="127.0.0.1", client_id="wheeld-3", port=port), **more)


@asynccontextmanager
async def connecting(wanted: MqttSettings) -> AsyncIterator[tuple[MqttConnection, RetryClock]]:
    clock = RetryClock()
    connection = MqttConnection(wanted, root=ROOT, online=ONLINE, offline=OFFLINE, clock=clock, rng=random.Random(1))
    task = asyncio.create_task(connection.run())
    try:
        yield connection, clock
        assert not task.done(), task
    finally:
        task.cancel()
        await asyncio.wait({task}, timeout=PATIENCE_S)


async def session_of(connection: MqttConnection) -> int:
    return await asyncio.wait_for(connection.connected(), PATIENCE_S)


class Observer:
    """Another client of the same broker: sees everything below the root, and publishes."""

    def __init__(self, client: aiomqtt.Client) -> None:
        self.client = client
        self.seen: list[aiomqtt.Message] = []

    async def until(self, leaf: str, **wanted: object) -> aiomqtt.Message:
        """The next message on this leaf (a whole topic when it begins with /) whose payload has these members."""
        topic = leaf[1:] if leaf.startswith("/") else ROOT + leaf
        async with asyncio.timeout(PATIENCE_S):
            while True:
                message = await anext(aiter(self.client.messages))
                self.seen.append(message)
                if message.topic.value == topic and wanted.items() <= msgspec.json.decode(message.payload).items():
                    return message

    async def send(self, leaf: str, payload: object, **more: Any) -> None:
        await self.client.publish(ROOT + leaf, msgspec.json.encode(payload), qos=1, **more)


@asynccontextmanager
async def observing(broker: Mosquitto, **more: Any) -> AsyncIterator[Observer]:
    async with aiomqtt.Client("127.0.0.1", broker.port, protocol=aiomqtt.ProtocolVersion.V5, **more) as client:
        await client.subscribe("#", qos=1)
        yield Observer(client)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    with Mosquitto(tmp_path) as running:
        yield running


# --- connecting --------------------------------------------------------------------------------------------------


async def test_a_broker_that_comes_later(tmp_path: Path) -> None:
    broker = Mosquitto(tmp_path)
    with capture_logs() as logs:
        async with connecting(settings(broker.port)) as (connection, clock):
            for _ in range(3):
                await clock.waiting()
                clock.go()
            await clock.waiting()
            assert connection.counters["connections"] == 0
            with broker:
                clock.go()
                assert await session_of(connection) == 1
                assert connection.is_connected
                async with observing(broker) as observer:
                    message = await observer.until("availability")
                    assert (message.payload, message.retain) == (ONLINE, True)
    told = [log["event"] for log in logs]
    assert told == ["broker.unreachable", "broker.connected"]
    assert "refused" in logs[0]["why"]
    assert connection.counters["failures"] == 4


async def test_waits_grow_to_a_ceiling_and_start_again_after_a_stable_connection(tmp_path: Path) -> None:
    broker = Mosquitto(tmp_path)
    async with connecting(settings(broker.port)) as (connection, clock):
        waits = []
        for _ in range(12):
            waits.append(await clock.waiting())
            clock.go()
        for failures, wait_s in enumerate(waits, 1):
            ceiling = min(RETRY_MAX_S, RETRY_FIRST_S * 2**failures)
            assert ceiling / 2 <= wait_s <= ceiling, (failures, waits)
        assert len(set(waits)) == 12
        await clock.waiting()
        broker.start()
        clock.go()
        await session_of(connection)
        broker.kill()
        assert await clock.waiting() > RETRY_MAX_S / 2 - 1  # it hardly lasted
        broker.start()
        clock.go()
        await session_of(connection)
        clock.now_ns += round((STABLE_S + 1) * 1e9)
        broker.kill()
        assert await clock.waiting() <= RETRY_FIRST_S


async def test_a_host_that_answers_the_door_and_never_speaks() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, capture_logs() as logs:
        port = server.getsockname()[1]
        async with connecting(settings(port, publish_timeout_s=0.2)) as (_, clock):
            await clock.waiting()
            server.accept()[0].close()
            clock.go()
            server.setblocking(False)
            connection, _ = await asyncio.wait_for(asyncio.get_running_loop().sock_accept(server), PATIENCE_S)
        connection.close()  # it was stopped in the middle of a connection that never became one
    assert [log["event"] for log in logs] == ["broker.unreachable"]


async def test_a_stop_while_the_connection_is_being_made(broker: Mosquitto) -> None:
    """Cancelled at whatever point: the half connection must end, and end without a will."""
    for turns in range(0, 40, 3):
        async with connecting(settings(broker.port)):
            for _ in range(turns):
                await asyncio.sleep(0)
    async with observing(broker) as observer, connecting(settings(broker.port)):
        await observer.until("availability", state="online")


@pytest.mark.parametrize("protocol", ["5", "3.1.1"])
async def test_password_file_read_at_each_attempt(tmp_path: Path, protocol: str) -> None:
    passwords, ours = tmp_path / "passwords", tmp_path / "ours"
    passwords.write_text("wheel:good\n")
    tool = ["mosquitto_passwd", "-U", str(passwords)]
    subprocess.run(tool, check=True)  # noqa: ASYNC221
    passwords.chmod(0o644)
    with Mosquitto(tmp_path, f"password_file {passwords}", "allow_anonymous false") as broker:
        wanted = settings(broker.port, username="wheel", password_file=ours, protocol=protocol)
        with capture_logs() as logs:
            async with connecting(wanted) as (connection, clock):
                await clock.waiting()
                ours.write_text("bad\n")
                clock.go()
                await clock.waiting()
                ours.write_text("good\n")
                clock.go()
                await session_of(connection)
    assert [log["event"] for log in logs] == ["broker.unreachable", "broker.unreachable", "broker.connected"]
    assert "ours" in logs[0]["why"]
    assert "authori" in logs[1]["why"].lower(), logs[1]


async def test_tls(tmp_path: Path) -> None:
    port = free_port()
    certificate = [f"certfile {TLS / 'localhost.crt'}", f"keyfile {TLS / 'localhost.key'}"]
    with Mosquitto(tmp_path, f"listener {port} 127.0.0.1", *certificate) as broker:
        async with connecting(settings(port, ca_file=TLS / "localhost.crt")) as (connection, _):
            await session_of(connection)
            async with observing(broker) as observer:
                await observer.until("availability", state="online")
        with capture_logs() as logs:
            async with connecting(settings(port, ca_file=TLS / "none.crt")) as (_, clock):
                await clock.waiting()
            async with connecting(settings(broker.port, ca_file=TLS / "localhost.crt")) as (_, clock):
                await clock.waiting()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ResourceWarning)
                gc.collect()  # the library leaves the socket of a failed handshake to the collector
        assert len(logs) == 2
        assert all(log["event"] == "broker.unreachable" for log in logs)


# --- publishing --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", ["5", "3.1.1"])
async def test_publishes_and_receives(broker: Mosquitto, protocol: str) -> None:
    async with (
        observing(broker) as observer,
        connecting(settings(broker.port, protocol=protocol)) as (connection, _),
    ):
        session = await session_of(connection)
        for qos in (0, 1):
            publication = Publication(topic=ROOT + "result", payload=b'{"qos":%d}' % qos, qos=qos, correlation=b"\x07")
            await connection.publish(publication, session=session)
        first = await observer.until("result", qos=0)
        second = await observer.until("result", qos=1)
        assert (first.qos, second.qos) == (0, 1)
        assert getattr(second.properties, "CorrelationData", None) == (b"\x07" if protocol == "5" else None)
        await observer.send("cmd/open", {"id": "1"})
        await observer.send("ack", {"seq": 4})
        arrived = [await asyncio.wait_for(connection.inbox.get(), PATIENCE_S) for _ in range(2)]
        assert [(incoming.leaf, incoming.retained) for incoming in arrived] == [("cmd/open", False), ("ack", False)]
        assert msgspec.json.decode(arrived[1].payload) == {"seq": 4}


async def test_another_session_is_refused(broker: Mosquitto) -> None:
    async with connecting(settings(broker.port)) as (connection, _):
        publication = Publication(topic=ROOT + "result", payload=b"{}")
        with pytest.raises(ConnectionLostError):
            await connection.publish(publication, session=1)
        session = await session_of(connection)
        with pytest.raises(ConnectionLostError):
            await connection.publish(publication, session=session + 1)
        await connection.publish(publication, session=session)
        await asyncio.wait_for(connection.lost(session - 1), PATIENCE_S)


async def test_a_broker_killed_while_it_should_confirm(broker: Mosquitto) -> None:
    """The wait for the confirmation ends with the connection, long before its time-out."""
    async with connecting(settings(broker.port, publish_timeout_s=600.0, keepalive_s=600)) as (connection, clock):
        session = await session_of(connection)
        broker.pause()
        publishing = asyncio.create_task(
            connection.publish(Publication(topic=ROOT + "result", payload=b"{}"), session=session)
        )
        waiting = asyncio.create_task(connection.lost(session))
        await asyncio.sleep(0)
        broker.kill()
        with pytest.raises(ConnectionLostError, match="ended before"):
            await asyncio.wait_for(publishing, PATIENCE_S)
        await asyncio.wait_for(waiting, PATIENCE_S)
        await clock.waiting()
        assert not connection.is_connected


async def test_a_broker_that_takes_and_does_not_confirm(broker: Mosquitto) -> None:
    async with connecting(settings(broker.port)) as (connection, clock):
        session = await session_of(connection)
        assert connection._session is not None
        connection._session.client.timeout = 0.1  # connecting may take longer on a loaded machine
        broker.pause()
        publication = Publication(topic=ROOT + "result", payload=b"{}")
        with capture_logs() as logs:
            with pytest.raises(ConnectionLostError, match="timed out"):
                await connection.publish(publication, session=session)
            await clock.waiting()
        assert "no confirmation" in logs[0]["why"]
        assert connection.counters["timeouts"] == 1
        broker.resume()
        clock.go()
        again = await session_of(connection)
        await connection.publish(publication, session=again)
        assert again == session + 1


async def test_a_publication_that_the_access_list_refuses(tmp_path: Path) -> None:
    """MQTT 5 tells it in the confirmation; to take that for a success would lose the message."""
    access = tmp_path / "access"
    access.write_text(f"topic readwrite {ROOT}availability\ntopic readwrite {ROOT}table\n")
    access.chmod(0o644)
    with Mosquitto(tmp_path, f"acl_file {access}") as broker:
        async with connecting(settings(broker.port)) as (connection, _):
            session = await session_of(connection)
            refused = Publication(topic=ROOT + "result", payload=b"{}")
            accepted = Publication(topic=ROOT + "table", payload=b"{}")
            outcomes = await asyncio.gather(
                *(connection.publish(each, session=session) for each in (accepted, refused, accepted)),
                return_exceptions=True,
            )
            assert [type(outcome) for outcome in outcomes] == [type(None), PublishRefusedError, type(None)]
            assert "result: Not authorized" in str(outcomes[1])


async def test_a_refused_subscription_is_told(broker: Mosquitto) -> None:
    """mosquitto's own access lists accept every subscription; other brokers' do not."""

    class Refusing:
        async def subscribe(self, topics: object) -> list[ReasonCode]:
            return [
                ReasonCode(PacketTypes.SUBACK, aName="Not authorized"),
                ReasonCode(PacketTypes.SUBACK, aName="Granted QoS 1"),
            ]

    async with connecting(settings(broker.port)) as (connection, _):
        await session_of(connection)
        with capture_logs() as logs:
            await connection._subscribe(cast("Any", Refusing()))
    assert [(log["event"], log["topic"]) for log in logs] == [("subscription.refused", ROOT + "ack")]


async def test_a_flood_is_dropped_and_counted(broker: Mosquitto) -> None:
    async with observing(broker) as observer, connecting(settings(broker.port)) as (connection, _):
        connection.inbox = asyncio.Queue(2)
        await session_of(connection)
        with capture_logs() as logs:
            for number in range(3):
                await observer.send("cmd/open", {"number": number})
            await observer.until("cmd/open", number=2)
            session = await session_of(connection)
            # Its confirmation comes after what the broker sent before.
            await connection.publish(Publication(topic=ROOT + "x", payload=b""), session=session)
            await settle()
        assert connection.counters["dropped"] == len(logs) == 1
        assert [connection.inbox.get_nowait().payload for _ in range(2)] == [b'{"number":0}', b'{"number":1}']


# --- being there, and not ----------------------------------------------------------------------------------------


async def test_an_orderly_stop_says_offline(broker: Mosquitto) -> None:
    async with observing(broker) as observer:
        async with connecting(settings(broker.port)) as (connection, _):
            await session_of(connection)
            await observer.until("availability", state="online")
        message = await observer.until("availability", state="offline")
        assert message.payload == OFFLINE
    async with observing(broker) as late:
        assert (await late.until("availability")).payload == OFFLINE


async def test_the_last_will_of_a_killed_daemon(broker: Mosquitto) -> None:
    program = textwrap.dedent(
        f"""
        import asyncio, random
        from wheeld.edges.host_clock import SystemClock
        from wheeld.edges.mqtt import MqttConnection, MqttSettings
        async def main():
            settings = MqttSettings(host="127.0.0.1", port={broker.port}, client_id="doomed")
            await MqttConnection(settings, root={ROOT!r}, online={ONLINE!r}, offline={OFFLINE!r},
                                 clock=SystemClock(), rng=random.Random()).run()
        asyncio.run(main())
        """
    )
    async with observing(broker) as observer:
        child = subprocess.Popen([sys.executable, "-c", program])  # noqa: ASYNC220
        try:
            await observer.until("availability", state="online")
        finally:
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
        await observer.until("availability", state="offline")


# --- with the journal, the outbox and the commands ---------------------------------------------------------------


class Daemon:
    """Journal, connection, outbox and door, composed as the daemon does."""

    def __init__(self, journal: Journal, connection: MqttConnection, clock: RetryClock, *, ack: bool) -> None:
        self.journal = journal
        self.connection = connection
        self.clock = clock
        self.feed = Feed()
        self.outbox = Outbox(store=journal, publisher=connection, clock=clock, root=ROOT, settlement_ack=ack)
        self.door = CommandDoor(journal=journal, outbox=self.outbox, root=ROOT, utc_us=clock.utc_us)


@asynccontextmanager
async def daemon(port: int, path: Path, *, ack: bool = False, **more: Any) -> AsyncIterator[Daemon]:
    journal = await Journal.open(path, at_utc_us=1)
    async with connecting(settings(port, **more)) as (connection, clock):
        running = Daemon(journal, connection, clock, ack=ack)
        tasks = {
            asyncio.create_task(running.outbox.run()),
            asyncio.create_task(running.door.run(connection.inbox)),
        }
        try:
            yield running
            assert not any(task.done() for task in tasks), tasks
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            await journal.close()


def command(command_id: str, **more: object) -> dict[str, object]:
    return {"id": command_id, "by": "chef", "reason": "a test", **more}


async def test_killed_in_mid_stream_nothing_is_lost(tmp_path: Path, broker: Mosquitto) -> None:
    seen: list[aiomqtt.Message] = []
    total = 60
    async with daemon(broker.port, tmp_path / "j") as running:
        async with observing(broker) as observer:
            for _ in range(total // 2):
                await running.journal.append(running.feed.step("table", "notice"), 1)
            await observer.until("table", seq=10)
            broker.kill()
            seen += observer.seen
            with pytest.raises(aiomqtt.MqttError):
                await observer.until("never")
        for _ in range(total // 2):
            await running.journal.append(running.feed.step("table", "result"), 1)
        await running.clock.waiting()
        broker.start()
        async with observing(broker) as observer:
            running.clock.go()
            last = await observer.until("result", seq=running.feed.seq)
            assert not last.retain
            seen += observer.seen
        async with observing(broker) as late:
            retained = await late.until("table")
            assert msgspec.json.decode(retained.payload)["seq"] == running.feed.seq - 1
    stored: dict[int, bytes] = {}
    for message in seen:
        seq = msgspec.json.decode(message.payload).get("seq")
        if seq is not None:
            assert stored.setdefault(seq, message.payload) == message.payload
    # What only the killed broker had confirmed is the settlement ack's business; here the observer saw the rest.
    assert set(range(1, 11)) <= set(stored)
    missing = set(range(1, running.feed.seq + 1)) - set(stored)
    assert all(seq <= total // 2 for seq in missing), missing


async def test_with_settlement_nothing_is_lost_even_by_a_broker_that_forgets(tmp_path: Path, broker: Mosquitto) -> None:
    consumed: set[int] = set()

    def consume(observer: Observer) -> None:
        payloads = (msgspec.json.decode(message.payload) for message in observer.seen)
        consumed.update(payload["seq"] for payload in payloads if "seq" in payload)

    async with daemon(broker.port, tmp_path / "j", ack=True) as running:
        async with observing(broker) as observer:
            await running.journal.append(running.feed.step(*("result",) * 40), 1)
            await observer.until("result", seq=15)
            consume(observer)
            await observer.send("ack", {"seq": 15})
            await observer.send("ack", {"seq": 12})
            await observer.send("ack", {"seq": 1000})
            await observer.send("cmd/dance", command("after the acks"))
            await observer.until("reply", id="after the acks")
            broker.kill()
        await running.clock.waiting()
        broker.start()
        async with observing(broker) as observer:
            running.clock.go()
            await observer.until("result", seq=40)
            consume(observer)
            assert consumed == set(range(1, 41))
            await observer.send("ack", {"seq": 40})
            await observer.send("cmd/dance", command("and again"))
            reply = await observer.until("reply", id="and again")
            assert [message.topic.value for message in observer.seen].count(ROOT + "result") == 25
            assert not msgspec.json.decode(reply.payload)["done"]
        assert running.outbox.counters["acks_refused"] == 1
        assert await running.journal.settle(40) == 0


async def test_commands_over_the_wire(tmp_path: Path, broker: Mosquitto) -> None:
    async with observing(broker) as observer:
        await observer.send("cmd/open", command("old"), retain=True)
        async with daemon(broker.port, tmp_path / "j") as running:
            stale = msgspec.json.decode((await observer.until("reply")).payload)
            assert (stale["id"], stale["done"]) == ("old", False)
            assert "retain" in stale["why"]
            await observer.send("cmd/close", command("live"), retain=True)
            live = msgspec.json.decode((await observer.until("reply", id="live")).payload)
            assert "retain" in live["why"]
            answer_here = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
            answer_here.ResponseTopic = "desk/7"
            answer_here.CorrelationData = b"\x01\x02"
            await observer.send("cmd/dance", command("wild"), properties=answer_here)
            copy = await observer.until("/desk/7", id="wild")
            assert getattr(copy.properties, "CorrelationData", None) == b"\x01\x02"
            await observer.send("cmd/open", command("meant", coup=3))
            asked = await asyncio.wait_for(running.door.requests.get(), PATIENCE_S)
            assert (asked.name, asked.id, asked.by, asked.coup) == ("open", "meant", "chef", 3)
            assert running.door.requests.empty()
            replies = [message for message in observer.seen if message.topic.value == ROOT + "reply"]
            assert len(replies) == 3
