"""The disk of each part is full, or slow: the part fails or waits, and nothing is lost. Drawn nights have it, too."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.house.disk import Disk
from tests.house.faults import said
from tests.house.house import PATIENCE_S, House, house
from tests.house.postgres import Cluster
from tests.mosquitto import Mosquitto

SLOW_S = 0.05
FULL, SLOW = "full", "slow"


@pytest.fixture
async def whole(cluster_with_disk: Cluster, tmp_path: Path) -> AsyncIterator[House]:
    """It has a collector, which is at work."""
    async with house(cluster_with_disk, tmp_path, tables=2, parts_fail=True) as made:
        made.collector(tmp_path)
        await said(made, 3)
        await made.settled()
        yield made


async def works_against(whole: House, disk: Disk, trouble: str) -> None:
    """The wheels go on until this disk has failed some calls."""
    before = disk.failed
    if trouble == FULL:
        disk.fill()
    else:
        disk.slow(SLOW_S)
    try:
        async with asyncio.timeout(PATIENCE_S):
            while disk.failed[trouble == SLOW] < before[trouble == SLOW] + 3:
                await said(whole, 3, before[0])
                await asyncio.sleep(0.1)
    finally:
        disk.mend()


@pytest.mark.parametrize("trouble", [FULL, SLOW])
async def test_the_disks_of_brokers_and_collectors(whole: House, trouble: str) -> None:
    """A broker cannot store its queue, and hands on what comes. A collector writes nothing but what it logs: here, that
    a broker goes and comes. What does not fit is not told."""
    of_cabinet, of_broker, of_collectors = whole.disks
    for disk in (of_cabinet, of_broker):
        await works_against(whole, disk, trouble)
        await whole.settled()
    going = asyncio.create_task(_comes_and_goes(whole.brokers[2]))
    try:
        await works_against(whole, of_collectors, trouble)
    finally:
        going.cancel()
    await asyncio.wait([going])
    await whole.settled()
    assert whole.alarms() == []


async def test_a_full_disk_of_the_database(whole: House) -> None:
    """It refuses records. If it needs a new file of its log it stops, and is started when there is room."""
    for number, with_new_log in enumerate((False, True), 1):
        if with_new_log:
            whole.cluster.use_new_log()
        await works_against(whole, whole.cluster.disk, FULL)
        await asyncio.to_thread(whole.cluster.recover)
        await whole.settled()
        assert whole.collectors[0].log.count("trying again") >= number
    assert whole.alarms() == []


async def test_slow_disks_of_the_database_and_of_a_wheel(whole: House) -> None:
    await works_against(whole, whole.cluster.disk, SLOW)
    await whole.settled()
    slow = whole.tables[0]
    speaking = asyncio.create_task(said(whole, 10, 2))
    for _ in range(5):
        await slow.sleep_on_disk(0.2)
    await speaking
    await whole.settled()
    assert whole.alarms() == []


async def _comes_and_goes(broker: Mosquitto) -> None:
    while True:
        await asyncio.to_thread(broker.kill)
        await asyncio.to_thread(broker.start)
        await asyncio.sleep(1.5)


async def test_a_full_disk_of_a_wheel(whole: House) -> None:
    """Its daemon halts, and goes on with the next number when there is room. What it could not store it never said."""
    full, other = whole.tables
    rng = random.Random(1)
    await full.fill_disk()
    for _ in range(100):
        await full.say(rng)
    assert not full.plays.is_set()
    stood = full.stored
    assert stood < 50
    await other.say(rng)
    await full.free_disk()
    await said(whole, 3, 2)
    await whole.settled()
    assert [full.wheel.seq, other.wheel.seq] == [stood + 3, 7]
    assert whole.alarms() == []
