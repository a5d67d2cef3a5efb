"""Two runs of one table at a real mosquitto: which of them goes on, and which says that there is another."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest

from tests.broker.mqtt_bench import PATIENCE_S, ROOT, RetryClock, observing, session_of, settings
from tests.broker.world import access_of
from tests.mosquitto import Mosquitto
from wheeld.broker.mqtt import TAKEOVER_S, MqttConnection, TwoComputersError
from wheeld.errors import WheeldError


class OlderError(WheeldError):
    """The journal does not have what the broker retains."""


def said(state: str, boot: str) -> bytes:
    return json.dumps({"state": state, "boot_id": boot}).encode()


class Run:
    """One run of a daemon's connection, with a boot of its own."""

    def __init__(self, broker: Mosquitto, boot: str, *, root: str = ROOT, client_id: str = "wheeld-3") -> None:
        self.clock, self.compared = RetryClock(), list[dict[str, bytes]]()
        self.has = True
        """Whether its journal has what the broker retains."""
        self.connection = MqttConnection(
            settings(broker.port, client_id=client_id),
            access=access_of(root),
            online=said("online", boot),
            offline=said("offline", boot),
            clock=self.clock,
            rng=random.Random(1),
            compare=self._compare,
        )
        self.task = asyncio.create_task(self.connection.run())

    async def _compare(self, retained: Mapping[str, bytes]) -> None:
        self.compared.append(dict(retained))
        if not self.has:
            raise OlderError("others have more")

    async def ends(self) -> None:
        """Until it has ended, with the error that ended it."""
        await asyncio.wait_for(asyncio.shield(self.task), PATIENCE_S)

    async def waits(self) -> float:
        return await self.clock.waiting()


@asynccontextmanager
async def run(broker: Mosquitto, boot: str, *, client_id: str = "wheeld-3", root: str = ROOT) -> AsyncIterator[Run]:
    made = Run(broker, boot, root=root, client_id=client_id)
    try:
        yield made
    finally:
        made.task.cancel()
        await asyncio.wait({made.task}, timeout=PATIENCE_S)


async def lose(one: Run) -> None:
    """Its connection ends, and the broker keeps the session."""
    assert one.connection._client is not None
    await one.connection._client.close()


async def test_the_one_that_lives_takes_its_session_back_and_the_clone_stops(broker: Mosquitto) -> None:
    async with run(broker, "first") as first:
        await session_of(first.connection)
        async with run(broker, "clone") as clone:
            assert await clone.waits() == TAKEOVER_S
            assert not clone.connection.is_connected
            await first.waits()  # it was taken over
            first.clock.go()
            assert await session_of(first.connection) == 2
            assert await clone.waits() < TAKEOVER_S  # before it tries again
            clone.clock.go()
            with pytest.raises(TwoComputersError, match="another computer runs this table with this key"):
                await clone.ends()
        await first.waits()
        first.clock.go()
        assert await session_of(first.connection) == 3
    async with observing(broker) as late:
        assert (await late.until("availability")).payload == said("offline", "first")


async def test_one_that_comes_back_too_late_finds_the_other_online_and_stops(broker: Mosquitto) -> None:
    async with run(broker, "first") as first:
        await session_of(first.connection)
        async with run(broker, "clone") as clone:
            await clone.waits()
            await first.waits()
            clone.clock.go()
            await session_of(clone.connection)
            first.clock.go()
            assert await first.waits() == TAKEOVER_S
            await clone.waits()  # that took its session
            clone.clock.go()
            assert await session_of(clone.connection) == 2
            await first.waits()
            first.clock.go()
            with pytest.raises(TwoComputersError):
                await first.ends()


async def test_a_clone_with_a_client_id_of_its_own_is_answered_and_stops(broker: Mosquitto) -> None:
    async with run(broker, "first") as first:
        await session_of(first.connection)
        async with run(broker, "clone", client_id="clone") as clone:
            assert await clone.waits() == TAKEOVER_S
            async with observing(broker) as observer:
                await observer.until("availability", state="online")
            clone.clock.go()
            with pytest.raises(TwoComputersError):
                await clone.ends()
        assert await session_of(first.connection) == 1
    async with observing(broker) as late:
        assert (await late.until("availability")).payload == said("offline", "first")


