"""The specification is executable: every frame printed in the README is decoded and encoded, and `protocol.toml` is
compared with the tables of the README, with the C header and with the code."""

from __future__ import annotations

import itertools
import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from cobs import cobs  # type: ignore[import-untyped]
from hypothesis import given, settings

from firmware_protocol import codec, wire
from firmware_protocol import messages as m
from tests.faults.fuzz_specification import record_of
from tests.firmware_protocol.bench import identity_of, timed_ball
from tests.firmware_protocol.definition import (
    DEFINITION,
    FORMATS,
    HEADER,
    MESSAGES,
    fields_at,
    fields_line,
    header,
    layout_of,
    tables,
)
from tests.firmware_protocol.strategies import from_board, from_host

README = (Path(codec.__file__).parent / "README.md").read_text(encoding="utf-8")
FRAMES = re.findall(r"```frame\n(.+?)\n\n([0-9a-f \n]+)\n```", README, flags=re.DOTALL)
CODES = DEFINITION["codes"]
SAMPLES = (
    m.Hello(7),
    identity_of(),
    m.Events(1, 0, (m.TimedEvent(0, m.BallPass(0)),)),
    m.Heartbeat(1, 0, 0, 0, 0, 0),
    m.SelfTestResult(1, 1, 1, (m.SensorReport("rotor", 0, True),)),
)
"""One of each message of which a field has a range."""
fixed = settings(derandomize=True, database=None, deadline=None, max_examples=300)
SECTIONS = re.findall(r"^### ([0-9a-f]{2}) (\w+)$", README, flags=re.MULTILINE)


@pytest.mark.parametrize(("meaning", "hexadecimal"), FRAMES)
def test_each_frame_means_what_is_printed_above_it(meaning: str, hexadecimal: str) -> None:
    message = eval(meaning, vars(m).copy())
    frame = bytes.fromhex(hexadecimal)
    assert codec.encode_frame(wire.encode(message)) == frame
    (content,) = codec.FrameDecoder().feed(frame)
    decode = wire.decode_from_host if isinstance(message, m.FromHost) else wire.decode_from_board
    assert decode(content) == message


def test_the_frame_built_step_by_step() -> None:
    steps = re.search(r"^    message   ([0-9a-f ]+)\n    with CRC  ([0-9a-f ]+)$", README, flags=re.MULTILINE)
    assert steps is not None
    message, with_crc = map(bytes.fromhex, steps.groups())
    assert with_crc == message + zlib.crc32(message).to_bytes(4, "little")
    assert cobs.encode(with_crc) + b"\0" == bytes.fromhex(FRAMES[0][1])


def test_each_message_has_a_section_and_a_frame() -> None:
    classes = {one.__name__ for one in (*get_args(m.FromHost), *get_args(m.FromBoard))}
    assert {name for _, name in SECTIONS} == classes
    codes = {}
    for meaning, hexadecimal in FRAMES:
        (content,) = codec.FrameDecoder().feed(bytes.fromhex(hexadecimal))
        codes[meaning.partition("(")[0]] = f"{content[0]:02x}"
    assert codes == {name: code for code, name in SECTIONS}
    assert README.count("```frame") == len(FRAMES) > len(classes)


def test_each_limit_is_that_of_the_code() -> None:
    assert DEFINITION["version"] == m.VERSION
    for limit in DEFINITION["limits"]:
        assert getattr(m, limit["name"], getattr(codec, limit["name"], None)) == limit["value"], limit["name"]


def test_each_code_is_that_of_the_code() -> None:
    ours = {
        "direction": m.DIRECTIONS,
        "sensor": m.SENSOR_KINDS,
        "object": m.OBJECT_LEVELS,
        "door": m.DOOR_LEVELS,
        "button": m.BUTTONS,
    }
    assert {what: tuple(words) for what, words in DEFINITION["codes"].items()} == ours
    values = {kind["name"]: kind["value"] for kind in DEFINITION["kinds"]}
    assert values["button"] == ", ".join(f"{code} {name.replace('_', ' ')}" for code, name in enumerate(m.BUTTONS))
    assert values["failed"] == "sensor kind: " + ", ".join(f"{code} {name}" for code, name in enumerate(m.SENSOR_KINDS))


