"""Reads the lines of this maker's heads: what a row of `HEADS` names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import reduce
from typing import cast

from wheeld.core.catalogue import Text
from wheeld.core.observations import (
    Direction,
    HeadBall,
    HeadGame,
    HeadNumber,
    HeadPhase,
    HeadReport,
    HeadRotor,
    SensorState,
)
from wheeld.core.pockets import PocketLayout
from wheeld.sources.head.setting import HeadSetting, Wrong

NEVER_NS = 2**62


def sum_of(text: str) -> str:
    """Two hexadecimal digits that follow `*`."""
    return f"{reduce(lambda before, each: before ^ ord(each), text, 0):02X}"


class GirellaHead:
    """One head. After a line that cannot be read, or a silence, the game in progress was not received whole."""

    def __init__(self, silence_ns: int, now_us: Callable[[int], int]) -> None:
        self.sensors = {"head": False, "head/sensors": True}
        self.counters: dict[str, int] = Counter({"lines": 0, "damaged": 0})
        self._silence_ns, self._now_us = silence_ns, now_us
        self._heard_ns, self._rest = 0, b""
        self._phase: HeadPhase = "ready"
        self._game, self._is_whole = 0, False

    @property
    def next_tick_ns(self) -> int:
        return self._heard_ns + self._silence_ns if self.sensors["head"] else NEVER_NS

    def opened(self, host_ns: int) -> None:
        self._rest = b""

    def data_to_send(self) -> bytes:
        return b""

    def tick(self, host_ns: int) -> Iterator[HeadReport | SensorState]:
        if self.sensors["head"] and host_ns >= self.next_tick_ns:
            self.sensors["head"] = self._is_whole = False
            yield SensorState(self._now_us(host_ns), "head", ok=False)

    def receive(self, data: bytes, host_ns: int) -> Iterator[HeadReport | SensorState]:
        yield from self.tick(host_ns)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            text, _, checked = line.decode(errors="replace").partition("*")
            if checked != sum_of(text):
                self.counters["damaged"] += 1
                self._is_whole = False
                continue
            self.counters["lines"] += 1
            yield from self._line(self._now_us(host_ns), *text.split(","))
            self._heard_ns = host_ns

    def _line(self, t_us: int, word: str, *fields: str) -> Iterator[HeadReport | SensorState]:
        if not self.sensors["head"]:
            self.sensors["head"] = True
            yield SensorState(t_us, "head", ok=True)
            yield HeadGame(t_us, self._phase, self._game)
        match word:
            case "BET":
                yield self._enter(t_us, "ready", int(fields[0]))
            case "RUN":
                self._is_whole = self._phase == "ready" and int(fields[0]) == self._game
                yield self._enter(t_us, "running", int(fields[0]))
                yield HeadBall(t_us, runs=True, direction=cast("Direction", fields[1]))
            case "LAP":
                yield HeadBall(t_us, runs=True, laps=int(fields[0]))
            case "OFF":
                yield self._enter(t_us, "off_track", int(fields[0]))
                yield HeadBall(t_us, runs=False)
            case "WIN":
                yield HeadNumber(t_us, int(fields[1]), int(fields[0]), self._is_whole)
                yield self._enter(t_us, "number", int(fields[0]))
            case "ROT":
                yield HeadRotor(t_us, float(fields[0]), cast("Direction", fields[1]))
            case "BAD":
                self.sensors["head/sensors"] = fields[0] == "0"
                yield SensorState(t_us, "head/sensors", ok=fields[0] == "0")

    def _enter(self, t_us: int, phase: HeadPhase, game: int) -> HeadGame:
        self._phase, self._game = phase, game
        return HeadGame(t_us, phase, game)


def new_head(setting: HeadSetting, _: PocketLayout, now_us: Callable[[int], int]) -> GirellaHead:
    return GirellaHead(round(setting.silence_s_max * 1e9), now_us)


def rules(setting: HeadSetting) -> Iterator[Iterator[Wrong]]:
    yield _poll(setting)


def _poll(setting: HeadSetting) -> Iterator[Wrong]:
    if setting.poll:
        yield "poll", Text("needs a line that takes commands: the head's port 1, with writable = true")


def facts(setting: HeadSetting) -> Iterator[Text]:
    yield Text("the head sends its status lines by itself")
