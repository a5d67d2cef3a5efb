"""Simulated board and host session over a bad cable, in virtual time: nothing lost that the ring could keep."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from firmware_protocol import messages as m
from firmware_protocol.host import (
    BoardReset,
    HostSession,
    Identified,
    LostEvents,
    Observed,
    SessionEvent,
    SyncSample,
    Watermark,
)
from hw_sim import events as sim
from hw_sim.board import BoardSetup, SimBoard
from hw_sim.cable import Cable
from hw_sim.evening import draw_evening

LAYOUT = m.Layout(beams=4, readers=3, rotor_ticks=148, object_sensor=True)
STEP_US = 5_000
END_US = 4_000_000
CALM_US = 8_000_000


class Meeting:
    """A board that gets ball passes at random times, a host, and the events of the host's session."""

    def __init__(self, seed: int, *, drop: float, noise: float, ring_events: int = 4096) -> None:
        self.rng = random.Random(seed)
        self.board = SimBoard(BoardSetup(LAYOUT, ring_events=ring_events), cable=Cable(seed, drop=drop, noise=noise))
        self.host = HostSession(self.rng.getrandbits(32))
        self.session_events: list[SessionEvent] = []
        self.fed: list[sim.BallPass] = []
        self._t_us = 0
        self._passes = self._draw_passes()
        self._next = next(self._passes)

    def _draw_passes(self) -> Iterator[sim.BallPass]:
        t_us = 0
        while True:
            t_us += self.rng.randint(100, 15_000)
            yield sim.BallPass(t_us, self.rng.randrange(4))

    def run(self, until_us: int) -> None:
        while self._t_us < until_us:
            self._t_us += STEP_US
            while self._next.t_us <= min(self._t_us, END_US):
                self.board.feed(self._next)
                self.fed.append(self._next)
                self._next = next(self._passes)
            self.board.advance(self._t_us)
            self._exchange(1000 * self._t_us)

    def _exchange(self, host_ns: int) -> None:
        self.session_events += self.host.receive(self.board.data_to_send(), host_ns)
        if self.host.position is not None:
            self.host.acknowledge(self.host.position)
        self.host.tick(host_ns)
        self.board.receive(self.host.data_to_send())

    def calm(self) -> None:
        self.board.cable.cut = False
        self.board.cable.drop = self.board.cable.noise = 0.0
        self.run(CALM_US)

    def observed(self) -> list[tuple[int, m.Event]]:
        return [(one.board_us, one.event) for one in self.session_events if isinstance(one, Observed)]

    def expected(self) -> list[tuple[int, m.Event]]:
        return [(one.t_us, m.BallPass(one.beam)) for one in self.fed]


def test_a_good_cable_carries_everything_once() -> None:
    meeting = Meeting(1, drop=0.0, noise=0.0)
    meeting.run(END_US)
    meeting.calm()
    counters = meeting.host.counters
    assert meeting.observed() == meeting.expected()
    assert {name for name, count in counters.items() if count} <= {"hellos", "events", "before_identity"}
    assert counters["hellos"] == 1
    assert meeting.board.acked_seq == meeting.board.next_seq == len(meeting.fed)


@pytest.mark.parametrize("seed", range(12))
def test_lost_bytes_and_noise_lose_no_event(seed: int) -> None:
    meeting = Meeting(seed, drop=0.004, noise=0.002)
    meeting.run(END_US)
    meeting.calm()
    assert meeting.observed() == meeting.expected(), f"seed {seed}"
    assert meeting.host.counters["replay_requests"] > 0, f"seed {seed}"
    assert not any(isinstance(one, LostEvents | BoardReset) for one in meeting.session_events), f"seed {seed}"


def test_a_cut_cable_delays_and_a_small_ring_admits_the_gap() -> None:
    meeting = Meeting(5, drop=0.0, noise=0.0, ring_events=100)
    meeting.run(1_000_000)
    meeting.board.cable.cut = True
    meeting.run(3_000_000)
    meeting.board.cable.cut = False
    meeting.run(END_US)
    meeting.calm()
    gaps = [one for one in meeting.session_events if isinstance(one, LostEvents)]
    lost = {seq for gap in gaps for seq in range(gap.first_seq, gap.last_seq + 1)}
    assert meeting.observed() == [one for seq, one in enumerate(meeting.expected()) if seq not in lost]
    assert 100 < len(lost) < 200


def test_a_new_host_process_gets_what_the_first_did_not_keep() -> None:
    meeting = Meeting(6, drop=0.0, noise=0.0)
    meeting.run(1_000_000)
    kept = meeting.board.acked_seq
    meeting.host = HostSession(99)
    meeting.session_events.clear()
    meeting.run(END_US)
    meeting.calm()
    assert meeting.observed() == meeting.expected()[kept:]
    assert 0 < kept < len(meeting.fed)


def test_a_reset_is_reported_and_the_new_boot_arrives_whole() -> None:
    meeting = Meeting(7, drop=0.0, noise=0.0)
    meeting.run(1_000_000)
    before = len(meeting.fed)
    meeting.board.reset()
    meeting.run(2_000_000)
    resets = [one for one in meeting.session_events if isinstance(one, BoardReset)]
    assert resets == [BoardReset(1, 2)]
    session_events = meeting.session_events[meeting.session_events.index(resets[0]) :]
    seen = [(one.board_us + 1_000_000, one.event) for one in session_events if isinstance(one, Observed)]
    assert len(seen) > 50
    assert meeting.expected()[before:][: len(seen)] == seen


def test_watermarks_and_time_samples_are_true() -> None:
    meeting = Meeting(8, drop=0.002, noise=0.0)
    meeting.run(END_US)
    meeting.calm()
    watermark_us = -1
    for one in meeting.session_events:
        if isinstance(one, Observed):
            assert one.board_us >= watermark_us
        elif isinstance(one, Watermark):
            watermark_us = one.board_us
    assert watermark_us > CALM_US - 2 * m.HEARTBEAT_US
    samples = [one for one in meeting.session_events if isinstance(one, SyncSample)]
    assert len(samples) > 8
    assert all(one.host_sent_ns <= 1000 * one.board_rx_us <= one.host_received_ns for one in samples)
    assert any(isinstance(one, Identified) for one in meeting.session_events)


@pytest.mark.parametrize("seed", [2, 5])
def test_an_evening_of_the_simulated_wheel_crosses_the_wire_whole(seed: int) -> None:
    """Both evenings have the cable out for a while: what happened meanwhile is in the ring and comes after all."""
    events = list(draw_evening(seed).events())
    board, host, session_events, t_us = SimBoard(BoardSetup(LAYOUT)), HostSession(seed), list[SessionEvent](), 0
    for event in (*events, sim.End(events[-1].t_us + 1_000_000)):
        while t_us <= event.t_us - STEP_US:
            t_us += STEP_US
            board.advance(t_us)
            session_events += host.receive(board.data_to_send(), 1000 * t_us)
            host.tick(1000 * t_us)
            board.receive(host.data_to_send())
        board.feed(event)
    assert any(isinstance(event, sim.SensorState) and event.sensor == "link" for event in events), f"seed {seed}"
    observed = [one for one in session_events if isinstance(one, Observed)]
    assert [one.seq for one in observed] == list(range(board.next_seq)), f"seed {seed}"
    edges = [(one.t_us, one.tick, one.direction) for one in events if isinstance(one, sim.RotorEdge)]
    turns = [(one.board_us, one.event) for one in observed if isinstance(one.event, m.RotorEdge)]
    assert turns == [(board_us, m.RotorEdge(tick, direction)) for board_us, tick, direction in edges], f"seed {seed}"
