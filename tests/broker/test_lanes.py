"""The lanes: what comes first, what is refused or dropped, and that nothing grows without end."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import get_args

import pytest
from structlog.testing import capture_logs

from tests.broker.world import VirtualClock, settle
from wheeld.broker.budget import Allowance, Budget, SparingLog
from wheeld.broker.lanes import BUDGETS, ERRANDS, LANE_MAX, REFUSED_PER_NAME, TURN, Inbox, Incoming, Lane, place_of
from wheeld.broker.payloads import COMMANDS
from wheeld.core.observations import CommandName

WORDS = BUDGETS[Lane.WORDS]
USERS = ("chef-3", "bouler-3", "direction", "settlement", "control-office", "technician")
ERRAND_LEAVES = ("cmd/control-office/seal", "cmd/control-office/program", "cmd/technician/inspect", "cmd/chef-3/seal")


class Bench:
    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.inbox = Inbox(self.clock, SparingLog(self.clock), USERS)

    def came_ns(self) -> int | None:
        return self.inbox.came_ns

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
    """Two lanes could turn round what one of them said. What the table does not decide is no word."""
    lanes = {name: place_of(f"cmd/chef-3/{name}", USERS).lane for name in COMMANDS}
    assert {name for name, lane in lanes.items() if lane is Lane.WORDS} == set(get_args(CommandName))
    assert {name for name, lane in lanes.items() if lane is Lane.ERRANDS} == ERRANDS
    assert lanes["resend"] is Lane.REQUESTS


def test_invented_names_share_one_budget() -> None:
    leaves = ("cmd/chef-3/dance", "cmd/chef-4/open", "cmd/open", "cmd/chef-3/open/now", "x", "")
    assert len({place_of(leaf, USERS) for leaf in leaves}) == 1


async def test_words_come_first_and_keep_their_order(bench: Bench) -> None:
    for number, leaf in enumerate(
        (
            "cmd/chef-3/dance",
            "cmd/settlement/resend",
            "cmd/chef-3/seal",
            "cmd/chef-3/open",
            "cmd/bouler-3/last_coup",
            "cmd/chef-3/close",
            "cmd/chef-3/open",
        )
    ):
        bench.send(leaf, number)
    assert [payload for _, payload, _ in await bench.taken()] == [b"3", b"4", b"5", b"6", b"1", b"2", b"0"]


async def test_no_errand_stands_before_a_word_or_is_waited_for(bench: Bench) -> None:
    """They are of people without power over the game, each takes two to four writes to the disk, and a number waits
    only so long: it would go out before a chef's "rien va" behind them."""
    for leaf in ERRAND_LEAVES * 50:
        bench.send(leaf)
    assert bench.came_ns() is None
    await bench.inbox.get()  # it is in hand as the chef speaks
    came_ns = bench.clock.monotonic_ns()
    bench.send("cmd/chef-3/rien_va", 7)
    joining = asyncio.create_task(bench.inbox.join())
    bench.inbox.task_done()
    await settle()
    assert bench.came_ns() == came_ns
    await bench.clock.advance(1.0)
    assert (await bench.inbox.get()).leaf == "cmd/chef-3/rien_va"
    await settle()
    assert bench.came_ns() == came_ns
    assert not joining.done()
    bench.inbox.task_done()
    await settle()
    assert joining.done()
    assert bench.came_ns() is None
    assert (await bench.inbox.get()).leaf in ERRAND_LEAVES


async def test_behind_a_flood_of_another_a_word_waits_for_one_turn(bench: Bench) -> None:
    for name in ("suspend", "resume"):
        for number in range(WORDS.at_once):
            assert bench.send(f"cmd/direction/{name}", number)
    for number, name in enumerate(("tout_va", "rien_va")):
        bench.send(f"cmd/chef-3/{name}", number)
    taken = [leaf for leaf, _, _ in await bench.taken()]
    assert [leaf.rpartition("/")[2] for leaf in taken] == [
        *["suspend"] * TURN,
        *["tout_va", "rien_va"],
        *["suspend"] * (WORDS.at_once - TURN),
        *["resume"] * WORDS.at_once,
    ]


