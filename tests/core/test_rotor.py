"""The rotor from its encoder: ticks by the log's convention, with everything that an encoder gets wrong."""

from __future__ import annotations

import random
from copy import deepcopy

import msgspec
import pytest

from hw_sim.rotor import SimRotor as Motion
from hw_sim.rotor import tick_entered
from tests.core.evening import CLOCKWISE, Way
from wheeld.core.observations import Rotor
from wheeld.core.pockets import SINGLE_ZERO, PocketLayout
from wheeld.core.tracking.rotor import GLITCH_TICKS, HELD_US, RotorFromEncoder
from wheeld.doctor.findings import JITTER_BORNE_MS

TICKS = 148
STEP_DEG = 360 / TICKS


def turning(
    way: Way, rpm: float, *, seconds: float = 2.0, from_deg: float = 0.0, start_us: int = 1_000_000
) -> list[Rotor]:
    """Edges of an even rotor that stands at `from_deg` at `start_us`, as the observation log dates them."""
    deg_s = rpm * 6
    edges = []
    for count in range(1, int(seconds * deg_s / STEP_DEG)):
        t_us = start_us + round(count * STEP_DEG / deg_s * 1e6)
        border = round(from_deg / STEP_DEG) + (count if way == "cw" else -count)
        edges.append(Rotor(t_us, (border if way == "cw" else border - 1) % TICKS, way))
    return edges


def tracker(edges: list[Rotor]) -> RotorFromEncoder:
    rotor = RotorFromEncoder(TICKS, SINGLE_ZERO)
    for edge in edges:
        rotor.tick(edge)
    return rotor


def angle_deg(rotor: RotorFromEncoder, t_us: int) -> float:
    fitted = rotor.fit(t_us)
    assert fitted is not None
    return fitted[0] % 360


def true_deg(way: Way, rpm: float, t_us: int) -> float:
    return (t_us - 1_000_000) / 1e6 * rpm * 6 * (1 if way == "cw" else -1) % 360


def apart_deg(one: float, two: float) -> float:
    return abs((one - two + 180) % 360 - 180)


@pytest.mark.parametrize("way", ["cw", "ccw"])
def test_an_edge_is_dated_at_its_sectors_border(way: Way) -> None:
    """Clockwise the angle at the edge is `tick` steps, counter-clockwise `tick` + 1 steps."""
    tick = 57
    border_deg = (57 if way == "cw" else 58) * STEP_DEG
    forward = 1 if way == "cw" else -1
    rotor = RotorFromEncoder(TICKS, SINGLE_ZERO)
    rotor.tick(Rotor(1_000_000, tick - forward, way))
    rotor.tick(Rotor(1_100_000, tick, way))
    assert apart_deg(angle_deg(rotor, 1_100_000), border_deg) < 1e-6
    # The pocket of zero stands at the rotor's angle.
    assert rotor.pocket_under(border_deg, 1_100_000) == pytest.approx((0, 0, border_deg), abs=1e-6)


@pytest.mark.parametrize("way", ["cw", "ccw"])
@pytest.mark.parametrize("rpm", [4, 20, 45])
def test_angle_speed_and_direction_of_an_even_rotor(way: Way, rpm: float) -> None:
    edges = turning(way, rpm)
    rotor = tracker(edges)
    at_us = edges[-1].t_us + 30_000
    assert rotor.direction == way
    assert rotor.rpm(at_us) == pytest.approx(rpm, rel=1e-3)
    assert apart_deg(angle_deg(rotor, at_us), true_deg(way, rpm, at_us)) < 0.05


def test_pockets_follow_clockwise_from_zero() -> None:
    edges = turning("cw", 20)
    rotor, at_us = tracker(edges), edges[-1].t_us
    zero_deg = angle_deg(rotor, at_us)
    for index in range(len(CLOCKWISE)):
        place = rotor.pocket_under(zero_deg + index * 360 / 37 + 3, at_us)
        assert place is not None
        assert place[0] == index
        assert place[1] == pytest.approx(3 * 37 / 360)


