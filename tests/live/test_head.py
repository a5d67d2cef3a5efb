"""`wheeld run` at a simulated Mercury 360 over TCP: its coups become results, and a silent box suspends the table."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hw_sim.cammegh.coups import Model
from hw_sim.cammegh.head import SimHead
from hw_sim.cammegh.ports import Pace, on_tcp
from tests.cammegh.bench import head
from tests.cli.live import running
from tests.live.bench import Subscriber, subscribed
from tests.mosquitto import Mosquitto
from wheeld.exits import Exit

SPEED = 7.0
"""No faster: at any speed a launch is dated a third of a second before its first line, and that must not be before the
bets of the coup opened."""
WAITING_SPEED = 0.5
"""Until the table is open: a line a second, which is no silence, and no launch for nine seconds."""
ANSWERS = {
    "closed": "open",
    "operations": "operations_done",
    "rien_va": "tout_va",
    "suspended": "resume",
}


def write_config(directory: Path, broker_port: int, url: str) -> Path:
    path = directory / "wheel.toml"
    path.write_text(
        f"""\
[table]
site = "live"
id = "wheel-1"
house = "campione"
game = "roulette"
last_number = 17
[wheel]
[head]
product = "mercury-360"
port = "{url}"
[journal]
path = "journal.sqlite"
[mqtt]
host = "127.0.0.1"
port = {broker_port}
"""
    )
    return path


@asynccontextmanager
async def served(wheel: SimHead, *, rfc: bool, speed: float = SPEED) -> AsyncIterator[tuple[str, Pace]]:
    pace = Pace(wheel, speed=speed)
    async with on_tcp(pace, 0, rfc=rfc) as port:
        yield f"{'rfc2217' if rfc else 'socket'}://127.0.0.1:{port}", pace


async def people(subscriber: Subscriber) -> None:
    """Give the command that each published state waits for."""
    done = 0
    while True:
        await subscriber.until(
            lambda: len(subscriber.of("table")) > done and subscriber.state in ANSWERS,  # noqa: B023
            "something to do",
        )
        done = len(subscriber.of("table"))
        await subscriber.command(ANSWERS[subscriber.state])


@pytest.mark.parametrize("rfc", [False, True], ids=["socket", "rfc2217"])
async def test_a_mercury_s_coups_are_results(tmp_path: Path, rfc: bool) -> None:
    wheel = head(Model.MERCURY_360, 7, 3, kinds=["valid"])
    with Mosquitto(tmp_path) as broker:
        async with served(wheel, rfc=rfc) as (url, pace), subscribed(broker.port) as subscriber:
            async with running(write_config(tmp_path, broker.port, url)) as daemon:
                await daemon.until("link.open")
                waiting = Pace(wheel, speed=WAITING_SPEED)
                waiting.ports = pace.ports
                speaking = asyncio.create_task(waiting.run())
                await subscriber.until_state("closed")
                playing = [asyncio.create_task(people(subscriber))]
                await subscriber.until_state("faites_vos_jeux")
                speaking.cancel()
                playing.append(asyncio.create_task(pace.run()))
                try:
                    await subscriber.until_verdicts(3)
                finally:
                    for task in playing:
                        task.cancel()
                    await asyncio.wait(playing)
                assert await daemon.end() == Exit.OK
            results = subscriber.of("result")
            played = [coup.number for coup in wheel.truth]  # each once it is over, which may be after its number
            numbers = [result["number"] for result in results]
            assert len(played) >= 2
            assert numbers[: len(played)] == played[: len(numbers)]
            assert all(result["laps"] >= 3 and result["margin"] is None for result in results)


async def test_a_box_that_falls_silent_suspends_the_table(tmp_path: Path) -> None:
    wheel = head(Model.MERCURY_360, 7, 3, kinds=["valid"])
    with Mosquitto(tmp_path) as broker:
        async with (
            subscribed(broker.port) as subscriber,
            served(wheel, rfc=False, speed=WAITING_SPEED) as (url, pace),
            running(write_config(tmp_path, broker.port, url)) as daemon,
        ):
            await daemon.until("link.open")
            playing = asyncio.create_task(pace.run())
            try:
                await subscriber.until_state("closed")
                await subscriber.until(lambda: subscriber.of("health")[-1]["sensors"]["head"], "data from the head")
                await subscriber.command_when_asked("open")
                await subscriber.until_state("faites_vos_jeux")
            finally:
                playing.cancel()
                await asyncio.wait([playing])
            await subscriber.until_state("suspended")
            assert subscriber.of("health")[-1]["sensors"]["link"] is True
            assert await daemon.end() == Exit.OK
