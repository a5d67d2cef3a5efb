"""The forgeries, each by somebody with the SD card or a backup in hand. `UNSEEN` says who cannot find one, and why."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing

from tests.journal.journals import NOW, bind_anew, chain_anew, opened, write_keys
from tests.security.forger.house import (
    PRUNED,
    House,
    append_link,
    change_result,
    cut_after,
    fake_signature,
    last_result,
    packed_otherwise,
    play_on,
    reseal,
    rewrite_feed,
)
from wheeld.core.messages.chain import unsigned
from wheeld.journal.seal import FileSigner, sign_message

FORGERIES: dict[str, Callable[[House], None]] = {}
UNSEEN: dict[str, dict[str, str]] = {}
"""By forgery, the finders that do not find it, each with the reason. `wheeld/THREATS.md` says it to people."""


def forgery(forge: Callable[[House], None]) -> Callable[[House], None]:
    """Of somebody who does things with the files."""
    FORGERIES[forge.__name__] = forge
    return forge


def by_sql(forge: Callable[[sqlite3.Connection], None]) -> Callable[[sqlite3.Connection], None]:
    """Of somebody with SQL and without the key."""

    def whole(house: House) -> None:
        with opened(house.journal) as db:
            forge(db)

    FORGERIES[forge.__name__] = whole
    return forge


def with_key(forge: Callable[[sqlite3.Connection, House], None]) -> Callable[[sqlite3.Connection, House], None]:
    """Of somebody with SQL and the wheel's key, but not the broker."""

    def whole(house: House) -> None:
        with opened(house.journal) as db:
            forge(db, house)

    FORGERIES[forge.__name__] = whole
    return forge


# --- a result, with SQL and without the key --------------------------------------------------------------------------


@by_sql
def edited_a_sealed_result(db: sqlite3.Connection) -> None:
    """Another number in a result that was sealed, nothing else."""
    change_result(db, 1)


@by_sql
def edited_the_last_result(db: sqlite3.Connection) -> None:
    """Another number in the last result, nothing else."""
    change_result(db, last_result(db))


@by_sql
def edited_a_sealed_result_and_all_chains(db: sqlite3.Connection) -> None:
    """Another number in a sealed result, and every chain written anew; signatures go."""
    change_result(db, 3)
    rewrite_feed(db, None, first=3)
    chain_anew(db)
    bind_anew(db)


@by_sql
def edited_the_last_result_and_all_that_hangs_on_it(db: sqlite3.Connection) -> None:
    """The audit's: chains anew, signatures stripped, memory and tail adjusted; the daemon was to seal it."""
    seq = last_result(db)
    change_result(db, seq)
    rewrite_feed(db, None, first=seq)
    db.execute("UPDATE kept SET value = x'7b7d' WHERE name = 'memory'")
    chain_anew(db)
    bind_anew(db)


@by_sql
def edited_and_signed_with_nothing(db: sqlite3.Connection) -> None:
    """The same, with bytes in the place of the signatures."""
    seq = last_result(db)
    change_result(db, seq)
    rewrite_feed(db, None, first=seq)
    rows = db.execute("SELECT id, payload FROM messages WHERE seq >= ?", (seq,)).fetchall()
    for ref, payload in rows:
        db.execute("UPDATE messages SET payload = ? WHERE id = ?", (fake_signature(payload), ref))
    chain_anew(db)
    bind_anew(db)


@by_sql
def stripped_the_last_signature(db: sqlite3.Connection) -> None:
    """A message that nobody signed in place of one that was, with its chain."""
    ref, payload = db.execute("SELECT id, payload FROM messages ORDER BY seq DESC LIMIT 1").fetchone()
    db.execute("UPDATE messages SET payload = ? WHERE id = ?", (unsigned(payload), ref))
    chain_anew(db)
    bind_anew(db)


