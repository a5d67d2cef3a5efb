"""What only simulated pins can show: edges that are lost or late, a host that stalls; and the parts without I/O."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import pairwise

import msgspec
import pytest

from hw_sim.pins import SimPins
from tests.gpio.bench import LOOK_NS, ROTOR_TICKS, WIRED, SimBench, at, idle, look
from tests.gpio.test_contract import MS, A, B, Z, pulse, rotor, states, turning
from wheeld.core.facts import Trouble
from wheeld.core.observations import BallPass, ClockReading, ForeignObject, Observation, Rotor, SensorState
from wheeld.core.pockets import SINGLE_ZERO
from wheeld.ports import Edge, PinsError, Pull
from wheeld.sources.chatter import PULSES
from wheeld.sources.gpio.debounce import Blockage, Contact
from wheeld.sources.gpio.encoder import Encoder, Line
from wheeld.sources.gpio.intake import Intake
from wheeld.sources.gpio.source import RECOVER_NS, SETTLE_NS, GpioSource
from wheeld.sources.line_state import GOOD_US

LINES: dict[int, Line] = {2: "a", 3: "b", 4: "z"}


def swallow(pin: int, edges: int) -> Callable[[SimPins], None]:
    return lambda pins: pins.swallow(pin, edges)


def test_a_lost_edge_is_a_fault_of_the_link_and_the_rotor_is_unknown_until_the_next_index() -> None:
    recording = SimBench(swallow(A, 1)).run(turning(range(170), step_ns=2 * MS), until_ns=1_400 * MS)
    assert states(recording) == [("rotor", False), ("link", False), ("rotor", True), ("link", True)]
    assert recording.source.counters["lost_edges"] == 1
    assert rotor(recording) == [(step % 148, "cw") for step in range(6, 170)]


def test_edges_that_overflow_the_buffer_are_a_fault_too() -> None:
    recording = SimBench(lambda pins: pins.overflow(7)).run(turning(range(20)), until_ns=1_400 * MS)
    assert states(recording) == [("rotor", False), ("link", False), ("link", True), ("rotor", True)]
    assert (recording.source.counters["lost_edges"], recording.source.counters["link_faults"]) == (7, 1)


class Rig:
    """A source on pins, of which those in `held` are active at first, with a clock that the test advances."""

    def __init__(self, *, error_ns: int = 0, pins: SimPins | None = None, held: Collection[int] = ()) -> None:
        self.pins = SimPins(error_ns=error_ns) if pins is None else pins
        self.pins.play(Edge(pin, level is not (pin in held), 0) for pin, level in idle(WIRED).items())
        self.pins.advance(0)
        self.source = GpioSource(WIRED, self.pins, pockets=SINGLE_ZERO, rotor_ticks=ROTOR_TICKS, host_ns=0)
        self.observations: list[Observation] = []

    def looks(self, until_ns: int) -> None:
        while self.pins.now_ns < until_ns:
            self.jump(LOOK_NS)

    def jump(self, by_ns: int) -> None:
        self.pins.advance(self.pins.now_ns + by_ns)
        look(self.source, self.pins.now_ns, 0, self.observations, lambda _seen, _base: None)

    def report(self, edges: Iterable[Edge], *, lost: Collection[int] = ()) -> None:
        """Make edges without a number, as on every chip, each at its time; those at places `lost` are not reported."""
        for place, edge in enumerate(edges):
            self.looks(edge.at_ns)
            self.pins._levels[edge.pin] = edge.level
            if place not in lost:
                self.pins._reported.append(edge)

    @property
    def states(self) -> list[tuple[str, bool]]:
        return [(seen.sensor, seen.ok) for seen in self.observations if isinstance(seen, SensorState)]

    def of(self, kind: type[Observation]) -> list[Observation]:
        return [seen for seen in self.observations if isinstance(seen, kind)]


def test_after_a_stall_nothing_is_reported_until_the_waiting_edges_have_come() -> None:
    rig = Rig()
    rig.pins.play(pulse(5, 160 * MS, 10 * MS))
    rig.looks(150 * MS)
    rig.jump(400 * MS)
    rig.looks(550 * MS + RECOVER_NS - LOOK_NS)
    assert rig.observations[-1].t_us == (150 * MS - SETTLE_NS) // 1_000
    rig.looks(rig.pins.now_ns + RECOVER_NS + SETTLE_NS + 2 * LOOK_NS)
    assert rig.of(BallPass) == [BallPass(165_000, beam=0)]
    assert rig.source.counters["host_stalls"] == 1
    assert rig.observations[-1].t_us > 500_000


@pytest.mark.parametrize("every_ms", [31, 60, 99, 101, 400])
def test_a_host_that_always_looks_too_seldom_reports_late_but_reports(every_ms: int) -> None:
    rig = Rig()
    rig.pins.play(pulse(5, 160 * MS, 10 * MS))
    for _ in range(10_000 // every_ms):
        rig.jump(every_ms * MS)
        assert rig.observations[-1].t_us >= rig.pins.now_ns // 1_000 - 2 * every_ms * 1_000 - 200_000
    assert rig.of(BallPass) == [BallPass(165_000, beam=0)]
    assert rig.of(SensorState) == []


def test_reports_that_are_late_for_too_long_are_a_fault_until_they_are_in_time() -> None:
    rig = Rig()
    rig.looks(100 * MS)
    for _ in range(5):
        rig.jump(1_200 * MS)
    assert rig.states == [("link", False)]
    assert rig.source.counters["link_faults"] == 1
    rig.looks(rig.pins.now_ns + 200 * MS + GOOD_US * 1_000)
    assert rig.states == [
        ("link", False),
        ("link", True),
    ]
    assert rig.source.is_up


def test_a_beam_that_was_stuck_and_is_free_again_before_the_next_look_is_reported() -> None:
    rig = Rig()
    rig.pins.play(pulse(6, 100 * MS, 2_500 * MS))
    rig.looks(90 * MS)
    rig.jump(3_000 * MS)
    rig.looks(3_500 * MS)
    assert rig.of(SensorState) == [
        SensorState(2_100_000, sensor="beam/1", ok=False),
        SensorState(2_600_000, sensor="beam/1", ok=True),
    ]


@pytest.mark.parametrize("every_ms", [1, 3, 4])
def test_an_object_line_that_changes_all_the_time_is_an_object_until_it_rests(every_ms: int) -> None:
    spark = [Edge(12, bool(number % 2), (20 + every_ms * number) * MS) for number in range(4)]
    chatter = [Edge(12, bool(number % 2), (100 + every_ms * number) * MS) for number in range(200)]
    recording = SimBench().run([*spark, *chatter], until_ns=1_100 * MS)
    there, gone = recording.of(ForeignObject)
    assert msgspec.structs.replace(there, t_us=0) == ForeignObject(0, present=True)
    assert 115_000 <= there.t_us <= 130_000
    assert gone == ForeignObject(100_000 + every_ms * 199_000, present=False)
    assert [seen.t_us for seen in recording.all] == sorted(seen.t_us for seen in recording.all)


def test_an_edge_older_than_the_last_report_is_a_fault_and_gives_no_observation() -> None:
    rig = Rig()
    rig.looks(200 * MS)
    rig.pins._reported += pulse(5, 50 * MS, 10 * MS)
    rig.looks(220 * MS)
    assert rig.of(BallPass) == []
    assert rig.states[:2] == [
        ("rotor", False),
        ("link", False),
    ]
    assert rig.source.counters["late_edges"] == 2
    rig.pins._reported += pulse(5, 50 * MS, 10 * MS)
    rig.jump(LOOK_NS)
    rig.pins.overflow(1)
    rig.jump(LOOK_NS)
    assert not rig.source.is_up
    assert rig.source.counters["link_faults"] == 1
    assert rig.source.troubles == {"link": (Trouble.EDGES_LOST,)}


def test_the_clock_is_read_about_once_a_second_and_dates_the_observations() -> None:
    rig = Rig()
    rig.looks(3_000 * MS)
    readings = [seen for seen in rig.observations if isinstance(seen, ClockReading)]
    assert len(readings) == 4
    assert all(800_000 <= after.t_us - before.t_us <= 920_000 for before, after in pairwise(readings))
    assert {seen.utc_us - seen.t_us for seen in readings} == {1_800_000_000_000_000}
    assert rig.source.now_us(5_000 * MS) == 5_000_000
    at_now = rig.source.clock_now(7)
    assert (at_now.host_ns, at_now.error_ns, at_now.rate_ppb) == (7, 0, 0)


@pytest.mark.parametrize("seed", range(20))
def test_pins_that_overtake_each_other_change_nothing(seed: int) -> None:
    rng = random.Random(seed)
    edges = list(turning(range(300), step_ns=2 * MS))
    edges += [edge for number in range(6) for edge in pulse(5 + number % 4, (30 + 90 * number) * MS, 11 * MS)]
    edges.sort(key=lambda edge: edge.at_ns)
    straight = SimBench().run(edges, until_ns=600 * MS)
    rig = Rig()
    base_ns = 100 * MS
    arrivals: list[tuple[int, Edge]] = []
    by_pin: dict[int, int] = {}
    for edge in edges:  # those of one pin stay in order
        moved = at(edge, base_ns)
        by_pin[edge.pin] = max(by_pin.get(edge.pin, 0), moved.at_ns + rng.randrange(20 * MS))
        arrivals.append((by_pin[edge.pin], moved))
    arrivals.sort(key=lambda arrival: arrival[0])
    while arrivals or rig.pins.now_ns < 1_000 * MS:
        while arrivals and arrivals[0][0] <= rig.pins.now_ns:
            rig.pins._reported.append(arrivals.pop(0)[1])
        rig.jump(LOOK_NS)
    assert [(seen.tick, seen.direction) for seen in rig.observations if isinstance(seen, Rotor)] == rotor(straight), (
        seed
    )
    assert len(rig.of(BallPass)) == 6, seed
    assert rig.source.counters["late_edges"] == 0, seed


def test_a_pin_that_is_taken_is_an_error() -> None:
    pins = SimPins()
    pins.drive(2, level=True)
    with pytest.raises(PinsError, match="pin 2 is in use"):
        GpioSource(WIRED, pins, pockets=SINGLE_ZERO, rotor_ticks=ROTOR_TICKS, host_ns=0)
    pins.listen(50, "off")
    with pytest.raises(PinsError, match="pin 50 is in use"):
        pins.drive(50, level=True)


def test_edges_beyond_the_limit_are_counted_as_lost() -> None:
    intake = Intake(edges_max=3)
    edges = [Edge(1, bool(number % 2), number) for number in range(5)]
    for edge in edges:
        intake.put(edge)
    taken = intake.take()
    assert (taken.edges, taken.lost) == (edges[:3], 2)
    intake.put(edges[4])
    assert intake.take().edges == [edges[4]]


def test_edges_of_another_thread_are_all_there() -> None:
    intake = Intake()

    def put() -> None:
        for number in range(5_000):
            intake.put(Edge(1, True, number))

    thread = threading.Thread(target=put)
    thread.start()
    seen: list[Edge] = []
    while thread.is_alive() or len(seen) < 5_000:
        seen += intake.take().edges
    thread.join()
    assert [edge.at_ns for edge in seen] == list(range(5_000))


class RacingPins(SimPins):
    """An edge of `racing` comes between the start of its edges and the reading of its level: it is in both."""

    racing = A

    def listen(self, pin: int, pull: Pull) -> bool:
        level = super().listen(pin, pull)
        if pin != self.racing:
            return level
        self._levels[pin] = not level
        self._reported.append(Edge(pin, not level, self.now_ns))
        return not level


@pytest.mark.parametrize(("racing", "way"), [(A, 1), (B, -1)])
def test_an_edge_that_is_also_in_the_first_level_is_not_lost(
    racing: int, way: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RacingPins, "racing", racing)
    rig = Rig(pins=RacingPins())
    happened, *edges = turning(range(0, way * 170, way))
    assert happened.pin == racing
    rig.pins.play(at(edge, 50 * MS) for edge in edges)
    rig.looks(1_000 * MS)
    assert rig.states == []
    assert [seen.tick for seen in rig.observations if isinstance(seen, Rotor)][-1] == way * 169 % 148
    assert rig.source.counters["encoder_violations"] == 0


class Turned:
    """An encoder with its lines and what it reported."""

    def __init__(self, *, index: int = 5) -> None:
        self.encoder = Encoder("quadrature", 148, index)
        self.observations: list[object] = []

    def go(self, edges: list[Edge]) -> None:
        for edge in edges:
            self.observations += self.encoder.edge(LINES[edge.pin], edge.at_ns // 1_000, level=edge.level)

    @property
    def states(self) -> list[bool]:
        return [seen.ok for seen in self.observations if isinstance(seen, SensorState)]


def test_without_first_levels_an_encoder_waits_for_an_edge_of_each_line() -> None:
    turned = Turned()
    turned.go(list(turning(range(30))))
    assert [seen.tick for seen in turned.observations if isinstance(seen, Rotor)] == list(range(6, 30))


def test_a_line_that_is_torn_off_is_found_at_the_second_index() -> None:
    turned = Turned()
    for line in LINES.values():
        turned.encoder.stand(line, level=False)
    turned.go([edge for edge in turning(range(148 * 3)) if edge.pin != 3])
    assert turned.states == [False]
    assert not turned.encoder.ok


@pytest.mark.parametrize("way", [1, -1])
@pytest.mark.parametrize("level", [False, True])
@pytest.mark.parametrize("dead", [2, 3])
@pytest.mark.parametrize("index", range(4))
def test_a_line_that_is_dead_from_the_start_is_found_within_two_turns(
    index: int, dead: int, *, level: bool, way: int
) -> None:
    turned = Turned(index=index)
    for pin, line in LINES.items():
        turned.encoder.stand(line, level=level and pin == dead)
    path = range(0, way * 148 * 5, way)
    turned.go([edge for edge in turning(path, index=index + 0.5) if edge.pin != dead])
    assert turned.states == [False]
    (found,) = (seen for seen in turned.observations if isinstance(seen, SensorState))
    assert found.t_us <= 2.1 * 148 * 4_000


@pytest.mark.parametrize("dead", ["a", "b"])
def test_a_line_that_dies_is_found_at_z_and_works_again_when_two_passes_agree(dead: str) -> None:
    edges = list(turning(range(148 * 8), index=7.5))
    dies_ns, mends_ns = (round(148 * 4 * MS * turns) for turns in (1.5, 4.5))
    turned = Turned(index=7)
    turned.go([edge for edge in edges if LINES[edge.pin] != dead or not dies_ns <= edge.at_ns < mends_ns])
    first, last = (seen for seen in turned.observations if isinstance(seen, SensorState))
    assert (first.ok, last.ok) == (False, True)
    assert dies_ns <= first.t_us * 1_000 <= dies_ns + 148 * 4 * MS
    assert mends_ns <= last.t_us * 1_000 <= mends_ns + 3 * 148 * 4 * MS
    assert [seen.tick for seen in turned.observations if isinstance(seen, Rotor)][-1] == 147


def test_a_rotor_that_rattles_where_it_stands_is_no_fault() -> None:
    turned = Turned()
    beside_z = [7, 8] * 200
    turned.go(list(turning([*range(100), *[98, 99] * 200, *range(98, 7, -1), *beside_z, *range(7, -300, -1)])))
    assert turned.states == []


def test_an_index_out_of_step_with_the_lines_is_refused() -> None:
    turned = Turned()
    turned.go(list(turning(range(320), index=7.5)))
    assert turned.states == [False]
    assert [seen for seen in turned.observations if isinstance(seen, Rotor)] == []


@pytest.mark.parametrize("index", [4.5, 5.5, 6.5])
def test_an_index_a_step_early_or_late_gives_the_same_ticks(index: float) -> None:
    turned = Turned()
    turned.go(list(turning([*range(320), *range(318, 0, -1)], index=index)))
    assert turned.states == []
    assert [seen.tick for seen in turned.observations if isinstance(seen, Rotor)][-1] == 1


def test_after_a_stray_index_two_must_agree_before_anything_is_reported_again() -> None:
    turned = Turned()
    edges = list(turning(range(148 * 4)))
    place = next(number for number, edge in enumerate(edges) if edge.at_ns >= 240 * MS)
    stray = [Edge(Z, True, edges[place].at_ns + 1), Edge(Z, False, edges[place].at_ns + 2)]
    turned.go([*edges[: place + 1], *stray, *edges[place + 1 :]])
    assert turned.states == [False, True]
    ticks = [seen.tick for seen in turned.observations if isinstance(seen, Rotor)]
    assert ticks[-1] == 147
    assert all((after - before) % 148 == 1 for before, after in pairwise(ticks[-200:]))


def bouncing(edges: Iterable[Edge]) -> Iterator[Edge]:
    """Z closes twice at each of its edges."""
    for edge in edges:
        yield edge
        if edge.pin == Z:
            yield Edge(Z, not edge.level, edge.at_ns + 20_000)
            yield Edge(Z, edge.level, edge.at_ns + 40_000)


@pytest.mark.parametrize(("index", "back_to"), [(4.5, 1), (5.5, 1), (6.5, 310)])
def test_an_index_that_bounces_at_both_its_edges_is_one(index: float, back_to: int) -> None:
    turned = Turned()
    turned.go(list(bouncing(turning([*range(320), *range(318, back_to - 1, -1)], index=index))))
    assert turned.states == []
    assert turned.encoder.violations == 0
    assert [seen.tick for seen in turned.observations if isinstance(seen, Rotor)][-1] == back_to % 148


def test_a_hand_that_turns_the_rotor_back_within_a_step_at_the_end_of_z_is_no_fault() -> None:
    edges = list(turning([*range(7), *range(5, -170, -1)]))
    left = next(place for place, edge in enumerate(edges) if edge.pin == Z and not edge.level)
    back = edges[left + 1]
    passed_again = [Edge(Z, True, back.at_ns - 1), back, Edge(Z, False, back.at_ns + 2 * MS)]
    turned = Turned()
    turned.go([*edges[: left + 1], *passed_again, *edges[left + 2 :]])
    assert turned.states == []
    assert [seen.tick for seen in turned.observations if isinstance(seen, Rotor)][-1] == -169 % 148


def test_a_repeated_level_of_z_is_ignored() -> None:
    turned = Turned()
    edges = list(turning(range(30)))
    turned.go([again for edge in edges for again in ([edge, edge] if edge.pin == Z else [edge])])
    assert turned.states == []
    assert turned.encoder.travel_ticks == 29


def test_a_contact_has_a_horizon() -> None:
    contact = Contact(20, on=False)
    assert (contact.edge(100, on=True), contact.horizon_ns(105)) == ([], 100)
    assert contact.until(119) == []
    assert contact.until(120) == [(100, True)]
    assert contact.horizon_ns(125) == 125
    assert (contact.edge(200, on=False), contact.edge(230, on=True)) == ([], [(200, False)])


def test_a_pulse_has_a_horizon() -> None:
    beam = Blockage(shortest_ns=10, longest_ns=100)
    assert beam.edge(0, blocked=False) is None
    assert beam.edge(1_000, blocked=True) is None
    assert beam.horizon_ns(1_050) == 1_025
    assert beam.horizon_ns(1_200) == 1_200
    assert beam.edge(1_060, blocked=True) is None
    assert beam.edge(1_090, blocked=False) == 1_045
    assert beam.edge(2_000, blocked=True) is None
    assert beam.edge(2_005, blocked=False) is None
    assert (beam.too_short, beam.too_long) == (2, 0)


def test_a_beam_that_chatters_fails_and_what_it_reports_counts_for_nothing() -> None:
    """900 pulses a second: a loose wire, or a beam aimed at the edge of something."""
    rig = Rig()
    rig.pins.play(edge for number in range(2_700) for edge in pulse(6, (300 + number) * MS, MS // 2))
    rig.looks(4_000 * MS)
    assert len(rig.of(BallPass)) < PULSES
    assert rig.of(SensorState) == [SensorState(rig.of(SensorState)[0].t_us, "beam/1", ok=False, what=Trouble.CHATTERS)]
    assert rig.source.troubles == {"beam/1": (Trouble.CHATTERS,)}
    assert rig.source.counters["chatter"] > 2_000
    rig.looks(9_000 * MS)
    assert rig.states == [("beam/1", False), ("beam/1", True)]
    assert (rig.source.sensors["beam/1"], rig.source.troubles) == (True, {})


def test_pins_that_fail_again_and_again_are_told_seldom() -> None:
    """An edge is lost each half second for a minute."""
    rig = Rig()
    rig.looks(100 * MS)
    for _ in range(120):
        rig.pins.overflow(1)
        rig.looks(rig.pins.now_ns + 500 * MS)
    assert rig.states == [("rotor", False), ("link", False)]
    rig.looks(rig.pins.now_ns + 2 * GOOD_US * 1_000)
    assert rig.states[2:] == [("link", True)]
