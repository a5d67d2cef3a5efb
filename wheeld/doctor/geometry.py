"""Learns the angles of the sensors from a few free spins: beams from the ball's laps, readers from the rotor's angle.

Angles on a wheel cannot be measured with a ruler to one degree. If a beam is a few degrees off, fewer laps are proven.
A free ball takes a share of its lap time from one beam to the next. This share gives the angle between the two. It is
corrected, because the ball slows down. A ball in a known pocket passes a reader at a known angle of the rotor.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median
from typing import Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import structs

from wheeld.core.observations import BallPass, Direction, Rotor, Sighting
from wheeld.core.pockets import PocketLayout
from wheeld.core.tracking.beams import DOUBLE_PULSE_US, FALL_US, HOP_REV_S_MAX, LEAVE_REV_S
from wheeld.core.tracking.rotor import RotorFromEncoder

LAP_US_MIN, LAP_US_MAX = round(1e6 / HOP_REV_S_MAX), round(1e6 / LEAVE_REV_S)
LAP_CHANGE_MAX = 1.35
"""The longest lap, as a multiple of the lap before it. Each lap of a free ball is longer than the lap before it by a
tenth, at the end by a fifth. If a lap is longer than this, the beam missed a pass."""
SPIN_GAP_US = 4_000_000
"""No ball needs so long for its next pass. A pass after this time belongs to another spin."""
LAPS_MIN = 4
"""With fewer laps than this an angle is not certain. Jitter and a tilted bowl change a single lap by several
degrees."""
TURNS_MIN = 4
"""How often a lying ball must pass each reader in each direction. A bouncing ball is seen at most twice in a pocket."""
SPREAD_DEG = 3.0
"""If laps or turns differ by more than this, the ball did not run freely, or a sensor's edge is not sharp."""
SPIN_LAPS_MIN = 3
"""The fewest laps of a spin that is compared with other spins. One stray pulse does not change the median of three."""
REAL_PASSES_MIN = 4
"""Fewer passes than this are from a hand and not from a ball."""
LATEST_EDGES = 5
"""How many edges decide the rotor's direction, by their majority. If the rotor stands still with the border of two
sectors just at the encoder's sensor, one or two edges may have the wrong direction."""
RESTING_SHARE = 0.9
"""The share of a lying ball's sightings that must be close together. A lying ball is always seen in one place. For a
running ball, half of the laps are enough."""


class Learned(msgspec.Struct, frozen=True):
    """The learned angle of one sensor, in degrees clockwise from the mark. `spread_deg`: half of the laps of a beam, or
    nine in ten sightings of a reader, differ from the angle by no more than this. `count`: the number of laps or turns.
    `lacks`: only for a reader whose angle is not certain yet, the direction in which the rotor must turn more often."""

    index: int
    angle_deg: float
    spread_deg: float
    count: int
    lacks: Direction | None = None


class Spin(msgspec.Struct, frozen=True):
    """The passes of one free spin in order, and the directions of ball and rotor. Stray pulses are among the passes."""

    passes: list[BallPass]
    direction: Direction
    rotor: Direction | None = None


class Geometry(NamedTuple):
    """The learned angles of beams and readers, empty if too little was seen. `spins`: the spins from which they were
    learned. `number`: the number in whose pocket the ball lay, if a person named it."""

    beams: list[Learned]
    readers: list[Learned]
    spins: Sequence[Spin] = ()
    number: int | None = None


def spins_of(seen: Sequence[Rotor | BallPass], *, ball: Direction | None = None) -> list[Spin]:
    """Return the spins in the observations. Between two spins there is no pass for `SPIN_GAP_US`.

    A ball is assumed to run against the rotor, unless `ball` gives its direction.
    """
    spins: list[Spin] = []
    latest = deque[Direction](maxlen=LATEST_EDGES)
    last_us: int | None = None
    for each in seen:
        if isinstance(each, Rotor):
            latest.append(each.direction)
            continue
        rotor = Counter(latest).most_common(1)[0][0] if latest else None
        way = ball or (None if rotor is None else "ccw" if rotor == "cw" else "cw")
        if way is None:
            continue
        if last_us is None or each.t_us - last_us > SPIN_GAP_US:
            spins.append(Spin([], way, rotor))
        spins[-1].passes.append(each)
        last_us = each.t_us
    return spins


