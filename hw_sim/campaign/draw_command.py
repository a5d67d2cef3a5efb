"""`hw-sim draw`: any observation log on one time axis, a coup's stored evidence for one."""

from __future__ import annotations

import argparse
import gzip
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from hw_sim.campaign.black_box import BlackBoxError, Message, find, replay
from hw_sim.campaign.command import EXIT_CANNOT_WRITE, EXIT_UNAVAILABLE
from hw_sim.campaign.drawing import draw
from hw_sim.campaign.pictures import MissingExtraError
from hw_sim.campaign.timeline import read_timeline

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

EXIT_BAD_DATA = 65
GZIP_MAGIC = b"\x1f\x8b"


class BadLogError(Exception):
    """The file is no observation log; the text says why."""


def add(subparsers: Subparsers) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "draw",
        help="draw an observation log",
        description="Draw what an observation log tells and what wheeld makes of it. A coup of a journal: "
        "`wheeld journal export JOURNAL --coup N -o coup.jsonl`, then `hw-sim draw coup.jsonl --svg coup.svg`.",
    )
    parser.add_argument("log", type=Path, metavar="LOG", help="an observation log, packed by gzip or not")
    parser.add_argument("--svg", type=Path, required=True, metavar="FILE", help="the picture")
    parser.add_argument("--wheeld", type=Path, metavar="FILE", help="the program (default: beside Python, or on PATH)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Draw it. Returns the exit code."""
    try:
        args.svg.write_text(picture(args.log, find(args.wheeld)), encoding="utf-8")
    except BadLogError as error:
        sys.stderr.write(f"hw-sim draw: {args.log}: {error}\n")
        return EXIT_BAD_DATA
    except (MissingExtraError, BlackBoxError) as error:
        sys.stderr.write(f"hw-sim draw: {error}\n")
        return EXIT_UNAVAILABLE
    except OSError as error:
        sys.stderr.write(f"hw-sim draw: {error.filename}: {error.strerror}\n")
        return EXIT_CANNOT_WRITE
    return 0


def picture(path: Path, wheeld: Path) -> str:
    """The log as SVG. Raises BadLogError, MissingExtraError, NoBlackBoxError, OSError."""
    packed = path.read_bytes()
    lines = (gzip.decompress(packed) if packed.startswith(GZIP_MAGIC) else packed).splitlines(keepends=True)
    messages: list[Message] = []

    def receive(each: Message) -> bool:
        messages.append(each)
        return True

    ended = replay(wheeld, lines, receive, facts=True)
    if ended.code:
        raise BadLogError(ended.words)
    try:
        return draw(read_timeline(lines, messages), path.name, "log")
    except (msgspec.DecodeError, KeyError, IndexError, ValueError) as wrong:
        raise BadLogError(f"no observation log ({wrong!r})") from wrong
