"""What the forger finds: a journal with its key elsewhere, what others have of it, an older copy, another table's.

Three look for forgeries: the daemon, when it starts and as it goes on; `wheeld journal verify`; and the auditor.
"""

from __future__ import annotations

import base64
import shutil
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from firmware_protocol.host import Position
from tests.broker.feed import Feed
from tests.journal.journals import NOW, OWNER, bind_anew, chain_anew, open_reader, open_writer, write_keys
from wheeld import auditor
from wheeld.core.messages.chain import GENESIS, close_with_hash, unsigned
from wheeld.core.step import CoupLog, Message, Reply, Step
from wheeld.journal.opening import Owner, open_to_write
from wheeld.journal.rows import JournalError, Signer, StoredSeal
from wheeld.journal.seal import FileSigner, public_key, sign_message
from wheeld.journal.verify import verify
from wheeld.journal.writer import JournalWriter
from wheeld.ports import CommandRecord, EventRecord

S_US = 1_000_000
COUPS = 8
SEALED_AFTER = 5
"""The last seal stands behind this coup: what follows is only bound by the tail."""
COPIED_AFTER = 3
"""The older copy was made behind this coup."""
PRUNED = 1
"""The coup whose log retention has removed."""
CHEF = "chef-campione-03"
"""The user who gives the commands."""


@dataclass
class House:
    """One directory: the journal, the keys, and what others know."""

    directory: Path
    journal: Path = field(init=False)
    older: Path = field(init=False)
    others: Path = field(init=False)
    retained: dict[str, bytes] = field(default_factory=dict)
    noted: tuple[int, bytes] = (0, b"")
    """The newest head, as the control office has noted it."""

    def __post_init__(self) -> None:
        self.journal, self.older = self.directory / "wheel.journal", self.directory / "older"
        self.others = self.directory / "others"

    @property
    def signer(self) -> FileSigner:
        """The wheel's key. Most forgers do not have it."""
        return FileSigner(self.directory / "wheel.key")

    def copy(self, directory: Path) -> House:
        """The same house in another directory."""
        shutil.copytree(self.directory, directory, dirs_exist_ok=True)
        return House(directory, retained=dict(self.retained), noted=self.noted)


def build(directory: Path) -> House:
    """A house whose table has played, was sealed, has played on, and is closed for the night."""
    write_keys(directory)
    house = House(directory)
    _play(house)
    with closing(open_writer(house.others, signer=house.signer, owner=Owner("testsite", "table-2"))) as other:
        other.append(Feed().step("table", "result", memory=b"theirs"), NOW)
    return house


def _play(house: House) -> None:
    feed = Feed()
    with closing(open_writer(house.journal, signer=house.signer)) as journal:
        journal.compare({}, settlement_ack=True)
        for coup in range(1, COUPS + 1):
            _play_coup(journal, feed, coup)
            if coup == COPIED_AFTER:
                journal.database.copy_to(house.older)
            if coup == SEALED_AFTER:
                sealed = journal.seal(by="Zoé", why="shift change", at_utc_us=NOW)
                assert sealed is not None
                house.retained["notice"] = _notice(sealed, journal.reader.last_seq())
        house.noted = journal.database.tip()
        house.retained |= {"table": _last_table(journal), "ack": b'{"seq":%d}' % (journal.reader.last_seq() - 3)}


def _play_coup(journal: JournalWriter, feed: Feed, coup: int) -> None:
    at_utc_us = NOW + coup * S_US
    asked = CommandRecord(id=f"c{coup}", name="bouler", user=CHEF, by="Zoé", reason="time", response_topic="desk")
    journal.receive(asked, at_utc_us)
    log = b'{"t":%d}\n' % coup * 40
    step = feed.step("result", "notice", "table", "board", evidence=CoupLog(coup, "result", log))
    journal.append(msgspec.structs.replace(step, memory=b'{"coup":%d}' % coup), at_utc_us, Position(3, coup))
    journal.answer(Reply(coup, f"c{coup}", "bouler", "Zoé", done=True, user=CHEF), at_utc_us)
    journal.note(EventRecord(event="sensor_failed", details={"sensor": "beam/1"}), at_utc_us)
    sent = [message.id for message in journal.owed(0, 1000)][:-4]
    journal.mark_sent(sent, await_settlement=True)
    journal.settle(max(1, feed.seq - 3))
    if coup == PRUNED + 1:
        assert journal.prune(at_utc_us, max_age_s=0.5) == PRUNED


def _last_table(journal: JournalWriter) -> bytes:
    return next(one.payload for one in reversed(journal.reader.messages(1, 1000)) if one.topic == "table")


def _notice(sealed: StoredSeal, seq: int) -> bytes:
    figures = {"n": sealed.n, "head": sealed.head.hex(), "key_id": sealed.key_id, "seq": seq}
    return msgspec.json.encode({"notice": "sealed", "figures": figures})


# --- who looks -------------------------------------------------------------------------------------------------------


def daemon(house: House) -> str:
    """What the daemon says: at its start, when it meets the broker, or when its patrol comes to it."""
    try:
        with closing(open_to_write(house.journal, owner=OWNER, signer=house.signer, at_utc_us=NOW)) as journal:
            journal.compare(house.retained, settlement_ack=True)
            journal.owed(0, 1000)
            while journal.patrol():
                pass
    except JournalError as error:
        return str(error)
    return ""


