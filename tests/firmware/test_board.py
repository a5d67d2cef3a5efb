"""The firmware's board and the simulated one: the same events and the same host give the same bytes.

Both get events without lines (`plain_sensors.c`): how an edge becomes an event is tried in `test_sensors`.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from firmware_protocol import messages as m
from firmware_protocol.codec import FrameDecoder, encode_frame
from firmware_protocol.wire import decode_from_board, encode
from hw_sim import events as sim
from hw_sim.board import HELD_US, BoardSetup, SimBoard
from tests.firmware.harness import HERE, SANITIZERS, Harness, compiled, core, record
from tests.firmware.harness import told as words_of

LAYOUT = m.Layout(beams=4, readers=3, rotor_ticks=148, object_sensor=True, door_switch=True)
SETUP = BoardSetup(
    LAYOUT, serial="C-0001", firmware="c-1", config_hash="0123456789abcdef", ring_events=100, top_rate=80
)
ALL = 1_000_000
STEPS = 150
SCRIPTS = 30


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The core with a small ring and without sensors."""
    return compiled(
        tmp_path_factory.mktemp("firmware") / "plain",
        HERE / "harness.c",
        HERE / "plain_sensors.c",
        *core("codec", "board"),
        options=(*SANITIZERS, "-DBOARD_RING_EVENTS=100u", "-DBOARD_UNNUMBERED_EVENTS=3u"),
    )


class Pair:
    """Two boards that live the same."""

    def __init__(self, firmware: Harness) -> None:
        self.sim = SimBoard(SETUP, boot_id=1)
        self._firmware = firmware
        self._held: list[tuple[int, int]] = []
        self._t_us = self._booted_us = 0
        self._start(1)

    def _start(self, boot_id: int) -> None:
        identity = m.Identity(
            *(0, 1, 1, 1, boot_id, 0, 0, 0), SETUP.serial, SETUP.firmware, SETUP.config_hash,
            ring_events=SETUP.ring_events, top_rate=SETUP.top_rate, layout=LAYOUT,
        )  # fmt: skip
        self._firmware.tell("at 0", f"start {boot_id} 0 {words_of(identity)}")

    def advance(self, t_us: int) -> None:
        self._t_us = t_us
        self.sim.advance(t_us)
        self._firmware.tell(f"at {t_us - self._booted_us}")
        while self._held and self._held[0][0] <= t_us:
            self._firmware.tell(f"line 4 {self._held.pop(0)[1]} 0")

    def feed(self, event: sim.SimEvent) -> None:
        self.sim.feed(event)
        if isinstance(event, sim.TableCommand):
            number = m.BUTTONS.index(event.name)
            self._held = sorted([*(one for one in self._held if one[1] != number), (self._t_us + HELD_US, number)])
            self._firmware.tell(f"line 4 {number} 1", f"event 7 {number} 0")
        elif isinstance(event, sim.SensorState):
            kind, _, index = event.sensor.partition("/")
            number = ("beam", "reader", "rotor", "object").index(kind)
            self._firmware.tell(f"event {5 + event.ok} {number} {int(index or 0)}")
        else:
            assert isinstance(event, sim.Sensed)
            self._firmware.tell(f"event {' '.join(map(str, record(event.message)))}")

    def reset(self) -> None:
        """A power cut. The levels stay what they are."""
        self.sim.reset()
        self._booted_us = self._t_us
        self._start(self.sim.boot_id)

    def same(self, data: bytes) -> list[m.FromBoard]:
        """Both get these bytes and answer. Return what they say."""
        self._firmware.tell(f"in {data.hex() or '-'}")
        said = self._firmware.ask("run")
        self.sim.receive(data)
        frames = FrameDecoder().feed(said)
        expected = self.sim.data_to_send(ALL)
        read = [decode_from_board(frame) for frame in frames]
        assert said == expected, (read, [decode_from_board(frame) for frame in FrameDecoder().feed(expected)])
        return read


