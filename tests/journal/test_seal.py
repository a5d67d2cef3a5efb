"""Seals and their keys, retention, and both on the command line."""

from __future__ import annotations

import base64
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from tests.broker.feed import Feed
from tests.journal.journals import (
    NOW,
    OWNER,
    bind_anew,
    chain_anew,
    open_reader,
    open_writer,
    opened,
    write_journal,
    write_keys,
)
from wheeld.cli.main import main
from wheeld.core.messages.chain import unsigned
from wheeld.core.step import CoupLog
from wheeld.exits import Exit
from wheeld.feed.message import ed25519 as ed25519_of_the_feed
from wheeld.journal import writer as journal_file
from wheeld.journal.journal import Journal
from wheeld.journal.seal import FileSigner, KeyFileError, is_signed, public_key, sign_message
from wheeld.journal.verify import verify
from wheeld.journal.writer import PRUNED_AT_ONCE, JournalWriter

Captured = pytest.CaptureFixture[str]
S_US = 1_000_000
WITHOUT_LIBRARY = (
    sys.executable,
    "-c",
    "import sys; sys.modules['cryptography'] = None; from wheeld.cli.main import main; sys.exit(main(sys.argv[1:]))",
    "journal",
    "verify",
)


def filled(path: Path, coups: int, size: int = 100, signer: FileSigner | None = None) -> JournalWriter:
    """A journal with evidence of coups 1, 2, …, stored a second apart; everything is delivered."""
    journal, feed = open_writer(path, signer=signer), Feed()
    journal.database._db.execute("PRAGMA synchronous = OFF")  # nobody cuts the power here, and it is faster
    for coup in range(1, coups + 1):
        log = bytes((coup * i * i) % 251 for i in range(size))
        journal.append(feed.step("result", evidence=CoupLog(coup, "result", log)), NOW + coup * S_US)
    journal.mark_sent([message.id for message in journal.reader.owed(0, 10_000)], await_settlement=False)
    return journal


# --- sealing -----------------------------------------------------------------------------------------------------


def test_without_a_key_there_is_no_seal(path: Path) -> None:
    with closing(open_writer(path)) as journal:
        journal.append(Feed().step("result"), NOW)
        assert journal.seal(by="Anna", why="close", at_utc_us=NOW) is None
        assert journal.database.tip()[0] == 2


async def test_the_daemon_s_journal_seals_and_prunes(path: Path) -> None:
    private, public = write_keys(path.parent)
    journal = await Journal.open(path, OWNER, at_utc_us=NOW, signer=FileSigner(private))
    step = Feed().step("result", evidence=CoupLog(1, "result", b"log"))
    await journal.append(step, NOW)
    await journal.mark_sent([1], await_settlement=False)
    sealed = await journal.seal(by="Anna", why="shift change", at_utc_us=NOW)
    assert sealed is not None
    assert (sealed.n, sealed.by, sealed.why) == (3, "Anna", "shift change")
    assert await journal.prune(NOW + S_US, max_age_s=0.5) == 1
    await journal.close()
    with closing(open_reader(path)) as reader:
        report = verify(reader, dict([public_key(public)]))
    assert (report.faults, report.records, report.pruned) == ([], 5, 1)


def test_openssl_s_keys_do(tmp_path: Path, path: Path) -> None:
    key = ed25519.Ed25519PrivateKey.generate()
    pem, no_password = serialization.Encoding.PEM, serialization.NoEncryption()
    (tmp_path / "k.key").write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, no_password))
    public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "k.pub").write_bytes(public)
    write_journal(path, tmp_path / "k.key")
    assert main(["journal", "verify", str(path), "--public-key", str(tmp_path / "k.pub")]) == Exit.OK
    auditor = Path(journal_file.__file__).parents[1] / "auditor.py"
    command = [sys.executable, auditor, path, tmp_path / "k.pub"]
    subprocess.run([*map(str, command)], check=True, capture_output=True, timeout=60)


