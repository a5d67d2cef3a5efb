"""Brokers that do not work well: silent, slow, forgetful; confirmations and acks lost, late and doubled."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import aiomqtt
import pytest
from structlog.testing import capture_logs

from tests.broker.mqtt_bench import settings
from tests.broker.world import access_of
from tests.faults.broker_bench import PATIENCE_S, Settlement, ShortSleepClock, Wheel, check, settling, turning, until
from tests.faults.broker_coups import ROOT, coups
from tests.faults.broker_proxy import PUBACK, PUBLISH, SUBACK, Packet, Wire, wire_to
from tests.mosquitto import Mosquitto
from wheeld.broker.mqtt import RETRY_FIRST_S, RETRY_MAX_S, TAKEOVER_S, MqttConnection
from wheeld.ports import ConnectionLostError, Publication

TIMEOUT_S = 0.4
"""Of a publication, in these tests; five seconds by default."""
DROPPED_MAX = 15
"""A broker that misses more confirmations than this at once sends nothing more (20 of mosquitto)."""
SLACK_S = 1.5
"""What a loaded machine adds to a time-out."""


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    with Mosquitto(tmp_path, "max_queued_messages 10000") as running:
        yield running


@asynccontextmanager
async def a_wheel_by_wire(
    broker: Mosquitto, tmp_path: Path, *, settlement_ack: bool = True
) -> AsyncIterator[tuple[Wheel, Wire, Settlement]]:
    """The wheel's connection uses the wire, the settlement core's does not; at the end everything has to be settled."""
    settlement = Settlement(broker.port)
    async with wire_to(broker.port) as wire, settling(settlement):
        mqtt = {"publish_timeout_s": TIMEOUT_S, "settlement_ack": settlement_ack}
        async with turning(wire.port, tmp_path / "journal", **mqtt) as wheel:
            yield wheel, wire, settlement
            wire.up = wire.down = lambda _: True
            wire.delay_s = 0.0
            wire.passes.set()
            await settlement.until(len(wheel.sequenced))
            await wheel.until_settled()
    check(wheel.sequenced, settlement, "bad broker")
    assert settlement.refused == []


def connection_to(port: int, clock: ShortSleepClock, rng: random.Random, **mqtt: Any) -> MqttConnection:
    return MqttConnection(
        settings(port, **mqtt), access=access_of(ROOT + "/"), online=b"{}", offline=b"{}", clock=clock, rng=rng
    )


async def store_coups(wheel: Wheel, seed: str, count: int) -> None:
    for step in coups(seed, count):
        await wheel.store(step)


# --- silent ----------------------------------------------------------------------------------------------------


async def test_a_silent_wire_is_left_within_the_time_out(broker: Mosquitto, tmp_path: Path, seed: str) -> None:
    async with a_wheel_by_wire(broker, tmp_path) as (wheel, wire, settlement):
        steps = coups(seed, 30)
        for _ in range(10):
            await wheel.store(next(steps))
        await settlement.until(len(wheel.sequenced))
        wire.passes.clear()
        session, started_s = await wheel.connection.connected(), perf_counter()
        await wheel.store(next(steps))
        await wheel.store(next(steps))
        await asyncio.wait_for(wheel.connection.lost(session), PATIENCE_S)
        assert perf_counter() - started_s < TIMEOUT_S + SLACK_S
        assert wheel.connection.counters["timeouts"] == 1
        wire.cut()
        wire.passes.set()
        for step in steps:
            await wheel.store(step)


async def test_a_publication_races_its_connection_and_never_hangs(
    broker: Mosquitto, how_many: Callable[[str], int], seed: str, counted: Callable[[str], None]
) -> None:
    """Whether cut or confirmation comes first, there is an outcome: confirmed, or an error."""
    rng, outcomes, worst_s = random.Random(f"race {seed}"), [0, 0], 0.0
    async with wire_to(broker.port) as wire:
        connection = connection_to(wire.port, ShortSleepClock(), rng, publish_timeout_s=10 * SLACK_S)
        running = asyncio.create_task(connection.run())
        for _ in range(how_many("publications that race a cut")):
            session, started_s = await asyncio.wait_for(connection.connected(), PATIENCE_S), perf_counter()
            publishing = asyncio.create_task(
                connection.publish(Publication(topic=f"{ROOT}/result", payload=b"{}"), session=session)
            )
            await asyncio.sleep(rng.choice([0.0, 0.0005, 0.001, 0.002]) * rng.random())
            wire.cut()
            try:
                await asyncio.wait_for(publishing, PATIENCE_S)
                outcomes[0] += 1
            except ConnectionLostError:
                outcomes[1] += 1
            worst_s = max(worst_s, perf_counter() - started_s)
            await asyncio.wait_for(connection.lost(session), PATIENCE_S)
        running.cancel()
        await asyncio.wait({running}, timeout=PATIENCE_S)
        assert running.done()
    assert worst_s < SLACK_S, "it waited for a confirmation that could not come any more"
    assert min(outcomes) > 0, f"seed {seed}: only one of the two was tried: {outcomes}"
    counted(f"{outcomes[0]} confirmed, {outcomes[1]} cut before, the longest took {worst_s * 1e3:.0f} ms")


async def test_back_off_grows_to_a_ceiling_and_is_spread(seed: str) -> None:
    """The host accepts connections and sends nothing; back-off is the same as with no host."""
    async with wire_to(1) as silent:
        clock = ShortSleepClock()
        connections = [
            connection_to(silent.port, clock, random.Random(f"{seed} {each}"), publish_timeout_s=TIMEOUT_S)
            for each in range(2)
        ]
        tasks = [asyncio.create_task(connection.run()) for connection in connections]
        await until(lambda: len(clock.asked_s) >= 20)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    waits_s = clock.asked_s[:20]
    assert len(set(waits_s)) == 20, f"seed {seed}: two that lost it together try again together: {waits_s}"
    assert min(waits_s) >= RETRY_FIRST_S / 2
    assert max(waits_s[:2]) <= 2 * RETRY_FIRST_S
    assert RETRY_MAX_S / 2 <= max(waits_s[-4:]) <= RETRY_MAX_S


# --- slow --------------------------------------------------------------------------------------------------------


async def test_a_slow_broker_keeps_its_connection(broker: Mosquitto, tmp_path: Path, seed: str) -> None:
    async with a_wheel_by_wire(broker, tmp_path) as (wheel, wire, settlement):
        wire.delay_s = 0.02
        await store_coups(wheel, seed, 3)
        await settlement.until(len(wheel.sequenced))
        assert wheel.connection.counters["connections"] == 1


async def test_a_connection_that_ends_in_its_greeting_is_left_at_once(broker: Mosquitto) -> None:
    """It does not wait a minute for an answer that cannot come any more."""
    async with wire_to(broker.port) as wire:
        wire.down = lambda packet: packet[0] != SUBACK
        clock = ShortSleepClock()
        connection = connection_to(wire.port, clock, random.Random(1), publish_timeout_s=60.0)
        running = asyncio.create_task(connection.run())
        async with asyncio.timeout(PATIENCE_S / 2):
            while not clock.asked_s:
                await asyncio.sleep(0.05)
                wire.cut()
        running.cancel()
        await asyncio.wait({running})


# --- confirmations and acks lost ---------------------------------------------------------------------------------


async def test_after_lost_confirmations_every_message_is_stored_once(
    broker: Mosquitto, tmp_path: Path, how_many: Callable[[str], int], seed: str
) -> None:
    """The wire ends at a confirmation, as if the broker had died after it took the message. The message comes twice and
    is stored once."""
    rng, lost, count = random.Random(f"puback {seed}"), 0, how_many("confirmations lost")
    async with a_wheel_by_wire(broker, tmp_path) as (wheel, wire, settlement):

        def cut_at_some(packet: Packet) -> bool:
            nonlocal lost
            if packet[0] == PUBACK and lost < count and rng.random() < 0.1:
                lost += 1
                wire.cut()
                return False
            return True

        wire.down = cut_at_some
        await store_coups(wheel, seed, how_many("coups while confirmations are lost"))
        await settlement.until(len(wheel.sequenced))
        assert lost == count, f"seed {seed}"
        assert settlement.counters["repeats"] > 0, f"seed {seed}: nothing came twice, so nothing was tried"


async def test_what_the_broker_never_got_is_sent_again_without_a_request(
    broker: Mosquitto, tmp_path: Path, seed: str
) -> None:
    """The wire ends with a publication in it. No ack is awaited here, so only a confirmation closes the debt."""
    rng, lost = random.Random(f"publish {seed}"), 0
    async with a_wheel_by_wire(broker, tmp_path, settlement_ack=False) as (wheel, wire, settlement):
        await settlement_connected(wheel)

        def cut_at_some(packet: Packet) -> bool:
            nonlocal lost
            if packet[0] == PUBLISH and lost < 5 and rng.random() < 0.2:
                lost += 1
                wire.cut()
                return False
            return True

        wire.up = cut_at_some
        await store_coups(wheel, seed, 10)
        await settlement.until(len(wheel.sequenced))
        assert lost == 5, f"seed {seed}"
        assert settlement.counters["gaps"] == 0, f"seed {seed}: the feed missed something and had to ask"


async def test_without_a_confirmation_everything_owed_is_sent_again(
    broker: Mosquitto, tmp_path: Path, seed: str
) -> None:
    """The connection stays and one PUBACK is missing: after the time-out everything owed is sent again."""
    async with a_wheel_by_wire(broker, tmp_path) as (wheel, wire, settlement):
        await settlement_connected(wheel)
        swallowed = list[Packet]()

        def swallow_one(packet: Packet) -> bool:
            if packet[0] != PUBACK or swallowed:
                return True
            swallowed.append(packet)
            return False

        wire.down = swallow_one
        await store_coups(wheel, seed, 1)
        await settlement.until(len(wheel.sequenced))
        await wheel.until_settled()
        assert wheel.connection.counters["timeouts"] == 1
        assert wheel.connection.counters["connections"] == 2


async def settlement_connected(wheel: Wheel) -> None:
    await asyncio.wait_for(wheel.connection.connected(), PATIENCE_S)
    await asyncio.sleep(0.05)  # its first publications are confirmed


async def test_lost_late_and_doubled_acks_close_only_what_they_cover(
    broker: Mosquitto, tmp_path: Path, seed: str, counted: Callable[[str], None]
) -> None:
    """An ack closes only what it covers. After a lost ack the debt is open until the message is acknowledged again."""
    rng, dropped = random.Random(f"acks {seed}"), 0
    async with a_wheel_by_wire(broker, tmp_path) as (wheel, wire, settlement):

        def lose_acks(packet: Packet) -> bool:
            nonlocal dropped
            if packet[0] == PUBLISH and b"/ack" in packet[1] and dropped < DROPPED_MAX:
                dropped += 1
                return False
            return True

        wire.down = lose_acks
        async with aiomqtt.Client("127.0.0.1", broker.port) as late:
            *script, last = [step for step in coups(seed, 10) if any(message.seq for message in step.messages)]
            for step in script:
                await wheel.store(step)
                if settlement.stored:
                    old = rng.randrange(settlement.stored[-1].seq + 1)
                    await late.publish(f"{ROOT}/ack", json.dumps({"seq": old}), qos=1)
            await settlement.until(len(wheel.sequenced))
            wire.down = lambda _: True
            await wheel.store(last)
    assert dropped > 0, f"seed {seed}"
    counted(f"{dropped} acks dropped on their way: the debt stayed and a later one closed it")


# --- a broker that forgets ---------------------------------------------------------------------------------------


async def test_retained_messages_that_the_broker_lost_are_put_back(
    broker: Mosquitto, tmp_path: Path, seed: str
) -> None:
    async with a_wheel_by_wire(broker, tmp_path) as (wheel, _, settlement):
        await store_coups(wheel, seed, 3)
        await settlement.until(len(wheel.sequenced))
        await wheel.until_settled()
        before = await retained(broker)
        assert {f"{ROOT}/table", f"{ROOT}/board", f"{ROOT}/availability"} <= before.keys()
        session = await wheel.connection.connected()
        broker.kill()
        await asyncio.wait_for(wheel.connection.lost(session), PATIENCE_S)
        broker.start()
        async with asyncio.timeout(PATIENCE_S):
            while await retained(broker) != before:  # noqa: ASYNC110  there is no event to wait for
                await asyncio.sleep(0.02)


async def retained(broker: Mosquitto) -> dict[str, bytes]:
    """The retained messages that a new subscriber receives of the table."""
    found: dict[str, bytes] = {}
    async with aiomqtt.Client("127.0.0.1", broker.port) as client:
        await client.subscribe(f"{ROOT}/#", qos=1)
        await client.publish("end", b"", qos=1)
        await asyncio.sleep(0.02)
        while len(client.messages):
            message = client._queue.get_nowait()
            if message.retain:
                found[message.topic.value] = bytes(message.payload)
    return found


# --- two with one client id ---------------------------------------------------------------------------------------


async def test_two_daemons_with_one_client_id_reconnect_ever_more_slowly_and_lose_nothing(
    broker: Mosquitto, tmp_path: Path, seed: str
) -> None:
    """A mistake in the configuration: the log has to show it, the waits have to grow, and the feed has to be whole."""
    other = MqttConnection(
        settings(broker.port),
        access=access_of("wheel/v1/campione/other/"),
        online=b"{}",
        offline=b"{}",
        clock=(clock := ShortSleepClock()),
        rng=random.Random(seed),
    )
    settlement = Settlement(broker.port)

    def waits() -> list[float]:
        """Between its attempts."""
        return [asked_s for asked_s in clock.asked_s if asked_s != TAKEOVER_S]

    def client_ids() -> list[str]:
        return [log["client_id"] for log in logs if log["event"] == "broker.throws_us_out"]

    with capture_logs() as logs:
        async with settling(settlement), turning(broker.port, tmp_path / "journal") as wheel:
            running = asyncio.create_task(other.run())
            script = coups(seed, 1000)
            async with asyncio.timeout(PATIENCE_S):
                while len(waits()) < 5 or not client_ids():  # an attempt that was cut sooner is none of those counted
                    await wheel.store(next(script))
                    await asyncio.sleep(0.02)
            running.cancel()
            await asyncio.wait({running})
            await settlement.until(len(wheel.sequenced))
            await wheel.until_settled()
            waits_s = waits()[:5]
    check(wheel.sequenced, settlement, f"seed {seed}")
    assert waits_s[-1] > 4 * waits_s[0], waits_s
    assert set(client_ids()) == {"wheeld-3"}


# --- stopping ----------------------------------------------------------------------------------------------------


async def test_a_stop_is_never_lost(
    broker: Mosquitto, tmp_path: Path, how_many: Callable[[str], int], seed: str, counted: Callable[[str], None]
) -> None:
    """It is cancelled at random moments under load."""
    rng, worst_s, stops = random.Random(f"stops {seed}"), 0.0, how_many("stops under load")
    script = coups(seed, 1_000)
    async with wire_to(broker.port) as wire:
        for _ in range(stops):
            async with turning(wire.port, tmp_path / "journal", publish_timeout_s=2.0) as wheel:
                for _ in range(rng.randrange(12)):
                    await wheel.store(next(script))
                    await asyncio.sleep(0.01 * rng.random())
                started_s = perf_counter()
            worst_s = max(worst_s, perf_counter() - started_s)
    assert worst_s < 2.0 + SLACK_S, f"seed {seed}"
    counted(f"{stops} stops under load: each at once, the longest took {worst_s * 1e3:.0f} ms")
