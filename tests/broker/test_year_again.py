"""A year of play is sent again, asked for once a second, and nothing live waits for it: on virtual time."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from tests.broker.feed import Feed
from tests.broker.world import DirectStore, VirtualClock, settle, working
from tests.journal.journals import open_writer
from tests.virtual_loop import Time, VirtualLoop
from wheeld.broker.outbox import QUESTIONS_MAX, Outbox, ResendError
from wheeld.ports import OwedMessage, Publication

ROOT = "wheel/v1/campione/3/"
YEAR = 2_000_000 if "WHEELD_FLOOD_S" in os.environ else 50_000
"""Messages: 5,500 a day. Without `make floods` nine days of them are enough."""
PUBLISH_S = 0.001
"""A broker on the same network confirms in about a millisecond."""
LIVE_EVERY_S = 0.7
WAIT_S_MAX = 0.5


class LoopClock:
    """The clock of a virtual loop."""

    def monotonic_ns(self) -> int:
        return round(asyncio.get_running_loop().time() * 1e9)

    def utc_us(self) -> int:
        return self.monotonic_ns() // 1_000

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class YearStore:
    """A store of so many messages, of which only the live ones are owed; their payload is their number."""

    def __init__(self, stored: int) -> None:
        self.stored = stored
        self._owed: list[int] = []
        self._news = asyncio.Event()

    def append(self) -> int:
        """Store a live message; returns its number."""
        self.stored += 1
        self._owed.append(self.stored)
        self._news.set()
        return self.stored

    def has_news(self) -> bool:
        return self._news.is_set()

    async def wait_news(self) -> None:
        await self._news.wait()
        self._news.clear()

    async def owed(self, after_id: int, limit: int) -> list[OwedMessage]:
        return [_message(seq) for seq in self._owed if seq > after_id][:limit]

    async def again(self, from_seq: int, limit: int) -> list[OwedMessage]:
        return [_message(seq) for seq in range(from_seq, min(from_seq + limit, self.stored + 1))]

    async def mark_sent(self, ids: Sequence[int], *, await_settlement: bool) -> None:
        self._owed = [seq for seq in self._owed if seq not in ids]

    async def settle(self, seq: int) -> int:
        return 0

    async def reopen_retained(self) -> None:
        pass

    async def last_seq(self) -> int:
        return self.stored

    async def depth(self) -> int:
        return len(self._owed)


def _message(seq: int) -> OwedMessage:
    return OwedMessage(id=seq, topic="result", payload=b"%d" % seq, seq=seq)


class Broker:
    """Confirms each publication after a while; keeps when the live ones came, and how many others did, in order."""

    def __init__(self, first_live: int, time: Time) -> None:
        self._time = time
        self.came_s: dict[int, float] = {}
        self.again = 0
        self.last_again = 0
        self._first_live = first_live

    async def connected(self) -> int:
        return 1

    async def lost(self, session: int) -> None:
        await asyncio.Event().wait()

    async def publish(self, publication: Publication, *, session: int) -> None:
        self._time.pass_s(PUBLISH_S, lambda: ())
        seq = int(publication.payload)
        if seq >= self._first_live and seq not in self.came_s:
            self.came_s[seq] = asyncio.get_running_loop().time()
            return
        assert seq in {self.last_again + 1, 1}, "each pass is in order and without a gap"
        self.again, self.last_again = self.again + 1, seq


def test_nothing_live_waits_for_a_year_that_is_sent_again() -> None:
    """And whoever asked is answered, though somebody asks for all of it every second."""
    answered: list[int] = []

    async def note(last_seq: int) -> None:
        answered.append(last_seq)

    async def ask(outbox: Outbox) -> None:
        while True:
            try:
                await outbox.resend(1, note)
            except ResendError:
                refused[0] += 1
            await asyncio.sleep(1.0)

    async def play(store: YearStore) -> None:
        while True:
            stored_s[store.append()] = asyncio.get_running_loop().time()
            await asyncio.sleep(LIVE_EVERY_S)

    async def main() -> None:
        store, clock = YearStore(YEAR), LoopClock()
        outbox = Outbox(store=store, publisher=broker, clock=clock, root=ROOT, settlement_ack=True)
        asking = asyncio.create_task(ask(outbox))
        async with working(outbox.run(), play(store)):
            while not answered:  # noqa: ASYNC110  virtual time
                await asyncio.sleep(10.0)
            passed_s.append(asyncio.get_running_loop().time())
        asking.cancel()

    stored_s: dict[int, float] = {}
    refused, passed_s, loop = [0], list[float](), VirtualLoop()
    broker = Broker(YEAR + 1, loop.time_source)
    try:
        loop.run_until_complete(main())
    finally:
        loop.close()
    waits_s = [broker.came_s[seq] - at_s for seq, at_s in stored_s.items() if seq in broker.came_s]
    assert len(waits_s) >= len(stored_s) - 1 > 100
    assert max(waits_s) <= WAIT_S_MAX
    assert broker.again >= YEAR
    assert answered[0] >= YEAR
    assert refused[0] > 0
    assert passed_s[0] < 4 * 3600


async def test_the_same_on_a_disk(tmp_path: Path) -> None:
    """Of the real journal a live message waits for one message of the year at most."""
    clock, sent = VirtualClock(), list[bytes]()

    class Counting:
        async def connected(self) -> int:
            return 1

        async def lost(self, session: int) -> None:
            await asyncio.Event().wait()

        async def publish(self, publication: Publication, *, session: int) -> None:
            sent.append(publication.payload)
            await asyncio.sleep(0)

    store, feed = DirectStore(open_writer(tmp_path / "j")), Feed()
    store.file.database._db.execute("PRAGMA synchronous = OFF")  # nobody cuts the power here, and it is faster
    for _ in range(10):
        store.file.append(feed.step(*("result",) * 200), 1)
    store.file.mark_sent(range(1, 2001), await_settlement=False)
    outbox = Outbox(store=store, publisher=Counting(), clock=clock, root=ROOT, settlement_ack=False)
    answered: list[int] = []

    async def note(last_seq: int) -> None:
        answered.append(last_seq)

    async with working(outbox.run()):
        await settle()
        for _ in range(QUESTIONS_MAX):
            await outbox.resend(1, note)
        behind = list[int]()
        while not answered:
            await clock.advance(0.02)
            if len(behind) < 40:
                before = len(sent)
                live = feed.step("table")
                store.file.append(live, 1)
                store.news.set()
                while live.messages[0].payload not in sent[before:]:
                    await settle(1)
                behind.append(sent[before:].index(live.messages[0].payload))
    assert max(behind) <= 1, behind
    assert answered == [2040] * QUESTIONS_MAX
    assert len(sent) == 40 + 2040
    assert await outbox.depth() == 0
    store.file.close()
