"""The same wheel behind what a daemon has between sensors and table: a source and the table's loop, in virtual time.

`OnBoard`: a simulated board over the firmware protocol. `OnPins`: levels of pins. A person's word takes the way of
MQTT: the loop dates it, and keeps it until the sensors have reported up to then. Nothing waits in real time.
"""

from __future__ import annotations

import asyncio
from typing import NoReturn

from firmware_protocol import messages as m
from firmware_protocol.host import Position
from hw_sim import events as sim
from hw_sim.board import BoardSetup, SimBoard
from hw_sim.pins import SimPins
from hw_sim.wired import PERIOD
from tests.core.evening import START_UTC_US
from tests.evenings.wheels import Wheel
from wheeld.core.observations import (
    BallPass,
    Command,
    CommandName,
    ForeignObject,
    Observation,
    Rotor,
    SensorState,
    Sighting,
)
from wheeld.core.setting import TableSetting
from wheeld.core.step import Step
from wheeld.daemon.table_loop import TableLoop
from wheeld.ports import Edge
from wheeld.sources.board.board import Board
from wheeld.sources.board.setting import BoardSetting
from wheeld.sources.clock import UtcPair
from wheeld.sources.gpio.setting import GpioSetting
from wheeld.sources.gpio.source import GpioSource
from wheeld.sources.sensing import Batch, Sensing

LOOK_US = 10_000
"""As often as pins are looked at; a board's line is read within that."""
SETTLING = 3
"""So many turns of the event loop let the table's loop take a batch, store what follows, and wait again."""


class HandClock:
    """The host's clocks, which the test moves."""

    def __init__(self) -> None:
        self.now_us = 0

    def monotonic_ns(self) -> int:
        return self.now_us * 1_000

    def utc_us(self) -> int:
        return START_UTC_US + self.now_us

    async def sleep(self, seconds: float) -> NoReturn:
        raise AssertionError("nothing waits here")


class BehindSource(Wheel):
    """A wheel whose table is reached through `source`. To be closed."""

    lag_us = 0
    """By so much the source is looked at later than the wheel moves: what is wired may begin before its time."""

    def __init__(self, setting: TableSetting, source: Sensing) -> None:
        super().__init__(setting)
        self._clock = HandClock()
        self._words: list[Command] = []
        self._runner = asyncio.Runner()
        self._loop = TableLoop(self.table, source, clock=self._clock, store=self._stored, on_change=lambda: None)
        self._task = self._runner.get_loop().create_task(self._loop.run())

    def close(self) -> None:
        """End the table's loop."""
        self._task.cancel()
        self._runner.close()

    def observe(self, seen: Observation) -> Step:
        self._pass_to(seen.t_us - self.lag_us)
        if not self.is_blind(seen):
            self.happens(seen)
        return Step()

    def command(self, command: Command) -> None:
        self._words.append(command)

    def button(self, name: CommandName) -> None:
        self.observe(Command(self.now_us, name, "button"))

    def happens(self, seen: Observation) -> None:
        """The sensors sense this, or a button is pressed."""
        raise NotImplementedError

    def look(self, now_us: int, utc: UtcPair) -> Batch | None:
        """What the source reports at the host's time `now_us`."""
        raise NotImplementedError

    def _pass_to(self, t_us: int) -> None:
        while self._clock.now_us + LOOK_US <= t_us:
            self._clock.now_us += LOOK_US
            now_us = self._clock.now_us
            batch = self.look(now_us, UtcPair(now_us * 1_000, self._clock.utc_us(), 1))
            due = [word for word in self._words if word.t_us <= now_us]
            self._words = [word for word in self._words if word.t_us > now_us]
            work: list[Batch | Command] = [*([batch] if batch else []), *due]
            if work:
                self._runner.run(self._put(work))

    async def _put(self, work: list[Batch | Command]) -> None:
        for one in work:
            await (self._loop.say(one, came_ns=None) if isinstance(one, Command) else self._loop.put(one))
        for _ in range(SETTLING):
            await asyncio.sleep(0)
        if self._task.done():
            self._task.result()

    async def _stored(self, step: Step, at_utc_us: int, position: Position | None) -> None:
        self._keep(self._clock.now_us, step)


class OnBoard(BehindSource):
    """A board, its line, and the daemon's session with it."""

    def __init__(self, setting: TableSetting) -> None:
        beams, readers = len(setting.beams_deg), len(setting.readers_deg)
        layout = m.Layout(beams=beams, readers=readers, rotor_ticks=setting.rotor_ticks, object_sensor=True)
        self._board = SimBoard(BoardSetup(layout))
        self._source = Board(BoardSetting(port="/dev/ttyACM0"), setting, hello_token=7, host_ns=0)
        super().__init__(setting, self._source)

    def happens(self, seen: Observation) -> None:
        if (event := _event(seen)) is not None:
            self._board.feed(event)

    def look(self, now_us: int, utc: UtcPair) -> Batch | None:
        self._board.advance(now_us)
        observations = self._source.tick(utc.host_ns)
        observations += self._source.receive(self._board.data_to_send(), utc.host_ns, utc)
        self._board.receive(self._source.data_to_send())
        return Batch(observations, self._source.position) if observations else None


