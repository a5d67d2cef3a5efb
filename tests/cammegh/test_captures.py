"""Lines of real wheels, where they are at hand: every one parsed or counted, every game right, none invented."""

from __future__ import annotations

import re

import pytest

from firmware_protocol.cammegh import events as e
from firmware_protocol.cammegh.session import Setup
from firmware_protocol.cammegh.status import FAULTS, Flag, HeadReply, LineError, Product, Status, parse
from tests.cammegh.bench import CAPTURES, DISPLAY, MERCURY, SLINGSHOT, Desk, of

pytestmark = pytest.mark.skipif(not CAPTURES.exists(), reason="no captures of real wheels here")
KINDS = ("status", "bare", "reply", "bonus", "basic")
STATUS_ONLY = Setup(Product.SLINGSHOT_2, bare_number=False)


def lines(name: str) -> list[str]:
    return [line for line in (CAPTURES / name).read_text().splitlines() if line and not line.startswith("#")]


def section(title: str) -> list[tuple[float, str]]:
    """(seconds of the day, line) of what was received in one part of the curated excerpts."""
    text = (CAPTURES / "cammegh-ss2_curated_exceptions.log").read_text()
    (part,) = [part for part in text.split("\n## ") if part.startswith(title)]
    stamp = r"^\S*\[\S+ (\d\d):(\d\d):(\d\d\.\d+)\] Receive >>> (.*)$"
    return [(int(h) * 3600 + int(m) * 60 + float(s), line) for h, m, s, line in re.findall(stamp, part, re.MULTILINE)]


def replay(setup: Setup, received: list[tuple[float, str]]) -> Desk:
    """Read each line at its time; lines of one time are read at once, as they were. Time-outs tick in between."""
    desk = Desk(setup)
    began_s = received[0][0] - 1
    at: dict[int, bytes] = {}
    for s, line in received:
        ns = round((s - began_s) * 1000) * 1_000_000
        at[ns] = at.get(ns, b"") + line.encode() + b"\r\n"
    for ns, data in at.items():
        desk.events += desk.session.receive(data, ns)
        desk.events += desk.session.tick(ns)
        desk.now_ns = ns
    return desk


def parsed(desk: Desk) -> int:
    return sum(desk.session.counters[kind] for kind in KINDS)


def rotor_at(desk: Desk, number: e.Number) -> str:
    """Which way the rotor turned when the number came."""
    return [one.rotor for one in of(e.RotorSpeed, desk.events) if one.host_ns <= number.host_ns][-1]


def rejected(desk: Desk) -> dict[str, int]:
    causes = (*FAULTS, "torn", "too_long", "not_text")
    return {cause: count for cause in causes if (count := desk.session.counters[cause])}


def test_the_raw_dump_has_six_games_and_no_more() -> None:
    data = (CAPTURES / "cammegh-ss2_ss2_protocol.log").read_bytes()
    for setup in (SLINGSHOT, STATUS_ONLY):
        desk = Desk(setup)
        for line in data.splitlines(keepends=True):
            desk.now_ns += 500_000_000
            desk.events += desk.session.receive(line, desk.now_ns)
        games = [(11, 27), (12, 16), (13, 6), (14, 3), (15, 10), (16, 0)]
        assert [(one.spin, one.number) for one in of(e.Number, desk.events)] == games
        assert all(one.whole for one in of(e.Number, desk.events))
        assert [rotor_at(desk, one) for one in of(e.Number, desk.events)] == ["ccw", "cw"] * 3
        assert (rejected(desk), parsed(desk)) == ({}, len(data.splitlines()))
        assert len(of(e.BallSeen, desk.events)) == 6
        strange = (e.UnobservedCoup, e.NumberDisagrees, e.WheelVoid, e.Laps, e.Warned, e.WheelRestarted)
        assert not any(isinstance(one, strange) for one in desk.events)


@pytest.mark.parametrize("size", [1, 2, 7, 64, 4096])
def test_the_raw_dump_in_slices_of_any_size(size: int) -> None:
    data = (CAPTURES / "cammegh-ss2_ss2_protocol.log").read_bytes()
    desk = Desk(SLINGSHOT)
    for at in range(0, len(data), size):
        desk.events += desk.session.receive(data[at : at + size], 1)
    assert [one.number for one in of(e.Number, desk.events)] == [27, 16, 6, 3, 10, 0]


def test_every_curated_line_is_parsed_or_counted() -> None:
    text = (CAPTURES / "cammegh-ss2_curated_exceptions.log").read_text()
    received = [(float(index), line) for index, line in enumerate(re.findall(r"Receive >>> (.*)$", text, re.MULTILINE))]
    desk = replay(SLINGSHOT, received)
    # Torn lines stand in two sections; one of them holds the beginnings of two more lines.
    assert rejected(desk) == {"shape": 5, "torn": 4}
    assert parsed(desk) + rejected(desk)["shape"] == len(received) > 290
    assert not of(e.Number, desk.events)


