"""How an edge becomes an event in the firmware: the rules of the specification one by one, coups of the simulator's
physics, and the encoder beside that of the daemon's own pins."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from firmware_protocol import messages as m
from firmware_protocol.codec import FrameDecoder, encode_frame
from firmware_protocol.wire import decode_from_board, encode
from hw_sim import events as sim
from hw_sim import wired
from hw_sim.evening import script
from hw_sim.wired import Wires
from tests.firmware.harness import BEAM, BUTTON, DOOR, OBJECT, READER, ZERO, A, B, Harness, Move, told
from wheeld.core.observations import Rotor, SensorState
from wheeld.ports import Edge
from wheeld.sources.gpio.encoder import Encoder
from wheeld.sources.gpio.encoder import Line as EncoderLine

LAYOUT = m.Layout(beams=4, readers=3, rotor_ticks=148, object_sensor=True, door_switch=True)
SETTLED_LATE_US = 250_000
OFTEN_US = 1000
SEEDS = {
    "valid": 2,
    "valid_few_laps": 31,
    "obstacle_falls": 37,
    "rotor_stops_running": 10,
    "rotor_stopped_at_launch": 36,
    "foreign_object": 25,
    "breakdown_sensor": 76,
}
"""Of a short evening."""
TICKS = 148


class Board:
    """The firmware with a host that has greeted it. It runs every millisecond, as often as an edge comes, and each of
    its promises about the settled time is checked."""

    def __init__(
        self, firmware: Harness, layout: m.Layout = LAYOUT, *, zero_tick: int = 0, on: Iterable[Move] = ()
    ) -> None:
        self._firmware = firmware
        self._decoder = FrameDecoder()
        self.now_us = self._settled_us = 0
        self.events: list[m.TimedEvent] = []
        self.beats: list[m.Heartbeat] = []
        self.results: list[tuple[int, m.SelfTestResult]] = []
        """Each with the number of events that had a number before it."""
        identity = m.Identity(
            *(0, 1, 1, 1, 1, 0, 0, 0), "C", "c", "0" * 16, ring_events=768, top_rate=512, layout=layout
        )
        for _, line, index, level in on:
            firmware.tell(f"line {line} {index} {level:d}")
        firmware.tell(f"start 1 {zero_tick} {told(identity)}")
        self.hear(m.Hello(1))

    def tell(self, command: str) -> None:
        self._firmware.tell(command)

    def hear(self, message: m.FromHost) -> None:
        self._firmware.tell(f"in {encode_frame(encode(message)).hex()}")
        self._run(self.now_us)

    def play(self, moves: Iterable[Move], until_us: int) -> list[m.TimedEvent]:
        """All events up to `until_us`, with these moves. They may be of past times, as an interrupt's edges are."""
        for t_us, line, index, level in moves:
            self._pass(t_us)
            self._firmware.tell(f"at {t_us}", f"line {line} {index} {level:d}")
        self._pass(until_us + 1)
        return self.events

    def _pass(self, t_us: int) -> None:
        while self.now_us + OFTEN_US < t_us:
            self._run(self.now_us + OFTEN_US)
        self.now_us = max(self.now_us, t_us - 1)

    def _run(self, now_us: int) -> None:
        self.now_us = now_us
        self._firmware.tell(f"at {now_us}")
        for frame in self._decoder.feed(self._firmware.ask("run")):
            match decode_from_board(frame):
                case m.Events(first_seq=first_seq, events=events):
                    assert first_seq == len(self.events)
                    assert all(one.board_us >= self._settled_us for one in events)
                    assert not self.events or events[0].board_us >= self.events[-1].board_us
                    later = events[self._before(first_seq) :]
                    assert not self.beats or all(one.board_us >= self.beats[-1].board_us for one in later)
                    self.events += events
                case m.Heartbeat() as beat:
                    assert 0 <= now_us - beat.board_us <= SETTLED_LATE_US
                    assert not self.beats or beat.board_us >= self.beats[-1].board_us
                    self.beats.append(beat)
                case m.SelfTestResult() as result:
                    self.results.append((len(self.events), result))

    def _before(self, first_seq: int) -> int:
        """How many events of a message had a number at the latest heartbeat."""
        return max(0, self.beats[-1].next_seq - first_seq) if self.beats else 0


