"""A second decoder of messages from the board, written from the tables of firmware_protocol/README.md alone."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator

from firmware_protocol import messages as m

SIZES = {0x81: 85, 0x83: 64, 0x84: 28}
"""Bodies of one length: Identity, Heartbeat, SyncReply."""
EVENTS, RESULT = 0x82, 0x85
COUNT_MAX = 2**64 - 1
_VALUES = {1: (0, 1), 2: (0,), 3: (0,), 4: (0, 1), 7: range(10), 8: (0, 1)}
_INDICES = {1: 4096, 2: 16, 3: 16, 4: 1, 7: 1, 8: 1}
_SENSORS = {0: 16, 1: 16, 2: 1, 3: 1}
"""Sensor kinds, and how many of each a board may have."""


def fault_of(message: bytes) -> str | None:
    """The fault that a receiver counts: `unknown_type`, `length`, `value`; None when it has to accept the message."""
    kind, body = message[0], message[1:]
    if kind in SIZES:
        if len(body) != SIZES[kind]:
            return "length"
        is_good = {0x81: _identity, 0x83: _heartbeat, 0x84: _sync}[kind](body)
    elif kind == EVENTS:
        if len(body) < 20 or (len(body) - 20) % 8:
            return "length"
        is_good = _events(body)
    elif kind == RESULT:
        if len(body) < 16 or (len(body) - 16) % 4:
            return "length"
        is_good = _result(body)
    else:
        return "unknown_type"
    return None if is_good else "value"


def records_of(message: bytes) -> Iterator[tuple[int, ...]]:
    """The events of an Events message: boot id, number, board time, kind, value, index."""
    if message[0] != EVENTS:
        return
    boot_id, seq, first_us = struct.unpack_from("<IQQ", message, 1)
    for place, record in enumerate(struct.iter_unpack("<IBBH", message[21:])):
        delta_us, kind, value, index = record
        yield boot_id, seq + place, first_us + delta_us, kind, value, index


def record_of(event: m.Event) -> tuple[int, int, int]:
    """Kind, value and index that the table of events gives this one."""
    match event:
        case m.RotorEdge():
            return 1, ("cw", "ccw").index(event.direction), event.tick
        case m.BallPass():
            return 2, 0, event.beam
        case m.PocketSighting():
            return 3, 0, event.reader
        case m.ObjectSeen():
            return 4, int(event.present), 0
        case m.SensorReport():
            return 6 if event.ok else 5, ("beam", "reader", "rotor", "object").index(event.kind), event.index
        case m.DoorMoved():
            return 8, int(event.open), 0
    buttons = (
        "open",
        "operations_done",
        "rien_ne_va_plus",
        "rien_va",
        "tout_va",
        "last_coup",
        "close",
        "suspend",
        "resume",
        "last_coup_off",
    )
    return 7, buttons.index(event.button), 0


def _events(body: bytes) -> bool:
    _, seq, first_us = struct.unpack_from("<IQQ", body)
    records = list(struct.iter_unpack("<IBBH", body[20:]))
    if not 1 <= len(records) <= 28 or records[0][0] != 0:
        return False
    if any(later[0] < earlier[0] for earlier, later in itertools.pairwise(records)):
        return False
    if seq + len(records) > COUNT_MAX or first_us + records[-1][0] > COUNT_MAX:
        return False
    return all(_event(kind, value, index) for _, kind, value, index in records)


def _event(kind: int, value: int, index: int) -> bool:
    if kind in (5, 6):
        return index < _SENSORS.get(value, 0)
    return kind in _VALUES and value in _VALUES[kind] and index < _INDICES[kind]


def _result(body: bytes) -> bool:
    sensors = list(struct.iter_unpack("<BBH", body[16:]))
    if any(ok > 1 or index >= _SENSORS.get(kind, 0) for kind, ok, index in sensors):
        return False
    return len({(kind, index) for kind, _, index in sensors}) == len(sensors)


def _heartbeat(body: bytes) -> bool:
    oldest, acked, sent, following = struct.unpack_from("<QQQQ", body, 12)
    buttons, thing, door = struct.unpack_from("<HBB", body, 60)
    return max(oldest, acked, sent) <= following and buttons < 2**10 and max(thing, door) <= 2  # type: ignore[no-any-return]


def _sync(body: bytes) -> bool:
    rx_us, tx_us = struct.unpack_from("<QQ", body, 12)
    return rx_us <= tx_us  # type: ignore[no-any-return]


def _identity(body: bytes) -> bool:
    version, version_min, version_max = body[4:7]
    oldest, acked, following = struct.unpack_from("<QQQ", body, 11)
    ring_events, top_rate = struct.unpack_from("<HH", body, 75)
    beams, readers, ticks, has_object, has_door = struct.unpack_from("<BBHBB", body, 79)
    if not 1 <= version_min <= version_max or ring_events < 64 or top_rate < 1:
        return False
    if version and not version_min <= version <= version_max:
        return False
    if max(oldest, acked) > following or beams > 16 or readers > 16 or ticks > 4096 or max(has_object, has_door) > 1:
        return False
    return _text(body[35:51]) and _text(body[51:67])


def _text(field: bytes) -> bool:
    text = field.rstrip(b"\0")
    return bool(text) and all(0x20 <= byte < 0x7F for byte in text)
