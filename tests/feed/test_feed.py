"""The feed in virtual time: gaps, repeats, edits, silence, rollbacks, crashes. All of it at once: test_histories.py."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.feed.wheel import ROOT, Wheel, reply_to
from tests.feed.world import Caller, World, run_virtually
from wheeld.core.messages.chain import close_with_hash
from wheeld.feed import Feed, FeedMessage, Login, Manner
from wheeld.feed.connection import READY_MAX

README = Path(__file__).parents[2] / "README.md"
Reports = list[str]


def in_virtual_time(test: Callable[[World, Reports], Awaitable[None]]) -> Callable[[pytest.MonkeyPatch], None]:
    async def whole(monkeypatch: pytest.MonkeyPatch) -> None:
        await test(World(monkeypatch), [])

    def run(monkeypatch: pytest.MonkeyPatch) -> None:
        run_virtually(whole(monkeypatch))

    run.__doc__ = test.__doc__
    return run


def feed_of(
    reports: Reports, *, after: tuple[int, str | None] | None = (0, None), ask: bool = True, test: bool = False
) -> Feed:
    after_seq, after_hash = after or (None, None)
    manner = Manner(tell=reports.append, ask=ask)
    return Feed("broker", root=ROOT, after_seq=after_seq, after_hash=after_hash, manner=manner, test=test)


def seqs(messages: list[FeedMessage]) -> list[int]:
    return [message.seq for message in messages]


@in_virtual_time
async def test_in_order_once_and_acknowledged(world: World, reports: Reports) -> None:
    async with feed_of(reports) as feed:
        caller = Caller(feed, [])
        await asyncio.sleep(2)
        world.say("table", "result", "table")
        await caller.until(lambda: len(caller.stored) == 3)
    assert [message.payload for message in caller.stored] == [payload for _, payload in world.wheel.sent]
    assert [message.topic for message in caller.stored] == ["table", "result", "table"]
    assert world.acks[-1] == 3
    assert reports == []
    assert [asked["from_seq"] for asked in world.questions] == [1]


@in_virtual_time
async def test_it_asks_under_its_own_name(world: World, reports: Reports) -> None:
    """The access list lets nobody ask under another; without a name it is the role's."""
    for login, name in ((Login(username="pay-2"), "pay-2"), (None, "settlement")):
        feed = Feed("broker", root=ROOT, after_seq=0, login=login, manner=Manner(tell=reports.append))
        async with feed:
            await asyncio.sleep(2)
        assert world.asked_as.pop() == name


@in_virtual_time
async def test_everything_from_the_first_on(world: World, reports: Reports) -> None:
    for _ in range(500):
        world.wheel.say()
    async with feed_of(reports) as feed:
        caller = Caller(feed, [])
        await caller.until(lambda: len(caller.stored) == 500)
    assert seqs(caller.stored) == list(range(1, 501))
    assert len(world.questions) == 1


@in_virtual_time
async def test_from_what_was_stored(world: World, reports: Reports) -> None:
    for _ in range(9):
        world.wheel.say()
    async with feed_of(reports, after=(7, world.wheel.hashes[7])) as feed:
        caller = Caller(feed, [])
        await caller.until(lambda: len(caller.stored) == 2)
    assert seqs(caller.stored) == [8, 9]


@in_virtual_time
async def test_whatever_comes_first_and_then_all(world: World, reports: Reports) -> None:
    for _ in range(9):
        world.wheel.say()
    async with feed_of(reports, after=None) as feed:
        caller = Caller(feed, [])
        await asyncio.sleep(5)
        assert world.questions == []
        world.say("table")
        world.wheel.say()  # lost
        await caller.until(lambda: len(caller.stored) == 2)
    assert seqs(caller.stored) == [10, 11]


@in_virtual_time
async def test_a_gap_is_asked_for(world: World, reports: Reports) -> None:
    async with feed_of(reports) as feed:
        caller = Caller(feed, [])
        world.wheel.say()
        await asyncio.sleep(2)
        world.wheel.say()
        world.wheel.say()
        world.say()
        await caller.until(lambda: len(caller.stored) == 4)
        assert feed.counters["gaps"] == 1
    assert seqs(caller.stored) == [1, 2, 3, 4]
    assert reports == ["seq 2 to 3 did not come and are requested"]
    last = world.questions[-1]
    assert (last["from_seq"], last["by"], last["reason"]) == (2, "wheeld.feed", "seq 2 is missing")
    assert len({asked["id"] for asked in world.questions}) == len(world.questions)


