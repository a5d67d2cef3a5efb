"""Whether words of people arrive: what is asked of the broker while a coup runs, and what its silence means."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.broker.mqtt_bench import connecting, session_of, settings
from tests.broker.world import VirtualClock, settle, working
from tests.mosquitto import Mosquitto
from wheeld.broker.earshot import ANSWER_NS, ASK_S, Earshot


class Broker:
    """A connection, and the broker behind it, which may be cut off."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.heard_ns = self.asked = 0
        self.is_cut = False
        self.hears_all = True
        self._connected = asyncio.Event()
        self._lost = asyncio.Event()
        self.connect()

    def connect(self) -> None:
        self.heard_ns = self.clock.monotonic_ns()
        self._lost.clear()
        self._connected.set()

    def lose(self) -> None:
        self._connected.clear()
        self._lost.set()

    def ask(self) -> None:
        self.asked += 1
        if not self.is_cut:
            self.heard_ns = self.clock.monotonic_ns()

    async def connected(self) -> int:
        await self._connected.wait()
        return 1

    async def lost(self, session: int) -> None:
        await self._lost.wait()

    async def hear(self, since_ns: int) -> bool:
        return self.hears_all


class House:
    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.broker, self.is_running = Broker(self.clock), True
        self.earshot = Earshot(self.broker, clock=self.clock, is_running=lambda: self.is_running)

    def cut_ns(self) -> int | None:
        return self.earshot.cut_ns


async def test_a_broker_that_answers_keeps_nobody_back() -> None:
    house = House()
    async with working(house.earshot.run()):
        for _ in range(30):
            await house.clock.advance(1)
            assert house.cut_ns() is None
    assert house.broker.asked >= 30


async def test_it_is_asked_only_while_a_coup_runs() -> None:
    house = House()
    house.is_running = False
    async with working(house.earshot.run()):
        await house.clock.advance(30)
        assert house.broker.asked == 0


async def test_a_silent_broker_is_noticed_in_time_and_counts_from_its_last_sign() -> None:
    house = House()
    async with working(house.earshot.run()):
        await house.clock.advance(10.3)
        last_ns, house.broker.is_cut = house.broker.heard_ns, True
        await house.clock.advance(ANSWER_NS / 1e9 + 2 * ASK_S + 0.1)
        assert house.cut_ns() == last_ns
        await house.clock.advance(5)
        assert house.cut_ns() == last_ns


async def test_everybody_was_heard_once_it_has_answered_and_all_is_handled() -> None:
    house = House()
    async with working(house.earshot.run()):
        await house.clock.advance(1)
        house.broker.is_cut, house.broker.hears_all = True, False
        await house.clock.advance(5)
        house.broker.is_cut = False
        house.broker.heard_ns = house.clock.monotonic_ns()
        await house.clock.advance(2)
        assert house.cut_ns() is not None, "its answer is here, and not all that came before it is handled"
        house.broker.hears_all = True
        await house.clock.advance(1)
        assert house.cut_ns() is None


async def test_who_cannot_be_heard_after_a_standstill_may_have_spoken_in_a_coup_that_nobody_knows_of_yet() -> None:
    """No coup runs as far as the table knows: sensors keep one that ran in the standstill."""
    house = House()
    house.is_running = False
    async with working(house.earshot.run()):
        await house.clock.advance(7)
        last_ns, house.broker.hears_all = house.broker.heard_ns, False
        await house.earshot.hear(last_ns)
        await house.earshot.hear(last_ns)
        assert house.cut_ns() == last_ns
        house.broker.hears_all = True
        await house.clock.advance(1)
        assert house.cut_ns() is None
        await house.earshot.hear(last_ns)
        assert house.cut_ns() is None, "everybody was heard"


async def test_a_lost_connection_counts_from_the_last_sign_until_the_next_one_has_brought_all() -> None:
    house = House()
    house.is_running = False
    async with working(house.earshot.run()):
        await house.clock.advance(7)
        house.broker.lose()
        await settle()
        assert house.cut_ns() == 0, "it was heard as the connection began"
        await house.clock.advance(3)
        house.broker.connect()
        await house.clock.advance(1)
        assert house.cut_ns() is None


async def test_a_real_broker_gives_a_sign_when_it_is_asked(tmp_path: Path) -> None:
    with Mosquitto(tmp_path) as broker:
        async with connecting(settings(broker.port, keepalive_s=600)) as (connection, _):
            assert connection.heard_ns == 0
            connection.ask()
            await session_of(connection)
            began_ns = connection.heard_ns
            assert began_ns > 0
            connection.ask()
            async with asyncio.timeout(5):
                while connection.heard_ns == began_ns:  # noqa: ASYNC110  nothing is told of it
                    await asyncio.sleep(0.01)
