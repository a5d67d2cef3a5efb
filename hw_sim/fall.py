"""From the track to a pocket: the ball rolls down the slope, may hit deflectors, and bounces in the turning rotor.

- **The slope** (Small & Tse 2012, Chaos 22, 033150): r̈ = r·θ̇²·cos α − g·sin α, at first in balance. The ball
  continues to slow down. Let s be the part of its radius by which it has moved inwards. To first order
  s̈ = λ²·(s + 2bt), with λ² = g·sin α/radius and b = slowing/speed. So s = 2b·(sinh(λt)/λ − t).
- **The deflectors**: there are eight, alternately upright (long down the slope) and flat (long round the bowl). The
  ball still turns and may hit one. A hit sets it back by up to an eighth of a turn (the same paper) and takes most of
  its speed. Then it rolls down again from rest.
- **The rotor** turns in the opposite direction. In the rotor's frame the ball lands in a pocket, and a fret throws it
  out again with less speed, sometimes high up or backwards. This repeats until the ball cannot climb a fret. There it
  rattles and rests. No law of this part is published. Its figures are chosen so that falls last as long as those of
  recorded evenings, and scatter over several pockets, as Small & Tse observed.

The ball is a point without spin, and it never jumps off the wheel. The model does not explain why a worn rotor favours
some pockets. A `Bias` only says which pockets, and how much.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hw_sim.rotor import SimRotor
from hw_sim.wheel import DEFLECTORS, GRAVITY_M_S2, POCKETS, RADIUS_M, BallRun, Fall

FALL_S = (2.5, 5.5)
"""The shortest and the longest fall of the recorded evenings, from leaving the track to rest in a pocket."""
DEFLECTOR_RADIUS_M, ROTOR_RADIUS_M, POCKET_RADIUS_M = 0.30, 0.26, 0.22
"""Distances from the axis, on a bowl of 32 inches: the deflectors, the rotor's edge, and a ball in a pocket."""
BALL_M = 0.02
UPRIGHT_M, FLAT_M = (0.05, 0.015), (0.015, 0.05)
"""The lengths of a deflector down the slope and round the bowl."""
CONE_REV_S2 = (0.0, 0.02)
"""How much more the slope slows the ball than the track does. The slope is wood, not a polished rim."""
AFTER_HIT = (-0.2, 0.6)
"""The share of its speed round the bowl that a ball keeps after a deflector. If the share is negative, the ball turns
back."""
SHAKEN_REV_S = (-0.05, 0.05)
"""The speed round the bowl of a ball that hung on a deflector and falls off."""
HIT_S = (0.1, 0.9)
"""How long a deflector throws the ball up or holds it."""
KEPT = (0.55, 0.9)
"""The share of its speed in the rotor's frame that a ball keeps when a fret throws it out."""
THROWN_BACK = 0.15
"""The share of the throws that reverse the direction of the ball."""
RISE = (0.4, 0.8)
"""The upward speed after a throw, as a share of the speed before the throw."""
HIGH = 0.4
HIGH_S = (0.3, 0.9)
"""The share of the throws that send the ball up to the cone, and how long it then stays out of the pockets."""
CLIMB_M_S = 0.2
"""A ball whose speed relative to the rotor is less than this stays in its pocket."""
IN_POCKET_S = (0.03, 0.12)
"""How long a ball stays in a pocket that it leaves again."""
RATTLE_S = (0.4, 1.5)
"""The time from landing in the last pocket to rest."""


@dataclass(frozen=True)
class _Ball:
    """The ball's place and motion: angle and speed round the bowl in turns, clockwise; speed down the slope."""

    t_s: float
    angle: float
    speed_rev_s: float
    down_m_s: float


