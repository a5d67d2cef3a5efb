"""The auditor's own verifier against `wheeld journal verify`: the same first fault, whatever was tampered with."""

from __future__ import annotations

import ast
import importlib.util
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

import wheeld
from tests.broker.feed import Feed
from tests.journal.journals import (
    NOW,
    RawSigner,
    bind_anew,
    chain_anew,
    open_reader,
    open_writer,
    opened,
    write_journal,
    write_keys,
)
from wheeld.cli.main import main
from wheeld.core.messages.chain import close_with_hash, unsigned
from wheeld.journal.chain import KINDS, MESSAGE, follow
from wheeld.journal.opening import Owner
from wheeld.journal.rows import JournalError
from wheeld.journal.seal import FileSigner, public_key, sign_message
from wheeld.journal.verify import verify

Captured = pytest.CaptureFixture[str]
AUDITOR = Path(wheeld.__file__).with_name("auditor.py")
SEEDS = 25
"""Of each of the kinds of tampering."""


@pytest.fixture(scope="module")
def auditor() -> ModuleType:
    spec = importlib.util.spec_from_file_location("auditor_alone", AUDITOR)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal and its keys; tests copy it."""
    directory = tmp_path_factory.mktemp("whole")
    private, _ = write_keys(directory)
    write_journal(directory / "wheel.journal", private)
    return directory / "wheel.journal"


@pytest.fixture
def journal(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(whole, tmp_path / "wheel.journal"))


def first_fault(path: Path, public: Path, noted: tuple[int, bytes] | None = None) -> str:
    """What `wheeld journal verify` names first, empty when all is well."""
    try:
        with closing(open_reader(path)) as journal:
            return next(iter(verify(journal, dict([public_key(public)]), noted).faults), "")
    except JournalError as error:
        return str(error).removeprefix(f"journal {path}: ")


def audited_fault(auditor: ModuleType, path: Path, public: Path, noted: str = "") -> str:
    """What the auditor names."""
    try:
        auditor.main(str(path), str(public), noted)
    except auditor.Fault as fault:
        return str(fault)
    return ""


def same(one: str, other: str) -> bool:
    """The same fault. Of a published message's own chain only where it is: the reasons are output otherwise."""
    if one.startswith("table "):
        return other.startswith("the tables are not those of a journal")
    if one.startswith("seq "):
        return one.partition(": ")[0] == other.partition(": ")[0]
    return one == other


# --- what can be done to a journal; each returns what the first fault must begin with


def some_link(
    db: sqlite3.Connection, rng: random.Random, kinds: tuple[str, ...] = tuple(KINDS)
) -> tuple[int, str, int]:
    links = db.execute("SELECT n, kind, ref FROM chain ORDER BY n").fetchall()
    n, kind, ref = rng.choice([link for link in links if link[1] in kinds])
    return n, kind, ref


def change(db: sqlite3.Connection, rng: random.Random, kind: str, ref: int) -> None:
    """Another value in one column that is not the key."""
    table, key = KINDS[kind].table, KINDS[kind].key
    column = rng.choice(KINDS[kind].columns[1:])
    (value,) = db.execute(f"SELECT {column} FROM {table} WHERE {key} = ?", (ref,)).fetchone()
    types = dict(db.execute(f"SELECT name, type FROM pragma_table_info('{table}')"))
    other: int | str | bytes
    if types[column] == "INTEGER":
        other = (value or 0) + rng.randint(1000, 9000)
    elif types[column] == "TEXT":
        other = (value or "") + "!"
    else:
        raw = bytearray(value or b"x")
        raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
        other = bytes(raw) if value is not None else b"new"
    db.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (other, ref))


def delete(db: sqlite3.Connection, kind: str, ref: int) -> None:
    db.execute(f"DELETE FROM {KINDS[kind].table} WHERE {KINDS[kind].key} = ?", (ref,))


def next_seal(db: sqlite3.Connection, n: int) -> str:
    """Where a change is found that the chain was made anew after: at the next seal, or at the tail."""
    row = db.execute("SELECT n, ref FROM chain WHERE kind = 'seal' AND n >= ? ORDER BY n LIMIT 1", (n,)).fetchone()
    return "record 87: its head is not" if row is None else f"record {row[0]} (seal {row[1]}): "


