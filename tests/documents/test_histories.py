"""The lists `stakes`, `late`, `settles`, `acks` and `order` of docs/feed-vectors.json: wheeld.feed does what they say
where it decides, and else a judge that is written from docs/feed.md. Both examples take no stakes and are no part of
this."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from contextlib import suppress
from datetime import datetime
from typing import Any

import pytest

from tests.documents.test_vectors import MESSAGES, VECTORS, asked_s
from tests.feed.wheel import ROOT, Sent, Wheel, reply_to
from tests.feed.world import World, run_virtually
from wheeld.feed import GENESIS, Feed, FeedError, FeedMessage, Manner

KEY = base64.b64decode(VECTORS["public_key"])
SOON = Manner(tell=lambda _: None, retry_s=0.01, retry_s_max=0.01)
"""A feed that is connected as soon as there is a broker."""


class Stakes:
    """The part "Stakes" of the page."""

    def __init__(self) -> None:
        self.last, self.table, self.verdicts, self.is_gap_since = 0, dict[str, Any](), set[object](), False
        self.ended()

    def ended(self, *, is_connected: bool = False) -> None:
        """The connection has ended. What is stored stays."""
        self.is_connected, self.is_asked, self.is_missing, self.is_faulty = is_connected, False, False, False
        self.up_to: int | None = None  # the last seq of a reply that said all or more
        self.gaps = dict[int, bool]()  # whether a question was sent since

    def happens(self, what: str, seq: int = 0, message: dict[str, Any] | None = None) -> None:
        if what in ("started", "disconnected", "subscribed"):
            self.ended(is_connected=what == "subscribed")
        elif what == "asked":
            self.is_missing = self.is_missing or self.is_asked
            self.is_asked, self.asked_from, self.gaps = True, self.last + 1, dict.fromkeys(self.gaps, True)
        elif what in ("reply", "refused", "test") and self.is_asked:
            self.up_to = seq if what == "reply" and seq >= self.asked_from - 1 else None
            self.gaps = {gap: is_asked for gap, is_asked in self.gaps.items() if not is_asked}
            self.is_asked = self.is_missing = self.is_faulty = False
        elif what == "fault":
            self.is_faulty = True
        elif what == "gap":
            self.gaps[seq] = False
        elif what == "stored" and message is not None:
            self.last = seq
            if message["topic"] == "table":
                self.table, self.is_gap_since = message, False
            elif "gap" in message:
                self.is_gap_since = True
            if message["topic"] in ("result", "void"):
                self.verdicts.add(message["coup_id"])

    def finds(self, coup_id: str) -> str:
        is_open = self.table.get("bets") == "open" and self.table.get("coup_id") == coup_id
        if not is_open or coup_id in self.verdicts or self.is_gap_since:
            return "rule 1"
        if not self.is_connected or self.up_to is None or self.up_to > self.last or self.is_missing:
            return "rule 2"
        return "rule 3" if self.is_faulty or any(gap > self.last for gap in self.gaps) else "take"


@pytest.mark.parametrize("row", VECTORS["stakes"], ids=lambda row: row["what"])
def test_stakes_are_taken_as_the_page_says(row: dict[str, Any]) -> None:
    stakes, events, found = Stakes(), row["events"][:], []
    for second, coup_id, _ in row["stakes"]:
        while events and events[0][0] <= second:
            stakes.happens(*events.pop(0)[1:])
        found.append([second, coup_id, stakes.finds(coup_id)])
    assert found == row["stakes"]
    assert events == [], "it decides nothing"


@pytest.mark.parametrize("row", VECTORS["stakes"], ids=lambda row: row["what"])
def test_its_questions_are_those_of_the_feed(row: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random.uniform", lambda least, _: least)
    asks_s = [event[0] for event in row["events"] if event[1] == "asked"]
    assert asked_s(row["events"], row["stakes"][-1][0]) == asks_s


@pytest.mark.parametrize("row", VECTORS["late"], ids=lambda row: str(row.get("bets_closed_at", "missing")))
def test_a_late_stake(row: dict[str, Any]) -> None:
    assert compared(row["stake_at"], row.get("bets_closed_at")) == row["finds"]


def compared(stake_at: str, closed_at: Any) -> str:
    with suppress(TypeError, ValueError):
        if re.fullmatch(r"\d{4}-\d\d-\d\dT([01]\d|2[0-3]):\d\d:\d\d\.\d{6}Z", closed_at):
            return "pay" if datetime.fromisoformat(stake_at) < datetime.fromisoformat(closed_at) else "late"
    return "person"


class Money(Stakes):
    """What the page says of the money of a stake."""

    def __init__(self) -> None:
        super().__init__()
        self.checked = dict[str, str | None]()  # the coup for which the three rules held
        # What was written of each stake: on which coup (none: it is in prison), when, and the number (none: taken
        # back).
        self.written = dict[str, list[tuple[str | None, str, int | None]]]()
        self.settled_names = set[str]()

    def finds_of(self, what: str, *more: Any) -> dict[str, str]:
        """What becomes of stakes by this event."""
        if what == "prison":
            name, number, at = more
            self.written[name] = [(None, at, number)]
        elif what == "checks":
            name, coup_id = more
            self.checked[name] = coup_id if self.finds(coup_id) == "take" else None
        elif what == "writes":
            name, number, at = more
            on, written = self.checked.pop(name), self.written.setdefault(name, [])
            if on is None or name in self.settled_names or (written and written[0][0] is None):
                return {name: "refused"}
            written.append((on, at, number))
        else:
            self.happens(what, *more)
            if what == "stored":
                return self.settled(more[1])
        return {}

    def settled(self, message: dict[str, Any]) -> dict[str, str]:
        is_verdict = message["topic"] in ("result", "void")
        self.checked = {
            name: None if "gap" in message or (is_verdict and on == message["coup_id"]) else on
            for name, on in self.checked.items()
        }
        open_now = {name: written for name, written in self.written.items() if written}
        found = {name: what for name, written in open_now.items() if (what := self.becomes(message, written))}
        self.written |= {name: [] for name in found}
        self.settled_names |= found.keys()
        return found

    def becomes(self, message: dict[str, Any], written: list[tuple[str | None, str, int | None]]) -> str:
        """What a message does to a stake; nothing if it leaves it as it is."""
        first_on, coup_id = written[0][0], message["coup_id"]
        if "gap" in message:
            return "person"
        if message["topic"] == "void" and first_on == coup_id:
            return "give back"
        if message["topic"] != "result" or first_on not in (None, coup_id):
            return ""
        times = [compared(at, message.get("bets_closed_at")) if on == coup_id else "pay" for on, at, _ in written]
        if "person" in times:
            return "person"
        numbers = [number for (_, _, number), what in zip(written, times, strict=True) if what == "pay"]
        if not numbers:
            return "late"
        return "give back" if numbers[-1] is None else "pay" if numbers[-1] == message["number"] else "pay nothing"


@pytest.mark.parametrize("row", VECTORS["settles"], ids=lambda row: row["what"])
def test_stakes_are_settled_as_the_page_says(row: dict[str, Any]) -> None:
    money = Money()
    found = [[now_s, *one] for now_s, *event in row["events"] for one in sorted(money.finds_of(*event).items())]
    assert found == row["settles"]


class Listener(World):
    """The wheel is silent. What the consumer does is written down, with its second."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(monkeypatch)
        self.hears = self.is_up = False
        self.acked = dict[int, int]()
        self.steps = list[str]()

    def published(self, topic: str, payload: bytes) -> None:
        super().published(topic, payload)
        if topic == f"{ROOT}/ack":
            self.acked[int(asyncio.get_running_loop().time())] = self.acks[-1]
            self.steps.append(f"ack {self.acks[-1]}")


