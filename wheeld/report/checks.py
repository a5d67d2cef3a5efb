"""One question to the wheel, its answer, and the promise about all of them together.

The promise: of a hundred wheels with nothing wrong, at most one is accused of anything. Every check gives the chance of
what was found, or more, at a wheel within the check's tolerance. The numbers, which are what a wheel is for, have half
of the hundredth; all other checks share the other half equally (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec
from scipy import stats

FALSE_ALARMS = 0.01
"""Of wheels with nothing wrong: so many may be accused."""
NUMBERS_PART = 0.5
NUMBERS_CHECKS = 4
"""Chi-square; sectors of all coups, of the second half and of the last weeks. Their limit must be known before their
power is reckoned, so each has its part also where it is not asked."""
NUMBERS_LIMIT = FALSE_ALARMS * NUMBERS_PART / NUMBERS_CHECKS
OTHERS_LIMIT = 6e-5
"""Power of other checks is reckoned with this limit: they are eighty at a large table."""
POWER_MIN = 0.8
"""Less than this is too small a sample: of five wheels with that fault, more than one would not be found."""
CONFIDENCE = 0.95

Group: TypeAlias = Literal["numbers", "others"]


class Check(msgspec.Struct, kw_only=True):
    """`p`: the chance of what was found, or more, where nothing is wrong. `said` and `action`: what was found and what
    to do, for people, if it counts. `held_to` and `found`: filled in when all checks are known."""

    code: str
    p: float
    said: str
    action: str
    group: Group = "others"
    held_to: float = 0.0
    found: bool = False


def judge(checks: Sequence[Check]) -> list[Check]:
    """Hold each to its limit. Returns those that were found, the surest first."""
    others = sum(check.group == "others" for check in checks)
    for check in checks:
        check.held_to = NUMBERS_LIMIT if check.group == "numbers" else FALSE_ALARMS * (1 - NUMBERS_PART) / others
        check.found = check.p <= check.held_to
    return sorted((check for check in checks if check.found), key=lambda check: (check.group, check.p))


def more_than(count: int, of: int, share: float) -> float:
    """The chance of `count` or more where the share is at most `share`."""
    return float(stats.binomtest(count, of, share, alternative="greater").pvalue) if of else 1.0


def more_late(late: int, count: int, share: float, times: float) -> float:
    """The chance that so many of `count` fell in the later part, which has `share` of the coups, where a coup there is
    at most `times` as likely as before to be one of them."""
    return more_than(late, count, times * share / (1 - share + times * share))


def confidence_of_each(among: int) -> float:
    """Of each of so many, where all of them together have the confidence (Bonferroni)."""
    return 1 - (1 - CONFIDENCE) / among


def interval(count: int, of: int, among: int = 1) -> tuple[float, float]:
    """The share with its confidence (Wilson), which is that of all together where so many are looked at."""
    if not of:
        return 0.0, 1.0
    found = stats.binomtest(count, of).proportion_ci(confidence_of_each(among), method="wilson")
    return float(found.low), float(found.high)


def power_of_share(of: int, tolerated: float, true: float) -> float:
    """How surely `more_than` finds a share of `true` in so many."""
    return float(stats.binom.sf(stats.binom.isf(OTHERS_LIMIT, of, tolerated), of, true)) if of else 0.0
