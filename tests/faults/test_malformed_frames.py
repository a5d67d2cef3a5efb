"""Malformed frames through decoder, session and board: nothing crashes, nothing comes out that was not sent."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_protocol import messages as m
from firmware_protocol.codec import ENCODED_BYTES_MAX, FrameDecoder, encode_frame
from firmware_protocol.host import HostSession
from firmware_protocol.wire import MessageError, decode_from_board, decode_from_host, encode
from tests.faults.fuzz_frames import play, summary
from tests.faults.fuzz_frames_drawn import framed
from tests.faults.fuzz_specification import fault_of
from tests.firmware_protocol.strategies import from_board

FRAMES = Path(__file__).parent / "corpus" / "frames"
PROCESSES = 2
GROWN_KB_MAX = 20_000
"""How much more memory a run may need at its end than after its first turns: nothing of a frame is kept."""
fixed = settings(derandomize=True, database=None, deadline=None, max_examples=150)


def test_nothing_comes_out_that_was_not_sent(
    how_many: Callable[[str], int], seed: str, counted: Callable[[str], None]
) -> None:
    frames = how_many("malformed frames")
    if frames < 1_000_000:
        tallies = [play(f"{seed}/0", frames)]
    else:
        with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
            seeds = [f"{seed}/{place}" for place in range(PROCESSES)]
            tallies = list(pool.map(play, seeds, [frames // PROCESSES] * PROCESSES))
    total = sum(tally.malformed.total() for tally in tallies)
    counted(summary(tallies))
    assert total >= frames
    assert all(tally.malformed[kind] > total / 100 for tally in tallies for kind in tallies[0].malformed)
    assert all(tally.identified and tally.observed for tally in tallies), (
        "the board was never identified: the run shows nothing"
    )
    assert max(tally.grown_kb for tally in tallies) < GROWN_KB_MAX
    assert sum(tally.escapes for tally in tallies) <= 1, "a CRC-32 misses one in four thousand million"


def test_a_line_that_never_ends_its_frame_needs_no_memory(counted: Callable[[str], None]) -> None:
    """An hour of 115200 baud without a delimiter, then a frame."""
    decoder, session = FrameDecoder(), HostSession(1)
    noise = bytes(range(1, 256)) * 16
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        for _ in range(10_000):
            assert decoder.feed(noise) == []
            assert session.receive(noise, 0) == []
            _, peak = tracemalloc.get_traced_memory()
            assert peak - before < 20 * len(noise)
    finally:
        tracemalloc.stop()
    counted(f"{10_000 * len(noise):,} bytes without a delimiter: at most {peak - before:,} bytes of memory")
    assert decoder.rejected["too_long"] == 1
    assert decoder.feed(b"\0" + encode_frame(b"after")) == [b"after"]


def test_a_single_flipped_bit_is_always_found() -> None:
    """CRC-32 promises it. COBS in between could break the promise, so every bit of every kept frame is tried."""
    frames = [path.read_bytes() for path in sorted(FRAMES.glob("*.frame"))]
    frames += [framed(path.read_bytes()) + b"\0" for path in sorted(FRAMES.glob("*.message"))]
    flips = 0
    for frame in frames:
        assert len(FrameDecoder().feed(frame)) == 1
        for at in range((len(frame) - 1) * 8):
            flipped = bytearray(frame)
            flipped[at >> 3] ^= 1 << (at & 7)
            assert FrameDecoder().feed(bytes(flipped)) == [], f"bit {at} of {frame.hex()}"
            flips += 1
    assert flips > 30_000


@pytest.mark.parametrize("path", sorted(FRAMES.glob("*.message")), ids=lambda path: path.stem)
def test_each_kept_message_has_the_fault_in_the_specification(path: Path) -> None:
    """Each file is named after its fault: `value-…`, `length-…`, `unknown_type-…`, or `good-…`."""
    message = path.read_bytes()
    expected = path.stem.partition("-")[0]
    assert (fault_of(message) or "good") == expected
    if expected == "good":
        assert encode(decode_from_board(message)) == message
        return
    assert_refused(message, expected)


def assert_refused(message: bytes, fault: str) -> None:
    with pytest.raises(MessageError) as wrong:
        decode_from_board(message)
    assert wrong.value.fault == fault


@fixed
@given(message=from_board, at=st.integers(0, 247), fill=st.binary(min_size=1, max_size=8))
def test_a_changed_field_is_refused_or_decoded_as_its_bytes(message: m.FromBoard, at: int, fill: bytes) -> None:
    whole = encode(message)
    at %= len(whole)
    changed = (whole[:at] + fill + whole[at + len(fill) :])[: len(whole)]
    if (fault := fault_of(changed)) is None:
        assert encode(decode_from_board(changed)) == changed
        return
    assert_refused(changed, fault)


@fixed
@given(data=st.binary(max_size=249))
def test_the_board_s_decoder_is_as_strict(data: bytes) -> None:
    try:
        message = decode_from_host(data)
    except MessageError:
        return
    assert encode(message) == data


@fixed
@given(st.lists(st.binary(max_size=400), max_size=8), st.lists(st.integers(1, 300), max_size=20))
def test_any_bytes_in_any_slices_damage_only_their_own_frames(noise: list[bytes], sizes: list[int]) -> None:
    decoder = FrameDecoder()
    stream = b"\0".join([*noise, b""])
    for size in sizes:
        decoder.feed(stream[:size])
        stream = stream[size:]
    decoder.feed(stream)
    assert decoder.feed(b"\0" + framed(b"good") + b"\0")[-1:] == [b"good"]
    assert len(decoder._tail) <= ENCODED_BYTES_MAX
