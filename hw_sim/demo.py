"""`hw-sim demo` and `bench`: a broker, a simulated wheel, `wheeld run`, its pages, and a view of its messages."""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import json
import os
import random
import secrets
import sys
import webbrowser
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hw_sim import run as pace
from hw_sim.bench.hand import POWER
from hw_sim.bench.ledger import Ledger
from hw_sim.bench.play import Play
from hw_sim.board import SimBoard
from hw_sim.broker import Broker, broker
from hw_sim.child import Child, child, free_port, listens
from hw_sim.configuration import board_setup, sections
from hw_sim.evening import named, repeatable
from hw_sim.events import SensorState, SimEvent, TableCommand
from hw_sim.exits import UnavailableError, writing
from hw_sim.live_table import QUICK_PAUSE_FACTOR, LiveTable, draw_scenarios
from hw_sim.panel import BrokerAddress, ChefClient
from hw_sim.people import People, TableStuckError
from hw_sim.pty_link import Player, Pty
from hw_sim.scenarios import Scenario
from hw_sim.subscriber import Subscriber, message_text
from hw_sim.view import DemoView, view_of
from hw_sim.wheel import WheelLayout
from hw_sim.words import LANGUAGES, Words, language_here

SITE, TABLE = "demo", "wheel-1"
ROOT = f"wheel/v1/{SITE}/{TABLE}/"
LAYOUT = WheelLayout(
    house="campione",
    game="roulette",
    rotor_ticks=148,
    beams_deg=(0.0, 90.0, 180.0, 270.0),
    readers_deg=(30.0, 150.0, 270.0),
)
FIRST_NUMBER = 17
"""The ball lies in the pocket of this number when the table starts for the first time."""
FIRST = (
    "valid",
    "same_direction",
    "valid",
    "foreign_object",
    "too_few_laps",
    "early_launch",
    "rotor_stops_running",
    "obstacle_falls",
    "chef_void",
    "obstacle_rotor_stops",
    "breakdown_link",
)
"""The first scenarios of the demo. They give twelve verdicts, with all eight causes of a void. Drawn scenarios
follow."""
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
"""If none of these environment variables is set, there is no screen for a browser."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommands `demo` and `bench`. The bench is the demo, played by hand."""
    parser = subparsers.add_parser(
        "demo",
        help="broker, simulated wheel, daemon, its pages and a live view",
        description="Start a broker, a simulated wheel, the daemon and its pages, and show its messages, until Ctrl-C. "
        "It prints the address of the bench page. The journal stays in a directory, so a second run continues where "
        "the first one stopped.",
    )
    parser.add_argument("--coups", type=_count, default=0, metavar="N", help="end after N verdicts (0: at Ctrl-C)")
    _add_options(parser, speed=5.0, state=Path(".wheeld-demo"))
    parser.set_defaults(run=run, by_hand=False)
    parser = subparsers.add_parser(
        "bench",
        help="the demo, played by hand in a browser",
        description="Start the same programs as the demo, and wait for you. It prints the address of the bench page. "
        "This page has a button for each thing that can happen at a wheel, and shows the answers of the daemon. "
        "Ctrl-C ends it.",
    )
    _add_options(parser, speed=1.0, state=Path(".wheeld-bench"))
    parser.set_defaults(run=run, by_hand=True, coups=0)


def _add_options(parser: argparse.ArgumentParser, *, speed: float, state: Path) -> None:
    pace.add_pace(parser, speed=speed)
    parser.add_argument("--seed", type=int, metavar="N", help="random seed (default: a new one each time)")
    parser.add_argument(
        "--state", type=Path, default=state, metavar="DIR", help=f"where the journal is (default {state})"
    )
    parser.add_argument(
        "--language",
        choices=LANGUAGES,
        default=language_here(),
        help="language of the texts for people (default: that of the locale, or en)",
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="open no browser (none is opened without a terminal or a display)"
    )


def _count(text: str) -> int:
    count = int(text)
    if count < 0:
        raise argparse.ArgumentTypeError("must be 0 or more")
    return count


def run(args: argparse.Namespace) -> int:
    """Run the demo to its end. Returns the exit code. Raises UnavailableError, FileError."""
    with writing():
        args.state.mkdir(parents=True, exist_ok=True)
        with _held(args.state):
            demo = Demo(args)
            asyncio.run(demo.run())
    for line in demo.tally():
        sys.stdout.write(f"{line}\n")
    return 0


