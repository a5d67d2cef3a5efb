"""One connection of MQTT 5, without its socket: it makes packets from the broker's bytes, and bytes from our packets.

The codec is the package `mqtt5`. This module keeps the state of a connection, and refuses what a broker is not allowed
to send. Received data cannot grow without limit: a packet has a largest size, and each whole packet is handled at once.
Section numbers are those of the standard (OASIS, MQTT 5.0).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import TypeAlias

import mqtt5

BYTES_MAX = 1 << 28
"""The standard's own limit for a packet (2.1.4)."""

PUBLISH = 0x30
"""The first byte of a publication without its flags (3.3.1)."""
OLDER_CONNACK = b"\x20\x02"
"""The first bytes from a broker that knows only MQTT 3.1.1. In MQTT 5 the second byte is at least 3 (3.2.2)."""


class MqttError(Exception):
    """The connection could not be made, or it has ended. The text says why."""


class BrokenProtocolError(MqttError):
    """The broker sent what it must not send. This connection has to end, with `code`."""

    def __init__(self, why: str, code: mqtt5.DisconnectReasonCode = mqtt5.DisconnectReasonCode.PROTOCOL_ERROR) -> None:
        super().__init__(f"the broker broke the rules of MQTT: {why}")
        self.code = code


class DisconnectedError(MqttError):
    """The broker has ended the connection. `code` is its reason."""

    def __init__(self, code: mqtt5.DisconnectReasonCode) -> None:
        super().__init__(f"the broker ended the connection: {reason(code)}")
        self.code = code


class PublicationRefusedError(MqttError):
    """The broker does not accept this publication. The connection continues."""


class Unread:
    """A publication on this `topic` that cannot be decoded. Such a publication is confirmed, too. Otherwise a broker
    that does not check publications would send it again and again."""

    def __init__(self, topic: bytes) -> None:
        self.topic = topic.decode(errors="replace")


Answer: TypeAlias = mqtt5.PubAckPacket | mqtt5.SubAckPacket | mqtt5.UnsubAckPacket
Event: TypeAlias = mqtt5.ConnAckPacket | mqtt5.PublishPacket | Unread | Answer | mqtt5.PingRespPacket


def reason(code: IntEnum) -> str:
    """Return a reason code of the codec in words, as in "Not authorized"."""
    return code.name.replace("_", " ").capitalize()


def is_failure(code: IntEnum) -> bool:
    """Return whether a reason code is a refusal or a failure (2.4)."""
    # The codec's enumerations are not integers, although its stubs declare them so.
    return int(code) >= 0x80


