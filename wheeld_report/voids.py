"""Void coups by cause, and coups that the sensors did not decide, over time."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter

import msgspec

from wheeld.core.catalogue import Catalogue
from wheeld_report.checks import Check, more_late, more_than
from wheeld_report.wheel import WheelRecord

SLICES = 12
BREAKDOWN = "breakdown"
TOLERATED = 1.5
"""In the second half, a cause may occur this many times as often: other people at the table may cause that."""
UNDECIDED_TOLERATED = 0.05
"""The share of all coups that may be undecided. People who touch the rotor or lift the ball cause some."""
VOIDS_MIN = 20
"""The fewest voids in which a change is likely to be found. With fewer, a cause that became three times as frequent
would be found on fewer than four of five wheels."""


class CauseShare(msgspec.Struct, frozen=True):
    """`slices`: the voids of this cause in each twelfth of the verdicts."""

    cause: str
    count: int
    slices: list[int]
    enough: bool


class Voids(msgspec.Struct, kw_only=True):
    """`verdicts`: how many coups were valid or void. `undecided`: how many were void for a breakdown, had a number by
    the chef's word, or were observed by no sensor. `undecided_late`: those of `undecided` in the second half."""

    verdicts: int
    undecided: int
    undecided_late: int
    causes: list[CauseShare]
    slice_starts_utc_us: list[int]
    checks: list[Check]


def voids(wheel: WheelRecord, say: Catalogue) -> Voids:
    """Count the voids by cause, the most frequent cause first, and the coups that the sensors did not decide."""
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
        causes.append(CauseShare(name, count, slices, enough=count >= VOIDS_MIN))
        # This check asks whether the cause has become more frequent.
        of_late = sum(at >= middle for at in of_cause)
        said = say.say(
            "{count} of {total} voids of the cause {cause} were in the second half of the period",
            count=of_late,
            total=count,
            cause=name,
        )
        action = say.say(
            "Look at these coups with wheeld journal show. If people caused them, tell the boulers and the chef. If "
            "sensors or the mechanism caused them, run wheeld doctor."
        )
        p = more_late(of_late, count, late / total, TOLERATED)
        checks.append(Check(code="voids_rising", p=p, said=said, action=action))
    undecided = [
        *(void.at_utc_us for void in wheel.voids if void.cause == BREAKDOWN),
        *(coup.at_utc_us for coup in wheel.coups if coup.is_chefs_word),
        *wheel.unobserved_utc_us,
    ]
    undecided_late = sum(at >= middle for at in undecided)
    if undecided:
        action = say.say(
            "Look at these coups with wheeld journal show: what did the sensors miss? Run wheeld doctor, and check "
            "that the encoder's disc sits firmly."
        )
        count = len(undecided)
        many = say.say("the sensors did not decide {count} of {total} coups", count=count, total=total)
        more = say.say(
            "{late} of {count} coups that the sensors did not decide were in the second half of the period",
            late=undecided_late,
            count=count,
        )
        p = more_than(min(count, total), total, UNDECIDED_TOLERATED)
        checks.append(Check(code="undecided", p=p, said=many, action=action))
        p = more_late(undecided_late, count, late / total, TOLERATED)
        checks.append(Check(code="undecided_rising", p=p, said=more, action=action))
    return Voids(
        verdicts=total,
        undecided=len(undecided),
        undecided_late=undecided_late,
        causes=causes,
        slice_starts_utc_us=starts,
        checks=checks,
    )
