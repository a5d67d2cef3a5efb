"""A whole house in which parts fail: every record of every journal is in the database once, and no other."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.feed.wheel import SITE, Wheel
from tests.house.faults import FAULTS_LEAST, SEEDS, WHEELS, play, said
from tests.house.house import PATIENCE_S, HouseTable, forged, house
from tests.house.postgres import Cluster
from tests.journal.journals import RawSigner
from wheeld.journal.tree import FeedTree


async def test_all_that_was_ever_said_is_stored(cluster: Cluster, tmp_path: Path) -> None:
    """Also what was said before there was a collector."""
    async with house(cluster, tmp_path) as whole:
        await said(whole, 50)
        whole.collector(tmp_path)
        await said(whole, 50, 2)
        await whole.settled()
        assert whole.alarms() == []


async def test_an_orderly_end_hands_over_at_once(cluster: Cluster, tmp_path: Path) -> None:
    async with house(cluster, tmp_path, tables=2) as whole:
        first, second = whole.collector(tmp_path), whole.collector(tmp_path)
        await said(whole, 5)
        await whole.settled()
        assert await asyncio.to_thread(first.end) == 0
        await said(whole, 5, 2)
        await whole.settled()
        assert await asyncio.to_thread(second.end) == 0
        assert cluster.sql(whole.database, "select count(holder), count(*) from house.wheel") == [(0, 2)]


async def test_a_false_message_is_an_alarm_and_no_record(cluster: Cluster, tmp_path: Path) -> None:
    async with house(cluster, tmp_path) as whole:
        whole.collector(tmp_path)
        await said(whole, 5)
        await whole.settled()
        table = whole.tables[0]
        false = forged(table, seq=table.wheel.seq + 1, prev=table.wheel.hashes[-1], key=Ed25519PrivateKey.generate())
        for broker in whole.brokers * 2:
            await whole.publish(broker, table, "result", false)
        await said(whole, 5, 2)
        await whole.settled()
        assert whole.alarms() == [(table.name, "signature", 6)]


async def test_a_clone_is_an_alarm_and_is_not_believed(cluster: Cluster, tmp_path: Path) -> None:
    """It has the wheel's key, so that everything but the chain is right."""
    async with house(cluster, tmp_path) as whole:
        whole.collector(tmp_path)
        await said(whole, 5)
        await whole.settled()
        table = whole.tables[0]
        clone = [
            forged(table, seq=3, prev=table.wheel.hashes[2], key=table.key),
            forged(table, seq=6, prev="ab" * 32, key=table.key),
        ]
        for payload in clone * 2:
            await whole.publish(whole.brokers[1], table, "result", payload)
        await said(whole, 5, 2)
        await whole.settled()
        assert sorted(whole.alarms()) == [(table.name, "chain", 6), (table.name, "conflict", 3)]
        kept = cluster.sql(whole.database, "select payload from house.alarms order by seq")
        assert [bytes(payload) for (payload,) in kept] == clone


async def test_a_wheel_that_went_back_is_an_alarm(cluster: Cluster, tmp_path: Path) -> None:
    """Its journal is an older copy: it says less than it published, and writes the numbers anew."""
    async with house(cluster, tmp_path, tables=1) as whole:
        first = whole.collector(tmp_path)
        await said(whole, 6)
        await whole.settled()
        stored = whole.stored(whole.tables[0])
        await asyncio.to_thread(first.kill)
    (tmp_path / "again").mkdir()
    async with house(cluster, tmp_path / "again", tables=1, database=whole.database) as older:
        await said(older, 3, 9)
        older.collector(tmp_path / "again")
        await older.alarmed("rolled_back")
        await said(older, 1, 10)
        await older.alarmed("conflict")
        assert older.stored(older.tables[0]) == stored


async def test_a_checkpoint_is_cosigned_where_the_records_prove_it(cluster: Cluster, tmp_path: Path) -> None:
    async with house(cluster, tmp_path) as whole:
        for _ in range(2):
            whole.collector(tmp_path)
        await said(whole, 9)
        signing = [table for table in whole.tables if table.key is not None]
        for table in signing:
            await whole.publish(whole.brokers[0], table, "notice", sealed(table, table.wheel))
        await whole.settled()
        select = "select table_name, size, witnesses from house.checkpoints order by table_name"
        async with asyncio.timeout(PATIENCE_S):
            while len(rows := await asyncio.to_thread(cluster.sql, whole.database, select)) < len(signing):  # noqa: ASYNC110
                await asyncio.sleep(0.3)
        assert rows == [(table.name, 9, ["house.example"]) for table in signing]
        other = Wheel(signing[0].name, signing[0].key)
        for _ in range(9):
            other.say(number=36)
        assert whole.alarms() == []
        await whole.publish(whole.brokers[0], signing[0], "notice", sealed(signing[0], other))
        await whole.alarmed("split")
        assert whole.alarms() == [(signing[0].name, "split", 9)]
        assert await asyncio.to_thread(cluster.sql, whole.database, select) == rows


def sealed(table: HouseTable, wheel: Wheel) -> bytes:
    """The notice of a seal, whose checkpoint covers all that `wheel` said."""
    assert table.key is not None
    tree = FeedTree()
    for _, payload in wheel.sent:
        tree.add(payload)
    checkpoint = tree.checkpoint(SITE, table.name, RawSigner(table.key.private_bytes_raw()))
    return json.dumps({"schema": "notice/1", "notice": "sealed", "figures": {"checkpoint": checkpoint}}).encode()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.timeout(300 + 10 * FAULTS_LEAST)
async def test_drawn_faults(cluster_with_disk: Cluster, tmp_path: Path, seed: int) -> None:
    """`make test-house NIGHTS=50 SEED=1000` tries more, and others; WHEELS=50 FAULTS=100 makes a night longer."""
    async with house(cluster_with_disk, tmp_path, WHEELS, parts_fail=True) as whole:
        print(await play(whole, tmp_path, seed))  # noqa: T201  pytest shows it with -s