class Acking:
    """A row of `acks`, played to wheeld.feed."""

    def __init__(self, world: Listener) -> None:
        self.world, self.came = world, dict[int, FeedMessage]()
        self.feed: Feed | None = None
        self.last = 0

    async def happens(self, what: str, seq: int = 0) -> None:
        world = self.world
        if what in ("started", "begins"):
            await self.leave()
            world.is_up = False
            digest = said(seq)[1] if seq else GENESIS
            self.feed = Feed("broker", root=ROOT, after_seq=seq, after_hash=digest, manner=SOON)
            await self.feed.__aenter__()
            if what == "started":
                await self.feed.ack(seq)
            self.came, self.last = {}, seq
        elif what in ("subscribed", "disconnected"):
            world.is_up = what == "subscribed"
            world.cut()
        elif what in ("came", "stored"):
            if seq not in self.came:
                world.deliver([said(seq, self.last)[0]])
                self.came[seq], self.last = await self.next(), seq
            if what == "stored":
                assert self.feed is not None
                await self.feed.ack(self.came[seq])
        elif what == "reply":
            world.deliver([reply_to(json.dumps(world.questions[-1]).encode(), done=True, why="", last_seq=seq)])
        elif what == "fault":
            world.deliver([("table", b"{}")])
        else:
            world.deliver([said(seq, leaf="void" if what == "conflict" else "result")[0]])

    async def next(self) -> FeedMessage:
        assert self.feed is not None
        while True:
            with suppress(FeedError):
                return await anext(self.feed)

    async def leave(self) -> None:
        if self.feed is not None:
            await self.feed.__aexit__()


