"""Notices if the journal's files are deleted, exchanged or cut short while they are open.

A program can still write to an open file after its name was deleted. Then nobody finds the records that it writes.
"""

from __future__ import annotations

import os
from pathlib import Path

SUFFIXES = ("", "-wal", "-shm", ".lock")
"""The suffixes of the journal's file, of the files that SQLite keeps beside it while it is open, and of our lock."""


class FileWatch:
    """Watches the files of the journal at `path`, each from the moment when it first exists."""

    def __init__(self, path: Path) -> None:
        self._paths = [path.with_name(path.name + suffix) for suffix in SUFFIXES]
        self._seen: dict[Path, os.stat_result] = {}
        self.look()

    def look(self) -> str | None:
        """Return what has happened to one of the files since the last look. None if nothing has happened."""
        # Only look up the names: if this process opened and closed a file here, SQLite would lose its locks on it.
        for path in self._paths:
            before = self._seen.get(path)
            try:
                now = self._seen[path] = os.stat(path)
            except FileNotFoundError:
                if before is not None:
                    return f"{path.name} was deleted"
                continue
            if before is None:
                continue
            if not os.path.samestat(now, before):
                return f"{path.name} was exchanged for another file"
            if now.st_size < before.st_size:
                return f"{path.name} was cut short"
        return None