def real(spins: Sequence[Spin]) -> list[Spin]:
    """Return the spins that have enough passes for a ball."""
    return [spin for spin in spins if len(spin.passes) >= REAL_PASSES_MIN]


def ran_with_rotor(spins: Sequence[Spin]) -> bool:
    """Return whether the ball ran in the rotor's direction in each spin. This is useful only if a person gave the
    ball's direction. Otherwise `spins_of` assumes that the ball ran against the rotor."""
    return bool(balls := real(spins)) and all(spin.rotor == spin.direction for spin in balls)


def ball_rev_s(spins: Sequence[Spin]) -> tuple[float, float] | None:
    """Return the ball's slowest and fastest whole lap, in laps per second. None if there is no whole lap."""
    zero, _ = _reference(spins, ())
    laps = [lap for spin in spins for lap in _laps([seen.t_us for seen in spin.passes if seen.beam == zero])]
    speeds = [1e6 / (lap.end_us - lap.begin_us) for lap in laps]
    return (round(min(speeds), 2), round(max(speeds), 2)) if speeds else None


def learn_beams(spins: Sequence[Spin], configured_deg: Sequence[float] = ()) -> list[Learned]:
    """Return each beam's angle, or an empty list if there are fewer than `LAPS_MIN` whole laps. Beams that never pulsed
    in these laps are left out.

    All angles are measured from the beam with the lowest number that pulsed. This beam keeps its configured angle, or
    gets 0.
    """
    zero, first_deg = _reference(spins, configured_deg)
    angles_deg = _measured(spins, zero, first_deg)
    if len(angles_deg[zero]) < LAPS_MIN:
        return []
    return [_learned(beam, found) for beam, found in sorted(angles_deg.items())]


def contradiction(spins: Sequence[Spin], configured_deg: Sequence[float] = ()) -> tuple[int, float] | None:
    """Return the beam whose angle differs most from spin to spin, and the difference in degrees. None if spins agree.

    A spin in which the ball ran with the rotor gives mirrored angles. Then the median of all spins means nothing.
    """
    zero, first_deg = _reference(spins, configured_deg)
    places: dict[int, list[float]] = {}
    for spin in spins:
        for beam, angles_deg in _measured([spin], zero, first_deg).items():
            if len(angles_deg) >= SPIN_LAPS_MIN:
                places.setdefault(beam, []).append(_learned(beam, angles_deg).angle_deg)
    apart = {beam: widest_deg(angles_deg) for beam, angles_deg in places.items()}
    if not apart:
        return None
    widest = max(apart, key=apart.__getitem__)
    return (widest, apart[widest]) if apart[widest] > SPREAD_DEG else None


def widest_deg(angles_deg: Sequence[float]) -> float:
    """Return the largest distance between two of these angles."""
    return max(abs(apart_deg(a, b)) for a in angles_deg for b in angles_deg)


def _reference(spins: Sequence[Spin], configured_deg: Sequence[float]) -> tuple[int, float]:
    """Return the beam from which the other beams are measured, and its angle."""
    zero = min((seen.beam for spin in spins for seen in spin.passes), default=0)
    return zero, configured_deg[zero] if zero < len(configured_deg) else 0.0


def _measured(spins: Sequence[Spin], zero: int, first_deg: float) -> dict[int, list[float]]:
    """Return the angles of each beam, one for each lap. `zero`: the beam from which they are measured."""
    angles_deg: dict[int, list[float]] = {zero: []}
    for spin in spins:
        sign = 1 if spin.direction == "cw" else -1
        last_us: dict[int, int] = {}
        kept = []
        for seen in spin.passes:
            if seen.t_us - last_us.get(seen.beam, -DOUBLE_PULSE_US) >= DOUBLE_PULSE_US:
                kept.append(seen)
            last_us[seen.beam] = seen.t_us
        for lap in _laps([seen.t_us for seen in kept if seen.beam == zero]):
            angles_deg[zero].append(first_deg % 360)
            for seen in kept:
                if seen.beam != zero and lap.begin_us <= seen.t_us < lap.end_us:
                    share = lap.turned(seen.t_us)
                    angles_deg.setdefault(seen.beam, []).append((first_deg + sign * share * 360) % 360)
    return angles_deg


