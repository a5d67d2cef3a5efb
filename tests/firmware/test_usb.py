"""The firmware of the RP2040 that speaks by USB: as a device that a host finds, and with a host that goes away."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest

from firmware_protocol import messages as m
from tests.firmware.conftest import RP2040
from tests.firmware.ports import GREETED_NS, HELLO, WIRES, Rp2040Usb, near
from wheeld.ports import Edge

MS = 1_000_000
RATE = 450
"""Passes a second: all of 1.6 s fit into the ring."""


@pytest.fixture
def image(images: dict[str, Path]) -> Path:
    return images["rp2040 by USB"]


def test_it_names_itself_as_the_board_that_it_is(image: Path) -> None:
    """The simulator's host finds no fault with it; udev makes `/dev/wheeld/RP-0001` of these names."""
    ids = [int(number, 16) for number in re.findall(r"(?:VENDOR|PRODUCT) 0x(\w+)u", (RP2040 / "usb.c").read_text())]
    chip = Rp2040Usb(image, {}, [])
    serial = chip.told(GREETED_NS).identity.serial
    assert chip.names == {"maker": "wheeld", "product": "board", "serial": serial, "ids": ids}
    assert f'"{serial}"' in (RP2040 / "board_config.h").read_text()


@pytest.mark.parametrize("what", [("cable",), ("reads",), ("reads", "cable")], ids=" and ".join)
def test_a_host_that_goes_away_misses_nothing(image: Path, what: tuple[str, ...]) -> None:
    """Its cable is out for 1.2 s, or nobody reads the port, or first this and then that. Meanwhile edges are dated as
    ever. When it is back it greets the board again, and has each event: not one byte of the stream was lost."""
    passes = [GREETED_NS + number * 1_000_000_000 // RATE for number in range(RATE * 16 // 10)]
    edges = [Edge(WIRES.beams[0], level, at_ns + ns) for at_ns in passes for ns, level in ((0, False), (MS, True))]
    chip = Rp2040Usb(image, {}, edges)

    def happens(one: str, after_us: int, *, ends: bool) -> None:
        change = partial(chip.cable, plugged=ends) if one == "cable" else partial(chip.reads, reads=ends)
        chip.at(GREETED_NS // 1000 + after_us, lambda _: change())

    for number, one in enumerate(what):
        happens(one, 200_000 + number * 100_000, ends=False)
        happens(one, 1_400_000, ends=True)
    chip.at(GREETED_NS // 1000 + 1_500_000, lambda port: port.receive(HELLO))
    told = chip.told(GREETED_NS + 2000 * MS)
    near(told.events, [m.TimedEvent((at_ns + MS // 2) // 1000, m.BallPass(0)) for at_ns in passes], chip)
    identities = [one for one in told.said if isinstance(one, m.Identity)]
    assert len(identities) == 2
    assert {one.boot_id for one in identities} == {told.beats[-1].boot_id}
    assert told.beats[-1].missed_edges == told.beats[-1].overwritten_events == 0