def test_b1_a_runaway_rotor() -> None:
    desk = replay(SLINGSHOT, section("B1"))
    speeds = [one.rpm for one in of(e.RotorSpeed, desk.events)]
    top = speeds.index(89.8)
    assert speeds[top + 1 : top + 6] == [None, None, None, None, 69.9]
    assert speeds[top + 8 :][:3] == [0.5, 0.0, 0.0]
    assert not of(e.WheelVoid, desk.events), "a single line without the ball is nothing"
    assert len(of(e.SensorFault, desk.events)) == 1
    assert len(of(e.BallSeen, desk.events)) == 1
    assert not of(e.Number, desk.events)


@pytest.mark.parametrize("setup", [STATUS_ONLY, DISPLAY])
def test_a1_a_misfire_is_tried_again_under_the_same_spin_number(setup: Setup) -> None:
    desk = replay(setup, section("A1"))
    assert {Flag.LAUNCH_FAILED} in [one.flags for one in of(e.Warned, desk.events)]
    assert [one.spin for one in of(e.BallSeen, desk.events)] == [7, 8]
    (number,) = of(e.Number, desk.events)
    assert (number.number, number.spin, rotor_at(desk, number), number.whole) == (15, 7, "cw", True)
    assert not any(isinstance(one, e.WheelVoid | e.UnobservedCoup) for one in desk.events)


def test_a1_where_the_bare_number_was_not_read_has_no_number() -> None:
    desk = replay(SLINGSHOT, section("A1"))
    assert not of(e.Number, desk.events)
    assert [(one.spin, one.bare, one.status) for one in of(e.NumberDisagrees, desk.events)] == [(7, None, 15)]


def test_a2_torn_and_merged_lines() -> None:
    desk = replay(SLINGSHOT, section("A2"))
    assert rejected(desk) == {"shape": 3, "torn": 2}
    assert [(one.spin, one.last_number) for one in of(e.Connected, desk.events)] == [(146, 9)]


def test_a3_a_backlog_is_no_silence_and_nothing_is_made_of_its_pace() -> None:
    burst = section("A3")[1:]  # before the first line of it the reader had stood still already
    desk = replay(SLINGSHOT, burst)
    assert {type(one) for one in desk.events} == {e.Connected, e.RotorSpeed, e.CommandUnanswered}
    assert desk.session.counters["status"] == 12


def test_a4_a_game_that_ended_unseen_is_reported_and_its_number_is_not_made_up() -> None:
    desk = replay(SLINGSHOT, section("A4"))
    (one,) = of(e.UnobservedCoup, desk.events)
    assert (one.from_spin, one.to_spin, one.number_before, one.number_after) == (146, 147, 9, 21)
    assert len(of(e.Silent, desk.events)) == 1
    assert not of(e.Number, desk.events)


def test_b2_and_b3_replies() -> None:
    for _, line in [*section("B2"), *section("B3")]:
        assert isinstance(parse(line, Product.SLINGSHOT_2), HeadReply)


def test_the_handbook_s_mercury_in_extended_mode() -> None:
    desk = Desk(MERCURY)
    desk.hear(*lines("cammegh-m360_handbook_examples.txt")[:5])
    (one,) = of(e.Number, desk.events)
    assert (one.number, one.spin, one.whole) == (35, 10, False)
    assert of(e.Laps, desk.events) == []
    assert desk.session.counters["laps_unproven"] == 1, "its first line counts 8: where that began was not heard"
    assert [(way.ball, way.rotor) for way in of(e.BallDirection, desk.events)] == [("cw", "ccw")]
    assert rejected(desk) == {}


def test_the_handbook_s_other_lines() -> None:
    desk = Desk(MERCURY)
    desk.hear(*lines("cammegh-m360_handbook_examples.txt")[5:])
    counters = desk.session.counters
    assert (counters["status"], counters["bare"], counters["basic"], counters["reply"]) == (8, 1, 3, 4)
    assert rejected(desk) == {}
    flags = parse("*X;1;021;17;A;144;0", Product.MERCURY_360)
    assert isinstance(flags, Status)
    assert {flag.value for flag in flags.flags} == {"void_game", "same_direction"}


def test_the_guide_s_sequence() -> None:
    desk = Desk(SLINGSHOT)
    desk.hear(*lines("cammegh-ss2_guide_examples.txt"))
    assert [(one.number, one.spin, one.whole) for one in of(e.Number, desk.events)] == [(25, 11, True)]
    assert desk.session.counters["bonus"] == 2
    assert rejected(desk) == {}
    assert not any(isinstance(one, e.UnobservedCoup | e.WheelVoid) for one in desk.events)


def test_a_saturn_is_no_cammegh() -> None:
    for line in ("\x0102\x02SR1\x03~\x04", "SR1", "SR2"):
        with pytest.raises(LineError):
            parse(line, Product.SLINGSHOT_2)
