"""The host session on a bad line, over many seeds: every event exactly once and in order, or reported as a gap.

The faults: frames lost, doubled, overtaken and damaged in both directions; a ring far too small; a board that resets;
a host process that ends and comes again where it stood. Each seed turns some of them off and others far up.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterator

import pytest

from firmware_protocol import messages as m
from firmware_protocol.codec import FrameDecoder, encode_frame
from firmware_protocol.host import BoardReset, HostSession, LostEvents, Observed, SessionEvent, Watermark
from firmware_protocol.wire import decode_from_host, encode
from tests.firmware_protocol.bench import beat, identity_of, timed_ball

STEP_NS = 10_000_000
STEPS = 200
CALM_STEPS = 200
RATES = (0.0, 0.0, 0.05, 0.3)


class TinyBoard:
    """As little of a board as keeps the promises of the specification: event number n happens at n milliseconds."""

    def __init__(self, boot_id: int, ring: int) -> None:
        self.boot_id, self.ring = boot_id, ring
        self.next_seq = self.cursor = self.acked = 0
        self._hellos: list[m.Hello] = []
        self._decoder = FrameDecoder()

    @property
    def oldest(self) -> int:
        return max(0, self.next_seq - self.ring)

    def hear(self, data: bytes) -> None:
        for frame in self._decoder.feed(data):
            match decode_from_host(frame):
                case m.Hello() as hello:
                    self.cursor = self.acked
                    self._hellos.append(hello)
                case m.Replay(boot_id=self.boot_id, from_seq=seq) if seq <= self.next_seq:
                    self.cursor = seq
                case m.Ack(boot_id=self.boot_id, next_seq=seq) if seq <= self.next_seq:
                    self.acked = max(self.acked, seq)

    def speak(self) -> Iterator[m.FromBoard]:
        for hello in self._hellos:
            yield identity_of(
                token=hello.token,
                boot_id=self.boot_id,
                oldest_seq=self.oldest,
                acked_seq=self.acked,
                next_seq=self.next_seq,
            )
        self._hellos.clear()
        self.cursor = max(self.cursor, self.oldest)
        for _ in range(3):
            end = min(self.cursor + 4, self.next_seq)
            if end > self.cursor:
                yield m.Events(self.boot_id, self.cursor, tuple(timed_ball(seq) for seq in range(self.cursor, end)))
            self.cursor = end
        yield beat(
            1000 * self.next_seq,
            self.next_seq,
            self.boot_id,
            oldest_seq=self.oldest,
            acked_seq=self.acked,
            sent_seq=self.cursor,
        )


class Line:
    """Carries frames one way, each with its own fate; `calm` makes it a good line."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.drop, self.double, self.delay, self.damage = (rng.choice(RATES) for _ in range(4))
        self._flying: list[tuple[int, int, bytes]] = []
        self._count = 0

    def calm(self) -> None:
        self.drop = self.double = self.delay = self.damage = 0.0

    def put(self, frame: bytes, step: int) -> None:
        for _ in range(1 + (self._rng.random() < self.double)):
            if self._rng.random() < self.drop:
                continue
            self._count += 1
            late = self._rng.randint(1, 30) if self._rng.random() < self.delay else 0
            heapq.heappush(self._flying, (step + late, self._count, self._damaged(frame)))

    def _damaged(self, frame: bytes) -> bytes:
        if self._rng.random() >= self.damage:
            return frame
        at = self._rng.randrange(len(frame))
        return frame[:at] + self._rng.choice((b"", b"\0", b"\xff\xee")) + frame[at + 1 :]

    def take(self, step: int) -> bytes:
        data = b""
        while self._flying and self._flying[0][0] <= step:
            data += heapq.heappop(self._flying)[2]
        return data


class World:
    """Board, two one-way lines and a host; `events` is everything that host processes reported, in order."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.board = TinyBoard(1, self.rng.choice((16, 64, 10_000)))
        self.up, self.down = Line(self.rng), Line(self.rng)
        self.session = HostSession(seed)
        self.events: list[SessionEvent] = []
        self.reset_rate = self.rng.choice((0.0, 0.0, 0.01))
        self.restart_rate = self.rng.choice((0.0, 0.0, 0.02))
        self.busy = True

    def run(self, first: int, steps: int) -> None:
        for step in range(first, first + steps):
            self._disturb()
            for message in self.board.speak():
                self.up.put(encode_frame(encode(message)), step)
            self._host(step)
            self.board.hear(self.down.take(step))

    def calm(self) -> None:
        self.up.calm()
        self.down.calm()
        self.reset_rate = self.restart_rate = 0.0
        self.busy = False

    def _disturb(self) -> None:
        self.board.next_seq += self.rng.randint(0, 5) if self.busy else 0
        if self.rng.random() < self.reset_rate:
            self.board = TinyBoard(self.board.boot_id + 1, self.board.ring)
        if self.rng.random() < self.restart_rate:
            self.session = HostSession(self.rng.getrandbits(32), resume_at=self.session.position)

    def _host(self, step: int) -> None:
        host_ns = step * STEP_NS
        self.events += self.session.receive(self.up.take(step), host_ns)
        if self.session.position and self.rng.random() < 0.3:
            self.session.acknowledge(self.session.position)
        if host_ns >= self.session.next_tick_ns:
            self.session.tick(host_ns)
        if data := self.session.data_to_send():
            self.down.put(data, step)


def boots(events: list[SessionEvent]) -> list[list[SessionEvent]]:
    split: list[list[SessionEvent]] = [[]]
    for one in events:
        if isinstance(one, BoardReset):
            split.append([])
        split[-1].append(one)
    return split


def check_boot(events: list[SessionEvent]) -> int:
    """Exactly once, in order, rightly dated, no watermark before its events; the number awaited next."""
    next_seq, watermark_us = 0, -1
    for one in events:
        match one:
            case Observed(seq=seq, board_us=board_us, event=event):
                assert seq == next_seq
                assert (board_us, event) == (timed_ball(seq).board_us, timed_ball(seq).event)
                assert board_us >= watermark_us
                next_seq += 1
            case LostEvents(first_seq=first_seq, last_seq=last_seq):
                assert first_seq == next_seq <= last_seq
                next_seq = last_seq + 1
            case Watermark(board_us=board_us):
                assert board_us <= 1000 * next_seq
                watermark_us = board_us
    return next_seq


@pytest.mark.parametrize("block", range(8))
def test_every_event_arrives_once_and_in_order_or_is_reported_as_a_gap(block: int) -> None:
    for seed in range(block * 25, block * 25 + 25):
        world = World(seed)
        world.run(0, STEPS)
        world.calm()
        world.run(STEPS, CALM_STEPS)
        try:
            ends = [check_boot(boot) for boot in boots(world.events)]
            assert ends[-1] == world.board.next_seq
            assert world.board.acked == world.board.next_seq
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error


def test_the_swarm_sees_every_kind_of_trouble() -> None:
    """A swarm without gaps, resets or refused frames would prove little."""
    seen: set[str] = set()
    for seed in range(40):
        world = World(seed)
        world.run(0, STEPS)
        seen |= {type(one).__name__ for one in world.events}
        seen |= {name for name, count in world.session.counters.items() if count}
    wanted = {
        "LostEvents",
        "BoardReset",
        "Watermark",
        "duplicate_events",
        "early_frames",
        "crc",
        "cobs",
        "replay_requests",
    }
    assert wanted <= seen
