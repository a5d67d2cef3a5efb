"""`python -m tests.whole.broken EVENINGS SEED [NAME…]`: breaks the program on purpose, one way after the other, and
says in which evening the house finds it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest import mock

import msgspec

import hw_sim.configuration
import tests.whole.evening
from tests.whole.__main__ import one, say
from tests.whole.evening import plan_of
from wheeld.broker.outbox import Outbox
from wheeld.core.observations import Command
from wheeld.daemon.table_loop import TableLoop
from wheeld.journal.database import Database
from wheeld.ports import OwedMessage, PublishError


@contextmanager
def forgetful_outbox() -> Iterator[None]:
    """What the broker has not confirmed counts as sent."""
    publish = Outbox._publish

    async def careless(outbox: Outbox, message: OwedMessage, session: int) -> None:
        try:
            await publish(outbox, message, session)
        except PublishError:
            await outbox._store.mark_sent([message.id], await_settlement=False)
            raise

    with mock.patch.object(Outbox, "_publish", careless):
        yield


@contextmanager
def lazy_journal() -> Iterator[None]:
    """Commits do not wait for the disk."""
    use_wal = Database._use_wal

    def lazy(database: Database) -> None:
        use_wal(database)
        database._db.execute("PRAGMA synchronous = NORMAL")

    with mock.patch.object(Database, "_use_wal", lazy):
        yield


@contextmanager
def no_position() -> Iterator[None]:
    """How far the board's events were applied is not stored."""
    apply = TableLoop._apply

    async def forgetting(loop: TableLoop, observations: Sequence[Any]) -> None:
        loop._position = None
        await apply(loop, observations)

    with mock.patch.object(TableLoop, "_apply", forgetting):
        yield


@contextmanager
def late_words() -> Iterator[None]:
    """A command counts from five seconds after it came."""
    put = TableLoop.put

    async def late(loop: TableLoop, work: Any) -> None:
        await put(loop, work)
        if isinstance(work, Command):
            queued = loop._queue._queue  # type: ignore[attr-defined]
            queued[-1] = msgspec.structs.replace(queued[-1], t_us=queued[-1].t_us + 5_000_000)

    with mock.patch.object(TableLoop, "put", late):
        yield


def patient_link() -> AbstractContextManager[object]:
    """A line may be silent for 20 s."""
    return mock.patch.object(hw_sim.configuration, "silence_s", return_value=20.0)


def not_yet() -> AbstractContextManager[object]:
    """The program as it is, and all kinds of faults."""
    return mock.patch.object(tests.whole.evening, "NOT_YET", {})


BROKEN: dict[str, Callable[[], AbstractContextManager[object]]] = {
    each.__name__: each for each in (forgetful_outbox, lazy_journal, no_position, late_words, patient_link, not_yet)
}


def main() -> int:
    evenings, seed, names = int(sys.argv[1]), sys.argv[2], sys.argv[3:] or list(BROKEN)
    for name in names:
        with BROKEN[name]():
            found = [index for index in range(evenings) if is_found(one(plan_of(seed, index)).problems)]
        first = f"the first is number {found[0] + 1}" if found else "none"
        say(f"{name}: found in {len(found)} of {evenings} evenings, {first}")
    return 0


def is_found(problems: Sequence[str]) -> bool:
    say("".join(f"  {problem[:200]}\n" for problem in problems[:1]), end="")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