def _event(seen: Observation) -> sim.SimEvent | None:
    """What a board senses of it; None for the passing of time."""
    match seen:
        case Rotor(t_us, tick, direction):
            return sim.RotorEdge(t_us, tick, direction)
        case BallPass(t_us, beam):
            return sim.BallPass(t_us, beam)
        case Sighting(t_us, reader):
            return sim.Sighting(t_us, reader)
        case ForeignObject(t_us, present):
            return sim.ForeignObject(t_us, present)
        case SensorState(t_us, sensor, ok):
            return sim.SensorState(t_us, sensor, ok)
        case Command(t_us, name, by):
            return sim.TableCommand(t_us, name, by)
    return None


ENCODER, OBJECT = (2, 3, 4), 12
PINS = GpioSetting(
    provider="rpi-lgpio",
    encoder="quadrature",
    encoder_pins=ENCODER,
    index_tick=5,
    beam_pins=(5, 6, 7, 8),
    reader_pins=(9, 10, 11),
    object_pin=OBJECT,
    button_rien_va=13,
    button_tout_va=14,
    button_operations_done=15,
    button_rien_ne_va_plus=16,
    beam_blocked_s_max=0.2,
)
"""A covered beam is a fault after 0.2 s here, so that it is reported within the same step."""
BEAM_S, READER_S, PRESS_S = 0.008, 0.040, 0.150
"""How long the ball blocks a beam at 2 laps a second, and a reader at 20 turns a minute; how long a button is held."""


class OnPins(BehindSource):
    """Levels of pins of the computer itself."""

    lag_us = 100_000
    """Half of the longest pulse, and a look."""

    def __init__(self, setting: TableSetting) -> None:
        self._pins = SimPins()
        used = [pin for _, pin in PINS.used() if pin not in ENCODER]
        self._pins.play([*(Edge(pin, True, 0) for pin in used), *(Edge(pin, False, 0) for pin in ENCODER)])
        self._pins.advance(0)
        self._source = GpioSource(
            PINS, self._pins, pockets=setting.profile.pockets, rotor_ticks=setting.rotor_ticks, host_ns=0
        )
        super().__init__(setting, self._source)

    def happens(self, seen: Observation) -> None:
        t_s = seen.t_us / 1e6
        match seen:
            case Rotor(_, tick, direction):
                self._encoder(t_s, tick, is_clockwise=direction == "cw")
            case BallPass(_, beam):
                self._blocked(PINS.beam_pins[beam], t_s - BEAM_S / 2, BEAM_S)
            case Sighting(_, reader):
                self._blocked(PINS.reader_pins[reader], t_s - READER_S / 2, READER_S)
            case ForeignObject(_, present):
                self._level(OBJECT, t_s, level=not present)
            case SensorState(_, sensor, ok):
                kind, _, number = sensor.partition("/")
                pins = PINS.beam_pins if kind == "beam" else PINS.reader_pins
                self._level(pins[int(number)], t_s, level=ok)
            case Command(_, name):
                self._blocked(PINS.buttons[name], t_s, PRESS_S)

    def look(self, now_us: int, utc: UtcPair) -> Batch | None:
        self._pins.advance(utc.host_ns)
        observations = self._source.look(utc.host_ns, utc)
        return Batch(observations, None) if observations else None

    def _encoder(self, t_s: float, tick: int, *, is_clockwise: bool) -> None:
        """A and B at the border of two ticks; Z from the middle of the marked tick to the middle of the next."""
        a, b, z = ENCODER
        place = tick % PERIOD
        self._level(a, t_s, level=place in (1, 2))
        self._level(b, t_s, level=place in (2, 3))
        half_s = 180 / self.setting.rotor_ticks / abs(self._turn_deg_s)
        if tick in (PINS.index_tick, PINS.index_tick + 1):
            self._level(z, t_s + half_s, level=(tick == PINS.index_tick) is is_clockwise)

    def _blocked(self, pin: int, from_s: float, for_s: float) -> None:
        self._level(pin, from_s, level=False)
        self._level(pin, from_s + for_s, level=True)

    def _level(self, pin: int, t_s: float, *, level: bool) -> None:
        self._pins.play([Edge(pin, level, round(t_s * 1e9))])
