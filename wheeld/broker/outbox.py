"""The outbox: reads the journal in order and publishes each message until the broker has confirmed it.

The journal is the only queue. Only a position in it is kept here; a new connection starts again at the oldest owed
message. So each message is published at least once and in order, and a reader who counts `seq` takes it exactly once.
"""

from __future__ import annotations

import asyncio

import structlog

from wheeld.errors import WheeldError
from wheeld.ports import (
    ConnectionLostError,
    HostClock,
    OwedMessage,
    Publication,
    Publisher,
    PublishRefusedError,
    Store,
)

BATCH_MAX = 64
"""Messages published before they are marked in one transaction. A crash in between publishes them twice."""

REFUSED_RETRY_S = 5.0
"""A message that the broker refuses (access list, quota) is published again after this time: the list may change."""


class ResendError(WheeldError):
    """A resend that cannot be done, because no message has that `seq`; `last_seq` is the last one."""

    def __init__(self, from_seq: int, last_seq: int) -> None:
        self.last_seq = last_seq
        super().__init__(f"there is no message {from_seq}: the last one is {last_seq}")


class Outbox:
    """Publishes what `store` owes through `publisher`, under `root` (`wheel/v1/{site}/{table}/`).

    With `settlement_ack`, sequenced messages stay owed until the settlement core's `ack`.
    """

    def __init__(
        self, *, store: Store, publisher: Publisher, clock: HostClock, root: str, settlement_ack: bool
    ) -> None:
        self._store = store
        self._publisher = publisher
        self._clock = clock
        self._root = root
        self._settlement_ack = settlement_ack
        self._cursor = 0
        # Held for a batch: when the position moves back in the middle of one, the batch would move it on again.
        self._position = asyncio.Lock()
        self._log = structlog.get_logger("outbox")
        self.counters = {"published": 0, "refused": 0, "interrupted": 0, "acks": 0, "acks_refused": 0, "resends": 0}

    async def run(self) -> None:
        """Publish what is owed; ends only by cancellation or by the store's error."""
        while True:
            session = await self._publisher.connected()
            await self._start_over()
            try:
                await self._serve(session)
            except ConnectionLostError as error:
                self.counters["interrupted"] += 1
                self._log.debug("publication.interrupted", why=str(error))

    async def acknowledge(self, seq: int) -> None:
        """The settlement core has stored everything up to `seq`; an ack that is late or repeated changes nothing."""
        last_seq = await self._store.last_seq()
        if seq > last_seq:
            self.counters["acks_refused"] += 1
            self._log.error("ack.refused", seq=seq, last_seq=last_seq, why="it acknowledges what was never sent")
            return
        self.counters["acks"] += 1
        await self._store.settle(seq)

    async def resend(self, from_seq: int) -> int:
        """Publish every sequenced message from `from_seq` again; returns the last `seq`. Raises ResendError."""
        async with self._position:
            last_seq = await self._store.last_seq()
            first_id = await self._store.reopen(from_seq)
            if first_id == 0:
                raise ResendError(from_seq, last_seq)
            self._cursor = min(self._cursor, first_id - 1)
            self.counters["resends"] += 1
        return last_seq

    async def depth(self) -> int:
        """How many messages are owed."""
        return await self._store.depth()

    async def _start_over(self) -> None:
        async with self._position:
            await self._store.reopen_retained()
            self._cursor = 0

    async def _serve(self, session: int) -> None:
        """Publish over connection `session` until it is lost; always ends by ConnectionLostError."""
        while True:
            try:
                if not await self._publish_next(session):
                    await self._wait_for_work(session)
            except PublishRefusedError as error:
                self.counters["refused"] += 1
                self._log.error("publication.refused", why=str(error), retry_s=REFUSED_RETRY_S)
                await self._clock.sleep(REFUSED_RETRY_S)

    async def _publish_next(self, session: int) -> bool:
        async with self._position:
            batch = await self._store.owed(self._cursor, BATCH_MAX)
            await self._publish_batch(batch, session)
        return bool(batch)

    async def _wait_for_work(self, session: int) -> None:
        news = asyncio.create_task(self._store.wait_news(), name="outbox-news")
        lost = asyncio.create_task(self._publisher.lost(session), name="outbox-lost")
        try:
            await asyncio.wait({news, lost}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()
            lost.cancel()
        if lost.done():
            raise ConnectionLostError("the connection ended while nothing was owed")

    async def _publish_batch(self, batch: list[OwedMessage], session: int) -> None:
        sent: list[int] = []
        try:
            for message in batch:
                await self._publish(message, session)
                if not message.ahead:
                    self._cursor = message.id
                sent.append(message.id)
        finally:
            if sent:
                await self._store.mark_sent(sent, await_settlement=self._settlement_ack)

    async def _publish(self, message: OwedMessage, session: int) -> None:
        topic = self._root + message.topic
        await self._publisher.publish(
            Publication(topic=topic, payload=message.payload, retain=message.retain, correlation=message.correlation),
            session=session,
        )
        self.counters["published"] += 1
        if message.response_topic not in {None, topic}:
            await self._copy_to(message, session)

    async def _copy_to(self, message: OwedMessage, session: int) -> None:
        """Publish a copy on the topic that the sender of the command chose; a refusal there must not stop the feed."""
        copy = Publication(topic=message.response_topic or "", payload=message.payload, correlation=message.correlation)
        try:
            await self._publisher.publish(copy, session=session)
        except PublishRefusedError as error:
            self.counters["refused"] += 1
            self._log.warning("response.refused", topic=copy.topic, why=str(error))
