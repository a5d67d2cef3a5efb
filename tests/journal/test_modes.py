"""Nobody but the service and its group may read the journal, whatever the umask of who started it."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.broker.feed import Feed
from tests.journal.journals import open_writer, write_journal, write_keys
from wheeld.cli.main import main
from wheeld.exits import Exit
from wheeld.journal.rows import JournalError


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def modes(directory: Path) -> dict[str, str]:
    return {each.name: f"{each.stat().st_mode & 0o777:o}" for each in directory.iterdir()}


@pytest.mark.parametrize("mask", [0, 0o022, 0o027, 0o077])
def test_files_are_closed_to_others(tmp_path: Path, mask: int) -> None:
    with umask(mask), closing(open_writer(tmp_path / "j")) as journal:
        journal.append(Feed().step("result"), 1)
        assert main(["journal", "backup", str(tmp_path / "j"), str(tmp_path / "copy")]) == Exit.OK
        found = modes(tmp_path)
    assert found.keys() >= {"j", "j-wal", "j-shm", "j.lock", "copy"}
    assert set(found.values()) == {"640"}


def test_files_that_were_open_are_closed_at_the_next_start(tmp_path: Path) -> None:
    with closing(open_writer(tmp_path / "j")) as journal:
        journal.append(Feed().step("result"), 1)
    (tmp_path / "j").chmod(0o644)
    with closing(open_writer(tmp_path / "j")) as journal:
        journal.append(Feed().step(), 1)
        assert set(modes(tmp_path).values()) == {"640"}


WHEELD = 65_534
"""The number of a user who is not root."""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("written")
    (top / "var").mkdir()
    private, _ = write_keys(top)
    write_journal(top / "var" / "j", private)
    return top


@pytest.fixture
def journal(written: Path) -> Iterator[Path]:
    """In a directory of the service's user; its key and a victim's file are root's."""
    if os.geteuid() != 0:
        pytest.skip("only root can be led where its user cannot go")
    top = Path(tempfile.mkdtemp())  # not pytest's, where nobody else comes in
    shutil.copytree(written, top, dirs_exist_ok=True)
    top.chmod(0o755)
    path = top / "var" / "j"
    for each in (path.parent, *path.parent.iterdir()):
        os.chown(each, WHEELD, WHEELD)
    (top / "victim").write_text("not his")
    yield path
    shutil.rmtree(top)


def commands(journal: Path) -> dict[str, list[str]]:
    key, to = journal.parents[1] / "wheel.key", journal.with_name("copy")
    return {
        "seal": ["seal", str(journal), "--key", str(key), "--why", "a test"],
        "migrate": ["migrate", str(journal)],
        "adopt": ["adopt", str(journal), "--key", str(key), "--after", "40", "--why", "a test"],
        "verify": ["verify", str(journal)],
        "show": ["show", str(journal)],
        "backup": ["backup", str(journal), str(to)],
        "export": ["export", str(journal), "--coup", "9", "-o", str(to)],
    }


@pytest.mark.parametrize("command", ["seal", "migrate", "adopt", "verify", "show", "backup", "export"])
@pytest.mark.parametrize("name", ["j-wal", "j-shm", "j.lock", "copy", "copy.part"])
@pytest.mark.parametrize("to", ["victim", "none"])
def test_root_follows_no_link_of_the_service(journal: Path, command: str, name: str, to: str) -> None:
    victim = journal.parents[1] / to
    before = victim.exists() and victim.stat()
    journal.with_name(name).unlink(missing_ok=True)
    journal.with_name(name).symlink_to(victim)
    main(["journal", *commands(journal)[command]])
    assert victim.exists() is bool(before), f"{to} was made"
    if before:
        assert (victim.stat().st_mode, victim.stat().st_uid) == (before.st_mode, before.st_uid)
        assert victim.read_text() == "not his"
    assert os.geteuid() == 0


@pytest.mark.parametrize("command", ["seal", "migrate", "adopt", "backup", "export"])
def test_what_root_makes_is_the_services(journal: Path, command: str) -> None:
    journal.with_name("j.lock").unlink()
    assert main(["journal", *commands(journal)[command]]) == Exit.OK
    assert {each.stat().st_uid for each in journal.parent.iterdir()} == {WHEELD}


@pytest.mark.parametrize("of_root", ["j", "j.lock"])
def test_a_service_that_meets_roots_files_says_what_to_do(journal: Path, of_root: str) -> None:
    os.chown(journal.with_name(of_root), 0, 0)
    journal.with_name(of_root).chmod(0o600)
    os.seteuid(WHEELD)
    try:
        with pytest.raises(JournalError, match=f"as root: `chown wheeld: {journal}"):
            open_writer(journal)
    finally:
        os.seteuid(0)


def test_a_service_that_may_not_write_a_directory_says_which(journal: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The backup's, for example: the file that cannot be made there does not exist."""
    there = journal.parent.parent
    os.seteuid(WHEELD)
    try:
        assert main(["journal", "backup", str(journal), str(there / "copy")]) != Exit.OK
    finally:
        os.seteuid(0)
    assert f"its directory belongs to another user; as root: `chown wheeld: {there}`" in capsys.readouterr().err


def test_a_read_only_disk_is_named_with_where_to_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_only(*_: object) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    with monkeypatch.context() as disk:
        disk.setattr(os, "open", read_only)
        with pytest.raises(JournalError, match=r"Read-only file system: .+ `journalctl -k` says why") as refused:
            open_writer(tmp_path / "j")
    assert refused.value.fault == "io", "the daemon ends with 73: no new start mends it"
