"""`systemd/mosquitto/bridge.conf`, as it ships but for paths and address: two real brokers, and what goes between."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import aiomqtt
import pytest

from tests.mosquitto import Mosquitto
from tests.security.authority import Authority, strict
from wheeld.broker.roles import BY_NAME

SAMPLE = (Path(__file__).parents[2] / "systemd" / "mosquitto" / "bridge.conf").read_text()
ROOT = "wheel/v1/campione/campione-03"
OTHER = "wheel/v1/campione/campione-04"
STATE = "bridge/cabinet-1"
PATIENCE_S = 40.0


class House(NamedTuple):
    """The broker of the cabinet, with the bridge, and two of the house that know nothing of each other. The bridge
    stays at one until that fails; it begins at the first."""

    cabinet: Mosquitto
    cluster: Mosquitto
    other: Mosquitto
    authority: Authority


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    authority = Authority(tmp_path)
    own = authority.issue("cluster", server=True)

    def far(name: str) -> Mosquitto:
        (tmp_path / name).mkdir()
        keeping = ("persistence true", f"persistence_location {tmp_path / name}/", "max_queued_messages 10000")
        return strict(tmp_path / name, own, *keeping)

    cluster, other = far("cluster"), far("other")
    authority.issue("cabinet-1")
    text = SAMPLE.replace("/etc/mosquitto/certs/", f"{tmp_path}/").replace(
        "cluster.casino.example:8883", f"127.0.0.1:{cluster.port} 127.0.0.1:{other.port}\nround_robin true"
    )
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    with cluster, other, Mosquitto(tmp_path, "max_queued_messages 10000", *lines) as cabinet:
        yield House(cabinet, cluster, other, authority)


class Listener:
    """What one client got, in its order."""

    def __init__(self, client: aiomqtt.Client) -> None:
        self.client = client
        self.received: list[tuple[str, bytes, bool]] = []

    async def until(self, topic: str, payload: bytes) -> None:
        """Return when this has come."""
        async with asyncio.timeout(PATIENCE_S):
            async for message in self.client.messages:
                assert isinstance(message.payload, bytes)
                self.received.append((message.topic.value, message.payload, bool(message.retain)))
                if self.received[-1][:2] == (topic, payload):
                    return

    def of(self, topic: str) -> list[bytes]:
        return [payload for name, payload, _ in self.received if name == topic]


@asynccontextmanager
async def at_cluster(house: House, name: str, broker: Mosquitto | None = None) -> AsyncIterator[Listener]:
    """A subscriber of the house with a session, as a settlement system has one."""
    context, port = house.authority.issue(name).context(), (broker or house.cluster).port
    with suppress(aiomqtt.MqttError):  # a broker that has gone does not answer the disconnect
        async with aiomqtt.Client(
            "127.0.0.1", port, tls_context=context, identifier=name, clean_session=False
        ) as client:
            await client.subscribe([("wheel/#", 1), ("reply/#", 1), (STATE, 1)])
            yield Listener(client)


@asynccontextmanager
async def in_cabinet(house: House) -> AsyncIterator[Listener]:
    """The wheel's own connection."""
    async with aiomqtt.Client("127.0.0.1", house.cabinet.port) as client:
        await client.subscribe([(f"{ROOT}/cmd/+/+", 1), (f"{ROOT}/ack", 1), (f"{OTHER}/cmd/+/+", 1), ("end", 1)])
        yield Listener(client)


def numbered(first: int, last: int) -> list[bytes]:
    return [json.dumps({"seq": seq}).encode() for seq in range(first, last + 1)]


async def test_what_a_wheel_publishes_arrives_once_in_its_order(house: House) -> None:
    async with at_cluster(house, "settlement") as eye, in_cabinet(house) as wheel:
        await eye.until(STATE, b"1")
        for payload in numbered(1, 50):
            await wheel.client.publish(f"{ROOT}/result", payload, qos=1)
        await wheel.client.publish(f"{OTHER}/result", b"of a table that is not named", qos=1)
        await wheel.client.publish("reply/campione/campione-03/panel/7", b"an answer", qos=1)
        await wheel.client.publish(f"{ROOT}/table", b"the state", qos=1, retain=True)
        await eye.until(f"{ROOT}/table", b"the state")
        assert eye.of(f"{ROOT}/result") == numbered(1, 50)
        assert eye.of("reply/campione/campione-03/panel/7") == [b"an answer"]
        assert eye.of(f"{OTHER}/result") == []
    async with at_cluster(house, "direction") as late:
        await late.until(f"{ROOT}/table", b"the state")
        assert (f"{ROOT}/table", b"the state", True) in late.received, "it is retained there, too"


