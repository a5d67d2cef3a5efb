"""Keeps the journal: seals it at each change of shift, when the table closes, on demand, at the start and at the stop;
removes old evidence. Without a signing key nothing is sealed, without limits nothing is removed.

A seal proves what was stored before it only to whoever knows its head from elsewhere, so each is published as a notice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NoReturn

import msgspec
import structlog

from wheeld.core.messages.payloads import Figures
from wheeld.core.table import Table
from wheeld.journal.journal import Journal
from wheeld.journal.rows import StoredSeal
from wheeld.ports import HostClock

PRUNING_PERIOD_S = 60.0
"""A busy table adds a coup's evidence in about this time: so little is removed at a time that nobody waits for it."""

DAY_S = 86_400.0
DAEMON = "wheeld"
"""Who seals when no person asked for it."""


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """How long evidence is kept, and how much of it (bytes on disk, compressed); None: for ever, all of it."""

    age_days: float | None = None
    bytes_max: int | None = None


class JournalKeeper:
    """Looks at `table` and keeps `journal`. `is_clock_trusted`: or a wrong year would remove everything."""

    def __init__(
        self,
        journal: Journal,
        table: Table,
        *,
        clock: HostClock,
        retention: Retention,
        is_clock_trusted: Callable[[], bool],
    ) -> None:
        self._journal = journal
        self._table = table
        self._clock = clock
        self._retention = retention
        self._is_clock_trusted = is_clock_trusted
        self._bouler, self._is_closed = table.bouler, table.is_closed
        self._due: asyncio.Queue[str] = asyncio.Queue()
        self._log = structlog.get_logger("journal")

    def look(self) -> None:
        """The table may have changed: a shift that ended is due to be sealed."""
        if self._table.bouler != self._bouler:
            self._due.put_nowait(f"change of bouler: {self._bouler or 'nobody'} to {self._table.bouler}")
        if self._table.is_closed and not self._is_closed:
            self._due.put_nowait("the table closed")
        self._bouler, self._is_closed = self._table.bouler, self._table.is_closed

    async def seal_shifts(self) -> NoReturn:
        """Seal what is due, for ever; ends by the journal's error or by cancellation."""
        while True:
            await self.seal(by=DAEMON, why=await self._due.get())

    async def seal(self, *, by: str, why: str) -> StoredSeal | None:
        """Seal everything stored so far and publish the head; None without a key."""
        at_utc_us = self._clock.utc_us()
        sealed = await self._journal.seal(by=by, why=why, at_utc_us=at_utc_us)
        if sealed is None:
            return None
        figures: Figures = {"n": sealed.n, "head": sealed.head.hex(), "key_id": sealed.key_id}
        self._log.info("journal.sealed", by=by, why=why, **figures)
        text = f"the journal is sealed up to record {sealed.n}"
        await self._journal.append(self._table.remark("sealed", text, figures, (by, why)), at_utc_us)
        return sealed

    async def prune(self) -> NoReturn:
        """Remove what is past its time, for ever, and only between coups: no verdict waits for it."""
        while True:
            while not self._table.is_running and (removed := await self._prune_once()):
                self._log.info("journal.pruned", logs=removed)
            await self._clock.sleep(PRUNING_PERIOD_S)

    async def _prune_once(self) -> int:
        age_days = self._retention.age_days if self._is_clock_trusted() else None
        return await self._journal.prune(
            self._clock.utc_us(),
            max_age_s=None if age_days is None else age_days * DAY_S,
            max_bytes=self._retention.bytes_max,
        )