@by_sql
def swapped_two_results(db: sqlite3.Connection) -> None:
    """Two results change places."""
    for old, new in ((1, -1), (3, 1), (-1, 3)):
        db.execute("UPDATE messages SET seq = ? WHERE seq = ?", (new, old))
    chain_anew(db)
    bind_anew(db)


@by_sql
def removed_a_result(db: sqlite3.Connection) -> None:
    """A sealed result is gone, with its link; all that follows moves up."""
    (ref,) = db.execute("SELECT id FROM messages WHERE seq = 3").fetchone()
    db.execute("DELETE FROM messages WHERE id = ?", (ref,))
    db.execute("DELETE FROM chain WHERE kind = 'message' AND ref = ?", (ref,))
    rewrite_feed(db, None, first=3)
    chain_anew(db)
    bind_anew(db)


@by_sql
def added_a_result(db: sqlite3.Connection) -> None:
    """A result at the end that never was, chained and owed."""
    (seq,) = db.execute("SELECT max(seq) + 1 FROM messages").fetchone()
    query = "INSERT INTO messages (topic, seq, retained, payload, at_utc_us) SELECT 'result', ?, 0, payload, ?"
    db.execute(f"{query} FROM messages WHERE seq = 1", (seq, NOW))
    (ref,) = db.execute("SELECT max(id) FROM messages").fetchone()
    rewrite_feed(db, None, first=seq)
    db.execute("INSERT INTO debts VALUES (?, ?, 0)", (ref, seq))
    append_link(db, "message", ref)
    bind_anew(db)


@by_sql
def added_a_result_in_no_record(db: sqlite3.Connection) -> None:
    """The same without a link, to be had by `resend`."""
    columns = "topic, seq, retained, payload, at_utc_us"
    db.execute(f"INSERT INTO messages ({columns}) SELECT 'result', max(seq) + 1, 0, payload, ? FROM messages", (NOW,))


@by_sql
def added_links_before_the_first(db: sqlite3.Connection) -> None:
    """Records where a walk from the first one would not meet them."""
    for n in (0, -7):
        db.execute("INSERT INTO chain SELECT ?, kind, ref, digest, head FROM chain WHERE n = 1", (n,))


# --- what a restart reads, and what is owed --------------------------------------------------------------------------


@by_sql
def edited_the_memory(db: sqlite3.Connection) -> None:
    """Another coup in what the table remembers."""
    db.execute("UPDATE kept SET value = CAST('{\"coup\":7}' AS BLOB) WHERE name = 'memory'")


@by_sql
def forgot_the_memory(db: sqlite3.Connection) -> None:
    """The table begins as a new one."""
    db.execute("DELETE FROM kept WHERE name = 'memory'")


@by_sql
def edited_the_memory_and_its_digest(db: sqlite3.Connection) -> None:
    """The memory, bound anew; only the signature does not fit."""
    db.execute("UPDATE kept SET value = CAST('{\"coup\":7}' AS BLOB) WHERE name = 'memory'")
    bind_anew(db)


@by_sql
def moved_the_position(db: sqlite3.Connection) -> None:
    """The board's events count twice, or not at all."""
    db.execute("UPDATE kept SET value = CAST(replace(value, '8', '2') AS BLOB) WHERE name = 'position'")


@by_sql
def forgot_the_position(db: sqlite3.Connection) -> None:
    """The board's events begin anew."""
    db.execute("DELETE FROM kept WHERE name = 'position'")


@by_sql
def settled_all(db: sqlite3.Connection) -> None:
    """The settlement core seems to have everything."""
    db.execute("UPDATE kept SET value = CAST('1000' AS BLOB) WHERE name = 'settled'")


@by_sql
def said_that_it_was_compared(db: sqlite3.Connection) -> None:
    """An entry that the daemon makes itself."""
    db.execute("INSERT INTO kept VALUES ('unmet_from', CAST('1' AS BLOB))")


@by_sql
def paid_a_debt(db: sqlite3.Connection) -> None:
    """One message is never sent."""
    db.execute("DELETE FROM debts WHERE id = (SELECT max(id) FROM debts)")


