"""The broker dies, stops, freezes and comes back at random moments while coups go on: none lost, none twice."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.live import running
from tests.faults.broker_bench import Settlement, Wheel, check, settling, turning
from tests.faults.broker_coups import steps
from tests.live.bench import Ear, expected, hearing, write_config
from tests.live.bench import Wheel as LiveWheel
from tests.live.bench import turning as wheel_turning
from tests.mosquitto import Mosquitto
from wheeld.core.step import Step
from wheeld.exits import Exit

CALM_S = 0.15
"""The longest calm between two outages: enough to connect, too short to drain every time."""
FROZEN_S = 1.5
"""Longer than the time-out of a publication below."""
PUBLISH_TIMEOUT_S = 0.5


async def outage(broker: Mosquitto, rng: random.Random) -> str:
    """One outage, drawn; the broker is back when it returns."""
    how = rng.choice(["kill", "kill", "stop", "freeze", "freeze and kill"])
    if how == "freeze":
        broker.pause()
        await asyncio.sleep(rng.choice([0.05, FROZEN_S]) * rng.random())
        broker.resume()
        return how
    if how == "freeze and kill":
        broker.pause()
        await asyncio.sleep(0.1 * rng.random())
    broker.stop() if how == "stop" else broker.kill()
    await asyncio.sleep(0.1 * rng.random())
    broker.start()
    return how


async def talk(wheel: Wheel, script: Iterator[Step], rng: random.Random, over: asyncio.Event) -> None:
    """Coups go on, in bursts, until it is over."""
    while not over.is_set():
        for _ in range(rng.randrange(1, 6)):
            await wheel.say(next(script))
        await asyncio.sleep(0.03 * rng.random())


@pytest.mark.timeout(400)
@pytest.mark.parametrize("protocol", ["5", "3.1.1"])
async def test_outages_cost_nothing(
    tmp_path: Path, protocol: str, how_many: Callable[[str], int], seed: str, counted: Callable[[str], None]
) -> None:
    count, rng = how_many("outages"), random.Random(f"outages {seed} {protocol}")
    where, over, kinds = f"seed {seed}, MQTT {protocol}", asyncio.Event(), list[str]()
    broker = Mosquitto(tmp_path, "max_queued_messages 10000").start()
    settlement = Settlement(broker.port)
    try:
        mqtt = {"protocol": protocol, "publish_timeout_s": PUBLISH_TIMEOUT_S}
        async with turning(broker.port, tmp_path / "journal", **mqtt) as wheel:
            talking = asyncio.create_task(talk(wheel, steps(seed), rng, over))
            while len(kinds) < count:
                async with settling(settlement):  # and it crashes every few outages, too
                    for _ in range(rng.randrange(1, 8)):
                        await asyncio.sleep(CALM_S * rng.random())
                        kinds.append(await outage(broker, rng))
            over.set()
            await talking
            async with settling(settlement):
                await settlement.until(len(wheel.said))
                await wheel.until_settled()
            check(wheel.said, settlement, where)
            assert settlement.refused == [], where
            counters = wheel.outbox.counters
            assert counters["interrupted"] > count / 3, (
                f"{where}: outages that nobody noticed prove nothing: {counters}"
            )
    finally:
        broker.kill()
    told = f"{len(kinds)} outages, {len(wheel.said)} messages in {counters['published']} publications"
    counted(f"MQTT {protocol}: {told}: 0 lost, 0 doubled, in order")


@pytest.mark.timeout(400)
async def test_outages_of_a_whole_daemon(
    tmp_path: Path, how_many: Callable[[str], int], seed: str, counted: Callable[[str], None]
) -> None:
    """`wheeld run` at a simulated wheel; the subscriber settles, and what the dead broker swallowed comes again."""
    rng, ear = random.Random(f"daemon {seed}"), Ear(settles=True)
    outages = how_many("outages of a daemon")
    broker = Mosquitto(tmp_path).start()
    config = write_config(tmp_path, broker.port, settlement_ack=True)
    try:
        async with wheel_turning(LiveWheel(7), tmp_path / "board") as wheel, running(config) as daemon:
            await daemon.until("board.identified")
            await daemon.until("broker.connected")
            async with hearing(broker.port, ear):
                await wheel.press("open")
                await ear.until_state("faites_vos_jeux")
            for _ in range(outages):
                playing = asyncio.create_task(wheel.play("valid"))
                await asyncio.sleep(0.5 * rng.random())
                broker.kill()
                await playing
                broker.start()
            async with hearing(broker.port, ear):
                await ear.until_verdicts(len(wheel.truth))
                await ear.until_state("faites_vos_jeux")
                await ear.until(
                    lambda: list(ear.feed()) == list(range(1, len(ear.feed()) + 1)), "the feed without a gap"
                )
                assert ear.verdicts() == expected(wheel.truth), f"seed {seed}"
            assert await daemon.end() == Exit.OK
    finally:
        broker.kill()
    counted(f"{outages} outages of a whole daemon, {len(wheel.truth)} coups: 0 lost, verdicts as the truth")
