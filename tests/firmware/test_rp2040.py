"""The firmware of the RP2040, as it goes on the chip, in a simulator of the chip."""

from __future__ import annotations

import subprocess
from operator import attrgetter
from pathlib import Path

import pytest

from firmware_protocol import messages as m
from release import uf2
from tests.firmware.ports import GREETED_NS, Rp2040, near
from wheeld.ports import Edge

RAM_BYTES = 264 * 1024


@pytest.fixture(params=["rp2040", "rp2040 by USB"])
def either(request: pytest.FixtureRequest, images: dict[str, Path]) -> Path:
    return images[str(request.param)]


def test_both_edges_of_a_pin_before_its_interrupt(image: Path) -> None:
    """On a beam they are a pulse that does not exist, and one that was settling begins anew: the second beam has too
    short a pulse, the third one of 0.3 ms. On the encoder they are a missed edge."""
    at_ns = GREETED_NS + 20_000_000
    times_us = {5: (0, 0), 6: (0, 100, 100, 250), 7: (0, 100, 100, 400)}
    pins = [
        Edge(pin, number % 2 == 1, at_ns + us * 1000)
        for pin, all_us in times_us.items()
        for number, us in enumerate(all_us)
    ]
    on_a = [Edge(2, level, at_ns + 400_000_000) for level in (True, False)]
    chip = Rp2040(image, {}, [*sorted(pins, key=attrgetter("at_ns")), *on_a])
    told = chip.told(GREETED_NS + 800_000_000)
    near(told.events[:1], [m.TimedEvent(at_ns // 1000 + 250, m.BallPass(2))], chip)
    assert [one.event for one in told.events[1:]] == [m.SensorReport("rotor", 0, ok=False)]
    assert {one.missed_edges for one in told.beats if one.next_seq < 2} == {0}
    assert told.beats[-1].missed_edges == 1


def test_a_third_of_the_memory_is_spare(either: Path) -> None:
    told = subprocess.check_output(["arm-none-eabi-size", either.with_suffix(".elf")], text=True)
    size = told.splitlines()[1].split()
    assert int(size[1]) + int(size[2]) + Rp2040.STACK_BYTES_MAX < RAM_BYTES * 2 / 3


def test_the_file_for_the_chip(either: Path) -> None:
    """The ROM's CRC, by the check value of this kind of CRC; blocks that cover the program without a gap."""
    assert uf2.crc(b"123456789") == 0x0376E6E7
    program = either.read_bytes()
    made = uf2.uf2(program)
    blocks = [made[at : at + 512] for at in range(0, len(made), 512)]
    assert all(block[:4] == b"UF2\n" and block[-4:] == bytes.fromhex("306fb10a") for block in blocks)
    flash = b"".join(block[32:288] for block in blocks)
    assert flash[256 : len(program)] == program[256:]
    assert int.from_bytes(flash[252:256], "little") == uf2.crc(flash[:252])
    assert [int.from_bytes(block[12:16], "little") for block in blocks] == [
        0x10000000 + 256 * number for number in range(len(blocks))
    ]
