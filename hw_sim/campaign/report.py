"""Counts the results of a campaign. The report consists of JSON values, and has everything except the pictures."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from itertools import groupby
from statistics import fmean, median
from typing import Any, TypeVar

from hw_sim.campaign.comparison import AGREEING, KINDS, Kind
from hw_sim.campaign.evening_run import CampaignPlan, EveningRun
from hw_sim.campaign.rows import EarlyWarning, VerdictRow

LAPS_SLACK = 0.02
"""Tolerance in laps, because the truth has only two decimals."""
NEARLY = (3.0, 3.3)
"""A run whose laps are in this range may have too few passes to prove three laps."""
LOWEST_MARGINS = 10
"""The report lists this many coups: those with the lowest margins."""
FALSE_VOIDS_ANY = 2
"""How many false voids any campaign may have. In a short campaign, the allowed share would be less than one void."""
ASKED_ANY, ASKED_SHARE = 2, 1e-4
"""How often the chef may have to confirm a number although the script expects a proof: twice in any campaign, or once
in ten thousand valid coups if that is more."""
IDLE_SUSPENSIONS_ANY, IDLE_SUSPENSIONS_SHARE = 1, 1e-5
"""How many suspensions of an idle table may be without an explanation: one, or one in a hundred thousand coups if that
is more."""

STRAY_SCENARIOS, OWN_STRAY = ("stray_pulse", "stray_idle"), "the scenario's own stray"
"""Scenarios with a stray pulse of their own. This pulse is the cause of a false void that no fault explains."""

NEVER: dict[Kind, str] = {
    "false_valid": "results where there was no result",
    "wrong_number": "wrong numbers",
    "void_after_number": "voids after the number was out",
}
"""No campaign may have one of these, whatever explains it."""

Key = TypeVar("Key", int, str)


def report(
    plan: CampaignPlan, asked: int, evening_runs: Sequence[EveningRun], wall_s: float, false_voids_max: float
) -> dict[str, Any]:
    """Return the whole report of a campaign that took `wall_s`. Except for `timing`, it depends only on the plan and
    the programs."""
    rows = [row for evening_run in evening_runs for row in evening_run.rows]
    disagreements = [
        _disagreement(plan, evening_run, row)
        for evening_run in evening_runs
        for row in evening_run.rows
        if row.kind not in AGREEING
    ]
    valid = sum(row.truth == "result" for row in rows)
    counts = {kind: sum(row.kind == kind for row in rows) for kind in KINDS}
    false_voids = counts["false_void"]
    idle = [one for evening_run in evening_runs for one in evening_run.idle_suspensions]
    known = sorted(((row.margin, row.coup, row) for row in rows if row.margin is not None), key=lambda x: x[:2])
    tenths = Counter(min(9, int(margin * 10)) for margin, _, _ in known)
    nearly = [row for row in rows if row.laps_run is not None and NEARLY[0] <= row.laps_run < NEARLY[1]]
    failed = [
        {"evening": plan.named(evening_run.index), "words": evening_run.failed}
        for evening_run in evening_runs
        if evening_run.failed
    ]
    share = false_voids / valid if valid else 0.0
    simulator_s = sum(one.simulator_s for one in evening_runs)
    black_box_s = sum(one.black_box_s for one in evening_runs)
    slower = "the simulator" if simulator_s > black_box_s else "wheeld"
    cores = (simulator_s + black_box_s) / wall_s
    unexplained = sum(not each["explained"] for each in disagreements)
    asked_max = math.inf if plan.faults > 1 or plan.margin else max(ASKED_ANY, ASKED_SHARE * valid)
    idle_max = math.inf if plan.faults > 1 else max(IDLE_SUSPENSIONS_ANY, IDLE_SUSPENSIONS_SHARE * len(rows))
    failures = [
        *((counts[kind], f"{counts[kind]} {words} ({kind})") for kind, words in NEVER.items()),
        (unexplained, f"{unexplained} disagreements that no fault explains"),
        (len(failed), f"{len(failed)} evenings ended by an error"),
        (
            false_voids > max(FALSE_VOIDS_ANY, false_voids_max * valid),
            f"{false_voids} false voids of {valid} valid coups, more than one in {1 / false_voids_max:,.0f}",
        ),
        (not rows, "nothing was compared"),
        (
            counts["asked"] > asked_max,
            f"in {counts['asked']} of {valid} valid coups the chef must confirm the number",
        ),
        (
            len(idle) > idle_max,
            f"{len(idle)} suspensions of an idle table that no gross fault explains in {len(rows):,} coups",
        ),
    ]
    return {
        "campaign": {**asdict(plan), "coups_asked": asked, "evenings": len(evening_runs)},
        "failures": [words for wrong, words in failures if wrong],
        "coups": len(rows),
        "counts": counts,
        "false_voids": {"count": false_voids, "valid_coups": valid, "share": share, "share_max": false_voids_max},
        "idle_suspensions": {
            "count": len(idle),
            "share": len(idle) / len(rows) if rows else 0.0,
            "all": [{**asdict(one), "replay": f"hw-sim coup {one.coup}{plan.options()}"} for one in idle],
        },
        # A result with a wrong number has its own column.
        "confusion": _tables(
            (row.truth, "another number" if row.kind == "wrong_number" else row.verdict) for row in rows
        ),
        "void_delay_ms": {cause: _delay(voids) for cause, voids in voids_by_cause(rows).items()},
        "margin": {
            "known": len(known),
            "tenths": [tenths[tenth] for tenth in range(10)],
            "of": dict(sorted(Counter(str(row.margin_of) for _, _, row in known).items())),
            "lowest": [
                {"coup": coup, "margin": margin, "of": row.margin_of, "told": row.verdict}
                for margin, coup, row in known[:LOWEST_MARGINS]
            ],
        },
        "laps": {
            str(beams): {
                "coups": len(unseen),
                "unseen_mean": round(fmean(unseen), 3),
                "unseen_most": round(max(unseen), 2),
                "overstated": sum(each < -LAPS_SLACK for each in unseen),
            }
            for beams, both in laps_by_beams(rows).items()
            for unseen in [[run - seen for run, seen in both]]
        },
        # For each number of beams: how many balls ran slightly more than three laps, and for how many of them the
        # passes did not prove three laps.
        "unproven": {
            str(beams): {"ran": len(some), "unproven": unproven, "share": unproven / len(some)}
            for beams, some in grouped(nearly, lambda row: row.beams).items()
            for unproven in [sum(row.kind == "unproven" for row in some)]
        },
        "warnings": _warnings([warning for evening_run in evening_runs for warning in evening_run.early_warnings]),
        "disagreements": disagreements,
        "scenarios": _tables((row.scenario or "none", row.kind) for row in rows),
        "refused": [plan.named(evening_run.index) for evening_run in evening_runs if evening_run.refused],
        "failed": failed,
        "timing": {
            "wall_s": round(wall_s, 2),
            "simulator_s": round(simulator_s, 2),
            "black_box_s": round(black_box_s, 2),
            "coups_per_s": round(len(rows) / wall_s, 1),
            "cores_busy": round(cores, 2),
            "limited_by": f"{slower}: {simulator_s:.1f} s of processor in the simulator, "
            f"{black_box_s:.1f} s in wheeld, {cores:.2f} cores busy",
        },
    }


def grouped(rows: Iterable[VerdictRow], key: Callable[[VerdictRow], Key]) -> dict[Key, list[VerdictRow]]:
    """Group the rows by their key, in the order of the keys."""
    return {value: list(some) for value, some in groupby(sorted(rows, key=key), key)}


def _disagreement(plan: CampaignPlan, evening_run: EveningRun, row: VerdictRow) -> dict[str, Any]:
    cause = evening_run.explained[row.coup]
    # The scenario's own stray pulse may make a coup void, but it must never make a wrong number.
    is_by_own_stray = row.scenario in STRAY_SCENARIOS and row.kind == "false_void"
    causes = list(cause.causes) or ([OWN_STRAY] if is_by_own_stray else [])
    return {
        "coup": row.coup,
        "kind": row.kind,
        "truth": row.truth if row.number is None else f"result {row.number}",
        "told": row.verdict if row.verdict_number is None else f"result {row.verdict_number}",
        "scenario": row.scenario,
        "explained": cause.found or bool(causes),
        "causes": causes,
        "together": cause.together,
        "alone": cause.alone,
        "harms": list(cause.strikes),
        "replay": f"hw-sim coup {row.coup}{plan.options()}",
    }


def _tables(pairs: Iterable[tuple[str, str]]) -> dict[str, dict[str, int]]:
    counted = Counter(pairs)
    table: dict[str, dict[str, int]] = {}
    for (first, second), number in sorted(counted.items()):
        table.setdefault(first, {})[second] = number
    return table


def voids_by_cause(rows: Iterable[VerdictRow]) -> dict[str, list[VerdictRow]]:
    """Return the voids whose delay is known, by their true cause, in the order of the causes."""
    return grouped((row for row in rows if row.delay_us is not None), lambda row: row.truth)


def _delay(rows: list[VerdictRow]) -> dict[str, float | int | None]:
    delays = sorted(row.delay_us for row in rows if row.delay_us is not None)
    left = [row.allowed_us - row.delay_us for row in rows if row.allowed_us is not None and row.delay_us is not None]
    return {
        "voids": len(delays),
        "median": median(delays) / 1e3,
        "p99": delays[len(delays) * 99 // 100] / 1e3,
        "most": delays[-1] / 1e3,
        "least_before_deadline": min(left) / 1e3 if left else None,
        "late": sum(row.kind == "late" for row in rows),
    }


def laps_by_beams(rows: Iterable[VerdictRow]) -> dict[int, list[tuple[float, float]]]:
    """Return (laps run, laps proven) of every coup with a right result, by the number of beams, smallest first."""
    laps: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for row in rows:
        if row.kind == "right" and row.laps_run is not None and row.laps_seen is not None:
            laps[row.beams].append((row.laps_run, row.laps_seen))
    return dict(sorted(laps.items()))


def _warnings(early_warnings: Sequence[EarlyWarning]) -> dict[str, Any]:
    counts = Counter(each.of for each in early_warnings)
    foreseen = [each for each in early_warnings if each.of == "foreseen"]
    errors = [abs(each.error_us) for each in early_warnings if each.error_us is not None]
    return {
        **{of: counts[of] for of in ("foreseen", "unforeseen", "false", "moot", "leaving")},
        "before_left_ms": _spread([each.before_left_us for each in foreseen if each.before_left_us is not None]),
        "before_void_ms": _spread([each.before_void_us for each in foreseen if each.before_void_us is not None]),
        "leaving_error_ms": _spread(errors),
    }


def _spread(times_us: list[int]) -> dict[str, float] | None:
    if not times_us:
        return None
    ordered = sorted(times_us)
    return {"least": ordered[0] / 1e3, "median": median(ordered) / 1e3, "most": ordered[-1] / 1e3}
