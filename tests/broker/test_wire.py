"""Journal, outbox and intake over a real mosquitto: killed in mid stream, acks, commands and their answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiomqtt
import msgspec
import pytest
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from tests.broker.feed import Feed
from tests.broker.mqtt_bench import (
    PATIENCE_S,
    ROOT,
    Observer,
    RetryClock,
    connecting,
    observing,
    settings,
)
from tests.broker.world import queued_intake, working
from tests.journal.journals import OWNER
from tests.mosquitto import Mosquitto
from wheeld.broker.mqtt import MqttConnection
from wheeld.broker.outbox import Outbox
from wheeld.journal.journal import Journal
from wheeld.service.host_clock import SystemClock


class Daemon:
    """Journal, connection, outbox and intake, composed as the daemon does."""

    def __init__(self, journal: Journal, connection: MqttConnection, clock: RetryClock, *, ack: bool) -> None:
        self.journal = journal
        self.connection = connection
        self.clock = clock
        self.feed = Feed()
        self.outbox = Outbox(store=journal, publisher=connection, clock=clock, root=ROOT, settlement_ack=ack)
        self.intake, self.requests = queued_intake(journal, self.outbox, root=ROOT, clock=SystemClock())


@asynccontextmanager
async def daemon(port: int, path: Path, *, ack: bool = False, **more: Any) -> AsyncIterator[Daemon]:
    journal = await Journal.open(path, OWNER, at_utc_us=1)
    async with connecting(settings(port, **more)) as (connection, clock):
        running = Daemon(journal, connection, clock, ack=ack)
        try:
            async with working(running.outbox.run(), running.intake.run(connection.inbox)):
                yield running
        finally:
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
            await observer.send("cmd/chef-3/dance", command("after the acks"))
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
            await observer.send("cmd/chef-3/dance", command("and again"))
            reply = await observer.until("reply", id="and again")
            assert [message.topic.value for message in observer.seen].count(ROOT + "result") == 25
            assert not msgspec.json.decode(reply.payload)["done"]
        assert running.outbox.counters["acks_refused"] == 1
        assert await running.journal.settle(40) == 0


@pytest.mark.parametrize("retain", [False, True])
async def test_no_property_keeps_a_command_from_being_read(tmp_path: Path, broker: Mosquitto, *, retain: bool) -> None:
    """MQTT allows U+FEFF. A reader that ends the connection over it meets it again in the next one."""
    strange = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
    strange.UserProperty = ("x", "\ufeff")
    strange.ContentType = "\ufeff"
    strange.ResponseTopic = "reply/campione/3/\ufeff"
    strange.CorrelationData = b"\x01"
    async with (
        observing(broker, topics=ROOT + "reply") as observer,  # it reads by paho, so it must not see what was sent
        daemon(broker.port, tmp_path / "j") as running,
    ):
        await running.connection.connected()
        await observer.send("cmd/chef-3/dance", command("strange"), properties=strange, retain=retain)
        await observer.send("cmd/chef-3/dance", command("after"))
        reply = await observer.until("reply", id="strange")
        assert getattr(reply.properties, "CorrelationData", None) == b"\x01"
        await observer.until("reply", id="after")
        assert running.connection.counters["connections"] == 1


async def test_commands_over_the_wire(tmp_path: Path, broker: Mosquitto) -> None:
    async with observing(broker) as observer:
        await observer.send("cmd/chef-3/open", command("old"), retain=True)
        async with daemon(broker.port, tmp_path / "j") as running:
            stale = msgspec.json.decode((await observer.until("reply")).payload)
            assert (stale["id"], stale["done"]) == ("old", False)
            assert "retain" in stale["why"]
            await observer.send("cmd/chef-3/close", command("live"), retain=True)
            live = msgspec.json.decode((await observer.until("reply", id="live")).payload)
            assert "retain" in live["why"]
            answer_here = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
            answer_here.ResponseTopic = "reply/campione/3/desk-7"
            answer_here.CorrelationData = b"\x01\x02"
            await observer.send("cmd/chef-3/dance", command("wild"), properties=answer_here)
            copy = await observer.until("/reply/campione/3/desk-7", id="wild")
            assert getattr(copy.properties, "CorrelationData", None) == b"\x01\x02"
            await observer.send("cmd/chef-3/open", command("meant", coup=3))
            asked = await asyncio.wait_for(running.requests.get(), PATIENCE_S)
            assert (asked.name, asked.id, asked.by, asked.coup) == ("open", "meant", "chef", 3)
            assert running.requests.empty()
            replies = [message for message in observer.seen if message.topic.value == ROOT + "reply"]
            assert len(replies) == 3
