"""The firmware of the ATmega2560, as it goes on the chip, in a simulator of the chip."""

from __future__ import annotations

import shutil
import subprocess
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from firmware_protocol import messages as m
from firmware_protocol.codec import FrameDecoder, encode_frame
from firmware_protocol.wire import decode_from_board, encode
from hw_sim import events as sim
from hw_sim import wired
from hw_sim.evening import repeatable
from hw_sim.scenarios import SCENARIOS
from hw_sim.table import SimTable
from hw_sim.wheel import WheelLayout
from hw_sim.wired import Wires
from tests.core.evening import FRENCH
from tests.firmware.harness import CORE, HERE, WARNINGS, core
from wheeld.core.observations import Command
from wheeld.core.step import Message
from wheeld.core.table import Table
from wheeld.sources.board.board import Board
from wheeld.sources.board.setting import BoardSetting
from wheeld.sources.clock import UtcPair

pytestmark = pytest.mark.timeout(600)
PART = "atmega2560"
PORT = CORE / "avr"
CHIP = (f"-mmcu={PART}", "-DF_CPU=16000000UL", "-Os", "-include", str(PORT / "memory.h"), f"-I{CORE}", f"-I{PORT}")
RAM_BYTES = 8192
LATE_US_MAX = 10
INTERRUPT_CYCLES_MAX = 130
"""At 16 MHz, 8 µs: an edge that comes meanwhile is dated so much late."""
BUSY_NS_MAX = 12_000_000
"""The list of 64 edges is full after 21 ms at 3,000 a second."""
PLACES = ("D 0", "D 1", "D 2", *(f"K {bit}" for bit in range(7)), *(f"B {bit}" for bit in range(5)))
"""Port and bit of each line, as in its `board_config.h`."""
WIRES = Wires(0, 1, 2, beams=(3, 4, 5, 6), readers=(7, 8, 9), switches={"object": 10, "door": 11})
IDLE = {0: False, 1: False, 2: False, 11: False, **dict.fromkeys((*range(3, 11), 12, 13, 14), True)}
"""Nothing is blocked, nothing is pressed, the door is closed."""
BOOT_NS = 50_000_000
GREETED_NS = 100_000_000
HELLO = b"\0" + encode_frame(encode(m.Hello(7)))
LAYOUT = m.Layout(beams=4, readers=3, rotor_ticks=148, object_sensor=True, door_switch=True)
COUPS = ("valid", "foreign_object", "too_few_laps")
STEP_US, TICK_US = 5_000, 20_000
"""How often the host reads, and looks at its clock."""
SETTLE_US, TURN_US = 1_000_000, 7_000_000
"""From the opening of the line to that of the table, and until the mark has come by."""
LINGER_US = 500_000
UTC_AT_0_US = 1_795_197_600_000_000


