"""A connection to a broker: a `Session` on a socket of asyncio."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import ssl
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeAlias, cast

import mqtt5

from wheeld.mqtt.session import (
    Answer,
    BrokenProtocolError,
    Event,
    MqttError,
    PublicationRefusedError,
    Session,
    Unread,
    is_failure,
    reason,
)

CHUNK_BYTES = 65_536
"""How many bytes are read at once: some hundred packets, which take a few ms. Then other tasks have their turn."""

CLOSE_S = 1.0
"""When the connection is closed, sending the last data may take this long."""

Take: TypeAlias = Callable[[mqtt5.PublishPacket | Unread], None]
"""Called with each publication. When the call returns, the publication has been handled."""


class NoAnswerError(MqttError):
    """The broker has not answered in time."""


class MqttClient(asyncio.BufferedProtocol):
    """One connection, used once. It ends if the broker takes longer than `timeout_s` to answer."""

    def __init__(self, connect: mqtt5.ConnectPacket, *, take: Take, timeout_s: float) -> None:
        loop = asyncio.get_running_loop()
        self.accepted: asyncio.Future[mqtt5.ConnAckPacket] = loop.create_future()
        """Done when the broker has answered. Its outcome may be an MqttError."""
        self.gone: asyncio.Future[MqttError] = loop.create_future()
        """Done, with the reason, when the connection is over."""
        self.heard_ns = 0
        """When the broker last answered something, in host time. A publication does not count: it may be old."""
        self._session = Session(connect)
        self._take, self._timeout_s = take, timeout_s
        self._keepalive_s = connect.keep_alive
        self._buffer = memoryview(bytearray(CHUNK_BYTES))
        self._answers: dict[int, asyncio.Future[Answer]] = {}
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_heard = True
        self._writable, self._closed = asyncio.Event(), asyncio.Event()
        self._writable.set()
        self._room = asyncio.Semaphore(1)
        """How many publications may wait for their confirmation at the same time. The broker says how many, at the
        start."""

    @property
    def has_session(self) -> bool:
        """Whether the broker had a session of this client, which now continues."""
        return self.accepted.result().session_present

    # --- what users of the client call -----------------------------------------------------------------------------

    async def publish(
        self,
        topic: str,
        payload: bytes,
        *,
        qos: int = 1,
        retain: bool = False,
        correlation: bytes | None = None,
        expiry_s: int | None = None,
        timeout_s: float | None = None,
    ) -> None:
        """Publish a message. Returns when the broker has it (QoS 1), or when it was sent (QoS 0). `expiry_s`: how long
        the broker may keep it for a subscriber that is away. Raises MqttError, also as PublicationRefusedError or
        NoAnswerError."""
        publish = partial(
            self._session.publish, topic, payload, qos=qos, retain=retain, correlation=correlation, expiry_s=expiry_s
        )
        try:
            async with asyncio.timeout(self._timeout_s if timeout_s is None else timeout_s):
                await self._writable.wait()
                self._check()
                if qos == 0:
                    publish()
                    self._flush()
                    return
                async with self._room:
                    self._check()
                    answer = await self._answer(publish())
        except TimeoutError:
            raise self._silent("a publication") from None
        code = cast("mqtt5.PubAckPacket", answer).reason_code
        if is_failure(code):
            raise PublicationRefusedError(reason(code))

    async def subscribe(self, *topics: str) -> dict[str, str]:
        """Subscribe to `topics` at QoS 1. Returns the topics that the broker refuses, each with its reason. Raises
        MqttError."""
        answer = cast("mqtt5.SubAckPacket", await self._within(self._session.subscribe(topics)))
        if len(answer.reason_codes) != len(topics):
            self._end(BrokenProtocolError("an answer to a wrong number of subscriptions"))
            self._check()
        codes = zip(topics, answer.reason_codes, strict=True)
        return {topic: reason(code) for topic, code in codes if is_failure(code)}

    async def unsubscribe(self, *topics: str) -> None:
        """End the subscriptions to `topics`. Raises MqttError."""
        await self._within(self._session.unsubscribe(topics))

    def ask(self) -> None:
        """Send a ping. The broker's answer updates `heard_ns`, and comes after all that the broker sent before."""
        self._session.ping()
        self._flush()

    async def close(self, *, forget: bool = False) -> None:
        """Disconnect. `forget`: the broker must keep nothing of the session. This does no harm if the connection is
        over."""
        code, expiry_s = mqtt5.DisconnectReasonCode.NORMAL_DISCONNECTION, 0 if forget else None
        self._end(MqttError("this side ended the connection"), code, session_expiry_s=expiry_s)
        if self._transport is None:
            return
        try:
            async with asyncio.timeout(CLOSE_S):
                await self._closed.wait()
        except TimeoutError:
            self._transport.abort()

    # --- what asyncio calls ----------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note the new connection, and send what waits."""
        self._transport = cast("asyncio.Transport", transport)
        self._flush()

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002  the base class has this argument
        """Return the buffer for what is read."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Handle the `nbytes` bytes that were read."""
        self._is_heard = True
        try:
            for event in self._session.receive(bytes(self._buffer[:nbytes])):
                self._handle(event)
        except BrokenProtocolError as wrong:
            self._end(wrong, wrong.code)
        except MqttError as wrong:
            self._end(wrong)
        except Exception as wrong:  # noqa: BLE001  a fault in what was read ends this connection, not the program
            self._end(MqttError(f"{type(wrong).__name__}: {wrong}"))
        else:
            self._flush()

    def pause_writing(self) -> None:
        """Stop reading while the broker does not take what we write: we would have to confirm what we read."""
        self._writable.clear()
        if self._transport is not None and not self.gone.done():
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        """Read again: the broker takes what we write."""
        self._writable.set()
        if self._transport is not None and not self.gone.done():
            self._transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """Remember that the connection is closed. If a broker refuses our certificate in TLS 1.3, it does so after the
        handshake, with an alert: then `exc` is this alert."""
        before = "" if self.accepted.done() else " before it answered"
        is_closed = exc is None or isinstance(exc, BrokenPipeError)
        error = MqttError(f"the broker closed the connection{before}" if is_closed else str(exc))
        error.__cause__ = exc
        self._end(error)
        self._closed.set()

    # --- what the client itself calls ------------------------------------------------------------------------------

    def _handle(self, event: Event) -> None:
        if isinstance(event, mqtt5.PublishPacket | Unread):
            self._take(event)
            return
        self.heard_ns = time.monotonic_ns()
        if isinstance(event, mqtt5.ConnAckPacket):
            self._room = asyncio.Semaphore(event.receive_max)
            if event.server_keep_alive is not None:
                self._keepalive_s = event.server_keep_alive
            self._keep_alive()
            self.accepted.set_result(event)
        elif not isinstance(event, mqtt5.PingRespPacket):
            answer = self._answers.pop(event.packet_id, None)
            if answer is not None and not answer.done():
                answer.set_result(event)

    def _keep_alive(self) -> None:
        """Send a ping in each period. End the connection after a period in which nothing came."""
        if self._keepalive_s == 0:
            return
        if not self._is_heard:
            self._end(NoAnswerError(f"the broker has sent nothing for {self._keepalive_s} s"))
            return
        self._is_heard = False
        self.ask()
        self._timer = asyncio.get_running_loop().call_later(self._keepalive_s, self._keep_alive)

    async def _within(self, packet_id: int) -> Answer:
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._answer(packet_id)
        except TimeoutError:
            raise self._silent("a subscription") from None

    async def _answer(self, packet_id: int | None) -> Answer:
        self._check()
        assert packet_id is not None, "every packet that is answered has one"
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._answers[packet_id] = answer
        self._flush()
        return await answer

    def _silent(self, what: str) -> MqttError:
        """End the connection, because a broker that takes data and confirms nothing is of no use. Returns the error."""
        error = NoAnswerError(f"no confirmation of {what}: timed out")
        self._end(error)
        return error

    def _check(self) -> None:
        if self.gone.done():
            raise self.gone.result()

    def _flush(self) -> None:
        out = self._session.take_out()
        if out and self._transport is not None and not self._transport.is_closing():
            self._transport.write(out)

    def _end(
        self, error: MqttError, code: mqtt5.DisconnectReasonCode | None = None, *, session_expiry_s: int | None = None
    ) -> None:
        """End the connection. Only the first reason counts."""
        if self.gone.done():
            return
        if code is not None:
            self._session.disconnect(code, session_expiry_s=session_expiry_s)
        self._flush()
        self.gone.set_result(error)
        if self._timer is not None:
            self._timer.cancel()
        if not self.accepted.done():
            self.accepted.set_exception(error)
            self.accepted.exception()  # this marks the error as read, because perhaps nobody waits for it
        lost = MqttError(f"the connection ended before the broker confirmed: {error}")
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(lost)
        self._writable.set()
        if self._transport is not None:
            self._transport.close()


