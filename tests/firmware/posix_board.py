"""The firmware's port for POSIX as a wheel's board: the simulator's events drive its lines."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import os
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from firmware_protocol import messages as m
from hw_sim import events as sim
from hw_sim.board import HELD_US, BoardSetup
from hw_sim.cable import Cable
from hw_sim.pty_link import READ_BYTES, Pty
from tests.firmware.harness import BEAM, BUTTON, DOOR, OBJECT, READER, ZERO, A, B, Move

PULSE_US = 2000
"""As narrow as this, two passes of one beam do not touch."""
BOOT_ID = 7
AHEAD_US = 10_000_000
"""So long before its time a move is written."""


class Lines:
    """The levels of all lines. `zero_tick`: the sector in which the rotor's mark is seen."""

    def __init__(self, zero_tick: int = 0) -> None:
        self._zero_tick = zero_tick
        self._on: dict[tuple[int, int], int] = {}
        self._waiting: list[Move] = []
        self._encoder = {A: False, B: False, ZERO: False}
        self._turns = False

    def moves(self, events: Iterable[sim.SimEvent]) -> Iterator[Move]:
        """The moves of the lines, in order, as far as the events tell all of them."""
        for event in events:
            for move in self._of(event):
                heapq.heappush(self._waiting, move)
            while self._waiting and self._waiting[0][0] < event.t_us - PULSE_US:
                move = heapq.heappop(self._waiting)
                if self._changes(move):
                    yield move

    def _changes(self, move: Move) -> bool:
        """Whether the line changes: what is before a sensor may be two things."""
        _, line, index, level = move
        before = self._on.get((line, index), 0)
        self._on[line, index] = max(0, before + (1 if level else -1))
        return bool(before) is not bool(self._on[line, index])

    def _of(self, event: sim.SimEvent) -> Iterator[Move]:
        t_us = event.t_us
        match event:
            case sim.RotorEdge(tick=tick):
                first, self._turns = not self._turns, True
                phase = tick % 4
                levels = ((A, phase in (1, 2)), (B, phase in (2, 3)), (ZERO, tick == self._zero_tick))
                for line, level in levels:
                    if self._encoder[line] is not level:
                        self._encoder[line] = level
                        yield t_us + first * (line - A), line, 0, level
            case sim.BallPass(beam=index):
                yield from _pulse(t_us - PULSE_US // 2, BEAM, index, PULSE_US)
            case sim.Sighting(reader=index):
                yield from _pulse(t_us - PULSE_US // 2, READER, index, PULSE_US)
            case sim.ForeignObject(present=on):
                yield t_us, OBJECT, 0, on
            case sim.Door(active=on):
                yield t_us, DOOR, 0, on
            case sim.TableCommand(name=name) if name in m.BUTTONS:
                yield from _pulse(t_us, BUTTON, m.BUTTONS.index(name), HELD_US)


def _pulse(t_us: int, line: int, index: int, long_us: int) -> Iterator[Move]:
    yield t_us, line, index, True
    yield t_us + long_us, line, index, False


@asynccontextmanager
async def playing(
    program: Path, setup: BoardSetup, events: Iterable[sim.SimEvent], path: Path, cable: Cable, *, speed: float
) -> AsyncIterator[None]:
    """Run the board until the block ends, with its port at `path` and `cable` between; `speed`: simulated seconds in a
    real one."""
    layout = setup.layout
    numbers = layout.beams, layout.readers, layout.rotor_ticks, layout.object_sensor, layout.door_switch
    words = (round(speed), BOOT_ID, 0, setup.serial, setup.firmware, setup.config_hash, *map(int, numbers))
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(program, *map(str, words), stdin=pipe, stdout=pipe)
    assert process.stdout
    terminal = (await process.stdout.readline()).decode().strip()
    began_s = asyncio.get_running_loop().time()
    task = asyncio.create_task(_drive(process, events, began_s, speed))
    try:
        with connected(terminal, path, cable):
            yield
        assert not task.done(), task
        assert process.returncode is None
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        if process.returncode is None:
            process.terminate()
        await process.wait()


@contextmanager
def connected(terminal: str, path: Path, cable: Cable) -> Iterator[None]:
    """Connect the terminal to a port at `path`."""
    loop = asyncio.get_running_loop()
    with Pty(path) as pty:
        board = os.open(terminal, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)

        def carry(source: int, sink: int) -> None:
            """What the other end has no room for is lost: a line waits for nobody."""
            with contextlib.suppress(BlockingIOError):
                os.write(sink, cable.carry(os.read(source, READ_BYTES)))

        for source, sink in ((board, pty.master), (pty.master, board)):
            loop.add_reader(source, carry, source, sink)
        try:
            yield
        finally:
            for source in (board, pty.master):
                loop.remove_reader(source)
            os.close(board)


async def _drive(
    process: asyncio.subprocess.Process, events: Iterable[sim.SimEvent], began_s: float, speed: float
) -> None:
    """Write each move some time before it is due. The board's clock began a little earlier than `began_s`."""
    assert process.stdin

    lines = Lines()
    loop = asyncio.get_running_loop()
    for event in events:
        due_s = began_s + (event.t_us - AHEAD_US) / 1e6 / speed
        await asyncio.sleep(max(0.0, due_s - loop.time()))
        moves = lines.moves([event])
        process.stdin.write("".join(f"{t_us} {line} {index} {on:d}\n" for t_us, line, index, on in moves).encode())
        await process.stdin.drain()
