"""`hw-sim cammegh`: simulates a Cammegh wheel head on a pseudo-terminal or on TCP."""

from __future__ import annotations

import argparse
import asyncio
import itertools
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

from hw_sim.cammegh.cable import CLEAN, ROUGH, LineCable
from hw_sim.cammegh.coups import KINDS, Drawing, HeadCoup, Model
from hw_sim.cammegh.head import HeadSetup, SimHead
from hw_sim.cammegh.ports import LOOPBACK, Pace, on_tcp
from hw_sim.evening import repeatable
from hw_sim.exits import FileError, UsageError, told
from hw_sim.pty_link import Pty
from hw_sim.run import add_pace, print_now, until_signal

COUPS = 100
"""The default number of coups, about an hour of play. Then the command ends."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "cammegh",
        help="play a Cammegh wheel head on a pseudo-terminal or on TCP",
        description="Play a Mercury 360 or a SlingShot 2 on a port, print the truth of each coup, and end after the "
        "last one or at Ctrl-C.",
    )
    parser.add_argument("--product", type=Model, choices=list(Model), required=True, metavar="PRODUCT",
                        help="mercury-360 or slingshot-2")  # fmt: skip
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--pty", type=Path, metavar="PATH", help="where to make the serial port")
    where.add_argument("--tcp", type=int, metavar="PORT", help="listen on the loopback, for socket://; 0: a free port")
    parser.add_argument("--rfc2217", action="store_true", help="with --tcp: use RFC 2217, for rfc2217://")
    parser.add_argument("--kinds", nargs="+", metavar="KIND", help="kinds of coups to draw from (default: all)")
    parser.add_argument("--coups", type=int, default=COUPS, metavar="N", help=f"coups to play (default {COUPS})")
    parser.add_argument("--rough", action="store_true", help="a cable that damages, joins and delays lines")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random seed")
    add_pace(parser, speed=1.0)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Play until the end or a signal. Returns the exit code. Raises UsageError, FileError."""
    known = KINDS[args.product]
    wrong = sorted(set(args.kinds or ()) - known.keys())
    if wrong:
        raise UsageError(f"{args.product.value} has no kind {', '.join(wrong)}; its kinds are {', '.join(known)}")
    rng = repeatable(f"cammegh {args.seed}")
    coups = itertools.islice(Drawing(args.product, rng).coups(args.kinds or list(known)), args.coups)
    cable = LineCable(rng, ROUGH if args.rough else CLEAN)
    pace = Pace(SimHead(args.product, _told(coups), rng, HeadSetup(bonus=True), cable), speed=args.speed)
    try:
        asyncio.run(_play(args, pace))
    except OSError as error:
        raise FileError(f"cannot open the port: {told(error)}") from error
    return 0


async def _play(args: argparse.Namespace, pace: Pace) -> None:
    async with AsyncExitStack() as up:
        if args.pty:
            pace.on_pty(up.enter_context(Pty(args.pty)))
            port = str(args.pty)
        else:
            number = await up.enter_async_context(on_tcp(pace, args.tcp, rfc=args.rfc2217))
            port = f"{'rfc2217' if args.rfc2217 else 'socket'}://{LOOPBACK}:{number}"
        print_now(f"# {pace.head.model.value} at {port}")
        await until_signal(pace.run())


def _told(coups: Iterable[HeadCoup]) -> Iterator[HeadCoup]:
    """Yield the coups. When the head asks for the next coup, print the truth of the one that is over."""
    for coup in coups:
        yield coup
        print_now(f"spin {coup.spin:3d}  {coup_text(coup)}")


def coup_text(coup: HeadCoup) -> str:
    """Return the truth of one coup as one line."""
    number = "no number" if coup.number is None else f"number {coup.number}"
    return f"{number}, {coup.laps} laps, {coup.kind}"
