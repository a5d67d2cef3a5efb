"""What the database itself refuses and keeps, whatever a collector does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest

from tests.feed.wheel import SITE, TABLE, Wheel
from tests.house.postgres import Cluster
from wheeld.feed import FeedMessage
from wheeld.feed.message import read_message
from wheeld_house.database import Alarm, Lease, NewRecord, RecordStore, RecordStoreError, RefusedRecordError
from wheeld_house.migrate import migrate
from wheeld_house.settings import HouseWheel

SETTINGS = HouseWheel(site=SITE, table=TABLE)
AT = "2026-11-28T05:00:00+00:00"
ANOTHER_MONTH = "2027-01-01T00:00:00+00:00"


def message_of(sent: tuple[str, bytes]) -> FeedMessage:
    return read_message(sent[0], sent[1], root=SETTINGS.root)


def said(wheel: Wheel, lease: Lease, count: int = 1, at: str = AT) -> list[NewRecord]:
    return [NewRecord(lease.wheel, lease.fence, message_of(wheel.say(at=at)), at, None, False) for _ in range(count)]


class Two:
    """Two collectors of one wheel, without brokers."""

    def __init__(self, cluster: Cluster, database: str) -> None:
        self.cluster, self.database = cluster, database
        self.first, self.second = (RecordStore(cluster.dsn(database), name) for name in ("first", "second"))
        for store in (self.first, self.second):
            store.open()
        self.number = self.first.register([SETTINGS])[SETTINGS.root]

    def lease(self, store: RecordStore, lease_s: float = 60.0, brokers: int = 1) -> Lease | None:
        return next(iter(store.keep_leases(lease_s, brokers, [self.number])), None)

    def sql(self, statement: str) -> list[tuple[object, ...]]:
        return self.cluster.sql(self.database, statement)

    @property
    def stored(self) -> list[bytes]:
        return [
            bytes(payload)
            for (payload,) in self.cluster.sql(self.database, "select payload from house.record order by seq")
        ]


@pytest.fixture
def two(cluster: Cluster, database: str) -> Iterator[Two]:
    both = Two(cluster, database)
    yield both
    for store in (both.first, both.second):
        store.close()


def held(lease: Lease | None) -> Lease:
    assert lease is not None
    return lease


def test_records_stand_as_they_came(two: Two) -> None:
    wheel, lease = Wheel(), held(two.lease(two.first))
    two.first.add(said(wheel, lease, 3))
    assert two.stored == [payload for _, payload in wheel.sent]
    assert held(two.lease(two.first)) == replace(lease, seq=3, hash=wheel.hashes[-1])


def test_a_write_with_an_old_fencing_number_is_refused(two: Two) -> None:
    wheel, old = Wheel(), held(two.lease(two.first, lease_s=0.0))
    new = held(two.lease(two.second))
    assert new.fence > old.fence
    (record,) = said(wheel, old)
    with pytest.raises(RefusedRecordError, match="another collector writes it"):
        two.first.add([record])
    assert two.stored == []
    two.second.add([replace(record, fence=new.fence)])
    assert len(two.stored) == 1


def test_a_lease_that_is_not_over_is_not_taken(two: Two) -> None:
    assert two.lease(two.first) is not None
    assert two.lease(two.second) is None


def test_a_lease_that_was_given_up_is_taken_at_once(two: Two) -> None:
    first = held(two.lease(two.first))
    two.first.release_leases()
    assert held(two.lease(two.second)).fence > first.fence


def test_who_hears_fewer_brokers_gives_its_leases_up(two: Two) -> None:
    assert two.lease(two.first, brokers=2) is not None
    assert two.lease(two.second, brokers=3) is None, "the lease is not over yet"
    assert two.lease(two.first, brokers=2) is None
    assert two.lease(two.second, brokers=3) is not None
    two.second.release_leases()
    assert two.lease(two.first, brokers=2) is not None
    assert two.lease(two.first, brokers=0) is None


def test_the_same_record_twice_is_one_row(two: Two) -> None:
    wheel, lease = Wheel(), held(two.lease(two.first))
    records = said(wheel, lease, 2)
    two.first.add(records)
    for again in (records, records[1:], [records[0]]):
        with pytest.raises(RefusedRecordError):
            two.first.add(again)
    (record,) = said(wheel, lease)
    with pytest.raises(RefusedRecordError):
        two.first.add([record, record])
    assert len(two.stored) == 2


def test_a_number_is_not_given_twice_in_two_months(two: Two) -> None:
    """The key of a table in parts holds in each part only: the chain holds in all."""
    lease = held(two.lease(two.first))
    two.first.add(said(Wheel(), lease))
    with pytest.raises(RefusedRecordError):
        two.first.add(said(Wheel(), lease, at=ANOTHER_MONTH))
    assert len(two.stored) == 1


@pytest.mark.parametrize("left_out", [0, 1])
def test_a_record_that_does_not_follow_is_refused_with_all_beside_it(two: Two, left_out: int) -> None:
    records = said(Wheel(), held(two.lease(two.first)), 3)
    del records[left_out]
    with pytest.raises(RefusedRecordError, match="does not follow"):
        two.first.add(records)
    assert two.stored == []


def test_another_chain_is_refused(two: Two) -> None:
    wheel, clone, lease = Wheel(), Wheel(), held(two.lease(two.first))
    two.first.add(said(wheel, lease))
    clone.say(other=1)
    with pytest.raises(RefusedRecordError, match="does not follow"):
        two.first.add(said(clone, lease))


def test_a_wheel_that_says_what_is_lost_goes_on(two: Two) -> None:
    wheel, lease = Wheel(), held(two.lease(two.first))
    records = said(wheel, lease, 3)
    two.first.add(records[:1])
    wheel.restore(1)
    two.first.add(said(wheel, lease, 2))
    assert two.sql("select seq, gap_from from house.record order by seq") == [(1, None), (4, 2), (5, None)]


def test_records_are_never_changed(two: Two) -> None:
    two.first.add(said(Wheel(), held(two.lease(two.first))))
    for statement in ("update house.record set coup = 7", "delete from house.record"):
        with pytest.raises(psycopg.errors.RaiseException, match="never changed"):
            two.sql(statement)


@pytest.mark.parametrize(
    ("at", "part"),
    [
        (AT, "house.record_2026_11"),
        (ANOTHER_MONTH, "house.record_2027_01"),
        ("1970-01-01T00:00:00+00:00", "house.record_before_2000"),
        ("9999-12-31T23:59:59+00:00", "house.record_after_2099"),
        ("-infinity", "house.record_before_2000"),
    ],
)
def test_each_month_is_a_part(two: Two, at: str, part: str) -> None:
    two.first.add(said(Wheel(), held(two.lease(two.first)), at=at))
    assert two.sql("select tableoid::regclass::text from house.record") == [(part,)]


def test_a_month_that_was_put_away_stops_nothing(two: Two) -> None:
    wheel, lease = Wheel(), held(two.lease(two.first))
    two.first.add(said(wheel, lease, 2))
    two.sql("alter table house.record detach partition house.record_2026_11")
    assert two.first.hashes([(lease.wheel, 1)]) == {}
    two.second.open()  # a collector remembers the months that it made
    two.second.add(said(wheel, lease))
    assert two.sql("select tableoid::regclass::text, seq from house.record") == [("house.record_2026_11_again", 3)]
    two.second.open()
    two.second.add(said(wheel, lease))
    assert len(two.stored) == 2


def test_a_number_that_is_lost_is_known_from_one_that_is_stored(two: Two) -> None:
    wheel, lease = Wheel(), held(two.lease(two.first))
    two.first.add(said(wheel, lease))
    said(wheel, lease, 2)
    wheel.restore(1)
    two.first.add(said(wheel, lease))
    assert two.first.hashes((lease.wheel, seq) for seq in range(6)) == {
        (lease.wheel, 1): wheel.hashes[1],
        (lease.wheel, 2): None,
        (lease.wheel, 3): None,
        (lease.wheel, 4): wheel.hashes[2],
    }


def alarm(lease: Lease, **more: object) -> Alarm:
    made = Alarm(lease.wheel, lease.fence, "conflict", 3, b"\1" * 32, "it came", b"{}")
    return replace(made, **more)  # type: ignore[arg-type]


def test_an_alarm_is_raised_once(two: Two) -> None:
    first = held(two.lease(two.first, lease_s=0.0))
    two.first.alarm([alarm(first), alarm(first)])
    two.first.alarm([alarm(first, why="in other words")])
    second = held(two.lease(two.second))
    two.second.alarm([alarm(second), alarm(second, subject=b"\2" * 32)])
    assert two.sql("select kind, seq, why from house.alarms order by id") == [("conflict", 3, "it came")] * 2


def test_who_has_no_lease_raises_none(two: Two) -> None:
    old = held(two.lease(two.first, lease_s=0.0))
    assert two.lease(two.second) is not None
    two.first.alarm([alarm(old)])
    assert two.sql("select * from house.alarms") == []


def test_alarms_do_not_fill_the_disk(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wheeld_house.database.ALARMS_MAX", 5)
    lease = held(two.lease(two.first))
    for seq in range(20):
        two.first.alarm([alarm(lease, seq=seq)])
    assert two.sql("select count(*) from house.alarm") == [(5,)]


def test_who_reads_may_not_write(two: Two) -> None:
    two.first.add(said(Wheel(), held(two.lease(two.first)), 2))
    with psycopg.connect(two.cluster.dsn(two.database), autocommit=True) as reader:
        reader.execute("set role wheeld_reader")
        for view in ("messages", "results", "voids", "rulings", "events", "evidence", "tables", "alarms", "record"):
            reader.execute(f"select * from house.{view}")
        for statement in (
            "insert into house.alarm (wheel, kind, seq, subject, why) values (1, 'x', 1, '', '')",
            "update house.wheel set head_seq = 0",
            "select house.release_leases(gen_random_uuid())",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                reader.execute(statement)


def test_the_role_of_a_collector_is_enough(two: Two) -> None:
    two.sql("create role test_collector login in role wheeld_collector")
    try:
        store = RecordStore(two.cluster.dsn(two.database, "test_collector"), "third")
        store.open()
        store.register([SETTINGS, HouseWheel(site=SITE, table="another")])
        lease = held(two.lease(store))
        store.add(said(Wheel(), lease))
        store.alarm([alarm(lease)])
        store.hashes([(lease.wheel, 1)])
        store.release_leases()
        store.close()
    finally:
        two.sql("drop role test_collector")
    assert len(two.stored) == 1


def test_what_no_reader_of_json_agrees_on_spoils_no_query(two: Two) -> None:
    wheel, lease = Wheel(), held(two.lease(two.first))
    odd = message_of(wheel.say(half="\ud800", number=17))
    good = message_of(wheel.say(number="17"))
    two.first.add([NewRecord(lease.wheel, lease.fence, each, AT, None, False) for each in (odd, good)])
    assert two.sql("select seq, number from house.results where coalesce(number, 0) < 40 order by seq") == [
        (1, None),
        (2, None),
    ]


def test_a_bench_table_and_a_live_one_do_not_mix(two: Two) -> None:
    with pytest.raises(RecordStoreError, match="is a live table"):
        two.second.register([HouseWheel(site=SITE, table=TABLE, test=True)])


def test_a_second_migration_does_nothing(two: Two) -> None:
    migrate(two.cluster.dsn(two.database))
    assert two.sql("select version_num from wheeld_house_version") == [("0004",)]
