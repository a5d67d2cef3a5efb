"""Opens a journal for writing: begins a new one, or verifies that it belongs to this table and that nobody has changed
it.

The daemon publishes, seals and stores nothing before that. The first record names the owner of the journal: the site,
the table and the public key, if there is one.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from wheeld.journal.chain import ORIGIN
from wheeld.journal.database import Database
from wheeld.journal.rows import JournalError, Signer, StoredOrigin
from wheeld.journal.seal import key_id
from wheeld.journal.tail import Tail
from wheeld.journal.verify import verify_end
from wheeld.journal.writer import JournalWriter

BEGIN_ANEW = (
    "move the file away and keep it, start the daemon, and give the command that its log then names, so that the "
    "numbers go on"
)


class Owner(msgspec.Struct, frozen=True):
    """The table whose journal is to be opened."""

    site: str
    table: str
    test: bool = False
    """Whether it is a bench table."""

    def __str__(self) -> str:
        return f"{self.site}/{self.table}"


def open_to_write(
    path: Path, *, owner: Owner | None = None, signer: Signer | None = None, at_utc_us: int = 0
) -> JournalWriter:
    """Open the journal at `path` for writing. With an `owner`, an empty journal is begun for that table, and any other
    journal must belong to that table.

    Raises JournalError, also if somebody has changed the file, or if its key is not the key of `signer`.
    """
    journal = JournalWriter(Database(path), signer=signer, test=owner is not None and owner.test)
    try:
        make_ready(journal, owner=owner, at_utc_us=at_utc_us)
    except BaseException:
        journal.close()
        raise
    return journal


def make_ready(journal: JournalWriter, *, owner: Owner | None, at_utc_us: int) -> None:
    """Begin or verify the journal. From then on, each transaction writes the tail. Raises JournalError."""
    database = journal.database
    if database.is_empty:
        if owner is None:
            raise JournalError("owner", database.path, "it is empty: only the daemon begins a journal")
        Tail(database, journal.signer)
        key = None if journal.signer is None else journal.signer.public_key
        with database.transaction():
            database.record(ORIGIN, site=owner.site, table_id=owner.table, public_key=key, at_utc_us=at_utc_us)
        journal.begin_run()
        return
    origin = journal.reader.origin()
    if origin is None:
        raise JournalError("edited", database.path, "record 1: removed, it said whose journal this is")
    _refuse_another(database.path, origin, owner, journal.signer)
    journal.trust_from(verify_end(journal.reader).first_id)
    Tail(database, journal.signer)
    if owner is not None:
        stored = journal.stored_test()
        if stored is not None and stored is not journal.test:
            why = (
                "it is the journal of a bench table, but [table] has no test = true: no result of a test may count"
                if stored
                else "it is the journal of a live table, but [table] has test = true: no test may be stored among "
                "results that count"
            )
            why += "; set another journal.path, or put test in [table] back as it was"
            raise JournalError("owner", database.path, why)
        journal.begin_run()


def _refuse_another(path: Path, origin: StoredOrigin, owner: Owner | None, signer: Signer | None) -> None:
    whose = f"{origin.site}/{origin.table_id}"
    if owner is not None and str(owner) != whose:
        why = f"it is the journal of {whose}, but this is {owner}: correct journal.path, or site and id in [table]"
        raise JournalError("owner", path, why)
    here = None if signer is None else signer.public_key
    if here == origin.public_key:
        return
    if origin.public_key is None:
        why = (
            f"it was begun without a key, but journal.signing_key_file names one: remove that setting, or {BEGIN_ANEW}"
        )
    elif here is None:
        theirs, how = key_id(origin.public_key), f"name that key in journal.signing_key_file, or {BEGIN_ANEW}"
        if owner is None:  # a program such as `wheeld journal` opens it, not the daemon
            how = "name the wheel in place of its journal's file, or its key with --key"
        why = f"it was begun with key {theirs}, but no key is given: {how}"
    else:
        theirs = key_id(origin.public_key)
        why = f"it was begun with key {theirs}, but the given key is {key_id(here)}: use key {theirs}, or {BEGIN_ANEW}"
    raise JournalError("owner", path, why)
