"""From the track to a pocket: the ball comes down the slope, may meet deflectors, and bounces in the turning rotor.

- **The slope** (Small & Tse 2012, Chaos 22, 033150): r̈ = r·θ̇²·cos α − g·sin α from balance on. The ball goes on
  slowing, so to first order the part s of its radius that it has come in obeys s̈ = λ²·(s + 2bt), with
  λ² = g·sin α/radius and b its slowing over its speed: s = 2b·(sinh(λt)/λ − t).
- **The deflectors**: eight, alternately upright (long down the slope) and flat (long round it). The ball, which still
  turns, may hit one. That takes up to an eighth of a turn from its angle (the same paper) and most of its speed, and
  its way down begins again.
- **The rotor** turns against it. In the rotor's frame the ball lands in a pocket, a fret throws it out again, slower,
  sometimes high up or back, and so on until it cannot climb a fret any more; there it rattles and rests. No law of that
  part is published. Its figures are set so that falls last as long as those of recorded evenings and scatter by
  several pockets, as Small & Tse observed.

The ball is a point, its spin is left out, and it never jumps off the wheel. Why a worn rotor favours some pockets is
not modelled: a `Bias` says only which, and how much.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hw_sim.rotor import SimRotor
from hw_sim.wheel import DEFLECTORS, GRAVITY_M_S2, POCKETS, RADIUS_M, BallRun, Fall

FALL_S = (2.5, 5.5)
"""From leaving the track to rest in a pocket: the shortest and the longest fall of the recorded evenings."""
DEFLECTOR_RADIUS_M, ROTOR_RADIUS_M, POCKET_RADIUS_M = 0.30, 0.26, 0.22
"""Where the deflectors stand, where the rotor begins and where the ball meets pockets, on a bowl of 32 inches."""
BALL_M = 0.02
UPRIGHT_M, FLAT_M = (0.05, 0.015), (0.015, 0.05)
"""A deflector's length down the slope and round it."""
CONE_REV_S2 = (0.0, 0.02)
"""How much more than the track the slope slows the ball: it is wood, not a polished rim."""
AFTER_HIT = (-0.2, 0.6)
"""Part of its speed round the bowl that a ball keeps after a deflector; sometimes it goes back."""
SHAKEN_REV_S = (-0.05, 0.05)
"""Speed round the bowl of a ball that comes off a deflector by itself."""
HIT_S = (0.1, 0.9)
"""How long a deflector sends the ball up or holds it."""
KEPT = (0.55, 0.9)
"""Part of its speed in the rotor's frame that a ball keeps when a fret throws it out."""
THROWN_BACK = 0.15
"""Part of the throws that send it back the way it came."""
RISE = (0.4, 0.8)
"""Speed upwards after a throw, as part of the speed before."""
HIGH = 0.4
HIGH_S = (0.3, 0.9)
"""Part of the throws that send it up to the cone, and how long it is away then."""
CLIMB_M_S = 0.2
"""A ball that is slower than this against the rotor does not leave its pocket any more."""
IN_POCKET_S = (0.03, 0.12)
"""How long a ball stays in a pocket that it leaves again."""
RATTLE_S = (0.4, 1.5)
"""From landing in its last pocket to rest."""


@dataclass(frozen=True)
class _Ball:
    """The ball's place and motion: angle and speed round the bowl in turns, clockwise; speed down the slope."""

    t_s: float
    angle: float
    speed_rev_s: float
    down_m_s: float


@dataclass(frozen=True)
class Bias:
    """A French rotor that favours the pockets of `numbers`, each as much: together they come `times` as often as their
    share."""

    numbers: frozenset[int]
    times: float

    @property
    def drawn_in(self) -> float:
        """The part of the falls into other pockets that end in one of these."""
        share = len(self.numbers) / len(POCKETS)
        return (self.times - 1) * share / (1 - share)

    def applied(self, fallen: Fall, rng: random.Random) -> Fall:
        """The fall on this rotor."""
        if fallen.number in self.numbers or rng.random() >= self.drawn_in:
            return fallen
        return replace(fallen, number=rng.choice(sorted(self.numbers)))


def fall(
    run: BallRun, rotor: SimRotor, rng: random.Random, bias: Bias | None = None, pockets: Sequence[int] = POCKETS
) -> Fall:
    """The fall of the ball of `run`, from leaving the track to rest in one of the `pockets`."""
    while True:
        ball = _slope(run, rng)
        fallen = _bounce(run.end_s, _rotor_edge(_deflectors(ball, run, rng), run), rotor, rng, pockets)
        if FALL_S[0] <= fallen.rest_s - fallen.left_s <= FALL_S[1]:
            return fallen if bias is None else bias.applied(fallen, rng)


