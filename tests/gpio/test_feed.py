"""The loop that reads the pins, the lamps, and the whole daemon with pins in place of a board."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from hw_sim.pins import SimPins
from tests.config.test_gpio import BUTTONS, PINS
from tests.gpio.bench import ROTOR_TICKS, WIRED, idle
from tests.gpio.test_contract import MS, pulse, turning
from tests.journal.journals import OWNER
from tests.sources.test_board_feed import settle
from wheeld.broker.payloads import Health
from wheeld.config.reading import parse
from wheeld.config.sections import Config
from wheeld.core.observations import BallPass, Command, Observation, TimePassed
from wheeld.core.pockets import SINGLE_ZERO
from wheeld.daemon import root as daemon_module
from wheeld.daemon import sources
from wheeld.daemon.root import Daemon, run
from wheeld.daemon.sources import Source
from wheeld.exits import Exit
from wheeld.journal.journal import Journal
from wheeld.ports import Edge, PinsError
from wheeld.service.host_clock import SystemClock
from wheeld.sources.gpio.feed import LOOK_S, GpioFeed, commands_only
from wheeld.sources.gpio.outputs import BUZZ_NS, Outputs
from wheeld.sources.gpio.source import GpioSource
from wheeld.sources.sensing import Batch


class PinClock:
    """The pins' virtual time: every sleep advances it at once."""

    def __init__(self, pins: SimPins) -> None:
        self.pins = pins
        self.slept = 0

    def monotonic_ns(self) -> int:
        return self.pins.now_ns

    def utc_us(self) -> int:
        return 1_800_000_000_000_000 + self.pins.now_ns // 1_000

    async def sleep(self, seconds: float) -> None:
        assert seconds == LOOK_S
        self.slept += 1
        await asyncio.sleep(0)
        self.pins.advance(self.pins.now_ns + round(seconds * 1e9))


async def looked(holds: Callable[[], bool]) -> None:
    """Let the feed look until `holds` is true."""
    for _ in range(10_000):
        if holds():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never became true")


def wired() -> SimPins:
    pins = SimPins()
    pins.play(Edge(pin, level, 0) for pin, level in idle(WIRED).items())
    pins.advance(0)
    return pins


@pytest.mark.parametrize(
    ("state", "lamp", "closed"),
    [
        ("faites_vos_jeux", False, False),
        ("ball_running", False, False),
        ("rien_ne_va_plus", False, True),
        ("ball_on_obstacle", False, True),
        ("operations", False, True),
        ("rien_va", True, True),
        ("suspended", True, True),
        ("closed", False, True),
    ],
)
def test_each_state_has_its_lamps(state: str, lamp: bool, closed: bool) -> None:
    pins = SimPins()
    Outputs(WIRED, pins).show(state, 0)
    assert (pins.out[16], pins.out[18]) == (lamp, closed)


def test_the_buzzer_sounds_when_a_coup_becomes_null_and_stops_by_itself() -> None:
    pins = SimPins()
    outputs = Outputs(WIRED, pins)
    assert pins.out == {16: False, 17: False, 18: False}
    outputs.show("rien_va", 0)
    assert pins.out == {16: True, 17: False, 18: True}  # it was null already when the daemon came
    outputs.show("faites_vos_jeux", 1)
    outputs.show("rien_va", 2)
    assert pins.out == {16: True, 17: True, 18: True}
    outputs.show("rien_va", BUZZ_NS + 1)
    assert pins.out == {16: True, 17: True, 18: True}
    outputs.show("suspended", BUZZ_NS + 2)
    assert pins.out == {16: True, 17: False, 18: True}
    outputs.dark()
    assert pins.out == {16: False, 17: False, 18: False}