def edited(db: sqlite3.Connection, rng: random.Random) -> str:
    n, kind, ref = some_link(db, rng)
    change(db, rng, kind, ref)
    return f"record {n} ({kind} {ref}): edited"


def removed(db: sqlite3.Connection, rng: random.Random) -> str:
    n, kind, ref = some_link(db, rng)
    delete(db, kind, ref)
    # A pruning that is gone is missed first where the log is looked for.
    evidence = db.execute("SELECT n FROM chain WHERE kind = 'evidence' AND ref = ?", (ref,)).fetchone()
    return (
        f"record {evidence[0]} (evidence {ref}): its log was"
        if kind == "pruning"
        else f"record {n} ({kind} {ref}): removed"
    )


def removed_with_its_link(db: sqlite3.Connection, rng: random.Random) -> str:
    n, kind, ref = some_link(db, rng, ("message", "command", "answer", "seal"))
    delete(db, kind, ref)
    db.execute("DELETE FROM chain WHERE n = ?", (n,))
    last = db.execute("SELECT max(n) FROM chain").fetchone()[0]
    return f"record {n}: removed" if n <= last else f"{kind} "


def removed_and_chained_anew(db: sqlite3.Connection, rng: random.Random) -> str:
    n, kind, ref = some_link(db, rng, ("command",))
    following = db.execute("SELECT n FROM chain WHERE kind = 'seal' AND n > ? LIMIT 1", (n,)).fetchone()
    db.execute("DELETE FROM chain WHERE kind IN ('command', 'answer') AND ref = ?", (ref,))
    delete(db, kind, ref)
    delete(db, "answer", ref)
    chain_anew(db)
    is_last = db.execute("SELECT max(row) FROM commands").fetchone()[0] < ref
    return "record " if following else "command " if is_last else "records 86 to 87: cut off"


def edited_and_chained_anew(db: sqlite3.Connection, rng: random.Random) -> str:
    n, kind, ref = some_link(db, rng, ("command", "answer", "pruning", "event"))
    seal = next_seal(db, n)
    change(db, rng, kind, ref)
    chain_anew(db)
    return seal


def feed_edited_and_chained_anew(db: sqlite3.Connection, rng: random.Random) -> str:
    (ref,) = rng.choice(db.execute("SELECT id FROM messages WHERE seq IS NOT NULL").fetchall())
    db.execute("UPDATE messages SET payload = cast(replace(payload, '\"n\":', '\"n\":1') AS BLOB) WHERE id = ?", (ref,))
    chain_anew(db)
    return "seq "


def reordered(db: sqlite3.Connection, rng: random.Random) -> str:
    """Two messages change places: their keys."""
    refs = sorted(rng.sample([row[0] for row in db.execute("SELECT id FROM messages")], 2))
    for old, new in ((refs[0], -1), (refs[1], refs[0]), (-1, refs[1])):
        db.execute("UPDATE messages SET id = ? WHERE id = ?", (new, old))
    (n,) = db.execute("SELECT n FROM chain WHERE kind = 'message' AND ref = ?", (refs[0],)).fetchone()
    return f"record {n} (message {refs[0]}): edited"


def links_reordered(db: sqlite3.Connection, rng: random.Random) -> str:
    ns = sorted(rng.sample([row[0] for row in db.execute("SELECT n FROM chain")], 2))
    for old, new in ((ns[0], -1), (ns[1], ns[0]), (-1, ns[1])):
        db.execute("UPDATE chain SET n = ? WHERE n = ?", (new, old))
    return f"record {ns[0]}: its link does not follow"


def inserted(db: sqlite3.Connection, rng: random.Random) -> str:
    db.execute("INSERT INTO messages (topic, retained, payload, at_utc_us) VALUES ('notice', 0, x'7b7d', ?)", (NOW,))
    return "message "


def doubled(db: sqlite3.Connection, rng: random.Random) -> str:
    """A second row under a used key, in a table that no longer forbids it: who looks it up finds the first."""
    (ref,) = rng.choice(db.execute("SELECT id FROM messages").fetchall())
    db.execute("CREATE TABLE other AS SELECT * FROM messages")
    db.execute("INSERT INTO other SELECT * FROM messages WHERE id = ?", (ref,))
    db.execute("DROP TABLE messages")
    db.execute("ALTER TABLE other RENAME TO messages")
    return "table messages: changed"


