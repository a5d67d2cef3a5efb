"""A beam or a reader that alone sees nothing is reported by the third coup (docs/rulebook.md 6)."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.evening import FRENCH, Evening
from wheeld.core.observations import Observation
from wheeld.core.step import Step
from wheeld.core.tracking.left_out import sensor_of


class OneBlind(Evening):
    """A wheel one of whose sensors sees nothing, and whose self-test does not know it."""

    blind = "none yet"

    def observe(self, seen: Observation) -> Step:
        return Step() if sensor_of(seen) == self.blind else super().observe(seen)


@pytest.mark.parametrize("sensor", ["beam/0", "beam/3", "reader/0", "reader/2"])
def test_a_sensor_that_alone_sees_nothing_is_reported_once_by_the_third_coup(sensor: str) -> None:
    evening = OneBlind()
    evening.open()
    evening.blind = sensor
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


@pytest.mark.parametrize("readers_deg", [FRENCH.readers_deg, (30,)])
def test_sensors_that_all_see_are_not_reported(readers_deg: tuple[float, ...]) -> None:
    evening = Evening(msgspec.structs.replace(FRENCH, readers_deg=readers_deg)).open()
    for number in (8, 30, 5):
        evening.run()
        evening.fall(number)
        evening.wait(30)
        assert evening.say("operations_done").done
    assert "sensor_trouble" not in evening.notices()
