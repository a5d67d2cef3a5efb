"""The rotor by its encoder: where pocket zero stands at a time, its direction, and when it stopped.

Ticks are absolute, so a lost one does no harm. Between ticks the rotor is taken to go on as the latest ones show: how
fast it turns, and how fast it slows.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from wheeld.core.observations import Direction, Rotor
from wheeld.core.pockets import POCKET_DEG
from wheeld.core.tracking import margin
from wheeld.core.tracking.margin import Margin

STOP_SILENCE_US = 1_500_000
"""No tick for this long is a stop: docs/rulebook.md allows 2 s, and 37 ticks at 2 rpm still come every 0.8 s."""
REVERSAL_TICKS = 3
"""A hand that stops the rotor rattles the encoder at one border; three ticks the other way are a turn."""
GLITCH_TICKS = 4
"""After this many impossible ticks in a row, the ticks are right: the encoder slipped, and the rotor is measured anew
from them."""
REV_S_MAX = 3.0
"""Twice the worst runaway on record (90 rpm): a tick that implies more is wrong."""
FIT_DEG, FIT_TICKS_MIN, FIT_TICKS_MAX = 12.0, 4, 20
"""The stretch that the parabola of `fit` goes through, in degrees, and the fewest and most ticks of it. It is little
more than a pocket: if a hand begins to brake, it bends so short a stretch only little. Jitter of 0.25 ms is 0.1°."""
FRESH_US = 3_000_000
FRESH_TICKS = 6
"""Older ticks do not show where the rotor is now. `FRESH_US` is a limit in time, `FRESH_TICKS` in mean times from tick
to tick; the shorter one counts."""
SLIP_STEPS, SLIP_POCKETS = 0.5, 0.15
"""A jump is a slip if it is longer than `SLIP_STEPS` of the encoder's sectors and `SLIP_POCKETS` of a pocket. A shorter
jump moves no ball into another pocket."""
HAND_REV_S2, FREE_REV_S2 = 0.5, 0.05
"""Not only a slip moves a tick: a hand does too. `HAND_REV_S2` is the hardest push or braking of a hand, turns/s².
`FREE_REV_S2` is that of a hand that leaves no change of speed behind."""
HELD_US = 700_000
"""A hand that holds the rotor and sends it on needs this long at least. If the next sector comes later than that, a
hand may have held the rotor. If it comes sooner, and still too late for the hardest hand, there is a hole: a place
where edges were lost."""
JITTER_US = 2_000
"""An edge may come early or late by this."""
LOST_EDGE_STEPS = 1.2
"""One edge may be lost when the rotor turns back or stands. So a place that is this many sectors off is no slip."""
Surprise: TypeAlias = Literal["turned_back", "slipped"]


class RotorState(msgspec.Struct):
    """What is remembered of the rotor. `points`: the latest ticks as (t_us, turned degrees). The degrees are positive
    clockwise, and are never wrapped. They begin at `begun_us`, when the rotor last began to turn. `opposite_ticks`: how
    many ticks in a row were in the other direction; the first of them came at `opposite_us`. `glitch_ticks`: how many
    in a row came from impossible places. `stopped`: it is known to stand, or not known to turn. `odd`: the latest tick
    came from another place than expected."""

    points: list[tuple[int, float]] = msgspec.field(default_factory=list)
    direction: Direction | None = None
    opposite_ticks: int = 0
    glitch_ticks: int = 0
    last_tick_us: int | None = None
    begun_us: int = 0
    opposite_us: int = 0
    stopped: bool = True
    odd: bool = False


class RotorFromEncoder:
    """The rotor part of a table with an encoder of `ticks` sectors; all state in `state`, to be stored and resumed."""

    def __init__(self, ticks: int, state: RotorState | None = None) -> None:
        self._step_deg = 360 / ticks
        self._slip_deg = max(SLIP_STEPS * self._step_deg, SLIP_POCKETS * POCKET_DEG)
        self._fit_ticks = max(FIT_TICKS_MIN, min(FIT_TICKS_MAX, round(FIT_DEG / self._step_deg)))
        self.state = state or RotorState()

    @property
    def direction(self) -> Direction | None:
        """Which way it turns; None while it stands, or until as many ticks agree as a reversal needs."""
        state = self.state
        return state.direction if not state.stopped and len(state.points) >= REVERSAL_TICKS else None

    @property
    def turned_deg(self) -> float:
        """How far it has turned since it began to turn this way, in degrees, clockwise positive."""
        return self.state.points[-1][1] if self.state.points else 0.0

    @property
    def is_standing(self) -> bool:
        """Whether it is known to stand, or not known to turn."""
        return self.state.stopped

    @property
    def may_turn_back(self) -> bool:
        """Whether the latest ticks are of the other way, too few for a reversal."""
        return self.state.opposite_ticks > 0

    @property
    def was_seen_turning(self) -> bool:
        """True: silence of the encoder is a stop, which is evidence of its own."""
        return True

    def tick(self, seen: Rotor) -> Surprise | None:
        """Take one encoder edge in. What it proves: that the rotor stopped and turned back, that the encoder lost its
        place on the rotor, or nothing."""
        state = self.state
        angle_deg = (seen.tick + (seen.direction == "ccw")) * self._step_deg
        if state.direction is None or not state.points:
            self._begin(seen, angle_deg)
            return None
        if seen.direction != state.direction:
            forward = 1 if seen.direction == "cw" else -1
            border_deg = state.points[-1][1] + forward * state.opposite_ticks * self._step_deg
            if self._is_misplaced(border_deg, angle_deg):
                self._begin(seen, angle_deg)
                return "slipped"
            return "turned_back" if self._opposite(seen, angle_deg) else None
        rattled, state.opposite_ticks = state.opposite_ticks > 0, 0
        return "slipped" if self._follow(seen, angle_deg, rattled=rattled) else None

    def stop_due_us(self, launched_us: int | None) -> int | None:
        """When silence is a stop; None while it already stands. With a ball launched silence counts from the launch at
        the earliest: a bouler may spin both at once."""
        last_us = self.state.last_tick_us
        if launched_us is not None:
            return max(last_us or launched_us, launched_us) + STOP_SILENCE_US
        return None if self.state.stopped or last_us is None else last_us + STOP_SILENCE_US

    def stop_margin(self) -> Margin:
        """How sure a stop is, by how often its ticks came."""
        return margin.rotor(self.tick_interval_us() or 0, STOP_SILENCE_US)

    def stand(self) -> None:
        """Note the stop, once its deadline has passed."""
        self.state.stopped = True

    def fit(self, at_us: int) -> tuple[float, float] | None:
        """(turned degrees at `at_us`, degrees per second), by a parabola; None when the rotor isn't known.

        Through the first, a middle and the last of the latest ticks: a hand may be braking it, and with 37 ticks a
        straight line would be half a pocket behind.
        """
        if not self._fresh(at_us):
            return None
        points = self.state.points
        # Counted from the last tick: whole-evening microseconds squared would cost a float its digits.
        last_us, last_deg = points[-1]
        (x0, y0), (x1, y1) = (
            ((t_us - last_us) / 1e6, deg - last_deg) for t_us, deg in (points[0], points[len(points) // 2])
        )
        x = (at_us - last_us) / 1e6
        if len(points) == 2:
            return last_deg + y0 / x0 * x, y0 / x0
        late, bend = y1 / x1, (y1 / x1 - (y1 - y0) / (x1 - x0)) / -x0
        return last_deg + (late + bend * (x - x1)) * x, late + bend * (2 * x - x1)

    def pocket_under(self, bowl_deg: float, at_us: int) -> tuple[int, float, float] | None:
        """Which pocket stands at `bowl_deg`: (index clockwise from zero, offset from its centre in pockets ±0.5, the
        rotor's own angle in turned degrees); None when the rotor isn't known."""
        fitted = self.fit(at_us)
        if fitted is None:
            return None
        place = ((bowl_deg - fitted[0]) % 360) / POCKET_DEG
        index = round(place)
        return index % 37, place - index, fitted[0]

    def rpm(self, at_us: int) -> float | None:
        """Speed without sign, turns per minute; None when not known."""
        if not self._fresh(at_us):
            return None
        points = self.state.points
        (first_us, first_deg), (last_us, last_deg) = points[0], points[-1]
        return abs(last_deg - first_deg) / (last_us - first_us) * 1e6 / 6

    def tick_interval_us(self) -> float | None:
        """Mean time from tick to tick lately; None before the second."""
        points = self.state.points
        return (points[-1][0] - points[0][0]) / (len(points) - 1) if len(points) > 1 else None

    def _fresh(self, at_us: int) -> bool:
        often_us = self.tick_interval_us()
        return often_us is not None and 0 <= at_us - self.state.points[-1][0] < min(FRESH_US, FRESH_TICKS * often_us)

    def _begin(self, seen: Rotor, angle_deg: float) -> None:
        state = self.state
        state.points = [(seen.t_us, angle_deg)]
        state.direction = seen.direction
        state.last_tick_us = state.begun_us = seen.t_us
        state.opposite_ticks = state.glitch_ticks = 0
        state.stopped = state.odd = False

    def _opposite(self, seen: Rotor, angle_deg: float) -> bool:
        """A tick the other way: nothing while it is one or two, a reversal at the third; a start where none was."""
        self.state.opposite_ticks += 1
        if self.state.opposite_ticks == 1:
            self.state.opposite_us = seen.t_us
        was_turning = self.direction is not None
        if was_turning and self.state.opposite_ticks < REVERSAL_TICKS:
            return False
        self._begin(seen, angle_deg)
        return was_turning

    def _follow(self, seen: Rotor, angle_deg: float, *, rattled: bool) -> bool:
        """Take a tick the same way in; True when it shows that the encoder slipped."""
        state = self.state
        if state.stopped:
            forward = 1 if seen.direction == "cw" else -1
            misplaced = not rattled and self._is_misplaced(state.points[-1][1] + forward * self._step_deg, angle_deg)
            self._begin(seen, angle_deg)
            return misplaced
        last_us, last_deg = state.points[-1]
        forward = 1 if seen.direction == "cw" else -1
        moved_deg = (forward * (angle_deg - last_deg)) % 360
        passed_us = seen.t_us - last_us
        if moved_deg > 360 - 1e-6 or moved_deg < 1e-6:
            return not rattled and self._entered_again(seen, angle_deg)
        if moved_deg / 360 > REV_S_MAX * max(passed_us, 1) / 1e6:
            return self._glitch(seen, angle_deg)
        state.glitch_ticks = 0
        state.points.append((seen.t_us, last_deg + forward * moved_deg))
        slipped = state.odd and self._slipped()
        state.odd = not state.odd and self._is_odd(moved_deg, passed_us)
        del state.points[: -self._fit_ticks]
        state.last_tick_us = seen.t_us
        if slipped:
            self._begin(seen, angle_deg)
        return slipped

    def _entered_again(self, seen: Rotor, angle_deg: float) -> bool:
        """A sector entered twice the same way, about as long after as the next one should have been: a slip back."""
        if len(self.state.points) < 2:
            return False
        (before_us, _), (last_us, _) = self.state.points[-2:]
        if seen.t_us - last_us < (last_us - before_us) / 2:
            return False
        self._begin(seen, angle_deg)
        return True

    def _glitch(self, seen: Rotor, angle_deg: float) -> bool:
        """A tick from a place where no rotor can be. True when `GLITCH_TICKS` of them came in a row: then they are
        right."""
        self.state.glitch_ticks += 1
        if self.state.glitch_ticks < GLITCH_TICKS:
            return False
        self._begin(seen, angle_deg)
        return True

    def _is_misplaced(self, border_deg: float, angle_deg: float) -> bool:
        """Whether a rotor that turned back, or stood, shows another place than the border it must be at.

        One edge may have been lost just there: a slip by one sector can't be distinguished from it.
        """
        off_deg = abs((angle_deg - border_deg + 180) % 360 - 180)
        return off_deg > max(LOST_EDGE_STEPS * self._step_deg, self._slip_deg)

    def _is_odd(self, moved_deg: float, passed_us: int) -> bool:
        """Whether the latest tick is elsewhere than those before it let expect; the next one shows why."""
        if len(self.state.points) < 3:
            return False
        (before_us, before_deg), (last_us, last_deg) = self.state.points[-3:-1]
        usual_deg = abs(last_deg - before_deg) / (last_us - before_us) * passed_us
        slowed_deg = 0.0
        if moved_deg < 1.5 * self._step_deg and passed_us > last_us - before_us:  # the next sector, only later
            if passed_us > HELD_US:
                return False
            slowed_deg = HAND_REV_S2 * 360 / 2 * (passed_us / 1e6) ** 2
        return abs(moved_deg - usual_deg) > self._slip_deg + slowed_deg

    def _slipped(self) -> bool:
        """Whether the rotor would have had to jump between the two ticks before the latest.

        No inertia allows that: it turned as fast before and after as a hand may make it, yet in between it moved as if
        its encoder had lost, or won, some sectors.
        """
        (a_us, a_deg), (b_us, b_deg), (c_us, c_deg), (d_us, d_deg) = self.state.points[-4:]
        passed_us = c_us - b_us
        before, after = (b_deg - a_deg) / (b_us - a_us), (d_deg - c_deg) / (d_us - c_us)
        pushed_deg = abs(after - before) / 2 * passed_us + FREE_REV_S2 * 360 / 4 * (passed_us / 1e6) ** 2
        hand_deg = min(HAND_REV_S2 * 360 / 4 * (passed_us / 1e6) ** 2, pushed_deg)
        usual_deg = (before + after) / 2 * passed_us
        jitter_deg = abs(usual_deg) * JITTER_US / passed_us
        return abs(c_deg - b_deg - usual_deg) > self._slip_deg + hand_deg + jitter_deg
