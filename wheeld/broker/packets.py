"""MQTT packets, split before the library sees them: a few bytes of each decide whether it is worth decoding.

To decode a publication costs the library ten times as much as to look at its topic. Under a flood that is the
difference between reading on and falling behind; and what is not read waits in the broker, which drops what it can't
hold, the chef's words among it.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from wheeld.errors import WheeldError

PUBLISH, PUBACK = 0x30, 0x40
"""The first byte of a packet without its flags (MQTT 3.1.1 and 5, 2.1.2)."""


class PacketError(WheeldError):
    """What came is no MQTT: the connection has to end."""


class Packet(msgspec.Struct, frozen=True, gc=False):
    """One packet. `body_at`: where its variable header begins. Of one that is too large `data` holds only the topic and
    the packet identifier, and `is_whole` is False."""

    data: bytes
    body_at: int
    is_whole: bool = True


class Published(msgspec.Struct, frozen=True, gc=False):
    """Of a publication: `mid`, the two bytes of its packet identifier, is empty at QoS 0."""

    topic: bytes
    mid: bytes
    payload: bytes


class Splitter:
    """Splits a stream of bytes into packets. It holds less than one packet of `bytes_max` bytes, or one topic."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._rest = b""
        self._to_skip = 0

    def split(self, data: bytes) -> Iterator[Packet]:
        """The packets that end in `data`. Raises PacketError."""
        skipped = min(self._to_skip, len(data))
        self._to_skip -= skipped
        data, at = self._rest + data[skipped:], 0
        try:
            while (found := _number(data, at + 1)) is not None:
                length, body = found
                end = body + length
                if length > self._bytes_max:
                    if data[at] & 0xF0 != PUBLISH:
                        raise PacketError("a packet that is too large and no publication")
                    cut = _end_of_identifier(data, body, length)
                    if cut is None:
                        break
                    yield Packet(data[at:cut], body - at, is_whole=False)
                    at = min(end, len(data))
                    self._to_skip = end - at
                elif end > len(data):
                    break
                else:
                    yield Packet(data[at:end], body - at)
                    at = end
        finally:
            self._rest = data[at:]


def published(packet: Packet, *, is_mqtt_5: bool) -> Published:
    """What a PUBLISH holds; raises PacketError."""
    data, at = packet.data, packet.body_at
    qos = data[0] >> 1 & 3
    if qos > 1:
        raise PacketError("a publication at QoS 2, to which nobody subscribed")
    topic_end = at + 2 + int.from_bytes(data[at : at + 2], "big")
    mid_end = topic_end + 2 * qos
    if mid_end > len(data):
        raise PacketError("a publication shorter than its topic")
    payload_at = mid_end
    if is_mqtt_5 and packet.is_whole:
        found = _number(data, mid_end)
        if found is None or sum(found) > len(data):
            raise PacketError("a publication shorter than its properties")
        payload_at = sum(found)
    return Published(data[at + 2 : topic_end], data[topic_end:mid_end], data[payload_at:])


def confirmations(mids: list[bytes]) -> bytes:
    """A PUBACK for each of these packet identifiers."""
    head = bytes((PUBACK, 2))
    return b"".join([head + mid for mid in mids])


def _number(data: bytes, at: int) -> tuple[int, int] | None:
    """A number of one to four bytes (1.5.5), and where it ends; None while its end has not come."""
    value = 0
    for index, byte in enumerate(data[at : at + 4]):
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return value, at + index + 1
    if len(data) >= at + 4:
        raise PacketError("a length of more than four bytes")
    return None


def _end_of_identifier(data: bytes, body: int, length: int) -> int | None:
    """Where the packet identifier of a publication that is too large ends; None while it has not come."""
    if len(data) < body + 2:
        return None
    size = 2 + int.from_bytes(data[body : body + 2], "big") + 2
    if size > length:
        raise PacketError("a publication shorter than its topic")
    return body + size if len(data) >= body + size else None
