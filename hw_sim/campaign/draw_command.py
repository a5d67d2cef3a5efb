"""`hw-sim draw`: draws an observation log on one time axis, for example the stored log of a coup."""

from __future__ import annotations

import argparse
import gzip
import zlib
from pathlib import Path

import msgspec

from hw_sim.campaign.black_box import find, replay_all
from hw_sim.campaign.drawing import draw
from hw_sim.campaign.timeline import read_timeline
from hw_sim.exits import BadDataError, FileError, told

GZIP_MAGIC = b"\x1f\x8b"


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "draw",
        help="draw an observation log",
        description="Draw the observations of a log, and the facts and verdicts of wheeld about it. For a coup of "
        "a journal: `wheeld journal export JOURNAL --coup N -o coup.jsonl`, then "
        "`hw-sim draw coup.jsonl --svg coup.svg`.",
    )
    parser.add_argument("log", type=Path, metavar="LOG", help="an observation log, compressed by gzip or not")
    parser.add_argument("--svg", type=Path, required=True, metavar="FILE", help="where to write the picture")
    parser.add_argument("--wheeld", type=Path, metavar="FILE", help="wheeld's path (default: beside Python or on PATH)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Draw the log. Returns the exit code. Raises BadDataError, MissingExtraError, BlackBoxError, FileError."""
    try:
        args.svg.write_text(picture(args.log, find(args.wheeld)), encoding="utf-8")
    except OSError as error:
        raise FileError(told(error)) from error
    return 0


def picture(path: Path, wheeld: Path) -> str:
    """Return the log as SVG. Raises BadDataError, MissingExtraError, BlackBoxError, OSError."""
    packed = path.read_bytes()
    try:
        log = gzip.decompress(packed) if packed.startswith(GZIP_MAGIC) else packed
    except (gzip.BadGzipFile, EOFError, zlib.error) as wrong:
        raise BadDataError(f"{path}: damaged, or not copied completely ({wrong})") from wrong
    lines = log.splitlines(keepends=True)
    messages, ended = replay_all(wheeld, lines, facts=True)
    if ended.code:
        raise BadDataError(f"{path}: {ended.stderr}")
    try:
        return draw(read_timeline(lines, messages), path.name, "log")
    except (msgspec.DecodeError, KeyError, IndexError, ValueError) as wrong:
        raise BadDataError(f"{path}: no observation log ({wrong!r})") from wrong
