"""An event record that a start reads is as it was written, also where it stands before the last seal."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.broker.feed import Feed
from tests.journal.journals import NOW, OWNER, chain_anew, open_writer, opened, write_keys
from wheeld.core.step import CoupLog
from wheeld.journal.chain import KINDS, digest_of, follow
from wheeld.journal.journal import Journal
from wheeld.journal.rows import JournalError
from wheeld.journal.seal import FileSigner
from wheeld.journal.verify import PAGE
from wheeld.ports import EventName, EventRecord

PROGRAMS = ("one", "two", "three")
"""Of three starts. The third one's power-up is the newest."""
STARTED = 1 + 6 * (len(PROGRAMS) - 1)
"""The row of the third power-up."""


def filled(directory: Path, *, keyed: bool = True) -> Path:
    """Three runs, each begun and ended with a seal where there is a key, and some records behind the last one."""
    private, _ = write_keys(directory)
    path, feed = directory / "j", Feed()
    with closing(open_writer(path, signer=FileSigner(private) if keyed else None)) as journal:
        for coup, program in enumerate(PROGRAMS, 1):
            journal.note(EventRecord(event="power_up", details={"program": program}), NOW)
            journal.append(feed.step("table"), NOW)
            journal.seal(by="wheeld", why="the daemon starts", at_utc_us=NOW)
            journal.append(feed.step("notice", "result", evidence=CoupLog(coup, "result", b"log")), NOW)
            for name in ("door_opened", "door_closed", "sensor_failed", "sensor_mended"):
                journal.note(EventRecord(event=name), NOW)
            journal.seal(by="wheeld", why="shift change", at_utc_us=NOW)
            journal.note(EventRecord(event="stop"), NOW)
        journal.append(feed.step("table"), NOW)
    return path


def last_event(path: Path, *names: EventName, keyed: bool = True) -> str:
    """What a start reads, when it could be opened."""
    with closing(open_writer(path, signer=FileSigner(path.with_name("wheel.key")) if keyed else None)) as journal:
        found = journal.last_event(*names)
        assert found is not None
        return f"{found.row} {found.details}"


def edited(db: sqlite3.Connection) -> None:
    """Only the row."""
    assert db.execute("UPDATE events SET details = replace(details, 'three', 'two') WHERE row = ?", (STARTED,)).rowcount


def edited_with_its_digest(db: sqlite3.Connection) -> None:
    """The row, and the digest in its link."""
    edited(db)
    row = db.execute(f"SELECT {', '.join(KINDS['event'].columns)} FROM events WHERE row = ?", (STARTED,)).fetchone()
    db.execute("UPDATE chain SET digest = ? WHERE kind = 'event' AND ref = ?", (digest_of(row), STARTED))


def edited_with_its_link(db: sqlite3.Connection) -> None:
    """The row and the whole of its link: the next link does not follow."""
    edited_with_its_digest(db)
    query = "SELECT n, digest FROM chain WHERE kind = 'event' AND ref = ?"
    n, digest = db.execute(query, (STARTED,)).fetchone()
    (head,) = db.execute("SELECT head FROM chain WHERE n = ?", (n - 1,)).fetchone()
    db.execute("UPDATE chain SET head = ? WHERE n = ?", (follow(n - 1, head, "event", STARTED, digest).head, n))


def edited_with_two_links_and_a_seal_in_no_record(db: sqlite3.Connection) -> None:
    """As far as a seal that was put into its table only, where the chain has a message."""
    edited_with_its_link(db)
    query = "SELECT n, head FROM chain WHERE kind = 'event' AND ref = ?"
    n, head = db.execute(query, (STARTED,)).fetchone()
    kind, ref, digest = db.execute("SELECT kind, ref, digest FROM chain WHERE n = ?", (n + 1,)).fetchone()
    db.execute("UPDATE chain SET head = ? WHERE n = ?", (follow(n, head, kind, ref, digest).head, n + 1))
    db.execute("INSERT INTO heads SELECT ?, head, at_utc_us, by, why, key_id, signature FROM heads LIMIT 1", (n,))