@in_virtual_time
async def test_the_last_one_lost_is_found_at_the_next_connection(world: World, reports: Reports) -> None:
    async with feed_of(reports) as feed:
        caller = Caller(feed, [])
        world.say()
        await caller.until(lambda: len(caller.stored) == 1)
        await asyncio.sleep(60)
        world.wheel.say()
        world.cut()
        await caller.until(lambda: len(caller.stored) == 2)
    assert reports[-1] == "broker:1883: connected"


@in_virtual_time
async def test_a_resend_without_an_answer_is_reported_and_asked_again_more_slowly(
    world: World, reports: Reports
) -> None:
    world.hears = False
    async with feed_of(reports) as feed:
        caller = Caller(feed, [])
        await asyncio.sleep(2)
        world.wheel.say()
        world.say()
        await asyncio.sleep(3600)
        assert 12 <= len(world.questions) <= 25, "ever more slowly, and at last every five minutes"
        assert feed.counters["unanswered"] == len(world.questions) - 1
        reports_of = [line for line in reports if line.startswith("no answer to resend from seq 1 (")]
        assert len(reports_of) == len(world.questions) - 1
        assert "(1 in a row)" in reports_of[0]
        assert "(10 in a row)" in reports_of[9]
        assert "access list" in reports_of[0]
        world.hears = True
        await caller.until(lambda: len(caller.stored) == 2, within_s=376)  # five minutes, and a quarter more


@in_virtual_time
async def test_who_does_not_ask_goes_on_behind_a_gap(world: World, reports: Reports) -> None:
    async with feed_of(reports, after=None, ask=False) as feed:
        caller = Caller(feed, [])
        await asyncio.sleep(1)
        world.say()
        world.wheel.say()
        world.say("result", "table")
        await caller.until(lambda: len(caller.stored) == 3)
    assert seqs(caller.stored) == [1, 3, 4]
    assert world.questions == []
    assert reports == ["seq 2 to 2 did not come and are skipped"]


@in_virtual_time
async def test_an_edited_message_is_refused_and_the_true_one_comes(world: World, reports: Reports) -> None:
    async with feed_of(reports) as feed:
        caller = Caller(feed, [])
        await asyncio.sleep(2)
        leaf, payload = world.wheel.say("result", number=17)
        world.send([(leaf, payload.replace(b'"number":17', b'"number":18'))])
        await caller.until(lambda: len(caller.stored) == 1)
        assert [(fault.fault, fault.seq) for fault in caller.faults] == [("edited", 1)]
        assert caller.stored[0].body["number"] == 17


@in_virtual_time
async def test_a_message_that_does_not_follow_is_refused(world: World, reports: Reports) -> None:
    other = Wheel()
    other.say("result", number=1)
    forged = other.say("result", number=2)
    async with feed_of(reports) as feed:
        caller = Caller(feed, [])
        await asyncio.sleep(2)
        world.say()
        world.send([forged])
        world.wheel.say("result", number=3)
        await caller.until(lambda: len(caller.stored) == 2)
        assert [(fault.fault, fault.seq) for fault in caller.faults] == [("chain", 2)]
    assert caller.stored[1].body["number"] == 3


@in_virtual_time
async def test_another_message_with_a_known_number_is_a_conflict(world: World, reports: Reports) -> None:
    async with feed_of(reports) as feed:
        caller = Caller(feed, [])
        world.say()
        await caller.until(lambda: len(caller.stored) == 1)
        world.send([world.wheel.sent[0], Wheel().say("result", number=5)])
        await caller.until(lambda: bool(caller.faults))
        assert [(fault.fault, fault.seq) for fault in caller.faults] == [("conflict", 1)]
        assert feed.counters["repeats"] >= 2