@by_sql
def paid_all_debts(db: sqlite3.Connection) -> None:
    """Nothing more is sent, and all is bound anew."""
    db.execute("DELETE FROM debts")
    bind_anew(db)


@by_sql
def made_a_debt(db: sqlite3.Connection) -> None:
    """An old message is sent once more."""
    db.execute("INSERT INTO debts VALUES (1, NULL, 0)")


@by_sql
def confirmed_a_debt(db: sqlite3.Connection) -> None:
    """The broker seems to have one that it has not."""
    db.execute("UPDATE debts SET confirmed = 1 - confirmed WHERE id = (SELECT max(id) FROM debts)")


@by_sql
def exchanged_debts(db: sqlite3.Connection) -> None:
    """One debt in place of another."""
    db.execute("UPDATE debts SET id = 1 WHERE id = (SELECT max(id) FROM debts)")


# --- the shape of the file -------------------------------------------------------------------------------------------


@by_sql
def planted_a_trigger(db: sqlite3.Connection) -> None:
    """It would forget the debt of each result as the daemon writes it."""
    db.execute(
        "CREATE TRIGGER t AFTER INSERT ON debts WHEN new.seq NOT NULL BEGIN DELETE FROM debts WHERE id = new.id; END"
    )


@by_sql
def planted_a_view(db: sqlite3.Connection) -> None:
    """A view, for someone who looks in with SQL."""
    db.execute("CREATE VIEW results AS SELECT * FROM messages WHERE topic = 'result'")


@by_sql
def planted_a_table(db: sqlite3.Connection) -> None:
    """A table that no record is in."""
    db.execute("CREATE TABLE notes (text TEXT)")


@by_sql
def planted_an_index(db: sqlite3.Connection) -> None:
    """An index that forbids what the daemon will write."""
    db.execute("CREATE UNIQUE INDEX one_a_day ON evidence (at_utc_us / 86400000000, coup)")


@by_sql
def planted_a_column(db: sqlite3.Connection) -> None:
    """A column that no digest covers."""
    db.execute("ALTER TABLE commands ADD COLUMN note TEXT")


@by_sql
def took_an_index_away(db: sqlite3.Connection) -> None:
    """Retention and retained messages are read by it."""
    db.execute("DROP INDEX messages_retained")


@forgery
def emptied_an_index(house: House) -> None:
    """The index stands in the schema as it should and holds nothing: what is read by it is not there."""
    with opened(house.journal) as db:
        db.execute("PRAGMA writable_schema = ON")
        (sql,) = db.execute("SELECT sql FROM sqlite_schema WHERE name = 'messages_retained'").fetchone()
        query = "UPDATE sqlite_schema SET sql = ? WHERE name = 'messages_retained'"
        db.execute(query, (sql.replace("retained = 1", "retained = 5"),))
        (version,) = db.execute("PRAGMA schema_version").fetchone()
        db.execute(f"PRAGMA schema_version = {version + 1}")
    with opened(house.journal) as db:
        db.execute("REINDEX messages_retained")
        db.execute("PRAGMA writable_schema = ON")
        db.execute(query, (sql,))
        db.execute(f"PRAGMA schema_version = {version + 2}")


@forgery
def wrote_behind_the_file(house: House) -> None:
    """Bytes behind the last page."""
    with house.journal.open("ab") as file:
        file.write(b"remember: 17" * 100)


# --- evidence --------------------------------------------------------------------------------------------------------


@by_sql
def wrote_behind_a_log(db: sqlite3.Connection) -> None:
    """Bytes behind a log, which unpack to nothing."""
    db.execute("UPDATE logs SET packed = CAST(packed || x'00ff' AS BLOB), bytes = bytes + 2 WHERE coup = 7")


