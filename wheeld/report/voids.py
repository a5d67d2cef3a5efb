"""Void coups by cause over time."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter

import msgspec

from wheeld.core.catalogue import Catalogue
from wheeld.report.checks import Check, more_than
from wheeld.report.wheel import Wheel

SLICES = 12
TOLERATED = 1.5
"""How many times as often in the second half: what other people at the table may do."""
VOIDS_MIN = 20
"""Of one cause: with fewer even three times as many would be found in less than four of five wheels."""


class Cause(msgspec.Struct, frozen=True):
    """`slices`: in each twelfth of the verdicts."""

    cause: str
    count: int
    slices: list[int]
    enough: bool


class Voids(msgspec.Struct, kw_only=True):
    """`verdicts`: valid and void coups."""

    verdicts: int
    causes: list[Cause]
    slice_starts_utc_us: list[int]
    checks: list[Check]


def voids(wheel: Wheel, say: Catalogue) -> Voids:
    """The most frequent causes first."""
    times = sorted(one.at_utc_us for one in wheel.verdicts)
    total = len(times)
    starts = [times[total * each // SLICES] for each in range(SLICES)] if times else []
    middle = times[total // 2] if times else 0
    late = total - bisect_left(times, middle)
    causes, checks = [], []
    for name, count in Counter(void.cause for void in wheel.voids).most_common():
        of_cause = [void.at_utc_us for void in wheel.voids if void.cause == name]
        edges = [bisect_left(of_cause, start) for start in starts] + [count]
        slices = [edges[at + 1] - edges[at] for at in range(SLICES)]
        causes.append(Cause(name, count, slices, enough=count >= VOIDS_MIN))
        checks.append(_check(name, sum(at >= middle for at in of_cause), count, late / total, say))
    return Voids(verdicts=total, causes=causes, slice_starts_utc_us=starts, checks=checks)


def _check(cause: str, late: int, count: int, share: float, say: Catalogue) -> Check:
    """`share`: of the verdicts that fell in the second half."""
    said = say.say(
        "{count} of {total} voids of the cause {cause} fell in the second half of the period",
        count=late,
        total=count,
        cause=cause,
    )
    action = say.say(
        "Look at these coups with wheeld journal show. Tell the boulers and the chef what people did; where sensors or "
        "the mechanism did it, run wheeld doctor."
    )
    tolerated = TOLERATED * share / (1 - share + TOLERATED * share)
    return Check(code="voids_rising", p=more_than(late, count, tolerated), said=said, action=action)
