"""A collector in this process, between wheels that play and a database that fails in the middle of a commit."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import aiomqtt
import pytest

from tests.feed.wheel import SITE
from tests.house.broken import MUTANTS
from tests.house.faults import said
from tests.house.house import House, collector_settings, house
from tests.house.postgres import Cluster
from tests.mosquitto import Mosquitto
from wheeld_house.collector import Collector
from wheeld_house.database import NewRecord, RecordStore, RecordStoreError
from wheeld_house.settings import SettingsError, read_settings
from wheeld_house.wheel import CollectedWheel


class FailingStore(RecordStore):
    """Half of its commits end with an error. Half of those stand all the same."""

    def __init__(self, database: str, rng: random.Random) -> None:
        super().__init__(database, "failing")
        self.failed = 0
        self._rng = rng

    def add(self, records: Sequence[NewRecord]) -> None:
        fails = self._rng.random() < 0.5
        if not fails or self._rng.random() < 0.5:
            super().add(records)
        if fails:
            self.failed += 1
            self.close()
            raise RecordStoreError("the connection ended in a commit")


@asynccontextmanager
async def collecting(whole: House, folder: Path, store: RecordStore) -> AsyncIterator[Collector]:
    collector = Collector(read_settings(whole.settings_file(folder, "within")), store, tell=lambda _: None)
    running = asyncio.create_task(collector.run())
    try:
        yield collector
    finally:
        collector.stop()
        await running


@pytest.mark.parametrize("seed", [1, 2])
async def test_a_commit_that_may_stand_is_looked_for(cluster: Cluster, tmp_path: Path, seed: int) -> None:
    async with house(cluster, tmp_path, tables=2) as whole:
        store = FailingStore(cluster.dsn(whole.database), random.Random(seed))
        async with collecting(whole, tmp_path, store) as collector:
            for turn in range(20):
                await said(whole, 2, turn)
                await asyncio.sleep(0.1)
            await whole.settled()
            assert store.failed >= 3
            assert collector.counters["errors"] >= store.failed
        assert whole.alarms() == []


async def test_who_does_not_look_is_found(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CollectedWheel, "begin", CollectedWheel.begin)  # it is as before when the test is over
    MUTANTS["no look after an error"].spoils()
    async with house(cluster, tmp_path, tables=2) as whole:
        store = FailingStore(cluster.dsn(whole.database), random.Random(1))
        async with collecting(whole, tmp_path, store):
            for turn in range(20):
                await said(whole, 2, turn)
                await asyncio.sleep(0.1)
            with pytest.raises(AssertionError, match="journal"):
                await whole.settled(5.0)


async def test_a_thousand_records_are_one_commit(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits = list[int]()
    add = RecordStore.add

    def counting(store: RecordStore, records: Sequence[NewRecord]) -> None:
        commits.append(len(records))
        add(store, records)

    monkeypatch.setattr(RecordStore, "add", counting)
    async with house(cluster, tmp_path, tables=2) as whole:
        await said(whole, 300)
        async with collecting(whole, tmp_path, RecordStore(cluster.dsn(whole.database), "one")):
            await whole.settled()
    assert sum(commits) == 600
    assert max(commits) <= 1000
    assert len(commits) < 300


async def test_a_broker_that_confirms_each_subscription_and_sends_nothing_is_noticed_without_a_lease_too(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """mosquitto does that to who may read nothing. A collector that waits for a lease asks no wheel."""
    monkeypatch.setattr("wheeld_house.collector.SILENCE_S", 0.5)
    listed = tmp_path / "acl"
    listed.write_text(f"pattern write #\npattern read wheel/v1/{SITE}/heard/#\n")
    database = cluster.dsn(await asyncio.to_thread(cluster.database))
    with Mosquitto(tmp_path, f"acl_file {listed}") as broker:
        async with aiomqtt.Client("127.0.0.1", broker.port) as wheel:
            for name in ("heard", "unheard"):
                await wheel.publish(f"wheel/v1/{SITE}/{name}/table", "{}", qos=1, retain=True)
        file = collector_settings(tmp_path, "one", database, [broker], {"heard": None, "unheard": None})
        said: asyncio.Queue[str] = asyncio.Queue()
        store = RecordStore(database, "one")
        monkeypatch.setattr(store, "keep_leases", lambda *_: [])
        collector = Collector(read_settings(file), store, tell=said.put_nowait)
        running = asyncio.create_task(collector.run())
        async with asyncio.timeout(30):
            assert await said.get() == f"127.0.0.1:{broker.port}: connected"
            name = f"{SITE}/unheard"
            mend = f"check whether it runs, and `wheeld acl {name}`"
            assert await said.get() == f"wheel/v1/{name}: nothing of it has come: {mend}"
        collector.stop()
        await running


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("lease_s = 0.1", "lease_s"),
        ("colour = 1", "colour"),
        ('[[wheels]]\nsite = "a"\ntable = "b"', "named twice"),
        ('[[wheels]]\nsite = "a/b"\ntable = "c"', "site"),
        ("[[", "Invalid"),
    ],
)
def test_settings_that_are_wrong(tmp_path: Path, line: str, why: str) -> None:
    file = tmp_path / "house.toml"
    good = '[[brokers]]\nhost = "h"\n[[wheels]]\nsite = "a"\ntable = "b"\n'
    first = f"{line}\n" if " = " in line and "[[" not in line else ""
    last = line if not first else ""
    file.write_text(f'name = "n"\ndatabase = "d"\n{first}{good}{last}\n')
    with pytest.raises(SettingsError, match=why):
        read_settings(file)


def test_a_key_that_is_none(tmp_path: Path) -> None:
    file = tmp_path / "house.toml"
    (tmp_path / "key").write_text("no key")
    file.write_text(
        'name = "n"\ndatabase = "d"\n[[brokers]]\nhost = "h"\n[[wheels]]\nsite = "a"\ntable = "b"\n'
        f'public_key_file = "{tmp_path / "key"}"\n'
    )
    (wheel,) = read_settings(file).wheels
    with pytest.raises(SettingsError, match="not a public key in PEM"):
        wheel.public_key()