@by_sql
def packed_a_log_anew(db: sqlite3.Connection) -> None:
    """The same log in other bytes."""
    (packed,) = db.execute("SELECT packed FROM logs WHERE coup = 2").fetchone()
    other = packed_otherwise(packed)
    db.execute("UPDATE logs SET packed = ?, bytes = ? WHERE coup = 2", (other, len(other)))


@by_sql
def exchanged_logs(db: sqlite3.Connection) -> None:
    """The observations of another coup."""
    db.execute("UPDATE logs SET packed = (SELECT packed FROM logs WHERE coup = 3) WHERE coup = 4")


@by_sql
def made_a_log_old(db: sqlite3.Connection) -> None:
    """Retention would remove it."""
    db.execute("UPDATE logs SET at_utc_us = 0 WHERE coup = 7")


@by_sql
def removed_a_log(db: sqlite3.Connection) -> None:
    """The observations are gone."""
    db.execute("DELETE FROM logs WHERE coup = 4")


@by_sql
def removed_a_log_as_retention_does(db: sqlite3.Connection) -> None:
    """The observations are gone, with a record of their removal that the forger made."""
    db.execute("DELETE FROM logs WHERE coup = 7")
    db.execute("INSERT INTO prunings VALUES (7, ?, 'age')", (NOW,))
    append_link(db, "pruning", 7)
    bind_anew(db)


@by_sql
def added_a_log(db: sqlite3.Connection) -> None:
    """Observations of a coup that never was."""
    db.execute("INSERT INTO logs SELECT 99, at_utc_us, bytes, packed FROM logs WHERE coup = 7")


@by_sql
def brought_a_log_back(db: sqlite3.Connection) -> None:
    """A log for a coup whose log was removed."""
    db.execute("INSERT INTO logs SELECT ?, at_utc_us, bytes, packed FROM logs WHERE coup = 7", (PRUNED,))


# --- commands, seals, and the end ------------------------------------------------------------------------------------


@by_sql
def said_that_another_gave_the_command(db: sqlite3.Connection) -> None:
    """Another name in a command behind the last seal, with its chain."""
    db.execute("UPDATE commands SET by = 'Anna' WHERE row = (SELECT max(row) FROM commands)")
    chain_anew(db)
    bind_anew(db)


@by_sql
def said_that_another_user_sent_the_command(db: sqlite3.Connection) -> None:
    """The name at the broker, which the sender did not choose."""
    db.execute("UPDATE senders SET user = 'bouler-campione-03' WHERE row = 1")


@by_sql
def removed_who_sent_the_command(db: sqlite3.Connection) -> None:
    """As if it had come from a button."""
    db.execute("DELETE FROM senders WHERE row = (SELECT max(row) FROM senders)")
    db.execute("DELETE FROM chain WHERE kind = 'sender' AND ref = (SELECT max(row) FROM commands)")
    chain_anew(db)
    bind_anew(db)


@by_sql
def added_a_command(db: sqlite3.Connection) -> None:
    """A command that nobody gave, chained behind the end."""
    db.execute("INSERT INTO commands SELECT NULL, 'x', 'close', 'chef', '', '', NULL, NULL, ?", (NOW,))
    append_link(db, "command", db.execute("SELECT max(row) FROM commands").fetchone()[0])
    bind_anew(db)


@by_sql
def edited_an_event(db: sqlite3.Connection) -> None:
    """Another sensor in a sealed event record, nothing else."""
    db.execute("UPDATE events SET details = replace(details, 'beam/1', 'beam/2') WHERE row = 2")


@by_sql
def removed_an_event(db: sqlite3.Connection) -> None:
    """A failure behind the last seal that nobody is to see: gone with its link, and the counter with it."""
    (row,) = db.execute("SELECT max(row) FROM events").fetchone()
    db.execute("DELETE FROM events WHERE row = ?", (row,))
    db.execute("DELETE FROM chain WHERE kind = 'event' AND ref = ?", (row,))
    db.execute("UPDATE sqlite_sequence SET seq = seq - 1 WHERE name = 'events'")
    chain_anew(db)
    bind_anew(db)


