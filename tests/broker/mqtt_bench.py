"""A connection to a real broker whose retries the test controls, and another client that looks on."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiomqtt
import msgspec

from tests.broker.world import access_of
from tests.mosquitto import Mosquitto
from wheeld.broker.mqtt import MqttConnection
from wheeld.broker.settings import MqttSettings
from wheeld.service.host_clock import SystemClock

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
async def connecting(wanted: MqttSettings, *, root: str = ROOT) -> AsyncIterator[tuple[MqttConnection, RetryClock]]:
    clock = RetryClock()
    connection = MqttConnection(
        wanted, access=access_of(root), online=ONLINE, offline=OFFLINE, clock=clock, rng=random.Random(1)
    )
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
async def observing(broker: Mosquitto, *, topics: str = "#", **more: Any) -> AsyncIterator[Observer]:
    async with aiomqtt.Client("127.0.0.1", broker.port, protocol=aiomqtt.ProtocolVersion.V5, **more) as client:
        await client.subscribe(topics, qos=1)
        yield Observer(client)
