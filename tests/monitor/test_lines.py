"""What is told of a void coup's evidence."""

from __future__ import annotations

import pytest

from tests.core.evening import FRENCH, Evening
from wheeld.monitor.lines import about, axis, marks


def test_the_axis_of_a_void_has_what_the_sensors_saw_and_what_people_said() -> None:
    evening = Evening(rpm=20, way="ccw").open()
    evening.launch("ccw", laps=5)  # with the rotor
    evening.wait(4)
    ((log),) = [each for each in evening.evidence if each.verdict == "void"]
    drawn = axis(log, FRENCH.rotor_ticks)
    assert drawn.coup == log.coup
    assert [mark for mark in drawn.marks if mark[1] == "beam"]
    assert drawn.marks[0][0] == drawn.from_us < drawn.to_us
    assert drawn.rpm
    assert all(rpm == pytest.approx(-20, abs=1) for _, rpm in drawn.rpm)


def test_words_and_sensors_stand_on_the_axis() -> None:
    evening = Evening().open()
    evening.launch(laps=5)
    evening.wait(1)
    evening.say("rien_ne_va_plus", by="Rossi")
    evening.wait(0.5)
    evening.sensor("object", ok=False)
    evening.wait(1)
    log = next(each for each in evening.evidence if each.verdict == "void")
    assert {note[1:] for note in axis(log, FRENCH.rotor_ticks).notes} == {
        ("word", "Rossi: rien_ne_va_plus"),
        ("fails", "object"),
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