@by_sql
def inserted_an_event(db: sqlite3.Connection) -> None:
    """A power-up in no record, newer than the true one: what differs from it would not be told."""
    db.execute("INSERT INTO events VALUES (NULL, 'power_up', NULL, NULL, '{\"program\":\"theirs\"}', ?)", (NOW,))


@by_sql
def inserted_an_event_and_chained_it(db: sqlite3.Connection) -> None:
    """The same with a link behind the end."""
    inserted_an_event(db)
    append_link(db, "event", db.execute("SELECT max(row) FROM events").fetchone()[0])
    bind_anew(db)


@by_sql
def forged_a_seal(db: sqlite3.Connection) -> None:
    """Another name under the seal."""
    db.execute("UPDATE heads SET by = 'Anna'")
    chain_anew(db)
    bind_anew(db)


@by_sql
def took_the_seals_off(db: sqlite3.Connection) -> None:
    """No seal, so nothing seems to be proven."""
    db.execute("DELETE FROM heads")
    db.execute("DELETE FROM chain WHERE kind = 'seal'")
    chain_anew(db)
    bind_anew(db)


@by_sql
def cut_the_end_off(db: sqlite3.Connection) -> None:
    """What came after the last seal is gone, without a trace."""
    (n,) = db.execute("SELECT max(n) FROM chain WHERE kind = 'seal'").fetchone()
    cut_after(db, n)
    bind_anew(db)


@by_sql
def took_the_tail_away(db: sqlite3.Connection) -> None:
    """Nothing shows how the file was left."""
    db.execute("DELETE FROM tail")


@by_sql
def took_the_tails_signature_away(db: sqlite3.Connection) -> None:
    """As in a journal that has no key."""
    db.execute("UPDATE tail SET signature = NULL")


@by_sql
def lowered_a_counter(db: sqlite3.Connection) -> None:
    """Numbers of messages would be given once more."""
    db.execute("UPDATE sqlite_sequence SET seq = seq - 3 WHERE name = 'messages'")


@by_sql
def planted_a_counter(db: sqlite3.Connection) -> None:
    """Of a table that there is not: `is_empty` and whoever reads counters would meet it."""
    db.execute("INSERT INTO sqlite_sequence VALUES ('letter', 'remember: 17')")


@by_sql
def planted_a_second_counter(db: sqlite3.Connection) -> None:
    """SQLite takes one of them."""
    db.execute("INSERT INTO sqlite_sequence SELECT name, seq FROM sqlite_sequence WHERE name = 'events'")


@by_sql
def made_a_counter_a_text(db: sqlite3.Connection) -> None:
    """The daemon would compare it with a number."""
    db.execute("UPDATE sqlite_sequence SET seq = 'many' WHERE name = 'messages'")


@forgery
def made_it_of_an_older_version(house: House) -> None:
    """By its mark alone: a daemon brings it up to date, others read it not."""
    with closing(sqlite3.connect(house.journal)) as db, db:
        db.execute("PRAGMA user_version = 1")


@forgery
def marked_it_as_another_programs(house: House) -> None:
    """By its mark alone."""
    with closing(sqlite3.connect(house.journal)) as db, db:
        db.execute("PRAGMA application_id = 17")


@forgery
def wrote_into_a_free_page(house: House) -> None:
    """Where SQLite keeps what it needs no more, and reads nothing."""
    with closing(sqlite3.connect(house.journal)) as db:
        db.execute("CREATE TABLE letter (text)")
        db.execute("INSERT INTO letter VALUES (zeroblob(5000))")
        db.commit()
        db.execute("DROP TABLE letter")
    page, data = 512, bytearray(house.journal.read_bytes())
    trunk = int.from_bytes(data[32:36], "big")
    assert trunk, "there is a free page"
    data[trunk * page - 12 : trunk * page] = b"remember: 17"
    house.journal.write_bytes(data)


