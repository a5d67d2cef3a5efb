"""A simulated wheel head, its session, and a table that gets its observations, with people who do what is asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from firmware_protocol.cammegh.session import Setup
from hw_sim.cammegh.head import LINE_US
from wheeld.core.facts import State
from wheeld.core.observations import Command, CommandName, Observation, TimePassed
from wheeld.core.setting import TableSetting
from wheeld.core.table import Table
from wheeld.sources.head.cammegh import CammeghHead
from wheeld.sources.head.reader import WheelHead

ASKED: dict[str, CommandName] = {
    "closed": "open",
    "operations": "operations_done",
    "rien_va": "tout_va",
    "suspended": "resume",
}


@dataclass
class Played:
    """What was published, decoded."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    evidence: list[bytes] = field(default_factory=list)

    def of(self, topic: str) -> list[dict[str, Any]]:
        return [message for message in self.messages if message["schema"] == f"{topic}/1"]

    @property
    def results(self) -> list[int]:
        return [message["number"] for message in self.of("result")]

    @property
    def causes(self) -> set[str]:
        return {message["cause"] for message in self.of("void")}


class Wheel(Protocol):
    """The other end of the head's line: a simulated head, or lines that are given."""

    @property
    def wants_us(self) -> int: ...

    @property
    def over(self) -> bool: ...

    def advance(self, now_us: int) -> None: ...

    def data_to_send(self) -> bytes: ...

    def receive(self, data: bytes) -> None: ...


class Lines:
    """These lines, one each half second; an empty one is a line that was lost. It takes no commands."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = [*lines]
        self._sent = self._now_us = 0
        self.wants_us = LINE_US

    @property
    def over(self) -> bool:
        return self._sent == len(self._lines)

    def advance(self, now_us: int) -> None:
        """Time comes to it from outside."""
        self._now_us = now_us

    def data_to_send(self) -> bytes:
        if self.over or self.wants_us > self._now_us:
            return b""
        self.wants_us += LINE_US
        self._sent += 1
        return self._lines[self._sent - 1]

    def receive(self, data: bytes) -> None:
        """Nobody is there to answer."""


def cammegh(setup: Setup) -> WheelHead:
    """What reads such a head, on a clock that begins with the sensing time."""
    return CammeghHead(setup, lambda ns: ns // 1_000)


class HeadTable:
    """The table at the line of `head`. `confirms`: the chef confirms each number that awaits him, `answers_after_us`
    later."""

    def __init__(
        self, wheel: Wheel, head: WheelHead, setting: TableSetting, *, confirms: bool = False, answers_after_us: int = 0
    ) -> None:
        self._wheel, self._head, self._confirms = wheel, head, confirms
        self._answers_after_us = answers_after_us
        self._awaits_since_us: int | None = None
        self._table, _ = Table.start(setting, boot_id="test", started_utc_us=1_700_000_000_000_000)
        self.played = Played()

    def play(self) -> Played:
        """Until the head has no more coups."""
        self._head.opened(0)
        now_us = 0
        while not self._wheel.over:
            now_us = max(now_us, min(self._wheel.wants_us, -(-self._head.next_tick_ns // 1000)))
            self._wheel.advance(now_us)
            self._read(now_us)
            self._people(now_us)
        return self.played

    def _read(self, now_us: int) -> None:
        data = self._wheel.data_to_send()
        observations = [*(self._head.receive(data, now_us * 1000) if data else ()), *self._head.tick(now_us * 1000)]
        self._wheel.receive(self._head.data_to_send())
        for seen in observations:
            self._apply(seen)
        self._apply(TimePassed(now_us))

    def _people(self, now_us: int) -> None:
        name = ASKED.get(self._table.state)
        if self._table._state.state is not State.AWAITING_CHEF:
            self._awaits_since_us = None
        elif self._awaits_since_us is None:
            self._awaits_since_us = now_us
        if self._confirms and self._awaits_since_us is not None:
            name = "confirm" if now_us >= self._awaits_since_us + self._answers_after_us else None
        if name is not None:
            self._apply(Command(now_us, name, "chef", "a test", coup=self._table.coup if name == "confirm" else None))

    def _apply(self, seen: Observation) -> None:
        step = self._table.apply(seen)
        self.played.messages += [msgspec.json.decode(message.payload) for message in step.messages]
        self.played.evidence += [evidence.log for evidence in step.coup_logs]