async def test_every_look_is_handed_on_and_the_lamps_go_out_at_the_end() -> None:
    pins = wired()
    pins.play(pulse(6, 300 * MS, 8 * MS))
    observations: list[Observation] = []
    states = ["faites_vos_jeux"]
    lamp = 16

    async def hand_on(batch: Batch) -> None:
        assert batch.position is None
        observations.extend(batch.observations)

    source = GpioSource(WIRED, pins, pockets=SINGLE_ZERO, rotor_ticks=ROTOR_TICKS, host_ns=0)
    feed = GpioFeed(source, Outputs(WIRED, pins), pins, clock=PinClock(pins), hand_on=hand_on, state=lambda: states[-1])
    task: asyncio.Task[None] = asyncio.create_task(feed.run())
    await looked(lambda: pins.now_ns >= 500 * MS)
    states.append("rien_va")
    await looked(lambda: lamp in pins.out and pins.out[lamp])
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert [seen for seen in observations if isinstance(seen, BallPass)] == [BallPass(304_000, beam=1)]
    assert isinstance(observations[-1], TimePassed)
    assert (pins.out, pins.closed) == ({16: False, 17: False, 18: False}, True)


async def test_pins_are_released_when_the_lamps_cannot_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    pins = wired()
    outputs = Outputs(WIRED, pins)

    def stuck() -> None:
        raise PinsError("the chip is gone")

    async def hand_on(_: Batch) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(outputs, "dark", stuck)
    feed = GpioFeed(
        GpioSource(WIRED, pins, pockets=SINGLE_ZERO, rotor_ticks=ROTOR_TICKS, host_ns=0),
        outputs,
        pins,
        clock=PinClock(pins),
        hand_on=hand_on,
        state=str,
    )
    with pytest.raises(PinsError, match="gone"):
        await feed.run()
    assert pins.closed


async def test_edges_wait_while_the_table_takes_nothing() -> None:
    pins = wired()
    pins.play(turning(range(100)))
    gate = asyncio.Event()
    batches: list[Batch] = []

    async def hand_on(batch: Batch) -> None:
        batches.append(batch)
        await gate.wait()

    source = GpioSource(WIRED, pins, pockets=SINGLE_ZERO, rotor_ticks=ROTOR_TICKS, host_ns=0)
    feed = GpioFeed(source, Outputs(WIRED, pins), pins, clock=PinClock(pins), hand_on=hand_on, state=str)
    task: asyncio.Task[None] = asyncio.create_task(feed.run())
    await settle()
    pins.advance(pins.now_ns + 300 * MS)
    await settle()
    assert len(batches) == 1
    gate.set()
    await looked(lambda: pins.now_ns >= 900 * MS)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert source.counters["late_edges"] == 0
    assert source.counters["edges"] == 99 + 2


async def test_beside_a_board_only_commands_are_handed_on() -> None:
    """Each with the host time at which its button was pressed."""
    said: list[tuple[Command, int]] = []

    async def take(command: Command, *, came_ns: int) -> None:
        said.append((command, came_ns))

    pressed = Command(7, name="rien_va", by="button")
    await commands_only(take, start_ns=1_000_000)(Batch([TimePassed(5), pressed, TimePassed(9)], None))
    assert said == [(pressed, 1_007_000)]


@pytest.fixture
def pins(monkeypatch: pytest.MonkeyPatch) -> SimPins:
    """The pins of the computer."""
    made = SimPins(now_ns=SystemClock().monotonic_ns())
    monkeypatch.setattr(sources, "open_pins", lambda *_: made)
    return made


def configured(text: str, directory: Path) -> Config:
    return parse(text.replace("/dev/ttyACM0", str(directory / "none")), directory=directory)


