"""Messages through their own decoders, and everything a decoder must refuse."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_protocol import messages as m
from firmware_protocol.codec import MESSAGE_BYTES_MAX
from firmware_protocol.wire import MessageError, UnsendableError, decode_from_board, decode_from_host, encode
from tests.firmware_protocol.strategies import from_board, from_host


@given(from_host)
def test_host_messages_come_back(message: m.FromHost) -> None:
    assert decode_from_host(encode(message)) == message


@given(from_board)
def test_board_messages_come_back_and_fit_a_frame(message: m.FromBoard) -> None:
    data = encode(message)
    assert len(data) <= MESSAGE_BYTES_MAX
    assert decode_from_board(data) == message


@given(st.one_of(from_host, from_board), st.data())
def test_every_other_length_is_refused(message: m.FromHost | m.FromBoard, data: st.DataObject) -> None:
    decode = decode_from_host if encode(message)[0] < 0x80 else decode_from_board
    whole = encode(message)
    cut = data.draw(st.integers(1, len(whole) - 1))
    if isinstance(
        message, m.Events | m.SelfTestResult
    ):  # these grow by records: only a broken record is a wrong length
        record = 8 if isinstance(message, m.Events) else 4
        cut -= (len(whole) - cut) % record == 0
    for wrong in (whole[:cut], whole + b"\0"):
        with pytest.raises(MessageError):
            decode(wrong)


@given(st.binary(max_size=MESSAGE_BYTES_MAX))
def test_random_bytes_are_refused_or_mean_exactly_themselves(data: bytes) -> None:
    for decode in (decode_from_host, decode_from_board):
        try:
            message = decode(data)
        except MessageError:
            continue
        assert encode(message) == data


@given(from_board, st.data())
def test_changed_bytes_are_refused_or_mean_exactly_themselves(message: m.FromBoard, data: st.DataObject) -> None:
    body = bytearray(encode(message))
    body[data.draw(st.integers(0, len(body) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        other = decode_from_board(bytes(body))
    except MessageError:
        return
    assert encode(other) == bytes(body)


def test_the_directions_do_not_mix() -> None:
    for wrong in (b"", b"\x00", encode(m.SyncReply(1, 2, 3, 4))):
        with pytest.raises(MessageError, match="unknown_type"):
            decode_from_host(wrong)
    with pytest.raises(MessageError, match="unknown_type"):
        decode_from_board(encode(m.Hello(1)))


HEAD = (5).to_bytes(4, "little") + (100).to_bytes(8, "little") + (10**6).to_bytes(8, "little")


@pytest.mark.parametrize(
    ("records", "why"),
    [
        ("", "0 events"),
        ("00000000 01 00 0000" * (m.EVENTS_MAX + 1), "29 events"),
        ("01000000 02 00 0000", "after first_us"),
        ("00000000 02 00 0000 05000000 02 00 0000 04000000 02 00 0000", "in the order of their times"),
        ("00000000 00 00 0000", "event kind 0"),
        ("00000000 09 00 0000", "event kind 9"),
        ("00000000 01 02 0000", "direction 2"),
        ("00000000 01 00 0010", "tick 4096"),
        ("00000000 02 01 0000", "value 1"),
        ("00000000 02 00 1000", "beam 16"),
        ("00000000 03 00 1000", "reader 16"),
        ("00000000 03 01 0000", "value 1"),
        ("00000000 04 02 0000", "object 2"),
        ("00000000 04 01 0100", "index 1"),
        ("00000000 05 04 0000", "sensor kind 4"),
        ("00000000 06 00 1000", "beam 16"),
        ("00000000 06 02 0100", "rotor 1"),
        ("00000000 07 0a 0000", "button 10"),
        ("00000000 07 00 0100", "button index 1"),
        ("00000000 08 02 0000", "door 2"),
        ("00000000 08 01 0100", "door 1, index 1"),
    ],
)
def test_an_impossible_event_is_refused(records: str, why: str) -> None:
    with pytest.raises(MessageError, match=why) as caught:
        decode_from_board(b"\x82" + HEAD + bytes.fromhex(records))
    assert caught.value.fault == "value"


IDENTITY = m.Identity(
    1, 1, 1, 1, 5, 0, 0, 9, "WB-0001", "1.0.0", "00112233aabbccdd", 768, 512, m.Layout(4, 3, 148, True)
)


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (m.Events(1, 0, ()), "0 events"),
        (m.Events(1, 0, (m.TimedEvent(9, m.BallPass(0)), m.TimedEvent(8, m.BallPass(0)))), "value"),
        (m.Events(1, 0, (m.TimedEvent(0, m.BallPass(0)), m.TimedEvent(2**32, m.BallPass(0)))), "value"),
        (m.Events(1, m.COUNT_MAX, (m.TimedEvent(0, m.BallPass(0)),)), "more than 64 bits"),
        (m.Ack(-1, 0), "value"),
        (m.Heartbeat(1, 0, 0, 0, 8, 7), "greater than that of the next event"),
        (m.Heartbeat(1, 0, 0, 0, 0, 0, levels=m.Levels(beams_blocked=(16,))), "value"),
        (m.SyncReply(1, 1, 5, 4), "before the request came"),
        (m.SelfTestResult(1, 1, 1, (m.SensorReport("beam", 0, True), m.SensorReport("beam", 0, False))), "twice"),
        (msgspec.structs.replace(IDENTITY, serial="Ü"), "not ASCII"),
        (msgspec.structs.replace(IDENTITY, serial="x" * 17), "longer than 16"),
        (msgspec.structs.replace(IDENTITY, serial=""), "text"),
        (msgspec.structs.replace(IDENTITY, firmware="a\tb"), "text"),
        (msgspec.structs.replace(IDENTITY, config_hash="0011"), "configuration hash"),
        (msgspec.structs.replace(IDENTITY, acked_seq=10), "greater than that of the next event"),
        (msgspec.structs.replace(IDENTITY, version_min=2), "versions 2…1"),
        (msgspec.structs.replace(IDENTITY, version=0, version_min=0), "versions 0…1"),
        (m.Hello(1, 2, 1), "versions 2…1"),
        (m.Hello(1, 0, 1), "versions 0…1"),
        (msgspec.structs.replace(IDENTITY, ring_events=63), "ring of 63"),
        (msgspec.structs.replace(IDENTITY, top_rate=0), "0 events a second"),
        (msgspec.structs.replace(IDENTITY, version=2), "version 2"),
        (msgspec.structs.replace(IDENTITY, layout=m.Layout(17, 3, 148, True)), "17 beams"),
        (msgspec.structs.replace(IDENTITY, layout=m.Layout(4, 3, 4097, True)), "4097 ticks"),
    ],
)
def test_what_cannot_be_read_cannot_be_said(message: Any, why: str) -> None:
    with pytest.raises(UnsendableError, match=why):
        encode(message)


@pytest.mark.parametrize(
    ("place", "value", "why"),
    [
        (-4, 0x00, None),
        (-3, 0x04, "button 10"),
        (-3, 0x80, "button 15"),
        (-2, 3, "object level 3"),
        (-1, 1, None),
        (-1, 3, "door level 3"),
    ],
)
def test_a_heartbeat_tells_levels_of_what_there_is(place: int, value: int, why: str | None) -> None:
    data = bytearray(encode(m.Heartbeat(1, 0, 0, 0, 0, 0)))
    data[place] = value
    if why is None:
        assert isinstance(decode_from_board(bytes(data)), m.Heartbeat)
        return
    with pytest.raises(MessageError, match=why):
        decode_from_board(bytes(data))


@pytest.mark.parametrize(("place", "why"), [(-2, "object 2, door 0"), (-1, "object 1, door 2")])
def test_a_layout_that_neither_has_a_sensor_nor_lacks_it_is_refused(place: int, why: str) -> None:
    data = bytearray(encode(IDENTITY))
    data[place] = 2
    with pytest.raises(MessageError, match=why):
        decode_from_board(bytes(data))


def test_a_self_test_result_of_neither_state_is_refused() -> None:
    data = bytearray(encode(m.SelfTestResult(1, 1, 1, (m.SensorReport("beam", 0, True),))))
    data[-3] = 2
    with pytest.raises(MessageError, match="sensor state 2"):
        decode_from_board(bytes(data))


def test_sensor_names_are_those_of_the_observation_log() -> None:
    names = [m.SensorReport(kind, 0, True).name for kind in m.SENSOR_KINDS]
    assert names == ["beam/0", "reader/0", "rotor", "object"]
