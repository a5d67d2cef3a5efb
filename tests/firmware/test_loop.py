"""Wheel, firmware and host in a loop: coups of the simulator's physics on a port's lines, the daemon's board source and
table at the other end of its line, in virtual time."""

from __future__ import annotations

import os
import struct
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from firmware_protocol import messages as m
from hw_sim import events as sim
from hw_sim import wired
from hw_sim.board import BoardSetup, SimBoard
from hw_sim.cable import Cable
from hw_sim.table import SimTable
from tests.firmware import faults
from tests.firmware.faults import FAULTS, Fault
from tests.firmware.harness import record
from tests.firmware.ports import CHIPS, LAYOUT, WIRES, Chip, Mega2560, Port, Posix, Rp2040, Rp2040Usb
from tests.sources.damaged_line import drawn, played

pytestmark = pytest.mark.timeout(600)
PORTS: dict[str, type[Posix] | type[Rp2040] | type[Mega2560]] = {"posix": Posix, **CHIPS}
OWN = ("posix", "rp2040", "mega2560")
"""By USB the program is the RP2040's, but for its line, which has a fault of its own."""
SHORT = 2
COUPS = int(os.environ.get("WHEELD_FIRMWARE_COUPS_IN_LOOP", SHORT))
"""`make test-firmware COUPS=500` is the long form."""


def cases() -> Iterator[tuple[str, str]]:
    """Each fault with a port. The short form tries it on the program and on one chip, by turns: simulating a chip takes
    most of the time."""
    for at, (name, fault) in enumerate(FAULTS.items()):
        able = [port for port in OWN if port not in fault.too_fast_for]
        chips = able[1:] if COUPS > SHORT else [able[1 + at % (len(able) - 1)]]
        yield from ((name, port) for port in (able[0], *chips))


