"""The last 200 numbers of a table. They are kept in a file, because a wheel publishes only its last 20."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
import structlog

NUMBERS_MAX = 200
FAVOURITES = 4
"""How many numbers a display shows as hot, and how many as cold."""


class NumberCount(NamedTuple):
    """How often a number came."""

    number: int
    times: int


class NumberHistory:
    """The numbers, newest first. `path` is their file, or None if they are not kept. A file that does not contain
    numbers is ignored."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._log = structlog.get_logger("page")
        self._is_told = False
        self.newest_first: list[int] = []
        if path is not None:
            with suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):
                self.newest_first = msgspec.json.decode(path.read_bytes(), type=list[int])[:NUMBERS_MAX]

    def take(self, latest: Sequence[int]) -> None:
        """Add those numbers that are new. `latest`: the last numbers that the wheel has published, newest first."""
        known = self.newest_first
        new = next(
            (count for count in range(len(latest)) if list(latest[count:]) == known[: len(latest) - count]),
            len(latest),
        )
        if new:
            self.newest_first = [*latest[:new], *known][:NUMBERS_MAX]
            # Store the numbers. If this fails, they are shown until the next start and then lost. This is logged once.
            if self._path is None:
                return
            try:
                # Write a new file, then replace the old one with it. After a power cut one of the two is whole.
                beside = self._path.with_suffix(".new")
                with beside.open("wb") as file:
                    file.write(msgspec.json.encode(self.newest_first))
                    file.flush()
                    os.fsync(file.fileno())
                beside.replace(self._path)
            except OSError as wrong:
                if not self._is_told:
                    self._log.error("numbers.not_stored", path=str(self._path), why=str(wrong))
                self._is_told = True
            else:
                self._is_told = False

    def hot(self) -> list[NumberCount]:
        """Return the most frequent numbers. Of equally frequent numbers the latest is first."""
        return [NumberCount(*each) for each in Counter(self.newest_first).most_common(FAVOURITES)]

    def cold(self, order: Sequence[int]) -> list[NumberCount]:
        """Return the least frequent numbers. Of equally frequent numbers, the one that came longest ago is first.
        `order`: all numbers of the wheel."""
        counts = Counter(self.newest_first)
        ago = {number: place for place, number in reversed([*enumerate(self.newest_first)])}
        coldest = sorted(order, key=lambda number: (counts[number], -ago.get(number, NUMBERS_MAX)))
        return [NumberCount(number, counts[number]) for number in coldest[:FAVOURITES]]
