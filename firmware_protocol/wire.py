"""Encode messages to bytes and decode them, strictly. `codec` puts the bytes into frames.

All layouts are fixed and little-endian. Decoding checks every byte. It rejects an unknown type, a wrong length, a
reserved field that is not zero and a value out of range with a MessageError. Encoding makes the same checks, so each
side can read everything that the other side can send.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec

from firmware_protocol import messages as m

Fault: TypeAlias = Literal["unknown_type", "length", "value"]
T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)

_EVENTS_HEAD = struct.Struct("<IQQ")
_RECORD = struct.Struct("<IBBH")
_RESULT_HEAD = struct.Struct("<IIQ")
_SENSOR = struct.Struct("<BBH")
_HEARTBEAT = struct.Struct("<IQQQQQIIIHHH" + "B" * len(m.STANDS))
_IDENTITY = struct.Struct("<IBBBIQQQ16s16s8sHHBBHBB")
_CODES = {form.event: code for code, form in m.RECORDS.items()}


class MessageError(ValueError):
    """A good frame does not contain a message of protocol version 1. The sender's program has an error."""

    def __init__(self, fault: Fault, detail: str) -> None:
        super().__init__(f"{fault}: {detail}")
        self.fault = fault
        self.detail = detail


class UnsendableError(MessageError):
    """A message has a value that the protocol cannot represent. The error is in the caller of `encode`."""


def encode(message: m.FromHost | m.FromBoard) -> bytes:
    """Return the type byte and the body of `message`. Raises UnsendableError."""
    form = _BY_CLASS[type(message)]
    try:
        body = form.pack(message)
        form.unpack(body)
    except struct.error as error:
        raise UnsendableError("value", f"{message}: {error}") from error
    except MessageError as error:
        raise UnsendableError(error.fault, error.detail) from error
    return bytes([form.code]) + body


def decode_from_host(data: bytes) -> m.FromHost:
    """Decode a message of the host, without its frame. Raises MessageError."""
    message: m.FromHost = _decode(data, _FROM_HOST)
    return message


def decode_from_board(data: bytes) -> m.FromBoard:
    """Decode a message of the board, without its frame. Raises MessageError."""
    message: m.FromBoard = _decode(data, _FROM_BOARD)
    return message


class _Form(NamedTuple):
    code: int
    kind: type[msgspec.Struct]
    pack: Callable[[Any], bytes]
    unpack: Callable[[bytes], msgspec.Struct]


def _decode(data: bytes, forms: dict[int, _Form]) -> Any:
    form = forms.get(data[0]) if data else None
    if form is None:
        raise MessageError(
            "unknown_type", f"{data[:1].hex() or 'nothing'} is not a message that goes in this direction"
        )
    try:
        return form.unpack(data[1:])
    except struct.error as error:
        raise MessageError("length", f"{form.kind.__name__} of {len(data)} bytes: {error}") from error


def _plain(code: int, kind: type[S], layout: str, check: Callable[[S], None] = lambda _: None) -> _Form:
    """Return the form of a message with only integer fields, which are packed in the order of their declaration."""
    packer = struct.Struct("<" + layout)

    def pack(message: msgspec.Struct) -> bytes:
        return packer.pack(*msgspec.structs.astuple(message))

    def unpack(body: bytes) -> S:
        message = kind(*packer.unpack(body))
        check(message)
        return message

    return _Form(code, kind, pack, unpack)


def _require(condition: bool, detail: str) -> None:  # noqa: FBT001  a check is easiest to read with its condition first
    if not condition:
        raise MessageError("value", detail)


def _pick(options: Sequence[T], code: int, what: str) -> T:
    _require(code < len(options), f"{what} {code}")
    return options[code]


class _Kind(IntEnum):
    """The kinds of events that `m.RECORDS` does not contain."""

    ROTOR = 1
    SENSOR_FAILED = 5
    SENSOR_WORKS = 6
    BUTTON = 7


def _unpack_event(kind: int, value: int, index: int) -> m.Event:
    """Return the event of one record. A field that the kind does not use must be zero."""
    match kind:
        case _Kind.ROTOR:
            _require(index < m.ROTOR_TICKS_MAX, f"tick {index}")
            return m.RotorEdge(index, _pick(m.DIRECTIONS, value, "direction"))
        case _Kind.SENSOR_FAILED | _Kind.SENSOR_WORKS:
            return _sensor(value, index, ok=kind == _Kind.SENSOR_WORKS)
        case _Kind.BUTTON:
            _require(index == 0, f"button index {index}")
            return m.ButtonPress(_pick(m.BUTTONS, value, "button"))
    if (record := m.RECORDS.get(kind)) is None:
        raise MessageError("value", f"event kind {kind}")
    name, event, most = record
    if most:
        _require(value == 0 and index < most, f"{name} {index}, value {value}")
        return event(index)
    _require(value <= 1 and index == 0, f"{name} {value}, index {index}")
    return event(bool(value))


