"""Each broken collector or database is found by a test that needs no luck. Drawn nights find them, too, some seldom."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.house import test_database
from tests.house.broken import MUTANTS, broken_database, command_of
from tests.house.faults import said
from tests.house.house import House, forged, house
from tests.house.postgres import Cluster
from tests.house.test_database import Two

FOUND_S = 5.0
"""A whole collector stores a message within a second, or two and a lease."""
OF_THE_DATABASE: dict[str, Callable[[Two], None]] = {
    "no fencing": test_database.test_a_write_with_an_old_fencing_number_is_refused,
    "no fencing and no chain": test_database.test_another_chain_is_refused,
    "no dedupe": test_database.test_the_same_record_twice_is_one_row,
}


@pytest.mark.parametrize(("name", "finds"), OF_THE_DATABASE.items(), ids=OF_THE_DATABASE)
def test_a_broken_database_is_found(cluster: Cluster, name: str, finds: Callable[[Two], None]) -> None:
    broken = Two(cluster, broken_database(cluster, MUTANTS[name]))
    try:
        with pytest.raises(pytest.fail.Exception):
            finds(broken)
    finally:
        broken.first.close()
        broken.second.close()


async def forges(whole: House) -> None:
    """The next message of a wheel, signed by another, and then the true one."""
    table = whole.tables[0]
    false = forged(table, seq=table.wheel.seq + 1, prev=table.wheel.hashes[-1], key=Ed25519PrivateKey.generate())
    await whole.publish(whole.brokers[0], table, "result", false)
    await asyncio.sleep(1.0)


async def repeats(whole: House) -> None:
    """All that a wheel said, at another broker."""
    table = whole.tables[0]
    for leaf, payload in list(table.wheel.sent):
        await whole.publish(whole.brokers[2], table, leaf, payload)
    await asyncio.sleep(1.0)


async def loses(whole: House) -> None:
    """What is said while no collector runs."""
    (collector,) = whole.collectors
    await asyncio.to_thread(collector.kill)
    await said(whole, 3, 3)
    await asyncio.sleep(1.0)
    collector.start()


OF_THE_COLLECTOR: dict[str, Callable[[House], Awaitable[None]]] = {
    "commits before it verifies": forges,
    "no dedupe": repeats,
    "no question": loses,
}


@pytest.mark.parametrize(("name", "does"), OF_THE_COLLECTOR.items(), ids=OF_THE_COLLECTOR)
async def test_a_broken_collector_is_found(
    cluster: Cluster, tmp_path: Path, name: str, does: Callable[[House], Awaitable[None]]
) -> None:
    """It does its work until the fault comes that it is not made for."""
    database = await asyncio.to_thread(broken_database, cluster, MUTANTS[name])
    async with house(cluster, tmp_path, database=database) as whole:
        whole.collector(tmp_path, command_of(name))
        await whole.collected_by(0)
        await said(whole, 3)
        await whole.settled()
        await does(whole)
        await said(whole, 3, 2)
        with pytest.raises(AssertionError, match="journal"):
            await whole.settled(FOUND_S)
