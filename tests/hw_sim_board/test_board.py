"""The simulated board against the specification, one promise at a time."""

from __future__ import annotations

import pytest

from firmware_protocol import messages as m
from firmware_protocol.codec import FrameDecoder, encode_frame
from firmware_protocol.wire import decode_from_board, encode
from hw_sim import events as sim
from hw_sim.board import SELF_TEST_US, BoardSetup, SimBoard
from hw_sim.cable import Cable

LAYOUT = m.Layout(beams=2, readers=1, rotor_ticks=148, object_sensor=True)
SETUP = BoardSetup(LAYOUT, ring_events=64)
CLEAR = m.Levels(object="clear")


def host_sends(board: SimBoard, *messages: m.FromHost) -> None:
    board.receive(b"".join(encode_frame(encode(one)) for one in messages))


def board_sends(board: SimBoard) -> list[m.FromBoard]:
    decoder = FrameDecoder()
    received = [decode_from_board(frame) for frame in decoder.feed(board.data_to_send(1_000_000))]
    assert set(decoder.rejected.values()) == {0}
    return received


def greeted(setup: BoardSetup = SETUP) -> SimBoard:
    board = SimBoard(setup)
    host_sends(board, m.Hello(1))
    board_sends(board)
    return board


def seqs(received: list[m.FromBoard]) -> list[int]:
    frames = [one for one in received if isinstance(one, m.Events)]
    return [seq for frame in frames for seq in range(frame.first_seq, frame.first_seq + len(frame.events))]


def beats(received: list[m.FromBoard]) -> list[m.Heartbeat]:
    return [one for one in received if isinstance(one, m.Heartbeat)]


def roll(board: SimBoard, first: int, count: int) -> None:
    """Ball passes 1 ms apart; number n at n ms."""
    for number in range(first, first + count):
        board.feed(sim.BallPass(1000 * number, number % 2))


def test_before_the_first_hello_it_only_beats() -> None:
    board = SimBoard(SETUP)
    roll(board, 0, 3)
    board.advance(m.HEARTBEAT_US)
    assert board_sends(board) == [m.Heartbeat(1, m.HEARTBEAT_US, 0, 0, 0, 3, levels=CLEAR)]
    assert board.wants_us == 2 * m.HEARTBEAT_US


def test_hello_is_answered_and_events_follow_from_the_oldest_unconfirmed() -> None:
    board = SimBoard(SETUP)
    roll(board, 0, 4)
    board.advance(50_000)
    host_sends(board, m.Hello(9), m.Ack(1, 1))
    received = board_sends(board)
    assert received[0] == m.Identity(
        9,
        1,
        1,
        1,
        1,
        0,
        1,
        4,
        serial="SIM-0001",
        firmware="sim-1",
        config_hash="0" * 16,
        ring_events=64,
        top_rate=2000,
        layout=LAYOUT,
    )
    assert seqs(received) == [0, 1, 2, 3]
    host_sends(board, m.Hello(10))
    assert seqs(board_sends(board)) == [1, 2, 3]


def test_no_version_in_common_is_reported_and_no_event_is_sent() -> None:
    board = greeted()
    roll(board, 0, 3)
    board.advance(50_000)
    host_sends(board, m.Hello(1, version_min=2, version_max=3))
    (identity,) = board_sends(board)
    assert isinstance(identity, m.Identity)
    assert (identity.version, identity.version_min, identity.version_max) == (0, 1, 1)


def test_edges_wait_for_the_next_heartbeat() -> None:
    board = greeted()
    for number in (1, 2, 3):
        board.feed(sim.RotorEdge(1000 * number, number, "cw"))
    assert board_sends(board) == []
    assert board.wants_us == m.HEARTBEAT_US
    board.advance(board.wants_us)
    events, beat = board_sends(board)
    assert events == m.Events(1, 0, tuple(m.TimedEvent(1000 * n, m.RotorEdge(n, "cw")) for n in (1, 2, 3)))
    assert isinstance(beat, m.Heartbeat)
    assert beat.sent_seq == beat.next_seq == 3
    for _ in range(m.EVENTS_MAX):
        board.feed(sim.RotorEdge(board.board_us, 0, "cw"))
    assert len(seqs(board_sends(board))) == m.EVENTS_MAX


@pytest.mark.parametrize(
    "event",
    [
        sim.BallPass(2000, 0),
        sim.Sighting(2000, 0),
        sim.ForeignObject(2000, present=True),
        sim.TableCommand(2000, "rien_va", by="chef"),
    ],
)
def test_what_decides_waits_for_nothing_and_takes_the_edges_along(event: sim.SimEvent) -> None:
    board = greeted()
    board.feed(sim.RotorEdge(1000, 1, "cw"))
    assert board_sends(board) == []
    board.feed(event)
    assert board.wants_us == 2000
    assert seqs(board_sends(board)) == [0, 1]
    board.feed(sim.RotorEdge(3000, 2, "cw"))
    assert board_sends(board) == [], "an edge after it waits again"