@pytest.mark.parametrize("way", ["cw", "ccw"])
def test_lost_ticks_do_no_harm(way: Way) -> None:
    rng = random.Random(3)
    edges = turning(way, 20)
    kept = [edge for edge in edges if rng.random() > 0.3]
    rotor, at_us = tracker(kept), kept[-1].t_us
    assert apart_deg(angle_deg(rotor, at_us), true_deg(way, 20, at_us)) < 0.1
    assert rotor.rpm(at_us) == pytest.approx(20, rel=0.01)


def test_jitter_is_averaged_out() -> None:
    rng = random.Random(4)
    edges = [Rotor(e.t_us + rng.randint(-2_000, 2_000), e.tick, e.direction) for e in turning("ccw", 20)]
    rotor, at_us = tracker(edges), edges[-1].t_us
    assert apart_deg(angle_deg(rotor, at_us), true_deg("ccw", 20, at_us)) < 1.0


def test_a_repeated_tick_changes_nothing() -> None:
    edges = turning("cw", 20)
    rotor = tracker([*edges, Rotor(edges[-1].t_us + 5_000, edges[-1].tick, "cw")])
    assert rotor.rpm(edges[-1].t_us + 10_000) == pytest.approx(20, rel=1e-3)


def test_one_impossible_tick_is_a_glitch() -> None:
    edges = turning("cw", 20)
    far = Rotor(edges[-1].t_us + 10_000, (edges[-1].tick + 70) % TICKS, "cw")
    at_us = edges[-1].t_us + 20_000
    assert apart_deg(angle_deg(tracker([*edges, far]), at_us), true_deg("cw", 20, at_us)) < 0.1


def test_an_encoder_that_slipped_is_used_again() -> None:
    """Four in a row agree on another place: the fit starts from them, and never mixes old with new."""
    before = turning("cw", 20)
    slipped = [Rotor(e.t_us, (e.tick + 74) % TICKS, "cw") for e in turning("cw", 20, seconds=4)[len(before) :]]
    for shown in range(1, GLITCH_TICKS):
        at_us = slipped[shown - 1].t_us
        assert apart_deg(angle_deg(tracker([*before, *slipped[:shown]]), at_us), true_deg("cw", 20, at_us)) < 0.5
    at_us = slipped[-1].t_us
    assert apart_deg(angle_deg(tracker([*before, *slipped]), at_us), true_deg("cw", 20, at_us) + 180) < 0.1


def test_a_rattling_border_is_no_reversal() -> None:
    rotor = tracker(turning("cw", 20))
    last_us = rotor.state.last_tick_us or 0
    tick = turning("cw", 20)[-1].tick
    rattle = [
        Rotor(last_us + 10_000 + n * 9_000, tick if n % 2 else tick - 1, "cw" if n % 2 else "ccw") for n in range(8)
    ]
    shown = [rotor.tick(edge) for edge in rattle]
    assert not any(shown)
    assert rotor.direction == "cw"


def test_three_ticks_the_other_way_are_a_reversal() -> None:
    rotor = tracker(turning("cw", 20))
    last_us, tick = rotor.state.last_tick_us or 0, turning("cw", 20)[-1].tick
    shown = [rotor.tick(Rotor(last_us + (n + 1) * 200_000, tick - 1 - n, "ccw")) for n in range(5)]
    assert shown == [None, None, "turned_back", None, None]
    assert rotor.direction == "ccw"


def test_from_a_standstill_either_way_is_a_start() -> None:
    """A7: between coups the bouler stops and reverses the rotor as he likes."""
    rotor = tracker(turning("cw", 20))
    rotor.stand()
    last_us, tick = rotor.state.last_tick_us or 0, turning("cw", 20)[-1].tick
    for n in range(3):
        assert rotor.direction != "ccw"
        assert not rotor.tick(Rotor(last_us + 5_000_000 + n * 50_000, tick - 1 - n, "ccw"))
    assert rotor.direction == "ccw"
    assert rotor.stop_due_us(None) is not None