def fall_off_obstacle(
    run: BallRun, hang_s: float, rotor: SimRotor, rng: random.Random, pockets: Sequence[int] = POCKETS
) -> Fall:
    """The fall of a ball that hung on a deflector until `hang_s` after it left the track, from there to rest."""
    first = run.track.deflector_angle
    nearest = first + round((run.angle + run.turning * run.laps - first) * DEFLECTORS) / DEFLECTORS
    still = _Ball(run.end_s + hang_s, nearest, rng.uniform(*SHAKEN_REV_S), 0.0)
    return _bounce(still.t_s, _rotor_edge(still, run), rotor, rng, pockets)


def _slope(run: BallRun, rng: random.Random) -> _Ball:
    """The ball at the ring of deflectors."""
    speed = math.sqrt(run.speed_squared(run.laps))
    slowing = run.track.c0_rev_s2 + run.track.c2_per_rev * speed**2 + rng.uniform(*CONE_REV_S2)
    rate = math.sqrt(GRAVITY_M_S2 * math.sin(run.track.slope) / RADIUS_M)
    twice = 2 * slowing / speed
    goal = (RADIUS_M - DEFLECTOR_RADIUS_M) / RADIUS_M
    t_s = 1.0
    for _ in range(6):  # Newton, on a convex function
        t_s -= (math.sinh(rate * t_s) / rate - t_s - goal / twice) / (math.cosh(rate * t_s) - 1)
    return _Ball(
        t_s=run.end_s + t_s,
        angle=run.angle + run.turning * (run.laps + (speed - slowing * t_s / 2) * t_s),
        speed_rev_s=run.turning * (speed - slowing * t_s),
        down_m_s=RADIUS_M * twice * (math.cosh(rate * t_s) - 1),
    )


def _deflectors(ball: _Ball, run: BallRun, rng: random.Random) -> _Ball:
    """The ball after the ring of deflectors: past them, or off the first one that it meets."""
    place = (ball.angle - run.track.deflector_angle) * DEFLECTORS * run.turning
    for number in range(math.floor(place), math.floor(place) + 4):
        deep_m, wide_m = UPRIGHT_M if number % 2 == 0 else FLAT_M
        half = (wide_m + BALL_M) / 2 / (math.tau * DEFLECTOR_RADIUS_M) * DEFLECTORS
        sweep = abs(ball.speed_rev_s) * (deep_m + BALL_M) / ball.down_m_s * DEFLECTORS
        if place - half <= number <= place + sweep + half:
            taken = rng.uniform(0, 1 / DEFLECTORS)
            angle = run.track.deflector_angle + run.turning * (number / DEFLECTORS - taken)
            speed = ball.speed_rev_s * rng.uniform(*AFTER_HIT)
            reached_s = max(0.0, number - place) / DEFLECTORS / abs(ball.speed_rev_s)
            return _Ball(ball.t_s + reached_s + rng.uniform(*HIT_S), angle, speed, 0.0)
    return ball


def _rotor_edge(ball: _Ball, run: BallRun) -> _Ball:
    """The ball at the rotor, after rolling down the rest of the slope. Nearer the axis the same speed is more turns."""
    pull = GRAVITY_M_S2 * math.sin(run.track.slope) * 5 / 7
    way_m = DEFLECTOR_RADIUS_M - POCKET_RADIUS_M
    t_s = (math.sqrt(ball.down_m_s**2 + 2 * pull * way_m) - ball.down_m_s) / pull
    speed = ball.speed_rev_s * DEFLECTOR_RADIUS_M / ROTOR_RADIUS_M
    return _Ball(ball.t_s + t_s, ball.angle + speed * t_s, speed, ball.down_m_s + pull * t_s)


def _bounce(left_s: float, ball: _Ball, rotor: SimRotor, rng: random.Random, pockets: Sequence[int]) -> Fall:
    """The fall, with the bounces from the first pocket to the last. For the bounces the speed down the slope counts as
    much as the speed round it."""
    t_s, place = ball.t_s, ball.angle - rotor.angle_at(ball.t_s)
    speed = (ball.speed_rev_s - rotor.speed_at(ball.t_s)) * math.tau * POCKET_RADIUS_M
    lively = math.hypot(speed, ball.down_m_s)
    touches: list[tuple[float, int]] = []
    while lively > CLIMB_M_S:
        touches.append((t_s, _pocket(place, pockets)))
        kept = rng.uniform(*KEPT)
        speed *= -kept if rng.random() < THROWN_BACK else kept
        lively *= kept
        high = lively > 2 * CLIMB_M_S and rng.random() < HIGH
        away_s = rng.uniform(*HIGH_S) if high else 2 * lively * rng.uniform(*RISE) / GRAVITY_M_S2
        t_s += rng.uniform(*IN_POCKET_S) + away_s
        place += speed * away_s / (math.tau * POCKET_RADIUS_M)
    return Fall(left_s, t_s + rng.uniform(*RATTLE_S), _pocket(place, pockets), tuple(touches))


def _pocket(place: float, pockets: Sequence[int]) -> int:
    """The number at `place`, in turns clockwise from zero on the rotor."""
    return pockets[round(place * len(pockets)) % len(pockets)]
