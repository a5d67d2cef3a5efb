"""A whole table for a test: a simulated wheel, `wheeld run` as a process, and a subscriber at the broker."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import ssl
import subprocess
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiomqtt

from hw_sim.board import SimBoard
from hw_sim.configuration import board_setup, sections
from hw_sim.demo import LAYOUT
from hw_sim.evening import repeatable
from hw_sim.events import SimEvent
from hw_sim.live_table import QUICK_PAUSE_FACTOR, LiveTable
from hw_sim.pty_link import Player, Pty
from hw_sim.scenarios import SCENARIOS
from hw_sim.scenarios.registry import Play
from hw_sim.table import Outcome, SimTable
from tests.cli.live import PATIENCE_S, Daemon, running

SPEED = 30.0
FIRST_NUMBER = 17
ROOT = "wheel/v1/live/wheel-1/"
FEED = ("result", "void", "ruling", "table")
TABLE_TOPICS = (*FEED, "notice", "board")
"""The topics of the table itself; the others are the daemon's."""


def write_config(
    directory: Path,
    port: int,
    *,
    table: str = "wheel-1",
    journal: str = "journal.sqlite",
    signing_key: Path | None = None,
    silence_s: float = 1.0,
    test: bool = False,
    **mqtt: Any,
) -> Path:
    """Write the configuration of the bench's wheel; `mqtt` has more keys of that section. Returns its path."""
    wheel = sections(LAYOUT, site="live", table=table, last_number=FIRST_NUMBER, port=directory / "board", speed=1000)
    wheel = wheel.replace("silence_s_max = 0.2", f"silence_s_max = {silence_s}")
    if test:
        wheel = wheel.replace("[table]\n", "[table]\ntest = true\n")
    more = [f"{key} = {json.dumps(value, default=str)}" for key, value in mqtt.items()]
    path = directory / "wheel.toml"
    signing = [] if signing_key is None else [f'signing_key_file = "{signing_key}"']
    rest = ["[journal]", f'path = "{journal}"', *signing, "[mqtt]", 'host = "127.0.0.1"', f"port = {port}", *more, ""]
    path.write_text("\n".join([wheel, *rest]))
    return path


class Wheel:
    """Plays scenarios one after the other, and waits in between; `truth` has their true outcomes."""

    def __init__(self, seed: int) -> None:
        self.live_table = LiveTable(LAYOUT, repeatable(f"live {seed}"), FIRST_NUMBER)
        self.live_table.table.pause_factor = QUICK_PAUSE_FACTOR
        self.board = SimBoard(board_setup(LAYOUT), boot_id=seed)
        self.noise: random.Random | None = None
        """When set, it draws bytes that are put on the line between the frames."""
        self._asked: deque[tuple[Play, asyncio.Future[None]]] = deque()

    @property
    def truth(self) -> list[Outcome]:
        return self.live_table.table.truth

    async def play(self, *plays: str | Play) -> None:
        """Play them; returns when they are over on the wheel's clock."""
        for play in plays:
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._asked.append((SCENARIOS[play] if isinstance(play, str) else play, done))
            async with asyncio.timeout(PATIENCE_S):
                await done

    async def press(self, name: str) -> None:
        """Someone presses a button."""

        def give(stage: SimTable) -> None:
            stage.command(name)
            stage.wait(0.2, 0.4)

        await self.play(give)

    def happen(self, event: SimEvent) -> None:
        self.board.feed(event)
        rng = self.noise
        if rng is not None and rng.random() < 0.1:
            self.board.babble(rng.choice((b"boot: ok\r\n", bytes(3), rng.randbytes(rng.randint(1, 300)))) + b"\0")

    def events(self) -> Iterator[SimEvent]:
        while True:
            if self._asked:
                play, done = self._asked.popleft()
                yield from self.live_table.play(play)
                if not done.done():  # the test may have gone away meanwhile
                    done.set_result(None)
            else:
                yield from self.live_table.wait(0.5)


@asynccontextmanager
async def turning(wheel: Wheel, path: Path, *, speed: float = SPEED) -> AsyncIterator[Wheel]:
    """Run the wheel until the block ends, with its port at `path`; `speed`: simulated seconds in a real one."""
    with Pty(path) as pty:
        task = asyncio.create_task(Player(wheel.board, pty, speed=speed, deliver=wheel.happen).play(wheel.events()))
        try:
            yield wheel
            assert not task.done(), task
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


