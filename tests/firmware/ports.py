"""The firmware's ports on the simulated wheel's lines, in virtual time: devices of `tests.sources.damaged_line`.

They live in steps, as their host does. The same coups give the same bytes again.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

import msgspec
import pytest

from firmware_protocol import messages as m
from firmware_protocol.codec import FrameDecoder, encode_frame
from firmware_protocol.wire import decode_from_board, encode
from hw_sim import events as sim
from hw_sim.wired import Wires
from tests.firmware.harness import BEAM, DOOR, HERE, OBJECT, READER, ZERO, A, B
from wheeld.ports import Edge

MODULES = HERE.parents[1] / ".wheeld-firmware"
"""Where `make test-firmware` puts the simulator of the RP2040."""
WIRES = Wires(2, 3, 4, beams=(5, 6, 7, 8), readers=(9, 10, 11), switches={"object": 12, "door": 13})
"""The lines of the port for the RP2040, as in its `board_config.h`. The next three are buttons."""
MEGA2560 = "atmega2560"
MEGA2560_PLACES = ("D 0", "D 1", "D 2", *(f"K {bit}" for bit in range(7)), *(f"B {bit}" for bit in range(5)))
"""Port and bit of the same lines of the ATmega2560, as in its `board_config.h`."""
IDLE = {2: False, 3: False, 4: False, 13: False, **dict.fromkeys((*range(5, 13), 14, 15, 16), True)}
"""Nothing is blocked, nothing is pressed, the door is closed."""
BOOT_US = 50_000
GREETED_NS = 100_000_000
HELLO = b"\0" + encode_frame(encode(m.Hello(7)))
LAYOUT = m.Layout(beams=4, readers=3, rotor_ticks=148, object_sensor=True, door_switch=True)
READ_BYTES = 65536


class Port:
    """One board with power from time 0 on. `edges`: what its lines do, which stand at `levels` before."""

    def __init__(self, levels: dict[int, bool], edges: Iterable[Edge]) -> None:
        self._edges = deque(edges)
        while self._edges and self._edges[0].at_ns < 0:
            before = self._edges.popleft()
            levels = {**levels, before.pin: before.level}
        self._out = bytearray()
        self._now_us = 0
        self._happens: list[tuple[int, Callable[[Port], None]]] = []
        self.is_on = True
        for pin, level in levels.items():
            self.line(0, pin, level=level)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def at(self, t_us: int, what: Callable[[Port], None]) -> None:
        """Let this happen to the board."""
        self._happens.append((t_us, what))

    def advance(self, t_us: int) -> None:
        for due_us, what in [one for one in self._happens if one[0] <= t_us]:
            self._happens.remove((due_us, what))
            self._pass_to(due_us)
            what(self)
        self._pass_to(t_us)

    def _pass_to(self, t_us: int) -> None:
        self._now_us = t_us
        while self._edges and self._edges[0].at_ns <= t_us * 1000:
            edge = self._edges.popleft()
            self.line(edge.at_ns, edge.pin, level=edge.level)

    def feed(self, event: sim.SimEvent) -> None:
        """Nothing: its lines show it."""

    def data_to_send(self, room: int) -> bytes:
        if self.is_on:
            self._out += self.run(room)
        left = bytes(self._out[:room])
        del self._out[:room]
        return left

    def line(self, at_ns: int, pin: int, *, level: bool) -> None:
        """A line changes, or stands so from the first."""
        raise NotImplementedError

    def receive(self, data: bytes) -> None:
        """The host's bytes arrive now."""
        raise NotImplementedError

    def run(self, room: int) -> bytes:
        """Run until now. Return what has left the board."""
        raise NotImplementedError

    def power_off(self) -> None:
        """The power goes away now."""
        self.is_on = False

    def start(self, *, keeps_memory: bool) -> None:
        """The program starts now: after a reset, or without memory."""
        raise NotImplementedError

    def end(self) -> None:
        """End the programs."""
        raise NotImplementedError