def truncated(db: sqlite3.Connection, rng: random.Random) -> str:
    """The end is cut off: rows and links; sometimes what SQLite counts, too; seals are left, or cut too."""
    last = db.execute("SELECT max(n) FROM chain").fetchone()[0]
    keep = rng.randrange(last)
    leave_seals, mind_counters = rng.random() < 0.5, rng.random() < 0.5
    cut = db.execute("SELECT kind, ref FROM chain WHERE n > ?", (keep,)).fetchall()
    for kind, ref in cut:
        if kind != "seal" or not leave_seals:
            delete(db, kind, ref)
    db.execute("DELETE FROM chain WHERE n > ?", (keep,))
    if mind_counters:
        for table, key in (("messages", "id"), ("commands", "row"), ("events", "row")):
            query = f"UPDATE sqlite_sequence SET seq = (SELECT coalesce(max({key}), 0) FROM {table}) WHERE name = ?"
            db.execute(query, (table,))
    kinds = {kind for kind, _ in cut}
    if db.execute("SELECT count(*) FROM chain WHERE kind = 'evidence' AND n <= ? AND ref <= 2", (keep,)).fetchone()[0]:
        gone = db.execute("SELECT count(*) FROM prunings").fetchone()[0] < 2
        if gone:
            return "record "
    if leave_seals and "seal" in kinds:
        return ""
    if not mind_counters and kinds & {"message", "command", "event"}:
        return ""
    if db.execute("SELECT 1 FROM logs WHERE coup NOT IN (SELECT coup FROM evidence)").fetchone():
        return "log "
    return "no sealed head" if not db.execute("SELECT 1 FROM chain WHERE kind = 'seal'").fetchone() else "records "


def log_touched(db: sqlite3.Connection, rng: random.Random) -> str:
    (coup,) = rng.choice(db.execute("SELECT coup FROM logs").fetchall())
    how = rng.choice(["removed", "damaged", "edited", "at_utc_us", "bytes"])
    if how == "removed":
        db.execute("DELETE FROM logs WHERE coup = ?", (coup,))
    elif how in ("at_utc_us", "bytes"):
        db.execute(f"UPDATE logs SET {how} = {how} + 1 WHERE coup = ?", (coup,))
    else:
        other = (
            b"\0" if how == "damaged" else db.execute("SELECT packed FROM logs WHERE coup <> ?", (coup,)).fetchone()[0]
        )
        db.execute("UPDATE logs SET packed = ? WHERE coup = ?", (other, coup))
    (n,) = db.execute("SELECT n FROM chain WHERE kind = 'evidence' AND ref = ?", (coup,)).fetchone()
    return f"record {n} (evidence {coup}): its log "


def signature_forged(db: sqlite3.Connection, rng: random.Random) -> str:
    n, _, ref = some_link(db, rng, ("seal",))
    db.execute("UPDATE heads SET signature = ? WHERE n = ?", (rng.randbytes(64), ref))
    chain_anew(db)
    return f"record {n} (seal {ref}): the signature is false"


def seals_removed(db: sqlite3.Connection, rng: random.Random) -> str:
    db.execute("DELETE FROM heads")
    db.execute("DELETE FROM chain WHERE kind = 'seal'")
    _, kind, ref = some_link(db, rng, ("command",))
    change(db, rng, kind, ref)
    chain_anew(db)
    return "no sealed head"


def link_anew(db: sqlite3.Connection, kind: str, ref: int) -> None:
    """Give a row that was put into its table a link at the end."""
    db.execute("INSERT INTO chain SELECT max(n) + 1, ?, ?, x'', x'' FROM chain", (kind, ref))
    chain_anew(db)


def added(db: sqlite3.Connection, rng: random.Random) -> str:
    """An event behind the last record, and its link."""
    db.execute("INSERT INTO events VALUES (NULL, 'stop', 'Zoé', 'why', '{}', ?)", (NOW + rng.randrange(9),))
    link_anew(db, "event", db.execute("SELECT max(row) FROM events").fetchone()[0])
    return "records 88 to 88: added by somebody else"


