"""`hw-sim record`: writes an evening as an observation log, with its truth in a second file."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from hw_sim import log
from hw_sim.evening import draw_evening, script
from hw_sim.events import SimEvent
from hw_sim.exits import writing
from hw_sim.faults import GROSS, Rates, add_faults


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser("record", help="write an observation log and its truth", description=__doc__)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="the log; compressed if the name ends in .gz"
    )
    parser.add_argument("--truth", type=Path, metavar="FILE", help="the truth (default: beside the log, .truth.json)")
    faults = parser.add_mutually_exclusive_group()
    faults.add_argument(
        "--noise", action="store_true", help="sensors with faults at ordinary rates, without gross faults"
    )
    faults.add_argument("--faults", type=float, metavar="X", help="all faults, also gross ones, at X times their rates")
    parser.add_argument(
        "--scenario", nargs="+", metavar="NAME", help="scenarios to play, in order (hw-sim scenarios lists them)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="random seed; without --scenario everything is drawn from it"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write both files. Returns the exit code. Raises UsageError, FileError."""
    evening = script(args.scenario, args.seed) if args.scenario else draw_evening(args.seed)
    events: Iterable[SimEvent] = evening.events()
    truth = evening.truth
    if args.noise or args.faults is not None:
        rates = Rates() if args.noise else Rates().times(args.faults)
        faulty = add_faults(evening, f"record {args.seed}", rates, without=GROSS if args.noise else frozenset())
        events, truth = faulty.events, faulty.truth
    with writing():
        log.write(args.out, evening.header, events)
        log.write_truth(args.truth or log.truth_path(args.out), truth)
    return 0