def test_events_too_far_apart_for_one_frame_go_in_two() -> None:
    board = greeted()
    board.feed(sim.BallPass(0, 0))
    board.feed(sim.BallPass(m.SPAN_US_MAX + 1, 1))
    board.advance(2 * m.SPAN_US_MAX)
    frames = [one for one in board_sends(board) if isinstance(one, m.Events)]
    assert [frame.first_seq for frame in frames] == [0, 1]


def test_each_kind_of_event_has_its_message() -> None:
    board = greeted()
    for event in (
        sim.RotorEdge(1, 57, "ccw"),
        sim.Sighting(2, 0),
        sim.ForeignObject(3, present=True),
        sim.SensorState(4, "beam/1", ok=False),
        sim.SensorState(5, "rotor", ok=True),
        sim.TableCommand(6, "rien_va", "chef", "misura"),
        sim.TableCommand(7, "bouler", "chef", who="Anna"),
        sim.End(8),
    ):
        board.feed(event)
    board.advance(50_000)
    (frame,) = board_sends(board)
    assert isinstance(frame, m.Events)
    assert [timed.event for timed in frame.events] == [
        m.RotorEdge(57, "ccw"),
        m.PocketSighting(0),
        m.ObjectSeen(present=True),
        m.SensorReport("beam", 1, ok=False),
        m.SensorReport("rotor", 0, ok=True),
        m.ButtonPress("rien_va"),
    ]


def test_a_replay_goes_back_and_beats_at_once() -> None:
    board = greeted()
    roll(board, 0, 10)
    board.advance(30_000)
    assert seqs(board_sends(board)) == list(range(10))
    host_sends(board, m.Replay(1, 6))
    received = board_sends(board)
    assert beats(received) == [m.Heartbeat(1, 30_000, 0, 0, 6, 10, levels=CLEAR)]
    assert seqs(received) == [6, 7, 8, 9]
    host_sends(board, m.Replay(2, 6), m.Replay(1, 11), m.Ack(2, 5), m.Ack(1, 11))
    assert board_sends(board) == []
    assert board.acked_seq == 0


def test_a_full_ring_drops_its_oldest_and_reports_it() -> None:
    board = greeted()
    roll(board, 0, 74)
    board.advance(100_000)
    received = board_sends(board)
    assert seqs(received) == list(range(10, 74))
    assert beats(received) == [m.Heartbeat(1, 100_000, 10, 0, 10, 74, overwritten_events=10, levels=CLEAR)]
    host_sends(board, m.Ack(1, 74), m.Replay(1, 0))
    roll(board, 101, 5)
    board.advance(200_000)
    received = board_sends(board)
    assert seqs(received) == list(range(15, 79))
    assert beats(received)[0].overwritten_events == 10


def test_time_is_answered_with_arrival_and_departure() -> None:
    board = greeted()
    board.advance(1000)
    host_sends(board, m.SyncRequest(77))
    board.advance(1040)
    assert board_sends(board) == [m.SyncReply(1, 77, 1000, 1040)]


def test_a_self_test_takes_its_time_and_finds_the_faulty() -> None:
    board = greeted()
    board.feed(sim.SensorState(5, "beam/1", ok=False))
    board.feed(sim.SensorState(6, "reader/0", ok=False))
    board.feed(sim.SensorState(7, "reader/0", ok=True))
    board_sends(board)
    host_sends(board, m.SelfTestRequest(3))
    assert board_sends(board) == []
    board.advance(7 + SELF_TEST_US)
    (result,) = [one for one in board_sends(board) if isinstance(one, m.SelfTestResult)]
    assert {sensor.name: sensor.ok for sensor in result.sensors} == {
        "beam/0": True,
        "beam/1": False,
        "reader/0": True,
        "rotor": True,
        "object": True,
    }
    assert board.wants_us == m.HEARTBEAT_US
    bare = greeted(BoardSetup(m.Layout(1, 0, 0, object_sensor=False)))
    host_sends(bare, m.SelfTestRequest(3))
    assert bare.wants_us == SELF_TEST_US
    bare.advance(SELF_TEST_US)
    assert board_sends(bare) == [m.SelfTestResult(1, 3, SELF_TEST_US, (m.SensorReport("beam", 0, ok=True),))]


def test_a_reset_begins_a_new_boot() -> None:
    board = greeted()
    roll(board, 0, 5)
    board.advance(70_000)
    board.reset()
    assert board_sends(board) == [m.Heartbeat(2, 0, 0, 0, 0, 0, levels=CLEAR)]
    board.feed(sim.BallPass(71_000, 0))
    host_sends(board, m.Hello(2))
    board.advance(90_000)
    assert m.Events(2, 0, (m.TimedEvent(1000, m.BallPass(0)),)) in board_sends(board)


