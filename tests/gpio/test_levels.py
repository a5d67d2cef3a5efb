"""How lines stand: read at the start and after each gap (docs/rulebook.md 7)."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.evening import FRENCH, START_UTC_US
from tests.core.table_in_state import table_in
from tests.gpio.bench import ROTOR_TICKS, WIRED
from tests.gpio.test_contract import MS, pulse
from tests.gpio.test_source import Rig
from wheeld.core.observations import BallPass, Command, ForeignObject, Level, SensorState
from wheeld.core.pockets import SINGLE_ZERO
from wheeld.core.table import Table
from wheeld.ports import Edge
from wheeld.sources.gpio.source import GpioSource
from wheeld.sources.line_state import GOOD_US

BEAM, READER, OBJECT, RIEN_VA = 6, 9, 12, 13
GOOD_NS = GOOD_US * 1_000
"""After a fault the pins must have been good for so long."""
ALL = {
    *(f"beam/{number}" for number in range(4)),
    *(f"reader/{number}" for number in range(3)),
    *(f"button/{name}" for name in ("rien_va", "tout_va", "operations_done")),
    "object",
}


def active(rig: Rig, since: int = 0) -> set[str]:
    """What was told to be active, of the levels from number `since` on; all of them are there once."""
    levels = [seen for seen in rig.observations if isinstance(seen, Level)][since:]
    assert {seen.sensor for seen in levels} == ALL
    assert len(levels) == len(ALL)
    return {seen.sensor for seen in levels if seen.active}


def restarted(rig: Rig) -> None:
    """The daemon starts again on the same lines."""
    rig.pins.close()
    rig.source = GpioSource(WIRED, rig.pins, pockets=SINGLE_ZERO, rotor_ticks=ROTOR_TICKS, host_ns=0)
    rig.observations = []


def test_at_the_start_everything_is_told_once() -> None:
    rig = Rig()
    rig.looks(300 * MS)
    assert active(rig) == set()


def test_what_is_active_at_the_start_is_told_and_its_end() -> None:
    rig = Rig(held=(BEAM, READER, OBJECT, RIEN_VA))
    rig.looks(300 * MS)
    assert active(rig) == {"beam/1", "reader/0", "object", "button/rien_va"}
    assert rig.of(Command) == []  # it was not pressed
    rig.pins.play(Edge(pin, True, 400 * MS) for pin in (BEAM, READER, OBJECT, RIEN_VA))
    rig.looks(800 * MS)
    ended = [seen for seen in rig.observations if isinstance(seen, Level)][len(ALL) :]
    assert sorted((seen.sensor, seen.active) for seen in ended) == [
        ("beam/1", False),
        ("button/rien_va", False),
        ("reader/0", False),
    ]
    assert rig.of(ForeignObject) == [ForeignObject(400_000, present=False)]
    assert rig.of(BallPass) == []
    rig.pins.play(pulse(BEAM, 1_000 * MS, 12 * MS))
    rig.pins.play(pulse(RIEN_VA, 1_100 * MS, 150 * MS))
    rig.looks(1_600 * MS)
    assert rig.of(BallPass) == [BallPass(1_006_000, beam=1)]
    assert rig.of(Command) == [Command(1_100_000, name="rien_va", by="button")]
    assert len([seen for seen in rig.observations if isinstance(seen, Level)]) == len(ALL) + 3


def test_after_a_restart_an_object_that_came_meanwhile_is_there_and_one_that_went_is_gone() -> None:
    rig = Rig()
    rig.looks(300 * MS)
    rig.pins.close()
    rig.pins.play([Edge(OBJECT, False, 400 * MS)])
    rig.pins.advance(500 * MS)
    restarted(rig)
    rig.looks(900 * MS)
    assert active(rig) == {"object"}
    rig.pins.close()
    rig.pins.play([Edge(OBJECT, True, 1_000 * MS)])
    rig.pins.advance(1_100 * MS)
    restarted(rig)
    rig.looks(1_500 * MS)
    assert active(rig) == set()


def test_after_a_gap_everything_is_told_again_as_the_lines_are_read() -> None:
    rig = Rig()
    rig.report([Edge(OBJECT, False, 300 * MS), Edge(BEAM, False, 310 * MS)], lost=(0, 1))  # nothing reports these edges
    rig.looks(500 * MS)
    assert active(rig) == set()
    rig.pins.overflow(2)
    rig.looks(900 * MS + GOOD_NS)
    assert rig.states[-2:] == [("link", False), ("link", True)]
    assert active(rig, len(ALL)) == {"object", "beam/1"}
    fault = next(at for at, seen in enumerate(rig.observations) if isinstance(seen, SensorState))
    assert all(at > fault for at, seen in enumerate(rig.observations) if isinstance(seen, Level) and seen.active)


def test_an_edge_on_its_way_at_the_end_of_a_gap_counts_once() -> None:
    """The level is that of the moment up to which edges have been processed, not of the moment of the reading."""
    rig = Rig()
    rig.looks(500 * MS)
    rig.pins.overflow(1)
    rig.pins.play(pulse(RIEN_VA, 560 * MS + GOOD_NS, 150 * MS))
    rig.looks(1_000 * MS + GOOD_NS)
    assert rig.of(Command) == [Command(560_000 + GOOD_US, name="rien_va", by="button")]
    assert active(rig, len(ALL)) == set()
    assert rig.states.count(("link", False)) == 1


def test_a_stuck_beam_that_came_free_in_a_gap_works_again() -> None:
    rig = Rig(held=(BEAM,))
    rig.looks(2_500 * MS)
    assert rig.states == [("beam/1", False)]
    rig.report([Edge(BEAM, True, 2_600 * MS)], lost=(0,))
    rig.pins.overflow(1)
    rig.looks(3_000 * MS + GOOD_NS)
    assert ("beam/1", True) in rig.states
    assert rig.source.sensors["beam/1"]


@pytest.mark.parametrize("came", [True, False])
def test_a_daemon_on_pins_starts_with_what_lies_there_and_not_with_what_it_remembers(*, came: bool) -> None:
    rig = Rig(held=(OBJECT,) if came else ())
    before = table_in("operations")
    before.drop(present=not came)
    setting = msgspec.structs.replace(FRENCH, levels=True)
    table, opening = Table.start(setting, boot_id="b", started_utc_us=START_UTC_US, memory=before.memory)
    steps = [opening]
    rig.looks(300 * MS)
    steps += [table.apply(seen) for seen in rig.observations]
    codes = [
        msgspec.json.decode(message.payload)["waiting_codes"]
        for step in steps
        for message in step.messages
        if message.topic == "table"
    ]
    assert codes == [["object_level", "operations_done"], [*(["clear_object"] if came else []), "operations_done"]]
