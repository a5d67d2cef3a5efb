"""One check of a wheel and its outcome, and the promise for all checks together.

The promise: of a hundred wheels with nothing wrong, at most one gets any finding. Each check gives the chance that a
wheel within the check's tolerance shows at least as much as was found. The checks of the numbers share half of this
limit of one in a hundred, because the numbers matter most. All other checks share the other half equally (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
from scipy import stats

FALSE_ALARMS = 0.01
"""The share of the wheels with nothing wrong that may get a finding."""
NUMBERS_PART = 0.5
NUMBERS_CHECKS = 4
"""How many checks of the numbers there may be: chi-square, and three of sectors (of all coups, of the second half, of
the last weeks). The limit must be known before the power is computed, so each check has its share of the limit even if
it is not made."""
NUMBERS_LIMIT = FALSE_ALARMS * NUMBERS_PART / NUMBERS_CHECKS
OTHERS_LIMIT = 6e-5
"""The limit with which the power of all checks except those of the numbers is computed. The report of a large table has
eighty of them."""
POWER_MIN = 0.8
"""With less power a sample is too small: of five wheels with the fault, the check would miss more than one."""
CONFIDENCE = 0.95


class Check(msgspec.Struct, kw_only=True):
    """`p`: the chance of finding this or more if nothing is wrong. `said` and `action`: what was found and what to do,
    for people, if the check is a finding. `held_to` (the limit of `p`) and `found` are filled in when all checks are
    known."""

    code: str
    p: float
    said: str
    action: str
    group: Literal["numbers", "others"] = "others"
    held_to: float = 0.0
    found: bool = False


def judge(checks: Sequence[Check]) -> list[Check]:
    """Compare each check with its limit. Return the findings, the surest first."""
    others = sum(check.group == "others" for check in checks)
    for check in checks:
        check.held_to = NUMBERS_LIMIT if check.group == "numbers" else FALSE_ALARMS * (1 - NUMBERS_PART) / others
        check.found = check.p <= check.held_to
    return sorted((check for check in checks if check.found), key=lambda check: (check.group, check.p))


def more_than(count: int, of: int, share: float) -> float:
    """Return the chance of `count` or more in a sample of `of`, if their true share is `share`."""
    return float(stats.binomtest(count, of, share, alternative="greater").pvalue) if of else 1.0


def more_late(late: int, count: int, share: float, times: float) -> float:
    """Return the chance that at least `late` of `count` coups of one kind are in the later part of all coups. `share`:
    the share of all coups that are in this part. `times`: a coup of this kind is at most this many times as likely
    there."""
    return more_than(late, count, times * share / (1 - share + times * share))


def confidence_of_each(among: int) -> float:
    """Return the confidence that each of `among` intervals needs, so that all together have `CONFIDENCE`
    (Bonferroni)."""
    return 1 - (1 - CONFIDENCE) / among


def interval(count: int, of: int, among: int = 1) -> tuple[float, float]:
    """Return the interval of a share (Wilson). `among`: how many intervals share the confidence `CONFIDENCE`."""
    if not of:
        return 0.0, 1.0
    found = stats.binomtest(count, of).proportion_ci(confidence_of_each(among), method="wilson")
    return float(found.low), float(found.high)


def power_of_share(of: int, tolerated: float, true: float) -> float:
    """Return the chance that `more_than` finds a share of `true` in a sample of `of`."""
    return float(stats.binom.sf(stats.binom.isf(OTHERS_LIMIT, of, tolerated), of, true)) if of else 0.0
