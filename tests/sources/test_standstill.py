"""The daemon stands still in play: the table's loop hears everybody before it takes what the sensors kept."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Iterator
from typing import Any, cast

import msgspec
import pytest
from structlog.testing import capture_logs

from firmware_protocol.host import Position
from tests.broker.world import VirtualClock, settle, working
from tests.core.evening import FRENCH, START_UTC_US, Evening
from wheeld.core.observations import Command, CommandName, Observation, TimePassed
from wheeld.core.step import Reply, Step
from wheeld.core.table import Table
from wheeld.daemon.table_loop import Ears, TableLoop
from wheeld.sources.board.board import Board
from wheeld.sources.clock import HostTime
from wheeld.sources.sensing import Batch

SECOND_US = 1_000_000
CHUNK = 28
"""So many events stand in a batch at most."""


class StallingClock(VirtualClock):
    """A host that can be stopped, suspended, and set."""

    def __init__(self) -> None:
        super().__init__(START_UTC_US)
        self.slept_ns = 0

    def stall(self, seconds: float) -> None:
        """Nothing runs for so long; then all that was due is."""
        self._now_ns += round(seconds * 1e9)
        while self._sleepers and self._sleepers[0][0] <= self._now_ns:
            wake = heapq.heappop(self._sleepers)[2]
            if not wake.done():
                wake.set_result(None)

    def suspend(self, seconds: float) -> None:
        """The monotonic clock stands too; UTC goes on."""
        self.slept_ns += round(seconds * 1e9)
        self.set(seconds)

    def set(self, seconds: float) -> None:
        """Somebody sets the clock."""
        self._start_utc_us += round(seconds * SECOND_US)

    def asleep_ns(self) -> int:
        return self.slept_ns


class KeepingBoard:
    """A board whose clock is the host's; what happens at the wheel waits in it until it is read."""

    def __init__(self, seen: list[Observation]) -> None:
        self.is_up = self.keeps_times = True
        self.seen = seen
        self._newest_us = 0

    def now_us(self, host_ns: int) -> int:
        return max(host_ns // 1_000, self._newest_us)

    def clock_now(self, host_ns: int) -> HostTime:
        return HostTime(host_ns, 0, 0)

    def acknowledge(self, position: Position) -> None:
        raise AssertionError(position)

    def read(self, until_us: int) -> Iterator[Batch]:
        """What happened until then, in batches."""
        while self.seen and self.seen[0].t_us <= until_us:
            chunk = [seen for seen in self.seen[:CHUNK] if seen.t_us <= until_us]
            self.seen = self.seen[len(chunk) :]
            self._newest_us = chunk[-1].t_us
            yield Batch(chunk, None)


class House:
    """The table's loop between a board that has seen a whole coup and a chef whose words come through a network."""

    def __init__(self, seen: list[Observation]) -> None:
        self.clock, self.board = StallingClock(), KeepingBoard(seen)
        self.table, _ = Table.start(FRENCH, boot_id="b", started_utc_us=START_UTC_US)
        self.messages: list[dict[str, Any]] = []
        self.replies: list[Reply] = []
        self.unheard: list[tuple[CommandName, int | None]] = []
        """Words on their way, and when they were said by their senders."""
        self.disk_s = 0.0
        self.cut_ns: int | None = None
        """Since when the network is cut."""
        self.came_ns: int | None = None
        """When a word came that a slow disk is still storing."""
        self.loop = TableLoop(
            self.table,
            cast("Board", self.board),
            clock=self.clock,
            store=self._store,
            on_change=lambda: None,
            ears=Ears(self._hear, lambda: self.cut_ns, lambda: self.came_ns),
            asleep_ns=self.clock.asleep_ns,
        )

    async def _store(self, step: Step, at_utc_us: int, position: Position | None) -> None:
        if self.disk_s:
            seconds, self.disk_s = self.disk_s, 0.0
            await self.clock.sleep(seconds)
        self.messages += [msgspec.json.decode(message.payload) for message in step.messages]
        self.replies += step.replies

    async def _hear(self, since_ns: int) -> None:
        """A broker takes a while, and the intake stores each word first."""
        await settle(5)
        await self.speak()

    async def speak(self) -> None:
        """What is on its way arrives."""
        for number, (name, said_us) in enumerate(self.unheard):
            said_utc_us = None if said_us is None else START_UTC_US + said_us
            word = Command(0, name, "chef", "a reason", id=f"{name}-{number}")
            await self.loop.say(word, came_ns=self.clock.monotonic_ns(), said_utc_us=said_utc_us)
        self.unheard.clear()

    async def play(self, until_us: int, step_us: int = 20_000) -> None:
        """Time passes, and the board is read every 20 ms."""
        while self.now_us < until_us:
            await self.clock.advance(step_us / 1e6)
            await self.read()

    async def read(self) -> None:
        for batch in self.board.read(self.now_us):
            await self.loop.put(batch)
            await settle(8)

    @property
    def now_us(self) -> int:
        return self.clock.monotonic_ns() // 1_000

    def of(self, schema: str) -> list[dict[str, Any]]:
        return [message for message in self.messages if message["schema"] == f"{schema}/1"]

    @property
    def verdicts(self) -> list[str]:
        return [message["schema"] for message in self.messages if message["schema"] in ("result/1", "void/1")]

    def notices(self, kind: str) -> list[dict[str, Any]]:
        return [notice for notice in self.of("notice") if notice["notice"] == kind]


def a_coup() -> tuple[list[Observation], int]:
    """All that a wheel sees of a valid coup, and when its ball is first seen at rest."""
    evening = Evening().open()
    passes = evening.launch()
    evening.until(passes[-1].t_us)
    evening.fall(8)
    evening.wait(6)
    (result,) = evening.of("result")
    return list(evening.seen), result["sightings"][0]["t_us"]


SEEN, NUMBER_US = a_coup()


@pytest.mark.parametrize("is_sensor_first", [True, False])
@pytest.mark.parametrize("begins_before_s", [0.3, 1.4, 2.5, 3.6, 5.0])
async def test_rien_va_in_a_standstill_voids_the_coup_whatever_is_read_first(
    begins_before_s: float, *, is_sensor_first: bool
) -> None:
    """The daemon stands for 7 s, and the chef speaks in that time; the number comes in it, too."""
    house = House([*SEEN])
    async with working(house.loop.run(), house.loop.beat()):
        await house.play(round(NUMBER_US - begins_before_s * SECOND_US))
        assert house.verdicts == []
        house.unheard.append(("rien_va", None))
        house.clock.stall(7)
        if not is_sensor_first:
            await settle()
        await house.read()
        await house.play(house.now_us + 3 * SECOND_US)
    assert house.verdicts == ["void/1"]
    (void,) = house.of("void")
    assert (void["cause"], void["rule"]) == ("chef", "N7")
    (notice,) = house.notices("standstill")
    assert 6.9 <= notice["figures"]["seconds"] <= 7.2
    assert [(reply.name, reply.done) for reply in house.replies[1:]] == [("rien_va", True)]


async def verdicts_of_a_dated_word(said_s: float, *, keeps_times: bool) -> list[str]:
    """The daemon stands still while the number comes; "rien va" arrives afterwards, said so long after the number."""
    house = House([*SEEN])
    house.board.keeps_times = keeps_times
    async with working(house.loop.run(), house.loop.beat()):
        await house.play(NUMBER_US - 3 * SECOND_US)
        house.unheard.append(("rien_va", round(NUMBER_US + said_s * SECOND_US)))
        house.clock.stall(7)
        await house.read()
        await house.play(house.now_us + 3 * SECOND_US)
    return house.verdicts


@pytest.mark.parametrize(("said_s", "verdict"), [(-1.0, "void/1"), (1.0, "result/1")])
async def test_its_own_date_decides_when_it_carries_one(said_s: float, verdict: str) -> None:
    assert await verdicts_of_a_dated_word(said_s, keeps_times=True) == [verdict]


@pytest.mark.parametrize("said_s", [-1.0, 1.0])
async def test_its_own_date_decides_nothing_where_what_was_seen_has_none(said_s: float) -> None:
    """A wheel's own head does not say when it saw what it reports: nobody knows which was first, so it is void."""
    assert await verdicts_of_a_dated_word(said_s, keeps_times=False) == ["void/1"]


async def test_nobody_spoke_and_the_result_says_how_late_it_is() -> None:
    house = House([*SEEN])
    with capture_logs() as logs:
        async with working(house.loop.run(), house.loop.beat()):
            await house.play(NUMBER_US - 1 * SECOND_US)
            house.clock.stall(7)
            await house.read()
            await house.play(house.now_us + 3 * SECOND_US)
    (result,) = house.of("result")
    assert 5.9 <= result["late_s"] <= 6.2
    (line,) = [log for log in logs if log["event"] == "machine.stood_still"]
    assert (line["what"], line["log_level"]) == ("machine", "warning")
    assert line["since"] < line["until"]
    assert house.loop.counters["standstills"] == 1
    assert 6_900 <= house.loop.counters["standstill_ms"] <= 7_200


async def test_of_an_idle_table_a_minute_is_reported_at_once() -> None:
    house = House([])
    async with working(house.loop.run(), house.loop.beat()):
        await house.clock.advance(2)
        house.board.is_up = False
        house.clock.stall(60)
        await settle()
    (notice,) = house.notices("standstill")
    assert notice["figures"]["what"] == "machine"
    assert 59.9 <= notice["figures"]["seconds"] <= 60.2


async def test_a_button_of_pins_keeps_its_own_time() -> None:
    """Its edge was dated while the daemon stood: pressed after the number, it is late."""
    house = House([*SEEN])
    async with working(house.loop.run(), house.loop.beat()):
        await house.play(NUMBER_US - 3 * SECOND_US)
        house.clock.stall(7)
        pressed_ns = (NUMBER_US + SECOND_US) * 1_000
        await house.loop.say(Command(0, "rien_va", "button"), came_ns=pressed_ns)
        await house.read()
        await house.play(house.now_us + 3 * SECOND_US)
    assert house.verdicts == ["result/1"]
    assert house.notices("refused")


async def test_two_stalls_one_after_the_other_are_one_standstill() -> None:
    """The daemon is stopped again while it hears what was said."""
    house = House([*SEEN])
    async with working(house.loop.run(), house.loop.beat()):
        await house.play(NUMBER_US - 3 * SECOND_US)
        house.unheard.append(("rien_va", None))
        house.clock.stall(2)
        await settle(2)
        house.clock.stall(5)
        await house.read()
        await house.play(house.now_us + 3 * SECOND_US)
    assert house.verdicts == ["void/1"]
    assert len(house.notices("standstill")) == 1


async def test_a_slow_disk_is_reported_and_dates_no_word() -> None:
    """People were heard all the time: "rien va" a second after the number is late, though nothing was published yet."""
    house = House([*SEEN])
    async with working(house.loop.run(), house.loop.beat()):
        await house.play(NUMBER_US - 1 * SECOND_US)
        house.disk_s = 6.0
        house.unheard.append(("last_coup", None))
        await house.speak()
        await house.play(NUMBER_US + 1 * SECOND_US, step_us=200_000)
        house.unheard.append(("rien_va", None))
        await house.speak()
        await house.play(NUMBER_US + 9 * SECOND_US, step_us=200_000)
    assert house.verdicts == ["result/1"]
    (result,) = house.of("result")
    assert result["late_s"] > 4
    (notice,) = house.notices("standstill")
    assert notice["figures"]["what"] == "journal"
    assert house.loop.counters["slow_stores"] == 1


async def test_a_suspended_host_has_observed_nothing() -> None:
    house = House([*SEEN])
    async with working(house.loop.run(), house.loop.beat()):
        await house.play(NUMBER_US - 3 * SECOND_US)
        house.clock.suspend(3600)
        await house.play(house.now_us + 2 * SECOND_US)
    (void,) = house.of("void")
    assert void["cause"] == "breakdown"
    (notice,) = house.notices("standstill")
    assert notice["figures"]["seconds"] >= 3600
    assert notice["figures"]["from"][11:13] != notice["figures"]["to"][11:13], "another hour"
    assert house.notices("utc_stepped") == []


@pytest.mark.parametrize(("seconds", "is_noticed"), [(-3.0, True), (0.5, False), (90.0, True), (0.05, None)])
async def test_each_step_of_utc_is_logged(seconds: float, *, is_noticed: bool | None) -> None:
    house = House([])
    with capture_logs() as logs:
        async with working(house.loop.run(), house.loop.beat()):
            await house.clock.advance(2)
            house.clock.set(seconds)
            await house.clock.advance(1)
    stepped = [log for log in logs if log["event"] == "clock.stepped"]
    assert [log["seconds"] for log in stepped] == ([] if is_noticed is None else [seconds])
    assert [notice["figures"] for notice in house.notices("utc_stepped")] == ([{"seconds": seconds}] * bool(is_noticed))


async def test_without_a_standstill_a_word_is_of_the_moment_in_which_it_came() -> None:
    house = House([*SEEN])
    async with working(house.loop.run(), house.loop.beat()):
        await house.play(NUMBER_US + SECOND_US // 2)
        house.unheard.append(("rien_va", None))
        await house.speak()
        await house.play(house.now_us + 3 * SECOND_US)
    assert house.verdicts == ["result/1"]
    assert house.loop.counters["standstills"] == 0
    assert house.loop.standing_still() is None


async def test_while_it_catches_up_the_loop_says_from_when_to_when_it_stood_still() -> None:
    house = House([])
    found: list[tuple[int, int] | None] = []

    async def listen(since_ns: int) -> None:
        found.append(house.loop.standing_still())
        await asyncio.sleep(0)

    house.loop._ears = Ears(listen)
    async with working(house.loop.run(), house.loop.beat()):
        await house.clock.advance(2)
        house.clock.stall(5)
        await settle()
        assert house.loop.standing_still() is None
    ((since, until),) = [still for still in found if still is not None]
    assert (since, until) == (START_UTC_US + 2 * SECOND_US, START_UTC_US + 7 * SECOND_US)


async def test_it_says_since_when_the_network_is_cut() -> None:
    house = House([])
    async with working(house.loop.run(), house.loop.beat()):
        await house.clock.advance(2)
        house.cut_ns = house.clock.monotonic_ns()
        await house.clock.advance(3)
        cut = house.loop.standing_still()
    assert cut == (START_UTC_US + 2 * SECOND_US, START_UTC_US + 5 * SECOND_US)


# --- a network that is cut --------------------------------------------------------------------------------------------


async def test_a_number_of_a_standstill_waits_too_where_the_network_was_cut_in_it() -> None:
    """The board kept number and proof, and the chef's word is still at the broker when the daemon wakes."""
    house = House([*SEEN])

    async def hear_nobody(since_ns: int) -> None:
        """The connection has failed in the standstill, and none is made in time."""
        house.cut_ns = since_ns
        await settle(5)

    house.loop._ears = house.loop._ears._replace(hear=hear_nobody)
    async with working(house.loop.run(), house.loop.beat()):
        await house.play(NUMBER_US - 6 * SECOND_US)
        house.clock.stall(9)
        await house.read()
        await house.play(NUMBER_US + 8 * SECOND_US)
        assert house.verdicts == []
        house.unheard.append(("rien_va", round(NUMBER_US - SECOND_US)))
        await house.speak()
        house.cut_ns = None
        house.board.seen.append(TimePassed(house.now_us + SECOND_US))
        await house.play(house.now_us + 2 * SECOND_US)
    assert house.verdicts == ["void/1"]


@pytest.mark.parametrize(("said_s", "verdict"), [(None, "void/1"), (-1.0, "void/1"), (1.0, "result/1")])
async def test_a_number_waits_for_what_a_cut_network_delays(said_s: float | None, verdict: str) -> None:
    """The chef speaks while the network is cut; his word arrives long after the number is proven (N7)."""
    house = House([*SEEN])
    async with working(house.loop.run(), house.loop.beat()):
        await house.play(NUMBER_US - 2 * SECOND_US)
        house.cut_ns = house.clock.monotonic_ns() - 500_000_000
        await house.play(NUMBER_US + 8 * SECOND_US)
        assert house.verdicts == []
        house.unheard.append(("rien_va", None if said_s is None else round(NUMBER_US + said_s * SECOND_US)))
        await house.speak()
        house.cut_ns = None
        house.board.seen.append(TimePassed(house.now_us + SECOND_US))
        await house.play(house.now_us + 2 * SECOND_US)
    assert house.verdicts == [verdict]


@pytest.mark.parametrize(("name", "verdict"), [("rien_va", "void/1"), ("last_coup", "result/1")])
async def test_a_number_waits_for_a_word_that_has_come_and_is_not_stored_yet(name: CommandName, verdict: str) -> None:
    """It came before the number, and the disk takes longer than the proof."""
    house = House([*SEEN])
    async with working(house.loop.run(), house.loop.beat()):
        await house.play(NUMBER_US - SECOND_US // 2)
        came_ns = house.came_ns = house.clock.monotonic_ns()
        await house.play(NUMBER_US + 8 * SECOND_US)
        assert house.verdicts == []
        await house.loop.say(Command(0, name, "chef", "a reason", id="slow"), came_ns=came_ns)
        house.came_ns = None
        house.board.seen.append(TimePassed(house.now_us + SECOND_US))
        await house.play(house.now_us + 2 * SECOND_US)
    assert house.verdicts == [verdict]
