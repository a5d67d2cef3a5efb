"""What a maker's module gives, so that its wheel head is a source like another."""

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
    """One head and its line, without I/O and clock: times are the host's monotonic ones, and always an argument.

    `tick` is called from the start, with a line or without; `opened` when the line was opened, also again; `receive`
    with all that it gives. After each, `data_to_send` is written to it.
    """

    @property
    def sensors(self) -> dict[str, bool]:
        """Whether the head and its sensors work, by the names of `health`."""
        ...

    @property
    def counters(self) -> dict[str, int]:
        """Of its lines, since the start."""
        ...

    @property
    def next_tick_ns(self) -> int:
        """When `tick` is due."""
        ...

    def opened(self, host_ns: int) -> None:
        """Its line was opened."""
        ...

    def receive(self, data: bytes, host_ns: int) -> Iterable[HeadReport | SensorState]:
        """What `data`, read at `host_ns`, shows."""
        ...

    def tick(self, host_ns: int) -> Iterable[HeadReport | SensorState]:
        """Do what is due: polls, time-outs."""
        ...

    def data_to_send(self) -> bytes:
        """What to write to the line now; asking twice gives nothing twice."""
        ...


class HeadReader(Protocol):
    """The module that a row of `HEADS` names."""

    def new_head(self, setting: HeadSetting, pockets: PocketLayout, now_us: Callable[[int], int]) -> WheelHead:
        """A head of this maker, on a wheel with these pockets; `now_us`: host time in, sensing time out. Of a setting
        without problems."""
        ...

    def rules(self, setting: HeadSetting) -> Iterator[Iterator[Wrong]]:
        """What these heads ask of a setting; each rule yields what is wrong."""
        ...

    def facts(self, setting: HeadSetting) -> Iterator[Text]:
        """What the setting means for people, a line each."""
        ...


def reader_of(product: str) -> HeadReader:
    """That of a product; KeyError for an unknown one."""
    return cast("HeadReader", import_module(HEADS[product].reader))
