"""Coups on the simulated wheel, its simulated board and a damaged cable, in virtual time: what the table published.

Each coup is a table of its own, so that one that was void for the line costs no other. `python -m
tests.sources.damaged_line COUPS BYTES` prints how many of so many valid coups were void, one byte of BYTES damaged.
"""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain

import msgspec
import structlog

from firmware_protocol import messages as m
from hw_sim import events as sim
from hw_sim.board import BoardSetup, SimBoard
from hw_sim.cable import Cable
from hw_sim.evening import repeatable
from hw_sim.scenarios import SCENARIOS
from hw_sim.table import SimTable
from hw_sim.wheel import WheelLayout
from tests.core.evening import FRENCH
from wheeld.core.observations import Command
from wheeld.core.step import Message
from wheeld.core.table import Table
from wheeld.sources.board.board import Board
from wheeld.sources.board.setting import BoardSetting
from wheeld.sources.clock import UtcPair

STEP_US = 5_000
"""How often the host reads: about what a busy controller does."""
TICK_US = 20_000
"""As `BoardFeed`."""
BAUD = 115_200
BUFFER_BYTES = 1_024
"""Of the board's transmitter: what is in it delays everything behind it."""
UTC_AT_0_US = 1_795_197_600_000_000
LAYOUT = m.Layout(beams=4, readers=3, rotor_ticks=148, object_sensor=True)
SETTLE_US = 1_000_000
"""From the opening of the line to the opening of the table."""


@dataclass
class Trial:
    """What came of one coup: its true number, and what the table published of it. `faults`: of the line."""

    number: int
    verdicts: list[str] = field(default_factory=list)
    faults: int = 0
    replays: int = 0

    @property
    def is_right(self) -> bool:
        return self.verdicts == [f"result {self.number}"]


def play(seed: int, cable: Cable) -> Trial:
    """One valid coup from the opening of line and table to the end of its operations."""
    rng = repeatable(f"line {seed}")
    layout = WheelLayout("campione", "roulette", "french", 148, FRENCH.beams_deg, FRENCH.readers_deg, None)
    wheel = SimTable(layout, rng, rng.randrange(37))
    wheel.now_s = SETTLE_US / 1e6 + 0.5
    SCENARIOS["valid"](wheel)
    wheel.wait(1, 1)
    setting = msgspec.structs.replace(FRENCH, last_number=None)
    table, _ = Table.start(setting, boot_id="trial", started_utc_us=UTC_AT_0_US)
    board = Board(BoardSetting(port="/dev/ttyACM0"), setting, hello_token=seed, host_ns=0)
    wire = _Wire(SimBoard(BoardSetup(LAYOUT), cable=cable), board, table)
    opened = [sim.TableCommand(SETTLE_US, "open", "chef")]
    for event in sorted(chain(wheel.world.events(wheel.now_s), opened), key=lambda each: each.t_us):
        wire.run(event.t_us)
        wire.feed(event)
    (truth,) = wheel.truth
    counters = board.counters
    return Trial(truth["number"], wire.verdicts, counters["link_faults"], counters["replay_requests"])


class _Wire:
    """Board, cable, host and table, and the bytes on their way."""

    def __init__(self, sim_board: SimBoard, board: Board, table: Table) -> None:
        self._sim, self._board, self._table = sim_board, board, table
        self._now_us = 0
        self._buffer = bytearray()
        self._said: deque[Command] = deque()
        self.verdicts: list[str] = []
        board.opened(0)

    def run(self, until_us: int) -> None:
        while self._now_us + STEP_US <= until_us:
            self._now_us += STEP_US
            self._sim.advance(self._now_us)
            host_ns = self._now_us * 1_000
            self._buffer += self._sim.data_to_send(BUFFER_BYTES - len(self._buffer))
            count = BAUD // 10 * STEP_US // 1_000_000
            data = bytes(self._buffer[:count])
            del self._buffer[:count]
            observations = self._board.receive(data, host_ns, UtcPair(host_ns, UTC_AT_0_US + self._now_us, 1))
            if self._now_us % TICK_US == 0:
                observations += self._board.tick(host_ns)
            for seen in observations:
                self._say_until(seen.t_us - 1)
                self._publish(self._table.apply(seen).messages)
            self._say_until(self._table.now_us if self._board.is_up else self._board.now_us(host_ns))
            if observations and self._board.position is not None:
                self._board.acknowledge(self._board.position)
            self._sim.receive(self._board.data_to_send())

    def feed(self, event: sim.SimEvent) -> None:
        """What people say reaches the table over the broker, dated now; all else comes by the line."""
        if isinstance(event, sim.TableCommand):
            now_us = self._board.now_us(self._now_us * 1_000)
            self._said.append(
                msgspec.convert({"kind": "command", "t": now_us, "name": event.name, "by": event.by}, Command)
            )
        elif not isinstance(event, sim.End):
            self._sim.feed(event)

    def _say_until(self, t_us: int) -> None:
        """As `TableLoop`: a word waits until the sensors have reported up to its time."""
        while self._said and self._said[0].t_us <= t_us:
            self._publish(self._table.apply(self._said.popleft()).messages)

    def _publish(self, messages: Iterable[Message]) -> None:
        for message in messages:
            if message.topic in ("result", "void"):
                payload = msgspec.json.decode(message.payload)
                self.verdicts.append(f"{message.topic} {payload.get('number', payload.get('cause'))}")


def main(coups: int, one_in: int) -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger("critical"))
    counted: Counter[str] = Counter()
    for seed in range(coups):
        trial = play(seed, Cable(seed, damage=1 / one_in if one_in else 0.0))
        counted["right" if trial.is_right else " ".join(trial.verdicts) or "nothing"] += 1
        counted["faults of the line"] += trial.faults
        counted["replays"] += trial.replays
    sys.stdout.write(f"{coups} coups, 1 byte in {one_in} damaged both ways: {dict(counted)}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