@dataclass(frozen=True)
class Bias:
    """A French rotor that favours the pockets of `numbers`, all equally. Together these numbers come `times` times as
    often as on a rotor without a bias."""

    numbers: frozenset[int]
    times: float

    @property
    def drawn_in(self) -> float:
        """The share of the falls into other pockets that end in a pocket of `numbers` instead."""
        share = len(self.numbers) / len(POCKETS)
        return (self.times - 1) * share / (1 - share)

    def applied(self, fallen: Fall, rng: random.Random) -> Fall:
        """Return the fall as it ends on this rotor."""
        if fallen.number in self.numbers or rng.random() >= self.drawn_in:
            return fallen
        return replace(fallen, number=rng.choice(sorted(self.numbers)))


def fall(
    run: BallRun, rotor: SimRotor, rng: random.Random, bias: Bias | None = None, pockets: Sequence[int] = POCKETS
) -> Fall:
    """Draw the fall of the ball of `run`, from leaving the track to rest in one of the `pockets`."""
    while True:
        ball = _slope(run, rng)
        fallen = _bounce(run.end_s, _rotor_edge(_deflectors(ball, run, rng), run), rotor, rng, pockets)
        if FALL_S[0] <= fallen.rest_s - fallen.left_s <= FALL_S[1]:
            return fallen if bias is None else bias.applied(fallen, rng)


def fall_off_obstacle(
    run: BallRun, hang_s: float, rotor: SimRotor, rng: random.Random, pockets: Sequence[int] = POCKETS
) -> Fall:
    """Draw the fall from a deflector to rest. The ball hung there until `hang_s` after it left the track."""
    first = run.track.deflector_angle
    nearest = first + round((run.angle + run.turning * run.laps - first) * DEFLECTORS) / DEFLECTORS
    still = _Ball(run.end_s + hang_s, nearest, rng.uniform(*SHAKEN_REV_S), 0.0)
    return _bounce(still.t_s, _rotor_edge(still, run), rotor, rng, pockets)


def _slope(run: BallRun, rng: random.Random) -> _Ball:
    """Return the ball when it reaches the ring of deflectors."""
    speed = math.sqrt(run.speed_squared(run.laps))
    slowing = run.track.c0_rev_s2 + run.track.c2_per_rev * speed**2 + rng.uniform(*CONE_REV_S2)
    rate = math.sqrt(GRAVITY_M_S2 * math.sin(run.track.slope) / RADIUS_M)
    twice = 2 * slowing / speed
    goal = (RADIUS_M - DEFLECTOR_RADIUS_M) / RADIUS_M
    t_s = 1.0
    for _ in range(6):  # Newton's method finds the time, because the function is convex
        t_s -= (math.sinh(rate * t_s) / rate - t_s - goal / twice) / (math.cosh(rate * t_s) - 1)
    return _Ball(
        t_s=run.end_s + t_s,
        angle=run.angle + run.turning * (run.laps + (speed - slowing * t_s / 2) * t_s),
        speed_rev_s=run.turning * (speed - slowing * t_s),
        down_m_s=RADIUS_M * twice * (math.cosh(rate * t_s) - 1),
    )


def _deflectors(ball: _Ball, run: BallRun, rng: random.Random) -> _Ball:
    """Return the ball after the ring of deflectors: unchanged, or after its hit on the first deflector in its way."""
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
    """Return the ball when it has rolled down to the rotor. Nearer the axis, the same speed is more turns a second."""
    pull = GRAVITY_M_S2 * math.sin(run.track.slope) * 5 / 7
    way_m = DEFLECTOR_RADIUS_M - POCKET_RADIUS_M
    t_s = (math.sqrt(ball.down_m_s**2 + 2 * pull * way_m) - ball.down_m_s) / pull
    speed = ball.speed_rev_s * DEFLECTOR_RADIUS_M / ROTOR_RADIUS_M
    return _Ball(ball.t_s + t_s, ball.angle + speed * t_s, speed, ball.down_m_s + pull * t_s)


def _bounce(left_s: float, ball: _Ball, rotor: SimRotor, rng: random.Random, pockets: Sequence[int]) -> Fall:
    """Return the fall, with the bounces from the first pocket to the last. The speed down the slope and the speed round
    the bowl have the same weight for the bounces."""
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
    """Return the number at `place`, in turns clockwise from zero on the rotor."""
    return pockets[round(place * len(pockets)) % len(pockets)]
