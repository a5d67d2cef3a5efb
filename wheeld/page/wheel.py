"""What the messages of one wheel say: the newest message of each topic, and counts."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter, deque
from itertools import accumulate, product
from typing import Any, Literal, get_args

import msgspec

from wheeld.broker.payloads import UNREADABLE, Availability, Health
from wheeld.core.messages.payloads import BoardMessage, Notice, Published, Result, Ruling, TableMessage, Void
from wheeld.core.tracking.evidence import LOW, Measure


class Distribution:
    """Counts of figures in the ranges between ascending `bounds`. Each bound belongs to the range below it.

    `total` is the sum of all figures.
    """

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.total = 0.0
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)

    def add(self, figure: float) -> None:
        """Count one more figure."""
        self._counts[bisect_left(self._bounds, figure)] += 1
        self.total += figure

    @property
    def at_most(self) -> list[tuple[float, int]]:
        """The number of figures up to each bound. The last bound is infinite."""
        return list(zip((*self._bounds, math.inf), accumulate(self._counts), strict=True))


TOPICS: dict[str, type[Published]] = {
    "result": Result,
    "void": Void,
    "ruling": Ruling,
    "table": TableMessage,
    "notice": Notice,
    "board": BoardMessage,
    "health": Health,
    "availability": Availability,
}
"""The messages of a wheel that are read, by the last level of their topic."""

PAYLOAD_BYTES_MAX = 65_536
"""The largest message that is read. A message of a wheel is ten times smaller."""

MARGINS = (0.05, 0.1, LOW, 0.4, 0.6, 0.8, 1.0)
"""Bounds of margins. They are closest together where a verdict was nearly another verdict."""

LATE_BETS_MAX = 5
"""How many late bets of a coup are kept, the latest ones. People would not read more while the ball runs."""

LATENESS_S = (5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0)
"""Bounds of the lateness of results. Proving a number takes 2 to 6 s in most coups. The chef's answer takes longer."""


class OfRun(msgspec.Struct):
    """The figures of a late bet. A head alone does not report when the ball was launched, and may count no laps."""

    accepted: Literal["yes", "no"]
    said_us: int
    first_pass_us: int | None = None
    laps_proven: float | None = None


class LateBet(msgspec.Struct):
    """The parts of the notice `late_bet` that are shown."""

    coup: int
    coup_id: str
    figures: OfRun
    by: str
    reason: str


class WheelView:
    """The newest message of each topic, None until one has come, and what was counted since this program's start.

    `is_reached`: whether the broker is connected. `coup`: the present coup, from the feed's newest message. `is_void`:
    whether that coup is void and the game has not continued since then; play may be suspended or closed. `late_bets`:
    the late bets of the last coup that had one. `heard_s`: when the latest message `health` came, in the caller's
    seconds. `verdicts`: how many results there were (as "result"), and how many voids, by their cause. `notices`: how
    many notices, by their kind. `margins`: the margins of verdicts, by "result" or "void" and by their measure.
    `lateness`: how late the late results were (`late_s`). `restarts`: how often the daemon began another run.
    `unreadable`: the number of messages that this version cannot read.
    """

    def __init__(self) -> None:
        self.is_reached = False
        self.result: Result | None = None
        self.void: Void | None = None
        self.ruling: Ruling | None = None
        self.table: TableMessage | None = None
        self.notice: Notice | None = None
        self.late_bets = deque[LateBet](maxlen=LATE_BETS_MAX)
        self.board: BoardMessage | None = None
        self.health: Health | None = None
        self.availability: Availability | None = None
        self.coup: int | None = None
        self.is_void = False
        self.heard_s: float | None = None
        self.verdicts: Counter[str] = Counter()
        self.notices: Counter[str] = Counter()
        self.margins = {of: Distribution(MARGINS) for of in product(("result", "void"), get_args(Measure))}
        self.lateness = Distribution(LATENESS_S)
        self.restarts = 0
        self.unreadable = 0
        self._boot_id: str | None = None
        """The boot id of the daemon's run, from the message which says that the daemon is online."""
        self._newest: tuple[str, int] | None = None
        """The boot id and the `seq` of the feed's newest message."""

    @property
    def is_online(self) -> bool:
        """Whether the wheel's daemon runs and is connected, as far as the broker knows."""
        return self.is_reached and self.availability is not None and self.availability.state == "online"

    @property
    def is_test(self) -> bool:
        """Whether this is a bench table, for which nothing is paid."""
        marked = (self.table, self.board, self.health, self.availability)
        return any(message is not None and message.test is True for message in marked)

    def take(self, leaf: str, payload: bytes, *, retained: bool, now_s: float) -> bool:
        """Take a message. Return False if the pages do not show it or cannot read it, or if it is a message of the feed
        that has already come. A `retained` message was published in the past, and is not counted."""
        kind = TOPICS.get(leaf)
        if kind is None or len(payload) > PAYLOAD_BYTES_MAX:
            return False
        try:
            message: Any = msgspec.json.decode(payload, type=kind)
            if isinstance(message, Notice) and message.notice == "late_bet":
                # Store a late bet only once. The broker may deliver it twice.
                bet = msgspec.convert(message, LateBet, from_attributes=True)
                if self.late_bets and self.late_bets[-1].coup_id != bet.coup_id:
                    self.late_bets.clear()
                if bet not in self.late_bets:
                    self.late_bets.append(bet)
        except UNREADABLE:
            self.unreadable += 1
            return False
        if isinstance(message, Result | Void | Ruling | TableMessage) and self._is_again(message):
            return False
        setattr(self, leaf, message)
        if isinstance(message, Availability) and message.state == "online":
            self.restarts += self._boot_id not in (None, message.boot_id)
            self._boot_id = message.boot_id
        if leaf == "health":
            self.heard_s = now_s
        if not retained:
            self._count(message)
        return True

    def _is_again(self, message: Result | Void | Ruling | TableMessage) -> bool:
        """Return whether this message of the feed has already come: somebody may have requested a resend."""
        if self._newest is not None:
            boot_id, seq = self._newest
            # A run of the daemon that begins a new journal counts `seq` from 1.
            is_first_of_run = message.boot_id == self._boot_id != boot_id
            if message.seq <= seq and not is_first_of_run:
                return True
        self._newest = message.boot_id, message.seq
        self.coup = message.coup
        if isinstance(message, TableMessage):
            self.is_void = message.state == "rien_va" or (self.is_void and message.state in ("suspended", "closed"))
        elif not isinstance(message, Ruling):
            self.is_void = isinstance(message, Void)
        return False

    def _count(self, message: Published) -> None:
        if isinstance(message, Result):
            self.verdicts["result"] += 1
            if message.late_s is not None:
                self.lateness.add(message.late_s)
        elif isinstance(message, Void):
            self.verdicts[message.cause.value] += 1
        elif isinstance(message, Notice):
            self.notices[message.notice] += 1
        if isinstance(message, Result | Void) and message.margin is not None and message.margin_of is not None:
            kind = "result" if isinstance(message, Result) else "void"
            self.margins[kind, message.margin_of].add(message.margin)
