"""Where sensors stand, learned from a simulated wheel's spins, against where the simulator put them."""

from __future__ import annotations

import pytest

from tests.doctor.alignment import TICKS, layout, spun
from wheeld.core.observations import BallPass, Rotor, Sighting
from wheeld.core.pockets import SINGLE_ZERO
from wheeld.doctor.geometry import (
    Learned,
    Spin,
    apart_deg,
    at_rest,
    contradiction,
    learn_beams,
    learn_readers,
    order_of,
    spins_of,
)

LAYOUTS = [(0.0, 90.0), (0.0, 83.0, 200.0), (12.0, 95.0, 180.0, 281.0), tuple(float(i * 45 + i % 3) for i in range(8))]


@pytest.mark.parametrize("beams_deg", LAYOUTS, ids=len)
@pytest.mark.parametrize("seed", range(4))
def test_beams_are_found_within_a_degree(beams_deg: tuple[float, ...], seed: int) -> None:
    seen, _ = spun(layout(beams_deg), seed)
    spins = spins_of([each for each in seen if isinstance(each, Rotor | BallPass)])
    learned = learn_beams(spins, beams_deg)
    assert [each.index for each in learned] == list(range(len(beams_deg)))
    for each, truth_deg in zip(learned, beams_deg, strict=True):
        assert abs(apart_deg(each.angle_deg, truth_deg)) < 1, (seed, each, truth_deg)
        assert each.count >= 4
        assert each.spread_deg < 1


def test_a_ball_thrown_the_other_way_shows_when_it_is_said() -> None:
    seen, _ = spun(layout((0.0, 90.0, 180.0, 270.0)), 1)
    passes = [each for each in seen if isinstance(each, BallPass)]
    ways = {way: learn_beams(spins_of(passes, ball=way)) for way in ("cw", "ccw")}
    mirrored = [round(-each.angle_deg % 360) for each in ways["ccw"]]
    assert [round(each.angle_deg) % 360 for each in ways["cw"]] == [angle % 360 for angle in mirrored]


def test_without_a_known_way_nothing_is_learned() -> None:
    assert spins_of([BallPass(1, 0)]) == []
    assert learn_beams([]) == []


def test_a_few_laps_are_too_few() -> None:
    seen, _ = spun(layout((0.0, 90.0, 180.0, 270.0)), 2, spins=1)
    passes = [each for each in seen if isinstance(each, BallPass)]
    assert learn_beams(spins_of(passes[:20], ball="cw")) == []


def test_strays_doubles_and_missed_passes_move_no_beam() -> None:
    beams_deg = (0.0, 90.0, 180.0, 270.0)
    seen, _ = spun(layout(beams_deg), 3, spins=4)
    passes = [each for each in seen if isinstance(each, BallPass)]
    spoilt = [each for n, each in enumerate(passes) if n % 23]
    spoilt += [BallPass(each.t_us + 4_000, each.beam) for each in passes[::11]]
    spoilt += [BallPass(each.t_us + 71_000, (each.beam + 2) % 4) for each in passes[::17]]
    turning = [each for each in seen if isinstance(each, Rotor)]
    learned = learn_beams(spins_of(sorted([*spoilt, *turning], key=lambda each: each.t_us)))
    assert len(learned) == 4
    assert all(abs(apart_deg(each.angle_deg, beams_deg[each.index])) < 1 for each in learned), learned


@pytest.mark.parametrize("seed", range(4))
def test_readers_are_found_by_a_ball_in_a_known_pocket(seed: int) -> None:
    readers_deg = (31.0, 149.0, 272.5)
    seen, number = spun(layout((0.0, 90.0, 180.0, 270.0), readers_deg), seed, spins=1)
    at_rest_us = [each.t_us for each in seen if isinstance(each, BallPass)][-1] + 6_000_000
    kept = [each for each in seen if isinstance(each, Rotor | Sighting) and each.t_us > at_rest_us]
    learned = learn_readers(kept, TICKS, SINGLE_ZERO, number, None)
    assert [each.index for each in learned] == [0, 1, 2]
    for each, truth_deg in zip(learned, readers_deg, strict=True):
        assert abs(apart_deg(each.angle_deg, truth_deg)) < 5, (seed, each)


def test_a_ball_is_at_rest_a_falls_time_after_its_last_pass() -> None:
    seen: list[Rotor | BallPass | Sighting] = [
        Sighting(1, 0),
        BallPass(2, 0),
        BallPass(1_000_000, 1),
        Sighting(6_900_000, 0),
        Sighting(7_100_000, 1),
    ]
    assert at_rest(seen) == [Sighting(7_100_000, 1)]
    assert at_rest([Sighting(1, 0), Rotor(2, 0, "cw")]) == [Sighting(1, 0), Rotor(2, 0, "cw")]


def laps(count: int, *beam_1_at_s: float) -> Spin:
    """Laps of a second past beam 0, beam 1 pulsing so long after it in each."""
    passes = [BallPass(n * 1_000_000 + round(s * 1e6), int(s > 0)) for n in range(count) for s in (0.0, *beam_1_at_s)]
    return Spin(passes, "cw", "ccw")


def test_spins_contradict_each_other_when_several_laps_say_so() -> None:
    free, moved = laps(12, 0.25), laps(6, 0.75)
    assert contradiction([free, free]) is None
    assert contradiction([free, moved]) == (1, 180.0)
    assert contradiction([free, laps(4, 0.25, 0.75)]) is None, "a stray in a short spin"
    assert contradiction([]) is None


def test_two_that_stand_opposite_each_other_are_never_mirrored() -> None:
    for tenths in range(-50, 51):
        learned = [Learned(0, 174.1, 0.1, 9), Learned(1, (354.1 + tenths / 10) % 360, 0.1, 9)]
        assert order_of(learned, (174.1, 354.1)) == "same", tenths


def test_round_the_circle() -> None:
    assert [apart_deg(a, b) for a, b in ((1, 359), (359, 1), (90, 90), (180, 0))] == [2, -2, 0, -180]