class Session:
    """The state of one connection. After each call, `take_out` returns what is to be sent. The first packet is
    `connect`."""

    def __init__(self, connect: mqtt5.ConnectPacket) -> None:
        self.accepted: mqtt5.ConnAckPacket | None = None
        """The broker's answer to `connect`. None before it has come."""
        self._bytes_max = connect.max_packet_size or BYTES_MAX
        self._rest = b""
        self._out = [connect.write()]
        self._awaited: dict[int, type[Answer]] = {}
        """The kind of answer that each packet identifier waits for."""
        self._last_id = 0

    # --- sending ---------------------------------------------------------------------------------------------------

    def take_out(self) -> bytes:
        """Return what is to be sent now. The next call does not return it again."""
        out = b"".join(self._out)
        self._out.clear()
        return out

    def publish(
        self,
        topic: str,
        payload: bytes,
        *,
        qos: int,
        retain: bool = False,
        correlation: bytes | None = None,
        expiry_s: int | None = None,
    ) -> int | None:
        """Publish a message. Returns the packet identifier of the answer, None at QoS 0. `expiry_s`: how long the
        broker may keep the message for a subscriber that is away. Raises PublicationRefusedError if the broker takes no
        message of this size, or if MQTT cannot encode it."""
        packet_id = self._new_id() if qos else None
        try:
            data = mqtt5.PublishPacket(
                topic,
                payload,
                qos=mqtt5.QoS(qos),
                retain=retain,
                packet_id=packet_id,
                correlation_data=correlation,
                message_expiry_interval=expiry_s,
            ).write()
        except ValueError as wrong:
            raise PublicationRefusedError(str(wrong)) from None
        limit = None if self.accepted is None else self.accepted.max_packet_size
        if limit is not None and len(data) > limit:
            raise PublicationRefusedError(f"it has {len(data)} bytes, but the broker accepts only {limit}")
        self._out.append(data)
        if packet_id is not None:
            self._awaited[packet_id] = mqtt5.PubAckPacket
        return packet_id

    def subscribe(self, topics: Sequence[str]) -> int:
        """Subscribe to `topics` at QoS 1. Returns the packet identifier of the answer. A retained message is marked as
        retained even if it is published while the subscription exists (`retain as published`)."""
        packet_id = self._new_id()
        at_least_once = mqtt5.QoS.AT_LEAST_ONCE
        filters = [mqtt5.TopicFilter(topic, max_qos=at_least_once, retain_as_published=True) for topic in topics]
        self._out.append(mqtt5.SubscribePacket(packet_id, filters).write())
        self._awaited[packet_id] = mqtt5.SubAckPacket
        return packet_id

    def unsubscribe(self, topics: Sequence[str]) -> int:
        """End the subscriptions to `topics`. Returns the packet identifier of the answer."""
        packet_id = self._new_id()
        self._out.append(mqtt5.UnsubscribePacket(packet_id, list(topics)).write())
        self._awaited[packet_id] = mqtt5.UnsubAckPacket
        return packet_id

    def ping(self) -> None:
        """Send a ping, which the broker must answer."""
        self._out.append(mqtt5.PingReqPacket().write())

    def disconnect(self, code: mqtt5.DisconnectReasonCode, *, session_expiry_s: int | None = None) -> None:
        """Announce the end of the connection. With `session_expiry_s` 0 the broker keeps nothing of this session."""
        packet = mqtt5.DisconnectPacket(reason_code=code, session_expiry_interval=session_expiry_s)
        self._out.append(packet.write())

    def _new_id(self) -> int:
        """Return an identifier that awaits no answer. There always is one: a broker never lets us use all of them
        (3.3.4)."""
        while True:
            self._last_id = self._last_id % 0xFFFF + 1
            if self._last_id not in self._awaited:
                return self._last_id

    # --- receiving -------------------------------------------------------------------------------------------------

    def receive(self, data: bytes) -> Iterator[Event]:
        """Yield the packets that end in `data`. A publication is confirmed when the caller asks for the next packet,
        because the caller has handled it by then. Raises MqttError when the connection is over."""
        data, at = self._rest + data, 0
        try:
            while (head := _length(data, at + 1)) is not None:
                end = sum(head)
                if end - at > self._bytes_max:
                    why = f"a packet of {end - at} bytes, although it knows that we accept at most {self._bytes_max}"
                    raise BrokenProtocolError(why, mqtt5.DisconnectReasonCode.PACKET_TOO_LARGE)
                if end > len(data):
                    break
                packet, at = memoryview(data)[at:end], end
                yield from self._take(packet)
        finally:
            self._rest = data[at:]

    def _take(self, data: memoryview) -> Iterator[Event]:
        if self.accepted is None and data[:2] == OLDER_CONNACK:
            raise MqttError("the broker does not speak MQTT 5, which is needed here")
        packet = _read(data)
        if self.accepted is None:
            yield self._connack(packet)
        elif isinstance(packet, mqtt5.PublishPacket):
            if packet.topic_alias is not None or int(packet.qos) > 1 or packet.packet_id == 0:
                raise BrokenProtocolError("a publication with an alias, without an identifier, or at QoS 2")
            yield packet
            self._confirm(packet.packet_id)
        elif packet is None:
            topic, packet_id = _topic_and_id(data)
            yield Unread(topic)
            self._confirm(packet_id)
        elif isinstance(packet, mqtt5.PubAckPacket | mqtt5.SubAckPacket | mqtt5.UnsubAckPacket):
            if self._awaited.pop(packet.packet_id, None) is not type(packet):
                raise BrokenProtocolError(f"an answer to packet {packet.packet_id}, which waits for no such answer")
            yield packet
        elif isinstance(packet, mqtt5.PingRespPacket):
            yield packet
        elif isinstance(packet, mqtt5.DisconnectPacket):
            raise DisconnectedError(packet.reason_code)
        else:
            raise BrokenProtocolError(f"a {type(packet).__name__}, which no broker may send")

    def _connack(self, packet: mqtt5.Packet | None) -> mqtt5.ConnAckPacket:
        if not isinstance(packet, mqtt5.ConnAckPacket):
            raise BrokenProtocolError("the first packet was not the answer to our connection")
        if is_failure(packet.reason_code):
            raise MqttError(f"the broker refuses the connection: {reason(packet.reason_code)}")
        if int(packet.max_qos) < 1 or not packet.retain_available:
            raise MqttError("the broker does not support QoS 1 or retained messages: both are needed here")
        self.accepted = packet
        return packet

    def _confirm(self, packet_id: int | None) -> None:
        if packet_id is not None:
            self._out.append(mqtt5.PubAckPacket(packet_id).write())


def _read(data: memoryview) -> mqtt5.Packet | None:
    """Return one whole packet. None for a publication that cannot be decoded."""
    try:
        return mqtt5.read(data)[0]
    except (KeyboardInterrupt, SystemExit):
        raise
    # The codec is written in Rust, and panics at a text that is not UTF-8. The exception of a panic derives from
    # BaseException.
    except BaseException as wrong:  # noqa: BLE001
        if data[0] & 0xF0 == PUBLISH:
            return None
        raise BrokenProtocolError(
            f"bytes that are not a packet of MQTT: {wrong}", mqtt5.DisconnectReasonCode.MALFORMED_PACKET
        ) from None


def _topic_and_id(data: memoryview) -> tuple[bytes, int | None]:
    """Return the topic of a publication, and its packet identifier unless it has QoS 0. Raises BrokenProtocolError."""
    head = _length(data, 1)
    assert head is not None, "the packet is whole"
    topic_at = head[0] + 2
    topic_end = topic_at + int.from_bytes(data[head[0] : topic_at], "big")
    qos = data[0] >> 1 & 3
    packet_id = int.from_bytes(data[topic_end : topic_end + 2], "big")
    if qos > 1 or topic_end + 2 * qos > len(data) or (qos and not packet_id):
        why = "a publication that has no end, no identifier, or QoS 2"
        raise BrokenProtocolError(why, mqtt5.DisconnectReasonCode.MALFORMED_PACKET)
    return bytes(data[topic_at:topic_end]), packet_id if qos else None


def _length(data: bytes | memoryview, at: int) -> tuple[int, int] | None:
    """Return where the length at `at` ends (1.5.5: one to four bytes), and its value. None if its end has not come
    yet."""
    value = 0
    for index, byte in enumerate(data[at : at + 4]):
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return at + index + 1, value
    if len(data) >= at + 4:
        raise BrokenProtocolError("a length of five bytes", mqtt5.DisconnectReasonCode.MALFORMED_PACKET)
    return None