@pytest.mark.parametrize(
    "content", [b"letters", b"AAAA", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "p256"]
)
def test_what_is_no_key(tmp_path: Path, path: Path, content: bytes | str, capsys: Captured) -> None:
    open_writer(path).close()
    private, public = tmp_path / "k.key", tmp_path / "k.pub"
    for file in (private, public):
        file.write_bytes(content if isinstance(content, bytes) else b"")
    if content == "p256":
        key, pem = ec.generate_private_key(ec.SECP256R1()), serialization.Encoding.PEM
        private.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        public.write_bytes(key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo))
    assert main(["journal", "seal", str(path), "--key", str(private), "--why", "x"]) == Exit.BAD_DATA
    assert main(["journal", "verify", str(path), "--public-key", str(public)]) == Exit.BAD_DATA
    lines = capsys.readouterr().err.splitlines()
    assert [line.startswith(f"wheeld: {file}: n") for line, file in zip(lines, (private, public), strict=True)] == [
        True,
        True,
    ]


def test_a_missing_library_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private, public = write_keys(tmp_path)
    for module in ("cryptography", "cryptography.hazmat.primitives", "cryptography.hazmat.primitives.asymmetric"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(KeyFileError, match=r"pip install 'wheeld\[sign\]'"):
        FileSigner(private)
    with pytest.raises(KeyFileError, match=r"pip install 'wheeld\[sign\]'"):
        public_key(public)


def test_without_a_key_the_library_is_not_needed(path: Path) -> None:
    filled(path, 1).close()
    done = subprocess.run([*WITHOUT_LIBRARY, str(path)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (Exit.OK, "")
    assert "signatures checked: none, because this journal has no key: anyone who could write the file" in done.stdout


def sign_wrongly(db: sqlite3.Connection, message_id: int) -> None:
    """What only a program with the key can do: a false signature in a message, and the chain and its end made anew."""
    (payload,) = db.execute("SELECT payload FROM messages WHERE id = ?", (message_id,)).fetchone()
    false = base64.b64encode(bytes(64))
    wrong = unsigned(payload)[:-1] + b',"signature":"%b"}' % false
    db.execute("UPDATE messages SET payload = ? WHERE id = ?", (wrong, message_id))
    chain_anew(db)


def test_verify_says_which_signatures_it_checked(path: Path, capsys: Captured) -> None:
    private, _ = write_keys(path.parent)
    filled(path, 3, signer=FileSigner(private)).close()
    assert main(["journal", "verify", str(path)]) == Exit.OK
    checked = "of the end, which covers every record, and of each seal; to check also those of the 3 messages"
    assert f"signatures checked: {checked}, give --each-signature" in capsys.readouterr().out
    assert main(["journal", "verify", str(path), "--each-signature"]) == Exit.OK
    assert "signatures checked: of the end, of each seal, and of each of the 3 messages\n" in capsys.readouterr().out


def test_a_false_signature_under_a_true_end_is_found_by_the_check_of_each(path: Path) -> None:
    private, _ = write_keys(path.parent)
    signer = FileSigner(private)
    filled(path, 3, signer=signer).close()
    with opened(path) as db:
        sign_wrongly(db, 2)
        bind_anew(db, signer)
    with closing(open_reader(path)) as journal:
        report = verify(journal)
        assert (report.faults, report.signed, report.signatures, report.is_end_checked) == ([], 3, 0, True)
        report = verify(journal, each_signature=True)
    assert (report.signed, report.signatures) == (3, 3)
    assert report.faults == ["seq 2 (record 4 (message 2)): its signature is not by this journal's key"]


def test_a_seal_that_names_another_key_is_found(path: Path) -> None:
    private, _ = write_keys(path.parent)
    signer = FileSigner(private)
    with closing(filled(path, 1, signer=signer)) as journal:
        journal.seal(by="Anna", why="close", at_utc_us=NOW)
    with opened(path) as db:
        db.execute("UPDATE heads SET key_id = 'other'")
        chain_anew(db)
        bind_anew(db, signer)
    with closing(open_reader(path)) as journal:
        assert verify(journal).faults == ["record 4 (seal 3): sealed by another key, other"]


def test_where_the_end_is_false_each_false_signature_is_named(path: Path) -> None:
    private, _ = write_keys(path.parent)
    filled(path, 3, signer=FileSigner(private)).close()
    with opened(path) as db:
        sign_wrongly(db, 2)
        bind_anew(db)
    with closing(open_reader(path)) as journal:
        faults = verify(journal).faults
    assert faults == [
        "seq 2 (record 4 (message 2)): its signature is not by this journal's key",
        "tail: the signature is false: the end of the journal was written without the key",
    ]


def test_a_key_in_the_journal_that_was_cut_short_is_found(path: Path) -> None:
    private, _ = write_keys(path.parent)
    filled(path, 1, signer=FileSigner(private)).close()
    with opened(path) as db:
        db.execute("UPDATE origins SET public_key = substr(public_key, 1, 31)")
    with closing(open_reader(path)) as journal:
        report = verify(journal)
    assert (report.faults[0], report.is_end_checked) == ("record 1 (origin 1): edited", False)


def test_without_the_library_no_signature_is_said_to_be_checked(path: Path) -> None:
    private, _ = write_keys(path.parent)
    filled(path, 1, signer=FileSigner(private)).close()
    done = subprocess.run([*WITHOUT_LIBRARY, str(path)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == Exit.OK
    assert "signatures checked: none, because the Python package cryptography is missing" in done.stdout


def test_seal_and_verify_on_the_command_line(path: Path, capsys: Captured) -> None:
    private, public = write_keys(path.parent)
    seal = ["journal", "seal", str(path), "--key", str(private), "--why", "inspection"]
    assert main(seal) == Exit.NO_INPUT
    path.touch()
    assert main(seal) == Exit.BAD_DATA
    assert "it is empty" in capsys.readouterr().err
    filled(path, 1, signer=FileSigner(private)).close()
    assert main([*seal, "--by", "Anna"]) == Exit.OK
    noted = capsys.readouterr().out.split()[-1]
    assert noted.startswith("3:")
    assert main(["journal", "verify", str(path), "--public-key", str(public), "--head", noted]) == Exit.OK
    last_line = capsys.readouterr().out.splitlines()[-1]
    assert last_line.startswith("sealed up to record 3: 20")
    assert " by Anna, inspection, key " in last_line
    assert main(["journal", "verify", str(path)]) == Exit.OK
    assert "whether that is a key of the house was not checked" in capsys.readouterr().out
    assert main(["journal", "verify", str(path), "--head", "9:" + "0" * 64]) == Exit.BAD_DATA
    assert "fault: records 5 to 9: cut off" in capsys.readouterr().out
    assert main(seal) == Exit.OK  # by the user who is logged in


def test_a_journal_in_use_is_not_sealed_from_outside(path: Path, capsys: Captured) -> None:
    private, _ = write_keys(path.parent)
    with closing(filled(path, 1)):
        assert main(["journal", "seal", str(path), "--key", str(private), "--why", "x"]) == Exit.NOT_OPENED
    assert "another wheeld has it open" in capsys.readouterr().err


# --- retention ---------------------------------------------------------------------------------------------------


def test_the_oldest_go_by_age_a_few_at_a_time(path: Path) -> None:
    coups = 2 * PRUNED_AT_ONCE + 10
    with closing(filled(path, coups)) as journal:
        now = NOW + (coups + 10) * S_US
        assert journal.prune(now) == 0
        removed = []
        while count := journal.prune(now, max_age_s=15):
            removed.append(count)
        assert removed == [PRUNED_AT_ONCE, PRUNED_AT_ONCE, 4]
        assert journal.reader.coups() == list(range(coups - 5, coups + 1))
        report = verify(journal.reader)
        assert (report.faults, report.coups, report.pruned) == ([], coups, coups - 6)
        assert journal.reader.evidence(1) is None


def test_the_oldest_go_by_size(path: Path) -> None:
    with closing(filled(path, 20, size=2000)) as journal:
        sizes = {
            coup: stored[1]
            for coup in journal.reader.coups()
            if (stored := journal.reader.packed_logs(1, 10**6).get(coup))
        }
        keep = sum(size for coup, size in sizes.items() if coup > 12)
        assert journal.prune(NOW, max_bytes=sum(sizes.values())) == 0
        assert journal.prune(NOW, max_bytes=keep + sizes[12] - 1, max_age_s=1e6) == 12
        assert journal.prune(NOW, max_bytes=keep) == 0
        assert journal.reader.coups() == list(range(13, 21))
        pruning = journal.reader.pruning(12)
        assert pruning is not None
        assert (pruning.at_utc_us, pruning.why) == (NOW, "size")
        assert verify(journal.reader).faults == []


def test_what_is_owed_keeps_its_evidence(path: Path) -> None:
    with closing(filled(path, 5)) as journal:
        with journal.database.transaction():
            journal.database.execute("INSERT INTO debts SELECT id, seq, 0 FROM messages WHERE seq >= 4")
        assert journal.prune(NOW + 1000 * S_US, max_age_s=1) == 3
        assert journal.prune(NOW + 1000 * S_US, max_bytes=0) == 0
        assert journal.reader.coups() == [4, 5]


def test_export_and_verify_report_pruned_evidence(path: Path, capsys: Captured) -> None:
    with closing(filled(path, 3)) as journal:
        journal.prune(NOW + 3 * S_US, max_age_s=1.5)
    assert main(["journal", "export", str(path), "--coup", "1"]) == Exit.NO_INPUT
    assert (
        "the evidence was removed at 2023-11-14T22:13:23.000000Z, to stay within the limit of age"
        in capsys.readouterr().err
    )
    assert main(["journal", "verify", str(path)]) == Exit.OK
    assert "evidence of 3 coups (1 of them pruned, their digests are kept)" in capsys.readouterr().out


# --- signed messages ---------------------------------------------------------------------------------------------


def test_with_a_key_the_feed_is_stored_signed(path: Path) -> None:
    private, public = write_keys(path.parent)
    feed = Feed()
    first, second = feed.step("table", "notice", "result"), feed.step("void")
    with closing(open_writer(path, signer=FileSigner(private))) as journal:
        journal.append(first, NOW)
        journal.append(second, NOW)
        journal.append(second, NOW)  # the same once more is the same, signed or not
        stored = [message.payload for message in journal.owed(0, 10)]
        journal.seal(by="Anna", why="close", at_utc_us=NOW)
    key_id, check = public_key(public)
    assert [is_signed(stored[index], check) for index in (0, 2, 3)] == [True] * 3
    assert stored[1] == first.messages[1].payload
    assert unsigned(stored[3]) == second.messages[0].payload
    with closing(open_reader(path)) as journal:
        report = verify(journal, {key_id: check})
        assert (report.faults, report.sequenced, report.signed) == ([], 3, 3)


def test_the_feed_library_knows_the_signature(path: Path) -> None:
    """The other end has its own reading of the format, and only the key's 32 bytes."""
    private, public = write_keys(path.parent)
    (message,) = Feed().step("table").messages
    payload = sign_message(message.payload, FileSigner(private))
    verifies = ed25519_of_the_feed(base64.b64decode(public.read_text()))
    signature_base64 = msgspec.json.decode(payload)["signature"]
    assert verifies(base64.b64decode(signature_base64), msgspec.json.decode(payload)["hash"].encode())
    assert not verifies(base64.b64decode(signature_base64), b"0" * 64)
