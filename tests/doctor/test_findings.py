"""What the doctor says of healthy and of sick sensors: one fault each, named with the sensor and with what to do."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.doctor.alignment import TICKS, do, layout, spun, swapped
from wheeld.core.catalogue import Catalogue
from wheeld.core.observations import (
    BallPass,
    Command,
    Direction,
    ForeignObject,
    Level,
    Observation,
    Rotor,
    SensorState,
    Sighting,
)
from wheeld.core.pockets import SINGLE_ZERO
from wheeld.doctor.findings import (
    CABLE,
    JITTER_BORNE_MS,
    Finding,
    of_buttons,
    of_clock,
    of_direction,
    of_geometry,
    of_link,
    of_pulses,
    of_signals,
    of_way,
    to_learn,
)
from wheeld.doctor.geometry import Learned, Order, learn_beams, spins_of
from wheeld.doctor.signals import Signals
from wheeld.sources.clock import HostTime

BEAMS_DEG = (0.0, 90.0, 180.0, 270.0)
Spoil = Callable[[list[Observation]], Iterable[Observation]]


def findings(seen: Iterable[Observation]) -> list[Finding]:
    signals = Signals(TICKS, SINGLE_ZERO)
    for each in seen:
        signals.take(each)
    return list(of_signals(signals, beams=4, readers=3))


def test_a_healthy_wheel_is_said_to_be_one() -> None:
    listed = findings(spun(layout(BEAMS_DEG), 1)[0])
    assert {each.level for each in listed} == {"ok"}, listed
    assert len(listed) == 4 + 3 + 2


def without(kind: type, index: int, part: int = 1) -> Spoil:
    """Every `part`-th message of that sensor is lost."""

    def spoil(seen: list[Observation]) -> Iterable[Observation]:
        count = 0
        for each in seen:
            if isinstance(each, kind) and index in (getattr(each, "beam", -1), getattr(each, "reader", -1)):
                count += 1
                if count % part == 0:
                    continue
            yield each

    return spoil


def doubled(seen: list[Observation]) -> Iterable[Observation]:
    for n, each in enumerate(seen):
        yield each
        if isinstance(each, BallPass) and each.beam == 2 and n % 3 == 0:
            yield BallPass(each.t_us + 5_000, 2)


def edges_lost(seen: list[Observation]) -> Iterable[Observation]:
    return (each for n, each in enumerate(seen) if not (isinstance(each, Rotor) and n % 50 == 0))


def sectors_dirty(seen: list[Observation]) -> Iterable[Observation]:
    return (each for each in seen if not (isinstance(each, Rotor) and each.tick in (7, 8)))


@pytest.mark.parametrize(
    ("spoil", "level", "what"),
    [
        (without(BallPass, 1), "wrong", "beam 2 never pulsed"),
        (without(BallPass, 3, 4), "look", "beam 4 misses passes"),
        (
            lambda seen: [*without(BallPass, 3)(seen), BallPass(seen[-1].t_us, 3)],
            "wrong",
            "beam 4 has 1 pulses, another beam has",
        ),
        (doubled, "look", "beam 3 pulses twice"),
        (without(Sighting, 0), "wrong", "reader 1 never saw the ball"),
        (edges_lost, "look", "edges lost"),
        (sectors_dirty, "wrong", "2 of 148 sectors never came"),
        (lambda seen: [*seen, SensorState(seen[-1].t_us, "beam/2", ok=False)], "wrong", "beam 3 is reported as broken"),
        (lambda seen: [*seen, ForeignObject(seen[-1].t_us, present=True)], "wrong", "sees a body"),
        (lambda seen: [*seen, BallPass(seen[-1].t_us, 4)], "wrong", "the configuration has 4"),
    ],
)
def test_each_fault_is_named_and_nothing_else(spoil: Spoil, level: str, what: str) -> None:
    listed = [each for each in findings(spoil(spun(layout(BEAMS_DEG), 2)[0])) if each.level != "ok"]
    assert [(each.level, what in each.what, bool(do(each))) for each in listed] == [(level, True, True)], listed


def test_a_reader_that_sees_half_as_often() -> None:
    seen = (
        [Sighting(n, 0) for n in range(20)] + [Sighting(n, 1) for n in range(9)] + [Sighting(n, 2) for n in range(20)]
    )
    listed = [each.what for each in findings(seen) if "reader" in each.what and each.level == "look"]
    assert listed == ["reader 2 saw the ball 9 times, another reader 20 times"]


def test_a_still_wheel_is_asked_to_move() -> None:
    listed = findings([Command(5, "rien_va", "button")])
    assert not any("button" in each.what for each in listed)
    assert [each.level for each in listed] == ["look"] * 3
    assert all(do(each) for each in listed)


def test_signals_count_buttons_and_time() -> None:
    signals = Signals(TICKS, SINGLE_ZERO)
    assert (signals.seconds, signals.rpm, signals.direction) == (0.0, None, None)
    for seen in (Command(1_000_000, "rien_va", "button"), SensorState(3_500_000, "rotor", ok=True)):
        signals.take(seen)
    assert (signals.seconds, dict(signals.buttons), signals.faults) == (2.5, {"rien_va": 1}, {"rotor": False})


def test_how_everything_stands() -> None:
    signals = Signals(TICKS, SINGLE_ZERO)
    assert (signals.stands.get("object"), signals.active) == (None, set())
    for sensor in ("object", "beam/2", "button/rien_va"):
        signals.take(Level(10, sensor, active=True))
    assert (signals.stands.get("object"), signals.active) == (True, {"beam/2", "button/rien_va"})
    signals.take(Level(20, "beam/2", active=False))
    signals.take(ForeignObject(20, present=False))
    assert (signals.stands.get("object"), signals.active) == (False, {"button/rien_va"})


def test_a_slow_rotor_is_reported() -> None:
    seen = [Rotor(n * 100_000, n % TICKS, "cw") for n in range(200)]
    assert any("rpm" in each.what for each in findings(seen) if each.level == "look")


def test_geometry_against_the_configuration() -> None:
    learned = [
        Learned(0, 0.3, 0.1, 9),
        Learned(1, 180.2, 0.1, 9),
        Learned(2, 90.1, 0.1, 9),
        Learned(3, 275.0, 0.1, 9),
        Learned(4, 10.0, 0.1, 9),
    ]
    listed = list(of_geometry(learned, BEAMS_DEG, "beam", to_learn("w.toml")))
    assert [each.level for each in listed] == ["ok", "wrong", "wrong", "wrong", "wrong"]
    assert "beam 2 is where beam 3 should" in listed[1].what
    assert "5° from beams_deg" in listed[3].what
    assert "not in the configuration" in listed[4].what
    assert [do(each) for each in listed[1:4]] == [
        "if A and B of the encoder are right, their wires are swapped: swap them back",
        "if A and B of the encoder are right, their wires are swapped: swap them back",
        "learn the angles with `wheeld doctor w.toml --seconds 180 --learn`, or move the sensor",
    ]
    (soft,) = of_geometry([Learned(0, 0.0, 4.0, 9)], BEAMS_DEG, "beam", to_learn("w.toml"))
    assert (soft.level, "known only to ± 4°" in soft.what) == ("look", True)


def test_how_long_a_ball_blocks_each_beam() -> None:
    (listed,) = of_pulses({"beam/0": (2_150, 4_000)})
    assert listed.what == "beam 1 is blocked for 2.1 to 4 ms"


def test_clock_and_link() -> None:
    assert [each.level for each in of_clock(None)] == ["wrong"]
    told = [
        next(of_clock(HostTime(host_ns=0, error_ns=error_ns, rate_ppb=rate_ppb))).line(Catalogue("en"))
        for error_ns, rate_ppb in ((90_000, 12_000), (2_000_000, 12_000), (2_000_000, -800_000_000))
    ]
    assert [line.split()[0] for line in told] == ["ok", "look", "look"]
    assert ["reduce the load" in line for line in told] == [False, True, False]
    assert "a simulator sets this pace" in told[2]  # as one that plays five times as fast as a real wheel
    assert [each.level for each in of_link({"crc": 0, "events": 7}, frozenset({"events"}))] == ["ok"]
    listed = list(of_link({"lost_events": 3, "events": 7}, frozenset({"events"})))
    assert [each.what for each in listed] == ["link: lost events: 3"]


def test_a_computers_own_pins_have_no_advice_about_their_cable() -> None:
    counters = {"edges": 7, "host_stalls": 5, "encoder_violations": 25, "pulses_too_long": 1, "new": 1}
    listed = {each.what: do(each) for each in of_link(counters, frozenset({"edges"}), "gpio")}
    assert "computer stood still" in listed["gpio: host stalls: 5"]
    assert "A, B and Z" in listed["gpio: encoder violations: 25"]
    assert "stays blocked" in listed["gpio: pulses too long: 1"]
    assert CABLE.english not in listed.values()
    assert [each.mend for each in of_link({"crc": 1}, frozenset())] == [CABLE]


def test_of_a_boards_clock_power_and_host_the_cable_is_not_blamed() -> None:
    counters = {"clock_step": 36, "host_stalls": 5, "link_faults": 1, "lost_events": 1, "resets": 2}
    listed = {each.what: do(each) for each in of_link(counters, frozenset(), "board")}
    assert "a simulator sets this pace" in listed["board: clock step: 36"]
    assert "computer stood still" in listed["board: host stalls: 5"]
    assert "check the power" in listed["board: resets: 2"]
    assert "board.link_fault says why" in listed["board: link faults: 1"]
    assert "nobody fetched them while the wheel was stopped" in listed["board: lost events: 1"]
    assert [each.mend for each in of_link({"crc": 1}, frozenset(), "board")] == [CABLE]


def test_buttons_are_reported() -> None:
    signals = Signals(TICKS, SINGLE_ZERO)
    for t_us in (1, 2):
        signals.take(Command(t_us, "rien_va", "button"))
    listed = [(each.level, each.what) for each in of_buttons(signals, ["rien_va", "tout_va"])]
    assert listed == [("ok", "button rien_va: 2 presses"), ("look", "button tout_va was not pressed")]


def test_an_encoder_without_z_is_said_to_be_one() -> None:
    listed = [
        each
        for each in of_signals(Signals(TICKS, SINGLE_ZERO), beams=0, readers=0, violations=25)
        if each.level != "ok"
    ]
    assert [(each.level, "Z never shows where the rotor is" in each.what) for each in listed] == [("wrong", True)]
    (still,) = of_signals(Signals(TICKS, SINGLE_ZERO), beams=0, readers=0, violations=0)
    assert "turn the rotor" in do(still)


def test_a_swapped_encoder_is_suspected_of_the_way_that_the_ball_ran() -> None:
    def way(seen: list[Observation], ball: Direction | None = None, readers: Order = "same") -> list[Finding]:
        spins = spins_of([each for each in seen if isinstance(each, Rotor | BallPass)], ball=ball)
        beams_deg = (0.0, 90.0, 200.0, 300.0)
        beams = learn_beams(spins, beams_deg)
        return list(of_way(spins, beams, beams_deg, ball_given=ball is not None, readers=readers))

    seen, _ = spun(layout((0.0, 90.0, 200.0, 300.0)), 1, spins=1)
    (spin,) = (each for each in spins_of([each for each in seen if isinstance(each, Rotor | BallPass)]))
    (listed,) = way(swapped(seen), ball=spin.direction)
    assert "the ball ran with the rotor: A and B of the encoder may be swapped" in listed.what
    assert way(swapped(seen)) == [], "of one spin nobody knows"
    assert way(seen, ball=spin.direction) == way(seen) == []
    several, _ = spun(layout((0.0, 90.0, 200.0, 300.0)), 1)
    (listed,) = way(swapped(several))
    assert "A and B of the encoder may be swapped (in 3 spins" in listed.what
    assert "turn the rotor clockwise by hand" in do(listed)
    assert way(several) == []
    (listed,) = way(swapped(seen), readers="mirrored")
    assert (listed.level, "A and B of the encoder are swapped" in listed.what) == ("wrong", True)
    (listed,) = way([], readers="mirrored")
    assert (listed.level, "or two readers, are swapped" in listed.what) == ("look", True)
    assert way(several, readers="mirrored") == [], "the readers alone are"


def test_a_rotor_that_is_told_to_turn_as_it_never_does() -> None:
    seen, _ = spun(layout(BEAMS_DEG), 1, spins=1)
    signals = Signals(TICKS, SINGLE_ZERO)
    assert list(of_direction(signals, "cw")) == []
    for each in seen:
        signals.take(each)
    usual, other = (each for each, _ in signals.edges.most_common())
    assert list(of_direction(signals, None)) == list(of_direction(signals, usual)) == []
    (listed,) = of_direction(signals, other)
    assert (listed.level, listed.code) == ("wrong", "encoder_swapped")


def test_what_is_too_old_to_learn_from_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wheeld.doctor.signals.KEPT_MAX", 10)
    signals = Signals(0, SINGLE_ZERO)
    for t_us in range(13):
        signals.take(Sighting(t_us, 0))
    assert [each.t_us for each in signals.kept] == [*range(3, 13)], "the latest are kept"
    (listed,) = (each for each in of_signals(signals, beams=0, readers=1) if each.level != "ok")
    assert (listed.level, "3 edges, pulses and sightings are too old" in listed.what) == ("look", True)


@pytest.mark.parametrize("a_pocket", JITTER_BORNE_MS)
@pytest.mark.parametrize(("part", "level"), [(0.1, "ok"), (0.5, "ok"), (2.5, "look")])
def test_jitter_of_the_encoder_is_measured_and_compared_with_what_its_sectors_bear(
    a_pocket: int, part: float, level: str
) -> None:
    ticks = a_pocket * SINGLE_ZERO.count
    signals, rng = Signals(ticks, SINGLE_ZERO), random.Random(f"{ticks} {part}")
    sigma_us = JITTER_BORNE_MS[a_pocket] * 1_000 * part
    times_us = [1_000_000 + round(n * 60e6 / 25 / ticks + rng.gauss(0, sigma_us)) for n in range(20 * ticks)]
    for t_us, n in sorted(zip(times_us, range(20 * ticks), strict=True)):
        signals.take(Rotor(t_us, n % ticks, "cw"))
    (found,) = [each for each in of_signals(signals, beams=0, readers=0) if "jitter" in each.what]
    assert found.level == level
    assert f"{ticks} sectors, up to {JITTER_BORNE_MS[a_pocket]:g} ms is harmless" in found.what


def test_the_jitter_that_encoders_bear_is_as_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "wheels.md").read_text()
    assert dict(re.findall(r"^\| (\d+) \| ([\d.]+) \|$", text, re.MULTILINE)) == {
        str(a_pocket * SINGLE_ZERO.count): str(ms) for a_pocket, ms in JITTER_BORNE_MS.items()
    }