def _sensor(kind: int, index: int, *, ok: bool) -> m.SensorReport:
    name = _pick(m.SENSOR_KINDS, kind, "sensor kind")
    _require(index < m.SENSOR_LIMITS[name], f"{name} {index}")
    return m.SensorReport(name, index, ok)


def _pack_events(message: m.Events) -> bytes:
    first_us = message.events[0].board_us if message.events else 0
    data = _EVENTS_HEAD.pack(message.boot_id, message.first_seq, first_us)
    record: tuple[int, int, int]  # kind, value and index
    for timed in message.events:
        match timed.event:
            case m.RotorEdge(tick=tick, direction=direction):
                record = _Kind.ROTOR, m.DIRECTIONS.index(direction), tick
            case m.SensorReport(kind=sensor, index=index, ok=ok):
                record = _Kind.SENSOR_WORKS if ok else _Kind.SENSOR_FAILED, m.SENSOR_KINDS.index(sensor), index
            case m.ButtonPress(button=button):
                record = _Kind.BUTTON, m.BUTTONS.index(button), 0
            case event:
                code = _CODES[type(event)]
                (told,) = msgspec.structs.astuple(event)
                record = (code, 0, told) if m.RECORDS[code].most else (code, int(told), 0)
        data += _RECORD.pack(timed.board_us - first_us, *record)
    return data


def _unpack_events(body: bytes) -> m.Events:
    boot_id, first_seq, first_us = _EVENTS_HEAD.unpack(body[: _EVENTS_HEAD.size])
    records = list(_RECORD.iter_unpack(body[_EVENTS_HEAD.size :]))
    _require(1 <= len(records) <= m.EVENTS_MAX, f"{len(records)} events in a frame")
    deltas_us = [record[0] for record in records]
    _require(deltas_us[0] == 0, f"the first event is {deltas_us[0]} µs after first_us")
    _require(deltas_us == sorted(deltas_us), "the events are not in the order of their times")
    _require(
        max(first_seq + len(records), first_us + deltas_us[-1]) <= m.COUNT_MAX,
        "the numbers or times need more than 64 bits",
    )
    timed = (m.TimedEvent(first_us + delta_us, _unpack_event(*event)) for delta_us, *event in records)
    return m.Events(boot_id, first_seq, tuple(timed))


def _pack_result(message: m.SelfTestResult) -> bytes:
    sensors = (_SENSOR.pack(m.SENSOR_KINDS.index(one.kind), one.ok, one.index) for one in message.sensors)
    return _RESULT_HEAD.pack(message.boot_id, message.token, message.board_us) + b"".join(sensors)


def _unpack_result(body: bytes) -> m.SelfTestResult:
    boot_id, token, board_us = _RESULT_HEAD.unpack(body[: _RESULT_HEAD.size])
    sensors = []
    for kind, ok, index in _SENSOR.iter_unpack(body[_RESULT_HEAD.size :]):
        _require(ok <= 1, f"sensor state {ok}")
        sensors.append(_sensor(kind, index, ok=ok == 1))
    _require(len({sensor.name for sensor in sensors}) == len(sensors), "the same sensor is there twice")
    return m.SelfTestResult(boot_id, token, board_us, tuple(sensors))


def _pack_identity(message: m.Identity) -> bytes:
    *numbers, serial, firmware, config_hash, ring_events, top_rate, layout = msgspec.structs.astuple(message)
    _require(re.fullmatch("[0-9a-f]{16}", config_hash) is not None, f"configuration hash {config_hash!r}")
    texts = (_pack_text(serial), _pack_text(firmware), bytes.fromhex(config_hash))
    return _IDENTITY.pack(*numbers, *texts, ring_events, top_rate, *msgspec.structs.astuple(layout))