async def test_two_that_began_at_the_same_time_hear_each_other(broker: Mosquitto) -> None:
    async with run(broker, "first") as first, observing(broker) as observer:
        await session_of(first.connection)
        await observer.send("availability", {"state": "online", "boot_id": "clone"}, retain=True)
        with pytest.raises(TwoComputersError):
            await first.ends()


async def test_an_older_word_of_the_broker_ends_no_wheel_that_plays(broker: Mosquitto) -> None:
    """A broker that was killed may retain what it did before our own last start."""
    async with run(broker, "first") as first, observing(broker) as observer:
        await session_of(first.connection)
        await lose(first)
        await first.waits()
        await observer.send("availability", {"state": "online", "boot_id": "the run before"}, retain=True)
        first.clock.go()
        assert await first.waits() == TAKEOVER_S
        first.clock.go()
        assert await session_of(first.connection) == 2


async def test_an_availability_that_cannot_be_read_is_no_other_computer(broker: Mosquitto) -> None:
    async with observing(broker) as observer:
        await observer.client.publish(ROOT + "availability", b"\xff", qos=1, retain=True)
    async with run(broker, "first") as first:
        assert await session_of(first.connection) == 1
        assert first.clock.asked.empty()


async def test_a_clone_with_an_older_journal_stops_before_it_waits(broker: Mosquitto) -> None:
    async with run(broker, "first") as first:
        await session_of(first.connection)
        clone = Run(broker, "clone")
        clone.has = False
        with pytest.raises(OlderError):
            await clone.ends()
        await first.waits()
        first.clock.go()
        assert await session_of(first.connection) == 2


async def test_one_that_lives_stops_when_others_have_what_it_has_not(broker: Mosquitto) -> None:
    async with run(broker, "first") as first:
        await session_of(first.connection)
        first.has = False
        broker.kill()
        await first.waits()
        broker.start()
        first.clock.go()
        with pytest.raises(OlderError):
            await first.ends()


async def test_a_false_ack_ends_no_wheel_that_plays(broker: Mosquitto) -> None:
    """It is compared at the start only: whoever may publish it could end any wheel."""
    async with observing(broker) as observer:
        await observer.send("ack", {"seq": 5}, retain=True)
    async with run(broker, "first") as first:
        await session_of(first.connection)
        await lose(first)
        await first.waits()
        first.clock.go()
        await session_of(first.connection)
        assert [sorted(each) for each in first.compared] == [["ack"], ["availability"]]
        assert await asyncio.wait_for(first.connection.inbox.acks.get(), PATIENCE_S) == 5


async def test_after_a_kill_it_waits_and_hears_nothing_of_what_was_said_before(broker: Mosquitto) -> None:
    async with run(broker, "killed") as killed, observing(broker) as sender:
        await session_of(killed.connection)
        await lose(killed)
        await killed.waits()
        await sender.send("cmd/chef-3/open", {"id": "before"})
        async with run(broker, "next") as after:
            assert await after.waits() == TAKEOVER_S
            await sender.send("cmd/chef-3/open", {"id": "meanwhile"})
            after.clock.go()
            await session_of(after.connection)
            await sender.send("cmd/chef-3/close", {"id": "later"})
            heard = await asyncio.wait_for(after.connection.inbox.get(), PATIENCE_S)
            assert heard.leaf == "cmd/chef-3/close"
            killed.task.cancel()


async def test_after_an_orderly_stop_the_next_run_does_not_wait(broker: Mosquitto) -> None:
    async with run(broker, "first") as first:
        await session_of(first.connection)
    async with run(broker, "second") as second:
        await session_of(second.connection)
        assert second.clock.asked.empty()


async def test_another_table_with_this_client_id_is_no_clone(broker: Mosquitto) -> None:
    async with run(broker, "first") as first:
        await session_of(first.connection)
        async with run(broker, "other", root="wheel/v1/campione/other/") as other:
            assert await other.waits() == TAKEOVER_S
            await first.waits()
            first.clock.go()
            await session_of(first.connection)
            assert await other.waits() < TAKEOVER_S  # it tries again
            assert not other.task.done()
