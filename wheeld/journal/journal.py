"""The journal for the event loop: every call runs on one thread of its own, in the order in which it was made.

The loop never waits for the disk, and SQLite is only touched by the thread that opened it. What the calls mean is
told in `journal_file`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import ParamSpec, TypeVar

import msgspec

from firmware_protocol.host import Position
from wheeld.core.step import Reply, Step
from wheeld.journal.rows import CommandRecord, JournalError, Receipt, Signer, StoredSeal
from wheeld.journal.writer import JournalFile
from wheeld.ports import OwedMessage

__all__ = ["Journal", "JournalError"]

P = ParamSpec("P")
R = TypeVar("R")


class Journal:
    """An open journal; it is also the outbox's `Store`. Every call raises `JournalError`: the daemon must halt then."""

    def __init__(self, file: JournalFile, thread: ThreadPoolExecutor) -> None:
        self._file = file
        self._thread = thread
        self._news = asyncio.Event()

    @classmethod
    async def open(cls, path: Path, *, at_utc_us: int, signer: Signer | None = None) -> Journal:
        """Open or create the journal at `path`; commands that an earlier run left undecided are refused.

        With a `signer` it can be sealed.
        """
        thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="journal")
        try:
            opening = partial(JournalFile, path, signer=signer)
            file = await asyncio.get_running_loop().run_in_executor(thread, opening)
        except BaseException:
            thread.shutdown(wait=False)
            raise
        journal = cls(file, thread)
        try:
            await journal._write(file.answer_unfinished, at_utc_us)
        except BaseException:
            await journal.close()
            raise
        return journal

    async def close(self) -> None:
        """Finish what was asked for, then close the file."""
        await self._call(self._file.close)
        self._thread.shutdown()

    async def append(self, step: Step, at_utc_us: int, position: Position | None = None) -> None:
        """Store all of `step` in one transaction, with how far the board's events had come, then wake the outbox."""
        seen_to = None if position is None else msgspec.json.encode(position)
        await self._write(self._file.append, step, at_utc_us, seen_to)

    async def memory(self) -> bytes | None:
        """What the core asked to be given back after a restart, as last stored."""
        return await self._call(self._file.memory)

    async def position(self) -> Position | None:
        """How far the board's events had come when something was last stored. Raises msgspec's errors for any other."""
        seen_to = await self._call(self._file.seen_to)
        return None if seen_to is None else msgspec.json.decode(seen_to, type=Position)

    async def receive(self, command: CommandRecord, at_utc_us: int) -> Receipt:
        """Note a command before anything is done about it; `REPEATED` and `PENDING` need no other answer."""
        return await self._write(self._file.receive, command, at_utc_us)

    async def answer(self, reply: Reply, at_utc_us: int) -> None:
        """Note what became of a received command and owe its answer."""
        await self._write(self._file.answer, reply, at_utc_us)

    async def refuse(self, command: CommandRecord, why: str, at_utc_us: int) -> None:
        """Note a command that is refused at the door, and owe its answer."""
        await self._write(self._file.refuse, command, why, at_utc_us)

    async def seal(self, *, by: str, why: str, at_utc_us: int) -> StoredSeal | None:
        """Sign the head of everything stored so far; None without a key."""
        return await self._call(self._file.seal, by=by, why=why, at_utc_us=at_utc_us)

    async def prune(self, now_utc_us: int, *, max_age_s: float | None = None, max_bytes: int | None = None) -> int:
        """Remove some of the oldest evidence, in one short transaction; call again until it returns 0."""
        return await self._call(self._file.prune, now_utc_us, max_age_s=max_age_s, max_bytes=max_bytes)

    async def wait_news(self) -> None:
        """Return when something was stored since the last call returned."""
        await self._news.wait()
        self._news.clear()

    async def owed(self, after_id: int, limit: int) -> list[OwedMessage]:
        """Up to `limit` owed messages with an id above `after_id`, in order."""
        return await self._call(self._file.owed, after_id, limit)

    async def mark_sent(self, ids: Sequence[int], *, await_settlement: bool) -> None:
        """The broker has these. With `await_settlement` sequenced ones stay owed until `settle`."""
        await self._call(lambda: self._file.mark_sent(ids, await_settlement=await_settlement))

    async def settle(self, seq: int) -> int:
        """The settlement core has all up to `seq`; returns how many this closed."""
        return await self._call(self._file.settle, seq)

    async def reopen(self, from_seq: int) -> int:
        """Owe every sequenced message from `from_seq` again; returns the id of the first, 0 when there is none."""
        return await self._write(self._file.reopen, from_seq)

    async def reopen_retained(self) -> None:
        """Owe the newest message of each retained topic again."""
        await self._write(self._file.reopen_retained)

    async def last_seq(self) -> int:
        """The highest sequence number stored, 0 when none is."""
        return await self._call(self._file.last_seq)

    async def depth(self) -> int:
        """How many messages are owed."""
        return await self._call(self._file.depth)

    async def _write(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        result = await self._call(work, *args, **kwargs)
        self._news.set()
        return result

    async def _call(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        # Shielded: what was asked for is done, in its order, even when nobody waits for it any more.
        return await asyncio.shield(asyncio.wrap_future(self._thread.submit(work, *args, **kwargs)))
