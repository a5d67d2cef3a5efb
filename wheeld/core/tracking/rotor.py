"""The rotor, as its encoder shows it: its direction, when it stopped, and the angle of pocket zero at any time.

Ticks are absolute, so a lost tick does no harm. Between ticks the rotor is assumed to continue as the latest ticks
show: with the same speed and the same slowing. If the encoder's disc slips on the rotor, the rotor seems to jump. A
movement that a hand could cause is not a jump. So when a rotor nearly stops, a slip by one or two sectors looks like
lost edges.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from wheeld.core.observations import Direction, Rotor
from wheeld.core.pockets import PocketLayout
from wheeld.core.tracking.evidence import Margin

STOP_SILENCE_US, STOP_SILENCE_US_MIN = 1_500_000, 600_000
"""If no edge comes for `STOP_SILENCE_US`, this is always a stop: docs/rulebook.md allows 2 s. A silence that is shorter
than `STOP_SILENCE_US_MIN` is never a stop, because edges may be lost."""
SLOWEST_DEG_S = 12.0
"""2 rpm. A hand that slows the rotor but does not stop it leaves it at least this speed. A silence is not a stop if it
is shorter than the time of one sector at this speed."""
LOST_EDGE_INTERVALS = 2.5
"""A silence is also not a stop if it is shorter than this many intervals between ticks: one edge may be lost."""
REVERSAL_TICKS = 3
"""If a hand stops the rotor, the border of a sector may pass the encoder forward and back. Only three ticks in the
other direction are a reversal."""
GLITCH_TICKS = 4
"""After this many impossible ticks in a row, these ticks count: the encoder has slipped, and the rotor is measured
again from them."""
REV_S_MAX = 3.0
"""Turns/s. No recorded rotor was faster than half of this (90 rpm). A tick that would need a higher speed is wrong."""
FIT_DEG, FIT_TICKS_MIN, FIT_TICKS_MAX = 12.0, 4, 20
"""`fit` uses the ticks of the latest `FIT_DEG` degrees, `FIT_TICKS_MIN` to `FIT_TICKS_MAX` of them. These degrees are
little more than a pocket: over so few, a parabola is right even while a hand begins to brake."""
FRESH_US = 3_000_000
FRESH_TICKS = 6
"""If the latest tick is older than this, ticks do not show where the rotor is now. `FRESH_US` is a time, `FRESH_TICKS`
a number of mean intervals between ticks. The shorter limit applies."""
SLIP_STEPS, SLIP_POCKETS = 0.5, 0.15
"""A jump is a slip only if it is longer than `SLIP_STEPS` of the encoder's sectors and `SLIP_POCKETS` of a pocket. A
shorter jump does not move a ball into another pocket."""
SIDE_DEG = 7.2
"""The speed before and after a possible jump is measured over this angle, or over one sector if a sector is wider. With
592 sectors, each takes about 5 ms: jitter would make a speed that is measured over one of them useless."""
HAND_REV_S2 = 0.6
"""The hardest push or braking by a hand, in turns/s²."""
HELD_US = 700_000
"""The least time that a hand needs to hold the rotor and then push it. If the next sector comes later than this, a hand
may have held the rotor."""
JITTER_US = 2_000
"""An edge of any encoder may come early or late by this time, or by more if more jitter is measured."""
JITTER_SHARE, JITTER_MORE, JITTER_LESS = 8.0, 1 + 1 / 32, 1 - 1 / 32
"""An edge comes early or late by at most `JITTER_SHARE` times the median jitter: 5 sigma of a normal distribution. Each
edge multiplies the measured median by `JITTER_MORE` or `JITTER_LESS`. So a slip changes it as little as any edge."""
JITTER_US_MIN = JITTER_US / JITTER_SHARE
JITTER_POCKETS = 0.05
"""If the median jitter is more than this fraction of a pocket, the rotor's angle does not show where a ball lies. An
angle from few edges is wrong by up to ten times as much, and two sightings could agree on a wrong pocket."""
BACK_DEG, JUMP_DEG = 30.0, 2.0
"""Because of jitter, or after a slip, a tick may be up to `BACK_DEG` behind the tick before it. It may also be up to
`JUMP_DEG` farther ahead than the rotor could have turned. A tick that is farther off is impossible (`GLITCH_TICKS`)."""
LOST_EDGE_STEPS = 1.2
"""When the rotor turns back or stops, one edge may be lost. So an error of up to this many sectors shows no slip."""
Surprise: TypeAlias = Literal["turned_back", "slipped"]


class RotorState(msgspec.Struct):
    """What is remembered of the rotor. `points`: the latest ticks as (t_us, turned degrees). The degrees are positive
    clockwise, and do not begin again at 360. `begun_us`: when the rotor last began to turn. `opposite`: the latest
    ticks, if they were in the other direction. `glitch_ticks`: how many ticks in a row came from impossible places.
    `stopped`: the rotor stands still, or was never observed. `jitter_us`: the median of how much edges come early or
    late. `shift_deg`: how far the encoder's disc has slipped on the rotor, as a person's word has shown."""

    points: list[tuple[int, float]] = msgspec.field(default_factory=list)
    direction: Direction | None = None
    opposite: list[tuple[int, float]] = msgspec.field(default_factory=list)
    glitch_ticks: int = 0
    last_tick_us: int | None = None
    begun_us: int = 0
    stopped: bool = True
    jitter_us: float = 750.0
    shift_deg: float = 0.0


class RotorFromEncoder:
    """The rotor part of a table whose encoder has `ticks` sectors and whose rotor has these `pockets`. Everything that
    it remembers is in `state`."""

    def __init__(self, ticks: int, pockets: PocketLayout, state: RotorState | None = None) -> None:
        self._step_deg, self._pocket_deg, self.pockets = 360 / ticks, pockets.pocket_deg, pockets
        self._slip_deg = max(SLIP_STEPS * self._step_deg, SLIP_POCKETS * self._pocket_deg)
        self._fit_ticks = max(FIT_TICKS_MIN, min(FIT_TICKS_MAX, round(FIT_DEG / self._step_deg)))
        self._side_ticks = max(1, round(SIDE_DEG / self._step_deg))
        self._apart_ticks = max(1, self._side_ticks // 2)
        self._kept_ticks = max(self._fit_ticks, 2 * self._side_ticks + 2)
        self.state = state or RotorState()

    @property
    def direction(self) -> Direction | None:
        """The rotor's direction. None while the rotor stands still, and before `REVERSAL_TICKS` ticks agree."""
        state = self.state
        return state.direction if not state.stopped and len(state.points) >= REVERSAL_TICKS else None

    @property
    def turned_deg(self) -> float:
        """The angle of pocket zero at the latest tick, in degrees clockwise, which do not begin again at 360."""
        return self.state.points[-1][1] if self.state.points else 0.0

    @property
    def is_standing(self) -> bool:
        """Whether the rotor stands still, as far as it was observed. True if it was never observed."""
        return self.state.stopped

    @property
    def may_turn_back(self) -> bool:
        """Whether the latest ticks are in the other direction, but too few for a reversal."""
        return bool(self.state.opposite)

    @property
    def was_seen_turning(self) -> bool:
        """Always true: if the rotor stands still, the encoder's silence is reported as a stop."""
        return True

    def tick(self, seen: Rotor) -> Surprise | None:
        """Take one encoder edge. Return what it proves: that the rotor stopped and turned back, that the encoder
        slipped on the rotor, or nothing."""
        state, t_us, direction = self.state, seen.t_us, seen.direction
        points, forward = state.points, 1 if direction == "cw" else -1
        angle_deg = (seen.tick + (direction == "ccw")) * self._step_deg - state.shift_deg
        if not points:
            self._begin(seen, angle_deg)
            return None
        if direction != state.direction:
            return self._opposite(seen, angle_deg)
        rattled, state.opposite = bool(state.opposite), []
        if state.stopped:
            # The first tick after the rotor stood still must come from the next border.
            border_deg = points[-1][1] + forward * self._step_deg
            misplaced = not rattled and self._is_misplaced(_apart_deg(angle_deg, border_deg))
            self._begin(seen, angle_deg)
            return "slipped" if misplaced else None
        last_us, last_deg = points[-1]
        moved_deg = _moved_deg(angle_deg - last_deg, forward)
        # A contact may report one entry into a sector twice. The second report comes much sooner than the rotor can
        # reach the next sector.
        if abs(moved_deg) < 1e-6 and (rattled or len(points) < 2 or t_us - last_us < (last_us - points[-2][0]) / 2):
            return None
        if forward * moved_deg > REV_S_MAX * 360 * (t_us - last_us) / 1e6 + JUMP_DEG:
            state.glitch_ticks += 1
            if state.glitch_ticks < GLITCH_TICKS:
                return None
            self._begin(seen, angle_deg)
            return "slipped"
        state.last_tick_us, state.glitch_ticks = t_us, 0
        points.append((t_us, last_deg + moved_deg))
        if len(points) > self._kept_ticks:
            del points[0]
        if seen.tick % self._apart_ticks == 0:
            self._measure_jitter()
        if not self._jumped():
            return None
        self._begin(seen, angle_deg)
        return "slipped"

    def lose_sight(self) -> None:
        """Forget the place and the movement of the rotor, because edges were lost. The next edges show them."""
        self.state.points = []

    def shift(self, deg: float) -> None:
        """Remember that the disc is on the rotor `deg` farther clockwise than assumed."""
        state = self.state
        state.shift_deg = _apart_deg(state.shift_deg + deg, 0)
        state.points = [(t_us, at_deg - deg) for t_us, at_deg in state.points]
        state.opposite = [(t_us, at_deg - deg) for t_us, at_deg in state.opposite]

    def stop_due_us(self, launched_us: int | None) -> int | None:
        """Return when silence becomes a stop. None if the rotor stands still already and no ball is launched. A stop
        counts at the earliest `STOP_SILENCE_US` after a launch: a bouler may spin ball and rotor at once."""
        last_us = self.state.last_tick_us
        if launched_us is not None:
            return max((last_us or launched_us) + self._silence_us, launched_us + STOP_SILENCE_US)
        return None if self.state.stopped or last_us is None else last_us + self._silence_us

    def stop_margin(self) -> Margin:
        """Return how sure a stop is. The shorter the interval between ticks was, the surer it is."""
        return Margin.rotor(self.tick_interval_us() or 0, self._silence_us)

    @property
    def _silence_us(self) -> int:
        """How long a silence must be to prove a stop, given the speed of the latest ticks. At an ordinary speed, this
        time is hardly longer with few sectors than with many."""
        points = self.state.points
        if self.state.stopped or len(points) < 2:
            return STOP_SILENCE_US
        usual_us = LOST_EDGE_INTERVALS * (points[-1][0] - points[-2][0])
        slowest_us = self._step_deg / SLOWEST_DEG_S * 1e6
        return round(min(STOP_SILENCE_US, max(STOP_SILENCE_US_MIN, usual_us, slowest_us)))

    def stand(self) -> None:
        """Remember that the rotor stands still, when the deadline of the stop has passed."""
        self.state.stopped = True

    def fit(self, at_us: int) -> tuple[float, float] | None:
        """Return (turned degrees at `at_us`, degrees per second) by a parabola. None if the rotor's place is not known.

        The parabola goes through the first, a middle and the last of the latest ticks, because a hand may be braking.
        With only as many ticks as pockets, a straight line would be half a pocket behind.
        """
        if not self._fresh(at_us):
            return None
        points = self.state.points[-self._fit_ticks :]
        # Times are relative to the last tick: squared microseconds of a whole evening have too many digits for a float.
        last_us, last_deg = points[-1]
        (x0, y0), (x1, y1) = (
            ((t_us - last_us) / 1e6, deg - last_deg) for t_us, deg in (points[0], points[len(points) // 2])
        )
        x = (at_us - last_us) / 1e6
        if x1 in (x0, 0):  # of two ticks, or if a source gave several ticks one time
            return last_deg + y0 / x0 * x, y0 / x0
        late, bend = y1 / x1, (y1 / x1 - (y1 - y0) / (x1 - x0)) / -x0
        return last_deg + (late + bend * (x - x1)) * x, late + bend * (2 * x - x1)

    def angle_deg(self, at_us: int) -> float | None:
        """Return the angle of the middle of pocket zero, in degrees clockwise, 0 to 360. While the rotor stands still,
        it is the angle at the last tick. None if it is not known."""
        if self.state.stopped:
            return self.turned_deg % 360 if self.state.points else None
        fitted = self.fit(at_us)
        return None if fitted is None else fitted[0] % 360

    def pocket_under(self, bowl_deg: float, at_us: int) -> tuple[int, float, float] | None:
        """Return the pocket at `bowl_deg`: (index clockwise from zero, offset from its centre in pockets ±0.5, the
        rotor's own angle in turned degrees). None if the rotor's place is not known, or its edges jitter too much."""
        fitted = self.fit(at_us)
        if fitted is None or abs(fitted[1]) * self.state.jitter_us / 1e6 > JITTER_POCKETS * self._pocket_deg:
            return None
        place = ((bowl_deg - fitted[0]) % 360) / self._pocket_deg
        index = round(place)
        return index % self.pockets.count, place - index, fitted[0]

    def rpm(self, at_us: int) -> float | None:
        """Return the speed without sign, in turns per minute. None if it is not known."""
        if not self._fresh(at_us):
            return None
        points = self.state.points[-self._fit_ticks :]
        (first_us, first_deg), (last_us, last_deg) = points[0], points[-1]
        return abs(last_deg - first_deg) / (last_us - first_us) * 1e6 / 6

    def tick_interval_us(self) -> float | None:
        """Return the mean time between the latest ticks. None before the second tick."""
        points = self.state.points[-self._fit_ticks :]
        return (points[-1][0] - points[0][0]) / (len(points) - 1) if len(points) > 1 else None

    def _fresh(self, at_us: int) -> bool:
        often_us = self.tick_interval_us()
        return often_us is not None and 0 <= at_us - self.state.points[-1][0] < min(FRESH_US, FRESH_TICKS * often_us)

    def _begin(self, seen: Rotor, angle_deg: float) -> None:
        state = self.state
        state.points = [(seen.t_us, angle_deg)]
        state.direction = seen.direction
        state.last_tick_us = state.begun_us = seen.t_us
        state.opposite, state.glitch_ticks = [], 0
        state.stopped = False

    def _opposite(self, seen: Rotor, angle_deg: float) -> Surprise | None:
        """Take a tick in the other direction. The third in a row proves a reversal. If the rotor stood still, the first
        shows that it turns. The first must be at the border that the rotor passed last, or the disc slipped."""
        state = self.state
        was_turning, last_deg = self.direction is not None, state.points[-1][1]
        if state.opposite:
            before_deg = state.opposite[-1][1]
            place_deg = before_deg + _moved_deg(angle_deg - before_deg, 1 if seen.direction == "cw" else -1)
        else:
            place_deg = last_deg + _apart_deg(angle_deg, last_deg)
            if self._is_misplaced(place_deg - last_deg):
                self._begin(seen, angle_deg)
                return "slipped"
        state.opposite.append((seen.t_us, place_deg))
        if was_turning and len(state.opposite) < REVERSAL_TICKS:
            return None
        points = state.opposite
        self._begin(seen, angle_deg)
        state.points = points
        return "turned_back" if was_turning else None

    def _is_misplaced(self, off_deg: float) -> bool:
        """Whether the first tick after the rotor turned back, or stood still, is too far from the right border.

        One edge may have been lost there. So a slip by one sector is not noticed.
        """
        return abs(off_deg) > max(LOST_EDGE_STEPS * self._step_deg, self._slip_deg)

    def _measure_jitter(self) -> None:
        """Measure how far four ticks are from the nearest movement with a constant push or braking: the third divided
        difference of their times by their places, scaled to one edge."""
        state, apart = self.state, self._apart_ticks
        points = state.points
        if len(points) <= 3 * apart:
            return
        (a_us, a), (b_us, b), (c_us, c), (d_us, d) = points[-1 - 3 * apart :: apart]
        ab, ac, ad, bc, bd, cd = b - a, c - a, d - a, c - b, d - b, d - c
        # Each weight is multiplied by all six distances, so nothing is divided. Equal places make some weights 0.
        of_a, of_b, of_c, of_d = bc * bd * cd, ac * ad * cd, ab * ad * bd, ab * ac * bc
        late_us = (b_us - a_us) * of_b - (c_us - a_us) * of_c + (d_us - a_us) * of_d
        if of_a * of_d * ad:
            spread = of_a * of_a + of_b * of_b + of_c * of_c + of_d * of_d
            is_more = late_us * late_us > state.jitter_us * state.jitter_us * spread
            grown = state.jitter_us * (JITTER_MORE if is_more else JITTER_LESS)
            state.jitter_us = grown if grown > JITTER_US_MIN else JITTER_US_MIN

    def _jumped(self) -> bool:
        """Whether the latest ticks show a jump between the two middle ones: a movement that the rotor's inertia makes
        impossible.

        It is not a jump if a hand could have moved the rotor in this way, given its speed before and after. Lost edges
        never make a jump: fewer ticks are known then, and a hand could have done more between them.
        """
        points, side = self.state.points, self._side_ticks
        if len(points) < 2 * side + 2:
            side = len(points) // 2 - 1
        if side < 1:
            return False
        places = first, left, right, last = points[-2 * side - 2], points[-side - 2], points[-side - 1], points[-1]
        (a_us, a), (b_us, b), (c_us, c), (d_us, d) = places
        passed_us, before_us, after_us = c_us - b_us, b_us - a_us, d_us - c_us
        jitter_us = JITTER_SHARE * self.state.jitter_us
        if before_us < 2 * jitter_us or after_us < 2 * jitter_us:
            return False  # no speed can be measured between edges that jitter this much
        before, after = (b - a) / before_us, (d - c) / after_us
        off_deg = abs(c - b - (before + after) / 2 * passed_us)
        if off_deg <= self._slip_deg:
            return False  # nearly all edges end here
        if abs(c - b) < 1.5 * self._step_deg and passed_us > HELD_US:
            return False
        without = ((points[-side - 3], right), (left, points[-side])) if side > 1 else ()
        if any(_off_deg(first, one, other, last) <= self._slip_deg for one, other in without):
            return False  # only one tick is out of place: it was reported late
        # The speed at the end of an interval may differ from the mean speed in it, by half of what a hand can change in
        # this interval. Between the two middle ticks a hand may first push, then brake.
        hand_deg = HAND_REV_S2 * 360 * passed_us * (before_us + after_us + passed_us) / 4e12
        fastest = max(abs(before), abs(after))
        jitter_deg = fastest * jitter_us * (2 + passed_us / before_us + passed_us / after_us)
        return off_deg > hand_deg + jitter_deg


def _off_deg(*ticks: tuple[int, float]) -> float:
    """Return how far the movement between the middle two of four ticks is from one at the mean speed on both sides."""
    (a_us, a_deg), (b_us, b_deg), (c_us, c_deg), (d_us, d_deg) = ticks
    speeds = (b_deg - a_deg) / max(1, b_us - a_us) + (d_deg - c_deg) / max(1, d_us - c_us)
    return abs(c_deg - b_deg - speeds / 2 * (c_us - b_us))


def _apart_deg(one: float, other: float) -> float:
    """Return how far `one` is from `other`, clockwise positive, at most half a turn."""
    return (one - other + 180) % 360 - 180


def _moved_deg(apart_deg: float, forward: int) -> float:
    """Return how far the rotor turned from the last tick to this one, clockwise positive. `apart_deg`: the clockwise
    angle between them. The rotor turned in the direction `forward` (1: clockwise), or back by at most `BACK_DEG`."""
    return forward * ((forward * apart_deg + BACK_DEG) % 360 - BACK_DEG)