@pytest.mark.parametrize("before", [[], turning("cw", 20)], ids=["at first", "after a stand"])
def test_the_direction_is_known_when_three_ticks_agree(before: list[Rotor]) -> None:
    """One edge may be a rattle at a border of a rotor that stands; it proves no direction of the rotor."""
    rotor = tracker(before)
    rotor.stand()
    start_us = 10_000_000
    for n in range(3):
        rotor.tick(Rotor(start_us + n * 50_000, 60 - n, "ccw"))
        assert rotor.direction == (None if n < 2 else "ccw"), n


def test_rattling_edges_of_a_rotor_that_stands_agree_on_no_direction() -> None:
    rotor = tracker(turning("cw", 20))
    rotor.stand()
    for n in range(12):
        rotor.tick(Rotor(10_000_000 + n * 9_000, 60 - n % 2, "ccw" if n % 2 else "cw"))
        assert rotor.direction is None, n


def test_a_rotor_that_stood_is_measured_anew() -> None:
    first = turning("cw", 20)
    rotor = tracker(first)
    rotor.stand()
    again = turning("cw", 10, from_deg=200, start_us=first[-1].t_us + 10_000_000)
    for edge in again:
        rotor.tick(edge)
    assert rotor.rpm(again[-1].t_us) == pytest.approx(10, rel=1e-3)


def test_a_stop_is_known_within_two_seconds_of_the_last_tick() -> None:
    edges = turning("ccw", 20)
    rotor = tracker(edges)
    due_us = rotor.stop_due_us(None)
    assert due_us is not None
    assert 0 < due_us - edges[-1].t_us <= 2_000_000
    rotor.stand()
    assert rotor.stop_due_us(None) is None


@pytest.mark.parametrize("shown", [0, 1])
def test_nothing_is_known_before_two_ticks(shown: int) -> None:
    rotor = tracker(turning("cw", 20)[:shown])
    assert rotor.fit(1_100_000) is None
    assert rotor.pocket_under(30, 1_100_000) is None
    assert rotor.rpm(1_100_000) is None
    assert rotor.direction is None
    assert (rotor.stop_due_us(None) is None) == (shown == 0)


def test_old_ticks_do_not_place_the_rotor() -> None:
    edges = turning("cw", 20)
    rotor = tracker(edges)
    often_us = edges[-1].t_us - edges[-2].t_us
    assert rotor.pocket_under(0, edges[-1].t_us + 5 * often_us) is not None
    assert rotor.pocket_under(0, edges[-1].t_us + 7 * often_us) is None
    assert rotor.pocket_under(0, edges[-1].t_us - 1) is None


def test_ticks_older_than_three_seconds_do_not_place_a_slow_rotor_either() -> None:
    edges = turning("cw", 0.2, seconds=20)
    rotor = tracker(edges)
    assert rotor.pocket_under(0, edges[-1].t_us + 2_900_000) is not None
    assert rotor.pocket_under(0, edges[-1].t_us + 3_100_000) is None


def slipping(ticks: int, rpm: float, sectors: int, *, way: Way = "cw", jitter_us: int = 0, lost: float = 0.0) -> int:
    """How many slips are found of an even rotor whose encoder loses `sectors` half-way."""
    rng = random.Random(f"{ticks} {rpm} {sectors} {way}")
    rotor, step_us = RotorFromEncoder(ticks, SINGLE_ZERO), 60e6 / rpm / ticks
    forward, shown = 1 if way == "cw" else -1, 0
    for count in range(4 * ticks):
        if rng.random() < lost:
            continue
        shift = sectors if count > 2 * ticks else 0
        t_us = 1_000_000 + round(count * step_us + rng.uniform(-jitter_us, jitter_us))
        shown += rotor.tick(Rotor(t_us, (forward * count + shift) % ticks, way)) == "slipped"
    return shown


@pytest.mark.parametrize("way", ["cw", "ccw"])
@pytest.mark.parametrize(("ticks", "sectors"), [(37, 1), (74, 1), (148, 1), (148, 3), (296, 3), (592, 12)])
@pytest.mark.parametrize("rpm", [8, 15, 25])
def test_an_encoder_that_slips_is_found_out_once(ticks: int, sectors: int, rpm: float, way: Way) -> None:
    """N8: from then on every pocket would be another one."""
    for slip in (sectors, -sectors):
        assert slipping(ticks, rpm, slip, way=way) == 1, slip
        assert slipping(ticks, rpm, slip, way=way, jitter_us=250) == 1, slip


