"""`hw-sim run`: a simulated wheel on a pseudo-terminal, which a daemon opens like a serial port."""

from __future__ import annotations

import argparse
import asyncio
import random
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hw_sim.board import SimBoard
from hw_sim.configuration import board_setup, layout_of, sections
from hw_sim.evening import draw_layout, named, repeatable
from hw_sim.events import End, SimEvent
from hw_sim.exits import FileError, UsageError
from hw_sim.live_table import QUICK_PAUSE_FACTOR, LiveTable, draw_scenarios
from hw_sim.memory import Memory, begin_again
from hw_sim.pty_link import Player, Pty
from hw_sim.scenarios import SCENARIOS, Scenario
from hw_sim.table import Outcome, SimTable
from hw_sim.wheel import Layout
from hw_sim.words import ENGLISH, Words

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

Print = Callable[[str], None]


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
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="random seed; without --scenario everything is drawn from it"
    )
    parser.add_argument(
        "--layout",
        type=Path,
        metavar="FILE",
        help="play the wheel of this wheeld configuration, its [table] and [wheel] (default: one that is drawn)",
    )
    parser.add_argument(
        "--state",
        type=Path,
        metavar="FILE",
        help="keep the last number there, so that a table goes on when the simulator starts again",
    )
    add_pace(parser, speed=1.0)
    parser.add_argument(
        "--quick", action="store_true", help="people who take a third of the ordinary time between coups"
    )
    parser.set_defaults(run=run)


def add_pace(parser: argparse.ArgumentParser, *, speed: float) -> None:
    """Declare `--speed`."""
    parser.add_argument(
        "--speed", type=_speed, default=speed, metavar="X", help=f"factor of real time (default {speed:g})"
    )


def _speed(text: str) -> float:
    speed = float(text)
    if not 0.1 <= speed <= 100:
        raise argparse.ArgumentTypeError("must be 0.1 to 100: no machine keeps up with more")
    return speed


def run(args: argparse.Namespace) -> int:
    """Play until the end or a signal. Returns the exit code. Raises UnknownScenarioError, UsageError, BadDataError,
    FileError."""
    scenarios = None if args.scenario is None else named(args.scenario)
    rng = repeatable(f"run {args.seed}")
    layout = _layout(args.layout, rng, scenarios or [])
    memory = Memory(args.state)
    last_number = None if scenarios and scenarios[0].first_only else rng.choice(sorted(layout.pockets))
    if memory.numbers:
        last_number = memory.numbers[-1]
    live = LiveTable(layout, rng, last_number)
    live.table.pause_factor = QUICK_PAUSE_FACTOR if args.quick else 1.0
    print_now("# the configuration of this wheel, beside [journal] and [mqtt]:")
    name = f"sim-{args.seed}"
    print_now(sections(layout, site="sim", table=name, last_number=last_number, port=args.pty, speed=args.speed))
    # A board that starts again must not look like the one before.
    board = SimBoard(board_setup(layout), boot_id=random.SystemRandom().getrandbits(32))
    plays = draw_scenarios(layout, rng) if scenarios is None else scenarios
    events = live_events(live, plays, lambda: board.hosts if board.greeted else 0, print_now, memory)
    try:
        asyncio.run(_play(board, args.pty, args.speed, events))
    except BrokenPipeError:
        raise  # standard output, not the port
    except OSError as error:
        raise FileError(f"cannot make {args.pty}: {error.strerror}") from error
    return 0


def _layout(file: Path | None, rng: random.Random, scenarios: Sequence[Scenario]) -> Layout:
    """That of the file, or a drawn one on which the scenarios can be played. Raises UsageError, BadDataError."""
    french_only = [scenario.name for scenario in scenarios if scenario.french_only]
    if file is None:
        return draw_layout(rng, french=bool(french_only))
    layout = layout_of(file)
    if french_only and layout.wheel != "french":
        raise UsageError(f"{french_only[0]} reverses the rotor, and {file} has a fair wheel, which turns one way only")
    return layout


def print_now(line: str) -> None:
    """Print a line at once: standard output may be a pipe."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def _play(board: SimBoard, path: Path, speed: float, events: Iterable[SimEvent]) -> None:
    """Play to the end, or until SIGINT or SIGTERM, which are no errors."""
    with Pty(path) as pty:
        playing = asyncio.create_task(Player(board, pty, speed=speed).play(events))
        cancel_at_signals(playing)
        await asyncio.wait({playing})
        if not playing.cancelled():
            playing.result()


def cancel_at_signals(task: asyncio.Task[None]) -> None:
    """Let SIGINT and SIGTERM cancel the task."""
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)


def live_events(
    live: LiveTable, scenarios: Iterable[Scenario], hosts: Callable[[], int], print_line: Print, memory: Memory
) -> Iterator[SimEvent]:
    """The events of the scenarios, from the time at which a host is there. Prints each scenario and each truth.

    `hosts`: how many have greeted the board. At another one the table may stand anywhere, and so it may at the first
    if there is a `memory`.
    """
    print_line("# waiting for a host that opens the port")
    while not (greeted := hosts()):
        # Without a host the events are dropped: a board that fills its ring would start with overwritten events.
        yield from (event for event in live.wait(0.5) if isinstance(event, End))
    is_unknown = bool(memory.numbers)
    if not is_unknown:
        yield from live.command("open")
    for scenario in scenarios:
        if is_unknown or hosts() != greeted:
            greeted, is_unknown = hosts(), False
            print_line(f"{live.table.now_s:9.1f} s  begins again")
            yield from begin_again(live, memory.numbers)
            # Its number is everybody's last one.
            yield from _played(live, SCENARIOS["valid"], print_line, memory)
        yield from _played(live, scenario, print_line, memory)
    yield from live.play(_wait_at_the_end)
    print_line(f"{live.table.now_s:9.1f} s  the end")


def _played(live: LiveTable, scenario: Scenario, print_line: Print, memory: Memory) -> Iterator[SimEvent]:
    print_line(f"{live.table.now_s:9.1f} s  plays {scenario.name}: {scenario.about}")
    known, before = len(live.table.truth), live.table.last_number
    events = live.play(scenario)
    memory.keep(before, live.table.truth[known:])
    yield from events
    for outcome in live.table.truth[known:]:
        print_line(f"{live.table.now_s:9.1f} s  truth {outcome_text(outcome)}")


def outcome_text(outcome: Outcome, words: Words = ENGLISH) -> str:
    """The truth of one coup, in a line."""
    if outcome["kind"] == "result":
        return words.say("result {number}, {laps} laps", number=outcome["number"], laps=f"{outcome['laps']:g}")
    return words.say("void {cause}", cause=outcome["cause"])


def _wait_at_the_end(table: SimTable) -> None:
    table.wait(2, 5)