class Subscriber:
    """Keeps every payload as it came, in order, across any number of connections.

    With `settles` it acknowledges all that it has without a gap, as a settlement core does.
    """

    leaves: tuple[str, ...] = ("#",)
    """What it subscribes to."""

    def __init__(self, *, settles: bool = False) -> None:
        self._settles = settles
        self.received: list[tuple[str, bytes]] = []
        self.client: aiomqtt.Client | None = None
        self._news = asyncio.Event()

    async def receive(self, client: aiomqtt.Client) -> None:
        async for message in client.messages:
            leaf = message.topic.value.removeprefix(ROOT)
            assert isinstance(message.payload, bytes)
            if not leaf.startswith(("cmd/", "ack")):
                self.received.append((leaf, message.payload))
                self.note(leaf, message.payload)
                self._news.set()
            if self._settles and leaf in FEED:
                await client.publish(f"{ROOT}ack", json.dumps({"seq": self._without_gap()}), qos=1)

    def note(self, leaf: str, payload: bytes) -> None:
        """A message has come; for those that keep more of it."""

    def _without_gap(self) -> int:
        seqs = self.feed()
        return next(seq for seq in range(1, len(seqs) + 2) if seq not in seqs) - 1

    def of(self, *leaves: str) -> list[dict[str, Any]]:
        return [json.loads(payload) for leaf, payload in self.received if leaf in leaves]

    def feed(self) -> dict[int, bytes]:
        """The sequenced messages in the order in which they first came; the same number must have the same bytes."""
        found: dict[int, bytes] = {}
        for leaf, payload in self.received:
            if leaf in FEED:
                assert found.setdefault(json.loads(payload)["seq"], payload) == payload
        return found

    def verdicts(self) -> list[str]:
        """Each coup's outcome, once."""
        messages = [json.loads(payload) for payload in self.feed().values()]
        return [outcome for message in messages if (outcome := _outcome(message))]

    async def until(self, matches: Callable[[], bool], what: str) -> None:
        """Return when `matches` is true; fails with the last messages that came instead."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not matches():
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"{what} did not come; the last messages: {self.received[-8:]}") from None

    async def until_state(self, state: str) -> None:
        """Return when that is the last published state."""
        await self.until(lambda: self.state == state, f"state {state}")

    async def until_verdicts(self, count: int) -> None:
        await self.until(lambda: len(self.verdicts()) >= count, f"verdict {count}")

    async def until_replies(self, after: int, *names: str) -> None:
        """Return when the commands that were answered after so many are these, and no other."""
        await self.until(lambda: len(self.of("reply")) >= after + len(names), f"answers to {names}")
        assert [one["name"] for one in self.of("reply")[after:]] == [*names]

    @property
    def state(self) -> str:
        states = self.of("table")
        return str(states[-1]["state"]) if states else ""

    async def command_when_asked(self, name: str, by: str = "inspector") -> None:
        """Send a command once it is the next thing that the table waits for, as people do who read it."""
        await self.until(lambda: self.of("table")[-1]["waiting_codes"][:1] == [name], f"{name} asked for")
        await self.command(name, by)

    async def command(self, name: str, by: str = "inspector", *, user: str = "chef-wheel-1") -> None:
        """Send a command as a panel would, and check that the reply says it is done."""
        assert self.client is not None
        asked = {"id": f"{name}-{len(self.received)}", "by": by, "reason": "a test"}
        await self.client.publish(f"{ROOT}cmd/{user}/{name}", json.dumps(asked), qos=1)
        await self.until(lambda: any(one["id"] == asked["id"] for one in self.of("reply")), f"an answer to {name}")
        (reply,) = [one for one in self.of("reply") if one["id"] == asked["id"]]
        assert reply["done"], reply


def _outcome(message: dict[str, Any]) -> str:
    if "cause" in message:
        return f"void {message['cause']}"
    is_result = "number" in message and "about" not in message  # a ruling may name a number, too
    return f"result {message['number']}" if is_result else ""


def expected(truth: list[Outcome]) -> list[str]:
    """The true outcomes, written as in `Subscriber.verdicts`."""
    return [_outcome(dict(outcome)) for outcome in truth]


@asynccontextmanager
async def subscribed(
    port: int, subscriber: Subscriber | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Subscriber]:
    """A subscriber of all topics of the table, until the block ends."""
    subscriber = subscriber or Subscriber()
    with contextlib.suppress(aiomqtt.MqttError):  # a killed broker does not answer the disconnect
        async with aiomqtt.Client("127.0.0.1", port, tls_context=tls) as client:
            await client.subscribe([(ROOT + leaf, 1) for leaf in subscriber.leaves])
            subscriber.client = client
            task = asyncio.create_task(subscriber.receive(client))
            try:
                yield subscriber
            finally:
                task.cancel()
                await asyncio.wait([task])


@asynccontextmanager
async def table(
    directory: Path,
    port: int,
    *,
    seed: int,
    prefix: Sequence[str] = (),
    speed: float = SPEED,
    subscriber: Subscriber | None = None,
    tls: ssl.SSLContext | None = None,
    **config: Any,
) -> AsyncIterator[tuple[Wheel, Subscriber, Daemon]]:
    """Wheel, subscriber and daemon together, the table open and ready for its first coup; `prefix` as in `running`,
    `tls` of the subscriber."""
    path = write_config(directory, port, **config)
    async with (
        subscribed(port, subscriber, tls) as listening,
        turning(Wheel(seed), directory / "board", speed=speed) as wheel,
        running(path, prefix=prefix) as daemon,
    ):
        await listening.until_state("closed")
        await daemon.until("board.identified")
        await wheel.press("open")
        await listening.until_state("faites_vos_jeux")
        yield wheel, listening, daemon


def wheeld(*arguments: str | Path, data: bytes = b"", prefix: Sequence[str] = ()) -> subprocess.CompletedProcess[bytes]:
    """Run the command to its end."""
    return subprocess.run(
        [*prefix, sys.executable, "-m", "wheeld", *map(str, arguments)],
        input=data,
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