@by_sql
def adopted_numbers(db: sqlite3.Connection) -> None:
    """The feed would go on far behind: everything before it counts as lost."""
    values = ("0" * 64, NOW, "Zoé", "restored")
    db.execute("INSERT INTO adoptions SELECT 1, max(seq) + 1, 9000, ?, ?, ?, ? FROM messages", values)
    append_link(db, "adoption", 1)
    bind_anew(db)


# --- whose it is -----------------------------------------------------------------------------------------------------


@by_sql
def made_it_a_journal_without_a_key(db: sqlite3.Connection) -> None:
    """No key in the first record, no signature anywhere: then nothing has to be signed."""
    db.execute("UPDATE origins SET public_key = NULL")
    db.execute("DELETE FROM heads")
    db.execute("DELETE FROM chain WHERE kind = 'seal'")
    rewrite_feed(db, None)
    chain_anew(db)
    bind_anew(db)
    db.execute("UPDATE tail SET signature = NULL")


@forgery
def signed_all_with_another_key(house: House) -> None:
    """The forger's own key, from the first record on."""
    thief = FileSigner(write_keys(house.directory, "thief", seed=9)[0])
    with opened(house.journal) as db:
        db.execute("UPDATE origins SET public_key = ?", (thief.public_key,))
        change_result(db, last_result(db))
        rewrite_feed(db, thief)
        reseal(db, thief)


@by_sql
def gave_it_to_another_table(db: sqlite3.Connection) -> None:
    """Another table in the first record."""
    db.execute("UPDATE origins SET table_id = 'table-2'")
    chain_anew(db)
    bind_anew(db)


@by_sql
def took_the_first_record_away(db: sqlite3.Connection) -> None:
    """Nobody's journal."""
    db.execute("DELETE FROM origins")
    db.execute("DELETE FROM chain WHERE n = 1")
    chain_anew(db)
    bind_anew(db)


@by_sql
def emptied_it(db: sqlite3.Connection) -> None:
    """All rows are gone: the daemon would begin anew, at number 1."""
    for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        db.execute(f"DELETE FROM {name}")


@forgery
def put_another_tables_file_there(house: House) -> None:
    """The journal of the table beside it."""
    shutil.copy(house.others, house.journal)


@forgery
def put_another_tables_file_there_under_this_name(house: House) -> None:
    """The same, with this table's name in its first record."""
    shutil.copy(house.others, house.journal)
    with opened(house.journal) as db:
        db.execute("UPDATE origins SET table_id = 'table-1'")
        chain_anew(db)
        bind_anew(db)


# --- with an older copy ----------------------------------------------------------------------------------------------


@forgery
def restored_an_older_copy(house: House) -> None:
    """Whole in itself, and older than what was published."""
    shutil.copy(house.older, house.journal)


@forgery
def restored_an_older_copy_and_let_it_play(house: House) -> None:
    """The broker was away, so the daemon went on from it: as many numbers as were published, with other messages."""
    shutil.copy(house.older, house.journal)
    play_on(house.journal, house.signer, 40)


@forgery
def took_the_journal_away(house: House) -> None:
    """The daemon begins a new one, at number 1."""
    house.journal.unlink()
    play_on(house.journal, house.signer, 2)


@forgery
def put_the_older_tail_on_the_newer_file(house: House) -> None:
    """The end is cut to where the older copy ends, and bound with its true tail; what a restart reads stays."""
    with opened(house.older) as db:
        tail = db.execute("SELECT * FROM tail").fetchone()
    with opened(house.journal) as db:
        cut_after(db, tail[1])
        db.execute("DELETE FROM tail")
        db.execute("INSERT INTO tail VALUES (?, ?, ?, ?, ?, ?)", tail)


# --- with the key, and not the broker --------------------------------------------------------------------------------


@with_key
def edited_a_result_and_signed_it(db: sqlite3.Connection, house: House) -> None:
    """Another number, and everything signed and bound as the wheel does."""
    change_result(db, last_result(db))
    rewrite_feed(db, house.signer)
    reseal(db, house.signer)


