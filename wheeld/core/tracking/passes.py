"""Passes of a ball that slows down as balls do: where the beams stand, and which pulses one ball can have made."""

from __future__ import annotations

import msgspec

from wheeld.core.observations import Direction

LEAVE_REV_S = 0.38
"""Balls leave the track at 0.43–0.50 laps/s (captures); between two passes none runs slower than this."""
HOP_REV_S_MAX = 4.0
"""Mean speed between two passes: no hand launches at 4 (captures: at most 2.6)."""
SLOWING_REV_S2 = 0.22
SLOWING_PER_REV = 0.08
"""Hardest slowing allowed, laps/s²: constant part and factor of speed². Captured balls reach 0.27 between 1.0 and 0.6
laps/s, where many rub, and 0.4 at 1.8."""
SPEED_SLACK = 0.07
PASS_JITTER_US = 8_000
"""How far a hop's speed may be from the speed that the slowing gives. `SPEED_SLACK` is for tilt and reading error,
`PASS_JITTER_US` for the jitter of its two pulses."""
TIGHT_SLACK = 0.03
TIGHT_JITTER_US = 2_000
"""The same two limits where a decision rests on three passes. At a launch's speed a tilt of 0.3° changes a hop by less
than 1 %. A beam that is mounted one degree off changes it by 1 %."""


class Pass(msgspec.Struct, frozen=True):
    """One pass in a chain: sensing time, beam, and degrees run since the chain's first pass."""

    t_us: int
    beam: int
    turn_deg: float


class Chain(msgspec.Struct):
    """One reading of the pulses: passes of one ball; `skipped` counts the beams that it must have passed unseen."""

    direction: Direction
    passes: list[Pass]
    skipped: int = 0

    @property
    def score(self) -> int:
        """How much supports it: the passes that were seen, less the passes that beams should have seen and did not."""
        return len(self.passes) - self.skipped

    def proven_deg(self, strays: int) -> float:
        """Degrees that the ball ran for certain, whichever `strays` of the pulses no ball made (R2).

        A stray before the launch looks like a first pass, and a stray after the ball has gone looks like a last one.
        So a hop is proven only by as many other passes beyond it. The strays may all be at one end, or some at each:
        what is left of the span is the least of these. Without this, with two beams, one short run in six would count
        a stray's lap as its own. Passes at the beginning do not count while the ball speeds up: it was still in the
        hand.
        """
        first = self._released()
        passes = self.passes
        if len(passes) - first <= strays:
            return 0.0
        return min(passes[-1 - strays + at].turn_deg - passes[first + at].turn_deg for at in range(strays + 1))

    @property
    def last_us(self) -> int:
        """Time of the latest pass."""
        return self.passes[-1].t_us

    @property
    def first_us(self) -> int:
        """Time of the first pass."""
        return self.passes[0].t_us

    def speed_rev_s(self) -> float | None:
        """Mean speed of the last hop; None before the second pass."""
        if len(self.passes) < 2:
            return None
        return hop_rev_s(*self.passes[-2:])

    def _released(self) -> int:
        """Index of the first pass from which it no longer speeds up. No ball speeds up by itself, but the hand that
        launches it may make it faster."""
        first = 0
        while first + 2 < len(self.passes) and self._speeds_up(*self.passes[first : first + 3]):
            first += 1
        return first

    @staticmethod
    def _speeds_up(first: Pass, middle: Pass, third: Pass) -> bool:
        slack = TIGHT_SLACK + TIGHT_JITTER_US * (1 / (middle.t_us - first.t_us) + 1 / (third.t_us - middle.t_us))
        return hop_rev_s(middle, third) > hop_rev_s(first, middle) * (1 + slack)

    def follows(self, turn_deg: float, t_us: int) -> bool:
        """Whether a ball that slows as balls do can have run `turn_deg` from the last pass until `t_us`."""
        hop_us = t_us - self.last_us
        speed = rev_s(turn_deg, hop_us)
        if not LEAVE_REV_S <= speed <= HOP_REV_S_MAX:
            return False
        before = self.speed_rev_s()
        if before is None:
            return True
        slack = SPEED_SLACK + PASS_JITTER_US / hop_us + PASS_JITTER_US / (self.last_us - self.passes[-2].t_us)
        between_s = (t_us - self.passes[-2].t_us) / 2e6
        return (before - _slowing(before) * between_s) * (1 - slack) <= speed <= before * (1 + slack)

    def is_tight(self) -> bool:
        """Whether its first three passes agree as closely as those of one ball do."""
        first, middle, third = self.passes[:3]
        one_us, two_us = middle.t_us - first.t_us, third.t_us - middle.t_us
        before, after = hop_rev_s(first, middle), hop_rev_s(middle, third)
        slack = TIGHT_SLACK + TIGHT_JITTER_US / one_us + TIGHT_JITTER_US / two_us
        slowest = before - _slowing(before) * (one_us + two_us) / 2e6
        return slowest * (1 - slack) <= after <= before * (1 + slack)

    def off_forecast(self, turn_deg: float, t_us: int) -> float:
        """How far, laps/s, a next hop of `turn_deg` until `t_us` is from the speed of a ball that slows as most do."""
        before = self.speed_rev_s() or 0.0
        between_s = (t_us - self.passes[-2].t_us) / 2e6
        return abs(rev_s(turn_deg, t_us - self.last_us) - before + _slowing(before) / 2 * between_s)


