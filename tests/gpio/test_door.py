"""The cabinet's door on a pin: closed it pulls the line low, so that a cut wire is an open door."""

from __future__ import annotations

import random

import msgspec
import pytest

from hw_sim import wired
from hw_sim.evening import script
from hw_sim.events import Door
from hw_sim.wired import Wires
from tests.gpio.bench import BENCHES, WIRED, Bench, Recording, SimBench
from tests.gpio.test_contract import MS, states
from wheeld.core.observations import Level
from wheeld.ports import Edge
from wheeld.sources.chatter import DoorSeen
from wheeld.sources.gpio.debounce import Contact
from wheeld.sources.gpio.sensors import DoorSwitch
from wheeld.sources.gpio.setting import GpioSetting

PIN = 19
DOOR = msgspec.structs.replace(WIRED, door_pin=PIN)
CLOSED, OPEN = {PIN: False}, {PIN: True}


@pytest.fixture(params=BENCHES, ids=lambda bench: type(bench).__name__)
def bench(request: pytest.FixtureRequest) -> Bench:
    made: Bench = request.param
    return made


def doors(recording: Recording) -> list[tuple[int, bool]]:
    """When it was told to stand how, in milliseconds; 0 for what stood so at the start."""
    told = [seen for seen in recording.all if isinstance(seen, Level) and seen.sensor == "door"]
    return [(max(0, round(seen.t_us / 1_000)), seen.active) for seen in told]


def test_it_is_told_at_the_start_and_each_change(bench: Bench) -> None:
    edges = [Edge(PIN, True, 300 * MS), Edge(PIN, False, 600 * MS)]
    recording = bench.run(edges, until_ns=700 * MS, setting=DOOR, levels=CLOSED)
    assert [is_open for _, is_open in doors(recording)] == [False, True, False]
    late_ms = bench.late_us / 1_000 + recording.slipped_us / 1_000
    assert [at_ms for at_ms, _ in doors(recording)] == pytest.approx([0, 300, 600], abs=late_ms)
    assert recording.source.door == DoorSeen(False, 1)
    assert recording.source.sensors["door"] is True
    assert states(recording) == []


@pytest.mark.parametrize(
    ("setting", "levels"), [(DOOR, OPEN), (msgspec.structs.replace(DOOR, door_active_low=True), CLOSED)]
)
def test_one_that_stands_open_at_the_start_is_told(setting: GpioSetting, levels: dict[int, bool]) -> None:
    recording = SimBench().run([], until_ns=200 * MS, setting=setting, levels=levels)
    assert doors(recording) == [(0, True)]
    assert recording.source.door == DoorSeen(True, 1)


def test_a_line_that_nothing_pulls_low_is_an_open_door() -> None:
    """A wire that is cut, or was never connected."""
    assert doors(SimBench().run([], until_ns=200 * MS, setting=DOOR, levels={PIN: True})) == [(0, True)]


def test_a_bounce_is_no_change() -> None:
    edges = [Edge(PIN, number % 2 == 0, 300 * MS + number * 2 * MS) for number in range(6)]
    recording = SimBench().run(edges, until_ns=700 * MS, setting=DOOR, levels=CLOSED)
    assert doors(recording) == [(0, False)]


def test_a_contact_that_never_rests_is_an_open_door() -> None:
    edges = [Edge(PIN, number % 2 == 0, 300 * MS + number * 10 * MS) for number in range(300)]
    recording = SimBench().run(edges, until_ns=3_600 * MS, setting=DOOR, levels=CLOSED)
    assert [is_open for _, is_open in doors(recording)] == [False, True, False]
    assert doors(recording)[1][0] == pytest.approx(1_300, abs=30)
    assert states(recording) == []


def test_a_level_that_comes_again_is_no_fault() -> None:
    """An edge of the door was lost: play goes on."""
    switch = DoorSwitch(Contact(20 * MS, on=None), lambda ns: ns // 1_000)
    told = switch.stand(0, on=False)
    for at_ms, on in ((300, True), (900, True), (1_400, False)):
        told += [*switch.edge(at_ms * MS, on=on), *switch.until((at_ms + 100) * MS)]
    assert [(seen.t_us, seen.active) for seen in told if isinstance(seen, Level)] == [
        (0, False),
        (300_000, True),
        (900_000, True),
        (1_400_000, False),
    ]
    assert switch.repeats == 0


def test_after_a_fault_of_the_link_it_is_told_again() -> None:
    recording = SimBench(lambda pins: pins.overflow(1)).run([], until_ns=1_500 * MS, setting=DOOR, levels=OPEN)
    assert [is_open for _, is_open in doors(recording)] == [True, True]
    assert recording.source.door == DoorSeen(True, 1)


def test_a_simulated_door_is_opened_and_closed() -> None:
    evening = script(["valid"], seed=random.Random(3).randrange(9))
    wires = Wires(2, 3, 4, beams=(5, 6, 7, 8), readers=(9, 10, 11), switches={"object": 12, "door": PIN})
    events = [Door(300_000, True, "door"), Door(700_000, False, "door")]
    assert wired.levels(evening.world, wires)[PIN] is False
    edges = [edge for edge in wired.edges(evening.world, events, 1.0, wires) if edge.pin == PIN]
    recording = SimBench().run(edges, until_ns=1_000 * MS, setting=DOOR, levels=CLOSED)
    assert [is_open for _, is_open in doors(recording)] == [False, True, False]
    assert PIN in wires.pins
