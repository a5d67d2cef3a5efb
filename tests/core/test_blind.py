"""A beam or a reader that alone sees nothing is reported by the third coup (docs/rulebook.md 6), and a ball that most
beams do not see is a breakdown (N8)."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.evening import FRENCH, Evening, Way
from wheeld.core.observations import BallPass, Observation
from wheeld.core.step import Step
from wheeld.core.tracking.sight import BLIND_TURNS, sensor_of


class Blind(Evening):
    """A wheel some of whose sensors see nothing, and whose self-tests do not know it."""

    blind: tuple[str, ...] = ()
    saw: tuple[str, ...] = ()

    def observe(self, seen: Observation) -> Step:
        self.saw += (sensor_of(seen),)
        return Step() if sensor_of(seen) in self.blind else super().observe(seen)


@pytest.mark.parametrize("sensor", ["beam/0", "beam/3", "reader/0", "reader/2"])
def test_a_sensor_that_alone_sees_nothing_is_reported_once_by_the_third_coup(sensor: str) -> None:
    evening = Blind()
    evening.open()
    evening.blind = (sensor,)
    for number in (8, 30, 5, 21, 36):
        evening.run()
        evening.fall(number)
        evening.wait(9)
        assert evening.say("operations_done").done
        if number == 5:
            assert evening.notices().count("sensor_trouble") == 1
    (told,) = (each for each in evening.of("notice") if each["notice"] == "sensor_trouble")
    assert told["figures"] == {"sensor": sensor, "what": "blind"}
    results = evening.of("result")
    assert [result["number"] for result in results] == [8, 30, 5, 21, 36]
    assert {(result["margin"] < 0.8, result["margin_of"]) for result in results[1:]} == {(True, "sight")}


def test_a_reader_that_saw_the_ball_once_and_is_blind_again_is_reported_again() -> None:
    evening = Blind(msgspec.structs.replace(FRENCH, readers_deg=(30, 210)))
    evening.open()
    for told in (1, 2):
        evening.blind = ("reader/1",)
        for number in (8, 30, 5):
            evening.run()
            evening.fall(number)
            evening.wait(9)
            assert evening.say("operations_done").done
        assert evening.notices().count("sensor_trouble") == told
        evening.blind = evening.saw = ()
        evening.run()
        evening.lying = 21
        while "reader/1" not in evening.saw:
            evening.wait(0.1)
        evening.blind = ("reader/1",)
        evening.wait(9)
        assert evening.say("operations_done").done


@pytest.mark.parametrize("readers_deg", [FRENCH.readers_deg, (30,)])
def test_sensors_that_all_see_are_not_reported(readers_deg: tuple[float, ...]) -> None:
    evening = Evening(msgspec.structs.replace(FRENCH, readers_deg=readers_deg)).open()
    for number in (8, 30, 5):
        evening.run()
        evening.fall(number)
        evening.wait(30)
        assert evening.say("operations_done").done
    assert "sensor_trouble" not in evening.notices()


@pytest.mark.parametrize("seeing", [(0, 1), (1, 2), (3, 0), (2,)])
@pytest.mark.parametrize("rev_s", [1.0, 1.8, 2.5])
@pytest.mark.parametrize("way", ["cw", "ccw"])
def test_n8_a_ball_that_most_beams_do_not_see_is_no_coup_observed_whole(
    seeing: tuple[int, ...], rev_s: float, way: Way
) -> None:
    """Its launch was shown as bets open for 19.7 laps, and then as N3 with no lap proven."""
    evening = Blind()
    evening.open()
    evening.blind = tuple(f"beam/{beam}" for beam in range(4) if beam not in seeing)
    passes = evening.launch(way, rev_s=rev_s, laps=9.7)
    evening.until(next(seen.t_us for seen in passes if seen.beam == seeing[0]) + round(4.5e6 / rev_s))
    assert (evening.verdicts(), evening.state) == ([("void", "breakdown")], "suspended")
    evening.until(passes[-1].t_us)
    evening.fall(9)
    evening.wait(9)
    assert evening.verdicts() == [("void", "breakdown")]
    assert evening.say("resume").done
    assert evening.state == "rien_va"


def test_what_the_rotor_carries_past_a_beam_once_a_turn_is_no_ball() -> None:
    evening = Evening(rpm=30).open()
    evening.lying = None  # in the bouler's hand: a ball that readers see lie makes pulses strays
    evening.plan(*(BallPass(evening.now_us + turn * 2_000_000, 1) for turn in range(1, 20)))
    evening.wait(40)
    assert (evening.verdicts(), evening.state) == ([], "faites_vos_jeux")
    evening.run()
    evening.fall(9)
    evening.wait(6)
    assert evening.verdicts() == [("result", 9)]


def test_the_only_reader_of_a_table_that_sees_every_ball_is_not_reported() -> None:
    """No other reader could show that it missed one."""
    evening = Evening(msgspec.structs.replace(FRENCH, readers_deg=(0.0,))).open()
    for number in (8, 30):
        evening.run()
        evening.fall(number)
        evening.wait(30)
        assert evening.say("operations_done").done
    assert "sensor_trouble" not in evening.notices()


@pytest.mark.parametrize("turns", [5.0, 5.25, 5.5, 5.75])
def test_a_ball_that_a_hand_had_in_between_passed_no_reader(turns: float) -> None:
    """It was laid back just ahead of the reader that met it last: the other one, which has missed it, is not blind for
    that."""
    evening = Blind(msgspec.structs.replace(FRENCH, readers_deg=(30, 210)))
    evening.open().coup(8)
    evening.say("operations_done")
    evening.blind, turn_s = ("reader/0",), 60 / abs(evening.turn_rpm)
    for _ in range(2 * BLIND_TURNS):
        evening.wait(turn_s / 2)
        if evening.observer.sight.missed["reader/0"] == BLIND_TURNS - 1:
            break
    evening.blind, evening.lying = (), None
    evening.wait(turns * turn_s)
    evening.lying = 8
    evening.wait(3 * turn_s)
    assert "sensor_trouble" not in evening.notices()
