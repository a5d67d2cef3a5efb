"""Nobody but the service and its group may read the journal, whatever the umask of who started it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.broker.feed import Feed
from tests.journal.journals import open_writer
from wheeld.cli.main import main
from wheeld.exits import Exit


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
