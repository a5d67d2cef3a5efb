"""The firmware of the ATmega2560, as it goes on the chip, in a simulator of the chip."""

from __future__ import annotations

import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from firmware_protocol import messages as m
from tests.firmware.ports import GREETED_NS, LAYOUT, WIRES, Mega2560
from wheeld.ports import Edge

pytestmark = pytest.mark.timeout(600)
RAM_BYTES = 8192


def test_who_it_is_and_that_it_lives(mega2560: Path) -> None:
    """The ring lasts for a second and a half at the fastest rotor."""
    told = Mega2560(mega2560, {}, []).told(GREETED_NS + 1_000_000_000)
    identity, beats = told.identity, told.beats
    assert (identity.serial, identity.firmware, identity.layout) == ("AVR-0001", "mega2560 1.0.0", LAYOUT)
    assert identity.ring_ms >= m.RING_MS_MIN
    assert identity.top_rate >= 1.5 * LAYOUT.rotor_ticks
    assert beats[-1].levels == m.Levels(object="clear", door="closed")
    apart = [later.board_us - one.board_us for one, later in pairwise(beats[1:])]
    assert len(apart) > 7
    assert all(99_000 < one < 104_000 for one in apart), apart


def test_its_serial_number_in_the_eeprom(mega2560: Path, tmp_path: Path) -> None:
    kept, elf = tmp_path / "serial.bin", mega2560.with_name("kept.elf")
    kept.write_bytes(bytes(4) + b"AVR-0042".ljust(m.TEXT_BYTES, b"\0"))
    subprocess.run(["avr-objcopy", "--update-section", f".eeprom={kept}", mega2560, elf], check=True)
    assert Mega2560(elf, {}, []).told(GREETED_NS).identity.serial == "AVR-0042"


def test_both_edges_of_a_pin_before_its_interrupt(mega2560: Path) -> None:
    """On a beam they are no pulse, on the encoder a missed edge."""
    beam = WIRES.beams[0]
    times = ((GREETED_NS, beam), (GREETED_NS + 100_000_000, WIRES.a))
    edges = [Edge(pin, level, at_ns) for at_ns, pin in times for level in (True, False)]
    told = Mega2560(mega2560, {beam: False}, edges).told(GREETED_NS + 400_000_000)
    assert [one.event for one in told.events] == [m.SensorReport("rotor", 0, ok=False)]
    assert told.beats[0].missed_edges == 0
    assert told.beats[-1].missed_edges == 1


def test_power_and_watchdog(mega2560: Path) -> None:
    """After a cut of power, and when the program hangs, it starts anew within 1.2 s and has another boot id."""
    chip = Mega2560(mega2560, {}, [])
    chip.at(500_000, lambda port: port.start(keeps_memory=False))
    chip.at(1_000_000, lambda _: chip.hang())
    boots = [one.boot_id for one in chip.told(2_500_000_000).beats]
    assert boots == sorted(boots)
    assert [boots.count(boot_id) > 3 for boot_id in range(boots[0], boots[0] + 3)] == [True, True, True]
    assert len({*boots}) == 3


def test_a_third_of_the_memory_is_spare(mega2560: Path) -> None:
    size = subprocess.check_output(["avr-size", mega2560], text=True).splitlines()[1].split()
    eeprom_bytes = 4 + m.TEXT_BYTES  # counted among the data
    assert int(size[1]) - eeprom_bytes + int(size[2]) + Mega2560.STACK_BYTES_MAX < RAM_BYTES * 2 / 3
