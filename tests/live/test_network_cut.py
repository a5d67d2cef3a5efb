"""The network between daemon and broker is cut in a coup, and the chef speaks meanwhile (docs/rulebook.md N7)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from hw_sim.table import SimTable
from tests.cli.live import running
from tests.faults.broker_proxy import wire_to
from tests.live.bench import ROOT, Wheel, subscribed, turning, write_config
from tests.mosquitto import Mosquitto

REAL_SPEED = 1.0
"""The daemon asks the broker for signs in real seconds, so the wheel turns in real seconds too."""
CUT_S = 4.0
"""Longer than a number takes to be proven after the ball has come to rest."""


def launch(stage: SimTable) -> None:
    """A valid coup, up to some seconds before its ball falls."""
    stage.prepare_launch()
    stage.launch(seconds=8)
    stage.wait_for_part_of_run(0.6, 0.7)


def fall(stage: SimTable) -> None:
    """Its end."""
    stage.result(stage.fall())


async def test_rien_va_that_the_network_delays_voids_the_coup(tmp_path: Path) -> None:
    with Mosquitto(tmp_path) as broker:
        async with (
            wire_to(broker.port) as wire,
            subscribed(broker.port) as subscriber,
            turning(Wheel(seed=4), tmp_path / "board", speed=REAL_SPEED) as wheel,
            running(write_config(tmp_path, wire.port, silence_s=4.0)) as daemon,
        ):
            await subscriber.until_state("closed")
            await daemon.until("board.identified")
            await subscriber.command_when_asked("open")
            await wheel.play(launch)
            await subscriber.until_state("ball_running")
            wire.passes.clear()
            assert subscriber.client is not None
            asked = {"id": "late", "by": "chef", "reason": "a test"}
            await subscriber.client.publish(f"{ROOT}cmd/chef-wheel-1/rien_va", json.dumps(asked), qos=1)
            await wheel.play(fall)
            await asyncio.sleep(CUT_S)
            wire.passes.set()
            await subscriber.until_verdicts(1)
            assert subscriber.verdicts() == ["void chef"]
            await subscriber.until(lambda: subscriber.of("reply")[-1]["id"] == "late", "the chef's answer")
            reply = subscriber.of("reply")[-1]
            assert reply["done"], reply
            assert "no command could arrive" in reply["why"]