def pruned_in_name(db: sqlite3.Connection, rng: random.Random) -> str:
    """A record says that a log was removed, but the log is there."""
    (coup,) = rng.choice(db.execute("SELECT coup FROM logs").fetchall())
    db.execute("INSERT INTO prunings VALUES (?, ?, 'size')", (coup, NOW))
    link_anew(db, "pruning", coup)
    (n,) = db.execute("SELECT n FROM chain WHERE kind = 'evidence' AND ref = ?", (coup,)).fetchone()
    return f"record {n} (evidence {coup}): its log was edited"


def feed_not_linked(db: sqlite3.Connection, rng: random.Random) -> str:
    """With the key: a message that follows another one than that before it, or the last one, with another number."""
    rows = db.execute("SELECT id, seq, payload FROM messages WHERE seq NOT NULL ORDER BY seq").fetchall()
    is_prev = rng.random() < 0.5
    ref, seq, payload = rng.choice(rows) if is_prev else rows[-1]
    body, _, _ = unsigned(payload).rpartition(b',"hash":"')
    if is_prev:
        body = body[:-65] + b"f" * 64 + b'"'
    else:
        body, seq = body.replace(b'"seq":%d,' % seq, b'"seq":%d,' % (seq + 1)), seq + 1
    said = sign_message(close_with_hash(body + b"}")[0], RawSigner(bytes([7]) * 32))
    db.execute("UPDATE messages SET seq = ?, payload = ? WHERE id = ?", (seq, said, ref))
    chain_anew(db)
    return f"seq {seq} "


def tail_unsigned(db: sqlite3.Connection, _: random.Random) -> str:
    db.execute("UPDATE tail SET signature = NULL")
    return "tail: unsigned"


def adopted_out_of_order(db: sqlite3.Connection, rng: random.Random) -> str:
    """An adoption of numbers that do not continue the feed."""
    (last,) = db.execute("SELECT max(seq) FROM messages").fetchone()
    numbers = rng.choice([(0, last), (last + 2, last + 2), (last + 1, last), (1, last - 1)])
    db.execute("INSERT INTO adoptions VALUES (1, ?, ?, ?, ?, 'Zoé', 'lost')", (*numbers, "0" * 64, NOW))
    link_anew(db, "adoption", 1)
    return f"record 88 (adoption 1): its numbers do not follow seq {last}"


def counter_planted(db: sqlite3.Connection, rng: random.Random) -> str:
    """A counter of no table, a second one, or one that is not a number."""
    name, value = rng.choice([("heads", 1), ("events", 1), (None, 1), ("events", "many")])
    if value == "many":
        db.execute("DELETE FROM sqlite_sequence WHERE name = 'events'")
    db.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (name, value))
    return "counter "


TAMPERINGS: list[Callable[[sqlite3.Connection, random.Random], str]] = [
    edited,
    removed,
    removed_with_its_link,
    removed_and_chained_anew,
    edited_and_chained_anew,
    feed_edited_and_chained_anew,
    reordered,
    links_reordered,
    inserted,
    doubled,
    truncated,
    log_touched,
    signature_forged,
    seals_removed,
    added,
    pruned_in_name,
    feed_not_linked,
    tail_unsigned,
    adopted_out_of_order,
    counter_planted,
]


@pytest.mark.parametrize("tampering", TAMPERINGS, ids=lambda tampering: tampering.__name__)
def test_both_name_the_same_first_fault(
    auditor: ModuleType,
    whole: Path,
    tmp_path: Path,
    tampering: Callable[[sqlite3.Connection, random.Random], str],
) -> None:
    public = whole.with_name("wheel.pub")
    for seed in range(SEEDS):
        journal = Path(shutil.copy(whole, tmp_path / f"{seed}.journal"))
        with opened(journal) as db:
            expected = tampering(db, random.Random(seed))
        output, audited = first_fault(journal, public), audited_fault(auditor, journal, public)
        assert same(output, audited), f"seed {seed}: {output!r}, but the auditor says {audited!r}"
        assert output, f"seed {seed}: not found, meant {expected!r}"
        assert output.startswith(expected), f"seed {seed}: {output!r}, meant {expected!r}"