def pulse(line: int, index: int, start_us: int, end_us: int) -> list[Move]:
    return [(start_us, line, index, True), (end_us, line, index, False)]


def chatter(line: int, start_us: int, every_us: int, count: int) -> list[Move]:
    return [(start_us + number * every_us, line, 0, number % 2 == 0) for number in range(count)]


def timed(*events: tuple[int, m.Event]) -> list[m.TimedEvent]:
    return [m.TimedEvent(*event) for event in events]


S = 1_000_000
MS = 1000
RULES: dict[str, tuple[list[Move], list[m.TimedEvent]]] = {
    "a pass is dated at the middle": (pulse(BEAM, 2, 1000, 21_001), timed((11_000, m.BallPass(2)))),
    "the shortest": (pulse(BEAM, 0, 1000, 1200), timed((1100, m.BallPass(0)))),
    "too short": (pulse(BEAM, 0, 1000, 1199), []),
    "the longest": (pulse(BEAM, 0, 1000, 101_000), timed((51_000, m.BallPass(0)))),
    "too long": (pulse(BEAM, 0, 1000, 101_001), []),
    "a gap that is too short is none": (
        [*pulse(BEAM, 1, 1000, 5000), *pulse(BEAM, 1, 5199, 9000)],
        timed((5000, m.BallPass(1))),
    ),
    "two passes": (
        [*pulse(BEAM, 1, 1000, 5000), *pulse(BEAM, 1, 5200, 9000)],
        timed((3000, m.BallPass(1)), (7100, m.BallPass(1))),
    ),
    "a beam that is blocked for two seconds": (
        pulse(BEAM, 3, 1000, 3 * S),
        timed((2 * S + 1000, m.SensorReport("beam", 3, ok=False)), (3 * S, m.SensorReport("beam", 3, ok=True))),
    ),
    "a sighting is dated at the middle": (pulse(READER, 1, 1000, 500_999), timed((250_999, m.PocketSighting(1)))),
    "too long for a sighting": (pulse(READER, 1, 1000, 501_001), []),
    "order of two sensors": (
        [
            (1000, READER, 0, True),
            *pulse(BEAM, 0, 2000, 4000),
            *pulse(BEAM, 1, 80_000, 90_000),
            (151_000, READER, 0, False),
        ],
        timed((3000, m.BallPass(0)), (76_000, m.PocketSighting(0)), (85_000, m.BallPass(1))),
    ),
    "a body": (pulse(OBJECT, 0, 1000, 8000), timed((1000, m.ObjectSeen(True)), (8000, m.ObjectSeen(False)))),
    "a spark": (pulse(OBJECT, 0, 1000, 5999), []),
    "an object line that does not rest": (
        chatter(OBJECT, 1000, 3000, 8),
        timed((19_000, m.ObjectSeen(True)), (22_000, m.ObjectSeen(False))),
    ),
    "a door that bounces": (
        [*chatter(DOOR, 1000, 2000, 5), (100_000, DOOR, 0, False)],
        timed((9000, m.DoorMoved(True)), (100_000, m.DoorMoved(False))),
    ),
    "a door that does not rest": (
        chatter(DOOR, 1000, 10_000, 102),
        timed((1_001_000, m.DoorMoved(True)), (1_011_000, m.DoorMoved(False))),
    ),
    "a button is pressed": (
        [(1000, BUTTON, 3, True), (400_000, BUTTON, 3, False)],
        timed((1000, m.ButtonPress("rien_va"))),
    ),
    "a press that is too short": (pulse(BUTTON, 3, 1000, 20_999), []),
}


