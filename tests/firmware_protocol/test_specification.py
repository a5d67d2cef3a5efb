"""The specification is executable: every frame and every limit printed in the README is compared with the code."""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from typing import get_args

import pytest
from cobs import cobs  # type: ignore[import-untyped]

from firmware_protocol import codec, wire
from firmware_protocol import messages as m

README = (Path(codec.__file__).parent / "README.md").read_text(encoding="utf-8")
FRAMES = re.findall(r"```frame\n(.+?)\n\n([0-9a-f \n]+)\n```", README, flags=re.DOTALL)
LIMITS = re.findall(r"^\| `(\w+)` \| (\d+) \|", README, flags=re.MULTILINE)
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
    assert len(LIMITS) >= 9
    for name, value in LIMITS:
        assert getattr(m, name, getattr(codec, name, None)) == int(value), name


def test_each_code_in_the_tables_is_that_of_the_code() -> None:
    buttons = re.search(r"^\| 7 \| a button \| (.+?) \|", README, flags=re.MULTILINE)
    kinds = re.search(r"sensor kind: (.+?) \|", README)
    assert buttons is not None
    assert kinds is not None
    events = [one.partition(" ")[::2] for one in buttons[1].split(", ")]
    assert [(int(code), name.replace(" ", "_")) for code, name in events] == list(enumerate(m.BUTTONS))
    assert kinds[1].split(", ") == [f"{code} {name}" for code, name in enumerate(m.SENSOR_KINDS)]
