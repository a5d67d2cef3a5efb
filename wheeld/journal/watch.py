"""Notices if the journal's files are deleted, exchanged or cut short while they are open.

A program that has a file open can still write to it after its name was deleted. Then nobody finds what was published.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

SUFFIXES = ("", "-wal", "-shm", ".lock")
"""The suffixes of the journal's file, of the files that SQLite keeps beside it while it is open, and of our lock."""


class _Seen(NamedTuple):
    device: int
    inode: int
    size: int


class FileWatch:
    """Watches the files of the journal at `path`, each from the moment when it first exists."""

    def __init__(self, path: Path) -> None:
        self._paths = [path.with_name(path.name + suffix) for suffix in SUFFIXES]
        self._seen: dict[Path, _Seen] = {}
        self.look()

    def look(self) -> str | None:
        """Return what has happened to one of the files since the last look. None if nothing has."""
        # Only the names are looked up: to open and close a file here would drop SQLite's locks on it.
        for path in self._paths:
            before = self._seen.get(path)
            try:
                stat = os.stat(path)
            except FileNotFoundError:
                if before is not None:
                    return f"{path.name} was deleted"
                continue
            now = self._seen[path] = _Seen(stat.st_dev, stat.st_ino, stat.st_size)
            if before is None:
                continue
            if now[:2] != before[:2]:
                return f"{path.name} was exchanged for another file"
            if now.size < before.size:
                return f"{path.name} was cut short"
        return None