@asynccontextmanager
async def connected(
    host: str,
    port: int,
    connect: mqtt5.ConnectPacket,
    *,
    take: Take,
    timeout_s: float,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[MqttClient]:
    """Keep a connection open until the block ends. Raises MqttError if it cannot be made, with the error of the system
    or of TLS as its cause."""
    client = MqttClient(connect, take=take, timeout_s=timeout_s)
    try:
        try:
            async with asyncio.timeout(timeout_s):
                await asyncio.get_running_loop().create_connection(
                    lambda: client, host, port, ssl=tls, ssl_shutdown_timeout=None if tls is None else CLOSE_S
                )
                await client.accepted
        except TimeoutError:
            raise NoAnswerError(f"timed out: {host}:{port} has not answered in {timeout_s:g} s") from None
        except socket.gaierror as wrong:
            check = f"check the name, the network and the name server (`getent hosts {host}`)"
            raise MqttError(f"no address is found for the host {host} ({wrong.strerror}): {check}") from wrong
        except OSError as wrong:
            # asyncio leaves out the system's words for why it could not connect.
            number = r"\[Errno (\d+)\] Connect call failed"
            said = re.sub(number, lambda found: os.strerror(int(found[1])), str(wrong))
            raise MqttError(said) from wrong
        yield client
    finally:
        await client.close()
