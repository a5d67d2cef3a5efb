"""Hands that cross beams before a launch, and one reader that calls a ball after a turn (docs/rulebook.md 6, R3)."""

from __future__ import annotations

import random

import msgspec
import pytest

from tests.core.evening import FRENCH, Evening, Way, other
from wheeld.core.observations import BallPass

HAND_US = (150_000, 700_000)
"""From one beam to the next of a hand that puts the ball on the track."""
LAYOUTS: dict[str, tuple[float, ...]] = {
    "two, 60° apart": (20.0, 80.0),
    "two, 100° apart": (0.0, 100.0),
    "three": (0.0, 120.0, 240.0),
    "three, uneven": (0.0, 45.0, 180.0),
    **{str(count): tuple(n * 360 / count for n in range(count)) for count in range(4, 9)},
}


def crossed(beams_deg: tuple[float, ...], way: Way) -> list[tuple[int, int]]:
    """Two beams next to each other, less than a third of a lap apart, in the order in which that hand crosses them."""
    sign = 1 if way == "cw" else -1
    pairs = []
    for first, first_deg in enumerate(beams_deg):
        ahead = [(sign * (deg - first_deg) % 360, second) for second, deg in enumerate(beams_deg) if second != first]
        nearest_deg, second = min(ahead)
        if nearest_deg < 120 - 1e-6:
            pairs.append((first, second))
    return pairs


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("way", ["cw", "ccw"])
@pytest.mark.parametrize("rotor", ["cw", "ccw"])
def test_a_hand_over_two_beams_launches_nothing_and_the_coup_after_it_is_valid(name: str, way: Way, rotor: Way) -> None:
    """Rulebook 6: two passes less than a third of a lap apart and nothing after them prove no launch by themselves."""
    beams_deg, rng = LAYOUTS[name], random.Random(f"{name} {way} {rotor}")
    pairs = crossed(beams_deg, way)
    if not pairs:
        assert name == "three"
        return
    for first, second in pairs[:2]:
        evening = Evening(msgspec.structs.replace(FRENCH, beams_deg=beams_deg))
        evening.turn(20, rotor)
        evening.open()
        hop_us, wait_s = rng.randrange(*HAND_US), rng.uniform(3.0, 8.0)
        evening.lying = None  # in the hand
        evening.plan(BallPass(evening.now_us + 100_000, first), BallPass(evening.now_us + 100_000 + hop_us, second))
        evening.wait(wait_s)
        assert evening.verdicts() == [], (first, second)
        assert evening.state == "faites_vos_jeux"
        evening.run(other(rotor))
        evening.fall(17)
        assert evening.verdicts() == [("result", 17)], (first, second)


@pytest.mark.parametrize("rpm", [12, 20, 30])
@pytest.mark.parametrize("rotor", ["cw", "ccw"])
def test_one_reader_calls_a_ball_that_it_sees_in_its_pocket_again_a_turn_later(rpm: float, rotor: Way) -> None:
    """R3; a rotor that stops after that voids nothing, for the number was out at the first sighting."""
    evening = Evening(msgspec.structs.replace(FRENCH, readers_deg=(30.0,)))
    evening.turn(rpm, rotor)
    evening.open()
    evening.run(other(rotor))
    evening.wait(3)
    evening.lying = 8
    turn_s = 60 / rpm
    while len(evening.readers.sightings) < 2:
        evening.wait(0.1)
    assert evening.verdicts() == [("result", 8)]
    first, second = evening.readers.sightings
    assert second.t_us - first.t_us == pytest.approx(turn_s * 1e6, rel=0.01)
    evening.turn(0)
    evening.wait(3)
    assert evening.verdicts() == [("result", 8)]
    assert evening.state == "operations"


@pytest.mark.parametrize("seen", [0, 1])
def test_a_rotor_that_stops_before_one_reader_has_seen_the_ball_twice_proves_no_number(seen: int) -> None:
    evening = Evening(msgspec.structs.replace(FRENCH, readers_deg=(30.0,))).open()
    evening.run()
    evening.wait(3)
    evening.lying = 8
    while len(evening.readers.sightings) < seen:
        evening.wait(0.1)
    evening.turn(0)
    evening.wait(30)
    assert evening.of("result") == []
