"""`hw-sim demo`: a broker, a simulated wheel, `wheeld run`, and a view of its messages."""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import secrets
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, get_args

import aiomqtt

from hw_sim import run as bench
from hw_sim.board import SimBoard
from hw_sim.broker import Broker, Wanted, broker
from hw_sim.child import DemoError, child
from hw_sim.configuration import board_setup, sections
from hw_sim.evening import named, repeatable
from hw_sim.events import SimEvent, TableCommand
from hw_sim.exits import writing
from hw_sim.live_table import QUICK_PAUSE_FACTOR, LiveTable, draw_scenarios
from hw_sim.logins import command_leaf
from hw_sim.people import People, TableStuckError
from hw_sim.pty_link import Player, Pty
from hw_sim.scenarios import Scenario
from hw_sim.subscriber import Subscriber
from hw_sim.view import View, view_of
from hw_sim.wheel import Layout
from hw_sim.words import LANGUAGES, Language, Words, language_here

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

SITE, TABLE = "demo", "wheel-1"
ROOT = f"wheel/v1/{SITE}/{TABLE}/"
LAYOUT = Layout(
    house="campione",
    game="roulette",
    wheel="french",
    rotor_ticks=148,
    beams_deg=(0.0, 90.0, 180.0, 270.0),
    readers_deg=(30.0, 150.0, 270.0),
)
FIRST_NUMBER = 17
"""Where the ball lies when the table starts for the first time."""
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
"""Twelve verdicts with all eight causes of a void; the scenarios after them are drawn."""
LOOK_S = 0.4
"""Real seconds until the daemon has published everything about the last event."""
STATE = Path(".wheeld-demo")


def add(subparsers: Subparsers) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "demo",
        help="broker, simulated wheel, daemon and a live view",
        description="Start a broker, a simulated wheel and the daemon, and show its messages, until Ctrl-C. The "
        "journal stays in a directory, so that a second run goes on where the first one stopped.",
    )
    parser.add_argument("--coups", type=_count, default=0, metavar="N", help="end after N verdicts (0: at Ctrl-C)")
    bench.add_pace(parser, speed=5.0)
    parser.add_argument("--seed", type=int, metavar="N", help="random seed (default: another one each time)")
    parser.add_argument(
        "--state", type=Path, default=STATE, metavar="DIR", help=f"where the journal is (default {STATE})"
    )
    parser.add_argument(
        "--language",
        choices=LANGUAGES,
        default=language_here(),
        help="of what people read (default: the locale's, else en)",
    )
    parser.add_argument("--broker", choices=get_args(Wanted), default="auto", help="auto: mosquitto if it is installed")
    parser.set_defaults(run=run)


def _count(text: str) -> int:
    count = int(text)
    if count < 0:
        raise argparse.ArgumentTypeError("must be 0 or more")
    return count


def run(args: argparse.Namespace) -> int:
    """Run the demo to its end. Returns the exit code. Raises DemoError, FileError."""
    with writing():
        args.state.mkdir(parents=True, exist_ok=True)
        demo = Demo(args)
        asyncio.run(demo.run())
    for line in demo.tally():
        sys.stdout.write(f"{line}\n")
    return 0


