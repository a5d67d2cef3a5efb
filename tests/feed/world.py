"""Virtual time for a whole feed, and a broker in memory in the place of aiomqtt's: hours pass in milliseconds."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Self

import aiomqtt
import pytest

from tests.feed.broker import DishonestBroker
from tests.feed.wheel import ROOT, Sent, Wheel
from tests.virtual_loop import VirtualLoop
from wheeld.feed import Feed, FeedError, FeedMessage

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
        self.grants = 1
        self.questions: list[dict[str, Any]] = []
        self.acks: list[int] = []
        self.asked_as: list[str] = []
        self.connected = 0
        self._travelling: deque[list[Sent]] = deque()
        self._client: FakeClient | None = None
        monkeypatch.setattr("wheeld.feed.connection.aiomqtt.Client", self._make)

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
                self._client.queue.put_nowait(
                    aiomqtt.Message(f"{ROOT}/{leaf}", payload, qos=1, retain=False, mid=1, properties=None)
                )

    def _make(self, *args: Any, **kwargs: Any) -> FakeClient:
        return FakeClient(self)

    def attach(self, client: FakeClient) -> None:
        if not self.is_up:
            raise aiomqtt.MqttError("connection refused")
        self.connected += 1
        self._client = client


class FakeClient:
    """As much of aiomqtt.Client as the feed uses; `messages` is itself."""

    def __init__(self, world: World) -> None:
        self.queue: asyncio.Queue[aiomqtt.Message | None] = asyncio.Queue()
        self._world = world
        self._is_over = False

    @property
    def messages(self) -> Self:
        return self

    async def __aenter__(self) -> Self:
        await asyncio.sleep(TRAVEL_S)
        self._world.attach(self)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._is_over = True

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> aiomqtt.Message:
        message = await self.queue.get()
        if message is None:
            raise aiomqtt.MqttError("Disconnected during message iteration")
        return message

    def __len__(self) -> int:
        return self.queue.qsize()

    def __bool__(self) -> bool:
        return True

    def end(self) -> None:
        self._is_over = True
        self.queue.put_nowait(None)

    async def subscribe(self, topics: list[tuple[str, int]]) -> list[int]:
        return [self._world.grants] * len(topics)

    async def publish(self, topic: str, payload: bytes, qos: int, retain: bool = False) -> None:
        try:
            await asyncio.sleep(TRAVEL_S)
        except asyncio.CancelledError:
            if not self._world.loses_cancellation:
                raise
            self._world.loses_cancellation = False
        if self._is_over:
            raise aiomqtt.MqttError("Operation timed out")
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
