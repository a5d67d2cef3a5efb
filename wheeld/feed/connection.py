"""The feed over MQTT: connects again after each loss, receives, requests what is missing, acknowledges."""

from __future__ import annotations

import asyncio
import random
import ssl
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import mqtt5

from wheeld.feed.message import SEQUENCED, FeedError, FeedMessage, check_verdict, ed25519, read_message
from wheeld.feed.order import SETTLEMENT, Manner, Order
from wheeld.mqtt.client import MqttClient, connected
from wheeld.mqtt.session import MqttError, PublicationRefusedError, Unread

INBOX_MAX = 5_000
"""How many messages may wait in memory: more than a day of them. Further ones are discarded, and requested later."""
READY_MAX = 100
"""How many messages are kept ready for a caller that stores slowly."""
STABLE_S = 10.0
"""After a connection shorter than this, the next wait is longer: two feeds with one client id end each other's
connections."""
PUBLISH_TIMEOUT_S = 5.0
"""If the broker has not confirmed a message after this time, a new connection is made."""
SESSION_S = 0xFFFF_FFFF
"""How long the broker keeps a lasting session: forever (MQTT 5, 3.1.2.11.2), or as long as its own limit allows."""
CANCEL_AGAIN_S = 1.0
ACK_EVERY_S = 0.1
"""The shortest time between two acks. Each costs a write to the wheel's disk, and covers all messages before it."""
FAREWELL_S = 2.0
"""How long closing waits for the last ack to reach the broker."""


@dataclass(frozen=True, kw_only=True)
class Login:
    """How to log in to the broker. TLS is on if any of its three files is given. Each connection reads the files again.

    `username`: the name at the broker. With a client certificate it is the certificate's common name. The feed requests
    missing messages under this name, as the broker's access list requires. Without a `username`, the feed uses the
    role's name, `settlement`. With a `client_id` of your own, the broker keeps what comes during your absence, as long
    as it can.
    """

    port: int = 1883
    client_id: str | None = None
    username: str | None = None
    password_file: Path | None = None
    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None
    keepalive_s: int = 15

    def packet(self) -> mqtt5.ConnectPacket:
        """Return the first packet of a connection. Raise OSError if the password's file cannot be read."""
        password = None if self.password_file is None else self.password_file.read_bytes().rstrip(b"\r\n")
        return mqtt5.ConnectPacket(
            self.client_id or "",
            username=self.username,
            password=password,
            clean_start=self.client_id is None,
            keep_alive=self.keepalive_s,
            session_expiry_interval=0 if self.client_id is None else SESSION_S,
        )

    def tls(self) -> ssl.SSLContext | None:
        """Return a context that verifies the broker's certificate and name. Raise OSError for files that cannot be
        used."""
        if not any((self.ca_file, self.cert_file, self.key_file)):
            return None
        context = ssl.create_default_context(cafile=self.ca_file)
        if self.cert_file is not None:
            context.load_cert_chain(self.cert_file, self.key_file)
        return context


