"""A journal of each version is kept in `tests/data/journals`: every later version opens, migrates and verifies it.

When the schema gets another number, write one more: `python -m tests.journal.test_kept_versions`.
"""

from __future__ import annotations

import gzip
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from tests.journal.journals import NOW, OWNER, write_keys
from tests.security.forger.house import COUPS, FINDERS, PRUNED, House, build
from wheeld.journal import schema
from wheeld.journal.opening import open_to_write
from wheeld.journal.verify import verify

KEPT = Path(__file__).parents[1] / "data" / "journals"


def unpacked(version: int, directory: Path) -> House:
    """The kept journal of that version, and the keys that it was written with."""
    write_keys(directory)
    house = House(directory)
    house.journal.write_bytes(gzip.decompress((KEPT / f"{version}.sqlite.gz").read_bytes()))
    return house


def test_this_version_is_kept() -> None:
    assert {file.name for file in KEPT.iterdir()} == {f"{n}.sqlite.gz" for n in range(1, schema.VERSION + 1)}


@pytest.mark.parametrize("version", range(1, schema.VERSION + 1))
def test_it_is_opened_migrated_and_verified(version: int, tmp_path: Path) -> None:
    house = unpacked(version, tmp_path)
    with closing(sqlite3.connect(house.journal)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (version,)
    with closing(open_to_write(house.journal, owner=OWNER, signer=house.signer, at_utc_us=NOW)) as journal:
        assert journal.reader.last_seq() == 2 * COUPS
        assert journal.reader.coups() == list(range(PRUNED + 1, COUPS + 1))
        assert journal.reader.memory() == b'{"coup":%d}' % COUPS
        assert journal.owed(0, 100)
        assert verify(journal.reader).faults == []
    house.noted = (0, b"")
    assert FINDERS["auditor"](house) == ""


def _keep() -> None:
    with tempfile.TemporaryDirectory() as directory:
        house = build(Path(directory))
        packed = gzip.compress(house.journal.read_bytes(), 9, mtime=0)
        (KEPT / f"{schema.VERSION}.sqlite.gz").write_bytes(packed)
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    _keep()