@with_key
def removed_a_result_and_signed_the_rest(db: sqlite3.Connection, house: House) -> None:
    """A coup that never was; all that follows moves up."""
    (ref,) = db.execute("SELECT id FROM messages WHERE seq = 3").fetchone()
    db.execute("DELETE FROM messages WHERE id = ?", (ref,))
    db.execute("DELETE FROM debts WHERE id = ?", (ref,))
    db.execute("DELETE FROM chain WHERE kind = 'message' AND ref = ?", (ref,))
    rewrite_feed(db, house.signer)
    reseal(db, house.signer)


@with_key
def cut_it_back_and_bound_it(db: sqlite3.Connection, house: House) -> None:
    """Back to the last seal, as if nothing had come after it."""
    (n,) = db.execute("SELECT max(n) FROM chain WHERE kind = 'seal'").fetchone()
    cut_after(db, n)
    bind_anew(db, house.signer)


@with_key
def edited_a_command_before_the_seal(db: sqlite3.Connection, house: House) -> None:
    """Another name in an old command, chained, sealed and bound anew."""
    db.execute("UPDATE commands SET by = 'Anna' WHERE row = 1")
    reseal(db, house.signer)


@with_key
def edited_a_command_after_the_seal(db: sqlite3.Connection, house: House) -> None:
    """Another name in the last command, chained and bound anew: nothing of it was ever published."""
    db.execute("UPDATE commands SET by = 'Anna' WHERE row = (SELECT max(row) FROM commands)")
    chain_anew(db)
    bind_anew(db, house.signer)


@with_key
def added_a_result_and_signed_it(db: sqlite3.Connection, house: House) -> None:
    """A coup that never was, at the end."""
    added_a_result(db)
    ref, payload = db.execute("SELECT id, payload FROM messages ORDER BY seq DESC LIMIT 1").fetchone()
    db.execute("UPDATE messages SET payload = ? WHERE id = ?", (sign_message(unsigned(payload), house.signer), ref))
    chain_anew(db)
    bind_anew(db, house.signer)


@with_key
def edited_the_memory_and_bound_it(db: sqlite3.Connection, house: House) -> None:
    """The table goes on elsewhere than it stood."""
    edited_the_memory(db)
    bind_anew(db, house.signer)


@with_key
def pruned_a_log_and_signed_it(db: sqlite3.Connection, house: House) -> None:
    """The observations of a coup before the noted head are gone, as if retention had removed them since."""
    db.execute("DELETE FROM logs WHERE coup = 7")
    db.execute("INSERT INTO prunings VALUES (7, ?, 'age')", (NOW,))
    append_link(db, "pruning", 7)
    bind_anew(db, house.signer)


WITH_THE_KEY = "the key makes all that the journal itself can show; others know nothing of this yet"
NO_RECORD = "it is no record, so no head that was noted covers it; " + WITH_THE_KEY
BEHIND_THE_NOTED = "it stands behind the head that was noted; " + WITH_THE_KEY
UNSEEN["edited_a_command_after_the_seal"] = {"daemon": WITH_THE_KEY}
UNSEEN["edited_the_memory_and_bound_it"] = dict.fromkeys(("daemon", "verify", "auditor"), NO_RECORD)
UNSEEN["added_a_result_and_signed_it"] = dict.fromkeys(("daemon", "verify", "auditor"), BEHIND_THE_NOTED)
UNSEEN["pruned_a_log_and_signed_it"] = dict.fromkeys(("daemon", "verify", "auditor"), BEHIND_THE_NOTED)
UNSEEN["wrote_into_a_free_page"] = dict.fromkeys(
    ("daemon", "verify", "auditor"), "nothing is read from there: it is no part of the journal"
)
UNSEEN["emptied_an_index"] = {"daemon": "to compare an index of a year with its table takes minutes; `verify` has them"}
