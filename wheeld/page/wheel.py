"""What is known of one wheel from what it publishes: the newest message of each topic."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from wheeld.broker.payloads import UNREADABLE, Availability, Health
from wheeld.core.messages.payloads import Board, Notice, Published, Result, Table, Void

TOPICS: dict[str, type[Published]] = {
    "result": Result,
    "void": Void,
    "table": Table,
    "notice": Notice,
    "board": Board,
    "health": Health,
    "availability": Availability,
}
"""What is read of a wheel, by the last level of its topic."""

PAYLOAD_BYTES_MAX = 65_536
"""The wheel's own messages are a tenth of that; more is not from a wheel."""


class Wheel:
    """The newest message of each topic, None until one has come, and what was counted since this program's start.

    `is_reached`: whether the broker is connected. `heard_s`: when the latest report of health came, in the caller's
    seconds. `verdicts`: results as "result", voids by their cause. `unreadable`: messages that were none of this
    version.
    """

    def __init__(self) -> None:
        self.is_reached = False
        self.result: Result | None = None
        self.void: Void | None = None
        self.table: Table | None = None
        self.notice: Notice | None = None
        self.board: Board | None = None
        self.health: Health | None = None
        self.availability: Availability | None = None
        self.heard_s: float | None = None
        self.verdicts: Counter[str] = Counter()
        self.notices: Counter[str] = Counter()
        self.unreadable = 0

    @property
    def is_online(self) -> bool:
        """Whether the wheel's daemon runs and is connected, as far as the broker knows."""
        return self.is_reached and self.availability is not None and self.availability.state == "online"

    @property
    def is_test(self) -> bool:
        """Whether it is a bench table: nothing that it shows is paid."""
        marked = (self.table, self.board, self.health, self.availability)
        return any(message is not None and message.test is True for message in marked)

    def take(self, leaf: str, payload: bytes, *, retained: bool, now_s: float) -> bool:
        """Take a message in; False when it is none that is shown. A `retained` one was published before: it is not
        counted."""
        kind = TOPICS.get(leaf)
        if kind is None or len(payload) > PAYLOAD_BYTES_MAX:
            return False
        try:
            message: Any = msgspec.json.decode(payload, type=kind)
        except UNREADABLE:
            self.unreadable += 1
            return False
        setattr(self, leaf, message)
        if leaf == "health":
            self.heard_s = now_s
        if not retained:
            self._count(message)
        return True

    def _count(self, message: Published) -> None:
        if isinstance(message, Result):
            self.verdicts["result"] += 1
        elif isinstance(message, Void):
            self.verdicts[message.cause.value] += 1
        elif isinstance(message, Notice):
            self.notices[message.notice] += 1
