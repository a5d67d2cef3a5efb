"""The firmware of the RP2040, as it goes on the chip, in a simulator of the chip."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from firmware_protocol import messages as m
from firmware_protocol.codec import FrameDecoder, encode_frame
from firmware_protocol.wire import decode_from_board, encode
from hw_sim import events as sim
from hw_sim import wired
from hw_sim.evening import script
from release import uf2
from tests.firmware.harness import HERE
from tests.firmware.ports import MODULES, WIRES

RAM_BYTES = 264 * 1024
LATE_US_MAX = 2
INTERRUPT_CYCLES_MAX = 375
"""At 125 MHz, 3 µs: an edge that comes meanwhile is dated so much late."""
BUSY_NS_MAX = 1_500_000
"""The receiver's FIFO of 32 bytes is full after 2.7 ms."""
IDLE = {2: False, 3: False, 4: False, 13: False, **dict.fromkeys((*range(5, 13), 14, 15, 16), True)}
"""Nothing is blocked, nothing is pressed, the door is closed."""
BOOT_NS = 20_000_000
GREETED_NS = 100_000_000
HELLO = b"\0" + encode_frame(encode(m.Hello(7)))


class Told(NamedTuple):
    """What the board said, and what the simulator measured."""

    events: list[m.TimedEvent]
    beats: list[m.Heartbeat]
    measured: dict[str, Any]