def event(rng: random.Random, t_us: int) -> sim.SimEvent:
    match rng.randrange(8):
        case 0:
            return sim.BallPass(t_us, rng.randrange(4))
        case 1:
            return sim.Sighting(t_us, rng.randrange(3))
        case 2:
            return sim.ForeignObject(t_us, present=rng.random() < 0.5)
        case 3:
            return sim.SensorState(t_us, rng.choice(["beam/2", "reader/0", "rotor", "object"]), ok=rng.random() < 0.5)
        case 4:
            return sim.TableCommand(t_us, rng.choice(m.BUTTONS), by="chef")
        case 5:
            return sim.Door(t_us, rng.random() < 0.5, "door")
        case _:
            return sim.RotorEdge(t_us, rng.randrange(148), rng.choice(m.DIRECTIONS))


def from_host(rng: random.Random, board: SimBoard) -> m.FromHost:
    near = max(0, board.next_seq + rng.randint(-130, 2))
    boot_id = board.boot_id if rng.random() < 0.9 else 0
    return rng.choice(
        (
            m.Hello(rng.randrange(2**32), *rng.choice([(1, 1), (1, 3), (2, 3)])),
            m.Ack(boot_id, near),
            m.Replay(boot_id, near),
            m.SyncRequest(rng.randrange(2**64)),
            m.SelfTestRequest(rng.randrange(2**32)),
        )
    )


def line(rng: random.Random, board: SimBoard) -> bytes:
    """What the host says, and at times what is no message at all."""
    said = b"".join(encode_frame(encode(from_host(rng, board))) for _ in range(rng.choice((0, 1, 1, 3))))
    if rng.random() < 0.2:
        said += rng.randbytes(rng.randint(1, 300))
    return said


def test_the_same_life_gives_the_same_bytes(program: Path) -> None:
    seen: set[type[m.FromBoard]] = set()
    for seed in range(SCRIPTS):
        rng = random.Random(seed)
        with Harness(program) as firmware:
            pair, t_us = Pair(firmware), 0
            for _ in range(STEPS):
                t_us += rng.choice((0, 1, 300, 20_000, 50_000, 100_000, rng.randrange(400_000)))
                pair.advance(t_us)
                if rng.random() < 0.01:
                    pair.reset()
                for _ in range(rng.choice((0, 1, 1, 5, 40))):
                    pair.feed(event(rng, t_us))
                seen |= {type(one) for one in pair.same(line(rng, pair.sim))}
    assert seen == {m.Identity, m.Events, m.Heartbeat, m.SyncReply, m.SelfTestResult}


def test_events_far_apart_keep_their_dates_and_go_in_two_frames(program: Path) -> None:
    """Ten hours of a wheel that stands, and a year: the ring keeps 45 bits of a time."""
    with Harness(program) as firmware:
        pair = Pair(firmware)
        pair.same(encode_frame(encode(m.Hello(1))))
        for t_us in (
            2**41,
            2**41 + 2**32,
            2**41 + 36_000 * 10**6,
            365 * 86_400 * 10**6,
            2**45 - 1,
            2**45,
            2**45 + 2**40,
        ):
            pair.advance(t_us)
            pair.feed(sim.RotorEdge(t_us, 5, "ccw"))
        pair.feed(sim.BallPass(t_us, 1))
        said = pair.same(b"")
        assert len([one for one in said if isinstance(one, m.Events)]) > 2


def test_a_transmitter_that_takes_little_tears_no_frame(program: Path) -> None:
    rng = random.Random(7)
    with Harness(program) as firmware:
        pair, said = Pair(firmware), b""
        firmware.tell("room 17")
        for number in range(400):
            firmware.tell(f"at {number * 1000}", f"event 2 0 {number % 4}", f"in {line(rng, pair.sim).hex() or '-'}")
            said += firmware.ask("run")
        decoder = FrameDecoder()
        assert [decode_from_board(frame) for frame in decoder.feed(said)]
        assert set(decoder.rejected.values()) == {0}


def test_a_reset_ends_a_frame_that_was_sent_in_part(program: Path) -> None:
    """Nothing of the boot before it comes after it."""
    with Harness(program) as firmware:
        pair = Pair(firmware)
        firmware.tell("room 17")
        said = firmware.ask("run")
        pair.reset()
        firmware.tell("room 1000")
        said += b"\0" + firmware.ask("run")
        decoder = FrameDecoder()
        (beat,) = [decode_from_board(frame) for frame in decoder.feed(said)]
        assert sum(decoder.rejected.values()) == 1, "the torn frame"
        assert isinstance(beat, m.Heartbeat)
        assert beat.boot_id == pair.sim.boot_id
