"""The database as a collector uses it: leases, records and alarms. The database is PostgreSQL. All calls of psycopg run
in the caller's thread.

Each statement is a transaction. So a collector that stops between two statements holds no lock. No statement has a time
limit. A commit may wait for a standby server. If the collector gave up such a commit, it would not know what is stored,
and readers would see rows that may disappear. Rows are certainly stored only when the call has returned. After an
error, nobody knows what is stored until `keep_leases`, on a new connection, has returned the last stored records.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from wheeld.feed import FeedMessage
from wheeld_house.checkpoints import Signed, WitnessKey, cosign, prove
from wheeld_house.settings import HouseWheel

FENCED, BROKEN_CHAIN = "WH001", "WH002"
"""The SQLSTATE codes with which `check_records` (migrations/versions/r0001_records.sql) refuses records."""
ALARMS_MAX = 1000
"""How many alarms of one kind a wheel may have. Without a limit, somebody who publishes as this wheel could fill the
disk."""
UNDATED = "-infinity"
CONNECTING: dict[str, int | str] = {
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
    "application_name": "wheeld-house",
}
"""With these limits the network layer notices a server whose computer has failed. They do not disturb a server that
waits for its standby: its network layer still answers."""

_ADD = """
insert into house.record (
    wheel, seq, at, kind, coup, prev, hash, gap_from, payload, is_signed, is_readable, fence
)
select wheel, seq, at, kind, coup, prev, hash, gap_from, payload, is_signed, house.is_readable(payload), fence
from unnest(
    %s::integer[], %s::bigint[], %s::text[]::timestamptz[], %s::text[], %s::bigint[], %s::bytea[], %s::bytea[],
    %s::bigint[], %s::bytea[], %s::boolean[], %s::bigint[]
) as _(wheel, seq, at, kind, coup, prev, hash, gap_from, payload, is_signed, fence)
"""
_ALARM = """
insert into house.alarm (wheel, kind, seq, subject, why, payload)
select q.wheel, q.kind, q.seq, q.subject, q.why, q.payload
from unnest(
    %s::integer[], %s::bigint[], %s::text[], %s::bigint[], %s::bytea[], %s::text[], %s::bytea[]
) as q(wheel, fence, kind, seq, subject, why, payload)
join house.wheel w on w.id = q.wheel and w.fence = q.fence
where (select count(*) from house.alarm a where a.wheel = q.wheel and a.kind = q.kind) < %s
on conflict (wheel, kind, seq, subject) do nothing
"""
_REGISTER = """
insert into house.wheel (site, table_name, is_test)
select q.site, q.table_name, q.is_test
from unnest(%s::text[], %s::text[], %s::boolean[]) as q(site, table_name, is_test)
where not exists (select from house.wheel w where w.site = q.site and w.table_name = q.table_name)
on conflict (site, table_name) do nothing
"""
_KNOWN = """
select w.id, w.site, w.table_name, w.is_test from house.wheel w
join unnest(%s::text[], %s::text[]) as q(site, table_name) using (site, table_name)
"""
_HASHES = """
select q.wheel, q.seq, r.hash from unnest(%s::integer[], %s::bigint[]) as q(wheel, seq)
left join house.record r using (wheel, seq)
where r.hash is not null or exists (
    select from house.record g where g.wheel = q.wheel and g.gap_from <= q.seq and q.seq < g.seq
)
"""


class RecordStoreError(Exception):
    """The database did not do what was asked, or nobody knows whether it did. Call `keep_leases` to learn what is
    stored."""


class RefusedRecordError(RecordStoreError):
    """The database refused records: another collector has the wheel, or a record does not follow the last one."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A wheel whose records this collector may write. `wheel`: its number in the database. `fence`: the fencing number.
    `seq` and `hash`: those of the last stored record."""

    wheel: int
    fence: int
    seq: int
    hash: str


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A checked message that must be stored. `at`: its date, in the form of RFC 3339, or UNDATED."""

    wheel: int
    fence: int
    message: FeedMessage
    at: str
    coup: int | None
    is_signed: bool


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something that a person must look at. `subject`: the SHA-256 of the message that the alarm is about, or empty.
    Two alarms with the same wheel, kind, `seq` and subject are the same alarm."""

    wheel: int
    fence: int
    kind: str
    seq: int
    subject: bytes
    why: str
    payload: bytes | None = None


class RecordStore:
    """One collector's connection. Call `open` first, and again after each RecordStoreError that is not a
    RefusedRecordError."""

    def __init__(self, database: str, name: str) -> None:
        self.holder = uuid.uuid4()
        """The id of this collector, from its start to its end. After a restart the collector has a new id."""
        self._database, self._name = database, name
        self._connection: psycopg.Connection[Any] | None = None
        self._months: set[str] = set()

    def open(self) -> None:
        """Make a new connection. Raises RecordStoreError."""
        self.close()
        self._months.clear()
        try:
            given = conninfo_to_dict(self._database)
            more = {key: of for key, of in CONNECTING.items() if key not in given}
            self._connection = psycopg.connect(make_conninfo(self._database, **more), autocommit=True)
            self._connection.execute("set timezone = 'UTC'")
        except psycopg.Error as wrong:
            raise RecordStoreError(f"the database cannot be used: {wrong}") from wrong

    def close(self) -> None:
        """End the connection, if there is one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def register(self, wheels: Sequence[HouseWheel]) -> dict[str, int]:
        """Add the wheels that the database does not have yet. Returns the number of each wheel there, by its root.
        Raises RecordStoreError, also if a wheel is a bench table in the settings and a live table in the database, or
        the reverse."""
        names = [wheel.site for wheel in wheels], [wheel.table for wheel in wheels]
        self._rows(_REGISTER, *names, [wheel.test for wheel in wheels])
        known = {f"wheel/v1/{site}/{table}": (number, test) for number, site, table, test in self._rows(_KNOWN, *names)}
        for wheel in wheels:
            if known[wheel.root][1] is not wheel.test:
                raise RecordStoreError(
                    f"in the database {wheel.root} is a {'live' if wheel.test else 'bench'} table: correct `test` in "
                    "the settings"
                )
        return {root: number for root, (number, _) in known.items()}

    def keep_leases(self, lease_s: float, brokers: int, wheels: Sequence[int]) -> list[Lease]:
        """Store that this collector runs, and to how many brokers it is connected. Returns the leases that it has for
        the next `lease_s` seconds. Raises RecordStoreError."""
        rows = self._rows(
            "select * from house.keep_leases(%s, %s, %s::double precision, %s::integer, %s::integer[])",
            self.holder,
            self._name,
            lease_s,
            brokers,
            list(wheels),
        )
        return [Lease(wheel, fence, seq, bytes(digest).hex()) for wheel, fence, seq, digest in rows]

    def release_leases(self) -> None:
        """Give up all leases. Raises RecordStoreError."""
        self._rows("select house.release_leases(%s)", self.holder)

    def add(self, records: Sequence[NewRecord]) -> None:
        """Store all records, or none. Raises RefusedRecordError, or RecordStoreError if nobody knows whether they are
        stored."""
        for month in sorted({record.at[:7] for record in records if record.at != UNDATED} - self._months):
            self._rows("select house.make_month(%s::timestamptz)", f"{month}-15T00:00:00Z")
            self._months.add(month)
        messages = [record.message for record in records]
        self._rows(
            _ADD,
            [record.wheel for record in records],
            [message.seq for message in messages],
            [record.at for record in records],
            [message.topic for message in messages],
            [record.coup for record in records],
            [bytes.fromhex(message.prev) for message in messages],
            [bytes.fromhex(message.hash) for message in messages],
            [message.gap_from if "gap" in message.body else None for message in messages],
            [message.payload for message in messages],
            [record.is_signed for record in records],
            [record.fence for record in records],
        )

    def hashes(self, places: Iterable[tuple[int, int]]) -> dict[tuple[int, int], str | None]:
        """Return the stored hash for each wheel and `seq`, or None if the number is lost. Records of a month that was
        detached (docs/collector.md) are left out. Raises RecordStoreError."""
        asked = list(places)
        rows = self._rows(_HASHES, [wheel for wheel, _ in asked], [seq for _, seq in asked])
        return {(wheel, seq): None if digest is None else bytes(digest).hex() for wheel, seq, digest in rows}

    def alarm(self, alarms: Sequence[Alarm]) -> None:
        """Store the alarms that are new. Raises RecordStoreError."""
        self._rows(
            _ALARM,
            [alarm.wheel for alarm in alarms],
            [alarm.fence for alarm in alarms],
            [alarm.kind for alarm in alarms],
            [alarm.seq for alarm in alarms],
            [alarm.subject for alarm in alarms],
            [alarm.why for alarm in alarms],
            [alarm.payload for alarm in alarms],
            ALARMS_MAX,
        )

    def prove(self, wheel: int, fence: int, signed: Signed, witness: WitnessKey | None) -> bool | None:
        """Return the result of `checkpoints.prove`. If it is True and there is a `witness`, cosign the checkpoint.
        Raises RecordStoreError."""
        if self._connection is None:
            raise RecordStoreError("there is no connection to the database")
        try:
            is_true = prove(self._connection, wheel, fence, signed)
            if is_true and witness is not None:
                cosign(self._connection, wheel, signed, witness)
        except psycopg.Error as wrong:
            raise RecordStoreError(str(wrong).partition("\n")[0]) from wrong
        return is_true

    def _rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        if self._connection is None:
            raise RecordStoreError("there is no connection to the database")
        try:
            done = self._connection.execute(statement, values)
            return done.fetchall() if done.description else []
        except psycopg.Error as wrong:
            if wrong.sqlstate in (FENCED, BROKEN_CHAIN, "23505"):
                raise RefusedRecordError(str(wrong).partition("\n")[0]) from wrong
            raise RecordStoreError(str(wrong).partition("\n")[0]) from wrong