def run(image: Path, levels: dict[int, bool], pins: Iterable[tuple[int, int, bool]], end_ns: int) -> Told:
    """Drive the pins, each at its time in ns, and greet the board before."""
    node = shutil.which("node") or pytest.skip("no node")
    if not (MODULES / "node_modules").exists():
        pytest.skip("no rp2040js: make test-firmware gets it")
    simulator = shutil.copy(HERE / "rp2040.mjs", MODULES)
    lines: list[list[Any]] = [[0, "pin", pin, level] for pin, level in levels.items()]
    lines += [
        [BOOT_NS, "in", HELLO.hex()],
        *([at_ns, "pin", pin, level] for at_ns, pin, level in pins),
        [end_ns, "run"],
    ]
    text = "".join(f"{json.dumps(line)}\n" for line in sorted(lines, key=lambda line: int(line[0])))
    said = subprocess.run([node, simulator, image], input=text, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    measured = json.loads(said.stdout)
    decoder = FrameDecoder()
    messages = [decode_from_board(frame) for frame in decoder.feed(bytes.fromhex(measured.pop("out")))]
    assert set(decoder.rejected.values()) == {0}
    events = [one for message in messages if isinstance(message, m.Events) for one in message.events]
    return Told(events, [one for one in messages if isinstance(one, m.Heartbeat)], measured)


def near(found: list[m.TimedEvent], truth: list[m.TimedEvent]) -> None:
    """The same events in the same order, as late as an interrupt may be."""
    assert [one.event for one in found] == [one.event for one in truth]
    late = [one.board_us - other.board_us for one, other in zip(found, truth, strict=True)]
    assert all(abs(one) <= LATE_US_MAX for one in late), (min(late), max(late))


def test_three_thousand_edges_a_second_are_dated_to_the_microsecond(image: Path) -> None:
    """Pulses of four beams, for two tenths of a second."""
    pulses = [(GREETED_NS + number * 666_667, 5 + number % 4) for number in range(300)]
    pins = [
        (at_ns + width_ns, pin, level) for at_ns, pin in pulses for width_ns, level in ((0, False), (300_000, True))
    ]
    told = run(image, IDLE, pins, GREETED_NS + 600_000_000)
    near(told.events, [m.TimedEvent((at_ns + 150_000) // 1000, m.BallPass(pin - 5)) for at_ns, pin in pulses])
    assert told.beats[-1].missed_edges == 0
    assert told.measured["interrupt"] < INTERRUPT_CYCLES_MAX
    assert told.measured["busy_ns"] < BUSY_NS_MAX
    assert told.beats[-1].levels == m.Levels(object="clear", door="closed")


def test_both_edges_of_a_pin_before_its_interrupt(image: Path) -> None:
    """On a beam they are a pulse that does not exist, and one that was settling begins anew: the second beam has too
    short a pulse, the third one of 0.3 ms. On the encoder they are a missed edge."""
    at_ns = GREETED_NS + 20_000_000
    times_us = {5: (0, 0), 6: (0, 100, 100, 250), 7: (0, 100, 100, 400)}
    pins = [
        (at_ns + us * 1000, pin, number % 2 == 1)
        for pin, all_us in times_us.items()
        for number, us in enumerate(all_us)
    ]
    on_a = [(at_ns + 400_000_000, 2, level) for level in (True, False)]
    told = run(image, IDLE, [*pins, *on_a], GREETED_NS + 800_000_000)
    near(told.events[:1], [m.TimedEvent(at_ns // 1000 + 250, m.BallPass(2))])
    assert [one.event for one in told.events[1:]] == [m.SensorReport("rotor", 0, ok=False)]
    assert {one.missed_edges for one in told.beats if one.next_seq < 2} == {0}
    assert told.beats[-1].missed_edges == 1


def test_a_line_that_never_rests_stops_nothing_else(image: Path) -> None:
    """A broken wire: 20,000 edges a second on the door's line, and passes beside it."""
    noise = [(GREETED_NS + number * 50_000, 13, number % 2 == 0) for number in range(10_000)]
    passes = [GREETED_NS + 7_000_000 + number * 50_000_000 for number in range(9)]
    pins = [(at_ns + width_ns, 5, level) for at_ns in passes for width_ns, level in ((0, False), (5_000_000, True))]
    told = run(image, IDLE, sorted([*noise, *pins]), GREETED_NS + 2_500_000_000)
    truth = [m.TimedEvent(at_ns // 1000 + 2500, m.BallPass(0)) for at_ns in passes]
    near([one for one in told.events if isinstance(one.event, m.BallPass)], truth)


def fits(header: dict[str, Any]) -> bool:
    """Whether the board has these sensors."""
    return header["rotor_ticks"] == 148 and len(header["beams_deg"]) <= 4 and len(header["readers_deg"]) <= 3


def test_a_coup_on_its_pins_gives_the_events_of_the_physics(image: Path) -> None:
    drawn = (script(["valid"], seed) for seed in range(99))
    evening = next(one for one in drawn if fits(one.header))
    events = [*evening.events()]
    edges = wired.edges(evening.world, events, evening.end_s, WIRES)
    told = run(
        image,
        {**IDLE, **wired.levels(evening.world, WIRES)},
        ((GREETED_NS + edge.at_ns, edge.pin, edge.level) for edge in edges),
        GREETED_NS + round((evening.end_s + 0.5) * 1e9),
    )
    truth = [m.TimedEvent(one.t_us + GREETED_NS // 1000, one.message) for one in events if isinstance(one, sim.Sensed)]
    first_us = next(one.board_us for one in told.events if isinstance(one.event, m.RotorEdge))
    after = [one for one in truth if one.board_us >= first_us - LATE_US_MAX or not isinstance(one.event, m.RotorEdge)]
    near(told.events, after)
    assert len(told.events) > 500


def test_a_third_of_the_memory_is_spare(image: Path) -> None:
    told = run(image, IDLE, [], GREETED_NS)
    size = subprocess.check_output(["arm-none-eabi-size", image.with_suffix(".elf")], text=True).splitlines()[1].split()
    assert int(size[1]) + int(size[2]) + told.measured["stack"] < RAM_BYTES * 2 / 3


def test_the_file_for_the_chip(image: Path) -> None:
    """The ROM's CRC, by the check value of this kind of CRC; blocks that cover the program without a gap."""
    assert uf2.crc(b"123456789") == 0x0376E6E7
    program = image.read_bytes()
    made = uf2.uf2(program)
    blocks = [made[at : at + 512] for at in range(0, len(made), 512)]
    assert all(block[:4] == b"UF2\n" and block[-4:] == bytes.fromhex("306fb10a") for block in blocks)
    flash = b"".join(block[32:288] for block in blocks)
    assert flash[256 : len(program)] == program[256:]
    assert int.from_bytes(flash[252:256], "little") == uf2.crc(flash[:252])
    assert [int.from_bytes(block[12:16], "little") for block in blocks] == [
        0x10000000 + 256 * number for number in range(len(blocks))
    ]