class Posix(Port):
    """The program on a pseudo-terminal."""

    def __init__(self, program: Path, levels: dict[int, bool], edges: Iterable[Edge]) -> None:
        self._program = program
        self._boot_id = 0
        self._lines: dict[tuple[int, int], bool] = {}
        self._process: subprocess.Popen[bytes] | None = None
        super().__init__(levels, edges)
        self.start(keeps_memory=False)

    def line(self, at_ns: int, pin: int, *, level: bool) -> None:
        place = PLACES[pin]
        on = level if place[0] in (A, B, ZERO, DOOR) else not level
        self._lines[place] = on
        if self.is_on and self._process:
            self._say(f"{round(at_ns / 1000)} {place[0]} {place[1]} {on:d}")

    def receive(self, data: bytes) -> None:
        if self.is_on:
            self._given += len(data)
            os.write(self._terminal, data)

    def run(self, room: int) -> bytes:
        self._say(f"{self._now_us} run {self._given} {room}", flush=True)
        assert self._process
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, "the program ended"
        got = bytearray()
        while self._taken + len(got) < int(line):
            got += os.read(self._terminal, READ_BYTES)
        self._taken += len(got)
        return bytes(got)

    def power_off(self) -> None:
        super().power_off()
        self.end()

    def start(self, *, keeps_memory: bool) -> None:
        self.is_on = True
        self._boot_id += 1
        if not keeps_memory:
            words = (0, 0, 0, "P-0001", "posix", "0" * 16, *map(int, msgspec.structs.astuple(LAYOUT)))
            pipe = subprocess.PIPE
            self._process = subprocess.Popen([self._program, *map(str, words)], stdin=pipe, stdout=pipe)
            assert self._process.stdout
            name = self._process.stdout.readline().decode().strip()
            self._terminal = os.open(name, os.O_RDWR | os.O_NOCTTY)
            self._given = self._taken = 0
            for (line, index), on in self._lines.items():
                self._say(f"{self._now_us} {line} {index} {on:d}")
        self._say(f"{self._now_us} boot {self._boot_id}")

    def end(self) -> None:
        if self._process and self._process.returncode is None:
            assert self._process.stdin
            assert self._process.stdout
            self._process.stdin.close()
            self._process.stdout.close()
            os.close(self._terminal)
            assert self._process.wait() == 0

    def _say(self, text: str, *, flush: bool = False) -> None:
        assert self._process
        assert self._process.stdin
        self._process.stdin.write(f"{text}\n".encode())
        if flush:
            self._process.stdin.flush()


PLACES = {
    **dict(zip((WIRES.a, WIRES.b, WIRES.z), ((A, 0), (B, 0), (ZERO, 0)), strict=True)),
    **{pin: (BEAM, number) for number, pin in enumerate(WIRES.beams)},
    **{pin: (READER, number) for number, pin in enumerate(WIRES.readers)},
    WIRES.switches["object"]: (OBJECT, 0),
    WIRES.switches["door"]: (DOOR, 0),
}
"""Line and index of each pin, as in `sensors.h`."""


@dataclass(frozen=True)
class Told:
    """What a board has said."""

    said: list[m.FromBoard]

    @property
    def events(self) -> list[m.TimedEvent]:
        """Each once: after a further Hello they come again."""
        events: list[m.TimedEvent] = []
        for one in self.said:
            if isinstance(one, m.Events):
                assert one.first_seq <= len(events)
                events[one.first_seq : one.first_seq + len(one.events)] = one.events
        return events

    @property
    def beats(self) -> list[m.Heartbeat]:
        return [one for one in self.said if isinstance(one, m.Heartbeat)]

    @property
    def identity(self) -> m.Identity:
        (identity,) = (one for one in self.said if isinstance(one, m.Identity))
        return identity


