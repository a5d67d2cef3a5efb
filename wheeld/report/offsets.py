"""How far on the rotor each number lies from the one before, by bouler and direction: a bouler's signature.

A bouler takes the ball out of the last pocket and launches it there. Who always launches and turns alike may bring it
to rest the same way further on. On a rotor whose angle nobody chose every way is as likely.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

import msgspec
import numpy as np
from scipy import stats

from wheeld.core.catalogue import Catalogue
from wheeld.report.checks import Check
from wheeld.report.wheel import ValidCoup

HARMONICS = np.array((1, 2))
"""A sector of a third to a half of the rotor shows in the first, a narrower one in both."""
COUPS_MIN = 40
"""With fewer even a bouler who brings half of the balls to one quarter of the rotor would be found in few cases."""


class Offsets(msgspec.Struct, frozen=True):
    """One bouler's coups in one direction that followed another number. `pockets`: how far clockwise most lie from the
    number before; `strength`: 0 where all ways are as likely, 1 where it is always the same."""

    bouler: str | None
    direction: str
    coups: int
    pockets: int
    strength: float
    p: float


def offsets(coups: Sequence[ValidCoup], pockets: int) -> list[Offsets]:
    """Of each bouler and direction with enough coups."""
    ways: dict[tuple[str | None, str], list[int]] = defaultdict(list)
    for before, after in pairwise(coups):
        # After a void the ball did not lie in the last number.
        if after.coup == before.coup + 1 and after.ball_direction is not None:
            ways[after.bouler, after.ball_direction].append((after.pocket - before.pocket) % pockets)
    return [_offsets(*key, found, pockets) for key, found in ways.items() if len(found) >= COUPS_MIN]


def _offsets(bouler: str | None, direction: str, found: Sequence[int], pockets: int) -> Offsets:
    """Rayleigh's test of each harmonic; their sum is chi-square, which a fair wheel exceeds more seldom still."""
    turns = np.exp(2j * np.pi * np.outer(HARMONICS, found) / pockets)
    means = turns.mean(axis=1)
    statistic = float(2 * len(found) * (np.abs(means) ** 2).sum())
    middle = round(float(np.angle(means[0])) / (2 * np.pi) * pockets) % pockets
    p = float(stats.chi2.sf(statistic, 2 * len(HARMONICS)))
    return Offsets(bouler, direction, len(found), middle, float(np.abs(means[0])), p)


def arrow_of(one: Offsets) -> str:
    """The direction of the ball, for people."""
    return "↻" if one.direction == "cw" else "↺"


def check_of(one: Offsets, say: Catalogue) -> Check:
    """Whether the numbers lie around one place more than chance has it."""
    said = say.say(
        "bouler {bouler}, {arrow}: the numbers of {count} launches lie around {pockets} pockets clockwise of the one "
        "before",
        bouler=one.bouler or "?",
        arrow=arrow_of(one),
        count=one.coups,
        pockets=one.pockets,
    )
    action = say.say(
        "Nothing is wrong with the wheel. Ask the bouler to change the speeds of the rotor and of the launch from coup "
        "to coup, and look who bets after his launches."
    )
    return Check(code="signature", p=one.p, said=said, action=action)