def edited_with_all_links_to_the_seal(db: sqlite3.Connection) -> None:
    """As far as the last seal, whose own head is put back: only the seal before that does not fit."""
    (n,) = db.execute("SELECT max(n) FROM heads").fetchone()
    kept = db.execute("SELECT * FROM chain WHERE n >= ?", (n,)).fetchall()
    edited(db)
    chain_anew(db)
    db.execute("DELETE FROM chain WHERE n >= ?", (n,))
    db.executemany("INSERT INTO chain VALUES (?, ?, ?, ?, ?)", kept)


def edited_with_all_links_and_no_seal_between(db: sqlite3.Connection) -> None:
    """The same, and the seals between are gone from their table."""
    edited_with_all_links_to_the_seal(db)
    (link,) = db.execute("SELECT n FROM chain WHERE kind = 'event' AND ref = ?", (STARTED,)).fetchone()
    db.execute("DELETE FROM heads WHERE n >= ? AND n < (SELECT max(n) FROM heads)", (link,))


def inserted(db: sqlite3.Connection) -> None:
    """A newer row between others, in no record."""
    db.execute("UPDATE events SET event = 'power_up', details = '{}' WHERE row = ?", (STARTED + 3,))
    db.execute("UPDATE chain SET ref = -ref WHERE kind = 'event' AND ref = ?", (STARTED + 3,))


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("page", [1, PAGE], ids=["page by page", "at once"])
def test_an_untouched_one_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, page: int, keyed: bool) -> None:
    monkeypatch.setattr("wheeld.journal.verify.PAGE", page)
    path = filled(tmp_path, keyed=keyed)
    assert last_event(path, "power_up", keyed=keyed) == f'{STARTED} {{"program":"three"}}'
    assert last_event(path, "power_up", "stop", keyed=keyed) == "18 {}"
    assert last_event(path, "door_opened", "door_closed", keyed=keyed) == f"{STARTED + 2} {{}}"


@pytest.mark.parametrize(
    ("forge", "why"),
    [
        (edited, f"event {STARTED}: edited"),
        (edited_with_its_digest, "its link does not follow the one before"),
        (edited_with_its_link, "its link does not follow the one before"),
        (edited_with_two_links_and_a_seal_in_no_record, "no seal covers it"),
        (edited_with_all_links_to_the_seal, "not what was sealed"),
        (edited_with_all_links_and_no_seal_between, "removed"),
        (inserted, f"event {STARTED + 3}: in no record: inserted"),
    ],
)
def test_one_that_was_touched_is_not_used(
    tmp_path: Path, forge: Callable[[sqlite3.Connection], None], why: str
) -> None:
    path = filled(tmp_path)
    with opened(path) as db:
        forge(db)
    with pytest.raises(JournalError, match=why) as caught:
        last_event(path, "power_up")
    assert caught.value.fault == "edited"
    assert last_event(path, "power_up", "stop") == "18 {}", "it opens, and what stands behind the seal is right"


async def test_the_daemon_reads_them_so(tmp_path: Path) -> None:
    path = filled(tmp_path)
    with opened(path) as db:
        edited(db)
    signer = FileSigner(tmp_path / "wheel.key")
    journal = await Journal.open(path, OWNER, at_utc_us=NOW, signer=signer)
    try:
        with pytest.raises(JournalError, match=f"event {STARTED}: edited"):
            await journal.last_event("power_up")
    finally:
        await journal.close()


def test_each_one_is_found_in_the_chain_by_halving(tmp_path: Path) -> None:
    with closing(open_writer(filled(tmp_path), signer=FileSigner(tmp_path / "wheel.key"))) as journal:
        reader = journal.reader
        links = [link for link in reader.links(0, 1000) if link.kind == "event"]
        assert [reader.link_of("event", link.ref) for link in links] == links
        assert len(links) == 18
        assert [reader.link_of("event", ref) for ref in (0, 19)] == [None, None]