def said(seq: int, last: int | None = None, leaf: str = "result") -> tuple[Sent, str]:
    """A message and its hash: where it does not follow `last`, it says that those between are lost."""
    wheel = Wheel()
    for _ in range(seq - 1):
        wheel.say()
    if last is not None and last < seq - 1:
        wheel.restore(last)
    return wheel.say(leaf), wheel.hashes[-1]


@pytest.mark.parametrize("row", VECTORS["acks"], ids=lambda row: row["what"])
def test_the_feed_acknowledges_as_the_file_says(row: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    async def whole() -> None:
        world = Listener(monkeypatch)
        acking = Acking(world)
        for second, *event in row["events"]:
            await asyncio.sleep(max(0.0, second - asyncio.get_running_loop().time()))
            await acking.happens(*event)
        await asyncio.sleep(1)
        await acking.leave()
        assert [[second, seq] for second, seq in world.acked.items()] == row["acks"]
        assert world.acks == sorted(world.acks)

    run_virtually(whole())


class EndedError(Exception):
    """The program ends here."""


async def store_and_pay(world: Listener, feed: Feed, ends_after: int | None) -> None:
    """A caller of the feed. Beyond what the feed does it shows rulings, pays and gives back."""

    def step(text: str) -> None:
        if len(world.steps) == ends_after:
            raise EndedError
        world.steps.append(text)

    is_gap_since = False
    while True:
        try:
            message = await anext(feed)
        except FeedError as error:
            lost = re.search(r"no messages (\d+) to (\d+)", str(error))
            step(f"report {error.fault}" + (f" {lost[1]} {lost[2]}" if lost else ""))
            continue
        if message.topic == "ruling":
            step("report ruling")
        doing = {"result": f" and pay {message.body.get('number')}", "void": " and give back"}
        is_gap_since = is_gap_since or "gap" in message.body
        step(f"store {message.seq}{'' if is_gap_since else doing.get(message.topic, '')}")
        if len(world.steps) == ends_after:
            raise EndedError
        await feed.ack(message)


@pytest.mark.parametrize("row", VECTORS["order"], ids=lambda row: row["what"])
def test_the_steps_of_the_feed_are_in_the_order_of_the_file(
    row: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies = [json.loads(one["payload"]) for one in row["comes"] if "payload" in one]
    hashes = {0: GENESIS, **{message["seq"]: message["hash"] for message in (*bodies, *MESSAGES)}}

    async def life(last: int, ends_after: int | None, *, is_first: bool) -> list[str]:
        world = Listener(monkeypatch)
        feed = Feed("broker", root=ROOT, after_seq=last, after_hash=hashes[last], public_key=KEY, manner=SOON)
        async with feed:
            world.is_up = True
            if "begins" not in row:
                await feed.ack(last)
            await asyncio.sleep(1)
            if is_first:
                world.steps.clear()
            caller = asyncio.create_task(store_and_pay(world, feed, ends_after))
            for one in row["comes"]:
                if "connects" in one:
                    world.cut()
                else:
                    world.deliver([(one["topic"], one["payload"].encode())])
                await asyncio.sleep(1)
            caller.cancel()
            with suppress(EndedError, asyncio.CancelledError):
                await caller
        return world.steps

    async def whole() -> None:
        steps = await life(row["stored"], row.get("ends_after"), is_first=True)
        assert steps == row["steps"]
        if "again" in row:
            last = max([row["stored"], *(int(step.split()[1]) for step in steps if step.startswith("store"))])
            assert await life(last, None, is_first=False) == row["again"]

    run_virtually(whole())
