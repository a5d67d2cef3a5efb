"""The session against the simulated heads: it reports what was played, and nothing else."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeVar

import pytest

from firmware_protocol.cammegh import events as e
from firmware_protocol.cammegh.session import CammeghSession, Setup
from firmware_protocol.cammegh.status import Flag, Product
from hw_sim.cammegh.cable import ROUGH, CableRates
from hw_sim.cammegh.coups import KINDS, HeadCoup, Model
from hw_sim.cammegh.head import HeadSetup
from tests.cammegh.bench import head, listen, of
from tests.faults.conftest import size_of

COUPS = size_of("coups of a head")
LATE_NS = 8_000_000_000
"""State 5 and a host held up: no two numbers are that near."""
TURNS = ("cw", "ccw")
SEED = int(os.environ.get("WHEELD_CAMMEGH_SEED", "1"))

PORTS = {
    "slingshot-2, port 1": (Model.SLINGSHOT_2, Setup(Product.SLINGSHOT_2), HeadSetup(bonus=True, first_spin=200)),
    "slingshot-2, polled": (
        Model.SLINGSHOT_2,
        Setup(Product.SLINGSHOT_2, poll_ns=250_000_000),
        HeadSetup(mode=1030, first_spin=200),
    ),
    "slingshot-2, port 2": (
        Model.SLINGSHOT_2,
        Setup(Product.SLINGSHOT_2, writable=False, bare_number=False),
        HeadSetup(port=2),
    ),
    "mercury-360, port 1": (Model.MERCURY_360, Setup(Product.MERCURY_360), HeadSetup(first_spin=200)),
    "mercury-360, advanced": (Model.MERCURY_360, Setup(Product.MERCURY_360, extended=False), HeadSetup(first_spin=200)),
}
E = TypeVar("E", bound=e.Event)
each_port = pytest.mark.parametrize("port", PORTS)


def play(port: str, seed: int, rates: CableRates | None = None) -> tuple[list[HeadCoup], list[e.Event]]:
    model, setup, wiring = PORTS[port]
    wheel = head(model, seed, COUPS, rates=rates or CableRates(), setup=wiring)
    return wheel.truth, listen(wheel, CammeghSession(setup))


def voids(events: Iterable[e.Event]) -> list[e.WheelVoid]:
    return of(e.WheelVoid, events)


def rotor_at(events: Sequence[e.Event], number: e.Number) -> int:
    """Which way the rotor turned when the number came, as the simulator writes it."""
    return TURNS.index(of(e.RotorSpeed, events[: events.index(number)])[-1].rotor)


def of_run(kind: type[E], events: Sequence[e.Event], number: e.Number) -> E | None:
    """The latest event of the kind in the run of that number, since the head was last silent: a silence hides whole
    runs, so that the core forgets what it heard before."""
    upto = events[: events.index(number)]
    begun = max(index for index, one in enumerate(upto) if isinstance(one, e.BallSeen | e.Silent))
    return next(iter(of(kind, upto[:begun:-1])), None)


def laps_of(events: Sequence[e.Event], number: e.Number) -> int | None:
    last = of_run(e.Laps, events, number)
    return None if last is None else last.laps


def counts_laps(port: str) -> bool:
    return port == "mercury-360, port 1"


@each_port
def test_every_coup_is_reported_as_it_was_played(port: str) -> None:
    truth, events = play(port, SEED)
    numbered = [coup for coup in truth if coup.number is not None]
    numbers = of(e.Number, events)
    assert [(one.spin, one.number) for one in numbers] == [(one.spin, one.number) for one in numbered], SEED
    assert [rotor_at(events, one) for one in numbers] == [one.rotor for one in numbered], SEED
    assert all(one.whole for one in numbers), SEED
    laps = [one.laps if counts_laps(port) else None for one in numbered]
    assert [laps_of(events, one) for one in numbers] == laps, SEED
    assert len(of(e.BallSeen, events)) == len(truth), SEED
    assert {coup.kind for coup in truth} == set(KINDS[PORTS[port][0]]), SEED


@each_port
def test_nothing_is_reported_that_was_not_played(port: str) -> None:
    truth, events = play(port, SEED + 1)
    restarts = sum(coup.power_cycle for coup in truth[:-1])
    assert len(of(e.WheelRestarted, events)) == restarts, SEED
    assert not any(isinstance(one, e.UnobservedCoup | e.NumberDisagrees | e.CommandIgnored) for one in events), SEED
    assert len(of(e.Silent, events)) - len(of(e.LinesAgain, events)) in {0, 1}, SEED
    assert len(of(e.LinesAgain, events)) == restarts, SEED
    said = Counter(word for coup in truth for word in coup.reports)
    assert len(voids(events)) == said["void"], SEED
    assert len(of(e.SensorFault, events)) == said["sensor_fault"], SEED
    failed = [one for one in of(e.Warned, events) if Flag.LAUNCH_FAILED in one.flags]
    assert len(failed) == said["launch_failed"], SEED
    assert len(of(e.BallOffTrack, events)) == said["off_track"], SEED
    assert len(of(e.SensorFault, events)) - len(of(e.SensorMended, events)) in {0, 1}, SEED


@each_port
def test_the_direction_is_reported_as_it_was(port: str) -> None:
    truth, events = play(port, SEED + 2)
    directions = of(e.BallDirection, events)
    played = truth if counts_laps(port) else []
    assert [(TURNS.index(one.ball), TURNS.index(one.rotor)) for one in directions] == [
        (coup.ball, coup.rotor) for coup in played
    ], SEED


def test_a_runaway_rotor_has_no_speed_and_a_standing_one_has() -> None:
    wheel = head(Model.SLINGSHOT_2, SEED, 40, kinds=["runaway", "valid"])
    events = listen(wheel, CammeghSession(Setup(Product.SLINGSHOT_2)))
    phases = [phase for coup in wheel.truth for phase in coup.phases]
    too_fast = sum(round(phase.rpm_at(line) * 10) > 999 for phase in phases for line in range(phase.lines))
    speeds = of(e.RotorSpeed, events)
    assert sum(one.rpm is None for one in speeds) == too_fast > 0
    assert sum(one.rpm == 0.0 for one in speeds) > 40


@each_port
@pytest.mark.parametrize("seed", range(SEED, SEED + 3))
def test_on_a_rough_cable_none_is_invented_and_none_is_dropped_in_silence(port: str, seed: int) -> None:
    truth, events = play(port, seed, ROUGH)
    numbers = of(e.Number, events)
    played = iter([coup for coup in truth if coup.number is not None])
    missing = []
    for one in numbers:
        for coup in played:
            if 0 <= one.host_ns - coup.number_us * 1000 <= LATE_NS:
                break
            missing.append(coup)
        else:
            pytest.fail(f"seed {seed}: {one} was never played")
        assert (one.spin, one.number) == (coup.spin, coup.number), seed
        assert rotor_at(events, one) == coup.rotor, seed
        assert (laps_of(events, one) or 0) <= coup.laps, seed
        way = of_run(e.BallDirection, events, one)
        assert way is None or TURNS.index(way.ball) == coup.ball, seed
    missing += list(played)
    assert [coup for coup in missing if coup.delivered and not port.endswith("polled")] == [], seed
    assert all(is_accounted_for(coup, events) for coup in missing if coup is not truth[-1]), seed
    assert len(numbers) > COUPS / 4, seed


def is_accounted_for(coup: HeadCoup, events: list[e.Event]) -> bool:
    """Whether the session said around that time that a coup has no result, or that it heard nothing of one."""
    span_ns = range(coup.number_us * 1000 - 20_000_000_000, coup.number_us * 1000 + 90_000_000_000)
    last = [one for one in events if isinstance(one, e.Silent | e.LinesAgain)][-1:]
    if any(isinstance(one, e.Silent) and one.since_ns <= coup.number_us * 1000 for one in last):
        return True  # silent ever since
    kinds = (e.UnobservedCoup, e.NumberDisagrees, e.WheelVoid, e.WheelRestarted)
    return any(isinstance(one, kinds) and one.host_ns in span_ns for one in events)


def test_the_head_answers_commands_as_a_slingshot_does() -> None:
    wheel = head(Model.SLINGSHOT_2, 3, 40, setup=HeadSetup(ignores="h"))
    answers = {
        "*T h 161": "*T OK", "*T H": "*T h 60",  # it says OK and ignores it
        "*T t 1475": "*T OK", "*T T": "*T t 1475", "*T x 1": "*T OK", "*T X": "*T NO", "*T f": "*T OK",
        "*Tr 23000 23000": "*T OK", "*) 1": "*) NO",
        "*o 1159": "*o BUSY", "*K": "*K OK", "*P 1": "*P NO", "*P 0": "*P OK", "*R": "*R OK",
    }  # fmt: skip
    now_us = 0
    for command, answer in answers.items():
        wheel.receive(command.encode() + b"\r")
        now_us += 2_000_000
        wheel.advance(now_us)
        assert f"{answer}\r\n".encode() in wheel.data_to_send(), command
    assert (wheel.received_commands, wheel.parameters["t"]) == (list(answers), "1475")
