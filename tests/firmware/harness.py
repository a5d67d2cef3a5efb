"""The firmware's core as a program, compiled with sanitizers. It reads frames, or runs a board by a script."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from firmware_protocol import messages as m

HERE = Path(__file__).parent
CORE = HERE.parents[1] / "firmware_protocol" / "c"
WARNINGS = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wconversion", "-Wsign-conversion", "-Wshadow")
SANITIZERS = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
BEAM, READER, OBJECT, DOOR, BUTTON, A, B, ZERO = range(8)
"""The lines, as in `sensors.h`."""
Move = tuple[int, int, int, bool]
"""At a time in µs, a line, its index and its new level."""
EVENT_KINDS = {
    m.RotorEdge: 1,
    m.BallPass: 2,
    m.PocketSighting: 3,
    m.ObjectSeen: 4,
    m.ButtonPress: 7,
    m.DoorMoved: 8,
}


def compiled(program: Path, *sources: Path, options: Sequence[str] = SANITIZERS, compiler: str = "cc") -> Path:
    """Compile `sources` to `program`. Each warning is an error. Skips the test if there is no compiler."""
    found = shutil.which(compiler) or pytest.skip(f"no {compiler}: apt-get install gcc libc6-dev")
    subprocess.run([found, *WARNINGS, *options, f"-I{CORE}", *sources, "-o", program], check=True)
    return program


def core(*names: str) -> list[Path]:
    """The sources of these parts of the core."""
    return [CORE / f"{name}.c" for name in names]


def record(event: m.Event) -> tuple[int, int, int]:
    """Return kind, value and index, by the table of the specification."""
    match event:
        case m.RotorEdge(tick=tick, direction=direction):
            return 1, int(direction == "ccw"), tick
        case m.SensorReport(kind=kind, index=index, ok=ok):
            return 5 + ok, m.SENSOR_KINDS.index(kind), index
        case m.ButtonPress(button=button):
            return 7, m.BUTTONS.index(button), 0
        case m.BallPass(beam=number) | m.PocketSighting(reader=number):
            return EVENT_KINDS[type(event)], 0, number
        case m.ObjectSeen(present=on) | m.DoorMoved(open=on):
            return EVENT_KINDS[type(event)], int(on), 0


def told(identity: m.Identity) -> str:
    """What an identity says of the board, as words of a script."""
    layout = identity.layout
    texts = (text.encode().ljust(m.TEXT_BYTES, b"\0").hex() for text in (identity.serial, identity.firmware))
    ring = f"{identity.ring_events} {identity.top_rate}"
    switches = f"{layout.object_sensor:d} {layout.door_switch:d}"
    return " ".join(
        (*texts, identity.config_hash, ring, f"{layout.beams} {layout.readers} {layout.rotor_ticks}", switches)
    )


class Harness:
    """A running harness. Its commands are in `harness.c`. Ends with an error if a sanitizer has found one."""

    def __init__(self, program: Path) -> None:
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        assert self._process.wait() == 0

    def tell(self, *commands: str) -> None:
        """Give commands that print nothing."""
        assert self._process.stdin
        self._process.stdin.write("".join(f"{command}\n" for command in commands).encode())

    def ask(self, command: str) -> bytes:
        """Give a command that prints bytes."""
        assert self._process.stdin
        assert self._process.stdout
        self.tell(command)
        self._process.stdin.flush()
        line = self._process.stdout.readline().strip()
        assert line, f"the harness ended at: {command[:200]}"
        return b"" if line == b"-" else bytes.fromhex(line.decode())