@pytest.mark.parametrize("ticks", [37, 74, 148, 296, 592])
@pytest.mark.parametrize("rpm", [2, 8, 15, 25, 60])
def test_lost_and_jittered_ticks_are_no_slip(ticks: int, rpm: float) -> None:
    assert slipping(ticks, rpm, 0, jitter_us=250, lost=0.02) == 0


@pytest.mark.parametrize("rpm", [12.0, 20.0, 35.0])
@pytest.mark.parametrize("way", ["cw", "ccw"])
def test_a_tick_that_is_dated_when_the_next_one_was_due_is_no_slip(way: Way, rpm: float) -> None:
    """Its frame was late. The next tick at the same moment is impossible, and left out."""
    edges = turning(way, rpm, seconds=4)
    for late in range(3, 40):
        dated = [*edges[:late], msgspec.structs.replace(edges[late], t_us=edges[late + 1].t_us), *edges[late + 1 :]]
        rotor = RotorFromEncoder(TICKS, SINGLE_ZERO)
        assert [rotor.tick(edge) for edge in dated].count("slipped") == 0, late


@pytest.mark.parametrize("ticks", [37, 148, 592])
def test_a_hand_that_brakes_or_pushes_the_rotor_makes_no_slip(ticks: int) -> None:
    """From 20 rpm down to rest, and up again, at up to 0.35 rev/s²."""
    for accel in (0.05, 0.15, 0.35):
        rotor, shown = RotorFromEncoder(ticks, SINGLE_ZERO), []
        stop_s = 1 / 3 / accel
        way_turns = 1 / 18 / accel  # v² / 2a
        marks = [n / ticks for n in range(int(2 * way_turns * ticks))]
        for n, turns in enumerate(marks):
            if turns < way_turns:
                t_s = (1 / 3 - (1 / 9 - 2 * accel * turns) ** 0.5) / accel
            else:
                t_s = stop_s + (2 * (turns - way_turns) / accel) ** 0.5
            shown.append(rotor.tick(Rotor(1_000_000 + round(t_s * 1e6), n % ticks, "cw")))
        assert not any(shown), accel


