"""MQTT packets, split before the library sees them; publications are read here alone.

To decode a publication costs the library ten times as much as to look at its topic. Under a flood that is the
difference between reading on and falling behind; and what is not read waits in the broker, which drops what it can't
hold, the chef's words among it. And the library ends the connection over a property that it dislikes and nobody here
needs: the broker would send that publication again, and again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

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
    """A publication: `mid`, the two bytes of its packet identifier, is empty at QoS 0; `properties` are those of MQTT 5
    as they came."""

    topic: bytes
    mid: bytes
    payload: bytes
    retained: bool = False
    properties: bytes = b""


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
    properties_at = payload_at = mid_end
    if is_mqtt_5 and packet.is_whole:
        found = _number(data, mid_end)
        if found is None or sum(found) > len(data):
            raise PacketError("a publication shorter than its properties")
        payload_at, properties_at = sum(found), found[1]
    return Published(
        topic=data[at + 2 : topic_end],
        mid=data[topic_end:mid_end],
        payload=data[payload_at:],
        retained=bool(data[0] & 1),
        properties=data[properties_at:payload_at],
    )


def answer_to(properties: bytes) -> tuple[str | None, bytes | None]:
    """Where the sender wants its answer, and the correlation data that it wants with it (3.3.2.3); None for each that
    was not given. Everything else is left unread, whatever stands in it; so is what follows a property that is none."""
    topic: str | None = None
    correlation: bytes | None = None
    at = 0
    while at < len(properties) and (size := _SIZES.get(properties[at])) is not None:
        begin, end = at + 1, size(properties, at + 1)
        if properties[at] == _RESPONSE_TOPIC:
            topic = properties[begin + 2 : end].decode(errors="replace")
        elif properties[at] == _CORRELATION:
            correlation = properties[begin + 2 : end]
        at = end
    return topic, correlation


def _one(_data: bytes, at: int) -> int:
    return at + 1


def _two(_data: bytes, at: int) -> int:
    return at + 2


def _four(_data: bytes, at: int) -> int:
    return at + 4


def _counted(data: bytes, at: int) -> int:
    return at + 2 + int.from_bytes(data[at : at + 2], "big")


def _pair(data: bytes, at: int) -> int:
    return _counted(data, _counted(data, at))


def _variable(data: bytes, at: int) -> int:
    found = _number(data, at)
    return len(data) if found is None else found[1]


_RESPONSE_TOPIC, _CORRELATION = 0x08, 0x09
_SIZES: Mapping[int, Callable[[bytes, int], int]] = MappingProxyType(
    {
        0x01: _one,
        0x02: _four,
        0x03: _counted,
        _RESPONSE_TOPIC: _counted,
        _CORRELATION: _counted,
        0x0B: _variable,
        0x23: _two,
        0x26: _pair,
    }
)
"""For each property that a publication may have, where it ends."""


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