@in_virtual_time
async def test_a_conflict_with_what_was_stored_before(world: World, reports: Reports) -> None:
    world.wheel.say()
    async with feed_of(reports, after=(1, "f" * 64)) as feed:
        caller = Caller(feed, [])
        await asyncio.sleep(1)
        world.send([world.wheel.sent[0]])
        world.say()
        await caller.until(lambda: len(caller.faults) == 2)
        assert {fault.fault for fault in caller.faults} == {"conflict", "chain"}


@in_virtual_time
async def test_a_wheel_that_lost_its_journal_is_noticed(world: World, reports: Reports) -> None:
    world.wheel.say()
    async with feed_of(reports, after=(5, "f" * 64)) as feed:
        caller = Caller(feed, [])
        await caller.until(lambda: bool(caller.faults))
        running = asyncio.create_task(caller.run())
        await asyncio.sleep(3300)
        running.cancel()
        assert [(fault.fault, fault.seq) for fault in caller.faults] == [("rolled_back", 5)], "raised once"
        assert len(world.questions) == 6, "and asked again every ten minutes: the answer may have been the broker's"


@in_virtual_time
async def test_a_live_feed_takes_nothing_of_a_bench_table(world: World, reports: Reports) -> None:
    """Neither its messages nor its word that the live ones are gone, and it does not flood the bench table."""
    bench = Wheel(test=True)
    async with feed_of(reports) as feed:
        caller = Caller(feed, [])
        world.say("table", "result", "table")
        await caller.until(lambda: len(caller.stored) == 3)
        live, world.wheel = world.wheel, bench
        world.cut()
        running = asyncio.create_task(caller.run())
        for _ in range(3):
            await asyncio.sleep(100)
            world.say()
        running.cancel()
        assert {fault.fault for fault in caller.faults} == {"test"}
        assert None in {fault.seq for fault in caller.faults}, "its answer too"
        assert seqs(caller.stored) == [1, 2, 3]
        assert len(world.questions) < 12
        world.wheel = live
        world.say("result")
        await caller.until(lambda: len(caller.stored) == 4)


@in_virtual_time
async def test_a_feed_of_a_bench_table_takes_nothing_else(world: World, reports: Reports) -> None:
    live, world.wheel = world.wheel, Wheel(test=True)
    async with feed_of(reports, test=True) as feed:
        caller = Caller(feed, [])
        world.say("table", "result")
        await caller.until(lambda: len(caller.stored) == 2)
        world.send([live.say("table")])
        await caller.until(lambda: bool(caller.faults))
        assert [(fault.fault, fault.seq) for fault in caller.faults] == [("test", 1)]
        world.say("table")
        await caller.until(lambda: len(caller.stored) == 3)


@in_virtual_time
async def test_a_forged_number_far_ahead_is_asked_for_and_then_let_go(world: World, reports: Reports) -> None:
    async with feed_of(reports) as feed:
        caller = Caller(feed, [])
        await asyncio.sleep(2)
        body = {"schema": "table/1", "seq": 10**9, "site": "campione", "table": "campione-03", "prev": "0" * 64}
        world.send([("table", close_with_hash(json.dumps(body, separators=(",", ":")).encode())[0])])
        await asyncio.sleep(600)
        asked = len(world.questions)
        assert asked <= 5
        assert "1000000000 came, but the wheel reports that its last message is 0" in reports[-1]
        world.say()
        await caller.until(lambda: len(caller.stored) == 1)
        await asyncio.sleep(590)
        assert len(world.questions) == asked


@in_virtual_time
async def test_the_last_one_kept_back_is_asked_for_after_ten_quiet_minutes(world: World, reports: Reports) -> None:
    async with feed_of(reports) as feed:
        caller = Caller(feed, [])
        world.say()
        await caller.until(lambda: len(caller.stored) == 1)
        world.wheel.say()
        await caller.until(lambda: len(caller.stored) == 2, within_s=601)
    assert [asked["from_seq"] for asked in world.questions] == [1, 2]


