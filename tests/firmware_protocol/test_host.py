"""The host session, one situation at a time."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_protocol import messages as m
from firmware_protocol.codec import encode_frame
from firmware_protocol.host import (
    ACK_INTERVAL_NS,
    HELLO_RETRY_NS,
    REFUSED_RETRY_NS,
    REPLAY_RETRY_NS_MAX,
    REPLAY_RETRY_NS_MIN,
    REPLAY_ROUND_TRIPS,
    SELF_TEST_RETRY_NS,
    SYNC_BURST,
    SYNC_BURST_INTERVAL_NS,
    SYNC_INTERVAL_NS,
    BoardReset,
    HostSession,
    Identified,
    LostEvents,
    Observed,
    Position,
    Refused,
    SelfTested,
    SessionEvent,
    SyncSample,
    Watermark,
)
from tests.firmware_protocol.bench import Bench, balls, beat, fresh_bench, identity_of, timed_ball
from tests.firmware_protocol.strategies import from_board


@pytest.fixture
def bench() -> Bench:
    return fresh_bench()


@pytest.fixture
def known(bench: Bench) -> Bench:
    """A bench whose session knows board 5, of which nothing has happened yet."""
    bench.identify(identity_of())
    return bench


def observed(first_seq: int, count: int) -> list[SessionEvent]:
    seqs = range(first_seq, first_seq + count)
    return [Observed(seq, timed_ball(seq).board_us, timed_ball(seq).event) for seq in seqs]


def test_hello_is_repeated_until_answered_behind_a_delimiter() -> None:
    session = HostSession(7)
    assert session.next_tick_ns == 0
    session.tick(0)
    assert session.data_to_send()[:1] == b"\0"
    assert session.data_to_send() == b""
    assert session.next_tick_ns == HELLO_RETRY_NS
    bench = Bench(session)
    assert bench.host_says(HELLO_RETRY_NS - 1) == []
    assert bench.host_says(1) == [m.Hello(7)]
    assert bench.board_says(identity_of()) == [Identified(identity_of())]
    assert not any(isinstance(one, m.Hello) for one in bench.host_says(10 * HELLO_RETRY_NS))


def test_boot_0_is_a_boot_as_every_other(bench: Bench) -> None:
    bench.identify(identity_of(boot_id=0))
    assert bench.board_says(balls(0, 2, boot_id=0)) == observed(0, 2)
    assert bench.session.position == Position(0, 2)
    bench.session.reconnected(0)
    (hello,) = (one for one in bench.host_says() if isinstance(one, m.Hello))
    assert BoardReset(0, 6) in bench.board_says(identity_of(token=hello.token, boot_id=6))


def test_only_the_answer_to_our_hello_counts(bench: Bench) -> None:
    assert bench.board_says(identity_of(token=6)) == []
    bench.identify(identity_of())
    assert bench.board_says(identity_of()) == []
    assert bench.session.counters["unasked"] == 2


def test_nothing_is_believed_before_the_identity(bench: Bench) -> None:
    assert bench.session.position is None
    assert bench.board_says(balls(0, 3), beat(5000, 3)) == []
    assert bench.session.counters["before_identity"] == 2


@pytest.mark.parametrize(
    ("changes", "refused"),
    [
        ({"version": 0, "version_min": 2, "version_max": 3}, Refused("version", "1", "2…3")),
        ({"version": 2, "version_max": 2}, Refused("version", "1", "1…2")),
        ({"serial": "WB-0002"}, Refused("board_serial", "WB-0001", "WB-0002")),
        ({"config_hash": "ff" * 8}, Refused("config_hash", "00112233aabbccdd", "ff" * 8)),
    ],
)
def test_a_wrong_board_is_refused_by_name_and_asked_again_later(changes: dict[str, object], refused: Refused) -> None:
    bench = Bench(HostSession(7, board_serial="WB-0001", config_hash="00112233aabbccdd"))
    bench.host_says()
    assert bench.board_says(identity_of(**changes)) == [refused]
    assert bench.session.identity is None
    assert bench.board_says(balls(0, 1)) == []
    assert bench.host_says(REFUSED_RETRY_NS - 1) == []
    assert bench.host_says(1) == [m.Hello(8)]
    assert bench.board_says(identity_of(token=8)) == [Identified(identity_of(token=8))]


def test_a_board_that_comes_back_after_a_refusal_is_asked_again_for_the_same_hole() -> None:
    bench = Bench(HostSession(7, board_serial="WB-0001"))
    bench.host_says()
    bench.identify(identity_of())
    assert bench.board_says(balls(2, 1)) == []
    assert bench.host_says() == [m.Replay(5, 0)]
    bench.session.reconnected(bench.now_ns)
    bench.host_says()
    bench.board_says(identity_of(token=8, serial="WB-0002"))
    assert bench.host_says(REFUSED_RETRY_NS) == [m.Hello(9)]
    bench.identify(identity_of(token=9, next_seq=3))
    assert bench.board_says(balls(2, 1)) == []
    assert bench.host_says() == [m.Replay(5, 0)]


def test_events_come_once_and_in_order(known: Bench) -> None:
    assert known.board_says(balls(0, 3), balls(0, 3), balls(1, 4)) == observed(0, 5)
    assert known.session.position == Position(5, 5)
    assert known.session.counters["duplicate_events"] == 5
    assert known.session.counters["events"] == 5


def test_a_hole_is_asked_for_once_then_paced(known: Bench) -> None:
    assert known.board_says(balls(2, 2), balls(4, 2)) == []
    assert known.host_says() == [m.Replay(5, 0)]
    assert known.session.counters["early_frames"] == 2
    assert known.host_says(REPLAY_RETRY_NS_MAX)[-1] == m.Replay(5, 0)
    assert known.board_says(balls(0, 2)) == observed(0, 2)
    assert m.Replay(5, 2) not in known.host_says(REPLAY_RETRY_NS_MAX)
    assert known.board_says(balls(3, 1)) == []
    assert m.Replay(5, 2) in known.host_says()
    assert known.session.counters["replay_requests"] == 3


@pytest.mark.parametrize(
    ("round_trip_ns", "paced_ns"),
    [
        (1_000_000, REPLAY_RETRY_NS_MIN),
        (30_000_000, REPLAY_ROUND_TRIPS * 30_000_000),
        (400_000_000, REPLAY_RETRY_NS_MAX),
    ],
)
def test_a_hole_is_asked_for_again_as_soon_as_the_answer_could_have_come(
    known: Bench, round_trip_ns: int, paced_ns: int
) -> None:
    (asked,) = known.host_says(SYNC_INTERVAL_NS)
    assert isinstance(asked, m.SyncRequest)
    known.now_ns += round_trip_ns
    known.board_says(m.SyncReply(5, asked.token, 1_000, 1_000))
    known.board_says(balls(2, 2))
    assert m.Replay(5, 0) in known.host_says()
    assert m.Replay(5, 0) not in known.host_says(paced_ns - 1)
    assert m.Replay(5, 0) in known.host_says(1)


def test_a_hole_is_asked_for_again_at_once_when_the_answer_began_and_was_damaged(known: Bench) -> None:
    """The board goes back, says so in a heartbeat, and then sends what is missing: that frame did not arrive."""
    known.board_says(balls(2, 2))
    assert m.Replay(5, 0) in known.host_says()
    known.board_says(balls(4, 2))
    assert known.host_says() == []
    known.board_says(beat(9000, 6, sent_seq=0), balls(2, 2))
    assert known.host_says() == [m.Replay(5, 0)]
    known.board_says(balls(4, 2))
    assert known.host_says() == []


def test_a_lost_last_frame_is_noticed_by_the_heartbeat(known: Bench) -> None:
    assert known.board_says(balls(0, 2)) == observed(0, 2)
    assert known.board_says(beat(9000, 4)) == []
    assert known.host_says() == [m.Replay(5, 2)]
    assert known.board_says(balls(2, 2)) == [*observed(2, 2), Watermark(9000)]


def test_what_the_board_has_not_sent_yet_is_waited_for(known: Bench) -> None:
    assert known.board_says(beat(9000, 4, sent_seq=0)) == []
    assert known.host_says() == []


def test_the_watermark_stands_exactly_before_the_first_later_event(known: Bench) -> None:
    assert known.board_says(beat(1500, 2), balls(0, 4)) == [*observed(0, 2), Watermark(1500), *observed(2, 2)]
    assert known.board_says(beat(1500, 2), beat(1400, 1), beat(3500, 4)) == [Watermark(3500)]
    assert known.session.heartbeat == beat(3500, 4)


def test_an_overrun_ring_is_a_gap(known: Bench) -> None:
    assert known.board_says(balls(0, 2)) == observed(0, 2)
    assert known.board_says(beat(20_000, 12, oldest_seq=8)) == [LostEvents(2, 7)]
    assert known.board_says(balls(8, 4)) == [*observed(8, 4), Watermark(20_000)]


def test_a_gap_releases_the_watermark_before_it(known: Bench) -> None:
    assert known.board_says(beat(1500, 2)) == []
    assert known.board_says(beat(1400, 2, oldest_seq=2)) == [LostEvents(0, 1), Watermark(1500)]


def test_levels_stand_behind_the_events_before_them_or_not_at_all(known: Bench) -> None:
    levels = m.Levels(beams_blocked=(1,), object="present")
    told = msgspec.structs.replace(beat(1500, 2), levels=levels)
    assert known.board_says(told) == []
    assert known.board_says(balls(0, 4)) == [*observed(0, 2), Watermark(1500, levels), *observed(2, 2)]


def test_levels_from_before_lost_events_are_not_told(known: Bench) -> None:
    told = msgspec.structs.replace(beat(1500, 2), levels=m.Levels(object="clear"))
    assert known.board_says(told) == []
    assert known.board_says(beat(1400, 4, oldest_seq=4)) == [LostEvents(0, 3), Watermark(1500, None)]


def test_a_new_host_gets_what_was_never_acknowledged(bench: Bench) -> None:
    events = bench.board_says(identity_of(oldest_seq=0, acked_seq=3, next_seq=9), balls(3, 6))
    assert events[1:] == observed(3, 6)


def test_a_new_host_learns_what_nobody_got(bench: Bench) -> None:
    events = bench.board_says(identity_of(oldest_seq=6, acked_seq=3, next_seq=9))
    assert events[1:] == [LostEvents(3, 5)]


@pytest.mark.parametrize(("acked_seq", "count", "expected"), [(2, 7, (4, 5)), (6, 3, (6, 3))])
def test_a_host_goes_on_where_it_stood_or_behind_what_was_acknowledged(
    acked_seq: int, count: int, expected: tuple[int, int]
) -> None:
    bench = Bench(HostSession(7, resume_at=Position(5, 4)))
    bench.host_says()
    events = bench.board_says(identity_of(acked_seq=acked_seq, next_seq=9), balls(acked_seq, count))
    assert events[1:] == observed(*expected)


def test_where_a_host_stood_in_a_former_boot_means_nothing() -> None:
    bench = Bench(HostSession(7, resume_at=Position(4, 8)))
    bench.host_says()
    events = bench.board_says(identity_of(acked_seq=2, next_seq=9), balls(2, 7))
    assert events[0] == BoardReset(4, 5)
    assert events[2:] == observed(2, 7)


def test_acknowledgements_are_paced_and_repeated_until_seen(known: Bench) -> None:
    known.board_says(balls(0, 4))
    known.session.acknowledge(Position(5, 2))
    assert known.host_says() == [m.Ack(5, 2)]
    known.session.acknowledge(Position(5, 3))
    known.session.acknowledge(Position(5, 4))
    known.session.acknowledge(Position(5, 3))
    assert m.Ack(5, 4) not in known.host_says(ACK_INTERVAL_NS - 1)
    assert m.Ack(5, 4) in known.host_says(1)
    known.board_says(beat(5000, 4, acked_seq=2))
    assert m.Ack(5, 4) in known.host_says(ACK_INTERVAL_NS)
    known.board_says(beat(6000, 4, acked_seq=4))
    assert m.Ack(5, 4) not in known.host_says(ACK_INTERVAL_NS)


def test_acknowledging_what_never_came_is_the_callers_mistake(known: Bench) -> None:
    with pytest.raises(ValueError, match="but only Position"):
        known.session.acknowledge(Position(5, 1))
    known.session.acknowledge(Position(4, 1))
    HostSession(1).acknowledge(Position(5, 1))
    assert known.host_says() == []


def test_a_reset_board_is_reported_and_its_numbers_begin_again(known: Bench) -> None:
    known.board_says(balls(0, 4), beat(5000, 4))
    known.session.acknowledge(Position(5, 4))
    assert known.board_says(beat(10, 1, boot_id=6), balls(0, 1, boot_id=6)) == []
    assert known.session.counters["other_boot"] == 2
    assert m.Hello(8) in known.host_says()
    reborn = identity_of(token=8, boot_id=6, next_seq=1)
    assert known.board_says(reborn, balls(0, 1, boot_id=6)) == [BoardReset(5, 6), Identified(reborn), *observed(0, 1)]
    assert known.board_says(beat(20, 1, boot_id=6)) == [Watermark(20)]
    assert m.Ack(6, 4) not in known.host_says()


def test_a_boot_id_used_twice_is_still_a_reset(known: Bench) -> None:
    known.board_says(balls(0, 4))
    assert known.board_says(beat(100, 1)) == []
    assert known.host_says() == [m.Hello(8)]
    events = known.board_says(identity_of(token=8, next_seq=1))
    assert events[0] == BoardReset(5, 5)


def test_an_overtaken_identity_is_no_reset(known: Bench) -> None:
    known.session.reconnected(known.now_ns)
    assert known.host_says() == [m.Hello(8)]
    known.board_says(balls(0, 4))
    assert known.board_says(identity_of(token=8, next_seq=1)) == [Identified(identity_of(token=8, next_seq=1))]


def test_a_line_opened_anew_starts_clean_and_goes_on(known: Bench) -> None:
    known.board_says(balls(0, 2))
    known.session.receive(encode_frame(b"half")[:-1], known.now_ns)
    known.session.request_self_test()
    known.session.tick(known.now_ns)
    known.session.reconnected(known.now_ns)
    assert known.host_says() == [m.Hello(8)]
    assert known.board_says(balls(2, 1)) == observed(2, 1)
    events = known.board_says(identity_of(token=8, next_seq=3), balls(0, 3))
    assert events == [Identified(identity_of(token=8, next_seq=3))]


def test_time_is_asked_in_a_burst_then_every_second(bench: Bench) -> None:
    bench.board_says(identity_of())
    for _ in range(SYNC_BURST):
        assert bench.host_says() == [m.SyncRequest(bench.now_ns)]
        sent_ns = bench.now_ns
        bench.now_ns += 1_000_000
        reply = m.SyncReply(5, sent_ns, 400, 450)
        assert bench.board_says(reply, reply) == [SyncSample(sent_ns, bench.now_ns, 400, 450)]
        bench.now_ns = min(sent_ns + SYNC_BURST_INTERVAL_NS, bench.session.next_tick_ns)
    bench.now_ns = bench.session.next_tick_ns
    assert bench.now_ns - sent_ns == SYNC_INTERVAL_NS
    assert bench.session.counters["unasked"] == SYNC_BURST


def test_a_self_test_is_asked_for_until_answered(bench: Bench) -> None:
    bench.session.request_self_test()
    assert bench.host_says() == []
    bench.identify(identity_of(token=7))
    asked = next(one for one in bench.host_says(SELF_TEST_RETRY_NS) if isinstance(one, m.SelfTestRequest))
    assert asked in bench.host_says(SELF_TEST_RETRY_NS)
    sensors = (m.SensorReport("beam", 0, True), m.SensorReport("rotor", 0, False))
    result = m.SelfTestResult(5, asked.token, 123, sensors)
    assert bench.board_says(msgspec.structs.replace(result, token=99), result, result) == [SelfTested(123, sensors)]
    assert asked not in bench.host_says(SELF_TEST_RETRY_NS)
    assert bench.session.counters["unasked"] == 2


def test_what_cannot_be_read_is_counted_by_cause(known: Bench) -> None:
    wire = encode_frame(b"\x7f") + encode_frame(b"\x83\0") + encode_frame(b"\x82" + bytes(28)) + b"\x05a\0"
    assert known.session.receive(wire, 0) == []
    counters = known.session.counters
    assert [counters[name] for name in ("unknown_type", "length", "value", "cobs", "crc")] == [1, 1, 1, 1, 0]


@given(st.lists(st.one_of(from_board, st.binary(max_size=60)), max_size=12), st.sets(st.integers(0, 11)))
def test_no_board_however_mad_breaks_the_session(said: list[m.FromBoard | bytes], echoes: set[int]) -> None:
    """Anything a board can say, some of it with our boot id and token, and noise: no crash, and numbers only rise."""
    bench = fresh_bench()
    bench.identify(identity_of())
    seqs: list[int] = []
    for number, one in enumerate(said):
        if isinstance(one, bytes):
            events = bench.session.receive(one + b"\0", bench.now_ns)
        else:
            ours = {"boot_id": 5, "token": 8} if number in echoes else {}
            events = bench.board_says(
                msgspec.structs.replace(one, **{name: ours[name] for name in ours if hasattr(one, name)})
            )
        if any(isinstance(event, BoardReset) for event in events):
            seqs.clear()
        seqs += [event.seq for event in events if isinstance(event, Observed)]
        assert seqs == sorted(set(seqs))
        bench.host_says(ACK_INTERVAL_NS)