def test_a_cut_cable_loses_what_is_sent_but_the_ring_has_it() -> None:
    board = greeted()
    board.feed(sim.SensorState(1000, "link", ok=False))
    roll(board, 2, 4)
    board.advance(50_000)
    assert board_sends(board) == []
    host_sends(board, m.SyncRequest(5))
    board.feed(sim.SensorState(100_000, "link", ok=True))
    assert board_sends(board) == [m.Heartbeat(1, 100_000, 0, 0, 4, 4, levels=CLEAR)]
    host_sends(board, m.Replay(1, 0))
    assert seqs(board_sends(board)) == [0, 1, 2, 3]


def beaten_levels(board: SimBoard, t_us: int) -> m.Levels:
    """The levels of the latest heartbeat by then."""
    board.advance(t_us)
    return next(one.levels for one in reversed(board_sends(board)) if isinstance(one, m.Heartbeat))


def test_levels_are_the_worlds_and_outlive_a_reset() -> None:
    board = greeted()
    board.feed(sim.ForeignObject(1000, present=True))
    board.feed(sim.SensorState(2000, "beam/1", ok=False))
    board.feed(sim.SensorState(2500, "reader/0", ok=False))
    board.feed(sim.TableCommand(90_000, "rien_va", "chef"))
    told = m.Levels((1,), (0,), ("rien_va",), "present")
    assert beaten_levels(board, 100_000) == told
    assert beaten_levels(board, 300_000) == m.Levels((1,), (0,), (), "present")
    board.reset()
    assert beaten_levels(board, 300_000) == m.Levels((1,), (0,), (), "present")
    board.silent = True
    board.feed(sim.ForeignObject(400_000, present=False))  # no event tells it
    board.silent = False
    assert beaten_levels(board, 500_000).object == "clear"
    board.feed(sim.SensorState(510_000, "object", ok=False))
    assert beaten_levels(board, 600_000).object == "unknown"
    bare = greeted(BoardSetup(m.Layout(1, 0, 0, object_sensor=False)))
    assert beaten_levels(bare, 100_000) == m.Levels()


def test_a_silent_board_neither_receives_nor_observes() -> None:
    board = greeted()
    board.silent = True
    roll(board, 1, 3)
    host_sends(board, m.SyncRequest(5))
    board.advance(200_000)
    assert board_sends(board) == []
    assert board.wants_us > 200_000
    board.silent = False
    assert board_sends(board) == [m.Heartbeat(1, 200_000, 0, 0, 0, 0, levels=CLEAR)]


def test_babble_and_rejected_frames() -> None:
    board = SimBoard(SETUP)
    board.babble(b"\x11\x22\x00")
    assert board.data_to_send().startswith(b"\x11\x22\x00")
    board.receive(b"\x33\x00" + encode_frame(encode(m.SyncReply(1, 2, 3, 4))))
    board.advance(m.HEARTBEAT_US)
    assert beats(board_sends(board))[0].rejected_frames == 2


def test_little_room_gives_whole_frames_and_the_rest_later() -> None:
    board = greeted()
    roll(board, 0, 50)
    board.advance(99_000)
    first, second = board.data_to_send(300), board.data_to_send(300)
    assert 0 < len(first) <= 300
    assert first.endswith(b"\0")
    assert len(FrameDecoder().feed(first + second)) == 2
    assert board.data_to_send(10) == b""


def test_time_never_goes_back() -> None:
    board = SimBoard(SETUP)
    board.advance(10)
    with pytest.raises(ValueError, match="go back from 10 to 9"):
        board.feed(sim.BallPass(9, 0))


def test_the_cable_faults_at_its_rates_and_repeats_itself() -> None:
    data = bytes(range(1, 251)) * 40
    assert Cable(1).carry(data) == data
    dropped = Cable(1, drop=0.1).carry(data)
    assert 8500 < len(dropped) < 9500
    assert Cable(1, drop=0.1).carry(data) == dropped
    assert len(Cable(1, noise=0.1).carry(data)) > 12_000


def test_a_deaf_board_goes_on_sending_and_answers_nothing() -> None:
    board = greeted()
    board.deaf = True
    host_sends(board, m.SyncRequest(5))
    roll(board, 1, 2)
    board.advance(m.HEARTBEAT_US)
    received = board_sends(board)
    assert {type(one) for one in received} == {m.Heartbeat, m.Events}