def test_both_say_that_a_whole_journal_is_whole(auditor: ModuleType, whole: Path) -> None:
    public = whole.with_name("wheel.pub")
    assert first_fault(whole, public) == ""
    with closing(open_reader(whole)) as journal:
        report = verify(journal, dict([public_key(public)]))
    assert report.sealed is not None
    assert (report.coups, report.pruned, report.messages, report.sequenced) == (9, 2, 45, 18)
    output = auditor.main(str(whole), str(public), f"{report.records}:{report.head.hex()}")
    sealed = f"sealed up to record {report.sealed.n}, 2023-11-22T22:13:20+00:00 by Zoé, shift change"
    assert output.splitlines() == [
        f"{report.records} records as they were written, {sealed}",
        f"head of record {report.records}: {report.head.hex()}",
    ]


def test_both_say_that_it_is_of_a_bench_table(auditor: ModuleType, tmp_path: Path, capsys: Captured) -> None:
    private, public = write_keys(tmp_path)
    path = tmp_path / "wheel.journal"
    with closing(open_writer(path, signer=FileSigner(private), owner=Owner("site", "bench-1", test=True))) as file:
        file.append(Feed(test=True).step("table", "result", "notice"), NOW)
        file.seal(by="Zoé", why="now", at_utc_us=NOW)
    assert "as they were written, 2 messages of a BENCH TABLE, sealed" in auditor.main(str(path), str(public))
    assert main(["journal", "verify", str(path)]) == 0
    assert "2 of them in the feed up to seq 2 (2 signed) (2 of a BENCH TABLE)" in capsys.readouterr().out


@pytest.mark.parametrize("cut", ["back", "short"])
def test_a_noted_head_tells_what_no_key_can(auditor: ModuleType, whole: Path, journal: Path, cut: str) -> None:
    """Someone with the key cut it back to an earlier seal, or wrote an unsealed end anew."""
    public, signer = whole.with_name("wheel.pub"), FileSigner(whole.with_name("wheel.key"))
    with closing(open_reader(whole)) as file:
        n, head = file.database.tip()
    with opened(journal) as db:
        if cut == "back":
            (first,) = db.execute("SELECT n FROM chain WHERE kind = 'seal' ORDER BY n LIMIT 1 OFFSET 1").fetchone()
            for kind, ref in db.execute("SELECT kind, ref FROM chain WHERE n > ?", (first,)).fetchall():
                delete(db, kind, ref)
                if kind == "evidence":
                    db.execute("DELETE FROM logs WHERE coup = ?", (ref,))
            db.execute("DELETE FROM chain WHERE n > ?", (first,))
            for table, key in (("messages", "id"), ("commands", "row"), ("events", "row")):
                db.execute(f"UPDATE sqlite_sequence SET seq = (SELECT max({key}) FROM {table}) WHERE name = '{table}'")
        else:
            db.execute("UPDATE answers SET why = 'other' WHERE row = 9")
            chain_anew(db)
        bind_anew(db, signer)
    assert first_fault(journal, public) == audited_fault(auditor, journal, public) == ""
    output = first_fault(journal, public, (n, head))
    assert output == audited_fault(auditor, journal, public, f"{n}:{head.hex()}")
    assert output.endswith("cut off at the end") if cut == "back" else output.startswith(f"record {n}: its head is not")


def test_another_key_proves_nothing(auditor: ModuleType, whole: Path, journal: Path, tmp_path: Path) -> None:
    """Someone edits, chains anew and signs everything with a key of their own."""
    private, theirs = write_keys(tmp_path, "thief", seed=9)
    thief = FileSigner(private)
    with opened(journal) as db:
        for ref, payload in db.execute("SELECT id, payload FROM messages WHERE seq NOT NULL").fetchall():
            db.execute("UPDATE messages SET payload = ? WHERE id = ?", (sign_message(unsigned(payload), thief), ref))
        db.execute("UPDATE answers SET why = 'other' WHERE row = 1")
        db.execute("DELETE FROM heads")
        db.execute("DELETE FROM chain WHERE kind = 'seal'")
        db.execute("UPDATE origins SET public_key = ?", (thief.public_key,))
        chain_anew(db)
        bind_anew(db, thief)
    with closing(open_writer(journal, signer=thief)) as file:
        file.seal(by="Zoé", why="shift change", at_utc_us=NOW)
    assert first_fault(journal, theirs) == audited_fault(auditor, journal, theirs) == ""
    output = first_fault(journal, whole.with_name("wheel.pub"))
    assert output == "record 1: the journal was begun with none of the keys given"
    assert audited_fault(auditor, journal, whole.with_name("wheel.pub")) == output