@pytest.mark.parametrize("rule", RULES)
def test_rules(rule: str, harness: Path) -> None:
    moves, events = RULES[rule]
    with Harness(harness) as firmware:
        assert Board(firmware).play(moves, moves[-1][0] + S) == events


def test_lines_that_are_on_at_the_boot_are_levels_and_no_events(harness: Path) -> None:
    on = [(0, BEAM, 1, True), (0, READER, 2, True), (0, OBJECT, 0, True), (0, DOOR, 0, True), (0, BUTTON, 6, True)]
    with Harness(harness) as firmware:
        board = Board(firmware, on=on)
        assert board.play([(50 * MS, BEAM, 1, False), (60 * MS, READER, 2, False)], 90 * MS) == []
        assert board.beats[0].levels == m.Levels((1,), (2,), ("close",), object="present", door="open")
        board.play([(100 * MS, BUTTON, 6, False)], S)
        assert board.beats[-1].levels == m.Levels(object="present", door="open")
        assert board.events == []


def test_a_beam_that_is_blocked_since_the_boot_fails(harness: Path) -> None:
    with Harness(harness) as firmware:
        board = Board(firmware, on=[(0, BEAM, 1, True)])
        assert board.play([], 3 * S) == timed((2 * S, m.SensorReport("beam", 1, ok=False)))


def turning(places: Iterable[int], start_us: int = 0) -> Iterator[Move]:
    """The rotor comes from 0 through these places, one each 2 ms. Its mark is in sector 3."""
    lines = {A: False, B: False, ZERO: False}
    for number, place in enumerate(places):
        for line, level in ((A, place % 4 in (1, 2)), (B, place % 4 in (2, 3)), (ZERO, place % TICKS == 3)):
            if lines[line] is not level:
                lines[line] = level
                yield start_us + 2000 * (number + 1) + line - A, line, 0, level


def again(t_us: int) -> list[Move]:
    """A rotor at which the mark comes once more."""
    return sorted([*turning(range(1, 20)), *pulse(ZERO, 0, t_us, t_us + 500)])


RATTLE = [*turning([1, 2] * 9)]
MARKS: dict[str, tuple[int, list[Move], bool, Iterable[int]]] = {
    "in its sector": (3, [*turning(range(1, 20))], True, range(4, 20)),
    "a sector late": (2, [*turning(range(1, 20))], True, range(4, 20)),
    "a sector early": (4, [*turning(range(1, 20))], True, range(4, 20)),
    "two sectors off": (1, [*turning(range(1, 20))], False, []),
    "back and on": (3, [*turning([1, 2, 3, 4, 3, 2, 1, 2, 3, 4])], True, [4, 3, 2, 1, 2, 3, 4]),
    "none in a turn": (3, [move for move in turning(range(1, TICKS + 9)) if move[1] != ZERO], True, []),
    "none in a turn and eight sectors": (
        3,
        [move for move in turning(range(1, TICKS + 10)) if move[1] != ZERO],
        False,
        [],
    ),
    "a bounce of it two sectors later": (3, again(10_500), True, range(4, 20)),
    "another one three sectors later": (3, again(12_500), False, [4, 5, 6]),
    "another one eight sectors later": (3, again(22_500), False, range(4, 12)),
    "seven edges to and fro": (1, [*turning([1, 2] * 4 + [1]), *pulse(ZERO, 0, 50 * MS, 60 * MS)], True, []),
    "eight edges to and fro": (1, [*turning([1, 2] * 5), *pulse(ZERO, 0, 50 * MS, 60 * MS)], False, []),
    "one edge of it after a rattle": (3, [*RATTLE, (50 * MS, ZERO, 0, True)], True, []),
    "two edges of it after a rattle": (3, [*RATTLE, *pulse(ZERO, 0, 50 * MS, 60 * MS)], False, []),
}
"""The mark's sector by the board's setting; whether the rotor works at the end; the ticks that were told."""


