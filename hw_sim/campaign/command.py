"""`hw-sim campaign`: plays thousands of coups, compares every verdict with the truth, and writes a report."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hw_sim.campaign import page, pictures, plots, report
from hw_sim.campaign.black_box import find
from hw_sim.campaign.evening_run import CampaignPlan, EveningRun, run_evenings
from hw_sim.evening import AMERICANS
from hw_sim.exits import EXIT_FAILED, writing

FALSE_VOIDS_MAX = 1e-4
"""The allowed share of false voids at the default rates of faults. Players go away if a valid coup is called void."""
HARD_FALSE_VOIDS_MAX = 0.1
"""The allowed share of false voids with more faults than any table has, or with short launches only. Then a void is
often the right answer, because the sensors miss too much. But more than one in ten would mean that the trackers do not
work."""
OUT = Path(".wheeld-campaign")
NAMED_MOST = 20
"""The most disagreements that the command prints. The report contains all of them."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "campaign",
        help="test wheeld with thousands of coups",
        description="Play evenings with sensor faults into `wheeld replay -` and compare every verdict with the truth. "
        "Exit code 0 only if no void was published as a result, no number was wrong, no void came after a number was "
        "out, a fault explains every disagreement, and false voids are rare enough. Otherwise exit code 1.",
    )
    parser.add_argument("--coups", type=_positive, default=1000, metavar="N", help="at least N, in whole evenings")
    parser.add_argument("--jobs", type=_positive, default=os.cpu_count() or 1, metavar="J", help="evenings in parallel")
    parser.add_argument("--out", type=Path, default=OUT, metavar="DIR", help=f"where the report goes (default {OUT})")
    parser.add_argument("--seed", default="0", metavar="S", help="random seed: the same seed gives the same report")
    add_plan(parser)
    parser.set_defaults(run=run)


def add_plan(parser: argparse.ArgumentParser) -> None:
    """Declare the options that `hw-sim coup` also needs to play one coup again, and the program under test."""
    parser.add_argument("--faults", type=float, default=1.0, metavar="X", help="factor of the default fault rates")
    parser.add_argument(
        "--people",
        type=float,
        default=1.0,
        metavar="X",
        help="factor of how often people press early, late, twice and wrongly (0: never)",
    )
    parser.add_argument(
        "--americans",
        type=float,
        default=AMERICANS,
        metavar="SHARE",
        help=f"share of the evenings on an American wheel (default {AMERICANS:g}; 1: all)",
    )
    parser.add_argument("--margin", action="store_true", help="launches of two to four laps only")
    parser.add_argument("--wheeld", type=Path, metavar="FILE", help="wheeld's path (default: beside Python or on PATH)")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def run(args: argparse.Namespace) -> int:
    """Run the campaign and write its report. Returns the exit code. Raises UnavailableError, FileError."""
    pictures.require("matplotlib", "rich")  # before the campaign runs for hours
    from rich.console import Console  # noqa: PLC0415  rich is optional
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    wheeld = find(args.wheeld)
    with writing():
        args.out.mkdir(parents=True, exist_ok=True)
        plan = CampaignPlan(args.seed, args.faults, args.margin, args.people, args.americans)
        evening_runs: list[EveningRun] = []
        began_s = time.perf_counter()
        text = TextColumn("{task.fields[disagreements]} disagreements")
        columns = (TextColumn("coups"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), text)
        with Progress(*columns, console=Console(stderr=True)) as progress:
            task = progress.add_task("coups", total=args.coups, disagreements=0)
            for evening_run in run_evenings(plan, args.coups, args.jobs, wheeld):
                evening_runs.append(evening_run)
                found_now = sum(len(one.explained) for one in evening_runs)
                progress.update(task, advance=len(evening_run.rows), disagreements=found_now)
        wall_s = time.perf_counter() - began_s
        hard = args.margin or args.faults > 1
        allowed = HARD_FALSE_VOIDS_MAX if hard else FALSE_VOIDS_MAX
        found = report.report(plan, args.coups, evening_runs, wall_s, allowed)
        rows = [row for one in evening_runs for row in one.rows]
        early_warnings = [warning for one in evening_runs for warning in one.early_warnings]
        html = page.page(found, plots.plots(rows, early_warnings, found))
        (args.out / "report.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        (args.out / "report.html").write_text(html, encoding="utf-8")
        sys.stdout.write("".join(f"{line}\n" for line in _summary(found, args.out)))
        return EXIT_FAILED if found["failures"] else 0


def _summary(found: dict[str, Any], out: Path) -> Iterator[str]:
    plan, voids = found["campaign"], found["false_voids"]
    hurry = "" if plan["people"] == 1 else f", people × {plan['people']:g}"
    margin = ", margin" if plan["margin"] else ""
    timing = found["timing"]
    yield (
        f"seed {plan['seed']}, faults × {plan['faults']:g}{hurry}{margin}: {found['coups']:,} coups, "
        f"{timing['coups_per_s']} a second (limited by {timing['limited_by']})"
    )
    yield ", ".join(f"{kind} {number:,}" for kind, number in found["counts"].items() if number)
    yield f"false voids: {voids['count']} of {voids['valid_coups']:,} valid coups, {voids['share']:.2e}"
    idle = found["idle_suspensions"]
    yield f"idle suspensions: {idle['count']} of {found['coups']:,} coups, {idle['share']:.2e}"
    yield from (f"  suspended by {', '.join(one['failing'])}; {one['replay']}" for one in idle["all"][:NAMED_MOST])
    # Unexplained disagreements come first: they are defects of the daemon.
    disagreements = sorted(found["disagreements"], key=lambda each: each["explained"])
    for each in disagreements[:NAMED_MOST]:
        cause = " or ".join(each["causes"]) if each["explained"] else "UNEXPLAINED"
        yield f"  {each['kind']}: truth {each['truth']}, published {each['told']}; {cause}; {each['replay']}"
    if len(disagreements) > NAMED_MOST:
        yield f"  and {len(disagreements) - NAMED_MOST} more"
    yield from (f"  failed: evening {each['evening']}: {each['words']}" for each in found["failed"])
    yield f"report: {out / 'report.html'}"
    yield "FAILED: " + "; ".join(found["failures"]) if found["failures"] else "passed"
