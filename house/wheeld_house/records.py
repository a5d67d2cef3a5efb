"""`wheeld-house records`: writes all records that the house has of one wheel, to restore the wheel's journal from them.

Each line is a message, byte for byte as the wheel published it, in the order of `seq`. The last line is the newest
checkpoint with its cosignatures, if there is one. The wheel does not trust these lines: it checks its own signatures.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

import psycopg

from wheeld_house.settings import site_and_table

ROWS_AT_ONCE = 1_000

_RECORDS = """
select r.payload from house.record r join house.wheel w on w.id = r.wheel
where w.site = %s and w.table_name = %s order by r.seq
"""
_CHECKPOINT = """
select c.note || coalesce((
    select string_agg(s.line, '' order by s.witness) from house.cosignature s
    where (s.wheel, s.first_seq, s.size) = (c.wheel, c.first_seq, c.size)
), '')
from house.checkpoint c join house.wheel w on w.id = c.wheel
where w.site = %s and w.table_name = %s
    and c.first_seq = coalesce((
        select max(r.seq) from house.record r where r.wheel = w.id and r.gap_from is not null
    ), 1)
order by c.size desc limit 1
"""
"""A gap in the feed begins a new tree. The wheel compares a checkpoint only with the newest tree, so it needs a
checkpoint of this tree."""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    records = commands.add_parser(
        "records", help="write all records of a wheel to standard output, to restore its journal"
    )
    records.add_argument("database", help="the connection string, of a user who may read")
    records.add_argument("table", type=site_and_table, metavar="SITE/TABLE", help="the wheel: campione/campione-03")
    records.set_defaults(run=_records)


def records_of(database: psycopg.Connection[Any], site: str, table: str) -> Iterator[bytes]:
    """Yield the lines, all from the same moment of the database. Raises LookupError if there is no record, and
    psycopg.Error."""
    with database.transaction():
        database.execute("set transaction isolation level repeatable read")
        with database.cursor(name="records") as rows:
            rows.itersize = ROWS_AT_ONCE
            rows.execute(_RECORDS, (site, table))
            first = rows.fetchone()
            if first is None:
                raise LookupError(f"there is no record of {site}/{table}")
            yield bytes(first[0])
            for (payload,) in rows:
                yield bytes(payload)
        checkpoint = database.execute(_CHECKPOINT, (site, table)).fetchone()
        if checkpoint is not None:
            yield json.dumps({"checkpoint": checkpoint[0]}).encode()


def _records(options: argparse.Namespace) -> None:
    site, table = options.table
    with psycopg.connect(options.database, autocommit=True) as database:
        for line in records_of(database, site, table):
            sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()
