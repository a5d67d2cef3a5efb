"""`hw-sim run`: a simulated wheel on a pseudo-terminal, which a daemon opens like a serial port."""

from __future__ import annotations

import argparse
import asyncio
import random
import signal
import sys
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from hw_sim.board import SimBoard
from hw_sim.configuration import board_setup, broker_of, layout_of, sections
from hw_sim.evening import draw_layout, named, repeatable
from hw_sim.events import End, SimEvent, TableCommand
from hw_sim.exits import FileError, UsageError
from hw_sim.live_table import QUICK_PAUSE_FACTOR, LiveTable, draw_scenarios
from hw_sim.panel import ChefClient, no_button_says
from hw_sim.people import People
from hw_sim.pty_link import Player, Pty
from hw_sim.scenarios import Scenario
from hw_sim.subscriber import Subscriber
from hw_sim.table import Outcome
from hw_sim.words import ENGLISH, Words

LOOK_S = 0.4
"""Real seconds until a daemon has published everything about the last event."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "run",
        help="play a wheel on a pseudo-terminal",
        description="When a host listens, play a wheel on a pseudo-terminal, until Ctrl-C or the last of the named "
        "scenarios. Press the buttons of chef and table, and print the truth of each coup.",
    )
    parser.add_argument("--pty", type=Path, required=True, metavar="PATH", help="where to make the serial port")
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
        "--panel",
        type=Path,
        metavar="DIR",
        help="folder with chef-certificate and chef-key. With an [mqtt] in --layout, people look at the table at its "
        "broker and do what the table waits for. A broker that asks for a login needs these two files",
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
        raise argparse.ArgumentTypeError("must be 0.1 to 100: no computer is fast enough for more")
    return speed


def run(args: argparse.Namespace) -> int:
    """Play until the end or a signal. Returns the exit code. Raises UsageError, BadDataError, FileError."""
    scenarios = None if args.scenario is None else named(args.scenario)
    rng = repeatable(f"run {args.seed}")
    french_only = [scenario.name for scenario in scenarios or () if scenario.french_only]
    layout = draw_layout(rng, french=bool(french_only)) if args.layout is None else layout_of(args.layout)
    if args.layout is not None and french_only and layout.wheel != "french":
        why = f"{args.layout} has a fair wheel, which turns one way only"
        raise UsageError(f"{french_only[0]} reverses the rotor, and {why}")
    broker = None if args.layout is None else broker_of(args.layout, args.panel)
    panel = None if broker is None else ChefClient(broker, Subscriber(), tell=print_now)
    if panel is None:
        print_now(
            "# people play their scenarios and do not look at the table: after a restart nobody does what it waits for."
            " To look they need --layout with an [mqtt] section, and --panel if that broker asks for a login"
        )
    last_number = None if scenarios and scenarios[0].first_only else rng.choice(sorted(layout.pockets))
    # With a panel, people first put the ball in the pocket of the number that the table shows.
    live = LiveTable(layout, rng, last_number if panel is None else None)
    live.table.pause_factor = QUICK_PAUSE_FACTOR if args.quick else 1.0
    print_now("# the configuration of this wheel, to be completed by [journal] and [mqtt]:")
    name = f"sim-{args.seed}"
    print_now(sections(layout, site="sim", table=name, last_number=last_number, port=args.pty, speed=args.speed))
    # After a restart of the simulator the board must have another boot id.
    board = SimBoard(board_setup(layout), boot_id=random.SystemRandom().getrandbits(32))
    plays = draw_scenarios(layout, rng) if scenarios is None else scenarios
    subscriber = None if panel is None else panel.subscriber
    events = live_events(live, plays, lambda: board.greeted, print_now, subscriber, look_s=LOOK_S * args.speed)
    try:
        asyncio.run(_play(board, args.pty, args.speed, events, panel))
    except BrokenPipeError:
        raise  # this error is about standard output, not the port
    except OSError as error:
        raise FileError(f"cannot make {args.pty}: {error.strerror}") from error
    return 0


def print_now(line: str) -> None:
    """Print a line at once. Without the flush, a line for a pipe would come late."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def _play(
    board: SimBoard, path: Path, speed: float, events: Iterable[SimEvent], panel: ChefClient | None
) -> None:
    def deliver(event: SimEvent) -> None:
        if panel is not None and isinstance(event, TableCommand) and no_button_says(event):
            panel.say(event)
        else:
            board.feed(event)

    with Pty(path) as pty:
        looking = [] if panel is None else [panel.run()]
        await until_signal(first_of(Player(board, pty, speed=speed, deliver=deliver).play(events), *looking))


async def until_signal(work: Coroutine[Any, Any, None]) -> None:
    """Run `work` to its end, or until SIGINT, SIGTERM or SIGHUP. Such a signal is not an error, and a second signal
    does not disturb the clean-up."""
    task = asyncio.create_task(work)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, lambda: task.cancelling() or task.cancel())
    with suppress(asyncio.CancelledError):
        await task


async def first_of(*works: Coroutine[Any, Any, object]) -> None:
    """Run all `works` until the first one ends. Then cancel the others in order. Raises the error of the first one."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
            await asyncio.wait({task})


def live_events(
    live: LiveTable,
    scenarios: Iterable[Scenario],
    is_heard: Callable[[], bool],
    print_line: Callable[[str], None],
    subscriber: Subscriber | None = None,
    *,
    look_s: float = 0.0,
) -> Iterator[SimEvent]:
    """Yield the events of the scenarios. They begin when a host is connected. Prints each scenario and each truth.

    With `subscriber`, people do what the table waits for. Without it they only give the commands of the scenarios, so
    nobody does what the table waits for after a restart. `look_s`: as in `People`.
    """
    print_line("# waiting for a host that opens the port")
    while not is_heard():
        # Before a host is heard, the board gets no events: they would fill its ring, and overwrite the first events.
        yield from (event for event in live.wait(0.5) if isinstance(event, End))

    def begin(scenario: Scenario) -> None:
        # Delete old outcomes, because the program may run for months.
        live.table.truth.clear()
        print_line(f"{live.table.now_s:9.1f} s  plays {scenario.name}: {scenario.about}")

    told = _told(live, scenarios, print_line)
    if subscriber is None:
        yield from live.command("open")
        for scenario in told:
            begin(scenario)
            yield from live.play(scenario)
    else:
        people = People(
            live,
            subscriber,
            look_s=look_s,
            on_scenario=begin,
            on_stuck=lambda stuck: print_line(f"# {stuck}; they try again"),  # the daemon may come back
        )
        yield from people.events(told)
    yield from live.play(lambda table: table.wait(2, 5))
    print_line(f"{live.table.now_s:9.1f} s  the end")


def _told(live: LiveTable, scenarios: Iterable[Scenario], print_line: Callable[[str], None]) -> Iterator[Scenario]:
    """Yield the scenarios. When the caller asks for the next scenario, print the truth of the scenario that was just
    played."""
    for scenario in scenarios:
        yield scenario
        for outcome in live.table.truth:
            print_line(f"{live.table.now_s:9.1f} s  truth {outcome_text(outcome)}")


def outcome_text(outcome: Outcome, words: Words = ENGLISH) -> str:
    """Return the truth of one coup in a line."""
    if outcome["kind"] == "result":
        return words.say("result {number}, {laps} laps", number=outcome["number"], laps=f"{outcome['laps']:g}")
    return words.say("void {cause}", cause=outcome["cause"])
