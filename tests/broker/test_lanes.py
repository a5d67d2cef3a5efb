"""The lanes: what comes first, what is refused or dropped, and that nothing grows without end."""

from __future__ import annotations

import asyncio

import pytest
from structlog.testing import capture_logs

from tests.broker.world import VirtualClock, settle
from wheeld.broker.budget import Allowance, Budget, SparingLog
from wheeld.broker.lanes import BUDGETS, LANE_MAX, REFUSED_PER_NAME, Inbox, Incoming, Lane, place_of
from wheeld.broker.payloads import COMMANDS

WORDS = BUDGETS[Lane.WORDS]
USERS = ("chef-3", "bouler-3", "settlement")


class Bench:
    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.inbox = Inbox(self.clock, SparingLog(self.clock), USERS)

    def send(self, leaf: str, number: int = 0) -> bool:
        """As the connection does; returns whether it is to be decoded."""
        if not self.inbox.has_room(leaf):
            return False
        self.inbox.put(Incoming(leaf=leaf, payload=b"%d" % number))
        return True

    async def taken(self) -> list[tuple[str, bytes, bool]]:
        """What waits, in the order in which it is handled."""
        found = []
        while any(self.inbox._lanes.values()):
            incoming = await self.inbox.get()
            found.append((incoming.leaf, incoming.payload, incoming.is_over_budget))
            self.inbox.task_done()
        return found


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_every_word_of_a_person_is_in_one_lane() -> None:
    """Two lanes could turn round what one of them said."""
    lanes = {name: place_of(f"cmd/chef-3/{name}", USERS).lane for name in COMMANDS}
    assert [name for name, lane in lanes.items() if lane is not Lane.WORDS] == ["resend"]
    assert lanes["resend"] is Lane.REQUESTS


def test_invented_names_share_one_budget() -> None:
    leaves = ("cmd/chef-3/dance", "cmd/chef-4/open", "cmd/open", "cmd/chef-3/open/now", "x", "")
    assert len({place_of(leaf, USERS) for leaf in leaves}) == 1


async def test_words_come_first_and_keep_their_order(bench: Bench) -> None:
    for number, leaf in enumerate(
        (
            "cmd/chef-3/dance",
            "cmd/settlement/resend",
            "cmd/chef-3/open",
            "cmd/chef-3/seal",
            "cmd/chef-3/close",
            "cmd/chef-3/open",
        )
    ):
        bench.send(leaf, number)
    assert [payload for _, payload, _ in await bench.taken()] == [b"2", b"3", b"4", b"5", b"1", b"0"]


async def test_one_name_over_its_budget_takes_nothing_from_another(bench: Bench) -> None:
    with capture_logs() as logs:
        admitted = [bench.send("cmd/chef-3/last_coup") for _ in range(10_000)]
        assert bench.send("cmd/chef-3/rien_va")
    assert sum(admitted) == WORDS.at_once + REFUSED_PER_NAME.at_once
    assert bench.inbox.counters["words_taken"] == WORDS.at_once + 1
    assert bench.inbox.counters["words_refused"] == REFUSED_PER_NAME.at_once
    assert bench.inbox.counters["words_dropped"] == 10_000 - sum(admitted)
    assert [log["event"] for log in logs] == ["command.over_budget"]
    taken = await bench.taken()
    assert taken[WORDS.at_once] == ("cmd/chef-3/rien_va", b"0", False)
    assert [is_over for _, _, is_over in taken[WORDS.at_once + 1 :]] == [True] * REFUSED_PER_NAME.at_once


async def test_a_budget_grows_back(bench: Bench) -> None:
    while bench.send("cmd/chef-3/open"):
        pass
    await bench.taken()
    await bench.clock.advance(1.0)
    assert sum(bench.send("cmd/chef-3/open") for _ in range(100)) == WORDS.per_s + REFUSED_PER_NAME.per_s


async def test_while_the_intake_waits_for_the_disk_nothing_grows(bench: Bench) -> None:
    names = [f"cmd/chef-3/{name}" for name in COMMANDS if name != "resend"]
    for _ in range(600):
        for leaf in names:
            bench.send(leaf)
        await bench.clock.advance(0.2)
    assert len(bench.inbox._lanes[Lane.WORDS]) == LANE_MAX
    assert len(bench.inbox._lanes[Lane.REFUSALS]) <= LANE_MAX


async def test_joining_waits_for_the_words_that_were_there(bench: Bench) -> None:
    for leaf in ("cmd/chef-3/open", "cmd/chef-3/close", "cmd/settlement/resend"):
        bench.send(leaf)
    joining = asyncio.create_task(bench.inbox.join())
    for handled in range(2):
        await settle()
        assert not joining.done(), handled
        bench.send("cmd/chef-3/open")  # what comes later is not waited for
        await bench.inbox.get()
        bench.inbox.task_done()
    await settle()
    assert joining.done()


async def test_taking_waits_for_something(bench: Bench) -> None:
    taking = asyncio.create_task(bench.inbox.get())
    await settle()
    assert not taking.done()
    bench.send("cmd/chef-3/open", 7)
    assert (await taking).payload == b"7"


async def test_of_acks_the_highest_counts(bench: Bench) -> None:
    for seq in (5, 9, 2, 8):
        bench.inbox.acks.put(b'{"seq":%d}' % seq)
    assert await bench.inbox.acks.get() == 9
    taking = asyncio.create_task(bench.inbox.acks.get())
    await settle()
    assert not taking.done()
    bench.inbox.acks.put(b'{"seq":3}')
    assert await taking == 3


def test_an_allowance_is_never_more_than_its_budget() -> None:
    allowance = Allowance(Budget(at_once=2, per_s=1.0))
    day_ns = 86_400_000_000_000
    assert [allowance.take_one(day_ns) for _ in range(3)] == [True, True, False]
    assert [allowance.take_one(2 * day_ns) for _ in range(3)] == [True, True, False]
    assert not allowance.has_one(2 * day_ns + 999_999_999)
    assert allowance.take_one(2 * day_ns + 1_000_000_000)


async def test_the_log_says_how_much_it_left_out() -> None:
    clock = VirtualClock()
    log = SparingLog(clock)
    with capture_logs() as logs:
        for _ in range(5):
            log.warning("a", topic="x")
        await clock.advance(1.0)
        log.error("b")
        await clock.advance(1.0)
        log.error("c")
    assert [(line["event"], line["log_level"], line.get("lines_left_out")) for line in logs] == [
        ("a", "warning", None),
        ("b", "error", 4),
        ("c", "error", None),
    ]