def _unpack_identity(body: bytes) -> m.Identity:
    *numbers, serial, firmware, config_hash, ring_events, top_rate, beams, readers, ticks, thing, door = (
        _IDENTITY.unpack(body)
    )
    _require(beams <= m.BEAMS_MAX and readers <= m.READERS_MAX, f"{beams} beams, {readers} readers")
    _require(ticks <= m.ROTOR_TICKS_MAX, f"{ticks} ticks")
    _require(thing <= 1 and door <= 1, f"object {thing}, door {door}")
    _require(ring_events >= m.RING_EVENTS_MIN and top_rate >= 1, f"ring of {ring_events}, {top_rate} events a second")
    layout = m.Layout(beams, readers, ticks, thing == 1, door == 1)
    texts = _unpack_text(serial), _unpack_text(firmware), config_hash.hex()
    values: list[Any] = [*numbers, *texts, ring_events, top_rate, layout]
    identity = m.Identity(*values)
    _check_versions(identity)
    versions = range(identity.version_min, identity.version_max + 1)
    _require(identity.version in (0, *versions), f"version {identity.version} of {versions}")
    _require(
        max(identity.oldest_seq, identity.acked_seq) <= identity.next_seq,
        "a number is greater than that of the next event",
    )
    return identity


def _check_versions(known: m.Hello | m.Identity) -> None:
    _require(1 <= known.version_min <= known.version_max, f"versions {known.version_min}…{known.version_max}")


def _pack_heartbeat(beat: m.Heartbeat) -> bytes:
    *numbers, levels = msgspec.structs.astuple(beat)
    held = (m.BUTTONS.index(button) for button in levels.buttons_held)
    bits = (_bits(levels.beams_blocked), _bits(levels.readers_blocked), _bits(held))
    codes = (words.index(getattr(levels, name)) for name, words in m.STANDS.items())
    return _HEARTBEAT.pack(*numbers, *bits, *codes)


def _unpack_heartbeat(body: bytes) -> m.Heartbeat:
    told = _HEARTBEAT.unpack(body)
    *numbers, beams, readers, buttons = told[: -len(m.STANDS)]
    held = tuple(_pick(m.BUTTONS, place, "button") for place in _places(buttons))
    codes = zip(m.STANDS.items(), told[-len(m.STANDS) :], strict=True)
    stand: dict[str, Any] = {name: _pick(words, code, f"{name} level") for (name, words), code in codes}
    levels = m.Levels(_places(beams), _places(readers), held, **stand)
    values: list[Any] = [*numbers, levels]
    beat = m.Heartbeat(*values)
    _require(
        max(beat.oldest_seq, beat.acked_seq, beat.sent_seq) <= beat.next_seq,
        "a number is greater than that of the next event",
    )
    return beat


def _bits(places: Iterable[int]) -> int:
    """Return a number in which the bits at `places` are set. Bit 0 is the lowest."""
    bits = 0
    for place in places:
        bits |= 1 << place
    return bits


def _places(bits: int) -> tuple[int, ...]:
    return tuple(place for place in range(bits.bit_length()) if bits >> place & 1)


def _pack_text(text: str) -> bytes:
    try:
        data = text.encode("ascii")
    except UnicodeEncodeError as error:
        raise MessageError("value", f"{text!r} is not ASCII") from error
    _require(len(data) <= m.TEXT_BYTES, f"{text!r} is longer than {m.TEXT_BYTES} bytes")
    return data.ljust(m.TEXT_BYTES, b"\0")


def _unpack_text(data: bytes) -> str:
    text = data.rstrip(b"\0").decode("latin-1")
    _require(text.isascii() and text.isprintable() and text != "", f"text {data!r}")
    return text


_FROM_HOST: dict[int, _Form] = {
    form.code: form
    for form in (
        _plain(0x01, m.Hello, "IBB", _check_versions),
        _plain(0x02, m.Ack, "IQ"),
        _plain(0x03, m.Replay, "IQ"),
        _plain(0x04, m.SyncRequest, "Q"),
        _plain(0x05, m.SelfTestRequest, "I"),
    )
}
_FROM_BOARD: dict[int, _Form] = {
    form.code: form
    for form in (
        _Form(0x81, m.Identity, _pack_identity, _unpack_identity),
        _Form(0x82, m.Events, _pack_events, _unpack_events),
        _Form(0x83, m.Heartbeat, _pack_heartbeat, _unpack_heartbeat),
        _plain(
            0x84,
            m.SyncReply,
            "IQQQ",
            lambda it: _require(it.board_rx_us <= it.board_tx_us, "the answer left before the request came"),
        ),
        _Form(0x85, m.SelfTestResult, _pack_result, _unpack_result),
    )
}
_BY_CLASS: dict[type, _Form] = {form.kind: form for form in (*_FROM_HOST.values(), *_FROM_BOARD.values())}
