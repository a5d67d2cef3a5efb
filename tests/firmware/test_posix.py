"""The firmware as a program on a pseudo-terminal, with `wheeld run` and a broker behind it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hw_sim.cable import Cable
from hw_sim.configuration import board_setup
from hw_sim.demo import LAYOUT
from tests.cli.live import running
from tests.firmware.harness import CORE, SANITIZERS, compiled, core
from tests.firmware.posix_board import playing
from tests.live.bench import Wheel, expected, subscribed, write_config
from tests.mosquitto import Mosquitto
from wheeld.exits import Exit

COUPS = ("valid", "same_direction", "too_few_laps", "foreign_object", "obstacle_falls", "valid") * int(
    os.environ.get("WHEELD_FIRMWARE_COUPS", "1")
)
OF_FIRMWARE = {"no_events", "level_without_event", "heartbeat_interval"}
"""The troubles that a board's program causes, whatever its line and its host do."""
RING = "-DBOARD_RING_EVENTS=16000u"
"""Longer than a daemon takes to start, at twenty times the speed of life."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The port for POSIX."""
    program = tmp_path_factory.mktemp("firmware") / "board"
    sources = CORE / "posix" / "main.c", *core("codec", "board", "sensors")
    return compiled(program, *sources, options=(*SANITIZERS, RING))


@pytest.mark.parametrize(("damage", "speed"), [(0.0, 20.0), (0.002, 5.0)])
async def test_its_verdicts_are_the_truth(program: Path, tmp_path: Path, damage: float, speed: float) -> None:
    """Also while one of 500 bytes is damaged, in both directions. The host then asks again as slowly as in life."""
    coups = COUPS[: len(COUPS) // 3] if damage else COUPS
    wheel, cable = Wheel(1), Cable(1, damage=damage)
    with Mosquitto(tmp_path) as broker:
        config = write_config(tmp_path, broker.port)
        async with (
            subscribed(broker.port) as subscriber,
            playing(program, board_setup(LAYOUT), wheel.events(), tmp_path / "board", cable, speed=speed),
            running(config) as daemon,
        ):
            await subscriber.until_state("closed")
            await daemon.until("board.identified")
            await wheel.press("open")
            await subscriber.until_state("faites_vos_jeux")
            await wheel.play(*coups)
            await subscriber.until_verdicts(len(wheel.truth))
            assert await daemon.end() == Exit.OK
    assert subscriber.verdicts() == expected(wheel.truth)
    assert len(wheel.truth) >= len(coups)
    troubles = {name for one in subscriber.of("health") for names in one["troubles"].values() for name in names}
    assert not troubles & OF_FIRMWARE
