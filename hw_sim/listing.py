"""`hw-sim scenarios`: prints the names of the scenarios, with a sentence about each."""

from __future__ import annotations

import argparse
import sys

from hw_sim.scenarios import SCENARIOS


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser("scenarios", help="list the scenarios", description=__doc__)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:  # noqa: ARG001  `cli` calls every subcommand with its options
    """Print the list. Returns the exit code."""
    width = max(map(len, SCENARIOS))
    for name, scenario in sorted(SCENARIOS.items()):
        sys.stdout.write(f"{name:{width}}  {scenario.about}\n")
    return 0
