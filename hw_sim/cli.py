"""The command `hw-sim`. Each subcommand is a module: `add(subparsers)` declares it and the function that runs it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from hw_sim import demo, disc, listing, record, run, wiring
from hw_sim.cammegh import command as cammegh
from hw_sim.campaign import command as campaign
from hw_sim.campaign import coup_command, drawing
from hw_sim.exits import CommandError

COMMANDS = (demo, run, record, listing, campaign, coup_command, drawing, cammegh, disc, wiring)
"""For a new subcommand, write a module and add its name here."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    whole = argparse.ArgumentParser(
        prog="hw-sim",
        description="A simulated roulette wheel: its physics, its sensors and the people at the table.",
        epilog="Exit codes: 0 success, 1 a verdict was wrong, 2 the command line is wrong, 65 the input is not a valid "
        "observation log or configuration, 69 a program or a package is missing or has failed, 73 a file cannot be "
        "written.",
    )
    subparsers = whole.add_subparsers(required=True, dest="command", metavar="COMMAND")
    for command in COMMANDS:
        command.add(subparsers)
    return whole


def main(argv: Sequence[str] | None = None) -> int:
    """Run the subcommand that `argv` names. Returns the exit code."""
    args = parser().parse_args(argv)
    try:
        code: int = args.run(args)
        sys.stdout.flush()
    except CommandError as error:
        sys.stderr.write(f"hw-sim {args.command}: {error}\n")
        return error.exit_code
    except BrokenPipeError:
        # The program that reads our output has ended. At exit Python would report an error, because it cannot flush the
        # rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code
