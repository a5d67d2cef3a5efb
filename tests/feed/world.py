"""Virtual time for a whole feed, and a broker in memory in the place of a real one: hours pass in milliseconds."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import mqtt5
import pytest

from tests.feed.broker import DishonestBroker
from tests.feed.wheel import ROOT, Sent, Wheel
from tests.virtual_loop import VirtualLoop
from wheeld.feed import Feed, FeedError, FeedMessage
from wheeld.mqtt.client import Take
from wheeld.mqtt.session import MqttError

TRAVEL_S = 0.01
"""From the wheel to the feed or back."""


def run_virtually(work: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(work)


class World:
    """The wheel, and its broker: an honest one, if it is given no other."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, broker: DishonestBroker | None = None, wheel: Wheel | None = None
    ) -> None:
        self.wheel = wheel or Wheel()
        self.broker = broker
        self.is_up = True
        self.hears = True
        """Whether a question reaches the wheel: an access list that denies it looks like this."""
        self.loses_cancellation = False
        """Once, as wait_for of Python 3.11 does when the result comes at the same moment."""
        self.grants = True
        self.questions: list[dict[str, Any]] = []
        self.acks: list[int] = []
        self.asked_as: list[str] = []
        self.connected = 0
        self._travelling: deque[list[Sent]] = deque()
        self._client: FakeClient | None = None
        monkeypatch.setattr("wheeld.feed.connection.connected", self._connected)

    def say(self, *leaves: str) -> None:
        for leaf in leaves or ("result",):
            self.send([self.wheel.say(leaf)])

    def send(self, sent: list[Sent]) -> None:
        """These, through the broker, a moment later."""
        self.deliver(sent if self.broker is None else self.broker.through(sent))

    def deliver(self, arriving: list[Sent]) -> None:
        """These to the feed, a moment later."""
        self._travelling.append(arriving)
        asyncio.get_running_loop().call_later(
            TRAVEL_S, self._arrive
        )  # timers of one moment have no order: the deque has

    def cut(self) -> None:
        """The connection ends; what is on its way in it is lost."""
        if self._client is not None:
            self._client.end()
            self._client = None

    def published(self, topic: str, payload: bytes) -> None:
        leaf, said = topic.removeprefix(f"{ROOT}/"), json.loads(payload)
        if leaf == "ack":
            self.acks.append(said["seq"])
            return
        kind, user, name = leaf.split("/")
        assert (kind, name) == ("cmd", "resend"), topic
        self.asked_as.append(user)
        self.questions.append(said)
        lies = None if self.broker is None else self.broker.answer(payload)
        if lies is not None:
            self.deliver(lies)
        elif self.hears:
            asyncio.get_running_loop().call_later(TRAVEL_S, lambda: self.send(self.wheel.answer(payload)))

    def _arrive(self) -> None:
        for leaf, payload in self._travelling.popleft():
            if self._client is not None:
                self._client.take(mqtt5.PublishPacket(f"{ROOT}/{leaf}", payload))

    @asynccontextmanager
    async def _connected(self, *_: Any, take: Take, **__: Any) -> AsyncIterator[FakeClient]:
        await asyncio.sleep(TRAVEL_S)
        client = FakeClient(self, take)
        self.attach(client)
        try:
            yield client
        finally:
            client.end()

    def attach(self, client: FakeClient) -> None:
        if not self.is_up:
            raise MqttError("connection refused")
        self.connected += 1
        self._client = client


class FakeClient:
    """As much of `wheeld.mqtt.client.MqttClient` as the feed uses."""

    def __init__(self, world: World, take: Take) -> None:
        self.take, self._world = take, world
        self.gone: asyncio.Future[MqttError] = asyncio.get_running_loop().create_future()

    def end(self) -> None:
        if not self.gone.done():
            self.gone.set_result(MqttError("the broker closed the connection"))

    async def subscribe(self, *topics: str) -> dict[str, str]:
        return {} if self._world.grants else dict.fromkeys(topics, "Not authorized")

    async def publish(self, topic: str, payload: bytes, retain: bool = False) -> None:
        try:
            await asyncio.sleep(TRAVEL_S)
        except asyncio.CancelledError:
            if not self._world.loses_cancellation:
                raise
            self._world.loses_cancellation = False
        if self.gone.done():
            raise self.gone.result()
        self._world.published(topic, payload)


class Caller:
    """Who stores and acknowledges; a crash is a new `Caller` over the same `stored`."""

    def __init__(self, feed: Feed, stored: list[FeedMessage], store_s: float = 0.0) -> None:
        self.feed = feed
        self.stored = stored
        self.faults: list[FeedError] = []
        self._store_s = store_s

    async def run(self) -> None:
        while True:
            try:
                async for message in self.feed:
                    await asyncio.sleep(self._store_s)
                    self.stored.append(message)
                    await self.feed.ack(message)
                return
            except FeedError as error:
                self.faults.append(error)

    async def until(self, is_so: Callable[[], bool], within_s: float = 86_400.0) -> None:
        """Run until it is so, checked each virtual second."""
        running = asyncio.create_task(self.run())
        try:
            async with asyncio.timeout(within_s):
                while not is_so():
                    await asyncio.sleep(1.0)
                    assert not running.done(), running
        finally:
            running.cancel()
            await asyncio.wait({running})
