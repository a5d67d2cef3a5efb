"""Firmware that breaks a rule of its protocol is named, and play goes on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from structlog.testing import capture_logs

from firmware_protocol import messages as m
from tests.sources.scripted_board import Bench
from tests.sources.test_line_troubles import states, turning
from wheeld.core.facts import Trouble
from wheeld.sources.board.firmware import BEATS

CLEAR = m.Levels(object="clear", door="closed")


@pytest.fixture
def bench() -> Bench:
    """A board that has run for a while, and has done nothing wrong."""
    bench = Bench()
    bench.layout = m.Layout(4, 3, 148, object_sensor=True, door_switch=True)
    bench.sensors = [m.SensorReport("beam", beam, ok=True) for beam in range(4)]
    bench.standing = CLEAR
    bench.run(3_000)
    assert states(bench) == []
    return bench


def warned(bench: Bench, of: Trouble) -> bool:
    """Whether the line has this warning, and nothing else is wrong."""
    told = states(bench)
    assert told in ([], [(True, of)])
    return bool(told)


@pytest.mark.parametrize(("beat_ms", "is_wrong"), [(20, True), (50, True), (70, False), (150, False), (200, True)])
def test_heartbeats_at_another_interval_are_a_trouble_until_they_are_right(
    bench: Bench, beat_ms: int, is_wrong: bool
) -> None:
    bench.beat_ms = beat_ms
    turning(bench, 2 * BEATS * 0.2 + 1)
    assert warned(bench, Trouble.HEARTBEAT_INTERVAL) == is_wrong
    assert bench.board.is_up
    bench.beat_ms = 100
    turning(bench, 2 * BEATS * 0.1 + 1)
    assert bench.board.troubles == {}


def test_heartbeats_that_are_lost_or_come_for_a_replay_are_at_the_right_interval(bench: Bench) -> None:
    for beat in range(200):
        bench.loses = (m.Heartbeat,) if beat % 3 == 0 else ()
        bench.run(100)
        if beat % 4 == 0:
            bench.send(m.Heartbeat(1, bench.board_us + 1, 0, 0, bench.sent_seq, bench.next_seq, levels=CLEAR))
    assert states(bench) == []


def press(bench: Bench) -> None:
    bench.event(m.ButtonPress("rien_va"))


def drop(bench: Bench) -> None:
    bench.event(m.ObjectSeen(present=True))


def unlock(bench: Bench) -> None:
    bench.event(m.DoorMoved(open=True))


def fail(bench: Bench) -> None:
    bench.event(m.SensorReport("beam", 2, ok=False))


WITH_EVENTS = [
    (m.Levels((), (), ("rien_va",), "clear", "closed"), press),
    (m.Levels(object="present", door="closed"), drop),
    (m.Levels(object="clear", door="open"), unlock),
    (m.Levels((2,), object="clear", door="closed"), fail),
]


@pytest.mark.parametrize(("levels", "report"), WITH_EVENTS)
def test_a_level_that_rises_without_its_event_is_a_trouble_for_a_minute(
    bench: Bench, levels: m.Levels, report: Callable[[Bench], None]
) -> None:
    bench.standing = levels
    with capture_logs() as logs:
        bench.run(4_000)
    assert warned(bench, Trouble.LEVEL_WITHOUT_EVENT)
    assert [entry["reason"] for entry in logs if entry["event"] == "board.link_warning"] == ["level_without_event"]
    bench.standing = CLEAR
    bench.run(55_000)
    assert bench.board.troubles == {"link": (Trouble.LEVEL_WITHOUT_EVENT,)}
    bench.run(7_000)
    assert bench.board.troubles == {}


@pytest.mark.parametrize(("levels", "report"), WITH_EVENTS)
def test_a_level_that_rises_with_its_event_is_none(
    bench: Bench, levels: m.Levels, report: Callable[[Bench], None]
) -> None:
    report(bench)
    bench.run(20)
    bench.standing = levels
    bench.run(4_000)
    assert Trouble.LEVEL_WITHOUT_EVENT not in {what for _, what in states(bench)}


@pytest.mark.parametrize("levels", [levels for levels, _ in WITH_EVENTS[:3]])
def test_what_stands_at_the_start_of_a_board_needs_no_event(levels: m.Levels) -> None:
    bench = Bench()
    bench.standing = CLEAR
    bench.run(2_000)
    bench.boot(2)
    bench.standing = levels
    bench.run(20_000)
    assert {what for _, what in states(bench)} == {Trouble.BOARD_RESTARTED, None}


def test_a_beam_is_blocked_for_two_seconds_before_anything_is_said(bench: Bench) -> None:
    bench.standing = m.Levels((2,), object="clear", door="closed")
    bench.run(2_500)
    bench.standing = CLEAR
    bench.run(4_000)
    assert states(bench) == []


@pytest.mark.parametrize(("ring_events", "is_short"), [(768, False), (767, True), (96, True)])
def test_a_ring_that_lasts_less_than_it_should_is_said_and_used(ring_events: int, is_short: bool) -> None:
    bench = Bench()
    bench.ring_events = ring_events
    with capture_logs() as logs:
        bench.run(2_000)
    assert [entry["ring_ms"] for entry in logs if entry["event"] == "board.short_ring"] == (
        [ring_events * 1000 // 512] if is_short else []
    )
    assert bench.board.is_up
