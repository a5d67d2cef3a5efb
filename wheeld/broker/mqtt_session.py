"""One connection to the broker, used once: it subscribes, publishes `online`, publishes, takes its leave."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from enum import Enum
from typing import Any

import aiomqtt
import msgspec
import structlog
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from wheeld.broker.mqtt_client import MqttClient
from wheeld.ports import ConnectionLostError, Publication, PublishRefusedError

SUBSCRIBED = ("ack", "cmd/+/+")
"""The topics below the root to which a session subscribes."""

FAREWELL_S = 1.0
"""How long a stopping daemon waits for the broker to take its `offline`."""


class EndKind(Enum):
    """Why a session ended."""

    LOST = "lost"
    """The connection broke, or the broker did not confirm a publication."""
    RENEWED = "renewed"
    """Our TLS files were renewed: connect with the new ones at once."""
    STOPPED = "stopped"
    """The daemon stops."""


class End(msgspec.Struct, frozen=True):
    """Why a session ended, as a kind and in words."""

    kind: EndKind
    why: str


class MqttSession:
    """Connection `number`, over `client`, to the topics below `root`. It may be used until `over` is done.

    `counters` is where it counts publications that were not confirmed ("timeouts").
    """

    def __init__(
        self, number: int, client: MqttClient, *, root: str, is_mqtt_5: bool, counters: dict[str, int]
    ) -> None:
        self.number = number
        self.client = client
        self._counters = counters
        self.over: asyncio.Future[End] = asyncio.get_running_loop().create_future()
        self._root = root
        self._is_mqtt_5 = is_mqtt_5
        # One QoS 1 publication at a time: they keep their order, and a refusal belongs to the one that waits.
        self._turn = asyncio.Lock()
        self._log = structlog.get_logger("mqtt")

    def end(self, kind: EndKind, why: str) -> None:
        """The session is over; the first reason counts."""
        if not self.over.done():
            self.over.set_result(End(kind, why))

    async def greet(self, online: bytes) -> None:
        """Subscribe, then publish `online`: who reads it may send commands. Raises MqttError."""
        await self.subscribe()
        topic = self._root + "availability"
        await self.client.publish(topic, online, qos=1, retain=True)
        if self.client.refusal is not None:
            why = "the broker's access list does not let us publish it: is this certificate or user for this table?"
            self._log.error("availability.refused", topic=topic, answer=self.client.refusal, why=why)

    async def subscribe(self) -> None:
        """Subscribe to commands and acknowledgements, and log what the broker refuses. Raises MqttError."""
        if self._is_mqtt_5:
            # Retain as published: a retained command is then recognised as one even while we are connected.
            options = SubscribeOptions(qos=1, retainAsPublished=True)
            granted = await self.client.subscribe([(self._root + leaf, options) for leaf in SUBSCRIBED])
        else:
            granted = await self.client.subscribe([(self._root + leaf, 1) for leaf in SUBSCRIBED])
        for leaf, code in zip(SUBSCRIBED, granted, strict=True):
            if isinstance(code, ReasonCode) and code.is_failure:
                why = "the broker's access list does not let us receive it; allow it and restart the connection"
                self._log.error("subscription.refused", topic=self._root + leaf, answer=str(code), why=why)

    async def attend(self) -> None:
        """Return when the connection has broken, which ends the session."""
        await asyncio.wait({self.client.gone})
        self.end(EndKind.LOST, f"disconnected: {self.client.gone.exception()}")

    async def publish(self, publication: Publication) -> None:
        """Return when the broker has it (QoS 1: confirmed); raises ConnectionLostError or PublishRefusedError."""
        if publication.qos == 0:
            await self._send(publication)
            return
        async with self._turn:
            self.client.refusal = None
            await self._send(publication)
            if self.client.refusal is not None:
                raise PublishRefusedError(f"the broker refuses {publication.topic}: {self.client.refusal}")

    async def catch_up(self, online: bytes) -> None:
        """Return when all is in the inbox that the broker had sent before it was asked: what it answers comes behind
        that. Raises ConnectionLostError."""
        topic = self._root + "availability"
        with suppress(PublishRefusedError):
            await self.publish(Publication(topic=topic, payload=online, retain=True))

    async def farewell(self, offline: bytes) -> None:
        """Publish `offline`: after an orderly disconnection the broker does not publish the last will."""
        with suppress(aiomqtt.MqttError):
            topic = self._root + "availability"
            await self.client.publish(topic, offline, qos=1, retain=True, timeout=FAREWELL_S)

    async def _send(self, publication: Publication) -> None:
        sending = asyncio.create_task(self._hand_over(publication), name="mqtt-publish")
        try:
            ends: set[asyncio.Future[Any]] = {sending, self.over}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if not sending.done():
                why = f"the connection ended before the broker confirmed: {self.over.result().why}"
                raise ConnectionLostError(why)
            sending.result()
        except (aiomqtt.MqttError, OSError, ValueError) as error:
            # A broker that takes and does not confirm is of no use: a new connection, and everything owed again. The
            # library also lets through the event loop's error about a socket that has just been closed.
            self._counters["timeouts"] += 1
            self.end(EndKind.LOST, f"no confirmation of a publication: {error}")
            raise ConnectionLostError(str(error)) from error
        finally:
            sending.cancel()

    async def _hand_over(self, publication: Publication) -> None:
        properties = None
        if publication.correlation is not None and self._is_mqtt_5:
            properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
            properties.CorrelationData = publication.correlation
        await self.client.publish(
            publication.topic,
            publication.payload,
            qos=publication.qos,
            retain=publication.retain,
            properties=properties,
        )