def test_it_reads_beside_the_daemon(auditor: ModuleType, journal: Path, whole: Path) -> None:
    private, public = whole.with_name("wheel.key"), whole.with_name("wheel.pub")
    with closing(open_writer(journal, signer=FileSigner(private))) as file:
        sealed = file.seal(by="Zoé", why="now", at_utc_us=NOW)
        assert sealed is not None
        assert f"sealed up to record {sealed.n}, 2023-11-14T22:13:20+00:00 by Zoé, now" in auditor.main(
            str(journal), str(public)
        )


@pytest.mark.parametrize("fault", [False, True])
def test_what_a_journal_says_steers_no_terminal(whole: Path, journal: Path, fault: bool) -> None:
    private, public = whole.with_name("wheel.key"), whole.with_name("wheel.pub")
    with closing(open_writer(journal, signer=FileSigner(private))) as file:
        file.seal(by="\x1b[2J\r\n0 records", why="\x9b31m\u202e", at_utc_us=NOW)
    if fault:
        with opened(journal) as db:
            n, head = db.execute("SELECT n, head FROM chain ORDER BY n DESC LIMIT 1").fetchone()
            db.execute("INSERT INTO chain VALUES (?, ?, ?, ?, ?)", follow(n, head, "\x1b[2J\n", 1, b""))
    done = subprocess.run([sys.executable, AUDITOR, journal, public], capture_output=True, timeout=60, check=False)
    told = (done.stdout + done.stderr).decode()
    assert r"\x1b[2J" in told
    assert all(line.isprintable() for line in told.split("\n"))
    assert len(told.splitlines()) == (1 if fault else 2)
    assert done.returncode == fault


def test_without_its_package_it_says_what_to_install(whole: Path, journal: Path) -> None:
    """And by its exit code that nothing was found out, not that something is wrong."""
    program = "import runpy, sys; sys.modules['cryptography'] = None; runpy.run_path(sys.argv[1], run_name='__main__')"
    command = [sys.executable, "-c", program, str(AUDITOR), str(journal), str(whole.with_name("wheel.pub"))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr == "nothing was checked: apt install python3-cryptography\n"
    page = (AUDITOR.parents[1] / "docs" / "journal.md").read_text()
    assert "(`apt install python3-cryptography`)" in page
    assert "\n    python3 auditor.py " in page, "Debian has no other name for Python"


def test_it_stands_alone(whole: Path, journal: Path, tmp_path: Path) -> None:
    """Copied away from the package, with an interpreter that cannot see it: whole, a fault, not a journal."""
    names = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(AUDITOR.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    assert names - set(sys.stdlib_module_names) == {"cryptography"}
    alone = shutil.copy(AUDITOR, tmp_path / "auditor.py")
    program = "import runpy, sys; sys.modules['wheeld'] = None; runpy.run_path(sys.argv.pop(1), run_name='__main__')"

    def run(path: Path) -> tuple[int, str]:
        command = [sys.executable, "-I", "-c", program, alone, path, whole.with_name("wheel.pub")]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr

    code, output = run(journal)
    assert code == 0, output
    with opened(journal) as db:
        db.execute("DELETE FROM messages WHERE id = 5")
    code, output = run(journal)
    assert code == 1
    assert output.startswith("fault: record ")
    assert "(message 5): removed" in output
    code, output = run(whole.with_name("wheel.pub"))
    assert code == 2
    assert output.startswith("cannot be read: ")


def test_it_is_short_enough_to_read() -> None:
    assert len(AUDITOR.read_text().splitlines()) <= 265
    assert MESSAGE.table in AUDITOR.read_text()
