"""The sources of one daemon's wheel: a board on a serial line, pins of this computer, the wheel's own head.

This is a part of the composition root: it builds and runs the sources that the configuration names. A wheel with a
board may also have pins, for buttons and lamps. A head may be the only source, or be used together with a board or
pins.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeAlias

from firmware_protocol.host import Position
from wheeld.config.sections import Config
from wheeld.core.catalogue import Part, Text
from wheeld.core.facts import Trouble
from wheeld.core.setting import TableSetting
from wheeld.ports import ByteLink, HostClock
from wheeld.sources.board.board import REFUSALS, Board
from wheeld.sources.board.feed import BoardFeed
from wheeld.sources.board.setting import BoardSetting
from wheeld.sources.chatter import DoorSeen
from wheeld.sources.gpio.feed import CAUGHT_UP_S, GpioFeed, Say, commands_only
from wheeld.sources.gpio.outputs import Outputs
from wheeld.sources.gpio.rpi import open_pins
from wheeld.sources.gpio.setting import GpioSetting
from wheeld.sources.gpio.source import GpioSource
from wheeld.sources.head.feed import HeadFeed
from wheeld.sources.head.reader import reader_of
from wheeld.sources.head.setting import HeadSetting
from wheeld.sources.host_time import HostTimeSource
from wheeld.sources.interleave import Interleaver
from wheeld.sources.link.serial_link import SerialLink, open_serial
from wheeld.sources.link.supervisor import LinkSupervisor
from wheeld.sources.link.url_link import UrlLink
from wheeld.sources.sensing import HandOn, Sensing

Tasks: TypeAlias = dict[str, Coroutine[Any, Any, None]]
Counters: TypeAlias = dict[str, dict[str, int]]


class Source:
    """All sources of the wheel. `start_ns`: when the daemon started, host time. A board's events continue from
    `resume_at` if the board has not restarted since then. Raises PinsError if pins cannot be used."""

    def __init__(self, config: Config, *, start_ns: int, resume_at: Position | None = None) -> None:
        self._start_ns = start_ns
        self._board = None
        if config.sensors is not None:
            self._board = _BoardPart(config, config.sensors, start_ns=start_ns, resume_at=resume_at)
        self._pins = None
        if config.gpio is not None:
            self._pins = _PinsPart(config.gpio, config.table, start_ns=start_ns)
        self._host_time = HostTimeSource(start_ns=start_ns)
        self._head = None if config.head is None else _HeadPart(config, config.head, self.sensing.now_us)

    @property
    def sensing(self) -> Sensing:
        """The source whose clock is the sensing clock: a board, otherwise pins that observe, otherwise the host."""
        if self._board is not None:
            return self._board.board
        if self._pins is not None and self._pins.observes:
            return self._pins.source
        return self._host_time

    @property
    def sensors(self) -> dict[str, bool]:
        """Whether each sensor and each line to the sensors works."""
        head = {} if self._head is None else self._head.sensors
        return {"link": self.sensing.is_up, **self.sensing.sensors, **head}

    @property
    def silent(self) -> tuple[str, ...]:
        """The names of the lines that have not answered since the start. Pins answer when they are opened."""
        board = () if self._board is None or self._board.board.has_answered else ("link",)
        head = () if self._head is None or self._head.sensors["head"] else ("head",)
        return (*board, *head)

    @property
    def unavailable(self) -> tuple[str, ...]:
        """For each line that cannot be opened, the reason and what to do."""
        lines = [part.line for part in (self._board, self._head) if part is not None]
        return tuple(line.unavailable for line in lines if line is not None and line.unavailable)

    @property
    def refused(self) -> tuple[Text, Text] | None:
        """What the connected board has and what the configuration asks for, and what to do. None unless the board is
        refused."""
        return None if self._board is None else self._board.refused

    @property
    def caught_up_s(self) -> float:
        """How long it takes after a standstill until all buttons that were pressed during it are read."""
        has_buttons_beside = self._pins is not None and self.sensing is not self._pins.source
        return CAUGHT_UP_S if has_buttons_beside else 0.0

    @property
    def troubles(self) -> dict[str, tuple[Trouble, ...]]:
        """What is wrong with each sensor, if that is known."""
        return dict(self.sensing.troubles)

    @property
    def door(self) -> DoorSeen:
        """What was reported about the cabinet's door."""
        return self.sensing.door

    @property
    def counters(self) -> Counters:
        """The counters of each part, counted since the start."""
        counters: Counters = {}
        for part in (self._board, self._pins, self._head):
            if part is not None:
                counters |= part.counters
        return counters

    @property
    def pulse_widths_us(self) -> dict[str, tuple[int, int]]:
        """The narrowest and the widest pulse of each beam and reader on pins. A board does not report them."""
        return {} if self._pins is None else self._pins.source.pulse_widths_us

    def tasks(
        self,
        say: Say,
        put_batch: HandOn,
        *,
        turning: HostClock,
        clock: HostClock,
        state: Callable[[], str],
    ) -> Tasks:
        """Return the tasks to run, by name. Observations go to `put_batch`. If the pins do not observe the wheel, the
        commands of their buttons go to `say`.

        The loop that reads `sensing` sleeps on the clock `turning`, which shows the watchdog that the loop runs. All
        other tasks sleep on `clock`. `state` returns the table's state, for the lamps.
        """
        tasks: Tasks = {}
        if self._head is not None:
            tasks |= self._head.tasks(clock)
            put_batch = self._head.interleaver.onto(put_batch)
        if self._board is not None:
            tasks |= self._board.tasks(put_batch, turning=turning, clock=clock)
        if self.sensing is self._host_time:
            tasks["host_time"] = self._host_time.run(turning, put_batch)
        if self._pins is not None:
            if self.sensing is not self._pins.source:
                put_batch, turning = commands_only(say, start_ns=self._start_ns), clock
            tasks["gpio"] = self._pins.feed(turning, put_batch, state).run()
        return tasks


