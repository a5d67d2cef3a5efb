"""The firmware as a program on a pseudo-terminal, with `wheeld run` and a broker behind it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hw_sim.configuration import board_setup
from hw_sim.demo import LAYOUT
from tests.cli.live import running
from tests.firmware.harness import CORE, SANITIZERS, compiled, core
from tests.firmware.posix_board import playing
from tests.live.bench import Wheel, expected, subscribed, write_config
from tests.mosquitto import Mosquitto
from wheeld.exits import Exit

COUPS = ("valid", "same_direction", "too_few_laps", "foreign_object", "obstacle_falls", "valid")
SPEED = 20.0
RING = "-DBOARD_RING_EVENTS=16000u"
"""Longer than a daemon takes to start, at that speed."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The port for POSIX."""
    program = tmp_path_factory.mktemp("firmware") / "board"
    sources = CORE / "posix" / "main.c", *core("codec", "board", "sensors")
    return compiled(program, *sources, options=(*SANITIZERS, RING))


async def test_its_verdicts_are_the_truth(program: Path, tmp_path: Path) -> None:
    wheel = Wheel(1)
    with Mosquitto(tmp_path) as broker:
        config = write_config(tmp_path, broker.port)
        async with (
            subscribed(broker.port) as subscriber,
            playing(program, board_setup(LAYOUT), wheel.events(), tmp_path / "board", speed=SPEED, boot_id=7),
            running(config) as daemon,
        ):
            await subscriber.until_state("closed")
            await daemon.until("board.identified")
            await wheel.press("open")
            await subscriber.until_state("faites_vos_jeux")
            await wheel.play(*COUPS)
            await subscriber.until_verdicts(len(wheel.truth))
            assert await daemon.end() == Exit.OK
    assert subscriber.verdicts() == expected(wheel.truth)
    assert len(wheel.truth) >= len(COUPS)
