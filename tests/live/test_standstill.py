"""The daemon is stopped (SIGSTOP) while a ball runs: what the chef said meanwhile decides, also when the broker has
given the daemon up."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path

import pytest

from hw_sim.scenarios.registry import Play
from hw_sim.table import SimTable
from tests.live.bench import ROOT, Subscriber, table
from tests.mosquitto import Mosquitto
from wheeld.exits import Exit

SPEED = 2.0
"""A coup takes about seven real seconds; the broker gives up a daemon that it has not heard for two."""


def coup(stage: SimTable) -> None:
    stage.prepare_launch()
    stage.launch(seconds=8)
    stage.result(stage.fall())
    stage.wait(1, 2)


COUP: Play = coup


async def say(subscriber: Subscriber, name: str, **more: str) -> None:
    assert subscriber.client is not None
    asked = {"id": f"word-{name}", "by": "chef", "reason": "a bet was late", **more}
    await subscriber.client.publish(f"{ROOT}cmd/chef-wheel-1/{name}", json.dumps(asked), qos=1)


def is_offline(subscriber: Subscriber) -> bool:
    """Whether the broker has published the last will of the daemon."""
    return bool(subscriber.of("availability")[-1]["state"] == "offline")


@pytest.mark.parametrize("given_up", [False, True])
async def test_rien_va_said_while_the_daemon_stands_still_voids_the_coup(
    tmp_path: Path, broker: Mosquitto, *, given_up: bool
) -> None:
    keepalive_s = 1 if given_up else 60
    async with table(tmp_path, broker.port, seed=3, speed=SPEED, keepalive_s=keepalive_s) as (
        wheel,
        subscriber,
        daemon,
    ):
        playing = asyncio.create_task(wheel.play(COUP))
        await subscriber.until_state("ball_running")
        daemon.process.send_signal(signal.SIGSTOP)
        try:
            if given_up:
                await subscriber.until(lambda: is_offline(subscriber), "the last will")
            assert not playing.done()
            await say(subscriber, "rien_va")
            await playing
        finally:
            daemon.process.send_signal(signal.SIGCONT)
        await subscriber.until_verdicts(1)
        assert subscriber.verdicts() == ["void chef"]
        await subscriber.until(lambda: bool(subscriber.of("reply")), "the reply")
        (reply,) = subscriber.of("reply")
        assert reply["done"]
        notices = [notice for notice in subscriber.of("notice") if notice["notice"] == "standstill"]
        assert notices[0]["figures"]["seconds"] > 3
        assert any(log["event"] == "machine.stood_still" for log in daemon.logs)
        assert await daemon.end() == Exit.OK


async def test_a_command_that_expired_meanwhile_is_answered(tmp_path: Path, broker: Mosquitto) -> None:
    """An idle table; the sender gave the command a second."""
    async with table(tmp_path, broker.port, seed=4, keepalive_s=1) as (_, subscriber, daemon):
        daemon.process.send_signal(signal.SIGSTOP)
        try:
            await subscriber.until(lambda: is_offline(subscriber), "the last will")
            await say(subscriber, "last_coup", expires_at="2026-01-01T00:00:00Z")
        finally:
            daemon.process.send_signal(signal.SIGCONT)
        await subscriber.until(lambda: bool(subscriber.of("reply")), "the reply")
        (reply,) = subscriber.of("reply")
        assert not reply["done"]
        assert "2026-01-01" in reply["why"]
        assert await daemon.end() == Exit.OK
