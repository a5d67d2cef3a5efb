"""What arrives from the broker, in lanes: each kind of message waits in its own, with a budget of its own.

So nobody who floods the wheel delays or displaces the words of another, or a live message. The words come first, and
in a lane the senders take turns. An ack says what every lower one says, so only the highest waits. A command over its
budget is answered, and what is over the budget of those answers is dropped and counted; each is decided by the topic
alone, before anything is decoded.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Collection
from enum import Enum
from typing import NamedTuple

import msgspec

from wheeld.broker.budget import Allowance, Budget, SparingLog
from wheeld.broker.payloads import COMMANDS, UNREADABLE, AckPayload
from wheeld.ports import HostClock

COMMAND_BYTES_MAX = 4096
"""Three times a reason of 500 characters and everything else; anything longer is neither a command nor an ack."""

LANE_MAX = 500
"""Of one sender in one lane, while the intake waits for the disk. Its budgets fill it in half a minute; then all that
it sends is refused, and nothing that others send."""

TURN = 5
"""So many messages of one sender are taken before others who wait in the lane, though they came first. People say less
in a row, so the order between them stays as it was. Behind a flood a word waits for five of it, or for ten where its
sender has had his turn: a third of a second where each takes two writes to an SD card of 17 ms."""

ERRANDS = frozenset({"inspect", "program", "seal"})
"""Commands that are not the table's business: no verdict rests on them, and who gives them need not have any power over
the game."""

REFUSED_PER_NAME = Budget(at_once=20, per_s=2.0)
"""Answers to commands that are over their budget. A panel that repeats itself learns of it by the first ones."""


class Lane(Enum):
    """Where a message waits, in the order in which the lanes are emptied."""

    WORDS = "words"
    """What people and the table system say to the table, and nothing else: a number waits for them. All in one lane, so
    that the words of one sender keep their order."""
    REQUESTS = "requests"
    """What the settlement core asks for: `resend`."""
    ERRANDS = "errands"
    """`ERRANDS`: of the technician, the control office and the chef."""
    OTHERS = "others"
    """What is no command at all; it is answered too."""
    REFUSALS = "refusals"
    """Commands over their budget, to be answered."""


BUDGETS = {
    Lane.WORDS: Budget(at_once=10, per_s=5.0),
    Lane.REQUESTS: Budget(at_once=10, per_s=1.0),
    Lane.ERRANDS: Budget(at_once=5, per_s=1 / 60),
    Lane.OTHERS: Budget(at_once=20, per_s=2.0),
}
"""Of each user and name. People give a command a few times a minute; ten at once are what the broker may have kept of
that. All that is stored is published in its order, one after the other: a number, and the answers to others, would wait
for the answers to more. A feed asks for what it misses at most once a second. A command costs a write to disk of some
ms, and a row that stays.

Of inspections, seals and questions for the program there are a few in a shift, and five at once let somebody correct
himself. Retention removes none of their rows: five a second of 2 kB would be 0.9 GB a day, one a minute is 3 MB."""


class Place(NamedTuple):
    """The lane of a message, with which others it shares a budget, and with whose it waits for its turn."""

    lane: Lane
    budget: str
    sender: str


_ALL = ""
"""The sender where all senders count as one."""
_OTHERS = Place(Lane.OTHERS, "", _ALL)


def place_of(leaf: str, users: Collection[str]) -> Place:
    """Where a message on this topic below the root belongs, at a table that knows these users."""
    kind, _, said = leaf.partition("/")
    user, _, name = said.partition("/")
    # One budget for all that is unknown: whoever invents names must not get a budget for each.
    if kind != "cmd" or user not in users or name not in COMMANDS:
        return _OTHERS
    if name == "resend":
        return Place(Lane.REQUESTS, said, user)
    return Place(Lane.ERRANDS if name in ERRANDS else Lane.WORDS, said, user)


class Incoming(msgspec.Struct, frozen=True, kw_only=True):
    """One message from the broker; `leaf` is the topic below the root: `cmd/{user}/{name}`."""

    leaf: str
    payload: bytes
    retained: bool = False
    response_topic: str | None = None
    correlation: bytes | None = None
    came_ns: int | None = None
    """When it came, host time and UTC."""
    came_utc_us: int | None = None
    is_over_budget: bool = False
    """It is only to be answered."""


class Waiting(NamedTuple):
    """A message in a lane; `number` counts all that were ever put in any lane."""

    number: int
    incoming: Incoming


class LaneTurns:
    """What waits in one lane. It is taken in the order in which it came, but after `TURN` messages of one sender it is
    the turn of the others who wait. What one sender sent keeps its order."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[Waiting]] = {}
        self._taken: Counter[str] = Counter()
        """Of each sender, in this turn."""

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def has_room(self, sender: str) -> bool:
        """Whether one more of this sender may wait."""
        return len(self._waiting.get(sender, ())) < LANE_MAX

    def put(self, sender: str, waiting: Waiting) -> None:
        """Let it wait behind all that came before."""
        self._waiting.setdefault(sender, deque()).append(waiting)

    def take(self) -> Waiting:
        """The next one; there must be one."""
        senders = [sender for sender in self._waiting if self._taken[sender] < TURN]
        if not senders:
            self._taken.clear()
            senders = list(self._waiting)
        sender = min(senders, key=lambda each: self._waiting[each][0].number)
        self._taken[sender] += 1
        queue = self._waiting[sender]
        taken = queue.popleft()
        if not queue:
            del self._waiting[sender]
        if not self._waiting:
            # Who spoke while nobody waited has not used up his turn.
            self._taken.clear()
        return taken


