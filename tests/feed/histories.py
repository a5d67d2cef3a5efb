"""Drawn histories of a dishonest broker, and what must be true of a signed feed in each: nothing wrong, nothing
doubled, nothing stuck, and no more questions than it has causes for. A seed is a history, the same each time.

What a history draws: how many messages there are and when, which tricks the broker knows, how often it plays one, when
it starts anew, when the caller crashes, whether the wheel's journal is restored from an older copy, how long the broker
goes on when the wheel says no more, whether it then keeps what it held, and whether a message comes after that.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.feed.broker import FORGERIES, MISUSES, DishonestBroker, nothing_more
from tests.feed.wheel import ROOT, TABLE, Wheel
from tests.feed.world import Caller, World, run_virtually
from wheeld.feed import GENESIS, SEQUENCED, Feed, FeedMessage, Manner

KEY = Ed25519PrivateKey.from_private_bytes(b"the wheel".ljust(32))
PUBLIC_KEY = KEY.public_key().public_bytes_raw()
MESSAGES_MAX = 14
"""Short histories: what goes wrong does so between a few messages, and a hundred thousand of them must be played."""
STUCK_S = 1_500.0
"""An honest broker has delivered all by then: the feed asks again after ten quiet minutes, waits five for an answer
that was lost before, and half a minute to connect."""
PATIENCE_S = 7.5
"""The feed waits at least as long between two questions for which there was no new cause."""
FLOOD = 60
FLOOD_EVERY_S = 0.3
"""A broker that sends much: so long that a feed that asks for each is found, so short that many can be played."""
QUESTIONS_TO_SPARE = 2
"""One at the start, and one whose cause came after it."""
FOREVER_S = 1e6
"""No history is that long."""


class Ended(NamedTuple):
    """How a history ended."""

    problems: tuple[str, ...]
    played: Counter[str]
    refused: Counter[str]
    messages: int
    questions: int
    seconds: float
    digest: str


class History:
    """One, drawn from `seed`."""

    def __init__(self, seed: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self._rng = rng = random.Random(f"history {seed}")
        self.wheel = Wheel(key=KEY)
        others = (Wheel("campione-04", KEY), Wheel(TABLE, Ed25519PrivateKey.from_private_bytes(b"other".ljust(32))))
        for other in others:
            for _ in range(3):
                other.say(rng.choice(SEQUENCED))
            made = other.sent[:]
            other.restore(0)
            other.say()  # it fits behind any of the first three
            other.sent = [*made, *other.sent]
        # Some brokers know one trick and some know all: where all are played at once, one hides another.
        known = (*MISUSES, *FORGERIES)
        tricks = tuple(rng.sample(known, rng.choice((1, 2, 3, len(known)))))
        rate = rng.choice((0.1, 0.3, 0.6, 0.9))
        if rng.random() < 0.05:
            tricks, rate = (nothing_more,), 1.0  # only then can it have the feed ask again and again
        self.broker = DishonestBroker(rng, rate, tricks, others)
        self.world = World(monkeypatch, self.broker, self.wheel)
        self.stored: list[FeedMessage] = []
        self.refused: Counter[str] = Counter()
        self.problems: list[str] = []
        self._restarts_s = rng.choice((1e9, 1e9, 200.0, 30.0))
        self._crashes_s = rng.choice((1e9, 1e9, 300.0, 60.0))
        self._alone = rng.choice((0.0, 0.3, 1.0)) if rng.random() < 0.7 else 0.0
        self._honest_s: float | None = None

    async def play(self) -> None:
        """From its first message to the honest end."""
        dishonest = asyncio.create_task(self._dishonest())
        try:
            while not self._is_over():
                await self._until_a_crash()
            await dishonest
        finally:
            dishonest.cancel()
        if not self._has_all():
            self.problems.append(f"stuck: {len(self.stored)} came, and {len(self.wheel.sent)} are in the journal")

    async def _dishonest(self) -> None:
        """What wheel and broker do, until the broker is honest."""
        rng = self._rng
        pause_s = rng.choice((0.5, 5.0, 40.0))
        doings = [self._say] * rng.randint(1, MESSAGES_MAX)
        if rng.random() < 0.1:
            doings[rng.randrange(len(doings))] = self._restore
        doings += [self._nothing] * rng.choice((0, 0, 10))
        if rng.random() < 0.05:
            doings[rng.randrange(len(doings))] = self._flood
        restart_s = rng.expovariate(1 / self._restarts_s)
        for do in doings:
            wait_s = rng.expovariate(1 / pause_s)
            await asyncio.sleep(wait_s)
            await do()
            if rng.random() < self._alone:
                self._by_itself()
            restart_s -= wait_s
            if restart_s < 0:
                restart_s = rng.expovariate(1 / self._restarts_s)
                await self._start_anew()
        self.broker.honest(forgets=rng.random() < 0.5)
        self.world.is_up = True
        self._honest_s = asyncio.get_running_loop().time()
        if rng.random() < 0.5 or not self.wheel.sent:
            await self._say()

    async def _say(self) -> None:
        self.world.say(self._rng.choice(SEQUENCED))

    async def _restore(self) -> None:
        if self.wheel.sent:
            self.wheel.restore(self._rng.randrange(len(self.wheel.sent)))
        await self._say()

    async def _nothing(self) -> None:
        """The table is quiet."""

    async def _flood(self) -> None:
        """The broker sends much."""
        for _ in range(FLOOD):
            self._by_itself()
            await asyncio.sleep(FLOOD_EVERY_S)

    def _by_itself(self) -> None:
        """The broker sends something though nobody sent it anything."""
        if self.broker.rate and self.broker.seen:
            self.world.deliver(self.broker.through([self._rng.choice(self.broker.seen)]))

    async def _start_anew(self) -> None:
        self.world.is_up = False
        self.world.cut()
        if self._rng.random() < 0.5:
            self.broker.held = []
        await asyncio.sleep(self._rng.choice((0.0, 1.0, 60.0)))
        self.world.is_up = True

    def _has_all(self) -> bool:
        return bool(self.stored) and self.stored[-1].payload == self.wheel.sent[-1][1]

    def _is_over(self) -> bool:
        now_s = asyncio.get_running_loop().time()
        return self._honest_s is not None and (self._has_all() or now_s > self._honest_s + STUCK_S)

    async def _until_a_crash(self) -> None:
        """A caller and its feed, until it crashes or the history is over.

        None crashes while the broker is honest: a new feed asks at its start, and would hide that the old one is stuck.
        """
        after_seq, after_hash = (self.stored[-1].seq, self.stored[-1].hash) if self.stored else (0, None)
        manner = Manner(tell=lambda _: None)
        feed = Feed(
            "broker", root=ROOT, after_seq=after_seq, after_hash=after_hash, public_key=PUBLIC_KEY, manner=manner
        )
        clock = asyncio.get_running_loop().time
        began_s, connected, asked, had = clock(), self.world.connected, len(self.world.questions), len(self.stored)
        crash_s = began_s + self._rng.expovariate(1 / self._crashes_s)
        caller = Caller(feed, self.stored, store_s=self._rng.choice((0.0, 0.5, 5.0)))
        async with feed:
            await caller.until(
                lambda: self._is_over() or (self._honest_s is None and clock() > crash_s), within_s=FOREVER_S
            )
        self.refused.update(fault.fault for fault in caller.faults)
        acked, stored = max(self.world.acks, default=0), self.stored[-1].seq if self.stored else 0
        if acked > stored:
            self.problems.append(f"wrong: {acked} is acknowledged, {stored} is stored")
        causes = self.world.connected - connected + len(self.stored) - had + (clock() - began_s) / PATIENCE_S
        questions = len(self.world.questions) - asked
        if questions > causes + QUESTIONS_TO_SPARE:
            self.problems.append(f"questions: {questions}, with {causes:.1f} causes")

    def found(self) -> Iterator[str]:
        """What is wrong with what the caller has stored."""
        seq, digest = 0, GENESIS
        for message in self.stored:
            if message.payload not in self.wheel.ever:
                yield f"wrong: the table never made {message.payload!r}"
            elif message.seq <= seq:
                yield f"doubled: {message.seq} behind {seq}"
            elif message.prev != digest and not (
                message.gap_from <= seq + 1 < message.seq or message.gap_from < seq + 1
            ):
                yield f"wrong: {message.seq} does not follow {seq}"
            seq, digest = message.seq, message.hash
        if not self.problems and {payload for _, payload in self.wheel.sent} - {each.payload for each in self.stored}:
            yield "stuck: the last message came, and some before it did not"
        yield from self.problems

    def digest(self) -> str:
        """Of all that came and was asked for: two plays of one seed have the same."""
        told = [message.hash for message in self.stored]
        return hashlib.sha256(repr((told, self.world.questions, self.world.acks, self.refused)).encode()).hexdigest()


def play(seed: str) -> Ended:
    """The history of `seed`, played."""
    with pytest.MonkeyPatch.context() as monkeypatch, _same_luck(seed, monkeypatch):
        history = History(seed, monkeypatch)
        seconds = [0.0]

        async def whole() -> None:
            await history.play()
            seconds[0] = asyncio.get_running_loop().time()

        try:
            run_virtually(whole())
            problems = tuple(history.found())
        except Exception as wrong:  # noqa: BLE001  whatever it is, the seed must be printed
            problems = (f"crashed: {wrong!r}",)
        return Ended(
            problems,
            history.broker.played,
            history.refused,
            len(history.stored),
            len(history.world.questions),
            seconds[0],
            history.digest(),
        )


@contextmanager
def _same_luck(seed: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The feed draws its waits and the ids of its questions from the seed too."""
    before, ids = random.getstate(), random.Random(f"ids {seed}")
    monkeypatch.setattr(uuid, "uuid4", lambda: uuid.UUID(int=ids.getrandbits(128)))
    random.seed(f"feed {seed}")
    try:
        yield
    finally:
        random.setstate(before)
