"""Compares the numbers with chance: each number (chi-square), and sectors of the rotor (of many sectors, the one that
deviates most).

Successive numbers of a wheel are practically independent, because the angle of the rotor at a launch is random.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from math import ceil

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

from wheeld.core.catalogue import Catalogue, translatable
from wheeld.core.pockets import PocketLayout, label_of
from wheeld_report.checks import NUMBERS_LIMIT, POWER_MIN, Check, interval
from wheeld_report.wheel import ValidCoup

EFFECT_POCKETS, EFFECT_TIMES = 9, 1.5
"""A sample must be large enough to find this fault: a quarter of the rotor comes 1.5 times as often as its share."""
EXPECTED_MIN = 5
"""With fewer expected coups of each number, chi-square is not a good approximation (Cochran's rule)."""
WIDTHS = (1, 2, 3, 5, 9, 12, 18)
"""The widths of the sectors, in pockets. A larger sector shows nothing new, because the rest of the rotor is then a
smaller sector."""
SIMULATED = 20_000
"""How many fair wheels are simulated to find the chance of the largest deviation. The standard error of a chance of 1
in 800 is then a fifth of this chance."""
RECENT_US = 28 * 86_400_000_000
SEED = 1


class Sector(msgspec.Struct, frozen=True):
    """A sector of `width` pockets clockwise from `first`, around `middle`, both as printed on the wheel. `times`: how
    often it came, as a multiple of its share, with the interval from `times_low` to `times_high`."""

    width: int
    first: str
    middle: str
    count: int
    times: float
    times_low: float
    times_high: float
    deviation: float


class NumberCounts(msgspec.Struct, kw_only=True):
    """`counts`: how often each number came, in the order of the rotor, like `labels`. `coups_needed`: the coups that
    give the power `POWER_MIN`. `windows`: for each width, the sector that deviates most. With too few coups
    nothing is compared, and the members with a default keep it."""

    coups: int
    labels: list[str]
    counts: list[int]
    enough: bool
    power: float
    coups_needed: int
    chi_square: float = 0.0
    p_chi_square: float = 1.0
    p_sectors: float = 1.0
    windows: list[Sector] = []
    checks: list[Check] = []


def numbers(coups: Sequence[ValidCoup], pockets: PocketLayout, say: Catalogue) -> NumberCounts:
    """Compare the numbers of these coups with chance."""
    counts = np.bincount([coup.pocket for coup in coups], minlength=pockets.count)
    power = power_of_chi_square(len(coups), pockets.count)
    found = NumberCounts(
        coups=len(coups),
        labels=[label_of(number) for number in pockets.order],
        counts=counts.tolist(),
        enough=power >= POWER_MIN,
        power=power,
        coups_needed=coups_needed(pockets.count),
    )
    if len(coups) < EXPECTED_MIN * pockets.count:
        return found
    chi_square = stats.chisquare(counts)
    found.chi_square, found.p_chi_square = float(chi_square.statistic), float(chi_square.pvalue)
    found.windows, largest, found.p_sectors = _sectors(counts, pockets)
    checks = [
        ("numbers", found.p_chi_square, say.say("the numbers do not come equally often")),
        ("sectors", found.p_sectors, _said(largest, say)),
    ]
    # Also look at the sectors of the later coups alone. A fault that began there is twice as clear as in a comparison
    # with the earlier coups, because the share of a fair wheel is known and need not be measured.
    half = len(coups) // 2
    recent = bisect_left(coups, coups[-1].at_utc_us - RECENT_US, key=lambda coup: coup.at_utc_us)
    parts = [("sectors_second_half", translatable("in the second half of the coups: {found}"), half)]
    if recent > half:
        parts.append(("sectors_recent", translatable("in the last four weeks: {found}"), recent))
    for code, words, first in parts:
        later = np.bincount([coup.pocket for coup in coups[first:]], minlength=pockets.count)
        if later.sum() >= EXPECTED_MIN * pockets.count:
            _, largest, p = _sectors(later, pockets)
            checks.append((code, p, say.say(words, found=_said(largest, say))))
    action = say.say(_ACTION)
    found.checks = [Check(code=code, group="numbers", p=p, said=said, action=action) for code, p, said in checks]
    return found


def _sectors(counts: NDArray[np.int64], pockets: PocketLayout) -> tuple[list[Sector], Sector, float]:
    """Return for each width the sector that deviates most; the one of these that deviates most; and the chance that a
    fair wheel deviates as much."""
    total, windows = int(counts.sum()), []
    for width in WIDTHS:
        deviations = _deviations(counts, width, total)
        first = int(np.argmax(np.abs(deviations)))
        count, share = int(_sums(counts, width)[first]), width / pockets.count
        low, high = interval(count, total)
        windows.append(
            Sector(
                width=width,
                first=label_of(pockets.order[first]),
                middle=label_of(pockets.order[(first + width // 2) % pockets.count]),
                count=count,
                times=count / total / share,
                times_low=low / share,
                times_high=high / share,
                deviation=float(deviations[first]),
            )
        )
    largest = max(windows, key=lambda window: abs(window.deviation))
    fair = _largest_of_fair_wheels(total, pockets.count)
    as_large = SIMULATED - int(np.searchsorted(fair, abs(largest.deviation) - 1e-9))
    # Count this wheel as one of the fair wheels, so that the chance is never 0.
    return windows, largest, (as_large + 1) / (SIMULATED + 1)


_ACTION = translatable(
    "Take the wheel out of play. Check that it is level, that its frets are firm and of one height, and that its "
    "pockets are clean; change the ball. Seal the journal, and make a new report after the same number of new "
    "coups."
)


def power_of_chi_square(coups: int, pockets: int) -> float:
    """Return the chance that chi-square finds the fault of `EFFECT_POCKETS` and `EFFECT_TIMES` in this number of
    coups."""
    if coups < EXPECTED_MIN * pockets:
        return 0.0
    critical = stats.chi2.isf(NUMBERS_LIMIT, pockets - 1)
    # The noncentrality for each coup is the sum of the squared differences from the fair shares, divided by the fair
    # share.
    share = 1 / pockets
    inside = share * EFFECT_TIMES
    outside = (1 - EFFECT_POCKETS * inside) / (pockets - EFFECT_POCKETS)
    effect = (EFFECT_POCKETS * (inside - share) ** 2 + (pockets - EFFECT_POCKETS) * (outside - share) ** 2) / share
    return float(stats.ncx2.sf(critical, pockets - 1, coups * effect))


@lru_cache
def coups_needed(pockets: int) -> int:
    """Return the number of coups in which chi-square finds this fault with the chance `POWER_MIN`."""

    def lacks(coups: float) -> float:
        return power_of_chi_square(round(coups), pockets) - POWER_MIN

    return ceil(optimize.brentq(lacks, EXPECTED_MIN * pockets, 1e5))


def _sums(counts: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Return the count of the sector that begins at each pocket. `counts` may contain many wheels, one in each row."""
    doubled = np.concatenate([counts, counts[..., : width - 1]], axis=-1) if width > 1 else counts
    sums = np.cumsum(doubled, axis=-1)
    sums[..., width:] = sums[..., width:] - sums[..., :-width]
    return sums[..., width - 1 :]


def _deviations(counts: NDArray[np.int64], width: int, total: int) -> NDArray[np.float64]:
    """Return by how many standard deviations the count of each sector differs from its share."""
    share = width / counts.shape[-1]
    away: NDArray[np.float64] = (_sums(counts, width) - total * share) / (total * share * (1 - share)) ** 0.5
    return away


@lru_cache(maxsize=16)
def _largest_of_fair_wheels(total: int, pockets: int) -> NDArray[np.float64]:
    """Return the largest deviation of any sector on each simulated fair wheel with `total` coups, sorted."""
    wheels = np.random.default_rng(SEED).multinomial(total, np.full(pockets, 1 / pockets), size=SIMULATED)
    largest = [np.abs(_deviations(wheels, width, total)).max(axis=1) for width in WIDTHS]
    return np.sort(np.max(largest, axis=0))


def _said(window: Sector, say: Catalogue) -> str:
    parts = {name: say.decimal(round(getattr(window, name), 2)) for name in ("times", "times_low", "times_high")}
    if window.width == 1:
        return say.say(
            "the pocket of {number} came {times} times its share (95 % sure: {times_low} to {times_high})",
            number=window.middle,
            **parts,
        )
    return say.say(
        "the {width} pockets around {number} came {times} times their share (95 % sure: {times_low} to {times_high})",
        width=window.width,
        number=window.middle,
        **parts,
    )
