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
from typing import Protocol

import msgspec
import structlog

from firmware_protocol import messages as m
from firmware_protocol.codec import FrameDecoder
from firmware_protocol.wire import decode_from_board
from hw_sim import events as sim
from hw_sim.board import BoardSetup, SimBoard
from hw_sim.cable import Cable
from hw_sim.evening import repeatable
from hw_sim.scenarios import SCENARIOS
from hw_sim.scenarios.registry import Play
from hw_sim.table import Outcome, SimTable
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
UNREAD_BYTES_MAX = 4_096
"""What a computer keeps of a serial line that nobody reads. It loses what comes then."""
LINGER_US = 500_000
"""So that the last event arrives."""
UTC_AT_0_US = 1_795_197_600_000_000
LAYOUT = m.Layout(beams=4, readers=3, rotor_ticks=148, object_sensor=True)
SETTLE_US = 1_000_000
"""From the opening of the line to the opening of the table."""


class Device(Protocol):
    """What stands at the other end of the line: a simulated board, or firmware."""

    def advance(self, t_us: int) -> None:
        """The world's time is now `t_us`."""

    def feed(self, event: sim.SimEvent) -> None:
        """The wheel's sensors see this, at its time."""

    def receive(self, data: bytes) -> None:
        """The host's bytes arrive now."""

    def data_to_send(self, room: int) -> bytes:
        """Return at most `room` bytes that leave the board now."""


@dataclass
class Trial:
    """What came of some coups: their truth, and what the table published of them.

    `faults`: of the line. `troubles`: all that were ever told, by sensor; `failed`: the sensors that ever counted as
    failed. `said`: what left the board. `late_us`: the longest time from the date of an event that is no rotor edge to
    its last byte, at a board whose clock is the world's.
    """

    truth: list[Outcome]
    verdicts: list[str] = field(default_factory=list)
    faults: int = 0
    replays: int = 0
    troubles: set[tuple[str, str]] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    counters: dict[str, int] = field(default_factory=dict)
    door_openings: int = 0
    said: list[m.FromBoard] = field(default_factory=list)
    late_us: int = 0

    @property
    def is_right(self) -> bool:
        return self.verdicts == [f"{one['kind']} {one.get('number', one.get('cause'))}" for one in self.truth]

    @property
    def events(self) -> list[m.TimedEvent]:
        """Every event of the latest boot once, in the order of numbers."""
        boot_id = next(one.boot_id for one in reversed(self.said) if isinstance(one, m.Identity))
        found: list[m.TimedEvent] = []
        for one in self.said:
            if isinstance(one, m.Events) and one.boot_id == boot_id:
                found[one.first_seq : one.first_seq + len(one.events)] = one.events
        return found


def drawn(seed: int, *scenarios: str | Play, pause_factor: float = 1.0, wait_s: float = 0.0) -> SimTable:
    """A wheel on which these scenarios were played, one after the other, the first after `wait_s`. `pause_factor`: of
    the people's pauses."""
    rng = repeatable(f"line {seed}")
    layout = WheelLayout("campione", "roulette", 148, FRENCH.beams_deg, FRENCH.readers_deg, None)
    wheel = SimTable(layout, rng, rng.randrange(37))
    wheel.now_s, wheel.pause_factor = SETTLE_US / 1e6 + 0.5 + wait_s, pause_factor
    for one in scenarios:
        (SCENARIOS[one] if isinstance(one, str) else one)(wheel)
        wheel.wait(1, 1)
    return wheel


def play(seed: int, cable: Cable) -> Trial:
    """One valid coup from the opening of line and table to the end of its operations."""
    return played(drawn(seed, "valid"), SimBoard(BoardSetup(LAYOUT)), cable, seed)


def played(wheel: SimTable, device: Device, cable: Cable, token: int, *, deaf_us: tuple[int, int] = (0, 0)) -> Trial:
    """What was played on `wheel`, seen by `device`. `deaf_us`: from when to when the host stands still."""
    setting = msgspec.structs.replace(FRENCH, last_number=wheel.world.stays[0].number)
    table, _ = Table.start(setting, boot_id="trial", started_utc_us=UTC_AT_0_US)
    board = Board(BoardSetting(port="/dev/ttyACM0"), setting, hello_token=token, host_ns=0)
    trial = Trial(wheel.truth)
    wire = _Wire(device, cable, board, table, trial, deaf_us)
    opened = [sim.TableCommand(SETTLE_US, "open", "chef")]
    for event in sorted(chain(wheel.world.events(wheel.now_s), opened), key=lambda each: each.t_us):
        wire.run(event.t_us)
        wire.feed(event)
    wire.run(wire.now_us + LINGER_US)
    trial.counters = board.counters
    trial.door_openings = board.door.openings
    trial.faults, trial.replays = trial.counters["link_faults"], trial.counters["replay_requests"]
    return trial