Order: TypeAlias = Literal["same", "mirrored", "other"]
"""The order of the sensors round the wheel, compared with their order in the configuration."""


def order_of(learned: Sequence[Learned], configured_deg: Sequence[float]) -> Order:
    """Return how the order of the learned sensors round the wheel compares with the configured order.

    If the ball did not run in the assumed direction, every angle is mirrored, and nothing in the laps shows this. One
    or two sensors have the same order in both directions. They count as mirrored if the mirrored angles are nearer to
    the configured ones.
    """
    known = [each for each in learned if each.index < len(configured_deg)]
    if len(known) < 3:
        # Two sensors opposite each other look the same in both directions. Then a rounding error must not decide.
        is_nearer = _off_deg(known, configured_deg, -1) < _off_deg(known, configured_deg, 1) - 1e-6
        return "mirrored" if is_nearer else "same"
    begin = known[0]
    configured = [
        each.index for each in sorted(known, key=lambda each: (configured_deg[each.index] - configured_deg[0]) % 360)
    ]
    found = [each.index for each in sorted(known, key=lambda each: (each.angle_deg - begin.angle_deg) % 360)]
    at = configured.index(begin.index)
    configured = configured[at:] + configured[:at]
    if found == configured:
        return "same"
    return "mirrored" if found == [begin.index, *reversed(configured[1:])] else "other"


def _off_deg(known: Sequence[Learned], configured_deg: Sequence[float], sign: int) -> float:
    """Return the sum of the distances from the configured angles. `sign`: 1, or -1 if the angles are mirrored."""
    return sum(
        abs(
            apart_deg(
                sign * apart_deg(each.angle_deg, known[0].angle_deg),
                configured_deg[each.index] - configured_deg[known[0].index],
            )
        )
        for each in known
    )


def at_rest(seen: Iterable[Rotor | BallPass | Sighting]) -> list[Rotor | Sighting]:
    """Return the observations of a ball that lies in its pocket. They begin `FALL_US` after the last pass. Before that,
    the ball lay in another pocket, ran, or bounced."""
    lying: list[Rotor | Sighting] = []
    until_us: int | None = None
    for each in seen:
        if isinstance(each, BallPass):
            until_us = each.t_us + FALL_US
            lying.clear()
        elif until_us is None or each.t_us > until_us:
            lying.append(each)
    return lying


def learn_readers(
    edges_and_sightings: Sequence[Rotor | Sighting],
    ticks: int,
    pockets: PocketLayout,
    number: int,
    one_way: Direction | None,
) -> list[Learned]:
    """Return each reader's angle. The ball lies in the pocket of `number` while the rotor turns. `one_way`: the
    direction of a rotor that turns in one direction only.

    A reader sees the ball a little late, so its angle seems shifted in the direction of the rotor. A rotor that can
    turn in both directions must have turned in both. The true angle is in the middle of the two shifted angles.
    """
    pocket_deg = pockets.index_of[number] * pockets.pocket_deg
    tracker = RotorFromEncoder(ticks, pockets)
    found: dict[int, dict[Direction, list[float]]] = {}
    turns: Counter[tuple[int, Direction]] = Counter()
    last_us: dict[int, int] = {}
    for seen in edges_and_sightings:
        if isinstance(seen, Rotor):
            tracker.tick(seen)
        elif (fitted := tracker.fit(seen.t_us)) is not None:
            turned_deg, deg_s = fitted
            way: Direction = one_way or ("cw" if deg_s > 0 else "ccw")
            found.setdefault(seen.reader, {}).setdefault(way, []).append((turned_deg + pocket_deg) % 360)
            is_first = seen.reader not in last_us
            turns[seen.reader, way] += is_first or (seen.t_us - last_us[seen.reader]) / 1e6 * abs(deg_s) > 180
            last_us[seen.reader] = seen.t_us
    ways: tuple[Direction, ...] = ("cw", "ccw") if one_way is None else (one_way,)
    learned = []
    for reader, by_way in sorted(found.items()):
        each_way = [_learned(reader, angles_deg, is_at_rest=True) for angles_deg in by_way.values()]
        first, last = each_way[0], each_way[-1]
        turned = {way: turns[reader, way] for way in ways}
        fewest = min(turned, key=turned.__getitem__)
        learned.append(
            Learned(
                reader,
                round((first.angle_deg + apart_deg(last.angle_deg, first.angle_deg) / 2) % 360, 1) % 360,
                max(first.spread_deg, last.spread_deg),
                sum(turned.values()),
                fewest if len(turned) > 1 and turned[fewest] < TURNS_MIN else None,
            )
        )
    return learned


