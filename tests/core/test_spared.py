"""A breakdown voids only what can't be proven any more (docs/rulebook.md N8, R3b)."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.evening import FRENCH, Evening
from wheeld.core.observations import Observation, Sighting
from wheeld.core.step import Step

ONE_READER = msgspec.structs.replace(FRENCH, readers_deg=(30,))


@pytest.mark.parametrize("sensor", ["beam/1", "reader/2"])
@pytest.mark.parametrize("in_fall", [False, True])
def test_a_sensor_that_the_others_replace_voids_nothing_and_play_is_suspended_after_the_number(
    sensor: str, in_fall: bool
) -> None:
    evening = Evening().open()
    passes = evening.launch(laps=9)
    evening.until(passes[-1].t_us + 1_000_000 if in_fall else passes[4].t_us)
    evening.sensor(sensor, ok=False)
    assert evening.verdicts() == []
    evening.until(passes[-1].t_us)
    evening.fall(23)
    evening.wait(6)
    assert (evening.verdicts(), evening.state) == ([("result", 23)], "suspended")
    assert evening.say("resume", without=(sensor,)).done
    assert evening.state == "operations"


def test_two_beams_of_four_leave_too_few_on_the_track_and_enough_when_the_ball_has_left_it() -> None:
    evening = Evening().open()
    passes = evening.launch(laps=9)
    evening.until(passes[6].t_us)
    evening.sensor("beam/1", ok=False)
    evening.sensor("beam/2", ok=False)
    assert evening.verdicts() == [("void", "breakdown")]
    evening = Evening().open()
    evening.run()
    evening.wait(2.5)
    evening.sensor("beam/1", ok=False)
    evening.sensor("beam/2", ok=False)
    assert evening.verdicts() == []


def seen_once() -> Evening:
    """The one reader has met the fallen ball in 9; it has not been proven."""
    evening = Evening(ONE_READER, rpm=20).open()
    evening.run()
    evening.wait(3)
    evening.lying = 9
    while "number_seen" not in evening.notices():
        evening.wait(0.1)
    assert evening.verdicts() == []
    return evening


def confirmed(evening: Evening) -> None:
    assert (evening.verdicts(), evening.state) == ([], "awaiting_chef")
    assert evening.say("confirm", coup=1, reason="all saw it").done
    assert evening.verdicts() == [("result", 9)]
    assert evening.of("result")[-1]["unproven"] == ["R3"]


def test_power_off_and_on_leaves_a_number_that_was_seen_to_the_chef() -> None:
    confirmed(Evening(ONE_READER, memory=seen_once().memory))


def test_the_only_reader_fails() -> None:
    evening = seen_once()
    evening.sensor("reader/0", ok=False)
    evening.lying = None
    evening.wait(30)
    confirmed(evening)


def test_another_launch_before_the_proof() -> None:
    evening = seen_once()
    evening.lying = None
    evening.wait(4)
    passes = evening.launch(laps=9)
    evening.until(passes[5].t_us)
    assert (evening.verdicts(), evening.state) == ([], "awaiting_chef")
    evening.until(passes[-1].t_us)
    evening.fall(30)
    evening.wait(9)
    confirmed(evening)


@pytest.mark.parametrize(("passes", "state"), [(1, "faites_vos_jeux"), (2, "rien_va")])
def test_a_launch_that_the_cut_of_the_line_hides_is_void_and_tout_va_is_owed(passes: int, state: str) -> None:
    evening = Evening().open()
    coming = evening.launch(laps=9)
    evening.until(coming[passes - 1].t_us + 1_000)
    evening.sensor("link", ok=False)
    evening._planned.clear()
    evening.lying = 17
    evening.wait(4)
    evening.sensor("link", ok=True)
    evening.wait(6)
    assert evening.verdicts() == ([("void", "breakdown")] if state == "rien_va" else [])
    assert evening.say("resume").done
    assert evening.state == state


class BlindReaders(Evening):
    """No reader sees the ball, ever."""

    def observe(self, seen: Observation) -> Step:
        return Step() if isinstance(seen, Sighting) else super().observe(seen)


def on_obstacle(evening: Evening) -> Evening:
    evening.open()
    evening.run()
    evening.wait(15)
    assert evening.state == "ball_on_obstacle"
    return evening


def test_where_no_reader_sees_the_pocket_the_chef_gives_the_number() -> None:
    evening = on_obstacle(BlindReaders())
    assert not evening.say("confirm", coup=1, reason="all see it").done
    assert evening.say("confirm", coup=1, number=36, reason="all see it").done
    assert (evening.verdicts(), evening.state) == ([("result", 36)], "operations")
    assert evening.of("result")[-1]["unproven"] == ["R3"]
    assert evening.say("operations_done").done


def test_a_rotor_that_stops_is_n5_only_where_readers_would_have_seen_the_ball() -> None:
    evening = on_obstacle(BlindReaders())
    evening.turn(0)
    evening.wait(3)
    assert (evening.verdicts(), evening.state) == ([], "awaiting_chef")
    assert evening.say("confirm", coup=1, number=36, reason="all see it").done
    evening = on_obstacle(Evening())
    evening.turn(0)
    evening.wait(3)
    assert evening.verdicts() == [("void", "rotor_stopped_before_drop")]


def two_balls(evening: Evening, one: int, other: int, seconds: float) -> None:
    """They lie in two pockets of a turning rotor."""
    until_us = evening.now_us + round(seconds * 1e6)
    evening.lying = other
    second = evening._sightings(until_us)
    evening.lying = one
    evening.plan(*second)
    evening.until(until_us)


@pytest.mark.parametrize("readers_deg", [(30,), (30, 150, 270)])
def test_two_balls_are_never_a_number(readers_deg: tuple[float, ...]) -> None:
    evening = Evening(msgspec.structs.replace(FRENCH, readers_deg=readers_deg)).open()
    evening.run()
    evening.wait(3)
    two_balls(evening, 9, 28, 1.5 * 3 + 0.5)
    assert (evening.verdicts(), evening.state) == ([], "awaiting_chef")
    two_balls(evening, 9, 28, 12)
    evening.lying = 17
    evening.wait(12)
    assert (evening.verdicts(), evening.state) == ([], "awaiting_chef")
    assert not evening.say("confirm", coup=1, reason="which one?").done
    assert evening.say("rien_va").done
    assert evening.verdicts() == [("void", "chef")]


def test_a_second_ball_that_is_taken_out_leaves_the_number_to_the_chef() -> None:
    evening = Evening().open()
    evening.run()
    evening.wait(3)
    two_balls(evening, 9, 28, 1.2)
    evening.lying = 9
    evening.wait(8)
    assert (evening.verdicts(), evening.state) == ([], "awaiting_chef")


def test_a_sensor_that_nothing_replaces_fails_before_the_proof() -> None:
    evening = seen_once()
    evening.sensor("object", ok=False)
    evening.lying = None
    evening.wait(30)
    confirmed(evening)