class Acks:
    """The highest number that the settlement core has acknowledged since the last one was taken."""

    def __init__(self, log: SparingLog, counters: dict[str, int]) -> None:
        self._log, self._counters = log, counters
        self._highest: int | None = None
        self._news = asyncio.Event()

    def put(self, payload: bytes) -> None:
        """An ack has come; one that can't be read is counted, and its sender has to correct it."""
        try:
            if len(payload) > COMMAND_BYTES_MAX:
                raise msgspec.ValidationError(f"{len(payload)} bytes")
            seq = msgspec.json.decode(payload, type=AckPayload).seq
        except UNREADABLE as error:
            self._counters["acks_malformed"] += 1
            self._log.error("ack.malformed", why=str(error), then="ignored; its sender has to correct it")
            return
        self._counters["acks"] += 1
        if self._highest is None or seq > self._highest:
            self._highest = seq
        self._news.set()

    async def get(self) -> int:
        """The highest number acknowledged since the last call returned; waits for one."""
        while self._highest is None:
            self._news.clear()
            await self._news.wait()
        seq, self._highest = self._highest, None
        return seq


class Inbox:
    """The lanes: the connection puts in what arrives, the intake takes it out. One taker only. `users`: whom the table
    knows; what others send is no command."""

    def __init__(self, clock: HostClock, log: SparingLog, users: Collection[str]) -> None:
        outcomes = ("taken", "refused", "dropped")
        self.counters = {f"{lane.value}_{outcome}": 0 for lane in BUDGETS for outcome in outcomes}
        self.counters |= {"acks": 0, "acks_malformed": 0}
        self.acks = Acks(log, self.counters)
        self._clock, self._log, self._users = clock, log, users
        self._lanes = {lane: LaneTurns() for lane in Lane}
        self._allowances: dict[Place, tuple[Allowance, Allowance]] = {}
        self._news = asyncio.Event()
        self._number = 0
        """Of what was put last."""
        self._taken = 0
        """The number of what was taken last."""
        self._unhandled: dict[int, int] = {}
        """The numbers of words that have been put and not handled, and when each came, host time. As senders take
        turns, a later one may be handled before an earlier one, so counting them would not do."""
        self._handled = asyncio.Event()

    def has_room(self, leaf: str) -> bool:
        """Whether a command with this topic would be taken or answered; if not, it is dropped and counted here."""
        place = place_of(leaf, self._users)
        taken, refused = self._allowances_of(place)
        now_ns = self._clock.monotonic_ns()
        if taken.has_one(now_ns) or refused.has_one(now_ns):
            return True
        self._drop(place, leaf)
        return False

    def put(self, incoming: Incoming) -> None:
        """Put a command in its lane; one over its budget among those that are only answered, or nowhere."""
        place = place_of(incoming.leaf, self._users)
        taken, refused = self._allowances_of(place)
        now_ns = self._clock.monotonic_ns()
        if self._lanes[place.lane].has_room(place.sender) and taken.take_one(now_ns):
            self._enqueue(place.lane, place.sender, incoming)
            self.counters[f"{place.lane.value}_taken"] += 1
        elif self._lanes[Lane.REFUSALS].has_room(_ALL) and refused.take_one(now_ns):
            self._enqueue(Lane.REFUSALS, _ALL, msgspec.structs.replace(incoming, is_over_budget=True))
            self.counters[f"{place.lane.value}_refused"] += 1
            self._log.warning("command.over_budget", topic=incoming.leaf, then="refused; its sender sends too many")
        else:
            self._drop(place, incoming.leaf)

    async def get(self) -> Incoming:
        """The next command, of the first lane that has one; waits for it."""
        while True:
            for lane in self._lanes.values():
                if lane:
                    self._taken, incoming = lane.take()
                    return incoming
            self._news.clear()
            await self._news.wait()

    def task_done(self) -> None:
        """What `get` returned last has been handled."""
        self._unhandled.pop(self._taken, None)
        self._handled.set()

    async def join(self) -> None:
        """Return when every word that was put before now has been handled."""
        number = self._number
        while self._unhandled and min(self._unhandled) <= number:
            self._handled.clear()
            await self._handled.wait()

    @property
    def came_ns(self) -> int | None:
        """When the oldest of the words came that have not been handled, host time; None: all have been."""
        return min(self._unhandled.values(), default=None)

    def _enqueue(self, lane: Lane, sender: str, incoming: Incoming) -> None:
        self._number += 1
        self._lanes[lane].put(sender, Waiting(self._number, incoming))
        if lane is Lane.WORDS:
            self._unhandled[self._number] = self._clock.monotonic_ns()
        self._news.set()

    def _drop(self, place: Place, leaf: str) -> None:
        self.counters[f"{place.lane.value}_dropped"] += 1
        self._log.error("command.dropped", topic=leaf[:64], why="its sender sends too many to answer each")

    def _allowances_of(self, place: Place) -> tuple[Allowance, Allowance]:
        """What is left for commands of this place, and for the answers to those that are too many."""
        found = self._allowances.get(place)
        if found is None:
            found = self._allowances[place] = Allowance(BUDGETS[place.lane]), Allowance(REFUSED_PER_NAME)
        return found