async def ran(config: Config, pins: SimPins, seconds: float) -> Health:
    """Run a daemon for `seconds`, with the pins' time as the real one. Returns its health then."""
    clock = SystemClock()
    journal = await Journal.open(config.journal.path, OWNER, at_utc_us=clock.utc_us())
    daemon = Daemon(config, journal, clock, memory=None)
    task = asyncio.create_task(daemon.run())
    end_ns = clock.monotonic_ns() + round(seconds * 1e9)
    while clock.monotonic_ns() < end_ns:
        pins.advance(clock.monotonic_ns())
        await asyncio.sleep(0.005)
    assert not task.done(), task
    health = await daemon.status.health()
    task.cancel()
    await asyncio.wait({task})
    await journal.close()
    return health


@pytest.mark.parametrize("text", [PINS, BUTTONS], ids=["pins alone", "buttons beside a board"])
async def test_a_daemon_reads_a_button_lights_a_lamp_and_releases_the_pins(
    text: str, pins: SimPins, tmp_path: Path
) -> None:
    config = configured(text, tmp_path)
    assert config.gpio is not None
    button = config.gpio.buttons["tout_va"]
    soon_ns = pins.now_ns + 1_000 * MS
    pins.play([Edge(button, False, soon_ns), Edge(button, True, soon_ns + 100 * MS)])
    health = await ran(config, pins, 1.6)
    assert health.counters["gpio"]["edges"] == 2
    assert ("board" in health.counters) is (config.sensors is not None)
    lit = config.gpio.lamp if config.gpio.bets_closed is None else config.gpio.bets_closed
    assert lit in pins.out
    assert not any(pins.out.values())  # they were: the table is closed, or suspended
    assert pins.closed


class Ends:
    """Keeps the commands and the batches of observations of a source's tasks."""

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.batches: list[Batch] = []

    async def put(self, command: Command, *, came_ns: int) -> None:
        self.commands.append(command)

    async def hand_on(self, batch: Batch) -> None:
        self.batches.append(batch)


@pytest.mark.parametrize("text", [PINS, BUTTONS], ids=["pins alone", "buttons beside a board"])
async def test_beside_a_board_the_pins_report_no_time(text: str, pins: SimPins, tmp_path: Path) -> None:
    config = configured(text, tmp_path)
    assert config.gpio is not None
    source, ends, turning_clock, clock = Source(config, start_ns=pins.now_ns), Ends(), PinClock(pins), PinClock(pins)
    tasks = source.tasks(ends.put, ends.hand_on, turning=turning_clock, clock=clock, state=lambda: "closed")
    for name in ("link", "board"):
        if name in tasks:
            tasks[name].close()
    task = asyncio.create_task(tasks["gpio"])
    pins.play(pulse(config.gpio.buttons["tout_va"], pins.now_ns + 100 * MS, 100 * MS))
    end_ns = pins.now_ns + 400 * MS
    await looked(lambda: pins.now_ns >= end_ns)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    seen = [one for batch in ends.batches for one in batch.observations]
    if config.sensors is None:
        assert [one.name for one in seen if isinstance(one, Command)] == ["tout_va"]
        assert (ends.commands, turning_clock.slept > 0, clock.slept) == ([], True, 0)
    else:
        assert [command.name for command in ends.commands] == ["tout_va"]
        assert (seen, turning_clock.slept, clock.slept > 0) == ([], 0, True)


async def test_without_a_board_the_pins_are_the_wheel(pins: SimPins, tmp_path: Path) -> None:
    source = Source(configured(PINS, tmp_path), start_ns=pins.now_ns)
    assert source.sensing.sensors["beam/3"]
    assert set(source.counters) == {"gpio"}
    with pytest.raises(AssertionError):
        source.sensing.acknowledge(None)  # type: ignore[arg-type]


def test_pins_that_cannot_be_opened_end_the_daemon_as_a_wrong_configuration(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(*_: object) -> SimPins:
        raise PinsError("rpi-lgpio is not installed")

    monkeypatch.setattr(sources, "open_pins", refuse)
    monkeypatch.setattr(daemon_module, "log_to_stderr", lambda _level: None)
    assert run(configured(PINS, tmp_path)) == Exit.BAD_CONFIG
