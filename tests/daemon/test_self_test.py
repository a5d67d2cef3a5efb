"""The self-test of a start: what it waits for, how it ends, and that nothing is published before."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hw_sim.whole.house import ROOT, House
from hw_sim.whole.plan import EveningPlan
from tests.broker.world import VirtualClock, settle
from tests.journal.journals import open_reader
from tests.whole.daemon import JOURNAL, play
from tests.whole.evening import SOURCES, plan_of
from wheeld.daemon.self_test import ANSWER_S_MAX, SelfTest
from wheeld.ports import EventRecord


class Bench:
    """A self-test, and what it looks at."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.silent: tuple[str, ...] = ("link", "head")
        self.sensors = {"link": False, "beam/0": True, "rotor": True, "head": False}
        self.test = SelfTest(
            clock=self.clock,
            silent=lambda: self.silent,
            sensors=lambda: self.sensors,
            is_synchronised=lambda: None,
        )

    async def run(self, answered_s: float) -> dict[str, Any]:
        """What it finds, where all lines have answered after so many seconds."""
        work: asyncio.Task[EventRecord] = asyncio.create_task(self.test.run())
        await self.clock.advance(answered_s)
        assert not work.done()
        self.silent = ()
        await self.clock.advance(0.1)
        return work.result().details


async def test_it_waits_for_an_answer_of_each_line() -> None:
    bench = Bench()
    bench.sensors.update({"link": True, "head": True})
    assert await bench.run(1.0) == {
        "passed": True,
        "took_s": 1.0,
        "silent": [],
        "failing": [],
        "clock_synchronised": None,
    }
    assert bench.test.outcome is not None
    assert bench.test.outcome.passed


async def test_a_sensor_that_fails_fails_it() -> None:
    bench = Bench()
    bench.sensors.update({"link": True, "head": True, "rotor": False})
    found = await bench.run(0.5)
    assert (found["passed"], found["silent"], found["failing"]) == (False, [], ["rotor"])


async def test_it_ends_without_an_answer_and_names_who_gave_none() -> None:
    bench = Bench()
    work = asyncio.create_task(bench.test.run())
    await bench.clock.advance(ANSWER_S_MAX + 0.1)
    found = work.result().details
    assert (found["passed"], found["silent"], found["failing"]) == (False, ["link", "head"], [])
    assert found["took_s"] == ANSWER_S_MAX


async def test_what_waits_for_it_begins_only_when_its_outcome_is_stored() -> None:
    bench = Bench()
    waiting = asyncio.create_task(bench.test.over.wait())
    await bench.run(0.1)
    await settle()
    assert not waiting.done()
    bench.test.over.set()
    await settle()
    assert waiting.done()


def quiet(plan: EveningPlan) -> EveningPlan:
    """The same evening without faults."""
    for _ in plan.faults:
        plan = plan.without_fault(0)
    return plan


def stored(directory: Path) -> list[tuple[str, dict[str, Any]]]:
    """The event records of the evening."""
    with closing(open_reader(directory / JOURNAL)) as journal:
        return [(each.event, msgspec.json.decode(each.details)) for each in journal.events(0, 1000)]


def heard(house: House, directory: Path) -> list[tuple[float, str, dict[str, Any]]]:
    """Play the evening; everything that the daemon published in it: when, in seconds, under which topic, and what."""
    published: list[tuple[float, str, dict[str, Any]]] = []

    def listen(topic: str, payload: bytes) -> None:
        leaf = topic.removeprefix(ROOT)
        if not leaf.startswith(("cmd/", "ack")):
            published.append((house.now_us / 1e6, leaf, msgspec.json.decode(payload)))

    house.broker.listeners.append(listen)
    play(house, directory)
    return published


@pytest.mark.parametrize("index", range(0, len(SOURCES), 2))
def test_nothing_is_published_before_it_is_over(index: int, tmp_path: Path) -> None:
    house = House(quiet(plan_of("self-test", index)))
    (first_s, leaf, _), *_ = heard(house, tmp_path)
    over_s = next(t_us for t_us, _, event in house.witness.logged if event == "self_test.over") / 1e6
    assert leaf == "availability"
    assert over_s < first_s < ANSWER_S_MAX, "every line answers at once"
    (name, details), *_ = [each for each in stored(tmp_path) if each[0] != "power_up"]
    assert (name, details["passed"], details["silent"]) == ("self_test", True, [])


def test_a_board_that_is_not_there_delays_everything_by_the_limit_at_most(tmp_path: Path) -> None:
    house = House(quiet(plan_of("self-test", 0)))
    line = house.lines["board"]
    line.is_plugged = False
    house.timeline.at(20_000_000, lambda: setattr(line, "is_plugged", True))
    published = heard(house, tmp_path)
    assert ANSWER_S_MAX <= published[0][0] < ANSWER_S_MAX + 2
    health = next(body for _, leaf, body in published if leaf == "health")
    assert health["self_test"] | {"at": ""} == {"passed": False, "at": "", "silent": ["link"], "failing": []}
    names = [name for name, _ in stored(tmp_path)]
    assert names.index("self_test") < names.index("link_lost") < names.index("link_back")
    assert any(leaf == "result" for _, leaf, _ in published), "play went on"