class Chip:
    """A running simulator. Each line is said in the order of its time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._decoder = FrameDecoder()
        self.said: list[m.FromBoard] = []

    def happens(self, at_ns: int, what: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(f"{at_ns} {what}\n")

    def pins(self, moves: Iterable[tuple[int, int, bool]]) -> None:
        """Each at its time in ns."""
        for at_ns, pin, level in moves:
            self.happens(at_ns, f"pin {PLACES[pin]} {level:d}")

    def receive(self, at_ns: int, data: bytes) -> None:
        if data:
            self.happens(at_ns, f"in {data.hex()}")

    def run(self, until_ns: int) -> bytes:
        """Return what has left the board since the last run."""
        self.happens(until_ns, "run")
        left = bytes.fromhex(self._answer())
        self.said += map(decode_from_board, self._decoder.feed(left))
        assert set(self._decoder.rejected.values()) == {0}
        return left

    def measured(self, at_ns: int) -> dict[str, int]:
        """End, and return what the simulator measured."""
        self.run(at_ns)
        self.happens(at_ns, "end")
        return msgspec.json.decode(self._answer(), type=dict[str, int])

    def beats(self) -> list[m.Heartbeat]:
        return [one for one in self.said if isinstance(one, m.Heartbeat)]

    def events(self, measured: dict[str, int]) -> list[m.TimedEvent]:
        """All that were told, at the simulator's times."""
        began_us = round(measured["began_ns"] / 1000)
        told = [one for message in self.said if isinstance(message, m.Events) for one in message.events]
        return [m.TimedEvent(one.board_us + began_us, one.event) for one in told]

    def _answer(self) -> str:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the simulator has ended"
        return line


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The simulator, and the program for the chip."""
    compiler = shutil.which("avr-gcc") or pytest.skip("apt-get install gcc-avr avr-libc")
    if not Path("/usr/include/simavr").exists():
        pytest.skip("apt-get install libsimavr-dev")
    directory = tmp_path_factory.mktemp("avr")
    simulator, elf = directory / "avr", directory / "board.elf"
    sources = PORT / "main.c", *core("codec", "board", "sensors")
    subprocess.run([compiler, *WARNINGS, *CHIP, *sources, "-o", elf], check=True)
    host = ("cc", "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror")
    subprocess.run([*host, HERE / "avr.c", "-o", simulator, "-lsimavr"], check=True)
    return simulator, elf


@contextmanager
def running(programs: tuple[Path, Path], levels: dict[int, bool]) -> Iterator[Chip]:
    """The chip with power from time 0 on."""
    pipe = subprocess.PIPE
    with subprocess.Popen([programs[0], PART, programs[1]], stdin=pipe, stdout=pipe, text=True) as process:
        chip = Chip(process)
        chip.pins((0, pin, level) for pin, level in levels.items())
        yield chip


def by_sensor(events: Iterable[m.TimedEvent]) -> dict[str, list[m.TimedEvent]]:
    """Two sensors may see two things within the same microseconds, in any order."""
    found = defaultdict(list)
    for one in events:
        found[type(one.event).__name__ + str(getattr(one.event, "beam", ""))].append(one)
    return found


def worst_us(found: list[m.TimedEvent], truth: Iterable[m.TimedEvent]) -> int:
    """How late the latest date is. Fails if these are not the events that are true, or one is early."""
    seen, true = by_sensor(found), by_sensor(truth)
    late = []
    assert seen.keys() == true.keys()
    for sensor, events in true.items():
        assert [one.event for one in seen[sensor]] == [one.event for one in events]
        late += [one.board_us - other.board_us for one, other in zip(seen[sensor], events, strict=True)]
    assert min(late) >= 0
    return max(late)


def test_who_it_is_and_that_it_lives(programs: tuple[Path, Path]) -> None:
    """The ring lasts for a second and a half at the fastest rotor."""
    with running(programs, IDLE) as chip:
        chip.receive(BOOT_NS, HELLO)
        chip.run(GREETED_NS + 1_000_000_000)
        (identity,) = (one for one in chip.said if isinstance(one, m.Identity))
        beats = chip.beats()
        chip.measured(GREETED_NS + 1_000_000_000)
    assert (identity.serial, identity.firmware, identity.layout) == ("AVR-0001", "mega2560 1.0.0", LAYOUT)
    assert identity.ring_ms >= m.RING_MS_MIN
    assert identity.top_rate >= 1.5 * LAYOUT.rotor_ticks
    assert beats[-1].levels == m.Levels(object="clear", door="closed")
    apart = [later.board_us - one.board_us for one, later in pairwise(beats[1:])]
    assert len(apart) > 7
    assert all(99_000 < one < 104_000 for one in apart), apart


def test_its_serial_number_in_the_eeprom(programs: tuple[Path, Path], tmp_path: Path) -> None:
    kept, elf = tmp_path / "serial.bin", tmp_path / "board.elf"
    kept.write_bytes(bytes(4) + b"AVR-0042".ljust(m.TEXT_BYTES, b"\0"))
    subprocess.run(["avr-objcopy", "--update-section", f".eeprom={kept}", programs[1], elf], check=True)
    with running((programs[0], elf), IDLE) as chip:
        chip.receive(BOOT_NS, HELLO)
        chip.measured(GREETED_NS)
        (identity,) = (one for one in chip.said if isinstance(one, m.Identity))
    assert identity.serial == "AVR-0042"


def test_three_thousand_edges_a_second(programs: tuple[Path, Path]) -> None:
    """Pulses of four beams, for two tenths of a second."""
    pulses = [(GREETED_NS + number * 666_667, 3 + number % 4) for number in range(300)]
    with running(programs, IDLE) as chip:
        chip.receive(BOOT_NS, HELLO)
        for at_ns, pin in pulses:
            chip.pins([(at_ns, pin, False), (at_ns + 300_000, pin, True)])
        measured = chip.measured(GREETED_NS + 900_000_000)
        events, beat = chip.events(measured), chip.beats()[-1]
    truth = [m.TimedEvent((at_ns + 150_000) // 1000, m.BallPass(pin - 3)) for at_ns, pin in pulses]
    assert worst_us(events, truth) <= LATE_US_MAX
    assert (beat.missed_edges, beat.overwritten_events) == (0, 0)
    assert measured["interrupt"] < INTERRUPT_CYCLES_MAX
    assert measured["busy_ns"] < BUSY_NS_MAX


def test_a_line_that_never_rests_stops_nothing_else(programs: tuple[Path, Path]) -> None:
    """A broken wire: 7,000 edges a second on the door's line, and passes beside it."""
    noise = [(GREETED_NS + number * 142_857, 11, number % 2 == 0) for number in range(3_500)]
    passes = [GREETED_NS + 7_000_000 + number * 50_000_000 for number in range(9)]
    pulses = [(at_ns + width_ns, 3, level) for at_ns in passes for width_ns, level in ((0, False), (5_000_000, True))]
    with running(programs, IDLE) as chip:
        chip.receive(BOOT_NS, HELLO)
        chip.pins(sorted([*noise, *pulses]))
        measured = chip.measured(GREETED_NS + 1_500_000_000)
        events, beat = chip.events(measured), chip.beats()[-1]
    truth = [m.TimedEvent(at_ns // 1000 + 2500, m.BallPass(0)) for at_ns in passes]
    assert worst_us([one for one in events if isinstance(one.event, m.BallPass)], truth) <= LATE_US_MAX
    assert beat.missed_edges == 0


def test_both_edges_of_a_pin_before_its_interrupt(programs: tuple[Path, Path]) -> None:
    """On a beam they are no pulse, on the encoder a missed edge."""
    moves = [(GREETED_NS + at_ns, pin, level) for at_ns, pin in ((0, 3), (100_000_000, 0)) for level in (True, False)]
    with running(programs, {**IDLE, 3: False}) as chip:
        chip.receive(BOOT_NS, HELLO)
        chip.pins(moves)
        measured = chip.measured(GREETED_NS + 400_000_000)
        events, beats = chip.events(measured), chip.beats()
    assert [one.event for one in events] == [m.SensorReport("rotor", 0, ok=False)]
    assert beats[0].missed_edges == 0
    assert beats[-1].missed_edges == 1


def test_power_and_watchdog(programs: tuple[Path, Path]) -> None:
    """After a cut of power, and when the program hangs, it starts anew within 1.2 s and has another boot id."""
    with running(programs, IDLE) as chip:
        chip.happens(500_000_000, "power")
        chip.happens(1_000_000_000, "hang")
        chip.measured(2_500_000_000)
        boots = [one.boot_id for one in chip.beats()]
    assert boots == sorted(boots)
    assert [boots.count(boot_id) > 3 for boot_id in range(boots[0], boots[0] + 3)] == [True, True, True]
    assert len({*boots}) == 3


def test_coups_on_its_pins(programs: tuple[Path, Path]) -> None:
    """Of the simulator's physics, with the daemon's board source and table behind: each verdict is the truth, each
    event is there and dated as near as an interrupt is. A third of the memory stays free."""
    layout = WheelLayout("campione", "roulette", "french", 148, FRENCH.beams_deg, FRENCH.readers_deg, None)
    wheel = SimTable(layout, repeatable("avr"), 7)
    wheel.now_s, wheel.pause_factor = (SETTLE_US + TURN_US) / 1e6, 0.1
    for name in COUPS:
        SCENARIOS[name](wheel)
        wheel.wait(1, 1)
    with running(programs, {**IDLE, **wired.levels(wheel.world, WIRES)}) as chip:
        verdicts = Host(wheel, chip).verdicts()
        measured = chip.measured(round(wheel.now_s * 1e9) + 1_000_000_000)
        events, beat = chip.events(measured), chip.beats()[-1]
    assert verdicts == [f"{one['kind']} {one.get('number', one.get('cause'))}" for one in wheel.truth]
    assert len(verdicts) >= len(COUPS)
    first_us = next(one.board_us for one in events if isinstance(one.event, m.RotorEdge)) - LATE_US_MAX
    truth = [
        m.TimedEvent(one.t_us, one.message)
        for one in wheel.world.events(wheel.now_s)
        if isinstance(one, sim.Sensed) and (one.t_us >= first_us or not isinstance(one, sim.RotorEdge))
    ]
    late_us = worst_us(events, truth)
    assert late_us <= LATE_US_MAX
    assert (beat.missed_edges, beat.overwritten_events, beat.rejected_frames) == (0, 0, 0)
    assert measured["interrupt"] < INTERRUPT_CYCLES_MAX
    assert measured["busy_ns"] < BUSY_NS_MAX
    size = subprocess.check_output(["avr-size", programs[1]], text=True).splitlines()[1].split()
    eeprom_bytes = 4 + m.TEXT_BYTES  # counted among the data
    assert int(size[1]) - eeprom_bytes + int(size[2]) + measured["stack"] < RAM_BYTES * 2 / 3


class Host:
    """The daemon's board source and table at the other end of the chip's line, and what people say. Times in µs."""

    def __init__(self, wheel: SimTable, chip: Chip) -> None:
        setting = msgspec.structs.replace(FRENCH, last_number=None)
        self._table, _ = Table.start(setting, boot_id="avr", started_utc_us=UTC_AT_0_US)
        self._board = Board(BoardSetting(port="/dev/ttyACM0"), setting, hello_token=7, host_ns=0)
        self._chip = chip
        happened = [*wheel.world.events(wheel.now_s)]
        self._end_us = round(wheel.now_s * 1e6) + LINGER_US
        self._edges = deque(wired.edges(wheel.world, happened, wheel.now_s, WIRES))
        opened = sim.TableCommand(SETTLE_US, "open", "chef")
        self._words = deque([opened, *(one for one in happened if isinstance(one, sim.TableCommand))])
        self._said: deque[Command] = deque()
        self._verdicts: list[str] = []

    def verdicts(self) -> list[str]:
        """What the table publishes until the end."""
        self._board.opened(0)
        for now_us in range(STEP_US, self._end_us, STEP_US):
            self._happens(now_us)
            self._takes(self._chip.run(now_us * 1000), now_us)
            self._chip.receive(now_us * 1000, self._board.data_to_send())
        return self._verdicts

    def _happens(self, now_us: int) -> None:
        while self._edges and self._edges[0].at_ns <= now_us * 1000:
            edge = self._edges.popleft()
            self._chip.pins([(edge.at_ns, edge.pin, edge.level)])
        while self._words and self._words[0].t_us <= now_us:
            word, t_us = self._words.popleft(), self._board.now_us(now_us * 1000)
            said = {"kind": "command", "t": t_us, "name": word.name, "by": word.by}
            self._said.append(msgspec.convert(said, Command))

    def _takes(self, data: bytes, now_us: int) -> None:
        host_ns = now_us * 1000
        observations = self._board.receive(data, host_ns, UtcPair(host_ns, UTC_AT_0_US + now_us, 1))
        if now_us % TICK_US == 0:
            observations += self._board.tick(host_ns)
        for seen in observations:
            self._say_until(seen.t_us - 1)
            self._publish(self._table.apply(seen).messages)
        self._say_until(self._table.now_us if self._board.is_up else self._board.now_us(host_ns))
        if observations and self._board.position is not None:
            self._board.acknowledge(self._board.position)

    def _say_until(self, t_us: int) -> None:
        """As `TableLoop`: a word waits until the sensors have reported up to its time."""
        while self._said and self._said[0].t_us <= t_us:
            self._publish(self._table.apply(self._said.popleft()).messages)

    def _publish(self, messages: Iterable[Message]) -> None:
        for message in messages:
            if message.topic in ("result", "void"):
                payload = msgspec.json.decode(message.payload)
                self._verdicts.append(f"{message.topic} {payload.get('number', payload.get('cause'))}")