@pytest.mark.parametrize("ticks", [37, 74, 148, 296])
@pytest.mark.parametrize("periods", [1, 2, 4])
def test_edges_lost_in_whole_periods_of_a_quadrature_encoder_are_a_slip(ticks: int, periods: int) -> None:
    """The next edge is of the next sector, only much later than a hand could have slowed the rotor to: it was turned on
    unseen, and every pocket would be another one."""
    step_us = round(60e6 / 18 / ticks)
    lost = 4 * max(periods, ticks // 148)  # fewer move no ball into another pocket
    rotor = RotorFromEncoder(ticks, SINGLE_ZERO)
    times = [1_000_000 + n * step_us for n in range(ticks)]
    times += [times[-1] + (lost + 1 + n) * step_us for n in range(ticks)]
    shown = [rotor.tick(Rotor(t_us, n % ticks, "cw")) for n, t_us in enumerate(times)]
    assert shown.count("slipped") == (1 if lost * step_us < HELD_US else 0)


def test_of_ten_minutes_no_more_edges_are_remembered_than_of_one() -> None:
    """They stand in the header of each coup's log."""
    one, ten = (len(tracker(turning("cw", 20, seconds=seconds)).state.points) for seconds in (60, 600))
    assert one == ten


def test_hours_into_an_evening_the_fit_is_as_sharp() -> None:
    start_us = 12 * 3_600 * 1_000_000
    edges = turning("cw", 20, start_us=start_us)
    rotor, at_us = tracker(edges), edges[-1].t_us
    assert apart_deg(angle_deg(rotor, at_us), (at_us - start_us) / 1e6 * 120) < 0.01


def test_a_sector_entered_again_proves_nothing_before_the_rotors_speed_is_known() -> None:
    assert tracker([Rotor(1_000_000, 5, "cw"), Rotor(1_500_000, 5, "cw")]).state.stopped is False
    rotor = RotorFromEncoder(TICKS, SINGLE_ZERO)
    assert [rotor.tick(Rotor(1_000_000 + n * 500_000, 5, "cw")) for n in range(2)] == [None, None]


def test_a_sector_entered_again_at_once_is_a_bounce_of_the_contact() -> None:
    edges = turning("cw", 20)
    rotor = tracker(edges)
    assert rotor.tick(Rotor(edges[-1].t_us + 300, edges[-1].tick, "cw")) is None


@pytest.mark.parametrize("ticks", [37, 148, 592])
@pytest.mark.parametrize(("slip", "shown"), [(0, False), (1, False), (7, True), (-9, True)])
@pytest.mark.parametrize("stands_s", [0.0, 4.0])
def test_a_slip_while_the_rotor_turns_back_or_stands_is_found_out(
    ticks: int, slip: int, stands_s: float, *, shown: bool
) -> None:
    """It must be at the border it was at, or at the next; one edge may be lost just there."""
    rotor = RotorFromEncoder(ticks, SINGLE_ZERO)
    surprises = [rotor.tick(Rotor(1_000_000 + n * 100_000, n, "cw")) for n in range(9)]
    way: Way = "cw" if stands_s else "ccw"
    if stands_s:
        rotor.stand()
    at_us = 1_900_000 + round(stands_s * 1e6)
    first = 9 if stands_s else 7
    step = 1 if stands_s else -1
    surprises += [rotor.tick(Rotor(at_us + n * 100_000, (first + slip + step * n) % ticks, way)) for n in range(5)]
    assert ("slipped" in surprises) == shown


def test_a_rotor_held_for_a_moment_and_pushed_on_has_not_slipped() -> None:
    for ticks in (37, 74, 148):
        rotor, step_us = RotorFromEncoder(ticks, SINGLE_ZERO), round(60e6 / 20 / ticks)
        times = [1_000_000 + n * step_us for n in range(12)]
        times += [times[-1] + 900_000 + n * step_us for n in range(12)]
        assert [rotor.tick(Rotor(t, n % ticks, "cw")) for n, t in enumerate(times)] == [None] * 24, ticks


def moved_by_hand(rng: random.Random, ticks: int, *, ends: bool = True) -> list[tuple[float, int, Way]]:
    """The edges of a rotor that a hand stops, turns round, sends on or changes in speed: (s, sector, way), at up to
    0.35 turns/s², as the simulated people do. Without `ends` it is let go the way it turned before."""
    speed = rng.choice((-1, 1)) * rng.uniform(10, 20) / 60
    motion, t_s = Motion(rng.random(), speed, 0.002), rng.uniform(1.0, 2.0)
    kind = rng.choice(("stops", "turns back", "changes")) if ends else "changes"
    if kind == "stops":
        t_s = motion.order(t_s, 0.0, rng.uniform(0.15, 0.35)) + rng.uniform(0.2, 6)
    to_rev_s = speed * rng.uniform(0.4, 1.6) if kind == "changes" else rng.choice((-1, 1)) * rng.uniform(10, 20) / 60
    to_rev_s = -speed if kind == "turns back" else to_rev_s
    end_s = motion.order(t_s, to_rev_s, rng.uniform(0.15, 0.35)) + 2.5
    return [
        (t_s, tick_entered(border, ticks, clockwise=clockwise), "cw" if clockwise else "ccw")
        for t_s, border, clockwise in motion.crossings(0.0, 1 / ticks, 0.0, end_s)
    ]


def slips_of(edges: list[tuple[float, int, Way]], ticks: int, rotor: RotorFromEncoder | None = None) -> int:
    """How many slips are found of these edges, the rotor standing where they are silent. `rotor` has seen others."""
    rotor, slips = rotor or RotorFromEncoder(ticks, SINGLE_ZERO), 0
    for t_s, tick, way in edges:
        t_us = round(t_s * 1e6)
        if (due_us := rotor.stop_due_us(None)) is not None and t_us >= due_us:
            rotor.stand()
        slips += rotor.tick(Rotor(t_us, tick, way)) == "slipped"
    return slips


@pytest.mark.parametrize("ticks", [37, 74, 148])
def test_single_edges_lost_while_a_hand_moves_the_rotor_are_no_slip(ticks: int) -> None:
    rng = random.Random(f"single {ticks}")
    for _ in range(25):
        edges, until_then = moved_by_hand(rng, ticks), RotorFromEncoder(ticks, SINGLE_ZERO)
        for lost, edge in enumerate(edges):
            if lost % (1 + len(edges) // 60) == 0:
                without = RotorFromEncoder(ticks, SINGLE_ZERO, deepcopy(until_then.state))
                assert slips_of(edges[lost + 1 :], ticks, without) == 0, lost
            assert slips_of([edge], ticks, until_then) == 0, lost


def test_two_edges_lost_one_after_the_other_as_the_rotor_turns_back_are_no_slip() -> None:
    """As it was seen: 37 sectors, the second and the fourth edge of the new way are missing."""
    before_s = [0.0, 0.088, 0.184, 0.290, 0.411, 0.554, 0.742]
    after = [(1.624, 15), (1.955, 17), (2.184, 19), (2.293, 20), (2.401, 21), (2.509, 22)]
    edges: list[tuple[float, int, Way]] = [(t_s, 20 - n, "ccw") for n, t_s in enumerate(before_s)]
    edges += [(t_s, tick, "cw") for t_s, tick in after]
    assert slips_of(edges, 37) == 0


@pytest.mark.parametrize(("ticks", "sectors"), [(37, 1), (37, -1), (74, 2), (148, 3), (148, -3), (296, 6), (592, -12)])
def test_a_slip_while_a_hand_changes_the_speed_of_the_rotor_is_found_out(ticks: int, sectors: int) -> None:
    """It is distinguished from a hand down to a few turns a minute; a rotor that turns slower is about to stand."""
    rng = random.Random(f"slip {ticks} {sectors}")
    for _ in range(40):
        edges = moved_by_hand(rng, ticks, ends=False)
        since = rng.randrange(ticks // 4, len(edges) - max(4, ticks // 10))
        slow_s = 60 / 9 / ticks
        if edges[since][0] - edges[since - 1][0] > slow_s:
            continue
        slipped = [(t_s, (tick + sectors * (n >= since)) % ticks, way) for n, (t_s, tick, way) in enumerate(edges)]
        assert slips_of(slipped, ticks) == 1, since


@pytest.mark.parametrize("ticks", [37, 74, 148, 296, 592])
@pytest.mark.parametrize("rpm", [20, 30])
def test_edges_that_jitter_are_no_slip(ticks: int, rpm: float) -> None:
    """At 592 sectors edges that jitter by 1.5 ms do not even keep their order."""
    for sigma_us in (1_500, 3_000):
        rotor = RotorFromEncoder(ticks, SINGLE_ZERO)
        slips = [rotor.tick(edge) == "slipped" for edge in jittering(ticks, rpm, sigma_us)]
        assert not any(slips), sigma_us
        assert 0.3 * sigma_us < rotor.state.jitter_us < 1.3 * sigma_us


@pytest.mark.parametrize("a_pocket", JITTER_BORNE_MS)
@pytest.mark.parametrize("pockets", [SINGLE_ZERO])
def test_edges_that_jitter_by_as_much_as_is_borne_place_the_ball(pockets: PocketLayout, a_pocket: int) -> None:
    """999 of 1,000 places are right within a third of a pocket: sightings of a lying ball agree on its pocket."""
    ticks = a_pocket * pockets.count
    rotor, step_us, off = RotorFromEncoder(ticks, pockets), 60e6 / 30 / ticks, []
    for edge in jittering(ticks, 30, JITTER_BORNE_MS[a_pocket] * 1_000, turns=40):
        assert rotor.tick(edge) is None
        true_deg = (edge.t_us - 1_000_000) / step_us * 360 / ticks
        placed = rotor.pocket_under(true_deg, edge.t_us) if len(rotor.state.points) > 3 else None
        off.append(0.0 if placed is None else min(placed[0], pockets.count - placed[0]) + abs(placed[1]))
    assert sorted(off)[-1 - len(off) // 1_000] < 0.34


def test_edges_that_jitter_too_much_place_no_ball() -> None:
    """Two sightings could agree on a wrong pocket: nothing is proven then."""
    rotor = RotorFromEncoder(37, SINGLE_ZERO)
    for edge in jittering(37, 30, 8_000):
        rotor.tick(edge)
    at_us = rotor.state.last_tick_us or 0
    assert rotor.fit(at_us) is not None
    assert rotor.pocket_under(0, at_us) is None


def jittering(ticks: int, rpm: float, sigma_us: float, turns: int = 12) -> list[Rotor]:
    """Edges of an even rotor, each early or late by a normal distribution, in the order in which they
    came."""
    rng, step_us = random.Random(f"{ticks} {rpm} {sigma_us}"), 60e6 / rpm / ticks
    count = range(turns * ticks)
    edges = [Rotor(1_000_000 + round(n * step_us + rng.gauss(0, sigma_us)), n % ticks, "cw") for n in count]
    return sorted(edges, key=lambda edge: edge.t_us)


def test_a_slip_back_beyond_the_sector_before_is_found_out() -> None:
    for ticks, sectors in ((37, -2), (148, -4), (592, -12)):
        assert slipping(ticks, 20, sectors) == 1


def test_ticks_of_one_time_still_show_the_angle() -> None:
    """A source that dates a frame, and not its edges, may give half of the latest ticks one time."""
    ticks, late = 592, 10
    times_us = [1_000_000 + 5_000 * count for count in range(40)]
    times_us[-late:] = [times_us[-1]] * late
    rotor = RotorFromEncoder(ticks, SINGLE_ZERO)
    for count, t_us in enumerate(times_us):
        rotor.tick(Rotor(t_us, count, "cw"))
    assert apart_deg(angle_deg(rotor, times_us[-1]), 39 * 360 / ticks) < 1e-6


@pytest.mark.parametrize("late", [10, 20])
def test_ticks_of_one_time_are_no_slip(late: int) -> None:
    """Such a frame may hold nearly all ticks by which the speed is measured; then ticks have their own time again."""
    times_us = [1_000_000 + 5_000 * count for count in range(70)]
    times_us[40 - late : 40] = [times_us[39]] * late
    rotor = RotorFromEncoder(592, SINGLE_ZERO)
    assert {rotor.tick(Rotor(t_us, count, "cw")) for count, t_us in enumerate(times_us)} == {None}


def test_a_push_and_a_braking_by_a_hand_while_edges_are_lost_make_no_slip() -> None:
    """Nobody saw what the hand did between the ticks; before and after, the rotor was equally fast."""
    for gap_s, accel in ((0.5, 0.4), (0.5, 0.55), (0.5, -0.5)):
        motion = Motion(0.0, 1 / 3, 0.002)
        motion.order(4.0, 1 / 3 + accel * gap_s / 2, abs(accel))
        motion.order(4.0 + gap_s / 2, 1 / 3, abs(accel))
        edges: list[tuple[float, int, Way]] = [
            (1 + t_s, border % TICKS, "cw")
            for t_s, border, _ in motion.crossings(0.0, 1 / TICKS, 0.0, 8.0)
            if not 4.0 < t_s < 4.0 + gap_s
        ]
        assert slips_of(edges, TICKS) == 0, (gap_s, accel)


def test_an_edge_that_comes_late_by_a_quarter_of_a_sector_is_no_slip() -> None:
    """Such a jump moves no ball into another pocket."""
    ticks, step_us = 37, round(60e6 / 20 / 37)
    edges = [Rotor(1_000_000 + n * step_us + (step_us // 4 if n == 60 else 0), n % ticks, "cw") for n in range(74)]
    rotor = RotorFromEncoder(ticks, SINGLE_ZERO)
    assert {rotor.tick(edge) for edge in edges} == {None}


def test_a_slip_by_many_sectors_of_a_slow_rotor_is_found_out() -> None:
    """A hand that holds it can only put off the next sector. One or two sectors would look like lost edges."""
    assert slipping(37, 2, 15) == 1
