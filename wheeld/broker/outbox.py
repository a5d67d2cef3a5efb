"""The outbox: reads the journal in order and publishes each message until the broker has confirmed it.

The journal is the only queue, and the outbox keeps only a position in it. A new connection starts again at the oldest
owed message. So each message is published at least once and in order, and a receiver that counts `seq` takes it exactly
once.

Messages that are published again on request are not owed. They are published when no owed message waits. An owed
message never waits for more than one of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import msgspec
import structlog

from wheeld.broker.budget import SparingLog
from wheeld.broker.roles import may_answer_on
from wheeld.core.catalogue import Text, translatable
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

# Stored messages are published again in rounds, one round at a time, for everybody who has asked. If the present round
# will still reach the first message of a request, the request joins this round. Otherwise the request waits for the
# next round, which begins at the lowest requested number. So every request is answered after two rounds at most. Each
# requester gets its messages in order and without a gap.

QUESTIONS_MAX = 20
"""How many requests may wait at one time: enough for some feeds that ask again before they get an answer. Each request
waits in memory and, as a command without an answer, in the journal."""

RESEND_BATCH = 25
"""How many stored messages are read and published again before each pause."""
RESEND_PAUSE_S = 0.05
"""The pause after each batch. With it, at most 500 messages a second are published: a day of coups takes ten seconds, a
year an hour. So live messages wait neither for the disk nor for a slow subscriber."""

Answered: TypeAlias = Callable[[int], Awaitable[None]]
"""Called with the last stored number, when all requested messages have been published."""


class ResendError(WheeldError):
    """A resend that cannot be done. `last_seq` is the last number that is stored."""

    def __init__(self, text: Text, last_seq: int) -> None:
        self.text, self.last_seq = text, last_seq
        super().__init__(text.english.format(**text.parts))


class ResendRequest(msgspec.Struct, frozen=True):
    """A request for all messages from `from_seq` on."""

    from_seq: int
    answered: Answered


class Resends:
    """The present round of a resend, and the requests for the next round."""

    def __init__(self) -> None:
        self.next_seq = 0
        """The number of the next message that the present round publishes."""
        self._served: list[ResendRequest] = []
        self._waiting: list[ResendRequest] = []

    @property
    def is_under_way(self) -> bool:
        """Whether a round has not ended yet."""
        return bool(self._served)

    def ask(self, question: ResendRequest, last_seq: int) -> None:
        """Add a request. Raises ResendError if too many wait."""
        if len(self._served) + len(self._waiting) >= QUESTIONS_MAX:
            words = translatable("{most} earlier requests are not answered yet: ask again when one of them is answered")
            raise ResendError(Text(words, {"most": QUESTIONS_MAX}), last_seq)
        if self._served and question.from_seq < self.next_seq:
            self._waiting.append(question)
        else:
            self._served.append(question)
            if len(self._served) == 1:
                self.next_seq = question.from_seq

    def sent(self, seq: int) -> None:
        """Remember that the present round has published the message with this number."""
        self.next_seq = seq + 1

    def end(self) -> list[ResendRequest]:
        """End the present round, and begin the next one. Returns the requests of the round that has ended."""
        served, self._served, self._waiting = self._served, self._waiting, []
        if self._served:
            self.next_seq = min(question.from_seq for question in self._served)
        return served


BATCH_MAX = 64
"""After this many published messages, one transaction notes that they were published. After a crash before that, they
are published again."""

REFUSED_RETRY_S = 5.0
"""A message that the broker refuses (access list, quota) is published again after this time: the list may change."""


class Outbox:
    """Publishes through `publisher`, below `root` (`wheel/v1/{site}/{table}/`), the messages that `store` owes.

    With `settlement_ack`, sequenced messages stay owed until the settlement core's `ack`. `sparing_log` logs what other
    clients do wrong.
    """

    def __init__(
        self,
        *,
        store: Store,
        publisher: Publisher,
        clock: HostClock,
        root: str,
        settlement_ack: bool,
        sparing_log: SparingLog | None = None,
    ) -> None:
        self._store = store
        self._publisher = publisher
        self._clock = clock
        self._root = root
        self._settlement_ack = settlement_ack
        self._cursor = 0
        self._resends = Resends()
        self._asked = asyncio.Event()
        self._resend_from_ns = 0
        """Nothing is published again before this host time."""
        self._log = structlog.get_logger("outbox")
        self._sparing_log = sparing_log or SparingLog(clock)
        self.counters = {"published": 0, "refused": 0, "interrupted": 0, "acks": 0, "acks_refused": 0, "resends": 0}
        self.counters["resent"] = 0

    async def run(self) -> None:
        """Publish what is owed. Ends only when it is cancelled, or with the store's error."""
        while True:
            session = await self._publisher.connected()
            await self._store.reopen_retained()
            self._cursor = 0
            try:
                while True:
                    try:
                        if not await self._publish_next(session) and not await self._resend_some(session):
                            await self._wait_for_work(session)
                    except PublishRefusedError as error:
                        self._note_refused(error)
                        await self._clock.sleep(REFUSED_RETRY_S)
            except ConnectionLostError as error:
                self.counters["interrupted"] += 1
                self._log.debug("publication.interrupted", why=str(error))

    async def acknowledge(self, seq: int) -> None:
        """Remember that the settlement core has stored everything up to `seq`. A late or repeated ack changes
        nothing."""
        last_seq = await self._store.last_seq()
        if seq > last_seq:
            self.counters["acks_refused"] += 1
            self._sparing_log.error(
                "ack.refused", seq=seq, last_seq=last_seq, why="it acknowledges a message that was never sent"
            )
            return
        self.counters["acks"] += 1
        await self._store.settle(seq)

    async def resend(self, from_seq: int, answered: Answered) -> None:
        """Request that every sequenced message from `from_seq` on is published again, and that `answered` is called
        then. Raises ResendError."""
        last_seq = await self._store.last_seq()
        if not await self._store.again(from_seq, 1):
            words = translatable("there is no message {first}: the last one is {last}")
            raise ResendError(Text(words, {"first": from_seq, "last": last_seq}), last_seq)
        self._resends.ask(ResendRequest(from_seq, answered), last_seq)
        self.counters["resends"] += 1
        self._asked.set()

    async def depth(self) -> int:
        """Return how many messages are owed."""
        return await self._store.depth()

    async def _publish_next(self, session: int) -> bool:
        if self._store.has_news():
            # This only clears the signal that there are new messages. They are read below.
            await self._store.wait_news()
        batch = await self._store.owed(self._cursor, BATCH_MAX)
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
        return bool(batch)

    async def _wait_for_work(self, session: int) -> None:
        under_way = self._resends.is_under_way
        work = self._clock.sleep(self._pause_s()) if under_way else self._asked.wait()
        news = asyncio.create_task(self._store.wait_news(), name="outbox-news")
        lost = asyncio.create_task(self._publisher.lost(session), name="outbox-lost")
        resend = asyncio.ensure_future(work)
        try:
            await asyncio.wait({news, lost, resend}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (news, lost, resend):
                task.cancel()
        if lost.done():
            raise ConnectionLostError("the connection ended while nothing was owed")

    # --- what is published again ---------------------------------------------------------------------------------

    async def _resend_some(self, session: int) -> bool:
        """Publish a batch of the present round. Returns True if it stopped because another message must be published
        first."""
        if not self._resends.is_under_way or self._pause_s() > 0:
            return False
        # Read the messages again each time: one may no longer be the newest of its topic, and only the newest is
        # retained.
        messages = await self._store.again(self._resends.next_seq, RESEND_BATCH)
        for message in messages:
            if self._store.has_news():
                return True
            try:
                await self._publish(message, session)
            except PublishRefusedError as error:
                self._note_refused(error)
                self._resend_not_for_s(REFUSED_RETRY_S)
                return False
            assert message.seq is not None, "only sequenced messages are published again"
            self._resends.sent(message.seq)
            self.counters["resent"] += 1
        if messages:
            self._resend_not_for_s(RESEND_PAUSE_S)
        else:
            self._asked.clear()
            last_seq = await self._store.last_seq()
            for question in self._resends.end():
                await question.answered(last_seq)
        return False

    def _resend_not_for_s(self, seconds: float) -> None:
        self._resend_from_ns = self._clock.monotonic_ns() + round(seconds * 1e9)

    def _pause_s(self) -> float:
        return max(0, self._resend_from_ns - self._clock.monotonic_ns()) / 1e9

    # --- one message ---------------------------------------------------------------------------------------------

    def _note_refused(self, error: PublishRefusedError) -> None:
        self.counters["refused"] += 1
        self._log.error("publication.refused", why=str(error), retry_s=REFUSED_RETRY_S)

    async def _publish(self, message: OwedMessage, session: int) -> None:
        topic = self._root + message.topic
        await self._publisher.publish(
            Publication(topic=topic, payload=message.payload, retain=message.retain, correlation=message.correlation),
            session=session,
        )
        self.counters["published"] += 1
        if message.response_topic is not None and may_answer_on(message.response_topic, self._root):
            # Publish a copy on the topic that the sender of the command chose. A refusal must not stop the feed.
            copy = Publication(
                topic=message.response_topic or "", payload=message.payload, correlation=message.correlation
            )
            try:
                await self._publisher.publish(copy, session=session)
            except PublishRefusedError as error:
                self.counters["refused"] += 1
                self._sparing_log.warning("response.refused", topic=copy.topic, why=str(error))