@pytest.mark.parametrize("table", [*tables()], ids=lambda rows: rows.split("|")[1].strip())
def test_each_table_is_in_the_page(table: str) -> None:
    rows = "".join(re.findall(r"^\|.*\n", README, flags=re.MULTILINE))
    assert f"---|\n{table}" in rows


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_each_message_has_its_fields_in_the_page(message: dict[str, Any]) -> None:
    assert (f"{message['code']:02x}", message["name"]) in SECTIONS
    section = README.partition(f"### {message['code']:02x} {message['name']}\n")[2]
    lines = re.match(r"\n((?:    .*\n)+)", section)
    assert lines is not None
    assert " ".join(lines[1].split()) == fields_line(message)


def test_the_header_is_made_from_the_definition() -> None:
    assert HEADER.read_text(encoding="utf-8") == header()


@fixed
@given(message=from_host | from_board)
def test_each_message_has_the_fields_of_the_definition(message: m.FromHost | m.FromBoard) -> None:
    defined, data = MESSAGES[type(message).__name__], wire.encode(message)
    assert data[0] == defined["code"]
    head = layout_of(defined["fields"])
    values = head.unpack_from(data, 1)
    names = [field["name"] for field in defined["fields"]]
    assert dict(zip(names, values, strict=True)) == coded(message)
    if "records" in defined:
        records = list(layout_of(defined["records"]).iter_unpack(data[1 + head.size :]))
        assert records == list(coded_records(message))
        assert defined["records_min"] <= len(records) <= defined["records_max"]
    else:
        assert len(data) == 1 + head.size


def coded(message: Any) -> dict[str, Any]:
    """The fields of a message as numbers and bytes, by the codes of the definition."""
    fields = msgspec.structs.asdict(message)
    fields.pop("sensors", None)
    if events := fields.pop("events", None):
        fields["first_us"] = events[0].board_us
    for inner in ("layout", "levels"):
        fields |= msgspec.structs.asdict(fields.pop(inner)) if inner in fields else {}
    return {name: code_of(name, value) for name, value in fields.items()}


def code_of(name: str, value: Any) -> Any:
    if isinstance(value, tuple):
        places = (CODES["button"].index(one) if isinstance(one, str) else one for one in value)
        return sum(1 << place for place in places)
    if name in ("object", "door"):
        return CODES[name].index(value)
    if name == "config_hash":
        return bytes.fromhex(value)
    return value.encode().ljust(16, b"\0") if isinstance(value, str) else int(value)


def coded_records(message: Any) -> Iterator[tuple[int, ...]]:
    if isinstance(message, m.SelfTestResult):
        yield from ((CODES["sensor"].index(one.kind), one.ok, one.index) for one in message.sensors)
        return
    for timed in message.events:
        yield timed.board_us - message.events[0].board_us, *record_of(timed.event)


def test_each_kind_of_event_has_its_range() -> None:
    kinds = {kind["code"]: kind for kind in DEFINITION["kinds"]}
    for code, value, index in itertools.product(range(10), range(12), (0, 1, 15, 16, 4095, 4096)):
        kind = kinds.get(code, {"name": "none", "value_max": -1, "index_max": -1})
        index_max = 0 if kind["name"] in ("failed", "works") and value >= 2 else kind["index_max"]
        is_good = value <= kind["value_max"] and index <= index_max
        assert (
            is_read(wire.encode(m.Events(1, 0, (timed_ball(0),)))[:25] + struct.pack("<BBH", code, value, index))
            == is_good
        )


@pytest.mark.parametrize("message", SAMPLES, ids=lambda message: type(message).__name__)
def test_each_field_has_its_range(message: m.FromHost | m.FromBoard) -> None:
    defined, data = MESSAGES[type(message).__name__], wire.encode(message)
    assert is_read(data)
    head = 1 + layout_of(defined["fields"]).size
    placed = [*fields_at(defined["fields"], 1), *fields_at(defined.get("records", []), head)]
    for field, place in placed:
        for bound, beyond in ((field.get("min"), -1), (field.get("max"), 1)):
            if bound is not None:
                for value, is_good in ((bound, True), (bound + beyond, False)):
                    changed = bytearray(data)
                    struct.pack_into("<" + FORMATS[field["type"]], changed, place, value)
                    assert is_read(bytes(changed)) == is_good, f"{field['name']} {value}"


def is_read(data: bytes) -> bool:
    try:
        (wire.decode_from_board if data[0] & 0x80 else wire.decode_from_host)(data)
    except wire.MessageError:
        return False
    return True
