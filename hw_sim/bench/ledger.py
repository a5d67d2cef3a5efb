"""Keeps for the bench page what truly happened at the wheel and what the daemon published, in the order of arrival."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import Literal, TypeAlias

import msgspec

ENTRIES_MAX = 300
"""The number of entries that are kept: enough for some coups. A browser that is too slow misses the oldest entries."""

Kind: TypeAlias = Literal["truth", "message", "play"]


class Entry(msgspec.Struct, frozen=True):
    """One line. `kind`: what the line is about: the truth, a message of the daemon, or who plays from now on. `name`:
    the message's topic, or who plays. `at`: the time of day on this computer."""

    number: int
    kind: Kind
    at: str
    name: str
    text: str
    coup: int | None = None


class Ledger:
    """The newest entries. Tasks can wait for new entries."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque(maxlen=ENTRIES_MAX)
        self._written = 0
        self._news = asyncio.Event()

    def write(self, kind: Kind, text: str, *, name: str = "", coup: int | None = None) -> None:
        """Add an entry, and wake the tasks that wait for it."""
        self._written += 1
        self._entries.append(Entry(self._written, kind, time.strftime("%H:%M:%S"), name, text, coup))
        self._news.set()
        self._news = asyncio.Event()

    async def after(self, number: int) -> list[Entry]:
        """Wait until there are entries after `number`, and return them, oldest first."""
        while self._written <= number:
            await self._news.wait()
        return [entry for entry in self._entries if entry.number > number]