class _Wire:
    """Board, cable, host and table, and the bytes on their way."""

    def __init__(
        self, device: Device, cable: Cable, board: Board, table: Table, trial: Trial, deaf_us: tuple[int, int]
    ) -> None:
        self._device, self._cable, self._board, self._table = device, cable, board, table
        self._trial, self._deaf_us = trial, deaf_us
        self._tap = FrameDecoder()
        self.now_us = self._sent_seq = 0
        self._buffer = bytearray()
        self._unread = bytearray()
        self._said: deque[Command] = deque()
        board.opened(0)

    def run(self, until_us: int) -> None:
        while self.now_us + STEP_US <= until_us:
            self.now_us += STEP_US
            self._device.advance(self.now_us)
            self._carry()
            if self._deaf_us[0] <= self.now_us < self._deaf_us[1]:
                continue
            self._host()

    def _carry(self) -> None:
        """Bytes leave the board, and arrive at the host's computer, which keeps so many for a program that is slow."""
        left = self._device.data_to_send(BUFFER_BYTES - len(self._buffer))
        for frame in self._tap.feed(left):
            self._hear(decode_from_board(frame))
        self._buffer += self._cable.carry(left)
        count = BAUD // 10 * STEP_US // 1_000_000
        self._unread += self._buffer[: min(count, UNREAD_BYTES_MAX - len(self._unread))]
        del self._buffer[:count]

    def _hear(self, message: m.FromBoard) -> None:
        self._trial.said.append(message)
        if isinstance(message, m.Events):
            fresh = message.events[max(0, self._sent_seq - message.first_seq) :]
            decides = [one.board_us for one in fresh if not isinstance(one.event, m.RotorEdge)]
            self._trial.late_us = max([self._trial.late_us, *(self.now_us - board_us for board_us in decides)])
            self._sent_seq = max(self._sent_seq, message.first_seq + len(message.events))

    def _host(self) -> None:
        host_ns = self.now_us * 1_000
        observations = self._board.receive(bytes(self._unread), host_ns, UtcPair(host_ns, UTC_AT_0_US + self.now_us, 1))
        self._unread.clear()
        if self.now_us % TICK_US == 0:
            observations += self._board.tick(host_ns)
        for seen in observations:
            self._say_until(seen.t_us - 1)
            self._publish(self._table.apply(seen).messages)
        self._say_until(self._table.now_us if self._board.is_up else self._board.now_us(host_ns))
        if observations and self._board.position is not None:
            self._board.acknowledge(self._board.position)
        self._device.receive(self._cable.carry(self._board.data_to_send()))
        self._trial.troubles |= {
            (sensor, one.value) for sensor, all_of in self._board.troubles.items() for one in all_of
        }
        self._trial.failed |= {sensor for sensor, ok in self._board.sensors.items() if not ok}

    def feed(self, event: sim.SimEvent) -> None:
        """What people say reaches the table over the broker, dated now; all else comes by the line."""
        if isinstance(event, sim.TableCommand):
            now_us = self._board.now_us(self.now_us * 1_000)
            said = {"kind": "command", "t": now_us, "name": event.name, "by": event.by, "reason": event.reason}
            self._said.append(msgspec.convert(said, Command))
        elif not isinstance(event, sim.End):
            self._device.feed(event)

    def _say_until(self, t_us: int) -> None:
        """As `TableLoop`: a word waits until the sensors have reported up to its time."""
        while self._said and self._said[0].t_us <= t_us:
            self._publish(self._table.apply(self._said.popleft()).messages)

    def _publish(self, messages: Iterable[Message]) -> None:
        for message in messages:
            if message.topic in ("result", "void"):
                payload = msgspec.json.decode(message.payload)
                self._trial.verdicts.append(f"{message.topic} {payload.get('number', payload.get('cause'))}")


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
