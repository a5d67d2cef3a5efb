"""The stream of packets: split wherever it is cut, bounded whatever comes, and read as it was written."""

from __future__ import annotations

import random
import struct

import pytest

from wheeld.broker.packets import Packet, PacketError, Published, Splitter, answer_to, confirmations, published

BYTES_MAX = 1000
SEEDS = range(30)


def length_of(size: int) -> bytes:
    found = b""
    while size > 0x7F:
        found, size = found + bytes((size & 0x7F | 0x80,)), size >> 7
    return found + bytes((size,))


def publish(topic: bytes, payload: bytes, *, mid: int | None = None, properties: bytes | None = b"") -> bytes:
    """A PUBLISH of MQTT 5, or with `properties` None of 3.1.1; at QoS 1 where it has a `mid`."""
    body = struct.pack(">H", len(topic)) + topic + (b"" if mid is None else struct.pack(">H", mid))
    if properties is not None:
        body += length_of(len(properties)) + properties
    body += payload
    return bytes((0x30 if mid is None else 0x32,)) + length_of(len(body)) + body


def split(stream: bytes, cuts: list[int]) -> list[Packet]:
    splitter, found, last = Splitter(BYTES_MAX), list[Packet](), 0
    for cut in [*sorted(cuts), len(stream)]:
        found += splitter.split(stream[last:cut])
        last = cut
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_it_does_not_matter_where_the_stream_is_cut(seed: int) -> None:
    rng, stream, sent = random.Random(seed), b"", []
    for _ in range(rng.randrange(1, 30)):
        topic, mid = rng.randbytes(rng.choice((0, 7, 40, 300))), rng.choice((None, rng.randrange(1, 65_536)))
        payload, properties = rng.randbytes(rng.choice((0, 1, 100, 600, 3000))), rng.choice((b"", bytes(200)))
        written = publish(topic, payload, mid=mid, properties=properties)
        stream += written
        is_whole = len(topic) + len(payload) + len(properties) + 8 < BYTES_MAX
        sent.append((is_whole, written, Published(topic, b"" if mid is None else struct.pack(">H", mid), payload)))
        stream += rng.choice((b"", b"\xd0\x00"))
    for cuts in ([], sorted(rng.choices(range(len(stream)), k=20)), list(range(len(stream)))):
        found = [packet for packet in split(stream, cuts) if packet.data[0] != 0xD0]
        assert len(found) == len(sent), f"seed {seed}"
        for packet, (is_whole, data, meant) in zip(found, sent, strict=True):
            read = published(packet, is_mqtt_5=True)
            assert (packet.is_whole, read.topic, read.mid) == (is_whole, meant.topic, meant.mid), f"seed {seed}"
            assert not is_whole or (packet.data, read.payload) == (data, meant.payload), f"seed {seed}"


def test_mqtt_3_has_no_properties() -> None:
    (packet,) = split(publish(b"t", b"\x05hello", mid=7, properties=None), [])
    assert published(packet, is_mqtt_5=False) == Published(b"t", b"\0\x07", b"\x05hello")


def test_what_is_too_large_is_not_kept() -> None:
    splitter = Splitter(BYTES_MAX)
    stream = publish(b"topic", bytes(2_000_000), mid=7) + publish(b"next", b"", mid=8)
    found: list[Packet] = []
    for at in range(0, len(stream), 4096):
        found += splitter.split(stream[at : at + 4096])
        assert len(splitter._rest) <= 4096
    assert [(published(packet, is_mqtt_5=True).topic, packet.is_whole) for packet in found] == [
        (b"topic", False),
        (b"next", True),
    ]


@pytest.mark.parametrize(
    ("stream", "why"),
    [
        (b"\x30\xff\xff\xff\xff\x01", "length of more than four bytes"),
        (b"\x90" + length_of(BYTES_MAX + 1), "too large and no publication"),
        (b"\x30" + length_of(BYTES_MAX + 1) + b"\xff\xff", "shorter than its topic"),
        (b"\x30\x03\x00\x09x", "shorter than its topic"),
        (b"\x32\x03\x00\x01x", "shorter than its topic"),
        (b"\x30\x04\x00\x01x\x09", "shorter than its properties"),
        (b"\x30\x03\x00\x01x", "shorter than its properties"),
        (publish(b"x", b"").replace(b"\x30", b"\x34", 1), "QoS 2"),
    ],
)
def test_what_is_no_mqtt(stream: bytes, why: str) -> None:
    with pytest.raises(PacketError, match=why):
        [published(packet, is_mqtt_5=True) for packet in split(stream, [])]


def test_confirmations() -> None:
    assert confirmations([]) == b""
    assert confirmations([b"\x01\x02", b"\x00\x03"]) == b"\x40\x02\x01\x02\x40\x02\x00\x03"


def text(value: str) -> bytes:
    raw = value.encode(errors="surrogatepass")
    return struct.pack(">H", len(raw)) + raw


TOPIC, CORRELATION = b"\x08" + text("reply/a/b/c"), b"\x09" + struct.pack(">H", 2) + b"\0\xff"
OTHERS = (
    b"\x01\x01",
    b"\x02" + bytes(4),
    b"\x03" + text("\ufeff\0"),
    b"\x0b\x80\x01",
    b"\x23" + bytes(2),
    b"\x26" + text("a") + text("\ud800"),
)
"""Every other property that a publication may have (MQTT 5, 2.2.2.2), with what the library does not read."""


@pytest.mark.parametrize("seed", SEEDS)
def test_where_an_answer_is_wanted_is_read_among_all_properties(seed: int) -> None:
    rng = random.Random(seed)
    properties = [TOPIC, CORRELATION, *rng.choices(OTHERS, k=12)]
    rng.shuffle(properties)
    assert answer_to(b"".join(properties)) == ("reply/a/b/c", b"\0\xff"), f"seed {seed}"


@pytest.mark.parametrize("seed", SEEDS)
def test_properties_that_are_none_are_left_unread(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(200):
        answer_to(rng.randbytes(rng.randrange(40)))
    assert answer_to(CORRELATION + b"\x7f" + TOPIC) == (None, b"\0\xff")
    assert answer_to(b"\x08\0\xff") == ("", None)
    assert answer_to(b"\x08" + struct.pack(">H", 2) + b"\xff\xfe")[0] == "\ufffd\ufffd"
    assert answer_to(b"\x0b\x80") == (None, None)
