"""What sees the wheel of one daemon: a board on a serial line, pins of the computer itself, the wheel's own head.

Part of the composition: the configuration says which, and everything of it is built and run from here. A board's wheel
may have buttons and lamps on pins beside it; a head may be alone, or give its part beside a board or pins.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

from firmware_protocol.cammegh.session import CammeghSession
from firmware_protocol.host import Position
from wheeld.config.sections import Config
from wheeld.core.observations import Command
from wheeld.ports import ByteLink, HostClock
from wheeld.sources.board.board import Board
from wheeld.sources.gpio.factory import open_pins
from wheeld.sources.gpio.feed import GpioFeed, commands_only
from wheeld.sources.gpio.outputs import Outputs
from wheeld.sources.gpio.setting import GpioSetting
from wheeld.sources.gpio.source import GpioSource
from wheeld.sources.head.feed import HeadFeed
from wheeld.sources.head.observations import HeadTranslator
from wheeld.sources.head.setting import HeadSetting
from wheeld.sources.host_time import HostTimeSource
from wheeld.sources.interleave import Interleaver
from wheeld.sources.link.serial_link import SerialLink, open_serial
from wheeld.sources.link.supervisor import LinkSupervisor
from wheeld.sources.link.url_link import UrlLink
from wheeld.sources.sensing import Batch, Sensing, SensorFeed

Put = Callable[[Batch], Awaitable[None]]
Press = Callable[[Command], Awaitable[None]]


class Source:
    """The wheel's sensors, from the daemon's start (`start_ns`) on; a board's events from `resume_at` on, if it still
    runs. Raises PinsError when pins cannot be had."""

    def __init__(self, config: Config, *, start_ns: int, resume_at: Position | None = None) -> None:
        self._config = config
        self._supervisor: LinkSupervisor[SerialLink] | None = None
        self._board: Board | None = None
        if config.sensors is not None:
            token = secrets.randbits(32)
            self._board = Board(config.sensors, config.table, hello_token=token, host_ns=start_ns, resume_at=resume_at)
        self._pins = _Pins(config.gpio, config.table.rotor_ticks, start_ns) if config.gpio is not None else None
        self._host_time = HostTimeSource(start_ns=start_ns)
        self._head = None if config.head is None else _Head(config.head, self.sensing.now_us)

    @property
    def sensing(self) -> Sensing:
        """Where the sensing clock is, and what the table is told by, but for a head."""
        if self._board is not None:
            return self._board
        if self._pins is not None and self._pins.see_the_wheel:
            return self._pins.source
        return self._host_time

    @property
    def sensors(self) -> dict[str, bool]:
        """What is known of each sensor, and of the lines to them."""
        head = {} if self._head is None else self._head.sensors
        return {"link": self.sensing.is_up, **self.sensing.sensors, **head}

    @property
    def counters(self) -> dict[str, dict[str, int]]:
        """By part."""
        opened = 0 if self._supervisor is None else self._supervisor.opened_count
        board = {} if self._board is None else {"board": self._board.counters, "link": {"opened": opened}}
        pins = {} if self._pins is None else {"gpio": self._pins.source.counters}
        return {**board, **pins, **({} if self._head is None else {"head": self._head.counters})}

    @property
    def pulse_widths_us(self) -> dict[str, tuple[int, int]]:
        """Narrowest and widest, of beams and readers on pins; a board does not tell them."""
        return {} if self._pins is None else self._pins.source.pulse_widths_us

    def tasks(
        self, press: Press, put: Put, *, turning: HostClock, clock: HostClock, state: Callable[[], str]
    ) -> dict[str, Coroutine[Any, Any, None]]:
        """What must run: observations go to `put`, commands of buttons beside a board to `press`. What sees the wheel
        waits on the clock `turning`, whose turns prove that it does."""
        tasks: dict[str, Coroutine[Any, Any, None]] = {}
        if self._head is not None:
            tasks |= self._head.tasks(clock)
            put = self._head.among(put)
        if self._board is not None:
            feed = SensorFeed(self._board, turning, put)
            sensors = self._config.sensors
            assert sensors is not None, "there is a board"
            self._supervisor = LinkSupervisor(
                partial(open_serial, sensors.port, sensors.baud), feed.serve, clock=clock, jitter=random.random
            )
            tasks |= {"link": self._supervisor.run(), "board": feed.tick()}
        elif self.sensing is self._host_time:
            tasks["host_time"] = self._host_time.run(turning, put)
        if self._pins is not None:
            if self.sensing is not self._pins.source:
                put, turning = commands_only(press), clock
            tasks["gpio"] = self._pins.feed(turning, put, state).run()
        return tasks


class _Head:
    """The wheel's own head: its line, and what it says, put among what others see."""

    def __init__(self, head: HeadSetting, now_us: Callable[[int], int]) -> None:
        self._section, self._now_us = head, now_us
        self._session = CammeghSession(head.setup())
        self._translator = HeadTranslator()
        self._interleaver = Interleaver()

    @property
    def sensors(self) -> dict[str, bool]:
        return self._translator.sensors

    @property
    def counters(self) -> dict[str, int]:
        return {**self._session.counters, "dropped_reports": self._interleaver.dropped}

    def among(self, put: Put) -> Put:
        """`put`, for what others see."""
        return self._interleaver.onto(put)

    def tasks(self, clock: HostClock) -> dict[str, Coroutine[Any, Any, None]]:
        feed = HeadFeed(self._session, self._translator, clock, self._interleaver.second, now_us=self._now_us)
        line = LinkSupervisor(self._open, feed.serve, clock=clock, jitter=random.random)
        return {"head_line": line.run(), "head": feed.tick()}

    def _open(self) -> ByteLink:
        port, baud = self._section.port, self._section.baud
        return UrlLink(port, baud) if "://" in port else open_serial(port, baud)


class _Pins:
    """Pins, what they see and what they show."""

    def __init__(self, gpio: GpioSetting, rotor_ticks: int, start_ns: int) -> None:
        self.see_the_wheel = gpio.observes
        self._pins = open_pins(gpio.provider, gpio.chip)
        self.source = GpioSource(gpio, self._pins, rotor_ticks=rotor_ticks, host_ns=start_ns)
        self._outputs = Outputs(gpio, self._pins)

    def feed(self, clock: HostClock, put: Put, state: Callable[[], str]) -> GpioFeed:
        return GpioFeed(self.source, self._outputs, self._pins, clock=clock, hand_on=put, state=state)