class Demo:
    """One run of the demo: its table, a subscriber, and the people who act on what is published."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._state: Path = args.state
        self._speed: float = args.speed
        self._coups: int = args.coups
        self._broker: Wanted = args.broker
        self.seed: int = secrets.randbelow(1_000_000) if args.seed is None else args.seed
        self._language: Language = args.language
        self.subscriber = Subscriber(words=Words(args.language))
        self._rng = repeatable(f"demo {self.seed}")
        live = LiveTable(LAYOUT, self._rng, None)
        live.table.pause_factor = QUICK_PAUSE_FACTOR
        self._view: View | None = None
        self._panel: asyncio.Queue[TableCommand] = asyncio.Queue()
        self._board = SimBoard(board_setup(LAYOUT), boot_id=random.SystemRandom().getrandbits(32))
        self.people = People(live, self.subscriber, look_s=LOOK_S * self._speed, on_scenario=self._show_scenario)

    async def run(self) -> None:
        """Run until there are enough verdicts, or a signal. Raises DemoError when a part is missing or fails."""
        _end_at_a_signal()
        try:
            with TemporaryDirectory(prefix="wheeld-demo-") as name, view_of(self.subscriber) as self._view:
                async with broker(self._broker, Path(name)) as served:
                    await self._run_parts(served, Path(name))
        except asyncio.CancelledError:
            pass  # a signal is the ordinary end of a demo
        except aiomqtt.MqttError as error:
            raise DemoError(f"the broker is gone: {error}") from error
        except TableStuckError as error:
            raise DemoError(f"{error}; its log is {self._state / 'wheeld.log'}") from error

    async def _run_parts(self, served: Broker, directory: Path) -> None:
        """Subscribe first, then start wheel and daemon, so that no message is missed."""
        port = directory / "board"
        config = self._state / "wheeld.toml"
        config.write_text(self._configuration(served, port), encoding="utf-8")
        command = [sys.executable, "-m", "wheeld", "run", "-c", str(config)]
        async with aiomqtt.Client("127.0.0.1", served.port) as client:
            await client.subscribe(ROOT + "#", qos=1)
            with Pty(port) as pty:
                async with child("wheeld", command, self._state / "wheeld.log") as daemon:
                    await _first_of(
                        self._listen(client),
                        self._use_panel(client),
                        self._play(pty),
                        _fail(daemon.ended()),
                        _fail(served.process.ended()),
                    )

    def _configuration(self, served: Broker, port: Path) -> str:
        wheel = sections(
            LAYOUT,
            site=SITE,
            table=TABLE,
            last_number=FIRST_NUMBER,
            port=port,
            speed=self._speed,
            language=self._language,
        )
        rest = ["[journal]", 'path = "journal.sqlite"', "", "[mqtt]", 'host = "127.0.0.1"']
        return "\n".join([wheel, *rest, f"port = {served.port}", f'protocol = "{served.protocol}"', ""])

    async def _listen(self, client: aiomqtt.Client) -> None:
        """Show the messages until there are enough verdicts, and what the table waits for after the last."""
        async for message in client.messages:
            leaf = message.topic.value.removeprefix(ROOT)
            if isinstance(message.payload, bytes) and not leaf.startswith(("cmd/", "ack")):
                self._show_message(self.subscriber.take(leaf, message.payload))
            if leaf == "table" and 0 < self._coups <= len(self.subscriber.verdicts):
                return

    async def _play(self, pty: Pty) -> None:
        events = self.people.events(draw_scenarios(LAYOUT, self._rng, named(FIRST)))
        await Player(self._board, pty, speed=self._speed, deliver=self._deliver).play(events)

    def _deliver(self, event: SimEvent) -> None:
        """A button sends no reason and no name: commands with one come from a panel, which is an MQTT client."""
        if isinstance(event, TableCommand) and (event.reason or event.who):
            self._panel.put_nowait(event)
        else:
            self._board.feed(event)

    async def _use_panel(self, client: aiomqtt.Client) -> None:
        while True:
            command = await self._panel.get()
            payload = {"id": f"panel-{secrets.token_hex(4)}", "by": command.by, "reason": command.reason or "as usual"}
            who = {} if command.who is None else {"who": command.who}
            leaf = command_leaf(command.by, command.name, TABLE)
            await client.publish(ROOT + leaf, json.dumps(payload | who), qos=1)

    def _show_scenario(self, scenario: Scenario) -> None:
        assert self._view is not None
        self._view.show_scenario(scenario)

    def _show_message(self, line: str | None) -> None:
        assert self._view is not None
        self._view.show_message(line)

    def tally(self) -> list[str]:
        """A summary in a few lines."""
        subscriber, tally, say = self.subscriber, self.subscriber.tally, self.subscriber.words.say
        self.people.compare(whole=False)
        voids = ", ".join(
            f"{name.removeprefix('void ')} {count}" for name, count in sorted(tally.items()) if "void" in name
        )
        count, results = len(subscriber.verdicts), tally["results"]
        verdicts = say(
            "{count} verdicts: {results} results, {voids} voids", count=count, results=results, voids=count - results
        )
        differences = [say("not as it was played: {words}", words=words) for words in self.people.differences]
        kept = "kept: {journal} (wheeld journal verify reads it; the next demo goes on with it)"
        return [
            "",
            verdicts + (f" ({voids})" if voids else ""),
            self._received(),
            *(differences or [say("each as it was played")]),
            say(kept, journal=self._state / "journal.sqlite"),
        ]

    def _received(self) -> str:
        """Which messages came, and by which luck the coups were played."""
        subscriber, say = self.subscriber, self.subscriber.words.say
        messages = say("no message")
        if subscriber.seqs:
            messages = say("seq {first} to {last}", first=subscriber.seqs[0], last=subscriber.seqs[-1])
        if subscriber.gaps:
            text = "{messages}, {gaps} missing; the seed was --seed {seed}"
            return say(text, messages=messages, gaps=subscriber.gaps, seed=self.seed)
        return say("{messages}, nothing missing; the seed was --seed {seed}", messages=messages, seed=self.seed)


def _end_at_a_signal() -> None:
    """Let the first SIGINT, SIGTERM or SIGHUP end the demo; a second one does not disturb the clean-up."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, lambda: task.cancelling() or task.cancel())


async def _fail(ended: Coroutine[Any, Any, str]) -> None:
    """Raise DemoError when a child ends that should not."""
    raise DemoError(await ended)


async def _first_of(*works: Coroutine[Any, Any, None]) -> None:
    """Return when the first of them does, or raise what it raises; the others are cancelled."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
