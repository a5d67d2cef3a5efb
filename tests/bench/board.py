"""A simulated board for the bench, a process of its own: `python -m tests.bench.board PTY EDGES_S CALM_S`.

Its rotor turns at so many encoder edges a second. Somebody presses a button every four seconds, and after `CALM_S`
eight times a second. For each press it prints when that happened and when its frame was written to the line, in ns of
the host's monotonic clock. It plays from a host's hello on, until it is ended.
"""

from __future__ import annotations

import select
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from firmware_protocol import messages as m
from firmware_protocol.codec import FrameDecoder
from firmware_protocol.wire import decode_from_board
from hw_sim.board import SimBoard
from hw_sim.configuration import board_setup
from hw_sim.demo import LAYOUT
from hw_sim.events import RotorEdge, SimEvent, TableCommand
from hw_sim.pty_link import Pty

CALM_US, BUSY_US = 4_000_000, 125_000
"""From press to press. A notice follows each, as quickly as the daemon makes it: no rule waits for anything there."""


class Tapped(SimBoard):
    """Counts the presses that it has put on the line."""

    presses_sent = 0

    def data_to_send(self, room: int = 4096) -> bytes:
        data = super().data_to_send(room)
        for frame in FrameDecoder().feed(data):
            message = decode_from_board(frame)
            if isinstance(message, m.Events):
                self.presses_sent += sum(isinstance(one.event, m.ButtonPress) for one in message.events)
        return data


def events(edges_s: int, calm_s: float) -> Iterator[SimEvent]:
    """A rotor that turns evenly for ever, and the presses; each at another phase of the encoder and of the batches."""
    press_us = CALM_US
    for n in count(1):
        t_us = n * 1_000_000 // edges_s
        while press_us < t_us:
            yield TableCommand(press_us, "rien_va", by="chef")
            press_us += (CALM_US if press_us < calm_s * 1e6 else BUSY_US) + n * 7919 % 20_000
        yield RotorEdge(t_us, n % LAYOUT.rotor_ticks, "cw")


def main(path: Path, edges_s: int, calm_s: float) -> None:
    """Play until the process is ended."""
    coming = events(edges_s, calm_s)
    board = Tapped(board_setup(LAYOUT))
    with Pty(path) as pty:
        while not board.greeted:
            select.select([pty.master], [], [])
            board.receive(pty.read())
        began_ns, event, pressed_ns = time.monotonic_ns(), next(coming), list[int]()
        while True:
            now_us = (time.monotonic_ns() - began_ns) // 1000
            while event.t_us <= now_us:
                board.feed(event)
                if isinstance(event, TableCommand):
                    pressed_ns.append(began_ns + event.t_us * 1000)
                event = next(coming)
            board.advance(now_us)
            board.receive(pty.read())  # now, not as it was before the wait: an answer says when its question came
            before = board.presses_sent
            pty.write_from(board)
            written_ns = time.monotonic_ns()
            for at_ns in pressed_ns[before : board.presses_sent]:
                sys.stdout.write(f"{at_ns} {written_ns}\n")
                sys.stdout.flush()
            wait_us = min(event.t_us, board.wants_us) - (time.monotonic_ns() - began_ns) // 1000
            select.select([pty.master], [], [], max(wait_us, 0) / 1e6)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