class Feed:
    """The messages of `root` after `after_seq`, as an async iterator. Raises FeedError for each message that must not
    be used. Then continue to iterate. `after_seq`: 0 for everything that the wheel has ever published, None to begin at
    the message that comes first. `test`: accept only messages that are marked as tests, of a bench table. Otherwise
    accept only messages without the mark.

    Always give the `after_hash` that you stored. Without it the `prev` of the first message cannot be checked.
    """

    def __init__(  # noqa: PLR0913  one argument for each thing that a caller may know of the table and its broker
        self,
        host: str,
        *,
        root: str,
        after_seq: int | None = 0,
        after_hash: str | None = None,
        public_key: bytes | None = None,
        test: bool = False,
        login: Login | None = None,
        manner: Manner | None = None,
    ) -> None:
        self._host = host
        self._root = root.rstrip("/")
        self._login = login or Login()
        self._manner = manner or Manner()
        self._verify = None if public_key is None else ed25519(public_key)
        if after_seq is not None and after_seq < 0:
            raise ValueError(f"after_seq is {after_seq}: 0 is before the first message")
        self._test = test
        self._user = self._login.username or SETTLEMENT
        self._order = Order(after_seq, after_hash, self._manner, user=self._user, test=test)
        self._unread: deque[mqtt5.PublishPacket] = deque()
        self._ready: deque[FeedMessage | FeedError] = deque()
        self._came, self._news, self._room, self._work, self._ack_sent = (asyncio.Event() for _ in range(5))
        self._ack_is_due = False
        self._acked_s = -ACK_EVERY_S
        self._ack_sent.set()
        self._handed_seq, self._stored_seq = after_seq or 0, 0
        self._trouble: str | None = None
        self._keeping: asyncio.Task[None] | None = None

    @property
    def counters(self) -> dict[str, int]:
        """Counts since the start, by name."""
        return dict(self._order.counters)

    async def __aenter__(self) -> Self:
        self._keeping = asyncio.create_task(self._keep(), name="feed")
        self._keeping.add_done_callback(lambda _: self._news.set())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Send the last ack if the broker takes it soon, and end the connection."""
        if self._keeping is None:
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ack_sent.wait(), FAREWELL_S)
        await _end({self._keeping})
        if not self._keeping.cancelled():
            self._keeping.result()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> FeedMessage:
        while not self._ready:
            if self._keeping is None or self._keeping.cancelled():
                raise StopAsyncIteration
            if self._keeping.done():
                self._keeping.result()
            self._news.clear()
            await self._news.wait()
        # Await nothing from here on. Otherwise a cancellation of the caller could lose a message.
        item = self._ready.popleft()
        self._room.set()
        if isinstance(item, FeedError):
            raise item
        self._handed_seq = item.seq
        return item

    async def ack(self, message: FeedMessage | int) -> None:
        """Acknowledge `message` and all before it as stored, so that the wheel no longer owes them. Return at once. The
        ack is sent soon. It is sent again in each new connection, and when the wheel sends a message that it covers.
        At a new start give the last `seq` that you have stored (0: none): the last run may have ended before its ack.
        Raise ValueError for a message that was not handed out yet."""
        seq = message if isinstance(message, int) else message.seq
        if seq > self._handed_seq:
            raise ValueError(f"seq {seq} was not handed out yet: {self._handed_seq} is the last one")
        self._stored_seq = max(self._stored_seq, seq)
        self._owe_ack()
        await asyncio.sleep(0)  # otherwise a caller with much to store would delay the ack

    def _owe_ack(self) -> None:
        if self._stored_seq:
            self._ack_is_due = True
            self._ack_sent.clear()
            self._work.set()

    # --- while the feed is open ------------------------------------------------------------------------------------

    async def _keep(self) -> None:
        failures = 0
        clock = asyncio.get_running_loop().time
        while True:
            started_s = clock()
            try:
                await self._connect_once()
            except (MqttError, OSError) as error:
                self._report(f"{self._host}:{self._login.port}: {error}; trying again")
            failures = 0 if clock() - started_s > STABLE_S else failures + 1
            longest = min(self._manner.retry_s_max, self._manner.retry_s * 2.0 ** min(failures - 1, 16))
            await asyncio.sleep(longest * random.uniform(0.5, 1.0))  # noqa: S311  the pause need not be secret

    async def _connect_once(self) -> None:
        self._unread.clear()
        login = self._login
        async with connected(
            self._host, login.port, login.packet(), take=self._note, timeout_s=PUBLISH_TIMEOUT_S, tls=login.tls()
        ) as client:
            # The answer names the topics that the broker refuses. But a broker may also grant a subscription and then
            # send nothing: only its silence shows that.
            refused = await client.subscribe(*(f"{self._root}/{leaf}" for leaf in (*SEQUENCED, "reply")))
            leaves = ", ".join(topic.removeprefix(f"{self._root}/") for topic in refused)
            self._report(f"the broker's access list refuses {leaves}" if refused else None)
            self._order.connected(asyncio.get_running_loop().time())
            self._owe_ack()
            tasks = {asyncio.create_task(work) for work in (self._listen(), self._talk(client), _lost(client))}
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                await _end(tasks)
            # Read every exception: asyncio logs those that nobody reads.
            errors = [error for task in tasks if not task.cancelled() and (error := task.exception())]
            if errors:
                raise errors[0]

    def _note(self, publication: mqtt5.PublishPacket | Unread) -> None:
        """Keep a publication until it is read. If it cannot be decoded, or too many wait, its message is missing, and
        is requested again."""
        if isinstance(publication, mqtt5.PublishPacket) and len(self._unread) < INBOX_MAX:
            self._unread.append(publication)
            self._came.set()

    async def _listen(self) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            while not self._unread:
                self._came.clear()
                await self._came.wait()
            while len(self._ready) >= READY_MAX:
                self._room.clear()
                await self._room.wait()
            try:
                message = self._unread.popleft()
                leaf = message.topic.removeprefix(f"{self._root}/")
                self._take(leaf, message.payload, clock(), retained=message.retain)
            except FeedError as error:
                self._hand_out(error)
                if error.fault not in ("conflict", "rolled_back"):
                    self._order.doubt()
            self._work.set()

    def _take(self, leaf: str, payload: bytes, now_s: float, *, retained: bool) -> None:
        if leaf == "reply":
            self._order.answered(payload)
            return
        message = read_message(leaf, payload, root=self._root, verify=self._verify, test=self._test)
        check_verdict(message)
        message = replace(message, retained=retained)
        lost = self._order.lost_before(message)
        if self._order.take(message, now_s):
            if lost is not None:
                self._hand_out(lost)
            self._hand_out(message)
        elif message.seq <= self._stored_seq:
            # This message came again: the wheel still owes it (the ack was lost), another receiver has requested it, or
            # the broker has retained it.
            self._owe_ack()

    def _hand_out(self, item: FeedMessage | FeedError) -> None:
        self._ready.append(item)
        self._news.set()

    async def _talk(self, client: MqttClient) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            self._work.clear()
            if self._ack_wait_s(clock()) == 0.0:
                # One ack covers all that is stored by now. If the connection ends first, the next connection sends it.
                self._ack_is_due = False
                self._acked_s = clock()
                try:
                    # The broker retains the ack. So a wheel with an older copy of its journal learns that the copy is
                    # too old.
                    await self._publish(client, "ack", b'{"seq":%d}' % self._stored_seq, retain=True)
                except BaseException:
                    self._ack_is_due = True
                    raise
                if not self._ack_is_due:
                    self._ack_sent.set()
            # While something is unread, do not ask: it may be the missing message, or the answer.
            may_ask = len(self._ready) < READY_MAX and not self._unread
            question = self._order.question(clock()) if may_ask else None
            if question is not None:
                await self._publish(client, f"cmd/{self._user}/resend", question)
            waits_s = [self._ack_wait_s(clock()), self._order.wait_s(clock()) if may_ask else None]
            with suppress(TimeoutError):
                async with asyncio.timeout(min((wait_s for wait_s in waits_s if wait_s is not None), default=None)):
                    await self._work.wait()

    def _ack_wait_s(self, now_s: float) -> float | None:
        return max(0.0, self._acked_s + ACK_EVERY_S - now_s) if self._ack_is_due else None

    async def _publish(self, client: MqttClient, leaf: str, payload: bytes, *, retain: bool = False) -> None:
        try:
            await client.publish(f"{self._root}/{leaf}", payload, retain=retain)
        except PublicationRefusedError as refused:
            self._report(f"the broker refuses {leaf}: {refused}")

    def _report(self, trouble: str | None) -> None:
        """Report `trouble` if it has changed. None means that there is no trouble."""
        if trouble != self._trouble:
            self._trouble = trouble
            self._manner.tell(trouble or f"{self._host}:{self._login.port}: connected")


async def _end(tasks: set[asyncio.Task[None]]) -> None:
    """Cancel the tasks again and again until they have ended, because one cancellation may get lost."""
    while pending := {task for task in tasks if not task.done()}:
        for task in pending:
            task.cancel()
        await asyncio.wait(pending, timeout=CANCEL_AGAIN_S)


async def _lost(client: MqttClient) -> None:
    """Wait until the connection ends, and raise the reason."""
    raise await asyncio.shield(client.gone)
