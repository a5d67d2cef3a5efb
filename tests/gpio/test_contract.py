"""Observations made from edges: the same on simulated pins and, with `make test-gpio`, on lines of a real kernel."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec
import pytest

from tests.gpio.bench import BENCHES, ON_LINES, WIRED, Bench, Recording
from wheeld.core.observations import (
    BallPass,
    Command,
    ForeignObject,
    Observation,
    Rotor,
    SensorState,
    Sighting,
    TimePassed,
)
from wheeld.ports import Edge, Pins
from wheeld.sources.gpio.outputs import Outputs
from wheeld.sources.gpio.setting import GpioSetting

MS = 1_000_000
A, B, Z = 2, 3, 4
LONG_S = float(os.environ.get("WHEELD_GPIO_SECONDS", "2"))
EDGES_A_SECOND = 500
TIME_PASSED_MS_MAX = 20
"""Time is reported at least this often; on a real machine a look may come late."""


@pytest.fixture(params=BENCHES, ids=lambda bench: type(bench).__name__)
def bench(request: pytest.FixtureRequest) -> Bench:
    made: Bench = request.param
    return made


def turning(
    steps: Iterable[int],
    *,
    step_ns: int = 4 * MS,
    index: float | None = 5.5,
    turn: int = 148,
    without: Sequence[int] = (),
) -> Iterator[Edge]:
    """A and B going through `steps` (absolute, each one from its neighbour), Z high for a step from `index` on.
    The edges whose places are in `without` do not happen."""
    at_ns, number = 0, 0
    levels = {A: False, B: False, Z: False}
    for before, step in pairwise(steps):
        at_ns += step_ns
        place = step % 4
        for pin, level in ((A, place in (1, 2)), (B, place in (2, 3))):
            if levels[pin] is not level:
                levels[pin] = level
                number += 1
                if number - 1 not in without:
                    yield Edge(pin, level, at_ns)
        # Half a step later Z is inside or past.
        past = turn if index is None else (step + 0.5 - index) % turn
        inside = past < 1 if step > before else 0 < past <= 1
        if levels[Z] is not inside:
            levels[Z] = inside
            yield Edge(Z, inside, at_ns + step_ns // 2)


def rotor(recording: Recording) -> list[tuple[int, str]]:
    return [(seen.tick, seen.direction) for seen in recording.all if isinstance(seen, Rotor)]


def states(recording: Recording) -> list[tuple[str, bool]]:
    return [(seen.sensor, seen.ok) for seen in recording.all if isinstance(seen, SensorState)]


def pulse(pin: int, at_ns: int, width_ns: int) -> list[Edge]:
    """A sensor that pulls low is blocked for a while."""
    return [Edge(pin, False, at_ns), Edge(pin, True, at_ns + width_ns)]


def near(bench: Bench, recording: Recording, seen: Observation, expected: Observation) -> None:
    """`seen` equals `expected`, and its time is right, apart from how late the edge was made."""
    assert msgspec.structs.replace(seen, t_us=expected.t_us) == expected
    assert expected.t_us - 2 <= seen.t_us <= expected.t_us + bench.late_us + recording.slipped_us


def test_nothing_is_known_before_the_index_and_everything_after_it_both_ways(bench: Bench) -> None:
    recording = bench.run(turning([*range(20), *range(18, -5, -1)]), until_ns=200 * MS)
    up = [(tick, "cw") for tick in range(6, 20)]
    down = [(tick, "ccw") for tick in (*range(18, -1, -1), 147, 146, 145, 144)]
    assert rotor(recording) == up + down
    assert states(recording) == []


def test_slots_have_a_tick_for_each_period(bench: Bench) -> None:
    setting = msgspec.structs.replace(WIRED, encoder="slots", index_tick=1)
    edges = turning([*range(20), *range(18, 2, -1)])
    recording = bench.run(edges, until_ns=200 * MS, setting=setting, rotor_ticks=37)
    assert rotor(recording) == [(2, "cw"), (3, "cw"), (4, "cw"), (3, "ccw"), (2, "ccw"), (1, "ccw"), (0, "ccw")]


def test_steps_that_got_lost_are_found_at_the_next_index_and_two_more_must_agree(bench: Bench) -> None:
    recording = bench.run(turning(range(480), step_ns=2 * MS, without=[40]), until_ns=1_000 * MS)
    assert states(recording) == [("rotor", False), ("rotor", True)]
    assert rotor(recording)[-1] == (479 % 148, "cw")
    assert recording.source.sensors["rotor"]


def test_an_index_that_never_comes_is_reported(bench: Bench) -> None:
    recording = bench.run(turning(range(170), step_ns=2 * MS, index=None), until_ns=400 * MS)
    assert states(recording) == [("rotor", False)]
    assert rotor(recording) == []


def test_a_ball_is_dated_at_its_middle_and_what_is_no_ball_is_not_reported(bench: Bench) -> None:
    edges = [
        *pulse(5, 20 * MS, 10 * MS),
        *pulse(6, 60 * MS, 3 * MS),
        *pulse(7, 100 * MS, 40 * MS),
        *pulse(8, 200 * MS, 150 * MS),
    ]
    recording = bench.run(edges, until_ns=400 * MS)
    passes = recording.of(BallPass)
    assert len(passes) == 3
    near(bench, recording, passes[0], BallPass(25_000, beam=0))
    near(bench, recording, passes[1], BallPass(61_500, beam=1))
    near(bench, recording, passes[2], BallPass(120_000, beam=2))
    assert recording.source.counters["pulses_too_long"] == 1
    assert states(recording) == []


def test_a_beam_that_stays_blocked_does_not_work_until_it_is_free(bench: Bench) -> None:
    setting = msgspec.structs.replace(WIRED, beam_blocked_s_max=0.3)
    recording = bench.run(pulse(6, 20 * MS, 500 * MS), until_ns=600 * MS, setting=setting)
    broken, mended = recording.of(SensorState)
    near(bench, recording, mended, SensorState(520_000, sensor="beam/1", ok=True))
    near(bench, recording, broken, SensorState(320_000, sensor="beam/1", ok=False))
    assert recording.of(BallPass) == []


def test_a_beam_that_is_blocked_from_the_start_is_found_too(bench: Bench) -> None:
    setting = msgspec.structs.replace(WIRED, beam_blocked_s_max=0.2)
    recording = bench.run([Edge(6, True, 300 * MS)], until_ns=400 * MS, setting=setting, levels={6: False})
    assert states(recording) == [("beam/1", False), ("beam/1", True)]


def test_a_reader_may_be_blocked_while_the_rotor_stands_but_not_while_it_turns(bench: Bench) -> None:
    standing = bench.run(pulse(9, 0, 700 * MS), until_ns=800 * MS)
    assert (states(standing), standing.of(Sighting)) == ([], [])
    edges = sorted([*turning(range(40)), *pulse(9, 10 * MS, 100 * MS)], key=lambda edge: edge.at_ns)
    turned = bench.run(edges, until_ns=200 * MS)
    assert states(turned) == [("reader/0", False), ("reader/0", True)]
    passing = bench.run(pulse(10, 20 * MS, 80 * MS), until_ns=200 * MS)
    near(bench, passing, passing.of(Sighting)[0], Sighting(60_000, reader=1))


def test_contacts_that_bounce_count_once(bench: Bench) -> None:
    bounces = [(0, False), (1, True), (2, False), (4, True), (5, False), (80, True), (81, False), (82, True)]
    edges = [Edge(pin, level, (20 + ms) * MS) for ms, level in bounces for pin in (13,)]
    edges += [Edge(12, level, ms * MS) for ms, level in ((150, False), (151, True), (152, False), (200, True))]
    edges += [Edge(14, False, 240 * MS), Edge(14, True, 250 * MS)]  # too short for a press
    recording = bench.run(edges, until_ns=300 * MS)
    assert [msgspec.structs.replace(seen, t_us=0) for seen in recording.seen] == [
        Command(0, name="rien_va", by="button"),
        ForeignObject(0, present=True),
        ForeignObject(0, present=False),
    ]
    near(bench, recording, recording.seen[0], Command(25_000, name="rien_va", by="button"))
    near(bench, recording, recording.seen[1], ForeignObject(152_000, present=True))


def test_everything_is_in_order_and_time_is_reported_often(bench: Bench) -> None:
    edges = [*turning(range(300), step_ns=2 * MS)]
    for number in range(8):
        edges += pulse(5 + number % 4, (20 + 70 * number) * MS, 11 * MS)
        edges += pulse(9 + number % 3, (15 + 70 * number) * MS, 15 * MS)
    recording = bench.run(sorted(edges, key=lambda edge: edge.at_ns), until_ns=600 * MS)
    times = [seen.t_us for seen in recording.all]
    assert times == sorted(times)
    assert (len(recording.of(BallPass)), len(recording.of(Sighting))) == (8, 8)
    gaps = [after.t_us - before.t_us for before, after in pairwise(recording.of(TimePassed))]
    if ON_LINES:  # a late look reports late
        gaps = sorted(gaps)[: len(gaps) * 9 // 10]
    assert max(gaps) <= TIME_PASSED_MS_MAX * 1_000
    assert recording.source.counters["late_edges"] == 0


def test_500_edges_a_second_arrive_to_the_last(bench: Bench) -> None:
    steps = round(LONG_S * EDGES_A_SECOND)
    edges = list(turning(range(steps + 1), step_ns=1_000 * MS // EDGES_A_SECOND))
    recording = bench.run(edges, until_ns=round(LONG_S * 1e9))
    counters = recording.source.counters
    planned = [(step % 148, "cw") for step in range(6, steps + 1)]
    assert counters["lost_edges"] == 0, counters
    assert len(edges) <= counters["edges"] <= len(edges) + 3, counters  # A, B and Z may have been set low first
    if ON_LINES and counters["host_stalls"]:  # no fault of ours: a late edge must be said, and nothing wrong be told
        coming = iter(planned)
        assert all(tick in coming for tick in rotor(recording)), counters
        assert not counters["late_edges"] or ("link", False) in states(recording), counters
        return
    assert counters["late_edges"] == 0, counters
    assert rotor(recording) == planned
    assert states(recording) == []


def test_lamps_follow_the_table(bench: Bench) -> None:
    def drive(*states: str) -> dict[int, bool]:
        def show(pins: Pins) -> None:
            outputs = Outputs(WIRED, pins)
            for number, state in enumerate(states):
                outputs.show(state, number * 100 * MS)

        return bench.output(show, (16, 17, 18))

    assert drive() == {16: False, 17: False, 18: False}
    assert drive("faites_vos_jeux") == {16: False, 17: False, 18: False}
    assert drive("ball_running", "rien_va") == {16: True, 17: True, 18: True}
    assert drive("rien_va") == {16: True, 17: False, 18: True}


def test_only_wired_pins_are_used(bench: Bench) -> None:
    buttons = GpioSetting(provider="rpi-lgpio", button_rien_va=13)
    recording = bench.run(pulse(13, 20 * MS, 60 * MS), until_ns=120 * MS, setting=buttons)
    (pressed,) = recording.seen
    near(bench, recording, pressed, Command(20_000, name="rien_va", by="button"))