class Chip(Port):
    """The program of a chip in a simulator of the chip. `measured`: what the simulator measured of it."""

    LATE_US_MAX: ClassVar[int]
    """So late an event is dated at most."""
    INTERRUPT_CYCLES_MAX: ClassVar[int]
    """So much later is the date of an edge that comes during an interrupt."""
    BUSY_NS_MAX: ClassVar[int]
    """So long its lists are not read."""
    STACK_BYTES_MAX: ClassVar[int]

    def __init__(self, command: Sequence[str | Path], levels: dict[int, bool], edges: Iterable[Edge]) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        self.measured: dict[str, int] = {}
        self.names: dict[str, Any] = {}
        """What a device at USB says of itself."""
        super().__init__({**IDLE, **levels}, edges)

    def line(self, at_ns: int, pin: int, *, level: bool) -> None:
        self._say(at_ns, f"pin {self.place(pin)} {level:d}")

    def place(self, pin: int) -> str:
        """The pin in the words of the simulator."""
        return str(pin)

    def receive(self, data: bytes) -> None:
        if data:
            self._say(self._now_us * 1000, f"in {data.hex()}")

    def run(self, room: int) -> bytes:
        """Its line is as slow as in life: `room` is the host's affair."""
        self._say(self._now_us * 1000, "run")
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the simulator ended"
        told = json.loads(line)
        left = bytes.fromhex(told.pop("out"))
        self.names = told.pop("usb", None) or {}
        self.measured = told
        return left

    def told(self, until_ns: int) -> Told:
        """Greet it, run until then, and end."""
        decoder = FrameDecoder()
        with self:
            self.advance(BOOT_US)
            self.receive(HELLO)
            self.advance(until_ns // 1000)
            said = [decode_from_board(frame) for frame in decoder.feed(self.data_to_send(READ_BYTES))]
        assert set(decoder.rejected.values()) == {0}
        return Told(said)

    def power_off(self) -> None:
        self._out += self.run(0)
        super().power_off()
        self._say(self._now_us * 1000, "off")

    def start(self, *, keeps_memory: bool) -> None:
        self.is_on = True
        self._say(self._now_us * 1000, f"reset {keeps_memory:d}")

    def end(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        assert self._process.wait() == 0

    def _say(self, at_ns: int, what: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(f"{at_ns} {what}\n")


class Rp2040(Chip):
    LATE_US_MAX = 2
    INTERRUPT_CYCLES_MAX = 450  # 3.6 µs at 125 MHz; several lines that change at once take the longest
    BUSY_NS_MAX = 1_500_000  # the receiver's FIFO of 32 bytes is full after 2.7 ms
    STACK_BYTES_MAX = 500

    def __init__(self, image: Path, levels: dict[int, bool], edges: Iterable[Edge]) -> None:
        node = shutil.which("node") or pytest.skip("no node")
        if not (MODULES / "node_modules").exists():
            pytest.skip("no rp2040js: make test-firmware gets it")
        shutil.copy(HERE / "usb.mjs", MODULES)
        super().__init__((node, shutil.copy(HERE / "rp2040.mjs", MODULES), image), levels, edges)


class Rp2040Usb(Rp2040):
    """The program that speaks by USB."""

    def cable(self, *, plugged: bool) -> None:
        self._say(self._now_us * 1000, f"cable {plugged:d}")

    def reads(self, *, reads: bool) -> None:
        """Whether a program of the host fetches what the board sends."""
        self._say(self._now_us * 1000, f"reads {reads:d}")


class Mega2560(Chip):
    LATE_US_MAX = 10
    INTERRUPT_CYCLES_MAX = 130  # 8 µs at 16 MHz
    BUSY_NS_MAX = 12_000_000  # the list of 64 edges is full after 21 ms at 3,000 a second
    STACK_BYTES_MAX = 530

    def __init__(self, elf: Path, levels: dict[int, bool], edges: Iterable[Edge]) -> None:
        super().__init__((elf.with_name("simulator"), MEGA2560, elf), levels, edges)

    def place(self, pin: int) -> str:
        return MEGA2560_PLACES[pin - WIRES.a]

    def hang(self) -> None:
        """The program stops for ever, if no watchdog starts it anew."""
        self._say(self._now_us * 1000, "hang")


CHIPS: dict[str, type[Rp2040] | type[Mega2560]] = {"rp2040": Rp2040, "rp2040 by USB": Rp2040Usb, "mega2560": Mega2560}


def near(found: list[m.TimedEvent], truth: list[m.TimedEvent], chip: Chip, early_us: int = 0) -> None:
    """The same events in the same order, as late as an interrupt may be. `early_us`: so much the truth is rounded."""
    assert [one.event for one in found] == [one.event for one in truth]
    late = [one.board_us - other.board_us for one, other in zip(found, truth, strict=True)]
    assert all(-early_us <= one <= chip.LATE_US_MAX for one in late), (min(late), max(late))
