"""Frames: whole, byte by byte, with a tail, and out of arbitrary bytes."""

from __future__ import annotations

import itertools
import zlib

import pytest
from cobs import cobs  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from firmware_protocol.codec import (
    ENCODED_BYTES_MAX,
    MESSAGE_BYTES_MAX,
    FrameDecoder,
    FrameError,
    decode_frame,
    encode_frame,
)

messages = st.binary(min_size=1, max_size=MESSAGE_BYTES_MAX)


def sliced(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[a:b] for a, b in itertools.pairwise(edges)]


def test_known_frame() -> None:
    assert zlib.crc32(b"123456789") == 0xCBF43926
    assert encode_frame(b"123456789") == b"\x0e123456789\x26\x39\xf4\xcb\x00"


@given(st.lists(messages, max_size=5), st.lists(st.integers(min_value=0), max_size=6))
def test_any_slicing_gives_the_messages(sent: list[bytes], cuts: list[int]) -> None:
    decoder = FrameDecoder()
    wire = b"".join(map(encode_frame, sent))
    assert [got for part in sliced(wire, cuts) for got in decoder.feed(part)] == sent
    assert set(decoder.rejected.values()) == {0}


@given(messages)
def test_byte_by_byte_and_with_a_tail(message: bytes) -> None:
    frame = encode_frame(message)
    decoder = FrameDecoder()
    assert [got for byte in frame for got in decoder.feed(bytes([byte]))] == [message]
    assert decoder.feed(frame + frame[:-1]) == [message]
    assert decoder.feed(b"\0") == [message]


def test_longest_and_shortest_message() -> None:
    for message in (b"\1", b"\0", b"\xff" * MESSAGE_BYTES_MAX, bytes(MESSAGE_BYTES_MAX)):
        frame = encode_frame(message)
        assert len(frame) <= ENCODED_BYTES_MAX + 1
        assert FrameDecoder().feed(frame) == [message]
    for message in (b"", b"\1" * (MESSAGE_BYTES_MAX + 1)):
        with pytest.raises(ValueError, match="1 to 249"):
            encode_frame(message)


@pytest.mark.parametrize(
    ("encoded", "cause"),
    [
        (b"\x01" * (ENCODED_BYTES_MAX + 1), "too_long"),
        (b"\x05ab", "cobs"),
        (b"\x01", "short"),
        (b"\x05abcd", "short"),
        (cobs.encode(b"\x01\x02\x03\x04\x05"), "crc"),
    ],
)
def test_each_fault_is_counted_and_the_next_frame_survives(encoded: bytes, cause: str) -> None:
    with pytest.raises(FrameError) as caught:
        decode_frame(encoded)
    assert caught.value.cause == cause
    for size in (1, 7, 1000):
        wire = encoded + b"\0" + encode_frame(b"next")
        decoder = FrameDecoder()
        got = [one for at in range(0, len(wire), size) for one in decoder.feed(wire[at : at + size])]
        assert got == [b"next"]
        assert {name: count for name, count in decoder.rejected.items() if count} == {cause: 1}


def test_noise_without_delimiter_is_bounded_and_counted_once() -> None:
    decoder = FrameDecoder()
    for _ in range(1000):
        assert decoder.feed(b"\xaa" * 100) == []
    assert decoder.rejected["too_long"] == 1
    assert decoder.feed(b"\xaa\0" + encode_frame(b"next")) == [b"next"]
    assert decoder.rejected == {"too_long": 1, "cobs": 0, "crc": 0, "short": 0}


def test_empty_frames_count_as_nothing_and_reset_forgets() -> None:
    decoder = FrameDecoder()
    assert decoder.feed(b"\0\0\0") == []
    assert decoder.feed(b"\x05ab") == []
    decoder.reset()
    assert decoder.feed(encode_frame(b"next")) == [b"next"]
    decoder.reset()
    assert decoder.feed(encode_frame(b"it was sent when nobody listened")[9:] + encode_frame(b"next")) == [b"next"]
    assert set(decoder.rejected.values()) == {0}
    assert decoder.feed(encode_frame(b"damaged")[1:]) == []
    assert sum(decoder.rejected.values()) == 1


@given(st.binary(max_size=600), st.lists(st.integers(min_value=0), max_size=6))
def test_random_bytes_never_crash_and_only_a_valid_crc_is_believed(noise: bytes, cuts: list[int]) -> None:
    decoder = FrameDecoder()
    got = [message for part in sliced(noise, cuts) for message in decoder.feed(part)]
    for message in got:
        assert encode_frame(message)[:-1] in noise.split(b"\0")
    whole = FrameDecoder()
    assert whole.feed(noise) == got
    assert whole.rejected == decoder.rejected


@given(messages, st.data())
def test_a_damaged_frame_is_never_accepted(message: bytes, data: st.DataObject) -> None:
    frame = bytearray(encode_frame(message))
    at = data.draw(st.integers(0, len(frame) - 2))
    frame[at] ^= data.draw(st.integers(1, 255))
    decoder = FrameDecoder()
    assert message not in decoder.feed(bytes(frame))
    assert sum(decoder.rejected.values()) >= 1
