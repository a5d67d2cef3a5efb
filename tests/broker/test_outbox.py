"""The outbox against a broker in memory: order, debts, acks, reconnections; then swarms of faults by seed."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import msgspec
import pytest
from structlog.testing import capture_logs

from tests.broker.feed import Feed
from tests.broker.world import DirectStore, FakeBroker, VirtualClock, settle, working
from tests.journal.journals import open_writer
from wheeld.broker.outbox import (
    BATCH_MAX,
    QUESTIONS_MAX,
    REFUSED_RETRY_S,
    RESEND_BATCH,
    RESEND_PAUSE_S,
    Outbox,
    ResendError,
    ResendRequest,
    Resends,
)
from wheeld.core.step import Topic
from wheeld.ports import CommandRecord, Publication

ROOT = "wheel/v1/campione/3/"


class Bench:
    """A journal, a broker in memory, and an outbox between them."""

    def __init__(self, path: Path, broker: FakeBroker, *, settlement_ack: bool = False) -> None:
        self.clock = VirtualClock()
        self.broker = broker
        self.store = DirectStore(open_writer(path))
        self.store.file.database._db.execute("PRAGMA synchronous = OFF")  # nobody cuts the power here, and it is faster
        self.outbox = Outbox(
            store=self.store, publisher=broker, clock=self.clock, root=ROOT, settlement_ack=settlement_ack
        )
        self.feed = Feed()
        self.answered: list[tuple[int, int]] = []

    def append(self, *topics: Topic) -> None:
        self.store.file.append(self.feed.step(*topics), 1)
        self.store.news.set()

    async def resend(self, from_seq: int) -> None:
        """Ask for it; `answered` gets (from_seq, last_seq) in the end."""

        async def note(last_seq: int) -> None:
            self.answered.append((from_seq, last_seq))

        await self.outbox.resend(from_seq, note)

    async def pass_over(self) -> None:
        """Let a pass of one batch come to its end."""
        await settle(600)
        await self.clock.advance(RESEND_PAUSE_S)
        await settle(600)

    def seqs(self) -> list[int | None]:
        """The sequence numbers that the broker received, in order."""
        return [msgspec.json.decode(payload).get("seq") for payload in self.broker.payloads]


@pytest.fixture
def broker() -> FakeBroker:
    """A broker that is up."""
    up = FakeBroker()
    up.up()
    return up


@asynccontextmanager
async def running(path: Path, broker: FakeBroker, *, settlement_ack: bool = False) -> AsyncIterator[Bench]:
    bench = Bench(path, broker, settlement_ack=settlement_ack)
    try:
        async with working(bench.outbox.run()):
            yield bench
    finally:
        bench.store.file.close()


async def test_publishes_in_order_and_settles(tmp_path: Path) -> None:
    broker = FakeBroker()
    async with running(tmp_path / "j", broker) as bench:
        bench.append("result", "notice", "table")
        await settle()
        assert broker.received == []
        broker.up()
        await settle()
        bench.append("void", "board")
        await settle()
        assert [(p.topic.removeprefix(ROOT), p.qos, p.retain) for _, p in broker.received] == [
            ("result", 1, False),
            ("notice", 1, False),
            ("table", 1, True),
            ("void", 1, False),
            ("board", 1, True),
        ]
        assert await bench.outbox.depth() == 0
        assert bench.outbox.counters["published"] == 5


async def test_more_than_a_batch(tmp_path: Path, broker: FakeBroker) -> None:
    async with running(tmp_path / "j", broker) as bench:
        for _ in range(2 * BATCH_MAX + 1):
            bench.append("result")
        await settle(2000)
        assert bench.seqs() == list(range(1, 2 * BATCH_MAX + 2))


async def test_what_was_not_confirmed_goes_out_again(tmp_path: Path) -> None:
    broker = FakeBroker(drop_after=1.0)
    broker.up()
    async with running(tmp_path / "j", broker) as bench:
        bench.append("result", "result")
        await settle()
        assert bench.seqs() == [1]
        assert await bench.outbox.depth() == 2
        broker.drop_after = 0.0
        broker.up()
        await settle()
        assert bench.seqs() == [1, 1, 2]


async def test_settlement_holds_the_debt_until_its_ack(tmp_path: Path, broker: FakeBroker) -> None:
    async with running(tmp_path / "j", broker, settlement_ack=True) as bench:
        bench.append("result", "notice", "void", "result")
        await settle()
        assert await bench.outbox.depth() == 3
        await bench.outbox.acknowledge(2)
        await bench.outbox.acknowledge(2)
        await bench.outbox.acknowledge(1)
        assert await bench.outbox.depth() == 1
        broker.down()
        broker.up()
        await settle()
        assert bench.seqs() == [1, None, 2, 3, 3]
        await bench.outbox.acknowledge(3)
        assert await bench.outbox.depth() == 0
        assert bench.outbox.counters["acks"] == 4


async def test_an_ack_beyond_what_exists_is_refused_and_logged(tmp_path: Path, broker: FakeBroker) -> None:
    async with running(tmp_path / "j", broker, settlement_ack=True) as bench:
        bench.append("result")
        await settle()
        with capture_logs() as logs:
            await bench.outbox.acknowledge(2)
        assert await bench.outbox.depth() == 1
        assert bench.outbox.counters["acks_refused"] == 1
        assert [(log["event"], log["seq"], log["last_seq"]) for log in logs] == [("ack.refused", 2, 1)]


async def test_a_new_connection_repairs_what_the_broker_retained(tmp_path: Path, broker: FakeBroker) -> None:
    async with running(tmp_path / "j", broker) as bench:
        bench.append("table", "board", "table", "result")
        await settle()
        before = dict(broker.retained)
        assert len(before) == 2
        broker.forget()
        await settle()
        broker.up()
        await settle()
        assert broker.retained == before
        assert bench.seqs() == [1, None, 2, 3, None, 2]


async def test_resend_repeats_the_same_bytes(tmp_path: Path, broker: FakeBroker) -> None:
    async with running(tmp_path / "j", broker) as bench:
        bench.append("result", "table", "notice", "table")
        await settle()
        first = [p.payload for _, p in broker.received]
        await bench.resend(2)
        await bench.pass_over()
        again = broker.received[4:]
        assert [p.payload for _, p in again] == [first[1], first[3]]
        assert [p.retain for _, p in again] == [False, True]
        assert bench.answered == [(2, 3)]
        with pytest.raises(ResendError, match="no message 4: the last one is 3"):
            await bench.resend(4)


async def test_what_is_live_goes_before_what_is_sent_again(tmp_path: Path) -> None:
    broker = FakeBroker(seed=5)
    broker.up()
    async with running(tmp_path / "j", broker) as bench:
        bench.append(*("result",) * 20)
        await settle(400)
        await bench.resend(1)
        while len(broker.received) < 25:
            await settle(1)
        bench.append("void", "table")
        while bench.feed.seq not in bench.seqs():
            await settle(1)
        assert len(broker.received) <= 25 + 1 + 2  # the one that was under way, and these
        await bench.pass_over()
        assert Counter(bench.seqs()) == Counter([*range(1, 23), *range(1, 23)])
        assert bench.answered == [(1, 22)]


async def test_questions_are_merged(tmp_path: Path) -> None:
    """Who asks for what is still to come joins the pass; who asks for more gets the next one, all of them together."""
    broker = FakeBroker(seed=5)
    broker.up()
    async with running(tmp_path / "j", broker) as bench:
        bench.append(*("result",) * 20)
        await settle(400)
        await bench.resend(10)
        while len(broker.received) < 20 + 5:
            await settle(1)
        for from_seq in (18, 7, 3, 9):
            await bench.resend(from_seq)
        await bench.pass_over()
        await bench.pass_over()
        assert bench.seqs() == [*range(1, 21), *range(10, 21), *range(3, 21)]
        assert bench.answered == [(10, 20), (18, 20), (7, 20), (3, 20), (9, 20)]


def test_the_most_requests_are_those_of_both_rounds_together() -> None:
    async def answered(_: int) -> None: ...

    resends = Resends()
    for from_seq in (9, *(1,) * (QUESTIONS_MAX - 1)):  # the first is served; the others come too late for its round
        resends.ask(ResendRequest(from_seq, answered), 9)
    with pytest.raises(ResendError):
        resends.ask(ResendRequest(1, answered), 9)


async def test_a_resend_goes_on_over_the_next_connection(tmp_path: Path) -> None:
    broker = FakeBroker(seed=5)
    broker.up()
    async with running(tmp_path / "j", broker) as bench:
        bench.append(*("result",) * 20)
        await settle(400)
        await bench.resend(1)
        while len(broker.received) < 30:
            await settle(1)
        broker.down()
        await settle(100)
        broker.up()
        await bench.pass_over()
        assert set(bench.seqs()[20:]) == set(range(1, 21))
        assert bench.answered == [(1, 20)]


async def test_a_resend_that_the_broker_refuses_holds_up_nothing_else(tmp_path: Path, broker: FakeBroker) -> None:
    async with running(tmp_path / "j", broker) as bench:
        bench.append("result", "void")
        await settle()
        broker.refuse.add(ROOT + "result")
        with capture_logs() as logs:
            await bench.resend(1)
            await settle()
            bench.append("table")
            await settle()
        assert bench.seqs() == [1, 2, 3]
        assert [log["event"] for log in logs] == ["publication.refused"]
        broker.refuse.clear()
        await bench.clock.advance(REFUSED_RETRY_S)
        await bench.pass_over()
        assert bench.seqs() == [1, 2, 3, 1, 2, 3]


async def test_a_refused_publication_is_tried_again_and_logged(tmp_path: Path) -> None:
    broker = FakeBroker()
    broker.refuse.add(ROOT + "void")
    broker.up()
    async with running(tmp_path / "j", broker) as bench:
        bench.append("table", "result", "void", "result")
        with capture_logs() as logs:
            await settle()
        assert bench.seqs() == [1, 2]
        assert [log["event"] for log in logs if log["log_level"] == "error"] == ["publication.refused"]
        await bench.clock.advance(REFUSED_RETRY_S * 0.9)
        broker.refuse.clear()
        assert bench.seqs() == [1, 2]
        await bench.clock.advance(REFUSED_RETRY_S * 0.2)
        assert bench.seqs() == [1, 2, 3, 4]


async def test_a_reply_goes_to_the_topic_that_was_asked_for_too(tmp_path: Path) -> None:
    broker = FakeBroker()
    broker.refuse.add("reply/campione/3/closed")
    broker.up()
    async with running(tmp_path / "j", broker) as bench:
        for command_id, topic in (
            ("a", "reply/campione/3/desk-7"),
            ("b", None),
            ("c", "reply/campione/3/closed"),
            ("d", ROOT + "reply"),
            ("e", "reply/campione/3" + 220 * "/x"),  # for which mosquitto throws the sender out
        ):
            command = CommandRecord(id=command_id, name="open", response_topic=topic, correlation=b"\x01")
            bench.store.file.refuse(command, "no", 1)
        bench.store.news.set()
        with capture_logs() as logs:
            await settle()
        answers = [(p.topic, msgspec.json.decode(p.payload)["id"], p.correlation) for _, p in broker.received]
        assert answers == [
            (ROOT + "reply", "a", b"\x01"),
            ("reply/campione/3/desk-7", "a", b"\x01"),
            (ROOT + "reply", "b", b"\x01"),
            (ROOT + "reply", "c", b"\x01"),
            (ROOT + "reply", "d", b"\x01"),
            (ROOT + "reply", "e", b"\x01"),
        ]
        assert [log["topic"] for log in logs if log["event"] == "response.refused"] == ["reply/campione/3/closed"]
        assert await bench.outbox.depth() == 0


async def test_an_answer_does_not_wait_behind_a_backlog_unless_it_closes_a_resend(tmp_path: Path) -> None:
    broker = FakeBroker()
    async with running(tmp_path / "j", broker) as bench:
        for _ in range(2 * BATCH_MAX):
            bench.append("result")
        for command_id, name in (("a", "open"), ("b", "resend")):
            bench.store.file.refuse(CommandRecord(id=command_id, name=name, by="chef"), "no", 1)
        broker.refuse.add(ROOT + "reply")
        broker.up()
        await settle()
        assert broker.received == []  # it is refused, and nothing lost its place by it
        broker.refuse.clear()
        await bench.clock.advance(REFUSED_RETRY_S)
        await settle(2000)
        said = [msgspec.json.decode(payload) for payload in broker.payloads]
        assert [each.get("id") or each["seq"] for each in said] == ["a", *range(1, 2 * BATCH_MAX + 1), "b"]
        assert await bench.outbox.depth() == 0


async def test_an_answer_sent_ahead_leaves_the_backlog_in_its_place(tmp_path: Path) -> None:
    """The first of the backlog is refused just behind it: what comes next is read from where the backlog stands."""
    broker = FakeBroker()
    async with running(tmp_path / "j", broker) as bench:
        for _ in range(2 * BATCH_MAX):
            bench.append("result")
        bench.store.file.refuse(CommandRecord(id="a", name="open", by="chef"), "no", 1)
        broker.refuse.add(ROOT + "result")
        broker.up()
        await settle(600)
        assert bench.seqs() == [None]
        broker.refuse.clear()
        await bench.clock.advance(REFUSED_RETRY_S)
        await settle(2000)
        assert bench.seqs() == [None, *range(1, 2 * BATCH_MAX + 1)]
        assert await bench.outbox.depth() == 0


@pytest.mark.parametrize("count", [1, 2, RESEND_BATCH - 1, RESEND_BATCH, RESEND_BATCH + 1, 2 * RESEND_BATCH])
async def test_a_resend_brings_all_from_the_first_to_the_last(tmp_path: Path, count: int) -> None:
    broker = FakeBroker()
    broker.up()
    async with running(tmp_path / "j", broker) as bench:
        for _ in range(count):
            bench.append("result")
        await settle(3000)
        for from_seq in {1, count}:
            broker.received.clear()
            await bench.resend(from_seq)
            for _ in range(3):
                await bench.pass_over()
            assert bench.seqs() == list(range(from_seq, count + 1))
        assert {last for _, last in bench.answered} == {count}


async def test_no_message_leaves_a_task_behind(tmp_path: Path, broker: FakeBroker) -> None:
    async with running(tmp_path / "j", broker) as bench:
        bench.append("result")
        await settle(100)
        before = len(asyncio.all_tasks())
        for _ in range(50):
            bench.append("result", "table")
            await settle(60)
        assert len(bench.broker.received) == 101
        assert len(asyncio.all_tasks()) == before


# --- swarms ------------------------------------------------------------------------------------------------------

SEEDS = range(60)
TOPICS: tuple[Topic, ...] = ("result", "void", "table", "notice", "board")


class Settlement:
    """A consumer that stores the feed and acknowledges what it has without a gap; it may be asked at any time."""

    def __init__(self) -> None:
        self.seen: set[int] = set()

    def take(self, publications: list[tuple[int, Publication]]) -> int:
        """The highest seq up to which nothing is missing."""
        payloads = (msgspec.json.decode(publication.payload) for _, publication in publications)
        self.seen |= {cast("int", payload["seq"]) for payload in payloads if "seq" in payload}
        whole = 0
        while whole + 1 in self.seen:
            whole += 1
        return whole


async def disturb(bench: Bench, rng: random.Random, consumer: Settlement) -> None:
    """One thing that happens, drawn from the seed."""
    what = rng.choice(["append"] * 6 + ["up"] * 3 + ["down", "forget", "ack", "ack", "late ack", "resend", "time"])
    if what == "append":
        bench.append(*rng.choices(TOPICS, k=rng.randrange(1, 5)))
    elif what == "up":
        bench.broker.up()
    elif what == "down":
        bench.broker.down()
    elif what == "forget":
        bench.broker.forget()
    elif what == "ack":
        await bench.outbox.acknowledge(consumer.take(bench.broker.received))
    elif what == "late ack":
        await bench.outbox.acknowledge(rng.randrange(consumer.take(bench.broker.received) + 1))
    elif what == "resend" and bench.feed.seq:
        await bench.resend(rng.randrange(1, bench.feed.seq + 1))
    elif what == "time":
        await bench.clock.advance(1.0)
    await settle(rng.randrange(30))


async def calm_down(bench: Bench, consumer: Settlement) -> None:
    """No more faults: whatever is owed has to reach the other side."""
    bench.broker.drop_before = bench.broker.drop_after = 0.0
    bench.broker.up()
    await bench.clock.advance(2 * REFUSED_RETRY_S)
    await settle(3000)
    await bench.clock.advance(2 * REFUSED_RETRY_S)
    await bench.outbox.acknowledge(consumer.take(bench.broker.received))


def check(bench: Bench, consumer: Settlement, seed: int) -> None:
    """Nothing lost, nothing invented, first deliveries in order, the newest state retained."""
    where = f"seed {seed}"
    stored = bench.store.file.reader.records(0, 100_000)
    ids = {record.payload: record.id for record in stored}
    first_deliveries = list(dict.fromkeys(ids[payload] for payload in bench.broker.payloads))
    assert first_deliveries == [record.id for record in stored], where
    assert consumer.take(bench.broker.received) == bench.feed.seq, where
    newest = {ROOT + record.topic: record.payload for record in stored if record.retained}
    assert bench.broker.retained == newest, where
    assert bench.store.file.reader.depth() == 0, where


@pytest.mark.parametrize("seed", SEEDS)
async def test_swarm(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    faults = {"drop_before": rng.choice([0.0, 0.05, 0.3]), "drop_after": rng.choice([0.0, 0.05, 0.3])}
    broker, consumer, path, feed = FakeBroker(seed, **faults), Settlement(), tmp_path / "j", Feed()
    for _run in range(rng.randrange(1, 4)):
        async with running(path, broker, settlement_ack=seed % 2 == 0) as bench:
            bench.feed = feed
            for _ in range(rng.randrange(10, 40)):
                await disturb(bench, rng, consumer)
    async with running(path, broker, settlement_ack=seed % 2 == 0) as bench:
        bench.feed = feed
        await calm_down(bench, consumer)
        check(bench, consumer, seed)
