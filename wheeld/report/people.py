"""The direction in which each bouler launches. On a wheel that turns both ways, each direction has about half of the
coups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from wheeld.core.catalogue import Catalogue
from wheeld.report.checks import POWER_MIN, Check, interval, more_than, power_of_share
from wheeld.report.wheel import ValidCoup

TOLERATED = 0.6
"""The part of a bouler's launches that may go in one direction, because boulers do not count them."""
EFFECT = 0.8
"""The part that a sample must be large enough to find."""
ONE_WAY = 0.95
"""A table that launches at least this part in one direction does so on purpose, as every Fair wheel does."""


class Directions(msgspec.Struct, frozen=True):
    """One bouler's launches. `bouler` is None if he was not reported. The interval is made for all boulers together."""

    bouler: str | None
    cw: int
    ccw: int
    share_cw_low: float
    share_cw_high: float
    enough: bool


class Balance(msgspec.Struct, kw_only=True):
    """`one_way`: the whole table launches in one direction, so no bouler is compared with a half."""

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
    return Balance(one_way=one_way, boulers=boulers, checks=[] if one_way else [_check(one, say) for one in boulers])


def _check(one: Directions, say: Catalogue) -> Check:
    total, most = one.cw + one.ccw, max(one.cw, one.ccw)
    said = say.say(
        "bouler {bouler} launched {count} of {total} balls in one direction",
        bouler=one.bouler or "?",
        count=most,
        total=total,
    )
    action = say.say("Nothing is wrong with the wheel. Ask the bouler to change the direction from coup to coup.")
    return Check(code="direction_balance", p=min(1.0, 2 * more_than(most, total, TOLERATED)), said=said, action=action)