def in_some_pocket(readers: Sequence[Learned], configured_deg: Sequence[float], pockets: PocketLayout) -> list[Learned]:
    """Return the angles of `readers` if nobody named the ball's pocket. They were learned as if the ball lay in the
    first pocket. Return them for that pocket with which they are closest to the configured angles."""
    known = [each for each in readers if each.index < len(configured_deg)]

    def turned(index: int) -> list[Learned]:
        turned_deg = index * pockets.pocket_deg
        return [structs.replace(each, angle_deg=round((each.angle_deg + turned_deg) % 360, 1) % 360) for each in known]

    def off_deg(index: int) -> float:
        return sum(min(abs(apart_deg(each.angle_deg, deg)) for deg in configured_deg) for each in turned(index))

    return turned(min(range(pockets.count), key=off_deg))


def pockets_off(learned: Sequence[Learned], configured_deg: Sequence[float], pocket_deg: float) -> int:
    """Return by how many pockets, clockwise, most readers differ from their configured angles. 0 if they do not agree.

    Readers do not differ by the same number of pockets by chance. So the ball lay in another pocket than the given one.
    """
    known = [each for each in learned if each.index < len(configured_deg)]
    off: Counter[int] = Counter()
    for each in known:
        off_deg = apart_deg(each.angle_deg, configured_deg[each.index])
        pockets = round(off_deg / pocket_deg)
        off[pockets if abs(off_deg - pockets * pocket_deg) <= SPREAD_DEG else 0] += 1
    pockets, count = off.most_common(1)[0] if off else (0, 0)
    return pockets if 2 * count > len(known) else 0


class _Lap(msgspec.Struct, frozen=True):
    """One whole lap, from one pass of the reference beam to the next. `slowing`, in laps/s², is calculated from the lap
    before and the lap after it."""

    begin_us: int
    end_us: int
    slowing: float

    def turned(self, t_us: int) -> float:
        """Return the share of the lap that the ball had run at `t_us`."""
        whole_s, so_far_s = (self.end_us - self.begin_us) / 1e6, (t_us - self.begin_us) / 1e6
        begun_rev_s = (1 + self.slowing * whole_s**2 / 2) / whole_s
        return begun_rev_s * so_far_s - self.slowing * so_far_s**2 / 2


def _laps(passes_us: list[int]) -> list[_Lap]:
    """Return the whole laps that have a whole lap before and after them. `passes_us`: the passes of one beam."""
    whole = [(a, b) for a, b in pairwise(passes_us) if LAP_US_MIN <= b - a <= LAP_US_MAX]
    laps = []
    for (a, b), (c, d), (e, f) in zip(whole, whole[1:], whole[2:], strict=False):
        if b != c or d != e or not all(y < LAP_CHANGE_MAX * x for x, y in ((b - a, d - c), (d - c, f - e))):
            continue
        before_rev_s, after_rev_s = 1e6 / (b - a), 1e6 / (f - e)
        laps.append(_Lap(c, d, (before_rev_s - after_rev_s) / ((e + f - a - b) / 2e6)))
    return laps


def _learned(index: int, angles_deg: list[float], *, is_at_rest: bool = False) -> Learned:
    """Return the median of angles on a circle. Single stray pulses do not change it."""
    about = angles_deg[0]
    angle_deg = (about + median(apart_deg(angle, about) for angle in angles_deg)) % 360
    off = sorted(abs(apart_deg(angle, angle_deg)) for angle in angles_deg)
    spread_deg = off[math.ceil(RESTING_SHARE * len(off)) - 1] if is_at_rest else median(off)
    return Learned(index, round(angle_deg, 1) % 360, round(spread_deg, 2), len(off))


def apart_deg(a: float, b: float) -> float:
    """Return how many degrees `a` lies clockwise of `b`, from -180 to 180."""
    return (a - b + 180) % 360 - 180