@contextmanager
def _held(state: Path) -> Iterator[None]:
    """Lock the directory until the block ends. The journal's lock would stop the daemon of a second demo too late: that
    demo would already have overwritten the configuration of the first demo. Raises UnavailableError."""
    directory = os.open(state, os.O_RDONLY)
    try:
        try:
            fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            why = f"another demo uses {state}: end it, or name another directory with --state"
            raise UnavailableError(why) from None
        yield
    finally:
        os.close(directory)


class Demo:
    """One run of the demo: its table, a subscriber, its pages, and people who do what the messages ask for."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._args = args
        self._state: Path = args.state
        self.seed: int = secrets.randbelow(1_000_000) if args.seed is None else args.seed
        self.subscriber = Subscriber(words=Words(args.language))
        self._rng = repeatable(f"demo {self.seed}")
        live = LiveTable(LAYOUT, self._rng, None)
        live.table.pause_factor = QUICK_PAUSE_FACTOR
        self._view: DemoView
        self._panel: ChefClient
        self._enough = asyncio.Event()
        """There are enough verdicts."""
        self._power: asyncio.Queue[SensorState] = asyncio.Queue()
        self._board = SimBoard(board_setup(LAYOUT), boot_id=random.SystemRandom().getrandbits(32))
        look_s = pace.LOOK_S * args.speed
        self.people = People(live, self.subscriber, look_s=look_s, on_scenario=self._show_scenario)
        self._ledger = Ledger()
        self._bench = Play(live, self.people, self.subscriber, self._ledger, speed=args.speed, by_hand=args.by_hand)

    async def run(self) -> None:
        """Run until there are enough verdicts, or a signal comes. Raises UnavailableError if a program or a package is
        missing, or if a program fails."""
        try:
            with TemporaryDirectory(prefix="wheeld-demo-") as name, view_of(self.subscriber) as self._view:
                await pace.until_signal(self._run_parts(Path(name)))
        except TableStuckError as error:
            raise UnavailableError(f"{error}; the log of the daemon is {self._state / 'wheeld.log'}") from error

    async def _run_parts(self, directory: Path) -> None:
        port, monitor = directory / "board", directory / "monitor"
        config = self._state / "wheeld.toml"
        command = [sys.executable, "-m", "wheeld", "run", "-c", str(config)]
        events = self._bench.events(draw_scenarios(LAYOUT, self._rng, named(FIRST)))
        async with broker(directory) as served:
            config.write_text(self._configuration(served, port, monitor), encoding="utf-8")
            address = BrokerAddress(ROOT, TABLE, "127.0.0.1", served.port)
            self._panel = ChefClient(address, self.subscriber, tell=self._view.show_message, hear=self._hear)
            with Pty(port) as pty:
                async with self._pages(served, monitor, directory / "page.log") as pages:
                    # The daemon must end first. Otherwise it would report a silent wheel while the board ends.
                    await pace.first_of(
                        self._run_daemon(command),
                        self._panel.run(),
                        self._enough.wait(),
                        Player(self._board, pty, speed=self._args.speed, deliver=self._deliver).play(events),
                        pages,
                        served.process.must_run(),
                    )

    async def _run_daemon(self, command: list[str]) -> None:
        """Run the daemon whenever the power is on. Raises UnavailableError if the daemon ends by itself."""
        await self._panel.sees.wait()  # then no message is missed
        while True:
            async with child("wheeld", command, self._state / "wheeld.log") as daemon:
                await pace.first_of(daemon.must_run(), self._power.get())
                daemon.kill()
            await self._power.get()  # wait until the power is on again

    @asynccontextmanager
    async def _pages(self, served: Broker, monitor: Path, log: Path) -> AsyncIterator[Coroutine[Any, Any, None]]:
        """Serve the wheel's pages in a separate program, and the bench page in this program, until the block ends. The
        bench page shows the live page in a frame. Yields the coroutine that announces the pages.

        Raises UnavailableError.
        """
        try:
            from hw_sim.bench.server import HOST, Server, listening  # noqa: PLC0415  this package is optional
        except ImportError:
            raise UnavailableError("aiohttp is not installed: pip install './hw_sim[demo]'") from None
        port, pages_port = free_port(), free_port()
        bench, pages = f"http://{HOST}:{port}", f"http://{HOST}:{pages_port}"
        wheel = ["page", f"{SITE}/{TABLE}", "--listen", f"{HOST}:{pages_port}", "--socket", str(monitor)]
        broker_ = ["--host", "127.0.0.1", "--port", str(served.port)]
        command = [sys.executable, "-m", "wheeld", *wheel, *broker_, "--frame-of", bench]
        async with (
            listening(Server(self._bench, self._ledger, pages, self.subscriber.words).application(), port),
            child("wheeld page", command, log) as running,
        ):
            yield self._announce(running, pages_port, f"{bench}/bench")

    async def _announce(self, pages: Child, port: int, bench: str) -> None:
        """When the pages are ready, show the address of the bench page, and open the page in a browser if there is one.
        Raises UnavailableError when the program of the pages ends."""
        await listens(pages, port)
        self._view.show_address(bench)
        if not self._args.no_browser and sys.stdout.isatty() and any(map(os.environ.get, DISPLAYS)):
            await asyncio.to_thread(webbrowser.open, bench)
        await pages.must_run()

    def _configuration(self, served: Broker, port: Path, monitor: Path) -> str:
        wheel = sections(
            LAYOUT,
            site=SITE,
            table=TABLE,
            last_number=FIRST_NUMBER,
            port=port,
            speed=self._args.speed,
            language=self._args.language,
        )
        rest = ["[journal]", 'path = "journal.sqlite"', "", "[monitor]", f'socket = "{monitor}"', ""]
        mqtt = ["[mqtt]", 'host = "127.0.0.1"', f"port = {served.port}", ""]
        return "\n".join([wheel, *rest, *mqtt])

    def _hear(self, leaf: str, data: bytes) -> None:
        """Show a message. If there are enough verdicts, the demo ends after the next message `table`."""
        line = self.subscriber.take(leaf, data)
        if line is not None:
            payload = json.loads(data)
            text = message_text(leaf, payload, self.subscriber.words) or ""
            self._ledger.write("message", text, name=leaf, coup=payload.get("coup"))
        self._view.show_message(line)
        if leaf == "table" and 0 < self._args.coups <= len(self.subscriber.verdicts):
            self._enough.set()

    def _deliver(self, event: SimEvent) -> None:
        """Send an event to the panel, to the power switch or to the board. A button sends no reason and no name. So a
        command with a reason or a name comes from the panel, an MQTT client."""
        if isinstance(event, TableCommand) and (event.reason or event.who):
            self._panel.say(event)
        elif isinstance(event, SensorState) and event.sensor == POWER:
            self._power.put_nowait(event)
            self._board.silent = not event.ok
            if event.ok:
                self._board.reset()
        else:
            self._board.feed(event)

    def _show_scenario(self, scenario: Scenario) -> None:
        self._view.show_scenario(scenario)

    def tally(self) -> list[str]:
        """Return a summary in a few lines."""
        subscriber, tally, say = self.subscriber, self.subscriber.tally, self.subscriber.words.say
        self.people.compare(whole=False)
        causes = {name.removeprefix("void "): count for name, count in sorted(tally.items()) if "void" in name}
        of_causes = f" ({', '.join(f'{cause} {count}' for cause, count in causes.items())})" if causes else ""
        count, voids = len(subscriber.verdicts), sum(causes.values())
        verdicts = say(
            "{count} verdicts: {results} results, {voids} voids", count=count, results=count - voids, voids=voids
        )
        told = self.people.differences
        differences = [say("a verdict differs from the truth: {words}", words=words) for words in told]
        messages = say("no message")
        if subscriber.seqs:
            messages = say("seq {first} to {last}", first=subscriber.seqs[0], last=subscriber.seqs[-1])
        received = say(
            "{messages}, {gaps} missing; the seed was --seed {seed}"
            if subscriber.gaps
            else "{messages}, nothing missing; the seed was --seed {seed}",
            messages=messages,
            gaps=subscriber.gaps,
            seed=self.seed,
        )
        return [
            "",
            verdicts + of_causes,
            received,
            *(differences or [say("every verdict agrees with the truth")]),
            say(
                "kept: {journal} (“wheeld journal verify” checks it, and the next demo continues it)",
                journal=self._state / "journal.sqlite",
            ),
        ]
