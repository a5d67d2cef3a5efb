"""A bench for two kinds of pins: simulated in virtual time, or lines of the kernel's `gpio-sim` in real time."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import msgspec

from hw_sim.gpio_sim import SimChip
from hw_sim.pins import SimPins
from wheeld.core.observations import ClockReading, Level, Observation, TimePassed
from wheeld.core.pockets import SINGLE_ZERO
from wheeld.ports import Edge, Pins
from wheeld.sources.clock import UtcPair
from wheeld.sources.gpio.feed import LOOK_S
from wheeld.sources.gpio.rpi import open_pins
from wheeld.sources.gpio.setting import GpioSetting
from wheeld.sources.gpio.source import GpioSource

ON_LINES = "WHEELD_GPIO_CHIP" in os.environ
"""The init of the kernel that has such a chip sets its name."""
LOOK_NS = round(LOOK_S * 1e9)
LEAD_NS = 100_000_000
"""Time before the first edge, for the first levels to settle."""
REST_NS = 150_000_000
"""Time after the last edge, for it to settle."""
UTC_US = 1_800_000_000_000_000

ROTOR_TICKS = 148
WIRED = GpioSetting(
    provider="rpi-lgpio",
    encoder="quadrature",
    encoder_pins=(2, 3, 4),
    index_tick=5,
    beam_pins=(5, 6, 7, 8),
    reader_pins=(9, 10, 11),
    object_pin=12,
    button_rien_va=13,
    button_tout_va=14,
    button_operations_done=15,
    lamp=16,
    buzzer=17,
    bets_closed=18,
)


@dataclass
class Recording:
    """The observations of a source, their times counted from the first moment of the play."""

    all: list[Observation]
    source: GpioSource
    slipped_us: int = 0
    """How much later than planned the last edge was made: a busy machine plays late."""

    def of(self, *kinds: type[Observation]) -> list[Observation]:
        return [seen for seen in self.all if isinstance(seen, kinds)]

    @property
    def seen(self) -> list[Observation]:
        """The observations without those of time, and without how everything stands."""
        return [seen for seen in self.all if not isinstance(seen, TimePassed | ClockReading | Level)]


OnObservation = Callable[[Observation, int], None]


def ignore(_seen: Observation, _base_us: int) -> None:
    """For a play without a receiver of observations."""


class Bench(Protocol):
    """Wires a source, plays edges to it, and returns its observations."""

    late_us: int
    """How much later than planned an edge may happen, and be dated."""

    def run(
        self,
        edges: Iterable[Edge],
        *,
        until_ns: int,
        setting: GpioSetting = WIRED,
        rotor_ticks: int = ROTOR_TICKS,
        levels: dict[int, bool] | None = None,
        on_observation: OnObservation = ignore,
    ) -> Recording: ...

    def output(self, drive: Callable[[Pins], None], pins: Iterable[int]) -> dict[int, bool]: ...


class SimBench:
    """Simulated pins in virtual time."""

    late_us = 0

    def __init__(self, prepare: Callable[[SimPins], None] = lambda _pins: None, latency_ns: int = 1_000_000) -> None:
        self._prepare, self._latency_ns = prepare, latency_ns

    def run(
        self,
        edges: Iterable[Edge],
        *,
        until_ns: int,
        setting: GpioSetting = WIRED,
        rotor_ticks: int = ROTOR_TICKS,
        levels: dict[int, bool] | None = None,
        on_observation: OnObservation = ignore,
    ) -> Recording:
        pins = SimPins(latency_ns=self._latency_ns)
        pins.play(Edge(pin, level, 0) for pin, level in {**idle(setting), **(levels or {})}.items())
        pins.advance(self._latency_ns)
        source = GpioSource(setting, pins, pockets=SINGLE_ZERO, rotor_ticks=rotor_ticks, host_ns=self._latency_ns)
        base_ns = LEAD_NS
        pins.play(at(edge, base_ns) for edge in edges)
        self._prepare(pins)
        base_us = (base_ns - self._latency_ns) // 1_000
        observations: list[Observation] = []
        while pins.now_ns < base_ns + until_ns + REST_NS:
            pins.advance(pins.now_ns + LOOK_NS)
            look(source, pins.now_ns, base_us, observations, on_observation)
        return Recording(observations, source)

    def output(self, drive: Callable[[Pins], None], pins: Iterable[int]) -> dict[int, bool]:
        simulated = SimPins()
        drive(simulated)
        return {pin: simulated.out[pin] for pin in pins}


class LineBench:
    """Real time, a real kernel, `rpi-lgpio`; another process drives the lines."""

    late_us = 5_000

    def run(
        self,
        edges: Iterable[Edge],
        *,
        until_ns: int,
        setting: GpioSetting = WIRED,
        rotor_ticks: int = ROTOR_TICKS,
        levels: dict[int, bool] | None = None,
        on_observation: OnObservation = ignore,
    ) -> Recording:
        player = Player(edges)
        pins = open_pins("rpi-lgpio", chip().number)
        try:
            source = GpioSource(
                setting, pins, pockets=SINGLE_ZERO, rotor_ticks=rotor_ticks, host_ns=time.monotonic_ns()
            )
            # Not earlier: when a line is claimed, its resistor sets its level.
            for pin, level in {**idle(setting), **(levels or {})}.items():
                chip().pull(pin, level=level)
            return self._played(player, until_ns, source, on_observation)
        finally:
            pins.close()

    def _played(self, player: Player, until_ns: int, source: GpioSource, on_observation: OnObservation) -> Recording:
        base_ns = player.start()
        base_us = source.now_us(base_ns)
        observations: list[Observation] = []
        while player.plays:
            look(source, time.monotonic_ns(), base_us, observations, on_observation)
            time.sleep(LOOK_S)
        slipped_us = (player.pulled_ns()[-1] - base_ns - player.edges[-1].at_ns) // 1_000
        while observations[-1].t_us < until_ns // 1_000 + slipped_us:
            look(source, time.monotonic_ns(), base_us, observations, on_observation)
            time.sleep(LOOK_S)
        return Recording(observations, source, slipped_us)

    def output(self, drive: Callable[[Pins], None], pins: Iterable[int]) -> dict[int, bool]:
        real = open_pins("rpi-lgpio", chip().number)
        try:
            drive(real)
            return {pin: chip().level(pin) for pin in pins}
        finally:
            real.close()


def look(
    source: GpioSource, now_ns: int, base_us: int, observations: list[Observation], on_observation: OnObservation
) -> None:
    """One look, its times changed to those of the play; `on_observation` gets them unchanged."""
    for seen in source.look(now_ns, UtcPair(now_ns, UTC_US + now_ns // 1_000, 1)):
        on_observation(seen, base_us)
        observations.append(msgspec.structs.replace(seen, t_us=seen.t_us - base_us))


def idle(setting: GpioSetting) -> dict[int, bool]:
    """The levels when nothing is blocked or pressed and the encoder is at 00."""
    encoder = dict.fromkeys(setting.encoder_pins or (), setting.encoder_active_low)
    thing = () if setting.object_pin is None else (setting.object_pin,)
    sensors = dict.fromkeys((*setting.beam_pins, *setting.reader_pins, *thing), setting.sensors_active_low)
    return {**encoder, **sensors, **dict.fromkeys(setting.buttons.values(), setting.buttons_active_low)}


def at(edge: Edge, base_ns: int) -> Edge:
    """The edge, `base_ns` later."""
    return msgspec.structs.replace(edge, at_ns=edge.at_ns + base_ns)


@cache
def chip() -> SimChip:
    """The kernel's simulated chip."""
    return SimChip(os.environ["WHEELD_GPIO_CHIP"])


