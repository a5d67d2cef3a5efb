"""A whole table for a test: a wheel played as the test asks, `wheeld run` as a process, and who hears the broker."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
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
from hw_sim.events import SensorState, SimEvent
from hw_sim.live_table import QUICK_PAUSE_FACTOR, LiveTable
from hw_sim.pty_link import Player, Pty
from hw_sim.scenarios import SCENARIOS
from hw_sim.scenarios.registry import Play
from hw_sim.table import Outcome, SimTable
from hw_sim.world import us
from tests.cli.live import PATIENCE_S, Daemon, running

SPEED = 30.0
FIRST_NUMBER = 17
ROOT = "wheel/v1/live/wheel-1/"
FEED = ("result", "void", "table")
TOLD = (*FEED, "notice", "board")
"""What the table itself says; the rest is the daemon's own."""


def write_config(
    directory: Path,
    port: int,
    *,
    journal: str = "journal.sqlite",
    signing_key: Path | None = None,
    silence_s: float = 1.0,
    **mqtt: Any,
) -> Path:
    """The configuration of the bench's wheel; `mqtt` are more keys of that section."""
    wheel = sections(
        LAYOUT, site="live", table="wheel-1", last_number=FIRST_NUMBER, port=directory / "board", speed=1000
    )
    wheel = wheel.replace("silence_s_max = 0.2", f"silence_s_max = {silence_s}")
    more = [f"{key} = {json.dumps(value)}" for key, value in mqtt.items()]
    path = directory / "wheel.toml"
    signing = [] if signing_key is None else [f'signing_key_file = "{signing_key}"']
    rest = ["[journal]", f'path = "{journal}"', *signing, "[mqtt]", 'host = "127.0.0.1"', f"port = {port}", *more, ""]
    path.write_text("\n".join([wheel, *rest]))
    return path


class Wheel:
    """Plays what it is asked to, one after the other, and idles in between; `truth` is what came of it."""

    def __init__(self, seed: int) -> None:
        self.night = LiveTable(LAYOUT, repeatable(f"live {seed}"), FIRST_NUMBER)
        self.night.table.pause_factor = QUICK_PAUSE_FACTOR
        self.board = SimBoard(board_setup(LAYOUT), boot_id=seed)
        self.rubbish: random.Random | None = None
        """Luck that puts bytes on the line, between the frames, that nobody meant."""
        self._asked: deque[tuple[Play, asyncio.Future[None]]] = deque()

    @property
    def truth(self) -> list[Outcome]:
        return self.night.table.truth

    async def play(self, *plays: str | Play) -> None:
        """Return when they have been played, on the wheel's clock."""
        for play in plays:
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._asked.append((SCENARIOS[play] if isinstance(play, str) else play, done))
            async with asyncio.timeout(PATIENCE_S):
                await done

    async def press(self, name: str) -> None:
        """Someone presses a button."""

        def word(stage: SimTable) -> None:
            stage.command(name)
            stage.wait(0.2, 0.4)

        await self.play(word)

    def happen(self, event: SimEvent) -> None:
        self.board.feed(event)
        luck = self.rubbish
        if luck is not None and luck.random() < 0.1:
            self.board.babble(luck.choice((b"boot: ok\r\n", bytes(3), luck.randbytes(luck.randint(1, 300)))) + b"\0")

    def events(self) -> Iterator[SimEvent]:
        while True:
            if self._asked:
                play, done = self._asked.popleft()
                yield from self.night.play(play)
                done.set_result(None)
            else:
                yield from self.night.wait(0.5)


@asynccontextmanager
async def turning(wheel: Wheel, path: Path) -> AsyncIterator[Wheel]:
    """The wheel turns, its port at `path`."""
    with Pty(path) as pty:
        task = asyncio.create_task(Player(wheel.board, pty, speed=SPEED, deliver=wheel.happen).play(wheel.events()))
        try:
            yield wheel
            assert not task.done(), task
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


