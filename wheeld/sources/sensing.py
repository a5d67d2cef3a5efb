"""What every source has in common: its clock and state for the table, and the batches that it hands on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, TypeAlias

import msgspec

from firmware_protocol.host import Position
from wheeld.core.facts import Trouble
from wheeld.core.observations import Observation
from wheeld.ports import HostClock, read_together
from wheeld.sources.chatter import DoorSeen
from wheeld.sources.clock import HostTime, UtcPair


class Sensing(Protocol):
    """A source whose clock is the sensing clock: a board, pins of this computer, or the host's clock."""

    @property
    def is_up(self) -> bool:
        """Whether it works as far as the core knows: a change is always an observation."""
        ...

    @property
    def sensors(self) -> dict[str, bool]:
        """Of each of its sensors, whether it works."""
        ...

    @property
    def troubles(self) -> Mapping[str, tuple[Trouble, ...]]:
        """What is wrong now, by sensor, where that is known; the line to the sensors is `link`."""
        ...

    @property
    def keeps_times(self) -> bool:
        """Whether what waited to be read has its own time. Else it is dated as it is read: after a standstill, by its
        end."""
        ...

    @property
    def door(self) -> DoorSeen:
        """What it has told of the cabinet's door."""
        ...

    def now_us(self, host_ns: int) -> int:
        """The host's estimate of the sensing clock, never less than the newest observation."""
        ...

    def clock_now(self, host_ns: int) -> HostTime | None:
        """The sensing clock as known at `host_ns`, with its error; None while it is not."""
        ...

    def acknowledge(self, position: Position) -> None:
        """Everything of a batch with this `position` is stored."""
        ...


class Batch(msgspec.Struct, frozen=True):
    """Observations in time order, at least one. When all are stored, `position` may be acknowledged to the board."""

    observations: list[Observation]
    position: Position | None

    @property
    def last_us(self) -> int:
        """Sensing time of the newest observation."""
        return self.observations[-1].t_us


HandOn: TypeAlias = Callable[[Batch], Awaitable[None]]
"""Where batches go; may wait while the table is behind."""


def utc_now(clock: HostClock) -> UtcPair:
    """The host's two clocks, read at the same moment; the error is how long that took, rounded up."""
    host_ns, utc_us, took_ns = read_together(clock.monotonic_ns, clock.utc_us)
    return UtcPair(host_ns, utc_us, took_ns // 1_000 + 1)