FIRST_SEED = int(os.environ.get("WHEELD_FIRMWARE_FIRST_SEED", "0"))
AT_ONE_TABLE = 5
TABLES = range(-(-COUPS // AT_ONE_TABLE))
KINDS = ("valid", "same_direction", "too_few_laps", "foreign_object", "obstacle_falls", "valid")
PAUSE_FACTOR = 0.1
NO_FAULT = Fault()
TURN_S = 7.0
"""The mark has come by, and the place of the rotor is known."""
LATE_US_MAX = 2
LONGEST_NS = {m.BallPass: 100_000_000, m.PocketSighting: 500_000_000}
"""By the specification."""
ONE_IN = 500


def on_lines(port: str, programs: dict[str, Path], wheel: SimTable, fault: Fault = NO_FAULT, at_us: int = 0) -> Port:
    """The port on the lines of what was played on this wheel."""
    edges = wired.edges(wheel.world, wheel.world.events(wheel.now_s), wheel.now_s, WIRES)
    levels = wired.levels(wheel.world, WIRES)
    return PORTS[port](programs[port], levels, faults.on_lines(edges, levels, fault, at_us * 1000))


def by_sensor(events: Iterable[m.TimedEvent]) -> dict[str, list[m.TimedEvent]]:
    """Two sensors may see two things at the same microsecond, in any order."""
    found = defaultdict(list)
    for one in events:
        number = getattr(one.event, "beam", getattr(one.event, "reader", ""))
        found[f"{type(one.event).__name__} {number}"].append(one)
    return found


def pulses(wheel: SimTable) -> Iterator[m.TimedEvent]:
    """The middle of each pulse of a beam or a reader. When the rotor turns back before a reader, two sightings of the
    physics are one pulse, which may be too long for any. One that began before the boot is none."""
    began_ns: dict[int, int] = {}
    seen: dict[int, m.BallPass | m.PocketSighting] = {pin: m.BallPass(number) for number, pin in enumerate(WIRES.beams)}
    seen |= {pin: m.PocketSighting(number) for number, pin in enumerate(WIRES.readers)}
    for edge in wired.edges(wheel.world, wheel.world.events(wheel.now_s), wheel.now_s, WIRES):
        if edge.pin not in seen or edge.at_ns < 0:
            continue
        if not edge.level:
            began_ns[edge.pin] = edge.at_ns
        elif edge.pin in began_ns and edge.at_ns - began_ns[edge.pin] <= LONGEST_NS[type(seen[edge.pin])]:
            yield m.TimedEvent((began_ns[edge.pin] + edge.at_ns) // 2000, seen[edge.pin])


def worst_us(found: list[m.TimedEvent], wheel: SimTable, late_us_max: int = LATE_US_MAX) -> int:
    """The worst date. Fails if there are not all events that are true, and no other. Rotor edges count from the first
    that was told: before, the mark had not come by."""
    first_us = next(one.board_us for one in found if isinstance(one.event, m.RotorEdge)) - late_us_max
    sensed = [
        m.TimedEvent(one.t_us, one.message)
        for one in wheel.world.events(wheel.now_s)
        if isinstance(one, sim.Switched) or (isinstance(one, sim.RotorEdge) and one.t_us >= first_us)
    ]
    seen, truth = by_sensor(found), by_sensor([*sensed, *pulses(wheel)])
    late = [0]
    assert seen.keys() == truth.keys()
    for sensor, events in truth.items():
        assert [one.event for one in seen[sensor]] == [one.event for one in events]
        late += (one.board_us - other.board_us for one, other in zip(seen[sensor], events, strict=True))
    assert min(late) >= -LATE_US_MAX
    return max(map(abs, late))


def at_table(number: int) -> tuple[int, SimTable]:
    """A few of all coups."""
    first = number * AT_ONE_TABLE
    kinds = [KINDS[coup % len(KINDS)] for coup in range(first, min(COUPS, first + AT_ONE_TABLE))]
    return FIRST_SEED + number, drawn(FIRST_SEED + number, *kinds, pause_factor=PAUSE_FACTOR, wait_s=TURN_S)


@pytest.fixture(scope="module")
def figures(request: pytest.FixtureRequest) -> Iterator[dict[str, Counter[str]]]:
    """Of each test, sums and worst cases, which are printed at the end."""
    all_of: dict[str, Counter[str]] = defaultdict(Counter)
    yield all_of
    capture = request.config.pluginmanager.get_plugin("capturemanager")
    assert capture
    with capture.global_and_fixture_disabled():
        for name, found in all_of.items():
            sys.stdout.write(f"\n{name}: {dict(found)}\n")


def test_the_same_coups_through_every_board(programs: dict[str, Path]) -> None:
    """The same verdicts, and of each sensor the same events, byte by byte. Only the simulated board knows where the
    rotor stands before the mark has come by. Not compared: their dates, which the ATmega2560 has up to 10 µs late, how
    many events are in a frame, and who the board is: its ring is 336 events, the others have 768 or more."""
    wheel = drawn(4, "valid", "foreign_object", pause_factor=PAUSE_FACTOR, wait_s=TURN_S)
    trials = {"simulated": played(wheel, SimBoard(BoardSetup(LAYOUT)), Cable(), 4)}
    for port in OWN:
        with on_lines(port, programs, wheel) as device:
            trials[port] = played(wheel, device, Cable(), 4)
    first_us = next(one.board_us for one in trials["posix"].events if isinstance(one.event, m.RotorEdge)) - LATE_US_MAX
    told = {name: bytes_by_sensor(trial.events, first_us) for name, trial in trials.items()}
    for port in OWN:
        assert trials[port].is_right
        assert trials[port].verdicts == trials["simulated"].verdicts
        assert told[port] == told["simulated"]
    assert sum(map(len, told["posix"].values())) > 4 * 1000


def bytes_by_sensor(events: list[m.TimedEvent], first_us: int) -> dict[str, bytes]:
    """The records without their times."""
    after = (one for one in events if one.board_us >= first_us or not isinstance(one.event, m.RotorEdge))
    told = by_sensor(after).items()
    return {sensor: b"".join(struct.pack("<BBH", *record(one.event)) for one in found) for sensor, found in told}


@pytest.mark.parametrize(("name", "port"), list(cases()))
def test_a_fault_is_told_and_the_table_goes_on(name: str, port: str, programs: dict[str, Path]) -> None:
    """The coup that it befalls, and a valid one after it, have the verdicts of the truth.

    One is not for the ATmega2560: a beam that changes 2,000 times a second gives 1,000 events, and it promises to keep
    224. Its ring of 336 loses many, and the coup is void.
    """
    fault = FAULTS[name]
    wheel = drawn(29, fault.play, "valid", pause_factor=PAUSE_FACTOR, wait_s=TURN_S)
    run = wheel.world.runs[0]
    cuts = [one.t_us for one in wheel.world.direct_events if isinstance(one, sim.SensorState)]
    at_us, back_us = cuts or (round((run.t_s + run.end_s) / 2 * 1e6), 0)
    with on_lines(port, programs, wheel, fault, at_us) as device:
        if fault.begins:
            device.at(at_us, fault.begins)
        if fault.ends:
            device.at(back_us, fault.ends)
        deaf_us = (at_us, at_us + fault.lasts_ns // 1000) if fault.deaf else (0, 0)
        trial = played(wheel, device, Cable(1, damage=fault.damage), 1, deaf_us=deaf_us)
    assert trial.is_right, f"{trial.verdicts}, truth {trial.truth}, {trial.troubles}, {trial.failed}"
    assert fault.troubles <= trial.troubles <= fault.troubles | fault.perhaps
    assert trial.failed == fault.failed
    assert trial.door_openings == fault.openings
    assert trial.counters["board_missed_edges"] == 0


@pytest.mark.parametrize("table", TABLES)
def test_a_damaged_line_loses_no_coup(table: int, programs: dict[str, Path], figures: dict[str, Counter[str]]) -> None:
    """One byte of 500 is another, in both directions."""
    seed, wheel = at_table(table)
    with on_lines("posix", programs, wheel) as device:
        trial = played(wheel, device, Cable(seed, damage=1 / ONE_IN), seed)
    assert trial.is_right, f"{trial.verdicts}, truth {trial.truth}"
    assert trial.troubles <= {("link", "line_damaged")}
    assert (trial.faults, trial.counters["lost_events"]) == (0, 0)
    assert worst_us(trial.events, wheel) <= LATE_US_MAX
    assert trial.replays > 10, "the line was damaged"
    figures["a damaged line"] += Counter(coups=len(trial.truth), events=len(trial.events), replays=trial.replays)


@pytest.mark.parametrize("port", CHIPS)
@pytest.mark.parametrize("table", TABLES)
def test_coups_through_a_chip(
    table: int, port: str, programs: dict[str, Path], figures: dict[str, Counter[str]]
) -> None:
    """Each verdict is the truth, each event is there, and dated as near as an interrupt is."""
    seed, wheel = at_table(table)
    with on_lines(port, programs, wheel) as device:
        trial = played(wheel, device, Cable(), seed)
        assert isinstance(device, Chip)
        measured = device.measured
    assert trial.is_right, f"{trial.verdicts}, truth {trial.truth}"
    assert not trial.troubles
    assert trial.counters["board_missed_edges"] == trial.counters["lost_events"] == trial.replays == 0
    measured |= {"date_us": worst_us(trial.events, wheel, device.LATE_US_MAX), "late_us": trial.late_us}
    assert measured["date_us"] <= device.LATE_US_MAX
    assert measured["stack"] <= device.STACK_BYTES_MAX
    assert measured["interrupt"] < device.INTERRUPT_CYCLES_MAX
    assert measured["busy_ns"] < device.BUSY_NS_MAX
    figures[port] |= Counter(measured)
    figures[f"coups through {port}"] += Counter(coups=len(trial.truth), events=len(trial.events))


def test_a_cable_of_usb_is_out_for_a_moment_while_the_ball_runs(programs: dict[str, Path]) -> None:
    """For 0.7 s: after one of silence the coup would be void. The ring has what happened meanwhile."""
    wheel = drawn(31, "valid", pause_factor=PAUSE_FACTOR, wait_s=TURN_S)
    run = wheel.world.runs[0]
    out_us = round((run.t_s + run.end_s) / 2 * 1e6)
    with on_lines("rp2040 by USB", programs, wheel) as device:
        assert isinstance(device, Rp2040Usb)
        device.at(out_us, lambda _: device.cable(plugged=False))
        device.at(out_us + 700_000, lambda _: device.cable(plugged=True))
        trial = played(wheel, device, Cable(), 31)
    assert trial.is_right, f"{trial.verdicts}, truth {trial.truth}"
    assert not trial.troubles
    assert trial.counters["lost_events"] == 0
    assert worst_us(trial.events, wheel) <= LATE_US_MAX
    assert trial.late_us > 600_000, "it was out"
