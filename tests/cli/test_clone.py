"""A cloned card: two computers with the same journal, key and client id run one table. One of them has to stop."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from hw_sim.board import SimBoard
from hw_sim.evening import Evening, script
from hw_sim.pty_link import Player, Pty
from tests.cli.live import Daemon, Listener, listening, running, setup_of, write_config
from tests.mosquitto import Mosquitto
from wheeld.exits import Exit

ROUNDS = int(os.environ.get("WHEELD_CLONES", "2"))
TWO = "another computer runs this table with this key"
SPEED = 10.0
STOP_S = 30.0
"""One has stopped by then. Two that begin at one moment push each other out until one waits for three seconds."""
SEEDS = [f"{os.environ.get('WHEELD_CLONES_SEED', 'clones')} {number}" for number in range(ROUNDS)]


async def played_once(computer: Path, evening: Evening, broker: Mosquitto) -> Path:
    """A computer whose journal has a few messages, which are published."""
    config = write_config(computer, evening, broker_port=broker.port)
    with Pty(computer / "board"):
        async with listening(broker.port) as listener, running(config) as daemon:
            await daemon.until("broker.connected")
            await listener.until(lambda came: len(came.of("table")) > 0, "a table")
            assert await daemon.end() == Exit.OK
    return config


def cloned(computer: Path, clone: Path) -> Path:
    shutil.copytree(computer, clone, ignore=shutil.ignore_patterns("board", "*.lock"))
    config = clone / "wheel.toml"
    config.write_text(config.read_text().replace(str(computer), str(clone)))
    return config


def doubled(listener: Listener) -> list[int]:
    """The numbers that went to different messages."""
    seen: dict[int, str] = {}
    return [
        message["seq"]
        for message in listener.of("result", "void", "table")
        if seen.setdefault(message["seq"], message["hash"]) != message["hash"]
    ]


async def first_to_end(daemons: list[Daemon]) -> Daemon:
    ends = {asyncio.create_task(each.process.wait()): each for each in daemons}
    try:
        async with asyncio.timeout(STOP_S):
            done, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in ends:
            task.cancel()
    return ends[done.pop()]


@pytest.mark.parametrize("seed", SEEDS)
async def test_of_two_computers_that_are_started_together_one_stops(
    tmp_path: Path, broker: Mosquitto, seed: str
) -> None:
    rng, evening = random.Random(seed), script(["valid", "valid"], seed=3)
    (tmp_path / "a").mkdir()
    config = await played_once(tmp_path / "a", evening, broker)
    configs = [config, cloned(tmp_path / "a", tmp_path / "b")]
    rng.shuffle(configs)
    async with listening(broker.port) as listener, AsyncExitStack() as stack:
        daemons = []
        for each in configs:
            pty = stack.enter_context(Pty(each.parent / "board"))
            board = SimBoard(setup_of(evening), boot_id=rng.randrange(1 << 32))
            task = asyncio.create_task(Player(board, pty, speed=SPEED).play(evening.events()))
            stack.callback(task.cancel)
            daemons.append(await stack.enter_async_context(running(each)))
            await asyncio.sleep(rng.choice([0.0, 0.05, 0.3, 1.0, 2.0]) * rng.random())
        stopped = await first_to_end(daemons)
        (other,) = (each for each in daemons if each is not stopped)
        assert await stopped.end(None) == Exit.BAD_DATA, (seed, stopped.logs)
        assert TWO in stopped.logs[-1]["why"], (seed, stopped.logs)
        # The other one goes on, and it is heard.
        heard = len(listener.received)
        await listener.until(lambda came: any(leaf == "health" for leaf, _ in came.received[heard:]), "its health")
        assert other.process.returncode is None, (seed, other.logs)
        assert await other.end() == Exit.OK
        assert doubled(listener) == [], seed