@pytest.mark.parametrize("mark", MARKS)
def test_the_zero_mark(mark: str, harness: Path) -> None:
    zero_tick, moves, works, ticks = MARKS[mark]
    with Harness(harness) as firmware:
        seen = [one.event for one in Board(firmware, zero_tick=zero_tick).play(moves, S)]
    assert [one.tick for one in seen if isinstance(one, m.RotorEdge)] == [*ticks]
    assert [one.ok for one in seen if isinstance(one, m.SensorReport)] == [False] * (not works)


def test_a_sensor_that_reads_free_does_not_fail(harness: Path) -> None:
    """The two seconds, or the 30 degrees, are over while the free level settles: the pulse was shorter."""
    last_us = 2000 * (TICKS // 12 + 1)
    moves = [(500, READER, 0, True), *turning(range(1, 99), 1000), (last_us + 900, READER, 0, False)]
    with Harness(harness) as firmware:
        board = Board(firmware)
        board.play(pulse(BEAM, 3, 1000, 2 * S + 900), 2 * S + 1050)
        board.hear(m.SyncRequest(1))  # it runs now
        assert board.play([], 3 * S) == []
    with Harness(harness) as firmware:
        board = Board(firmware)
        board.play(sorted(move for move in moves if move[0] < last_us + 1100), last_us + 1050)
        board.hear(m.SyncRequest(1))
        seen = [one for one in board.play([], S) if not isinstance(one.event, m.RotorEdge)]
        assert seen == timed(((500 + last_us + 900) // 2, m.PocketSighting(0)))


def test_a_reader_that_stays_blocked_for_a_twelfth_of_a_turn_has_failed(harness: Path) -> None:
    for steps, fails in ((TICKS // 12, False), (TICKS // 12 + 1, True)):
        moves = [*turning(range(1, steps + 1), 1000)]
        with Harness(harness) as firmware:
            board = Board(firmware, zero_tick=3)
            board.play([(500, READER, 0, True), *moves], S)
            seen = [one for one in board.events if not isinstance(one.event, m.RotorEdge)]
        assert seen == [m.TimedEvent(moves[-1][0], m.SensorReport("reader", 0, ok=False))] * fails


def test_a_boot_forgets_the_missed_edges_of_the_one_before(harness: Path) -> None:
    with Harness(harness) as firmware:
        before = Board(firmware)
        before.tell("missed 3")
        before.play([], 300 * MS)
        firmware.tell("at 0", "missed 0")
        board = Board(firmware)
        board.play([], 300 * MS)
        assert (before.beats[-1].missed_edges, board.beats[-1].missed_edges) == (3, 0)
        assert board.events == []


def test_levels_come_with_the_numbers_of_their_events(harness: Path) -> None:
    """A body falls in while the ball lies before a reader: its event has no number before the sighting has one."""
    moves = [*pulse(READER, 0, 100 * MS, 390 * MS), (170 * MS, OBJECT, 0, True), (175 * MS, BUTTON, 3, True)]
    with Harness(harness) as firmware:
        board = Board(firmware)
        board.play(sorted(moves), S)
        for beat in board.beats:
            kinds = {type(one.event) for one in board.events[: beat.next_seq]}
            assert (beat.levels.object == "present") == (m.ObjectSeen in kinds)
            assert (beat.levels.buttons_held == ("rien_va",)) == (m.ButtonPress in kinds)
        assert [type(one.event) for one in board.events] == [m.ObjectSeen, m.ButtonPress, m.PocketSighting]


def test_a_second_press_is_held_when_it_has_its_number(harness: Path) -> None:
    """A button is released and pressed again between two heartbeats, while a ball lies before a reader."""
    pressed = [(10 * MS, BUTTON, 3, True), (402 * MS, BUTTON, 3, False), (427 * MS, BUTTON, 3, True)]
    with Harness(harness) as firmware:
        board = Board(firmware)
        board.play(sorted([*pulse(READER, 0, 200 * MS, 690 * MS), *pressed]), S)
        for number, beat in enumerate(board.beats):  # the first five before the release
            presses = sum(isinstance(one.event, m.ButtonPress) for one in board.events[: beat.next_seq])
            assert (beat.levels.buttons_held == ("rien_va",)) == (presses == (1 if number < 5 else 2)), beat
        assert [beat.levels.buttons_held for beat in board.beats][-1] == ("rien_va",)


def test_a_self_test_tells_its_findings_as_events_first(harness: Path) -> None:
    with Harness(harness) as firmware:
        board = Board(firmware)
        for ok in (False, True):
            board.tell(f"works 0 2 {ok:d}")
            board.hear(m.SelfTestRequest(8))
            board.play([], board.now_us + 100 * MS)
        assert [one.event for one in board.events] == [m.SensorReport("beam", 2, ok=ok) for ok in (False, True)]
        for number, (before, result) in enumerate(board.results):
            assert before >= number, "the event may be in the next message, and has its number"
            assert [one.name for one in result.sensors if not one.ok] == ["beam/2"] * (1 - number)
            assert len(result.sensors) == 9


def test_an_object_sensor_that_has_failed_has_no_level(harness: Path) -> None:
    with Harness(harness) as firmware:
        board = Board(firmware)
        told_levels = []
        for ok in (True, False, True):
            board.tell(f"works 3 0 {ok:d}")
            board.hear(m.SelfTestRequest(8))
            board.play([], board.now_us + 300 * MS)
            told_levels.append(board.beats[-1].levels.object)
        assert told_levels == ["clear", "unknown", "clear"]


def test_a_self_test_ends_before_its_result_is_sent(harness: Path) -> None:
    """A reader is blocked, so the finding waits for its number, and the result for the finding."""
    with Harness(harness) as firmware:
        board = Board(firmware)
        board.tell("works 0 2 0")
        board.play([(100 * MS, READER, 0, True)], 500 * MS)
        board.hear(m.SelfTestRequest(8))
        board.play([], 595 * MS)
        assert board.results == []
        board.play([], S)
        assert [result.board_us for _, result in board.results] == [520 * MS]


def test_a_sensor_that_failed_for_two_reasons_works_again_when_both_are_over(harness: Path) -> None:
    with Harness(harness) as firmware:
        board = Board(firmware)
        board.play([(100 * MS, BEAM, 2, True)], 3 * S)
        for ok in (False, True, False):
            board.tell(f"works 0 2 {ok:d}")
            board.hear(m.SelfTestRequest(8))
            board.play([], board.now_us + S)
        board.play([(7 * S, BEAM, 2, False)], 8 * S)
        assert board.events == timed((2100 * MS, m.SensorReport("beam", 2, ok=False)))
        board.tell("works 0 2 1")
        board.hear(m.SelfTestRequest(8))
        board.play([], 9 * S)
        assert [one.event for one in board.events[1:]] == [m.SensorReport("beam", 2, ok=True)]


def test_missed_edges_are_counted_and_every_line_is_read(harness: Path) -> None:
    with Harness(harness) as firmware:
        board = Board(firmware)
        board.play([(20 * MS, OBJECT, 0, True)], 100 * MS)
        board.tell("missed 2")
        board.tell(f"lose {DOOR} 0 1")
        board.play([], 300 * MS)
        assert board.beats[-1].missed_edges == 3
        seen = {m.ObjectSeen(True), m.SensorReport("rotor", 0, ok=False), m.DoorMoved(True)}
        assert {one.event for one in board.events} == seen


def test_the_count_of_missed_edges_stops_where_the_port_s_wraps(harness: Path) -> None:
    with Harness(harness) as firmware:
        board = Board(firmware)
        counted = []
        for missed in (2**32 - 2, 2**32 - 1, 1):
            board.tell(f"missed {missed}")
            board.play([], board.now_us + 300 * MS)
            counted.append(board.beats[-1].missed_edges)
        assert counted == [2**32 - 2, 2**32 - 1, 2**32 - 1]


def test_a_number_of_ticks_that_no_encoder_has_is_a_failed_rotor(harness: Path) -> None:
    """Four edges make a period of the encoder."""
    for ticks in (150, 151):
        with Harness(harness) as firmware:
            board = Board(firmware, m.Layout(4, 3, ticks, object_sensor=True), zero_tick=3)
            assert board.play(turning(range(1, 3 * TICKS)), S) == timed((0, m.SensorReport("rotor", 0, ok=False)))


def test_both_channels_of_the_encoder_at_once_are_a_failed_rotor(harness: Path) -> None:
    with Harness(harness) as firmware:
        seen = Board(firmware).play([(1000, A, 0, True), (1000, B, 0, True)], S)
        assert seen == timed((1000, m.SensorReport("rotor", 0, ok=False)))


def test_the_first_edge_of_the_encoder_may_repeat_what_was_read_at_the_boot(harness: Path) -> None:
    """The second one that repeats a level follows a missed edge."""
    with Harness(harness) as firmware:
        board = Board(firmware, on=[(0, A, 0, True)])
        assert board.play([(1000, A, 0, True)], 10 * MS) == []
        assert board.play([(20 * MS, A, 0, True)], S) == timed((20 * MS, m.SensorReport("rotor", 0, ok=False)))


def test_a_line_that_the_board_does_not_have_gives_no_event(harness: Path) -> None:
    with Harness(harness) as firmware:
        moves = [*pulse(BEAM, LAYOUT.beams, 1000, 3000), *pulse(BEAM, LAYOUT.beams, 9000, 12_000)]
        assert Board(firmware).play(moves, S) == []


def test_no_place_is_told_after_a_missed_edge(harness: Path) -> None:
    """An edge of B comes after the missed one of A, before the board runs."""
    *before, _, edge_of_b = turning(range(1, 13))
    with Harness(harness) as firmware:
        board = Board(firmware, zero_tick=3)
        board.play(before, edge_of_b[0] - 1000)
        board.tell("missed 1")
        board.play([edge_of_b], S)
        ticks = [m.RotorEdge(place, "cw") for place in range(4, 11)]
        assert [one.event for one in board.events] == [*ticks, m.SensorReport("rotor", 0, ok=False)]


def moves_of(evening_edges: Iterable[Edge], wires: Wires) -> Iterator[Move]:
    """The simulator's edges as lines of the firmware."""
    places = {wires.a: (A, 0), wires.b: (B, 0), wires.z: (ZERO, 0), wires.switches["object"]: (OBJECT, 0)}
    places |= {pin: (BEAM, number) for number, pin in enumerate(wires.beams)}
    places |= {pin: (READER, number) for number, pin in enumerate(wires.readers)}
    encoder = wires.a, wires.b, wires.z
    for edge in evening_edges:
        yield round(edge.at_ns / 1000), *places[edge.pin], edge.level if edge.pin in encoder else not edge.level


@pytest.mark.parametrize("kind", SEEDS)
def test_the_physics_of_a_coup_gives_its_events(kind: str, harness: Path) -> None:
    drawn = (script([kind], seed) for seed in range(SEEDS[kind], SEEDS[kind] + 99))
    evening = next(one for one in drawn if one.header["rotor_ticks"] == TICKS)
    beams, readers = len(evening.header["beams_deg"]), len(evening.header["readers_deg"])
    beam_pins, reader_pins = tuple(range(5, 5 + beams)), tuple(range(13, 13 + readers))
    wires = Wires(0, 1, 2, index_tick=17, beams=beam_pins, readers=reader_pins, switches={"object": 16})
    layout = m.Layout(beams, readers, TICKS, object_sensor=True)
    events = [*evening.events()]
    levels = wired.levels(evening.world, wires)
    on = [(0, line, 0, levels[pin]) for line, pin in ((A, wires.a), (B, wires.b), (ZERO, wires.z))]
    truth = [(one.t_us, one.message) for one in events if isinstance(one, sim.Sensed) and not isinstance(one, sim.Door)]
    with Harness(harness) as firmware:
        board = Board(firmware, layout, zero_tick=wires.index_tick, on=on)
        edges = wired.edges(evening.world, events, evening.end_s, wires)
        seen = board.play(moves_of(edges, wires), round(evening.end_s * S) + S)
    told_events = [(one.board_us, one.event) for one in seen if not isinstance(one.event, m.SensorReport)]
    first_us = next(t_us for t_us, one in told_events if isinstance(one, m.RotorEdge))
    rotor = [one for one in truth if isinstance(one[1], m.RotorEdge) and one[0] >= first_us - 1]
    others = [one for one in truth if not isinstance(one[1], m.RotorEdge)]
    assert near(rotor, [one for one in told_events if isinstance(one[1], m.RotorEdge)])
    assert near(others, [one for one in told_events if not isinstance(one[1], m.RotorEdge)])
    broken = {one.sensor for one in events if isinstance(one, sim.SensorState)}
    assert {one.event.name for one in seen if isinstance(one.event, m.SensorReport)} == broken


def near(truth: list[tuple[int, m.Event]], found: list[tuple[int, m.Event]]) -> bool:
    """The same events in the same order, at most 1 µs apart."""
    assert [event for _, event in found] == [event for _, event in truth]
    assert max((abs(one[0] - other[0]) for one, other in zip(truth, found, strict=True)), default=0) <= 1
    return True


def walk(rng: random.Random, ticks: int) -> Iterator[tuple[EncoderLine, bool]]:
    """A rotor that turns to and fro from 0 and whose lines lose edges at times. Its mark is in sector 3."""
    place = 0
    clockwise = True
    lines: dict[EncoderLine, bool] = {"a": False, "b": False, "z": False}
    while True:
        for _ in range(rng.choice((1, 2, 3, 50, ticks + 9, 5 * ticks))):
            place += 1 if clockwise else -1
            now: dict[EncoderLine, bool] = {"a": place % 4 in (1, 2), "b": place % 4 in (2, 3), "z": place % ticks == 3}
            order: list[EncoderLine] = ["z", "a", "b"] if rng.random() < 0.5 else ["a", "b", "z"]
            for line in order:
                if now[line] != lines[line] and rng.random() > 0.0005:
                    lines[line] = now[line]
                    yield line, now[line]
        clockwise = not clockwise


def test_the_encoder_is_that_of_the_daemon_s_own_pins(harness: Path) -> None:
    for seed in range(5):
        rng = random.Random(seed)
        oracle, moves, expected = Encoder("quadrature", TICKS, 3), [], []
        drawn = walk(rng, TICKS)
        t_us = 0
        for line in ("a", "b", "z"):
            oracle.stand(line, level=False)
        for _ in range(4000):
            line, level = next(drawn)
            t_us += rng.randint(200, 4000)
            moves.append((t_us, {"a": A, "b": B, "z": ZERO}[line], 0, level))
            for one in oracle.edge(line, t_us, level=level):
                match one:
                    case Rotor():
                        expected.append(m.TimedEvent(t_us, m.RotorEdge(one.tick, one.direction)))
                    case SensorState():
                        expected.append(m.TimedEvent(t_us, m.SensorReport("rotor", 0, ok=one.ok)))
        with Harness(harness) as firmware:
            seen = Board(firmware, zero_tick=3).play(moves, t_us + S)
        assert seen == expected, seed
        assert len(seen) > 500
