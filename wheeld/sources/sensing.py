"""What all sources have in common: the sensing clock, what is known of the sensors, and the batches of observations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, TypeAlias

import msgspec

from firmware_protocol.host import Position
from wheeld.core.facts import Trouble
from wheeld.core.observations import Observation
from wheeld.ports import HostClock, read_together
from wheeld.sources.chatter import ChatterFilter, DoorSeen
from wheeld.sources.clock import HostTime, UtcPair
from wheeld.sources.line_state import LineState


class Sensing(Protocol):
    """A source whose clock is the sensing clock: a board, pins of this computer, or the host's clock."""

    @property
    def is_up(self) -> bool:
        """Whether the source works, as last reported to the core. Each change is reported as an observation."""
        ...

    @property
    def sensors(self) -> dict[str, bool]:
        """Whether each sensor of the source works."""
        ...

    @property
    def troubles(self) -> Mapping[str, tuple[Trouble, ...]]:
        """What is wrong now, by sensor, as far as it is known. The line to the sensors is named `link`."""
        ...

    @property
    def keeps_times(self) -> bool:
        """Whether an event gets the time at which it happened, even if it waits to be read. If not, it gets the time at
        which it is read: after a standstill, the time at which the standstill ended."""
        ...

    @property
    def door(self) -> DoorSeen:
        """What the source has reported about the cabinet's door."""
        ...

    def now_us(self, host_ns: int) -> int:
        """Return the host's estimate of the sensing time, never less than the newest observation."""
        ...

    def clock_now(self, host_ns: int) -> HostTime | None:
        """Return the sensing clock at `host_ns`, with its error. None while it is not known."""
        ...

    def acknowledge(self, position: Position) -> None:
        """Remember that all observations of a batch with this `position` are stored."""
        ...


class WiredSensors:
    """What a board and pins have in common: sensors that may chatter, and the line to them. `name` is for the log."""

    def __init__(self, name: str) -> None:
        self._line = LineState(name)
        self._chatter = ChatterFilter(name)

    @property
    def is_up(self) -> bool:
        """See `Sensing.is_up`."""
        return self._line.is_up

    @property
    def sensors(self) -> dict[str, bool]:
        """Whether each sensor works. A sensor fails if it is reported as failed, or if it chatters."""
        return {**self._chatter.sensors, **self._chatter.door.sensors}

    @property
    def door(self) -> DoorSeen:
        """See `Sensing.door`."""
        return self._chatter.door.seen

    @property
    def troubles(self) -> dict[str, tuple[Trouble, ...]]:
        """See `Sensing.troubles`."""
        link = {"link": self._line.troubles} if self._line.troubles else {}
        return {**link, **self._chatter.troubles}


class Batch(msgspec.Struct, frozen=True):
    """Observations in time order, at least one. When they are stored, `position` may be acknowledged to the board."""

    observations: list[Observation]
    position: Position | None

    @property
    def last_us(self) -> int:
        """The sensing time of the newest observation."""
        return self.observations[-1].t_us


HandOn: TypeAlias = Callable[[Batch], Awaitable[None]]
"""A function that takes batches. It waits while the table has too many batches."""


def utc_now(clock: HostClock) -> UtcPair:
    """Read the host's two clocks together. The error is the time that this took, rounded up."""
    host_ns, utc_us, took_ns = read_together(clock.monotonic_ns, clock.utc_us)
    return UtcPair(host_ns, utc_us, took_ns // 1_000 + 1)
