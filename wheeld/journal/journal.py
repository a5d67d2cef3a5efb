"""The journal for the event loop. All calls run on one separate thread, in the order in which they were made.

The event loop never waits for the disk, and only the thread that opened the SQLite file uses it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeAlias, TypeVar

from wheeld.core.catalogue import Language
from wheeld.journal.opening import Owner, open_to_write
from wheeld.journal.rows import JournalError, Signer
from wheeld.journal.writer import JournalWriter

__all__ = ["Journal", "JournalError"]

P = ParamSpec("P")
R = TypeVar("R")
Call: TypeAlias = Callable[P, Coroutine[Any, Any, R]]


class Journal:
    """An open journal. It is the outbox's `Store` and the intake's `CommandLog`.

    Each attribute below is a method that must be awaited. It calls the method with the same name of `JournalWriter`,
    `JournalReader` or `Database`, which describes it. Every call may raise `JournalError`. Then the daemon must halt.
    """

    def __init__(self, writer: JournalWriter, thread: ThreadPoolExecutor) -> None:
        self._writer = writer
        self._thread = thread
        self._news = asyncio.Event()
        # After these calls there may be something to publish.
        self.append = self._with_news(writer.append)
        self.receive = self._with_news(writer.receive)
        self.answer = self._with_news(writer.answer)
        self.refuse = self._with_news(writer.refuse)
        self.answer_unfinished = self._with_news(writer.answer_unfinished)
        self.reopen_retained = self._with_news(writer.reopen_retained)
        # After these calls there is nothing new to publish.
        self.mark_sent = self._on_thread(writer.mark_sent)
        self.settle = self._on_thread(writer.settle)
        self.seal = self._on_thread(writer.seal)
        self.checkpoint = self._on_thread(writer.checkpoint)
        self.unsealed = self._on_thread(writer.unsealed)
        self.note = self._on_thread(writer.note)
        self.last_event = self._on_thread(writer.last_event)
        self.compare = self._on_thread(writer.compare)
        self.gap_due = self._on_thread(writer.reader.gap_due)
        self.look = self._on_thread(writer.database.look)
        self.patrol = self._on_thread(writer.patrol)
        self.prune = self._on_thread(writer.prune)
        self.memory = self._on_thread(writer.reader.memory)
        self.position = self._on_thread(writer.reader.position)
        self.owed = self._on_thread(writer.owed)
        self.again = self._on_thread(writer.again)
        self.last_seq = self._on_thread(writer.reader.last_seq)
        self.depth = self._on_thread(writer.reader.depth)

    @classmethod
    async def open(
        cls, path: Path, owner: Owner, *, at_utc_us: int, signer: Signer | None = None, language: Language = "en"
    ) -> Journal:
        """Open or begin the journal of `owner` at `path`. Refuse, in `language`, undecided commands of an earlier run.

        With a `signer` the journal is signed.
        """
        thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="journal")
        try:
            opening = thread.submit(open_to_write, path, owner=owner, signer=signer, at_utc_us=at_utc_us)
            writer = await asyncio.wrap_future(opening)
        except BaseException:
            thread.shutdown(wait=False)
            raise
        journal = cls(writer, thread)
        try:
            await journal.answer_unfinished(at_utc_us, language)
        except BaseException:
            await journal.close()
            raise
        return journal

    async def close(self) -> None:
        """Finish the calls that were made before, then close the file."""
        await self._on_thread(self._writer.close)()
        self._thread.shutdown()

    def has_news(self) -> bool:
        """See `Store.has_news`."""
        return self._news.is_set()

    async def wait_news(self) -> None:
        """See `Store.wait_news`."""
        await self._news.wait()
        self._news.clear()

    def _on_thread(self, work: Callable[P, R]) -> Call[P, R]:
        @wraps(work)
        async def call(*args: P.args, **kwargs: P.kwargs) -> R:
            # With the shield, the call is carried out in its order even if the caller is cancelled.
            return await asyncio.shield(asyncio.wrap_future(self._thread.submit(work, *args, **kwargs)))

        return call

    def _with_news(self, work: Callable[P, R]) -> Call[P, R]:
        call = self._on_thread(work)

        @wraps(work)
        async def call_and_wake(*args: P.args, **kwargs: P.kwargs) -> R:
            result = await call(*args, **kwargs)
            self._news.set()
            return result

        return call_and_wake
