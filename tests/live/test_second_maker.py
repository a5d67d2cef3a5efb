"""`wheeld run` at another maker's head over TCP, known by one row of `HEADS`: its games become results and voids."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path

from tests.cli.live import running
from tests.girella import PRODUCT
from tests.girella.wheel import Game, line, said
from tests.live.bench import Subscriber, subscribed
from tests.live.test_head import ANSWERS, write_config
from tests.mosquitto import Mosquitto
from wheeld.exits import Exit

SPEED = 4.0
BEFORE_LAUNCH_US = 4_500_000
GAMES = (Game(24, laps=4), Game(ball="ccw"), Game(0, laps=3), Game(rpm=0.0), Game(17, laps=9))


@asynccontextmanager
async def served(subscriber: Subscriber, games: Sequence[Game]) -> AsyncIterator[int]:
    """The head at a port; it launches each time as bets are open, until its games are over."""

    async def play(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        played = 0
        with closing(writer):
            while not writer.is_closing():
                writer.write(line("BET", played + 1) + line("ROT", 21.5, "ccw"))
                await asyncio.sleep(0.1)
                if played < len(games) and subscriber.of("table") and subscriber.state == "faites_vos_jeux":
                    before_us = BEFORE_LAUNCH_US
                    for at_us, text in sorted(said(played + 1, games[played]), key=lambda each: each[0]):
                        if at_us >= before_us:
                            await asyncio.sleep((at_us - before_us) / 1e6 / SPEED)
                            writer.write(text)
                            before_us = at_us
                    played += 1

    server = await asyncio.start_server(play, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def people(subscriber: Subscriber) -> None:
    """Give the command that the table waits for, again while it is refused: a ball may still fall."""
    while True:
        if subscriber.state in ANSWERS:
            await subscriber.command(ANSWERS[subscriber.state])
        await asyncio.sleep(0.3)


async def test_its_games_are_results_and_voids(tmp_path: Path) -> None:
    with Mosquitto(tmp_path) as broker:
        async with subscribed(broker.port) as subscriber, served(subscriber, GAMES) as port:
            config = write_config(tmp_path, broker.port, f"socket://127.0.0.1:{port}")
            config.write_text(config.read_text().replace("mercury-360", PRODUCT))
            async with running(config, prefix=(sys.executable, "-m", "tests.girella")) as daemon:
                await subscriber.until_state("closed")
                await subscriber.until(lambda: subscriber.of("health")[-1]["sensors"]["head"], "data from the head")
                playing = asyncio.create_task(people(subscriber))
                try:
                    await subscriber.until_verdicts(len(GAMES))
                finally:
                    playing.cancel()
                    await asyncio.wait([playing])
                assert await daemon.end() == Exit.OK
    assert [(result["number"], result["laps"]) for result in subscriber.of("result")] == [(24, 4), (0, 3), (17, 9)]
    assert [void["cause"] for void in subscriber.of("void")] == ["same_direction", "rotor_stopped_running"]
