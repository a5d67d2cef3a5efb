"""The interface of the modules that read wheel heads. Each maker of heads has one such module."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Protocol, cast

from wheeld.core.catalogue import Text
from wheeld.core.heads import HEADS
from wheeld.core.observations import HeadReport, SensorState
from wheeld.core.pockets import PocketLayout
from wheeld.sources.head.setting import HeadSetting, Wrong


class WheelHead(Protocol):
    """One head and its line, without I/O and clock. All times are host times, and the caller passes them.

    `HeadFeed` calls `tick` from the start, with or without a line. It calls `opened` each time that the line was
    opened, and `receive` with all bytes from the line. After each of these it writes `data_to_send` to the line.
    """

    @property
    def sensors(self) -> dict[str, bool]:
        """Whether the head and its sensors work, by the names that the message `health` uses."""
        ...

    @property
    def counters(self) -> dict[str, int]:
        """The counts of the head's lines since the start."""
        ...

    @property
    def next_tick_ns(self) -> int:
        """When `tick` is due."""
        ...

    def opened(self, host_ns: int) -> None:
        """Begin to use the line, which was opened at `host_ns`."""
        ...

    def receive(self, data: bytes, host_ns: int) -> Iterable[HeadReport | SensorState]:
        """Return the observations in `data`, which was read at `host_ns`."""
        ...

    def tick(self, host_ns: int) -> Iterable[HeadReport | SensorState]:
        """Do what is due: polls, time-outs."""
        ...

    def data_to_send(self) -> bytes:
        """Return the bytes to write to the line now. Each byte is returned only once."""
        ...


class HeadReader(Protocol):
    """The module that a row of `HEADS` names."""

    def new_head(self, setting: HeadSetting, pockets: PocketLayout, now_us: Callable[[int], int]) -> WheelHead:
        """Return a head of this maker, on a wheel with these pockets, for a valid setting. `now_us` converts host time
        to sensing time."""
        ...

    def rules(self, setting: HeadSetting) -> Iterator[Iterator[Wrong]]:
        """Yield the rules of these heads for a setting. Each rule yields what is wrong."""
        ...

    def facts(self, setting: HeadSetting) -> Iterator[Text]:
        """Yield the meaning of the setting for people, one line for each fact."""
        ...


def reader_of(product: str) -> HeadReader:
    """Return the module that reads the head of a product. Raises KeyError for an unknown product."""
    return cast("HeadReader", import_module(HEADS[product].reader))
