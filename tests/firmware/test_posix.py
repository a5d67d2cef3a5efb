"""The firmware as a program on a pseudo-terminal, with `wheeld run` and a broker behind it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hw_sim.cable import Cable
from hw_sim.configuration import board_setup
from hw_sim.demo import LAYOUT
from tests.cli.live import Daemon, running
from tests.firmware.harness import CORE, SANITIZERS, compiled, core
from tests.firmware.posix_board import playing
from tests.live.bench import Subscriber, Wheel, expected, subscribed, write_config
from tests.mosquitto import Mosquitto
from wheeld.exits import Exit

COUPS = ("valid", "same_direction", "too_few_laps", "foreign_object", "obstacle_falls", "valid") * int(
    os.environ.get("WHEELD_FIRMWARE_COUPS", "1")
)
OF_FIRMWARE = {"no_events", "level_without_event", "heartbeat_interval"}
"""The troubles that a board's program causes, whatever its line and its host do."""
STANDS_STILL_S = 2.0
RING = "-DBOARD_RING_EVENTS=16000u"
"""Longer than a daemon takes to start, at twenty times the speed of life."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The port for POSIX."""
    program = tmp_path_factory.mktemp("firmware") / "board"
    sources = CORE / "posix" / "main.c", *core("codec", "board", "sensors")
    return compiled(program, *sources, options=(*SANITIZERS, RING))


@asynccontextmanager
async def playing_at_table(
    program: Path, directory: Path, wheel: Wheel, cable: Cable, *, speed: float
) -> AsyncIterator[tuple[Subscriber, Daemon]]:
    """Board, broker and daemon, and a table that is open. At the end the daemon is ended."""
    with Mosquitto(directory) as broker:
        config = write_config(directory, broker.port)
        async with (
            subscribed(broker.port) as subscriber,
            playing(program, board_setup(LAYOUT), wheel.events(), directory / "board", cable, speed=speed),
            running(config) as daemon,
        ):
            await subscriber.until_state("closed")
            await daemon.until("board.identified")
            await wheel.press("open")
            await subscriber.until_state("faites_vos_jeux")
            yield subscriber, daemon
            await subscriber.until_verdicts(len(wheel.truth))
            assert await daemon.end() == Exit.OK


def troubles(subscriber: Subscriber) -> set[str]:
    """All that were ever told."""
    return {name for one in subscriber.of("health") for names in one["troubles"].values() for name in names}


@pytest.mark.parametrize(("damage", "speed"), [(0.0, 20.0), (0.002, 5.0)])
async def test_its_verdicts_are_the_truth(program: Path, tmp_path: Path, damage: float, speed: float) -> None:
    """Also while one of 500 bytes is damaged, in both directions. The host then asks again as slowly as in life."""
    coups = COUPS[: len(COUPS) // 3] if damage else COUPS
    wheel = Wheel(1)
    async with playing_at_table(program, tmp_path, wheel, Cable(1, damage=damage), speed=speed) as (subscriber, _):
        await wheel.play(*coups)
    assert subscriber.verdicts() == expected(wheel.truth)
    assert len(wheel.truth) >= len(coups)
    assert not troubles(subscriber) & OF_FIRMWARE


async def test_a_daemon_that_stands_still_loses_nothing(program: Path, tmp_path: Path) -> None:
    """It reads nothing for some seconds of a coup, and its computer keeps nothing: all comes from the ring."""
    wheel, cable = Wheel(2), Cable()
    async with playing_at_table(program, tmp_path, wheel, cable, speed=5.0) as (subscriber, daemon):
        plays = asyncio.create_task(wheel.play("valid", "valid"))
        await subscriber.until_state("ball_running")
        daemon.process.send_signal(signal.SIGSTOP)
        cable.cut = True
        await asyncio.sleep(STANDS_STILL_S)
        cable.cut = False
        daemon.process.send_signal(signal.SIGCONT)
        await plays
        await subscriber.until_verdicts(len(wheel.truth))
        await subscriber.until(lambda: counted(subscriber)["replay_requests"] > 0, "a replay")
    assert subscriber.verdicts() == expected(wheel.truth)
    assert counted(subscriber)["lost_events"] == 0
    assert not troubles(subscriber)


def counted(subscriber: Subscriber) -> dict[str, int]:
    """The latest counters of the board."""
    return dict(subscriber.of("health")[-1]["counters"]["board"])
