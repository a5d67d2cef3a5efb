"""The firmware's codec and Python's read the same out of every line, and write the same bytes."""

from __future__ import annotations

import os
import random
import struct
import subprocess
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firmware_protocol import messages as m
from firmware_protocol.codec import ENCODED_BYTES_MAX, MESSAGE_BYTES_MAX, FrameError, decode_frame, encode_frame
from firmware_protocol.wire import MessageError, decode_from_host, encode
from tests.firmware.harness import Harness, record, told
from tests.firmware_protocol.strategies import from_board

FRAMES = int(os.environ.get("WHEELD_FIRMWARE_FRAMES", "20000"))
IN_ONE_RUN = 20_000
SEED = 29
RECEIPTS = {"too_long": 2, "cobs": 3, "short": 4, "crc": 5}
READINGS = {"unknown_type": 1, "length": 2, "value": 3}
BODY_BYTES = {1: 6, 2: 12, 3: 12, 4: 8, 5: 4}


def message(rng: random.Random) -> bytes:
    """A message of the host, or one that is nearly one, or anything."""
    kind = rng.randint(1, 5)
    length = BODY_BYTES[kind] + (rng.random() < 0.1) * rng.choice((-1, 1))
    match rng.random():
        case luck if luck < 0.6:
            body = rng.choice((rng.randbytes(length), bytes(length), b"\xff" * length))
            if kind == 1 and rng.random() < 0.8:
                body = body[:4] + bytes((rng.randint(0, 3), rng.randint(0, 3)))
            return bytes([kind]) + body
        case luck if luck < 0.9:
            return rng.randbytes(rng.randint(1, 40))
        case _:
            return bytes(rng.choices((0, 1, 255), k=rng.randint(1, MESSAGE_BYTES_MAX)))


def mutated(frame: bytes, rng: random.Random) -> bytes:
    """The frame after a fault of the line, which may make several frames of it, or a part of one."""
    at = rng.randrange(len(frame))
    match rng.randrange(6):
        case 0:
            return frame[:at] + bytes([frame[at] ^ 1 << rng.randrange(8)]) + frame[at + 1 :]
        case 1:
            return frame[:at] + frame[at + 1 :]
        case 2:
            return frame[:at] + rng.randbytes(rng.randint(1, 8)) + frame[at:]
        case 3:
            return frame[:at] + b"\0"
        case 4:
            return rng.randbytes(rng.randint(1, 30)) + b"\0"
        case _:
            length = rng.choice((1, 5, ENCODED_BYTES_MAX - 1, ENCODED_BYTES_MAX, ENCODED_BYTES_MAX + 1, 600))
            return bytes(rng.choices(range(1, 256), k=length)) + b"\0"


def lines(frames: int, seed: int) -> Iterator[bytes]:
    """So many frames, half of them as they were sent."""
    rng = random.Random(seed)
    for _ in range(frames):
        frame = encode_frame(message(rng))
        yield frame if rng.random() < 0.5 else mutated(frame, rng)


def expected(piece: bytes) -> bytes:
    """What the harness must say of one frame, by Python's codec."""
    try:
        found = decode_frame(piece)
    except FrameError as error:
        return bytes([RECEIPTS[error.cause]])
    heads = bytes([1, len(found)]) + found
    try:
        read = decode_from_host(found)
    except MessageError as error:
        return heads + bytes([READINGS[error.fault]])
    fields = {"version_min": 0, "version_max": 0, "boot_id": 0, "token": 0, "number": 0, **msgspec.structs.asdict(read)}
    number = fields.get("next_seq", fields.get("from_seq", 0))
    if isinstance(read, m.SyncRequest):
        number, fields["token"] = fields["token"], 0
    words = fields["version_min"], fields["version_max"], fields["boot_id"], fields["token"], number
    return heads + struct.pack("<BBBBIIQ", 0, found[0], *words)


def test_both_read_the_same_out_of_every_line(harness: Path) -> None:
    seen: Counter[int] = Counter()
    drawn = lines(FRAMES, SEED)
    for run, part in enumerate(iter(lambda: b"".join(islice(drawn, IN_ONE_RUN)), b"")):
        line = part + b"\0"
        pieces = [expected(piece) for piece in line.split(b"\0") if piece]
        said = subprocess.run([harness, "frames"], input=line, capture_output=True, check=True).stdout
        assert said == b"".join(pieces), f"run {run} of seed {SEED}"
        seen.update(piece[0] if piece[0] != 1 else 10 + piece[2 + piece[1]] for piece in pieces)
    assert set(seen) == {2, 3, 4, 5, 10, 11, 12, 13}, "each fault, and good messages"


def command(message: m.FromBoard) -> str:
    """The harness's command that writes this message."""
    match message:
        case m.Identity():
            seqs = f"{message.oldest_seq} {message.acked_seq} {message.next_seq}"
            return f"identity {message.token} {message.version} {message.boot_id} {seqs} {told(message)}"
        case m.Heartbeat():
            *numbers, levels = msgspec.structs.astuple(message)
            bits = (
                sum(1 << place for place in places)
                for places in (
                    levels.beams_blocked,
                    levels.readers_blocked,
                    [m.BUTTONS.index(button) for button in levels.buttons_held],
                )
            )
            stands = m.OBJECT_LEVELS.index(levels.object), m.DOOR_LEVELS.index(levels.door)
            return f"heartbeat {' '.join(map(str, (*numbers, *bits, *stands)))}"
        case m.SyncReply():
            return f"sync {' '.join(map(str, msgspec.structs.astuple(message)))}"
        case m.Events(events=events):
            first_us = events[0].board_us
            records = (f"{one.board_us - first_us} {' '.join(map(str, record(one.event)))}" for one in events)
            heads = f"{message.boot_id} {message.first_seq} {first_us} {len(events)}"
            return f"events {heads} {' '.join(records)}"
        case m.SelfTestResult(sensors=sensors):
            found = (f"{m.SENSOR_KINDS.index(one.kind)} {one.ok:d} {one.index}" for one in sensors)
            heads = f"{message.boot_id} {message.token} {message.board_us} {len(sensors)}"
            return f"sensors {heads} {' '.join(found)}"


def test_both_write_the_same_bytes(harness: Path) -> None:
    with Harness(harness) as firmware:

        @settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
        @given(from_board, st.booleans())
        def same(message: m.FromBoard, known: bool) -> None:
            if isinstance(message, m.Identity):
                message = msgspec.structs.replace(message, version=int(known), version_min=1, version_max=1)
            assert firmware.ask(command(message)) == encode_frame(encode(message))

        same()