@in_virtual_time
async def test_a_false_answer_to_each_question_does_not_make_a_question_each_second(
    world: World, reports: Reports
) -> None:
    world.hears = False
    async with feed_of(reports):
        await asyncio.sleep(2)
        world.wheel.say()
        later = world.wheel.say()
        for _ in range(3000):
            question = json.dumps(world.questions[-1]).encode()
            world.send([reply_to(question, done=False, why="because", last_seq=0), later])
            await asyncio.sleep(0.1)
    assert len(world.questions) <= 300 / 10 + 2


@in_virtual_time
async def test_rubbish_does_not_make_a_question_each(world: World, reports: Reports) -> None:
    async with feed_of(reports) as feed:
        caller = Caller(feed, [])
        rubbish = [("result", b"rubbish"), ("reply", b"rubbish"), ("reply", b"[]"), ("reply", b"{}")]
        looking = asyncio.create_task(caller.run())
        await asyncio.sleep(2)
        for _ in range(1000):
            world.send([*rubbish, ("table", b"")])
            await asyncio.sleep(0.1)
        await asyncio.sleep(1)
        assert len(caller.faults) == 2000
        assert len(world.questions) <= 12
        looking.cancel()
        await asyncio.wait({looking})


@in_virtual_time
async def test_a_refused_resend_is_reported(world: World, reports: Reports) -> None:
    world.hears = False
    async with feed_of(reports):
        await asyncio.sleep(2)
        question = json.dumps(world.questions[0]).encode()
        world.send([reply_to(question, done=False, why="it expired")])
        world.send([reply_to(b'{"id":"another"}', done=True, why="seq 1 to 7 again", last_seq=7)])
        await asyncio.sleep(1)
        assert reports == ["the wheel refused to send again from seq 1: it expired"]
        await asyncio.sleep(60)
        assert len(world.questions) > 1


@in_virtual_time
async def test_only_what_was_handed_out_can_be_acknowledged(world: World, reports: Reports) -> None:
    world.say("result", "result")
    async with feed_of(reports) as feed:
        first = await anext(feed)
        second = FeedMessage(2, "result", b"", {}, "", "")
        with pytest.raises(ValueError, match="seq 2 was not handed out yet: 1 is the last one"):
            await feed.ack(second)
        await feed.ack(first)
        await asyncio.sleep(60)
        assert set(world.acks) == {1}, "and nothing that only came"


@in_virtual_time
async def test_an_older_message_stored_again_takes_no_ack_back(world: World, reports: Reports) -> None:
    """The wheel would owe again what it no longer has to keep."""
    world.say("result", "result")
    async with feed_of(reports) as feed:
        first, second = await anext(feed), await anext(feed)
        await feed.ack(second)
        await feed.ack(first)
        await asyncio.sleep(60)
    assert world.acks[-1] == 2


@in_virtual_time
async def test_an_ack_is_said_again_when_the_wheel_still_owes(world: World, reports: Reports) -> None:
    async with feed_of(reports) as feed:
        caller = Caller(feed, [])
        world.say("result", "result")
        await caller.until(lambda: len(caller.stored) == 2)
        await asyncio.sleep(5)
        world.acks.clear()
        world.send(world.wheel.sent)
        await asyncio.sleep(5)
        assert set(world.acks) == {2}
        world.acks.clear()
        world.cut()
        await asyncio.sleep(60)
        assert set(world.acks) == {2}


@in_virtual_time
async def test_an_ack_that_the_last_run_owes_is_said_at_a_new_start(world: World, reports: Reports) -> None:
    """And never of what is not known to be stored: `after_seq` may be a number that somebody gave."""
    world.wheel.say()
    async with feed_of(reports, after=(1, world.wheel.hashes[1])) as feed:
        await asyncio.sleep(5)
        world.send(world.wheel.sent)
        await asyncio.sleep(5)
        assert world.acks == []
        with pytest.raises(ValueError, match="seq 2 was not handed out yet: 1 is the last one"):
            await feed.ack(2)
        await feed.ack(0)
        await asyncio.sleep(5)
        assert world.acks == []
        await feed.ack(1)
        await asyncio.sleep(5)
        assert world.acks == [1]


