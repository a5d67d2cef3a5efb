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
from tests.live.bench import Ear, hearing
from tests.mosquitto import Mosquitto
from wheeld.exits import Exit

SPEED = 7.0
"""No faster: a launch dates from a third of a second before its first line, whatever the speed, and must not have been
before the bets of that coup opened."""
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
async def served(wheel: SimHead, *, rfc: bool) -> AsyncIterator[tuple[str, Pace]]:
    pace = Pace(wheel, speed=SPEED)
    async with on_tcp(pace, 0, rfc=rfc) as port:
        yield f"{'rfc2217' if rfc else 'socket'}://127.0.0.1:{port}", pace


async def people(ear: Ear) -> None:
    """Whatever the table waits for that a person does, is done, once it is said."""
    done = 0
    while True:
        await ear.until(lambda: len(ear.of("table")) > done and ear.state in ANSWERS, "something to do")  # noqa: B023
        done = len(ear.of("table"))
        await ear.command(ANSWERS[ear.state])


@pytest.mark.parametrize("rfc", [False, True], ids=["socket", "rfc2217"])
async def test_a_mercury_s_coups_are_results(tmp_path: Path, rfc: bool) -> None:
    wheel = head(Model.MERCURY_360, 7, 3, kinds=["valid"])
    with Mosquitto(tmp_path) as broker:
        async with served(wheel, rfc=rfc) as (url, pace), hearing(broker.port) as ear:
            async with running(write_config(tmp_path, broker.port, url)) as daemon:
                await daemon.until("link.open")
                await ear.until_state("closed")
                playing = [asyncio.create_task(people(ear))]
                await ear.until_state("faites_vos_jeux")
                playing.append(asyncio.create_task(pace.run()))
                try:
                    await ear.until_verdicts(3)
                finally:
                    for task in playing:
                        task.cancel()
                    await asyncio.wait(playing)
                assert await daemon.end() == Exit.OK
            results = ear.of("result")
            played = [coup.number for coup in wheel.truth]  # each once it is over, which may be after its number
            told = [result["number"] for result in results]
            assert len(played) >= 2
            assert told[: len(played)] == played[: len(told)]
            assert all(result["laps"] >= 3 and result["margin"] is None for result in results)


async def test_a_box_that_falls_silent_suspends_the_table(tmp_path: Path) -> None:
    wheel = head(Model.MERCURY_360, 7, 3, kinds=["valid"])
    with Mosquitto(tmp_path) as broker:
        async with (
            hearing(broker.port) as ear,
            served(wheel, rfc=False) as (url, pace),
            running(write_config(tmp_path, broker.port, url)) as daemon,
        ):
            await ear.until_state("closed")
            living = asyncio.create_task(pace.run())
            try:
                await ear.until(lambda: ear.of("health")[-1]["sensors"]["head"], "the head is heard")
                await ear.command("open")
                await ear.until_state("faites_vos_jeux")
            finally:
                living.cancel()
                await asyncio.wait([living])
            await ear.until_state("suspended")
            assert ear.of("health")[-1]["sensors"]["link"] is True
            assert await daemon.end() == Exit.OK
