"""The firmware's ports on the simulated wheel's lines, in virtual time: devices of `tests.sources.damaged_line`.

They live in steps, as their host does. The same coups give the same bytes again.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
import pytest

from firmware_protocol import messages as m
from hw_sim import events as sim
from hw_sim.wired import Wires
from tests.firmware.harness import BEAM, DOOR, HERE, OBJECT, READER, ZERO, A, B
from wheeld.ports import Edge

MODULES = HERE.parents[1] / ".wheeld-firmware"
"""Where `make test-firmware` puts the simulator of the RP2040."""
WIRES = Wires(2, 3, 4, beams=(5, 6, 7, 8), readers=(9, 10, 11), switches={"object": 12, "door": 13})
"""The lines of the port for the RP2040, as in its `board_config.h`."""
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


class Rp2040(Port):
    """The program of the chip in a simulator of the chip. `measured`: what the simulator measured of it."""

    def __init__(self, image: Path, levels: dict[int, bool], edges: Iterable[Edge], *, seed: int = 1) -> None:
        node = shutil.which("node") or pytest.skip("no node")
        if not (MODULES / "node_modules").exists():
            pytest.skip("no rp2040js: make test-firmware gets it")
        pipe = subprocess.PIPE
        simulator = shutil.copy(HERE / "rp2040.mjs", MODULES)
        self._process = subprocess.Popen([node, simulator, image, str(seed)], stdin=pipe, stdout=pipe)
        self.measured: dict[str, int] = {}
        super().__init__({**dict.fromkeys((14, 15, 16), True), **levels}, edges)

    def line(self, at_ns: int, pin: int, *, level: bool) -> None:
        self._say(at_ns, "pin", pin, level)

    def receive(self, data: bytes) -> None:
        if data:
            self._say(self._now_us * 1000, "in", data.hex())

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
        self.measured = told
        return left

    def power_off(self) -> None:
        super().power_off()
        self._say(self._now_us * 1000, "off")

    def start(self, *, keeps_memory: bool) -> None:
        self.is_on = True
        self._say(self._now_us * 1000, "reset", keeps_memory)

    def end(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        assert self._process.wait() == 0

    def _say(self, *words: Any) -> None:
        assert self._process.stdin
        self._process.stdin.write(f"{json.dumps(words)}\n".encode())