class Player:
    """Another process, which drives the lines."""

    def __init__(self, edges: Iterable[Edge]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "hw_sim.gpio_sim", os.environ["WHEELD_GPIO_CHIP"]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.edges = [*edges]
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._pulled_ns: list[int] = []
        self._input.writelines(f"{edge.at_ns} {edge.pin} {edge.level:d}\n" for edge in self.edges)
        self._input.write("\n")
        self._input.flush()
        assert self._output.readline() == "ready\n"

    def start(self) -> int:
        """Returns the first moment of the play, in host monotonic ns."""
        base_ns = time.monotonic_ns() + LEAD_NS
        self._input.write(f"{base_ns}\n")
        self._input.flush()
        self._reading.start()
        return base_ns

    def _read(self) -> None:
        """Read until the end: the process would block without a reader, since a pipe holds 64 kB."""
        self._pulled_ns = [int(line) for line in self._output]

    @property
    def plays(self) -> bool:
        """Whether it still plays."""
        return self._reading.is_alive()

    def pulled_ns(self) -> list[int]:
        """When each edge was made, in host monotonic ns; waits for the end."""
        self._reading.join()
        self._input.close()
        self._output.close()
        assert self._process.wait() == 0
        return self._pulled_ns


BENCHES: list[Bench] = [LineBench()] if ON_LINES else [SimBench()]