class _BoardPart:
    """The sensor board and the serial line to it."""

    def __init__(self, config: Config, setting: BoardSetting, *, start_ns: int, resume_at: Position | None) -> None:
        self._setting, self._section = setting, f"[sensors] of {config.file}"
        token = secrets.randbits(32)
        self.board = Board(setting, config.table, hello_token=token, host_ns=start_ns, resume_at=resume_at)
        self.line: LinkSupervisor[SerialLink] | None = None

    @property
    def refused(self) -> tuple[Text, Text] | None:
        found = dict(self.board.refused)
        if not found or self.line is None or self.line.unavailable:
            return None
        if found["what"] in ("board_serial", "config_hash"):
            named: dict[str, Part] = {**found, "section": self._section}
            return (
                Text("the board's `{what}` is {found}, and the configuration asks for {expected}", named),
                Text("correct `{what}` in {section}, or connect that board", named),
            )
        trouble, told = REFUSALS[found.pop("what")], "; ".join(f"{key} {value}" for key, value in found.items())
        return Text("{what} ({found})", {"what": Text(trouble.text), "found": told}), Text(trouble.mend)

    @property
    def counters(self) -> Counters:
        opened = 0 if self.line is None else self.line.opened_count
        return {"board": self.board.counters, "link": {"opened": opened}}

    def tasks(self, put_batch: HandOn, *, turning: HostClock, clock: HostClock) -> Tasks:
        feed = BoardFeed(self.board, turning, put_batch)
        key = f"`port` in {self._section}"
        open_line = partial(open_serial, self._setting.port, self._setting.baud, key, ready=False)
        self.line = LinkSupervisor(open_line, feed.serve, clock=clock, jitter=random.random)
        return {"link": self.line.run(), "board": feed.tick()}


class _HeadPart:
    """The wheel's own head and its line. Its reports are merged with the observations of the other sources."""

    def __init__(self, config: Config, setting: HeadSetting, now_us: Callable[[int], int]) -> None:
        self._setting, self._key = setting, f"`port` in [head] of {config.file}"
        self._head = reader_of(setting.product).new_head(setting, config.table.profile.pockets, now_us)
        self.interleaver = Interleaver()
        self.line: LinkSupervisor[ByteLink] | None = None

    @property
    def sensors(self) -> dict[str, bool]:
        return self._head.sensors

    @property
    def counters(self) -> Counters:
        return {"head": {**self._head.counters, "dropped_reports": self.interleaver.dropped}}

    def tasks(self, clock: HostClock) -> Tasks:
        feed = HeadFeed(self._head, clock, self.interleaver.second)
        port = self._setting.port
        self.line = LinkSupervisor(
            partial(UrlLink if "://" in port else open_serial, port, self._setting.baud, self._key),
            feed.serve,
            clock=clock,
            jitter=random.random,
        )
        return {"head_line": self.line.run(), "head": feed.tick()}


class _PinsPart:
    """The pins: inputs that are observed, and outputs for lamps."""

    def __init__(self, setting: GpioSetting, table: TableSetting, *, start_ns: int) -> None:
        self.observes = setting.observes
        self._pins = open_pins(setting.provider, setting.chip)
        self.source = GpioSource(
            setting, self._pins, pockets=table.profile.pockets, rotor_ticks=table.rotor_ticks, host_ns=start_ns
        )
        self._outputs = Outputs(setting, self._pins)

    @property
    def counters(self) -> Counters:
        return {"gpio": self.source.counters}

    def feed(self, clock: HostClock, put_batch: HandOn, state: Callable[[], str]) -> GpioFeed:
        return GpioFeed(self.source, self._outputs, self._pins, clock=clock, hand_on=put_batch, state=state)
