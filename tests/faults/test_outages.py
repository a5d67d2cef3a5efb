"""The broker is killed, stopped, frozen and started at random moments while coups go on: none lost, none twice."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.live import running
from tests.faults.broker_bench import Settlement, Wheel, check, settling, turning
from tests.faults.broker_coups import steps
from tests.live.bench import Subscriber, expected, subscribed, write_config
from tests.live.bench import Wheel as LiveWheel
from tests.live.bench import turning as wheel_turning
from tests.mosquitto import Mosquitto
from wheeld.core.step import Step
from wheeld.exits import Exit

CALM_S = 0.15
"""The longest time between two outages: enough to connect, too short to send everything each time."""
FROZEN_S = 1.5
"""Longer than the time-out of a publication below."""
PUBLISH_TIMEOUT_S = 0.5
SPEED = 10.0
"""Of a whole daemon's wheel. At thirty, a machine that stalls for a tenth of a second hides three of the wheel's."""


async def outage(broker: Mosquitto, rng: random.Random) -> str:
    """One random outage; returns its kind when the broker is back."""
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


async def store_bursts(wheel: Wheel, script: Iterator[Step], rng: random.Random, over: asyncio.Event) -> None:
    """Store coups, in bursts, until `over` is set."""
    while not over.is_set():
        for _ in range(rng.randrange(1, 6)):
            await wheel.store(next(script))
        await asyncio.sleep(0.03 * rng.random())


@pytest.mark.timeout(400)
async def test_outages_lose_nothing(
    tmp_path: Path, how_many: Callable[[str], int], seed: str, counted: Callable[[str], None]
) -> None:
    count, rng = how_many("outages"), random.Random(f"outages {seed}")
    where, over, kinds = f"seed {seed}", asyncio.Event(), list[str]()
    broker = Mosquitto(tmp_path, "max_queued_messages 10000").start()
    settlement = Settlement(broker.port)
    try:
        async with turning(broker.port, tmp_path / "journal", publish_timeout_s=PUBLISH_TIMEOUT_S) as wheel:
            storing = asyncio.create_task(store_bursts(wheel, steps(seed), rng, over))
            while len(kinds) < count:
                async with settling(settlement):  # it restarts every few outages, too
                    for _ in range(rng.randrange(1, 8)):
                        await asyncio.sleep(CALM_S * rng.random())
                        kinds.append(await outage(broker, rng))
            over.set()
            await storing
            async with settling(settlement):
                await settlement.until(len(wheel.sequenced))
                await wheel.until_settled()
            check(wheel.sequenced, settlement, where)
            assert settlement.refused == [], where
            counters = wheel.outbox.counters
            assert counters["interrupted"] > count / 3, (
                f"{where}: outages that the daemon did not notice prove nothing: {counters}"
            )
    finally:
        broker.kill()
    tried = f"{len(kinds)} outages, {len(wheel.sequenced)} messages in {counters['published']} publications"
    counted(f"{tried}: 0 lost, 0 doubled, in order")


@pytest.mark.timeout(400)
async def test_outages_of_a_whole_daemon_lose_nothing(
    tmp_path: Path, how_many: Callable[[str], int], seed: str, counted: Callable[[str], None]
) -> None:
    """`wheeld run` at a simulated wheel; the subscriber acknowledges, and what the killed broker lost is sent again."""
    rng, subscriber = random.Random(f"daemon {seed}"), Subscriber(settles=True)
    outages = how_many("outages of a daemon")
    broker = Mosquitto(tmp_path).start()
    config = write_config(tmp_path, broker.port, settlement_ack=True)
    try:
        async with wheel_turning(LiveWheel(7), tmp_path / "board", speed=SPEED) as wheel, running(config) as daemon:
            await daemon.until("board.identified")
            await daemon.until("broker.connected")
            async with subscribed(broker.port, subscriber):
                await wheel.press("open")
                await subscriber.until_state("faites_vos_jeux")
            for _ in range(outages):
                playing = asyncio.create_task(wheel.play("valid"))
                await asyncio.sleep(15 * rng.random() / SPEED)
                broker.kill()
                await playing
                broker.start()
                async with subscribed(broker.port, subscriber):  # nobody launches before the table says so
                    await subscriber.until_verdicts(len(wheel.truth))
                    await subscriber.until_state("faites_vos_jeux")
            async with subscribed(broker.port, subscriber):
                await subscriber.until(
                    # The first may have been published before he subscribed: then it came again behind the second.
                    lambda: sorted(subscriber.feed()) == [*range(1, len(subscriber.feed()) + 1)],
                    "the feed without a gap",
                )
                assert subscriber.verdicts() == expected(wheel.truth), f"seed {seed}"
            assert await daemon.end() == Exit.OK
    finally:
        broker.kill()
    counted(f"{outages} outages of a whole daemon, {len(wheel.truth)} coups: 0 lost, verdicts as the truth")
