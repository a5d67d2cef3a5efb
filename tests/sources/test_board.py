"""The board's conversation and what becomes of it, on virtual time."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest
from structlog.testing import capture_logs

from firmware_protocol import messages as m
from firmware_protocol.host import Position
from tests.sources.scripted_board import LAYOUT, SETTING, TABLE, UTC_AT_0_US, Bench
from wheeld.core.facts import Trouble
from wheeld.core.observations import (
    BallPass,
    ClockReading,
    Command,
    ForeignObject,
    Level,
    Rotor,
    SensorState,
    Sighting,
    TimePassed,
)
from wheeld.sources.board.board import HELD_MAX, STALL_NS
from wheeld.sources.clock import UtcPair
from wheeld.sources.line_state import GOOD_US

AGAIN_MS = GOOD_US // 1_000 + 500
"""After that a line that was down works again."""


def down_for(trouble: Trouble, t_us: int) -> SensorState:
    return SensorState(t_us, sensor="link", ok=False, what=trouble)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_every_event_becomes_its_observation_on_the_host_s_time_line(bench: Bench) -> None:
    bench.run(500)
    events: list[m.Event] = [
        m.RotorEdge(57, "cw"),
        m.BallPass(2),
        m.PocketSighting(1),
        m.ObjectSeen(present=True),
        m.SensorReport("beam", 2, ok=False),
        m.ButtonPress("rien_va"),
    ]
    for event in events:
        bench.event(event)
    bench.run(10)
    t_us = bench.seen[-1].t_us
    assert t_us == pytest.approx(500_000, abs=5_000)
    assert bench.plain() == [
        Rotor(t_us, tick=57, direction="cw"),
        BallPass(t_us, beam=2),
        Sighting(t_us, reader=1),
        ForeignObject(t_us, present=True),
        SensorState(t_us, sensor="beam/2", ok=False),
        Command(t_us, name="rien_va", by="button"),
    ]
    assert bench.board.sensors["beam/2"] is False


def test_every_button_is_a_command(bench: Bench) -> None:
    bench.run(500)
    for button in get_args(m.Button):
        bench.event(m.ButtonPress(button))
    bench.run(10)
    assert [seen.name for seen in bench.plain() if isinstance(seen, Command)] == list(get_args(m.Button))


def test_heartbeats_let_time_pass(bench: Bench) -> None:
    bench.run(3_000)
    passed = [seen.t_us for seen in bench.seen if isinstance(seen, TimePassed)]
    assert len(passed) >= 28
    assert passed[-1] == pytest.approx(3_000_000, abs=5_000)


def test_the_first_report_is_the_time_then_once_a_second(bench: Bench) -> None:
    bench.run(5_000)
    assert isinstance(bench.seen[0], ClockReading)
    assert bench.seen[0].t_us == bench.seen[1].t_us > 0
    readings = [seen for seen in bench.seen if isinstance(seen, ClockReading)]
    assert 5 <= len(readings) <= 7
    for reading in readings:
        assert reading.utc_us == pytest.approx(UTC_AT_0_US + reading.t_us, abs=reading.error_us)
    at = bench.board.clock_now(bench.host_ms * 1_000_000)
    assert at is not None
    assert abs(at.host_ns - bench.host_ms * 1_000_000) <= at.error_ns


def test_before_the_first_comparison_nothing_is_known_of_the_clock() -> None:
    assert Bench().board.clock_now(0) is None


def test_what_the_board_kept_from_before_this_process_is_dated_as_it_was(bench: Bench) -> None:
    bench.event(m.BallPass(1), ago_ms=30_000)
    bench.event(m.BallPass(2), ago_ms=10_000)
    bench.run(300)
    first, second = (seen for seen in bench.seen if isinstance(seen, BallPass))
    assert second.t_us - first.t_us == 20_000_000
    reading = bench.seen[0]
    assert isinstance(reading, ClockReading)
    assert reading.t_us == first.t_us == 0
    assert reading.utc_us == pytest.approx(UTC_AT_0_US - 30_000_000, abs=reading.error_us)


def test_events_are_acknowledged_when_they_are_safe(bench: Bench) -> None:
    for beam in (0, 1, 2):
        bench.event(m.BallPass(beam))
    bench.run(600)
    assert bench.acked[-1] == 3


def test_nothing_is_acknowledged_that_was_not_handed_on(bench: Bench) -> None:
    bench.deaf_to = (m.SyncRequest,)
    bench.event(m.BallPass(0))
    bench.run(600)
    assert bench.board.position is None
    assert bench.acked == []


def test_an_acknowledgement_from_before_a_reset_does_no_harm(bench: Bench) -> None:
    bench.board.acknowledge(Position(1, 1))
    bench.run(500)
    bench.board.acknowledge(Position(1, 999))
    bench.run(500)
    assert bench.acked == []


def test_silence_is_reported_once_and_so_is_its_end(bench: Bench) -> None:
    bench.run(2_000)
    bench.mute = True
    bench.run(5_000)
    bench.mute = False
    bench.run(AGAIN_MS)
    down, up = bench.plain()
    assert down == down_for(Trouble.NOTHING_HEARD, down.t_us)
    assert down.t_us == pytest.approx(2_000_000, abs=5_000), "where the reports ended, not when that was noticed"
    assert up == SensorState(up.t_us, sensor="link", ok=True)
    assert bench.board.is_up
    assert bench.board.counters["link_faults"] == 1


def test_what_was_observed_during_a_silence_still_arrives(bench: Bench) -> None:
    bench.run(2_000)
    bench.mute = True
    bench.run(1_500)
    bench.event(m.BallPass(3))
    bench.run(500)
    bench.mute = False
    bench.run(AGAIN_MS)
    down, ball, up = bench.plain()
    assert (down, up) == (down_for(Trouble.NOTHING_HEARD, down.t_us), SensorState(up.t_us, "link", ok=True))
    assert ball == BallPass(ball.t_us, beam=3)
    assert ball.t_us == pytest.approx(3_500_000, abs=5_000)


def test_a_cable_that_was_out_for_less_than_the_limit_loses_nothing(bench: Bench) -> None:
    bench.run(2_000)
    bench.mute = True
    bench.run(400)
    bench.event(m.BallPass(3))
    bench.run(400)
    bench.mute = False
    bench.board.opened(bench.host_ms * 1_000_000)
    bench.run(500)
    (seen,) = bench.plain()
    assert seen == BallPass(seen.t_us, beam=3)
    assert seen.t_us == pytest.approx(2_400_000, abs=5_000)


def test_a_board_that_never_answers_is_silent_from_the_start(bench: Bench) -> None:
    bench.mute = True
    bench.run(1_500)
    assert bench.seen == [down_for(Trouble.NOTHING_HEARD, 0)]
    assert bench.board.now_us(bench.host_ms * 1_000_000) == pytest.approx(1_500_000)
    bench.mute = False
    bench.run(500)
    assert bench.seen[-1].t_us == pytest.approx(2_000_000, abs=5_000)


def test_a_host_that_stood_still_does_not_call_the_board_silent(bench: Bench) -> None:
    bench.run(2_000)
    bench.host_ms += STALL_NS // 1_000_000 * 20
    bench.run(300)
    assert bench.plain() == []
    assert bench.board.counters["host_stalls"] == 1
    bench.mute = True
    bench.run(1_200)
    assert bench.plain() == [down_for(Trouble.NOTHING_HEARD, bench.plain()[0].t_us)]


def test_a_lost_frame_is_asked_for_again(bench: Bench) -> None:
    bench.run(500)
    bench.lost = True
    bench.event(m.BallPass(1))
    bench.run(50)
    bench.lost = False
    bench.event(m.BallPass(2))
    bench.run(500)
    assert [seen.beam for seen in bench.plain() if isinstance(seen, BallPass)] == [1, 2]


def test_events_that_are_lost_are_a_fault_of_the_link(bench: Bench) -> None:
    bench.run(500)
    bench.lost = True
    for beam in (0, 1, 2):
        bench.event(m.BallPass(beam))
    bench.run(50)
    bench.lost = False
    del bench.ring[:2]
    bench.oldest_seq = 2
    with capture_logs() as logs:
        bench.run(AGAIN_MS)
    assert [seen for seen in bench.plain() if isinstance(seen, SensorState)] == [
        down_for(Trouble.EVENTS_LOST, bench.plain()[0].t_us),
        SensorState(bench.plain()[-1].t_us, sensor="link", ok=True),
    ]
    assert [seen.beam for seen in bench.plain() if isinstance(seen, BallPass)] == [2]
    assert [seen.sensor for seen in bench.levels()].count("object") == 2  # told again after the gap
    assert bench.board.counters["lost_events"] == 2
    fault = next(entry for entry in logs if entry["event"] == "board.link_fault")
    assert (fault["reason"], fault["first_seq"], fault["last_seq"]) == ("events_lost", 0, 1)


def test_a_board_that_starts_anew_is_a_fault_and_time_goes_on(bench: Bench) -> None:
    bench.run(3_000)
    bench.boot(2)
    bench.board.opened(bench.host_ms * 1_000_000)
    bench.event(m.BallPass(1))
    bench.run(AGAIN_MS)
    down, ball, up = bench.plain()
    assert (down, up) == (
        down_for(Trouble.BOARD_RESTARTED, down.t_us),
        SensorState(up.t_us, sensor="link", ok=True),
    )
    assert isinstance(ball, BallPass)
    assert ball.t_us == pytest.approx(3_000_000, abs=20_000)
    assert bench.board.counters["resets"] == 1
    readings = [seen for seen in bench.seen if isinstance(seen, ClockReading)]
    assert readings[-1].utc_us == pytest.approx(UTC_AT_0_US + readings[-1].t_us, abs=20_000)


def test_a_clock_that_steps_is_a_fault_and_time_goes_on(bench: Bench) -> None:
    bench.run(3_000)
    bench.started_ms -= 5_000
    bench.run(3_000)
    assert bench.plain() == [
        down_for(Trouble.CLOCK_STEPPED, bench.plain()[0].t_us),
        SensorState(bench.plain()[1].t_us, sensor="link", ok=True),
    ]
    assert bench.board.counters["clock_step"] == 1
    times = [seen.t_us for seen in bench.seen]
    assert times == sorted(times)


@pytest.mark.parametrize("ago_ms", [-3_600_000, 700])
def test_an_event_dated_in_the_future_or_the_past_is_a_fault_and_no_event(ago_ms: int, bench: Bench) -> None:
    """Taken for true, the one would make all that comes later too late to count, the other be counted late itself."""
    bench.run(3_000)
    bench.event(m.BallPass(0))
    bench.run(10)
    bench.event(m.BallPass(3), ago_ms=ago_ms)
    bench.run(AGAIN_MS)
    bench.event(m.BallPass(1))
    bench.run(10)
    first, down, up, last = bench.plain()
    assert [down, up] == [
        down_for(Trouble.MISDATED, down.t_us),
        SensorState(up.t_us, sensor="link", ok=True),
    ]
    assert (first, last) == (BallPass(first.t_us, 0), BallPass(last.t_us, 1))
    assert last.t_us == pytest.approx((3_010 + AGAIN_MS) * 1_000, abs=20_000)
    assert bench.board.counters["misdated"] == 1


def test_a_board_that_does_not_answer_time_requests_is_used_all_the_same(bench: Bench) -> None:
    bench.deaf_to = (m.SyncRequest,)
    for _ in range(HELD_MAX):
        bench.event(m.RotorEdge(1, "cw"))
    bench.run(100)
    assert len([seen for seen in bench.seen if isinstance(seen, Rotor)]) == HELD_MAX
    assert not [seen for seen in bench.seen if isinstance(seen, ClockReading)]
    bench.run(1_000)
    assert bench.board.now_us(bench.host_ms * 1_000_000) >= bench.seen[-1].t_us
    bench.deaf_to = ()
    bench.run(1_100)
    assert [seen for seen in bench.seen if isinstance(seen, ClockReading)]


def test_the_self_test_reports_only_changes(bench: Bench) -> None:
    bench.sensors = [m.SensorReport("beam", 1, ok=False), m.SensorReport("reader", 0, ok=True)]
    bench.run(500)
    (reported,) = bench.plain()
    assert reported == SensorState(reported.t_us, sensor="beam/1", ok=False)
    assert bench.board.sensors == {"beam/1": False, "reader/0": True}
    bench.sensors = [m.SensorReport("beam", 1, ok=True)]
    bench.board.opened(bench.host_ms * 1_000_000)
    bench.run(500)
    assert bench.plain()[1:] == [SensorState(bench.plain()[1].t_us, sensor="beam/1", ok=True)]


@pytest.mark.parametrize(
    ("pins", "what", "expected", "found"),
    [
        ({"board_serial": "B-2"}, "board_serial", "B-2", "B-1"),
        ({"config_hash": "f" * 16}, "config_hash", "f" * 16, "0123456789abcdef"),
    ],
)
def test_another_board_than_the_pinned_one_is_refused(
    pins: dict[str, str], what: str, expected: str, found: str
) -> None:
    bench = Bench(msgspec.structs.replace(SETTING, **pins))
    with capture_logs() as logs:
        bench.event(m.BallPass(1))
        bench.run(6_000)
    assert [(entry["what"], entry["expected"], entry["found"]) for entry in logs if entry["log_level"] == "error"] == [
        (what, expected, found)
    ]
    trouble = Trouble.REFUSED_SERIAL if what == "board_serial" else Trouble.REFUSED_CONFIGURATION
    assert bench.plain() == [down_for(trouble, bench.plain()[0].t_us)]
    assert bench.board.troubles == {"link": (trouble,)}
    assert bench.board.counters["refusals"] >= 2


def told(bench: Bench) -> dict[str, bool]:
    """The last level of each sensor."""
    return {seen.sensor: seen.active for seen in bench.levels()}


def test_how_everything_stands_is_told_once_at_the_start(bench: Bench) -> None:
    bench.standing = m.Levels((2,), (1,), ("rien_va",), "present")
    bench.run(2_000)
    active = {name for name, is_active in told(bench).items() if is_active}
    assert active == {"beam/2", "reader/1", "button/rien_va", "object"}
    assert set(told(bench)) == {f"beam/{n}" for n in range(4)} | {f"reader/{n}" for n in range(3)} | {
        f"button/{button}" for button in m.BUTTONS
    } | {"object"}
    assert len(bench.levels()) == len(told(bench))
    bench.standing = m.Levels(object="present")
    bench.run(500)
    assert not any(active for name, active in told(bench).items() if name != "object")
    known = len(bench.levels())
    bench.standing = m.Levels((0,), (2,), ("open",), "present")  # from now on their events say all
    bench.run(500)
    assert len(bench.levels()) == known


def test_an_object_s_level_follows_its_events_and_is_mended_by_the_next_heartbeat(bench: Bench) -> None:
    bench.run(1_000)
    known = len(bench.levels())
    bench.event(m.ObjectSeen(present=True))
    bench.standing = m.Levels(object="present")
    bench.run(500)
    assert (len(bench.levels()), len(bench.plain())) == (known, 1)
    bench.standing = m.Levels(object="clear")  # and no event said so
    bench.run(500)
    assert [(seen.sensor, seen.active) for seen in bench.levels()[known:]] == [("object", False)]


@pytest.mark.parametrize("present", [True, False])
def test_what_a_ring_kept_is_judged_by_how_the_object_sensor_stood_before_it(*, present: bool, bench: Bench) -> None:
    """Its first change shows that, and it is told before everything else."""
    bench.event(m.BallPass(1), ago_ms=2_000)
    bench.event(m.ObjectSeen(not present), ago_ms=1_000)
    bench.standing = m.Levels(object="clear" if present else "present")
    bench.run(1_000)
    first, *rest = [seen for seen in bench.seen if isinstance(seen, Level | BallPass | ForeignObject)]
    assert isinstance(first, Level)
    assert (first.sensor, first.active) == ("object", present)
    assert [type(seen) for seen in rest[:2]] == [BallPass, ForeignObject]
    assert "object" not in [seen.sensor for seen in rest[2:] if isinstance(seen, Level)]


def test_a_board_that_never_tells_a_level_is_heard_all_the_same(bench: Bench) -> None:
    bench.mute_beats = True
    for sector in range(HELD_MAX):
        bench.event(m.RotorEdge(sector % 37, "cw"))
    bench.run(600)
    assert len(bench.plain()) == HELD_MAX


def test_after_a_gap_everything_is_told_again(bench: Bench) -> None:
    bench.run(1_000)
    known = len(bench.levels())
    bench.boot(2)
    bench.event(m.BallPass(1))  # before the first heartbeat
    bench.standing = m.Levels(object="present")
    bench.run(1_500)
    again = bench.levels()[known:]
    assert len(again) == known
    assert {seen.sensor: seen.active for seen in again}["object"] is True
    order = [seen for seen in bench.seen if isinstance(seen, SensorState | BallPass) or seen in again]
    assert order[0] == down_for(Trouble.BOARD_RESTARTED, order[0].t_us)
    first, then = [seen for seen in order if isinstance(seen, Level | BallPass)][:2]
    assert (isinstance(first, Level) and first.sensor, type(then)) == ("object", BallPass)


def test_an_object_sensor_that_cannot_tell_tells_again_when_it_can(bench: Bench) -> None:
    bench.standing = m.Levels(object="unknown")
    bench.run(1_000)
    assert "object" not in told(bench)
    for level in ("clear", "unknown", "clear"):
        bench.standing = m.Levels(object=level)
        bench.run(300)
    assert [seen.active for seen in bench.levels() if seen.sensor == "object"] == [False, False]


def test_an_object_sensor_that_failed_tells_its_level_again_though_no_heartbeat_said_unknown(bench: Bench) -> None:
    """Those that said so may be lost on a damaged line, and the core has forgotten the level."""
    bench.run(1_000)
    for ok in (False, True):
        bench.event(m.SensorReport("object", 0, ok))
    bench.run(300)
    assert [seen.active for seen in bench.levels() if seen.sensor == "object"] == [False, False]


@pytest.mark.parametrize("ok", [True, False])
def test_a_report_of_a_sensor_that_was_lost_is_asked_for_again(ok: bool, bench: Bench) -> None:
    """Else a sensor that works again would be waited for, for ever, and one that failed would be trusted."""
    bench.sensors = [m.SensorReport("object", 0, ok=not ok)]
    bench.run(1_000)
    before = len(bench.levels())
    bench.lost = True
    bench.event(m.SensorReport("object", 0, ok))
    bench.sensors = [m.SensorReport("object", 0, ok)]
    bench.run(50)
    bench.lost = False
    bench.ring.clear()
    bench.oldest_seq += 1
    bench.run(AGAIN_MS)
    states = [seen for seen in bench.plain() if isinstance(seen, SensorState) and seen.sensor == "object"]
    assert states[-1].ok is ok
    assert bench.board.sensors["object"] is ok
    told_us = [seen.t_us for seen in bench.levels()[before:] if seen.sensor == "object"]
    assert max(told_us) >= states[-1].t_us


def test_where_the_table_has_no_object_sensor_the_board_s_counts_for_nothing() -> None:
    bench = Bench(table=msgspec.structs.replace(TABLE, object_sensor=False))
    bench.standing = m.Levels(object="present")
    bench.run(500)
    bench.event(m.ObjectSeen(present=True))
    bench.run(500)
    assert "object" not in told(bench)
    assert bench.plain() == []


def test_a_board_without_the_object_sensor_that_the_table_has_is_refused(bench: Bench) -> None:
    bench.layout = msgspec.structs.replace(LAYOUT, object_sensor=False)
    bench.run(500)
    assert bench.board.troubles == {"link": (Trouble.REFUSED_LAYOUT,)}


def test_beside_a_head_only_what_the_board_is_there_for_counts() -> None:
    bench = Bench(table=msgspec.structs.replace(TABLE, rotor_ticks=0, readers_deg=()))
    bench.event(m.RotorEdge(3, "cw"))
    bench.event(m.PocketSighting(1))
    bench.event(m.BallPass(1))
    bench.run(2_000)
    assert bench.board.troubles == {}
    assert {type(seen).__name__ for seen in bench.seen} <= {"BallPass", "TimePassed", "ClockReading", "Level"}
    assert not any(seen.sensor.startswith("reader/") for seen in bench.levels())
    assert [seen.beam for seen in bench.seen if isinstance(seen, BallPass)] == [1]


def test_a_board_with_another_layout_is_refused_until_the_right_one_is_plugged_in(bench: Bench) -> None:
    bench.layout = msgspec.structs.replace(LAYOUT, beams=3, rotor_ticks=74)
    with capture_logs() as logs:
        bench.event(m.BallPass(1))
        bench.run(1_500)
        bench.board.opened(bench.host_ms * 1_000_000)
        bench.run(500)
    (refusal,) = [entry for entry in logs if entry["event"] == "board.refused"]
    assert (refusal["beams"], refusal["rotor_ticks"]) == ("3, configured 4", "74, configured 148")
    assert "readers" not in refusal
    assert bench.plain() == [down_for(Trouble.REFUSED_LAYOUT, bench.plain()[0].t_us)]
    assert bench.acked == []
    assert bench.board.counters["of_refused_board"] > 0
    bench.layout = LAYOUT
    bench.board.opened(bench.host_ms * 1_000_000)
    bench.run(AGAIN_MS)
    assert bench.plain()[-1] == SensorState(bench.plain()[-1].t_us, sensor="link", ok=True)


def test_the_board_s_own_counters_are_passed_on(bench: Bench) -> None:
    assert "board_missed_edges" not in bench.board.counters
    bench.run(500)
    bench.send(m.Heartbeat(1, bench.board_us + 1, 0, 0, 0, 0, 5, 6, 7))
    counters = bench.board.counters
    reported = [counters[f"board_{name}"] for name in ("rejected_frames", "overwritten_events", "missed_edges")]
    assert reported == [5, 6, 7]


def test_garbage_on_the_line_is_counted_and_nothing_else(bench: Bench) -> None:
    bench.run(500)
    before = len(bench.seen)
    assert bench.board.receive(b"\x00garbage\x00" * 50, bench.host_ms * 1_000_000, UtcPair(0, 0, 0)) == []
    assert len(bench.seen) == before
    assert bench.board.counters["cobs"] + bench.board.counters["crc"] + bench.board.counters["short"] == 50


def test_edges_that_the_board_missed_are_a_fault_of_the_link(bench: Bench) -> None:
    bench.run(500)
    bench.missed_edges = 2
    bench.run(100)
    bench.event(m.BallPass(1))
    bench.run(AGAIN_MS)
    fault, passed, mended = bench.plain()
    assert (fault, mended) == (
        down_for(Trouble.EDGES_MISSED, fault.t_us),
        SensorState(mended.t_us, sensor="link", ok=True),
    )
    assert isinstance(passed, BallPass)
    assert bench.board.counters["link_faults"] == 1


def test_edges_are_missed_by_one_start_of_a_board_and_not_by_the_next(bench: Bench) -> None:
    """Its counter begins anew with it: more than the board before had missed is no fault of this one's line."""
    bench.missed_edges = 1
    bench.run(500)
    bench.boot(2)
    bench.missed_edges = 5
    bench.run(AGAIN_MS)
    assert [fault.what for fault in bench.plain() if isinstance(fault, SensorState) and not fault.ok] == [
        Trouble.BOARD_RESTARTED
    ]
