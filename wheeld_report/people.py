"""In which direction each bouler launches. If a wheel turns both ways, about half of the coups go each way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

import msgspec
import numpy as np
from scipy import stats

from wheeld.core.catalogue import Catalogue
from wheeld_report.checks import POWER_MIN, Check, interval, more_than, power_of_share
from wheeld_report.wheel import ValidCoup

TOLERATED = 0.6
"""The share of a bouler's launches that may go in one direction, because boulers do not count them."""
EFFECT = 0.8
"""A sample is large enough if it shows a bouler who launches this share of his balls in one direction."""
ONE_WAY = 0.95
"""A table that launches at least this share of the balls in one direction does so on purpose, as every Fair wheel
does."""


class Directions(msgspec.Struct, frozen=True):
    """One bouler's launches. `bouler` is None if he was not reported. The confidence of the intervals is for all
    boulers together."""

    bouler: str | None
    cw: int
    ccw: int
    share_cw_low: float
    share_cw_high: float
    enough: bool


class Balance(msgspec.Struct, kw_only=True):
    """`one_way`: the whole table launches in one direction, so no bouler's share is compared with a half."""

    one_way: bool
    boulers: list[Directions]
    checks: list[Check]


def balance(coups: Sequence[ValidCoup], say: Catalogue) -> Balance:
    """Return how each bouler launched, those with the most launches first."""
    counts: dict[str | None, list[int]] = defaultdict(lambda: [0, 0])
    for coup in coups:
        if coup.ball_direction is not None:
            counts[coup.bouler][coup.ball_direction != "cw"] += 1
    boulers = []
    for bouler, (cw, ccw) in counts.items():
        low, high = interval(cw, cw + ccw, len(counts))
        enough = power_of_share(cw + ccw, TOLERATED, EFFECT) >= POWER_MIN
        boulers.append(Directions(bouler, cw, ccw, low, high, enough))
    boulers.sort(key=lambda one: (-one.cw - one.ccw, one.bouler or ""))
    total, cw = sum(one.cw + one.ccw for one in boulers), sum(one.cw for one in boulers)
    one_way = max(cw, total - cw) >= ONE_WAY * total
    checks = []
    for one in () if one_way else boulers:
        total, most = one.cw + one.ccw, max(one.cw, one.ccw)
        said = say.say(
            "bouler {bouler} launched {count} of {total} balls in one direction",
            bouler=one.bouler or "?",
            count=most,
            total=total,
        )
        action = say.say("Nothing is wrong with the wheel. Ask the bouler to change the direction from coup to coup.")
        p = min(1.0, 2 * more_than(most, total, TOLERATED))
        checks.append(Check(code="direction_balance", p=p, said=said, action=action))
    return Balance(one_way=one_way, boulers=boulers, checks=checks)


# A bouler's signature is how far on the rotor each number lies from the number before, in each direction. A bouler
# launches the ball from the last pocket. If he always launches the ball and turns the rotor in the same way, the ball
# may come to rest at the same distance from that pocket. If the rotor's angle is random, all distances are equally
# likely.

HARMONICS = np.array((1, 2))
"""A sector of a third to a half of the rotor shows in the first harmonic, a narrower sector in both harmonics."""
COUPS_MIN = 40
"""With fewer coups, a bouler who brings half of the balls to one quarter of the rotor would rarely be found."""


class Offsets(msgspec.Struct, frozen=True):
    """One bouler's coups in one direction, each directly after another valid coup. `pockets`: the mean distance
    clockwise from the number before. `strength`: 0 if all distances are equally likely, 1 if the distance is always the
    same."""

    bouler: str | None
    direction: str
    coups: int
    pockets: int
    strength: float
    p: float


def offsets(coups: Sequence[ValidCoup], pockets: int) -> list[Offsets]:
    """Return the offsets of each bouler and direction with at least `COUPS_MIN` coups."""
    ways: dict[tuple[str | None, str], list[int]] = defaultdict(list)
    for before, after in pairwise(coups):
        # After a void the ball was not launched from the pocket of the last number.
        if after.coup == before.coup + 1 and after.ball_direction is not None:
            ways[after.bouler, after.ball_direction].append((after.pocket - before.pocket) % pockets)
    tested = []
    for (bouler, direction), found in ways.items():
        if len(found) >= COUPS_MIN:
            # Rayleigh's test of each harmonic. The sum has about the distribution chi-square: in truth, a fair wheel
            # exceeds the limit a little more rarely.
            turns = np.exp(2j * np.pi * np.outer(HARMONICS, found) / pockets)
            means = turns.mean(axis=1)
            statistic = float(2 * len(found) * (np.abs(means) ** 2).sum())
            middle = round(float(np.angle(means[0])) / (2 * np.pi) * pockets) % pockets
            p = float(stats.chi2.sf(statistic, 2 * len(HARMONICS)))
            tested.append(Offsets(bouler, direction, len(found), middle, float(np.abs(means[0])), p))
    return tested


def arrow_of(one: Offsets) -> str:
    """Return the direction of the ball as an arrow for people."""
    return "↻" if one.direction == "cw" else "↺"


def check_of(one: Offsets, say: Catalogue) -> Check:
    """Check whether the distances from the number before are close to one value more often than by chance."""
    said = say.say(
        "bouler {bouler}, {arrow}: the numbers of {count} launches lie about {pockets} pockets clockwise from the "
        "number before",
        bouler=one.bouler or "?",
        arrow=arrow_of(one),
        count=one.coups,
        pockets=one.pockets,
    )
    action = say.say(
        "Nothing is wrong with the wheel. Ask the bouler to change the speeds of the rotor and of the launch from coup "
        "to coup, and watch who bets after his launches."
    )
    return Check(code="signature", p=one.p, said=said, action=action)