@pytest.mark.parametrize("wraps_us", [None, 2**32])
def test_a_clock_at_the_end_of_32_bits_goes_on_or_begins_again(wraps_us: int | None) -> None:
    """Seventy-one minutes after its start; the protocol wants it to go on."""
    board = SimBoard(SETUP, up_us=2**32 - 1_000)
    board.wraps_us = wraps_us
    host_sends(board, m.Hello(1))
    board_sends(board)
    for t_us in (500, 900, 1_000, 1_100):
        board.feed(sim.BallPass(t_us, 0))
    host_sends(board, m.SyncRequest(5))
    board.advance(m.HEARTBEAT_US)
    received = board_sends(board)
    start_us = 2**32 if wraps_us is None else 0
    events = [timed.board_us for one in received if isinstance(one, m.Events) for timed in one.events]
    assert events == [2**32 - 500, 2**32 - 100, start_us, start_us + 100]
    (reply,) = (one for one in received if isinstance(one, m.SyncReply))
    assert start_us <= reply.board_rx_us <= reply.board_tx_us < start_us + m.HEARTBEAT_US
    assert beats(received)[-1].board_us < start_us + m.HEARTBEAT_US


def test_before_a_hello_a_replay_changes_nothing() -> None:
    board = SimBoard(SETUP)
    board_sends(board)
    roll(board, 0, 3)
    host_sends(board, m.Replay(1, 0))
    board.advance(50_000)
    assert board.wants_us == m.HEARTBEAT_US
    host_sends(board, m.Hello(1, 2, 3), m.Replay(1, 0))
    assert [type(one) for one in board_sends(board)] == [m.Identity]


def test_a_replay_of_what_is_to_come_is_answered_with_a_heartbeat() -> None:
    board = greeted()
    roll(board, 0, 3)
    board.advance(30_000)
    assert seqs(board_sends(board)) == [0, 1, 2]
    host_sends(board, m.Replay(1, 3))
    assert board_sends(board) == [m.Heartbeat(1, 30_000, 0, 0, 3, 3, levels=CLEAR)]
    assert board.wants_us == 30_000 + m.HEARTBEAT_US


def test_the_newest_replay_counts_though_it_skips_what_was_to_come_again() -> None:
    board = greeted()
    roll(board, 0, 60)
    board.advance(99_000)
    assert seqs(board_sends(board)) == list(range(60))
    host_sends(board, m.Replay(1, 2), m.Replay(1, 50))
    received = board_sends(board)
    assert beats(received)[0].sent_seq == 50
    assert seqs(received) == list(range(50, 60))


def test_sent_seq_is_never_below_the_oldest_event() -> None:
    board = SimBoard(SETUP)
    roll(board, 0, 70)
    board.advance(m.HEARTBEAT_US)
    (beat,) = beats(board_sends(board))
    assert (beat.oldest_seq, beat.sent_seq, beat.next_seq) == (6, 6, 70)


def test_of_several_requests_of_a_kind_the_newest_is_answered_and_the_most_urgent_goes_first() -> None:
    board = SimBoard(SETUP)
    board.feed(sim.BallPass(10, 0))
    requests = (m.SelfTestRequest(1), m.Hello(1), m.SyncRequest(1))
    host_sends(board, *requests)
    board.advance(10 + SELF_TEST_US)
    host_sends(board, m.SelfTestRequest(2), m.Hello(2), m.SyncRequest(2))
    received = board_sends(board)
    assert [type(one) for one in received] == [m.SyncReply, m.Identity, m.SelfTestResult, m.Events, m.Heartbeat]
    assert [one.token for one in received[:3] if not isinstance(one, m.Heartbeat | m.Events)] == [2, 2, 2]


def test_rejected_is_what_a_good_receiver_drops_and_nothing_else() -> None:
    board = SimBoard(SETUP)
    bad_hello = bytearray(encode(m.Hello(1)))
    bad_hello[-2] = 2  # version_min above version_max
    rejected = [b"\x05\x00", b"\x01" * 600 + b"\x00", encode_frame(b"\x06"), encode_frame(bytes(bad_hello))]
    board.receive(b"\x00\x00" + b"".join(rejected))
    host_sends(board, m.Replay(9, 0), m.Ack(9, 0), m.Ack(1, 99))
    board.advance(m.HEARTBEAT_US)
    (beat,) = board_sends(board)
    assert isinstance(beat, m.Heartbeat)
    assert beat.rejected_frames == len(rejected)


def test_the_least_board_has_nothing_to_test() -> None:
    board = greeted(BoardSetup(m.Layout(0, 0, 0, object_sensor=False)))
    host_sends(board, m.SelfTestRequest(3))
    board.advance(SELF_TEST_US)
    assert board_sends(board) == [m.SelfTestResult(1, 3, SELF_TEST_US, ())]


def test_a_boot_id_may_be_0() -> None:
    board = SimBoard(SETUP, boot_id=2**32 - 1)
    board.reset()
    host_sends(board, m.Hello(1))
    identity = board_sends(board)[0]
    assert isinstance(identity, m.Identity)
    assert identity.boot_id == 0
