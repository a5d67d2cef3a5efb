"""The connection of a collector to one broker of the house. One connection is for all wheels, and it is made again
after each loss."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence

import mqtt5

from wheeld.feed import Login
from wheeld.mqtt.client import MqttClient, connected
from wheeld.mqtt.session import MqttError, Unread

RETRY_S, RETRY_S_MAX = 0.5, 10.0
STABLE_S = 10.0
"""If a connection lasted for less than this time, the wait before the next one is longer."""
ANSWER_S = 5.0
"""If the broker does not answer within this time, a new connection is made."""
TOPICS_AT_ONCE = 100
"""The most topics in one subscription, so that its packet stays below the limit of every broker."""


class BrokerLink:
    """A connection to `host`. `take` gets every message on `topics`. `came` is called when the connection is made and
    all topics are subscribed. `tell` gets a text for the log at each change of the connection."""

    def __init__(
        self,
        host: str,
        login: Login,
        topics: Sequence[str],
        *,
        take: Callable[[mqtt5.PublishPacket], None],
        came: Callable[[], None],
        tell: Callable[[str], object],
    ) -> None:
        self._host, self._login, self._topics = host, login, tuple(topics)
        self._take, self._came, self._tell = take, came, tell
        self._client: MqttClient | None = None
        self._saying: set[asyncio.Task[None]] = set()
        self._told = ""

    @property
    def is_connected(self) -> bool:
        """Whether the broker is connected."""
        return self._client is not None and not self._client.gone.done()

    async def run(self) -> None:
        """Connect, and connect again after each loss, until the task is cancelled."""
        failures, clock = 0, asyncio.get_running_loop().time
        while True:
            started_s = clock()
            try:
                await self._connect_once()
            except (MqttError, OSError) as error:
                self._report(f"{error}; trying again")
            failures = 0 if clock() - started_s > STABLE_S else failures + 1
            longest_s = min(RETRY_S_MAX, RETRY_S * 2.0 ** min(max(failures - 1, 0), 16))
            await asyncio.sleep(longest_s * random.uniform(0.5, 1.0))  # noqa: S311  the pause need not be secret

    def say(self, topic: str, payload: bytes) -> None:
        """Publish `payload` soon, if there is a connection. Only the wheel's answer shows whether it arrived."""
        if self._client is not None and self.is_connected:
            task = asyncio.create_task(self._publish(self._client, topic, payload))
            self._saying.add(task)
            task.add_done_callback(self._saying.discard)

    async def _connect_once(self) -> None:
        login = self._login
        async with connected(
            self._host, login.port, login.packet(), take=self._note, timeout_s=ANSWER_S, tls=login.tls()
        ) as client:
            refused: dict[str, str] = {}
            for first in range(0, len(self._topics), TOPICS_AT_ONCE):
                refused |= await client.subscribe(*self._topics[first : first + TOPICS_AT_ONCE])
            self._report(
                f"the broker's access list refuses {', '.join(sorted(refused))}"[:500] if refused else "connected"
            )
            self._client = client
            self._came()
            try:
                raise await asyncio.shield(client.gone)
            finally:
                self._client = None

    async def _publish(self, client: MqttClient, topic: str, payload: bytes) -> None:
        try:
            await client.publish(topic, payload)
        except MqttError as error:
            self._report(f"{topic}: {error}")

    def _note(self, publication: mqtt5.PublishPacket | Unread) -> None:
        if isinstance(publication, mqtt5.PublishPacket):
            self._take(publication)

    def _report(self, what: str) -> None:
        """Report the state of the connection if it has changed."""
        if what != self._told:
            self._told = what
            self._tell(f"{self._host}:{self._login.port}: {what}")