async def test_who_has_had_his_turn_waits_for_two_turns_of_each_other_at_most(bench: Bench) -> None:
    senders, names = ("bouler-3", "direction"), ("close", "last_coup", "resume", "suspend")
    for number in range(40):
        for sender in senders:
            bench.send(f"cmd/{sender}/{names[number % 4]}", number)
    for number in range(40):
        bench.send(f"cmd/chef-3/{names[number % 4]}", number)
    taken = await bench.taken()
    places = [-1, *(place for place, (leaf, _, _) in enumerate(taken) if leaf.startswith("cmd/chef-3/"))]
    assert max(later - place for place, later in pairwise(places)) <= 2 * TURN * len(senders) + 1
    for sender in (*senders, "chef-3"):
        said = [payload for leaf, payload, _ in taken if leaf.startswith(f"cmd/{sender}/")]
        assert said == [b"%d" % number for number in range(40)], "each one's words keep their order"


async def test_who_spoke_while_nobody_waited_has_not_used_up_his_turn(bench: Bench) -> None:
    for _ in range(TURN):
        bench.send("cmd/chef-3/open")
        await bench.taken()
    for number in range(2 * TURN):
        bench.send("cmd/direction/suspend", number)
    bench.send("cmd/chef-3/rien_va")
    assert [leaf for leaf, _, _ in await bench.taken()].index("cmd/chef-3/rien_va") == TURN


async def test_what_few_words_of_many_say_is_taken_as_it_came(bench: Bench) -> None:
    leaves = ["cmd/direction/suspend", "cmd/direction/resume", "cmd/chef-3/suspend", "cmd/bouler-3/last_coup"] * 2
    for leaf in leaves:
        bench.send(leaf)
    assert [leaf for leaf, _, _ in await bench.taken()] == leaves


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


async def test_an_errand_a_minute_is_taken_and_the_rest_answered(bench: Bench) -> None:
    """Each leaves rows that retention never removes."""
    (leaf, *others), budget = ERRAND_LEAVES, BUDGETS[Lane.ERRANDS]
    assert budget.at_once == 5
    admitted = sum(bench.send(leaf) for _ in range(1_000))
    assert admitted == budget.at_once + REFUSED_PER_NAME.at_once
    for other in others:
        assert bench.send(other), "the budget is of each user and name"
    assert [is_over for _, _, is_over in await bench.taken()].count(False) == budget.at_once + len(others)
    for _ in range(10):
        await bench.clock.advance(60.0)
        for _ in range(3):
            bench.send(leaf)
        assert [is_over for _, _, is_over in await bench.taken()] == [False, True, True]
    counters = {outcome: bench.inbox.counters[f"errands_{outcome}"] for outcome in ("taken", "refused", "dropped")}
    assert counters == {
        "taken": budget.at_once + len(others) + 10,
        "refused": REFUSED_PER_NAME.at_once + 2 * 10,
        "dropped": 1_000 - admitted,
    }


async def test_while_the_intake_waits_for_the_disk_nothing_grows(bench: Bench) -> None:
    """And who fills it takes no room from another."""
    names = [f"cmd/chef-3/{name}" for name in COMMANDS if name != "resend"]
    for _ in range(600):
        for leaf in names:
            bench.send(leaf)
        await bench.clock.advance(0.2)
    assert len(bench.inbox._lanes[Lane.WORDS]) == LANE_MAX
    assert len(bench.inbox._lanes[Lane.REFUSALS]) <= LANE_MAX
    taken = bench.inbox.counters["words_taken"]
    assert bench.send("cmd/direction/suspend")
    assert bench.inbox.counters["words_taken"] == taken + 1


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


async def test_joining_waits_for_these_words_and_not_for_as_many(bench: Bench) -> None:
    """A word that came later may be handled before one that is waited for."""
    for _ in range(TURN + 1):
        bench.send("cmd/direction/suspend")
    joining = asyncio.create_task(bench.inbox.join())
    await settle()
    bench.send("cmd/chef-3/rien_va")
    leaves = []
    while not joining.done():
        leaves.append((await bench.inbox.get()).leaf)
        bench.inbox.task_done()
        await settle()
    assert leaves == [*["cmd/direction/suspend"] * TURN, "cmd/chef-3/rien_va", "cmd/direction/suspend"]


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
