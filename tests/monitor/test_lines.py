"""What is told of a void coup's evidence."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.evening import FRENCH, Evening
from wheeld.core.observations import BallPass
from wheeld.core.step import CoupLog
from wheeld.monitor.lines import AROUND_US, SHOWN_US_MIN, Axis, about, axis, marks


def drawn_of(evening: Evening) -> Axis:
    """Of its last void."""
    log = next(each for each in reversed(evening.evidence) if each.verdict == "void")
    return axis(log, evening.last("void").bytes, FRENCH)


def test_the_axis_of_a_void_has_what_the_sensors_saw_and_what_people_said() -> None:
    evening = Evening(rpm=20, way="ccw").open()
    evening.launch("ccw", laps=5)  # with the rotor
    evening.wait(4)
    drawn = drawn_of(evening)
    assert [mark for mark in drawn.marks if mark[1] == "beam"]
    assert drawn.launch_us == drawn.moment_us == evening.last("void").payload["evidence"]["first_pass_us"]
    assert drawn.to_us == evening.last("void").payload["t_us"] + AROUND_US
    assert drawn.direction == "ccw"
    assert [laps for _, laps in drawn.ball] == [0, 0.25, 0.5]
    assert drawn.rpm
    assert all(rpm == pytest.approx(-20, abs=1) for _, rpm in drawn.rpm)


def test_nothing_is_shown_of_what_was_before_the_run() -> None:
    evening = Evening().open()
    evening.wait(20)
    evening.launch(laps=5)
    evening.wait(2)
    evening.say("rien_va", by="Rossi")
    log = evening.evidence[-1]
    header, *lines = log.log.splitlines()
    hand = msgspec.json.encode(BallPass(1_000_000, 1))
    drawn = axis(CoupLog(log.coup, "void", b"\n".join([header, hand, *lines])), evening.last("void").bytes, FRENCH)
    assert drawn.launch_us is not None
    assert drawn.launch_us > 20_000_000
    assert drawn.from_us == min(drawn.launch_us - AROUND_US, drawn.to_us - SHOWN_US_MIN)
    assert min(*(mark[0] for mark in drawn.marks), *(t_us for t_us, _ in drawn.rpm)) >= drawn.from_us
    assert drawn.ball[-1][1] == pytest.approx(len(drawn.ball) / 4 - 0.25), "four beams, and none missed the ball"


def test_a_rotor_that_stopped_is_shown_standing_and_one_that_is_not_heard_is_not() -> None:
    evening = Evening().open()
    evening.launch(laps=9)
    evening.wait(1)
    evening.turn(0)
    evening.wait(3)
    drawn = drawn_of(evening)
    assert b'"rotor_stopped_running"' in bytes(drawn.void)
    assert [rpm for _, rpm in drawn.rpm[-2:]] == [0, 0]
    assert drawn.rpm[-2][0] == drawn.moment_us, "it stands from the last edge on"
    unheard = Evening().open()
    unheard.launch(laps=9)
    unheard.wait(1)
    unheard.turn(0)
    unheard.wait(0.45)
    unheard.sensor("link", ok=False)
    assert all(rpm for _, rpm in drawn_of(unheard).rpm)


def test_words_and_sensors_stand_on_the_axis() -> None:
    evening = Evening().open()
    evening.launch(laps=5)
    evening.wait(1)
    evening.say("rien_ne_va_plus", by="Rossi")
    evening.wait(0.5)
    evening.sensor("object", ok=False)
    evening.wait(1)
    assert {note[1:] for note in drawn_of(evening).notes} == {
        ("word", "rien_ne_va_plus", "Rossi"),
        ("fails", "object", ""),
    }


def test_marks_are_those_of_beams_readers_and_the_object_sensor() -> None:
    evening = Evening().open()
    evening.coup(8)
    evening.drop()
    kinds = [kind for _, kind, _ in marks(evening.seen)]
    assert {*kinds} == {"beam", "reader", "object"}
    assert kinds.count("object") == 1


def test_the_wheel_is_told_as_it_is_configured() -> None:
    told = about(FRENCH)
    assert (told.pockets[:3], told.beams_deg, told.readers_deg) == ((0, 32, 15), (0, 90, 180, 270), (30, 150, 270))