class Beams:
    """Where the beams stand on the track, and what lies between them in the ball's direction.

    Beams keep their numbers when one is left out: `count` and what is counted are those that are left.
    """

    def __init__(self, beams_deg: tuple[float, ...]) -> None:
        self._all = range(len(beams_deg))
        self.leave_out(frozenset())
        self._ahead_deg: dict[Direction, list[list[float]]] = {
            "cw": [[(other - beam) % 360 or 360.0 for other in beams_deg] for beam in beams_deg],
            "ccw": [[(beam - other) % 360 or 360.0 for other in beams_deg] for beam in beams_deg],
        }

    def leave_out(self, beams: frozenset[int]) -> None:
        """From now on these beams report nothing."""
        self._left = [beam for beam in self._all if beam not in beams]
        self.left, self.count = frozenset(self._left), len(self._left)

    def ahead_deg(self, beam: int, other: int, direction: Direction) -> float:
        """Degrees from `beam` to `other` in the ball's direction, in (0, 360]."""
        return self._ahead_deg[direction][beam][other]

    def between(self, beam: int, other: int, direction: Direction) -> int:
        """How many beams stand between `beam` and `other`, in that direction."""
        ahead = self._ahead_deg[direction][beam]
        return sum(ahead[k] < ahead[other] - 1e-9 for k in self._left if k != beam)

    def behind_deg(self, beam: int, direction: Direction) -> float:
        """Degrees from the beam before `beam`, in that direction."""
        return self.nth_ahead_deg(beam, 0, "ccw" if direction == "cw" else "cw")

    def widest_deg(self, skipped: int) -> float:
        """The most degrees from any beam to the one after the next `skipped` ones, either way."""
        ways: tuple[Direction, Direction] = ("cw", "ccw")
        return max(self.nth_ahead_deg(beam, skipped, way) for way in ways for beam in self._left)

    def nth_ahead_deg(self, beam: int, skipped: int, direction: Direction) -> float:
        """Degrees from `beam` to the beam after the next `skipped` ones."""
        ahead = self._ahead_deg[direction][beam]
        return sorted(ahead[k] for k in self._left)[skipped]


def certain_laps(beams_deg: tuple[float, ...], laps: float, strays: int) -> float:
    """How many laps a run must have to prove `laps` of them past these beams, wherever it begins, if no beam misses it.

    The worst run begins just behind a beam, and ends just before the pass that would complete the proof.
    """
    beams, most_deg = Beams(beams_deg), 0.0
    directions: tuple[Direction, Direction] = ("cw", "ccw")
    for direction in directions:
        for first in range(len(beams_deg)):
            order = sorted(range(len(beams_deg)), key=lambda beam: beams.ahead_deg(first, beam, direction) % 360)
            chain = Chain(direction, [])
            while len(chain.passes) < 2 or chain.proven_deg(strays) < laps * 360 - 1e-6:
                lap, place = divmod(len(chain.passes), len(order))
                turn_deg = lap * 360 + beams.ahead_deg(first, order[place], direction) % 360
                chain.passes.append(Pass(round(turn_deg * 1_000), order[place], turn_deg))
            most_deg = max(most_deg, beams.behind_deg(first, direction) + chain.passes[-1].turn_deg)
    return most_deg / 360


def hop_rev_s(before: Pass, last: Pass) -> float:
    """Mean speed between two passes, laps per second."""
    return rev_s(last.turn_deg - before.turn_deg, last.t_us - before.t_us)


def rev_s(turn_deg: float, time_us: int) -> float:
    """Laps per second."""
    return turn_deg / 360 / max(time_us, 1) * 1e6


def _slowing(speed_rev_s: float) -> float:
    return SLOWING_REV_S2 + SLOWING_PER_REV * speed_rev_s * speed_rev_s
