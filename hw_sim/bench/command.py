"""`hw-sim bench`: the demo, played by hand in a browser."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from hw_sim import demo

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

STATE = Path(".wheeld-bench")


def add(subparsers: Subparsers) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "bench",
        help="the demo, played by hand in a browser",
        description="Start what the demo starts, and wait for you: the bench page, whose address it prints, has a "
        "button for each thing that can happen at a wheel, beside the answers of the daemon. Ctrl-C ends it.",
    )
    demo.add_options(parser, speed=1.0, state=STATE)
    parser.set_defaults(run=demo.run, by_hand=True, coups=0)
