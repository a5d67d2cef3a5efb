"""Seals the journal, removes old evidence, and checks the records that the start had no time to check.

A seal is made at a change of bouler, when the table closes, on command, at start and stop, and after many records.
Without a signing key nothing is sealed. Without limits nothing is removed. Each seal is published as a notice. A person
who has noted the head in a notice can find out later whether the end of the journal was cut off.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NoReturn

import msgspec
import structlog

from wheeld.core.facts import Person
from wheeld.core.table import Table
from wheeld.core.tracking.evidence import Figures
from wheeld.journal.journal import Journal
from wheeld.journal.rows import StoredSeal
from wheeld.journal.setting import JournalSetting
from wheeld.ports import HostClock

PRUNING_PERIOD_S = 60.0
"""The time between two removals. A busy table adds the evidence of one coup in about this time, so only little is
removed at once. A removal also puts on disk the transactions that wait for a later one."""

WATCH_S = 1.0
"""The daemon notices within this time that a file was deleted or exchanged, even while it stores nothing."""

SEALED_AFTER = 10_000
"""The largest number of records after the last seal: those of two evenings. A start verifies these records before the
wheel is ready. At 5,000 a second it takes 2 s, on a ten times slower computer 20 s. systemd allows 300 s. Without this
limit, a flood of commands could store 1.7 million records in a day (five commands a second, four records each). To
verify them would take too long."""

UNSEALED_S = 1.0
"""The time between two counts of the records after the last seal. A flood of commands of ten names adds 200 records in
this time."""

PATROL_S = 0.2
"""The time between two steps of the patrol: 250 records a second, a year of play in six hours, with little load."""

DAY_S = 86_400.0
DAEMON = "wheeld"
"""The `by` of a seal for which no person asked."""


class JournalKeeper:
    """Seals `journal` when the bouler of `table` changes and when the table closes, and removes old evidence: by age
    only while `is_clock_trusted()`."""

    def __init__(
        self,
        journal: Journal,
        table: Table,
        *,
        clock: HostClock,
        setting: JournalSetting,
        is_clock_trusted: Callable[[], bool],
    ) -> None:
        self._journal = journal
        self._table = table
        self._catalogue = table.setting.catalogue
        self._clock = clock
        self._setting = setting
        self._is_clock_trusted = is_clock_trusted
        self._bouler, self._is_closed = table.bouler, table.is_closed
        self._due: asyncio.Queue[str] = asyncio.Queue()
        self._log = structlog.get_logger("journal")

    def look(self) -> None:
        """Compare the table with its last state. A seal is due if the bouler has changed or the table has closed."""
        if self._table.bouler != self._bouler:
            before, now = self._bouler, self._table.bouler
            if before is None:
                why = self._catalogue.say("first bouler: {now}", now=now)
            else:
                why = self._catalogue.say("change of bouler: {before} to {now}", before=before, now=now)
            self._due.put_nowait(why)
        if self._table.is_closed and not self._is_closed:
            self._due.put_nowait(self._catalogue.say("the table closed"))
        self._bouler, self._is_closed = self._table.bouler, self._table.is_closed

    async def seal_shifts(self) -> NoReturn:
        """Make the seals that are due. Ends only with the journal's error, or when it is cancelled."""
        while True:
            await self.seal(by=DAEMON, why=await self._due.get())

    async def seal_much(self) -> NoReturn:
        """Seal when much was stored since the last seal, so that a start never takes long. Ends as `seal_shifts` does.

        Without a key, a start verifies only the last records (`UNSEALED_MAX`), so nothing has to be done.
        """
        while True:
            count = await self._journal.unsealed()
            if count >= SEALED_AFTER:
                await self.seal(by=DAEMON, why=self._catalogue.say("{count} records since the last seal", count=count))
            await self._clock.sleep(UNSEALED_S)

    async def seal(self, *, by: str, why: str, user: str | None = None) -> StoredSeal | None:
        """Seal everything stored so far. Publish the head and the feed's checkpoint. Returns None without a key. `user`
        is as in `Person`."""
        at_utc_us = self._clock.utc_us()
        sealed = await self._journal.seal(by=by, why=why, at_utc_us=at_utc_us)
        if sealed is None:
            return None
        last_seq = await self._journal.last_seq()
        figures: Figures = {"n": sealed.n, "head": sealed.head.hex(), "key_id": sealed.key_id, "seq": last_seq}
        self._log.info("journal.sealed", by=by, why=why, **figures)
        if (checkpoint := await self._journal.checkpoint()) is not None:
            figures["checkpoint"] = checkpoint
        text = self._catalogue.say("the journal is sealed up to record {record}", record=sealed.n)
        step = self._table.remark("sealed", text, figures, Person(by, why, user))
        # The broker retains this notice. The notice shows later whether an older copy of the journal is in use.
        kept = tuple(msgspec.structs.replace(message, retained=True) for message in step.messages)
        await self._journal.append(msgspec.structs.replace(step, messages=kept), at_utc_us)
        return sealed

    async def prune(self) -> NoReturn:
        """Remove logs that exceed the limits, only between coups, so that no verdict waits. Ends as `seal_shifts`
        does."""
        while True:
            while not self._table.is_running:
                age_days = self._setting.evidence_age_days if self._is_clock_trusted() else None
                removed = await self._journal.prune(
                    self._clock.utc_us(),
                    max_age_s=None if age_days is None else age_days * DAY_S,
                    max_bytes=self._setting.evidence_bytes_max,
                )
                if not removed:
                    break
                self._log.info("journal.pruned", logs=removed)
            await self._clock.sleep(PRUNING_PERIOD_S)

    async def watch(self) -> NoReturn:
        """Check once a second that nobody has deleted, exchanged, cut or written to the journal's files. Ends with the
        journal's error if somebody has."""
        while True:
            await self._journal.look()
            await self._clock.sleep(WATCH_S)

    async def patrol(self) -> NoReturn:
        """Check the whole journal slowly, once a day. Ends with the journal's error at the first fault."""
        while True:
            while await self._journal.patrol():
                await self._clock.sleep(PATROL_S)
            self._log.info("journal.patrolled", then="all records are as they were written")
            await self._clock.sleep(DAY_S)
