"""What is done to the journal's files while a daemon has them open: it is noticed, and nothing more is stored."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.broker.feed import Feed
from tests.broker.world import settle
from tests.journal.journals import NOW, open_reader, open_writer
from tests.journal.test_keeper import keeping
from wheeld.journal.keeper import WATCH_S
from wheeld.journal.rows import JournalError
from wheeld.journal.verify import verify


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "j"


def deleted(path: Path) -> None:
    path.unlink()


def wal_deleted(path: Path) -> None:
    path.with_name(path.name + "-wal").unlink()


def lock_deleted(path: Path) -> None:
    path.with_name(path.name + ".lock").unlink()


def exchanged(path: Path) -> None:
    shutil.copy(path, path.with_name("other"))
    path.with_name("other").rename(path)


def cut(path: Path) -> None:
    os.truncate(path, 4096)


def wal_cut(path: Path) -> None:
    os.truncate(path.with_name(path.name + "-wal"), 0)


def written_to(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM debts")


WAYS: dict[Callable[[Path], None], str] = {
    deleted: "j was deleted",
    wal_deleted: "j-wal was deleted",
    lock_deleted: "j.lock was deleted",
    exchanged: "j was exchanged for another file",
    cut: "j was cut short",
    wal_cut: "j-wal was cut short",
    written_to: "another program wrote to it",
}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_nothing_more_is_stored_and_the_error_says_why(path: Path, way: Callable[[Path], None]) -> None:
    feed = Feed()
    with closing(open_writer(path)) as journal:
        journal.append(feed.step("result", "table"), NOW)
        journal.database.look()
        way(path)
        with pytest.raises(JournalError, match=WAYS[way]) as caught:
            journal.append(feed.step("result"), NOW)
        assert caught.value.fault == "replaced"


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_it_is_noticed_within_a_second_while_nothing_is_stored(
    tmp_path: Path, way: Callable[[Path], None]
) -> None:
    async with keeping(tmp_path) as bench:
        bench.evening.open()
        await bench.stored()
        async with bench.watching() as watch:
            await bench.clock.advance(3 * WATCH_S)
            await bench.everything()
            assert not watch.done()
            way(tmp_path / "j")
            await bench.clock.advance(WATCH_S)
            while not watch.done():
                await settle()
            error = watch.exception()
        assert isinstance(error, JournalError)
        assert error.fault == "replaced"


def test_readers_and_other_files_disturb_nothing(path: Path) -> None:
    feed = Feed()
    with closing(open_writer(path)) as journal:
        for _ in range(3):
            journal.append(feed.step("result", "table"), NOW)
            with closing(open_reader(path)) as reader:
                assert verify(reader).faults == []
            shutil.copy(path, path.with_name("copy"))
            journal.database.look()