@in_virtual_time
async def test_one_ack_speaks_for_a_backlog(world: World, reports: Reports) -> None:
    for _ in range(500):
        world.wheel.say()
    async with feed_of(reports) as feed:
        caller = Caller(feed, [], store_s=0.001)
        await caller.until(lambda: len(caller.stored) == 500)
    assert world.acks[-1] == 500
    assert world.acks == sorted(world.acks)
    assert len(world.acks) <= 8


@in_virtual_time
async def test_the_last_ack_goes_out_before_leaving(world: World, reports: Reports) -> None:
    world.say()
    async with feed_of(reports) as feed:
        await feed.ack(await anext(feed))
    assert world.acks == [1]
    with pytest.raises(StopAsyncIteration):
        await anext(feed)


@in_virtual_time
async def test_a_cancelled_wait_takes_no_message_with_it(world: World, reports: Reports) -> None:
    rng = random.Random(7)
    got: list[int] = []
    async with feed_of(reports) as feed:
        for _ in range(300):
            world.say()
            try:
                async with asyncio.timeout(rng.uniform(0.0, 0.03)):
                    while True:
                        got.append((await anext(feed)).seq)
            except TimeoutError:
                continue
        await asyncio.sleep(60)
        while len(got) < 300:
            got.append((await anext(feed)).seq)
    assert got == list(range(1, 301))


@pytest.mark.parametrize("total", [READY_MAX - 1, READY_MAX, READY_MAX + 1, 1000])
def test_a_slow_caller_is_waited_for_and_nothing_is_asked_in_vain(total: int, monkeypatch: pytest.MonkeyPatch) -> None:
    async def evening() -> None:
        world, ahead = World(monkeypatch), [0]
        reports: Reports = []
        for _ in range(total):
            world.wheel.say()
        async with feed_of(reports) as feed:
            caller = Caller(feed, [], store_s=20.0)

            def is_done() -> bool:
                ahead.append(len(feed._ready))
                return len(caller.stored) == total

            await caller.until(is_done)
            await asyncio.sleep(600)
        assert READY_MAX - 2 <= max(ahead) <= READY_MAX
        assert {asked["from_seq"] for asked in world.questions[1:]} <= {total + 1}, (
            "in quiet minutes, and for nothing else"
        )
        assert reports == []

    run_virtually(evening())


@in_virtual_time
async def test_a_broker_that_is_away_is_reported_once_and_found_again(world: World, reports: Reports) -> None:
    world.is_up = False
    async with feed_of(reports) as feed:
        caller = Caller(feed, [])
        await asyncio.sleep(600)
        assert reports == ["broker:1883: connection refused; trying again"]
        world.is_up = True
        world.wheel.say()
        await caller.until(lambda: len(caller.stored) == 1, within_s=40)


@in_virtual_time
async def test_topics_that_the_broker_refuses_are_reported(world: World, reports: Reports) -> None:
    world.grants = False
    async with feed_of(reports):
        await asyncio.sleep(1)
    assert reports == ["the broker's access list refuses result, void, ruling, table, reply"]


@in_virtual_time
async def test_leaving_ends_even_when_a_cancellation_is_lost(world: World, reports: Reports) -> None:
    world.loses_cancellation = True
    async with asyncio.timeout(60):
        async with feed_of(reports):
            await asyncio.sleep(0.515)  # the first question is on its way
    assert not world.loses_cancellation


@in_virtual_time
async def test_a_defect_ends_the_iteration_loudly(world: World, reports: Reports) -> None:
    feed = feed_of(reports)
    feed._login = Login(password_file="no path")  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        async with feed:
            await anext(feed)


@in_virtual_time
async def test_the_example_of_the_readme(world: World, reports: Reports) -> None:
    (example,) = re.findall(r"```python\n(.+?)```", README.read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(example, README, "exec"), names)
    stored: list[FeedMessage] = []

    class Ledger:
        def last(self) -> tuple[int, str | None]:
            return (0, None)

        def store(self, message: FeedMessage) -> None:
            stored.append(message)

    settling = asyncio.create_task(names["settle"](Ledger()))
    world.say("table", "result")
    await asyncio.sleep(5)
    settling.cancel()
    await asyncio.wait({settling})
    assert seqs(stored) == [1, 2]
    assert world.acks[-1] == 2


async def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="after_seq is -1"):
        feed_of([], after=(-1, None))