def verified(house: House) -> str:
    """What `wheeld journal verify` says, given the house's key and the noted head."""
    try:
        with closing(open_reader(house.journal)) as journal:
            noted = house.noted if house.noted[0] else None
            return "; ".join(verify(journal, dict([public_key(house.directory / "wheel.pub")]), noted).faults)
    except JournalError as error:
        return str(error)


def audited(house: House) -> str:
    """What the auditor says, given the same."""
    n, head = house.noted
    try:
        auditor.main(str(house.journal), str(house.directory / "wheel.pub"), f"{n}:{head.hex()}")
    except (auditor.Fault, *auditor.UNREADABLE) as fault:
        return str(fault)
    return ""


FINDERS: dict[str, Callable[[House], str]] = {"daemon": daemon, "verify": verified, "auditor": audited}


# --- what a forger can do --------------------------------------------------------------------------------------------


def rewrite_feed(db: sqlite3.Connection, signer: Signer | None, *, first: int = 1) -> None:
    """Give all messages of the feed from `first` on numbers, hashes and links that fit. Without the key those that were
    changed lose their signature."""
    rows = db.execute("SELECT id, seq, payload FROM messages WHERE seq IS NOT NULL ORDER BY id").fetchall()
    prev = GENESIS
    for seq, (ref, _, stored) in enumerate(rows, 1):
        body = msgspec.json.decode(unsigned(stored)) | {"seq": seq, "prev": prev}
        body.pop("hash")
        payload, prev = close_with_hash(msgspec.json.encode(body | {"prev": body.pop("prev")}))
        if seq < first:
            payload = stored
        elif signer is not None:
            payload = sign_message(payload, signer)
        db.execute("UPDATE messages SET seq = ?, payload = ? WHERE id = ?", (-seq, payload, ref))
    db.execute("UPDATE messages SET seq = -seq WHERE seq < 0")


def change_result(db: sqlite3.Connection, seq: int) -> None:
    """Another number in a result; nothing else fits any more."""
    db.execute(
        "UPDATE messages SET payload = CAST(replace(payload, '\"n\":', '\"n\":9') AS BLOB) WHERE seq = ?", (seq,)
    )


def last_result(db: sqlite3.Connection) -> int:
    """The number of the newest result: it stands behind the last seal."""
    return int(db.execute("SELECT max(seq) FROM messages WHERE topic = 'result'").fetchone()[0])


def reseal(db: sqlite3.Connection, signer: Signer) -> None:
    """Take the seals out, and chain and bind what is left with this key; the daemon seals it again."""
    db.execute("DELETE FROM heads")
    db.execute("DELETE FROM chain WHERE kind = 'seal'")
    chain_anew(db)
    bind_anew(db, signer)


def append_link(db: sqlite3.Connection, kind: str, ref: int) -> None:
    """Chain one more row, as anybody can who has read `auditor.py`."""
    (n,) = db.execute("SELECT max(n) FROM chain").fetchone()
    db.execute("INSERT INTO chain VALUES (?, ?, ?, x'', x'')", (n + 1, kind, ref))
    chain_anew(db)


def cut_after(db: sqlite3.Connection, n: int) -> None:
    """Remove all records behind record `n`, and all traces of them."""
    tables = {"message": ("messages", "id"), "command": ("commands", "row"), "answer": ("answers", "row")}
    tables |= {"evidence": ("evidence", "coup"), "seal": ("heads", "n"), "pruning": ("prunings", "coup")}
    tables |= {"sender": ("senders", "row"), "event": ("events", "row")}
    for kind, ref in db.execute("SELECT kind, ref FROM chain WHERE n > ?", (n,)).fetchall():
        table, key = tables[kind]
        db.execute(f"DELETE FROM {table} WHERE {key} = ?", (ref,))
    db.execute("DELETE FROM chain WHERE n > ?", (n,))
    db.execute("DELETE FROM logs WHERE coup NOT IN (SELECT coup FROM evidence)")
    db.execute("DELETE FROM debts WHERE id NOT IN (SELECT id FROM messages)")
    for name, key in (("messages", "id"), ("commands", "row"), ("events", "row")):
        db.execute(f"UPDATE sqlite_sequence SET seq = (SELECT max({key}) FROM {name}) WHERE name = ?", (name,))


def packed_otherwise(packed: bytes) -> bytes:
    """The same log in other bytes: room for a message that nobody sees."""
    return zlib.compress(zlib.decompress(packed), 1)


def play_on(path: Path, signer: Signer, coups: int) -> None:
    """What the daemon does with a file that nobody compared with anything: it goes on."""
    with closing(open_to_write(path, owner=OWNER, signer=signer, at_utc_us=NOW)) as journal:
        for coup in range(100, 100 + coups):
            seq = journal.reader.last_seq() + 1
            last = journal.reader.message(seq - 1)
            prev = GENESIS if last is None else msgspec.json.decode(last.payload)["hash"]
            body = {"schema": "table/1", "seq": seq, "n": coup, "prev": prev}
            payload, _ = close_with_hash(msgspec.json.encode(body))
            journal.append(Step(messages=(Message(coup, "table", payload, seq),)), NOW + coup * S_US)


def fake_signature(payload: bytes) -> bytes:
    """The payload with something in the place of a signature."""
    return payload[:-1] + b',"signature":"%b"}' % base64.b64encode(bytes(64))
