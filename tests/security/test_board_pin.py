"""The daemon uses no board but the pinned one, to the last verdict: nothing that another reports becomes a fact."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hw_sim.board import SimBoard
from hw_sim.evening import script
from hw_sim.events import SimEvent
from hw_sim.pty_link import Player, Pty
from tests.cli.live import PATIENCE_S, listening, running, setup_of, write_config
from tests.cli.test_run import playing
from tests.mosquitto import Mosquitto

OURS = {"board_serial": "WB-0042", "config_hash": "0123456789abcdef"}
"""What the configuration pins, each by the name of its setting."""


HASTE = 200.0
"""Nobody compares the clock of a board that is refused."""


def pinned() -> str:
    return "\n".join(f'{key} = "{value}"' for key, value in OURS.items())


def until(over: asyncio.Event, events: Iterable[SimEvent]) -> Iterator[SimEvent]:
    """All of them, then set `over`: the player itself waits for a host that takes what the board keeps."""
    yield from events
    over.set()


@pytest.mark.parametrize(("pin", "found"), [("board_serial", "WB-0043"), ("config_hash", "f" * 16)])
async def test_another_board_plays_a_whole_coup_for_nobody(tmp_path: Path, pin: str, found: str) -> None:
    played = script(["valid"], seed=3)
    identity = {**OURS, pin: found}
    setup = replace(setup_of(played), serial=identity["board_serial"], config_hash=identity["config_hash"])
    with Mosquitto(tmp_path) as broker:
        config = write_config(tmp_path, played, broker_port=broker.port, more=pinned())
        async with running(config) as daemon, listening(broker.port) as listener:
            with Pty(tmp_path / "board") as pty:
                player, over = Player(SimBoard(setup), pty, speed=HASTE), asyncio.Event()
                task = asyncio.create_task(player.play(until(over, played.events())))
                refused = await daemon.until("board.refused")
                await asyncio.wait_for(over.wait(), PATIENCE_S)
                await daemon.until("board.link_fault")
                task.cancel()
                await asyncio.wait({task})
            # It never answered, and people have to be told why no game begins.
            await daemon.until("broker.connected")
            assert await daemon.end() == 0
            await listener.until(lambda received: received.of("availability")[-1:] != [], "availability")
    assert refused["what"] == pin
    assert found in str(refused)
    assert not listener.of("result", "void")
    assert {message["state"] for message in listener.of("table")} <= {"closed", "suspended"}


async def test_the_pinned_board_is_used(tmp_path: Path) -> None:
    played = script(["valid"], seed=3)
    setup = replace(setup_of(played), serial=OURS["board_serial"], config_hash=OURS["config_hash"])
    with Mosquitto(tmp_path) as broker:
        config = write_config(tmp_path, played, broker_port=broker.port, more=pinned())
        async with running(config) as daemon, listening(broker.port) as listener:
            await daemon.until("daemon.ready")
            async with playing(played, SimBoard(setup), tmp_path / "board"):
                identified = await daemon.until("board.identified")
                await listener.until(lambda received: received.of("result") != [], "a result")
            assert await daemon.end() == 0
    assert (identified["serial"], identified["config_hash"]) == (OURS["board_serial"], OURS["config_hash"])