async def test_commands_and_acks_of_this_table_come_down_once_and_do_not_go_round(house: House) -> None:
    async with at_cluster(house, "settlement") as eye, in_cabinet(house) as wheel:
        await eye.until(STATE, b"1")
        await eye.client.publish(f"{OTHER}/cmd/chef-campione-04/open", b"another table's", qos=1)
        await eye.client.publish(f"{ROOT}/cmd/chef-campione-03/rien_va", b"a word", qos=1)
        await eye.client.publish(f"{ROOT}/ack", b"41", qos=1, retain=True)
        await wheel.until(f"{ROOT}/ack", b"41")
        await wheel.client.publish(f"{ROOT}/table", b"the end", qos=1)
        await eye.until(f"{ROOT}/table", b"the end")
        await wheel.client.publish("end", b"", qos=1)
        await wheel.until("end", b"")
        assert [(topic, payload) for topic, payload, _ in wheel.received] == [
            (f"{ROOT}/cmd/chef-campione-03/rien_va", b"a word"),
            (f"{ROOT}/ack", b"41"),
            ("end", b""),
        ]
        assert (eye.of(f"{ROOT}/ack"), eye.of(f"{ROOT}/cmd/chef-campione-03/rien_va")) == ([b"41"], [b"a word"])
    async with in_cabinet(house) as restarted:
        await restarted.until(f"{ROOT}/ack", b"41")
        assert restarted.received == [(f"{ROOT}/ack", b"41", True)], "it is retained here, too"


async def test_nothing_is_lost_while_the_cluster_is_away(house: House) -> None:
    """At least once, as docs/interfaces.md promises: what comes twice is known by its number."""
    house.other.stop()
    async with in_cabinet(house) as wheel:
        async with at_cluster(house, "settlement") as eye:
            await eye.until(STATE, b"1")
            for payload in numbered(1, 20):
                await wheel.client.publish(f"{ROOT}/result", payload, qos=1)
            await eye.until(f"{ROOT}/result", numbered(20, 20)[0])
            house.cluster.stop()
        for payload in numbered(21, 220):
            await wheel.client.publish(f"{ROOT}/result", payload, qos=1)
        house.cluster.start()
        async with at_cluster(house, "settlement") as back:
            await back.until(f"{ROOT}/result", numbered(220, 220)[0])
            await back.client.publish(f"{ROOT}/cmd/settlement/resend", b"a word", qos=1)
            await wheel.until(f"{ROOT}/cmd/settlement/resend", b"a word")
        together = [*eye.of(f"{ROOT}/result"), *back.of(f"{ROOT}/result")]
        assert list(dict.fromkeys(together)) == numbered(1, 220)


async def test_no_broker_that_the_bridge_left_keeps_a_command_for_it(house: House) -> None:
    """The bridge goes to the other broker and comes back. What a chef said at the former one meanwhile acts on nothing;
    no result is lost, and the ack that is retained there comes."""
    stale, fresh = f"{ROOT}/cmd/chef-campione-03/rien_va", f"{ROOT}/cmd/chef-campione-03/open"
    seen = list[bytes]()
    async with in_cabinet(house) as wheel:

        async def results(first: int, broker: Mosquitto) -> None:
            """Until the last of a hundred has come where the bridge is."""
            async with at_cluster(house, "settlement", broker) as eye:
                for payload in numbered(first, first + 99):
                    await wheel.client.publish(f"{ROOT}/result", payload, qos=1)
                await eye.until(f"{ROOT}/result", numbered(first + 99, first + 99)[0])
                seen.extend(eye.of(f"{ROOT}/result"))

        async with at_cluster(house, "direction") as eye:
            await eye.until(STATE, b"1")
        await results(1, house.cluster)
        house.cluster.stop()
        await results(101, house.other)
        house.cluster.start()
        async with at_cluster(house, "chef") as chef:
            await chef.client.publish(stale, b"of an earlier coup", qos=1)
            await chef.client.publish(f"{ROOT}/ack", b"200", qos=1, retain=True)
            house.other.stop()
            await wheel.until(f"{ROOT}/ack", b"200")
            await chef.client.publish(fresh, b"of this coup", qos=1)
            await wheel.until(fresh, b"of this coup")
        await results(201, house.cluster)
    assert wheel.of(stale) == []
    assert list(dict.fromkeys(seen)) == numbered(1, 300)


def test_the_sample_has_every_topic_of_the_roles() -> None:
    wheel = BY_NAME["wheel"]
    out = {f"{ROOT}/{leaf}" for leaf in wheel.publishes if leaf != "response"} | {"reply/campione/campione-03/#"}
    assert set(re.findall(r"^topic (\S+) out 1$", SAMPLE, re.MULTILINE)) == out
    assert set(re.findall(r"^topic (\S+) in 1$", SAMPLE, re.MULTILINE)) == {f"{ROOT}/cmd/+/+", f"{ROOT}/ack"}
    assert len(re.findall(r"^topic ", SAMPLE, re.MULTILINE)) == len(out) + 2
