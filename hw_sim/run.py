"""`hw-sim run`: a simulated wheel on a pseudo-terminal, for a daemon that believes it to be a serial port."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hw_sim.board import SimBoard
from hw_sim.configuration import board_setup, sections
from hw_sim.evening import UnknownScenarioError, draw_layout, named, repeatable
from hw_sim.events import End, SimEvent
from hw_sim.live_table import QUICK_PAUSE_FACTOR, LiveTable, draw_scenarios
from hw_sim.pty_link import Player, Pty
from hw_sim.scenarios import Scenario
from hw_sim.table import Outcome, SimTable

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

EXIT_USAGE = 2
EXIT_CANNOT_WRITE = 73
Tell = Callable[[str], None]


def add(subparsers: Subparsers) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "run",
        help="play a wheel on a pseudo-terminal",
        description="Play a wheel on a pseudo-terminal, until Ctrl-C or the last of the named scenarios. It begins "
        "when a host listens, presses the buttons of chef and table, and prints the truth of each coup.",
    )
    parser.add_argument("--pty", type=Path, required=True, metavar="PATH", help="where the serial port shall appear")
    parser.add_argument("--scenario", nargs="+", metavar="NAME", help="scenarios to play, in order; then it ends")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="luck; without --scenario it draws all")
    add_pace(parser, speed=1.0)
    parser.add_argument("--quick", action="store_true", help="people who take a third of their time between coups")
    parser.set_defaults(run=run)


def add_pace(parser: argparse.ArgumentParser, *, speed: float) -> None:
    """Declare `--speed`."""
    parser.add_argument(
        "--speed", type=_speed, default=speed, metavar="X", help=f"times faster than life (default {speed:g})"
    )


def _speed(text: str) -> float:
    speed = float(text)
    if not 0.1 <= speed <= 100:
        raise argparse.ArgumentTypeError("must be 0.1 to 100: no machine keeps up with more")
    return speed


def run(args: argparse.Namespace) -> int:
    """Play until the end or a signal. Returns the exit code."""
    try:
        plays = None if args.scenario is None else named(args.scenario)
    except UnknownScenarioError as error:
        sys.stderr.write(f"hw-sim run: {error}\n")
        return EXIT_USAGE
    rng = repeatable(f"run {args.seed}")
    layout = draw_layout(rng, french=any(play.french_only for play in plays or ()))
    last_number = None if plays and plays[0].first_only else rng.randrange(37)
    live = LiveTable(layout, rng, last_number)
    live.table.pause_factor = QUICK_PAUSE_FACTOR if args.quick else 1.0
    _say("# the configuration of this wheel, beside [journal] and [mqtt]:")
    table = f"sim-{args.seed}"
    _say(sections(layout, site="sim", table=table, last_number=last_number, port=args.pty, speed=args.speed))
    board = SimBoard(board_setup(layout))
    events = told(live, draw_scenarios(layout, rng) if plays is None else plays, lambda: board.greeted, _say)
    try:
        asyncio.run(_play(board, args.pty, args.speed, events))
    except BrokenPipeError:
        raise  # that is no file of ours
    except OSError as error:
        sys.stderr.write(f"hw-sim run: cannot make {args.pty}: {error.strerror}\n")
        return EXIT_CANNOT_WRITE
    return 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def _play(board: SimBoard, path: Path, speed: float, events: Iterable[SimEvent]) -> None:
    """Play to the end, or until SIGINT or SIGTERM, which are no errors."""
    with Pty(path) as pty:
        playing = asyncio.create_task(Player(board, pty, speed=speed).play(events))
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, playing.cancel)
        await asyncio.wait({playing})
        if not playing.cancelled():
            playing.result()


def told(live: LiveTable, plays: Iterable[Scenario], is_heard: Callable[[], bool], tell: Tell) -> Iterator[SimEvent]:
    """The night's events once a host listens, with each scenario and each truth told as they come."""
    tell("# waiting for a host that opens the port")
    while not is_heard():
        # The wheel stands covered: a board that fills its ring for nobody would begin with lost events.
        yield from (event for event in live.wait(0.5) if isinstance(event, End))
    yield from live.command("open")
    for play in plays:
        tell(f"{live.table.now_s:9.1f} s  plays {play.name}: {play.about}")
        known = len(live.table.truth)
        yield from live.play(play)
        for outcome in live.table.truth[known:]:
            tell(f"{live.table.now_s:9.1f} s  truth {in_words(outcome)}")
    yield from live.play(_last_look)
    tell(f"{live.table.now_s:9.1f} s  the end")


def in_words(outcome: Outcome) -> str:
    """The truth of one coup, in a line."""
    if outcome["kind"] == "result":
        return f"result {outcome['number']}, {outcome['laps']:g} laps"
    return f"void {outcome['cause']}, {outcome['article']}"


def _last_look(table: SimTable) -> None:
    table.wait(2, 5)