class Ear:
    """A subscriber that keeps every payload as it came, in order, across any number of connections.

    One that `settles` acknowledges all that it has without a gap, as a settlement core does.
    """

    def __init__(self, *, settles: bool = False) -> None:
        self._settles = settles
        self.heard: list[tuple[str, bytes]] = []
        self.client: aiomqtt.Client | None = None
        self._news = asyncio.Event()

    async def listen(self, client: aiomqtt.Client) -> None:
        async for message in client.messages:
            leaf = message.topic.value.removeprefix(ROOT)
            assert isinstance(message.payload, bytes)
            if not leaf.startswith(("cmd/", "ack")):
                self.heard.append((leaf, message.payload))
                self._news.set()
            if self._settles and leaf in FEED:
                await client.publish(f"{ROOT}ack", json.dumps({"seq": self._without_gap()}), qos=1)

    def _without_gap(self) -> int:
        seqs = self.feed()
        return next(seq for seq in range(1, len(seqs) + 2) if seq not in seqs) - 1

    def of(self, *leaves: str) -> list[dict[str, Any]]:
        return [json.loads(payload) for leaf, payload in self.heard if leaf in leaves]

    def feed(self) -> dict[int, bytes]:
        """The sequenced messages in the order of their first coming; the same number must carry the same bytes."""
        found: dict[int, bytes] = {}
        for leaf, payload in self.heard:
            if leaf in FEED:
                assert found.setdefault(json.loads(payload)["seq"], payload) == payload
        return found

    def verdicts(self) -> list[str]:
        """Each coup's outcome, once."""
        told = [json.loads(payload) for payload in self.feed().values()]
        return [outcome for said in told if (outcome := _outcome(said))]

    async def until(self, matches: Callable[[], bool], what: str) -> None:
        """Return when it is so; fails with the last of what was heard instead."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not matches():
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"{what} did not come; heard at last {self.heard[-8:]}") from None

    async def until_state(self, state: str) -> None:
        """Return when that is the last state heard."""
        await self.until(lambda: self.state == state, f"state {state}")

    async def until_verdicts(self, count: int) -> None:
        await self.until(lambda: len(self.verdicts()) >= count, f"verdict {count}")

    @property
    def state(self) -> str:
        states = self.of("table")
        return str(states[-1]["state"]) if states else ""

    async def command(self, name: str, by: str = "inspector") -> None:
        """Send a command as a panel would, and see it done."""
        assert self.client is not None
        asked = {"id": f"{name}-{len(self.heard)}", "by": by, "reason": "a test"}
        await self.client.publish(f"{ROOT}cmd/{name}", json.dumps(asked), qos=1)
        await self.until(lambda: any(said["id"] == asked["id"] for said in self.of("reply")), f"an answer to {name}")
        (reply,) = [said for said in self.of("reply") if said["id"] == asked["id"]]
        assert reply["done"], reply


def _outcome(said: dict[str, Any]) -> str:
    if "cause" in said:
        return f"void {said['cause']}"
    return f"result {said['number']}" if "number" in said else ""


def expected(truth: list[Outcome]) -> list[str]:
    """The truth in the words of `Ear.verdicts`."""
    return [_outcome(dict(outcome)) for outcome in truth]


@asynccontextmanager
async def hearing(port: int, ear: Ear | None = None) -> AsyncIterator[Ear]:
    """Subscribed to the whole table until this is left."""
    ear = ear or Ear()
    with contextlib.suppress(aiomqtt.MqttError):  # a broker that was killed cannot be taken leave of
        async with aiomqtt.Client("127.0.0.1", port) as client:
            await client.subscribe(ROOT + "#", qos=1)
            ear.client = client
            task = asyncio.create_task(ear.listen(client))
            try:
                yield ear
            finally:
                task.cancel()
                await asyncio.wait([task])


@asynccontextmanager
async def table(
    directory: Path, port: int, *, seed: int, prefix: Sequence[str] = (), **config: Any
) -> AsyncIterator[tuple[Wheel, Ear, Daemon]]:
    """Wheel, ear and daemon together, the table open and ready for its first coup; `prefix` as in `running`."""
    path = write_config(directory, port, **config)
    async with (
        hearing(port) as ear,
        turning(Wheel(seed), directory / "board") as wheel,
        running(path, prefix=prefix) as daemon,
    ):
        await ear.until_state("closed")
        await daemon.until("board.identified")
        await wheel.press("open")
        await ear.until_state("faites_vos_jeux")
        yield wheel, ear, daemon


def cut(seconds: float) -> Play:
    """A coup in whose run the cable fails for so many simulated seconds; the wheel itself knows nothing of it."""

    def play(stage: SimTable) -> None:
        stage.prepare_launch()
        stage.launch(seconds=8)
        stage.wait_for_part_of_run(0.3, 0.4)
        for at_s, ok in ((stage.now_s, False), (stage.now_s + seconds, True)):
            stage.world.direct_events.append(SensorState(us(at_s), "link", ok=ok))
        mended_s = stage.now_s + seconds
        stage.result(stage.fall())
        stage.wait_until(mended_s)
        stage.wait(0.5, 1)

    return play


def wheeld(*arguments: str | Path, data: bytes = b"", prefix: Sequence[str] = ()) -> subprocess.CompletedProcess[bytes]:
    """Run the command to its end."""
    return subprocess.run(
        [*prefix, sys.executable, "-m", "wheeld", *map(str, arguments)],
        input=data,
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
