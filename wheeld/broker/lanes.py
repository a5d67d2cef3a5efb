"""What arrives from the broker, in lanes. Each kind of message waits in its own lane and has its own budget.

So a sender that floods the wheel does not delay or displace the words of other senders, or a live message. The words
come first, and in each lane the senders take turns. An ack includes every lower ack, so only the highest waits. A
command over its budget is not done, only answered. These answers have a budget too: commands over this second budget
are dropped and counted. The topic alone decides all this, before anything is decoded.
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
"""The largest command that is read: three times the size of one with a reason of 500 characters. A longer message is
not read as a command or an ack."""

LANE_MAX = 500
"""How many messages of one sender may wait in one lane while the intake waits for the disk. One sender can fill its
part of a lane in half a minute. Then all its messages are refused, but the messages of other senders are taken."""

TURN = 5
"""How many messages of one sender are taken before it is the turn of the other senders in the lane, even if their
messages came later. A person sends fewer messages in a row, so the words of people keep their order. Behind a flood, a
word waits for five messages, or for ten if its sender has just had its turn. Ten take a third of a second, if each
takes two writes of 17 ms to an SD card."""

ERRANDS = frozenset({"inspect", "program", "seal"})
"""Commands that are not for the table. No verdict depends on them, and their senders need no power over the game."""

REFUSED_PER_NAME = Budget(at_once=20, per_s=2.0)
"""The budget of the answers to commands over their budget. The first answers show a panel that it sends too many."""


class Lane(Enum):
    """Where a message waits. The lanes are emptied in this order."""

    WORDS = "words"
    """What people and the table system say to the table, and nothing else: a number waits for these words. All are in
    one lane, so that the words of one sender keep their order."""
    REQUESTS = "requests"
    """Requests for messages that a receiver misses: `resend`."""
    ERRANDS = "errands"
    """The commands in `ERRANDS`, from the technician, the control office and the chef."""
    OTHERS = "others"
    """Messages that are not a command of a user of this table. Those on `cmd/{user}/{name}` are answered too."""
    REFUSALS = "refusals"
    """Commands over their budget, which are only answered."""


BUDGETS = {
    Lane.WORDS: Budget(at_once=10, per_s=5.0),
    Lane.REQUESTS: Budget(at_once=10, per_s=1.0),
    Lane.ERRANDS: Budget(at_once=5, per_s=1 / 60),
    Lane.OTHERS: Budget(at_once=20, per_s=2.0),
}
"""The budget of each user for each command name. People give a command a few times a minute. The broker may have kept
ten of them during an outage. Messages and answers are published in the order in which they were stored. So with larger
budgets, a number and the answers to other senders would wait longer. A feed asks for missing messages at most once a
second. A command costs a write to disk of some ms, and a row that stays.

In a shift there are only a few commands `inspect`, `seal` and `program`. With five in a row, a person can correct a
mistake. Retention removes none of their rows: five a second of 2 kB would be 0.9 GB a day, one a minute is 3 MB."""


class Place(NamedTuple):
    """The lane of a message, the budget that it uses, and the sender whose turn it waits for."""

    lane: Lane
    budget: str
    sender: str


_ALL = ""
"""The sender of a message if all senders count as one."""
_OTHERS = Place(Lane.OTHERS, "", _ALL)


def place_of(leaf: str, users: Collection[str]) -> Place:
    """Return the place of a message on the topic `leaf` below the root, at a table with these users."""
    kind, _, said = leaf.partition("/")
    user, _, name = said.partition("/")
    # All unknown topics share one budget: a sender that invents names must not get a budget for each.
    if kind != "cmd" or user not in users or name not in COMMANDS:
        return _OTHERS
    if name == "resend":
        return Place(Lane.REQUESTS, said, user)
    return Place(Lane.ERRANDS if name in ERRANDS else Lane.WORDS, said, user)


class Incoming(msgspec.Struct, frozen=True, kw_only=True):
    """One message from the broker. `leaf` is the topic below the root: `cmd/{user}/{name}`."""

    leaf: str
    payload: bytes
    retained: bool = False
    response_topic: str | None = None
    correlation: bytes | None = None
    came_ns: int | None = None
    """When the message came, in host time. `came_utc_us` is the same moment in UTC."""
    came_utc_us: int | None = None
    is_over_budget: bool = False
    """Whether the command is over its budget. Then it is only answered."""


class Waiting(NamedTuple):
    """A message in a lane. `number` counts all messages that were ever put in any lane."""

    number: int
    incoming: Incoming


class LaneTurns:
    """The messages that wait in one lane. They are taken in the order in which they came. But after `TURN` messages of
    one sender it is the turn of the other senders that wait. The messages of one sender keep their order."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[Waiting]] = {}
        self._taken: Counter[str] = Counter()
        """How many messages of each sender were taken in this turn."""

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def has_room(self, sender: str) -> bool:
        """Return whether one more message of this sender may wait."""
        return len(self._waiting.get(sender, ())) < LANE_MAX

    def put(self, sender: str, waiting: Waiting) -> None:
        """Add a message behind all that came before."""
        self._waiting.setdefault(sender, deque()).append(waiting)

    def take(self) -> Waiting:
        """Return the next message. There must be one."""
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
            # When nobody waits any more, all senders begin a new turn.
            self._taken.clear()
        return taken


class Acks:
    """Keeps the highest number that the settlement core has acknowledged, until `get` takes it."""

    def __init__(self, log: SparingLog, counters: dict[str, int]) -> None:
        self._log, self._counters = log, counters
        self._highest: int | None = None
        self._news = asyncio.Event()

    def put(self, payload: bytes) -> None:
        """Take an ack that has come. If it cannot be read, it is counted, and its sender has to correct it."""
        try:
            if len(payload) > COMMAND_BYTES_MAX:
                raise msgspec.ValidationError(f"{len(payload)} bytes")
            seq = msgspec.json.decode(payload, type=AckPayload).seq
        except UNREADABLE as error:
            self._counters["acks_malformed"] += 1
            self._log.error("ack.malformed", why=str(error), then="the ack is ignored; its sender has to correct it")
            return
        self._counters["acks"] += 1
        if self._highest is None or seq > self._highest:
            self._highest = seq
        self._news.set()

    async def get(self) -> int:
        """Return the highest number acknowledged since the last call returned. Waits until there is one."""
        while self._highest is None:
            self._news.clear()
            await self._news.wait()
        seq, self._highest = self._highest, None
        return seq


class Inbox:
    """The lanes. The connection puts in what arrives, and only the intake takes it out. `users`: the users of the
    table. What somebody else sends is not a command."""

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
        """The number of the message that was put last."""
        self._taken = 0
        """The number of the message that was taken last."""
        self._unhandled: dict[int, int] = {}
        """The numbers of the words that were put and not handled yet, with the host time at which each came. Senders
        take turns, so a later word may be handled before an earlier one. So a count is not enough."""
        self._handled = asyncio.Event()

    def has_room(self, leaf: str) -> bool:
        """Return whether a command with this topic would be taken or answered. If not, drop and count it here."""
        place = place_of(leaf, self._users)
        taken, refused = self._allowances_of(place)
        now_ns = self._clock.monotonic_ns()
        if taken.has_one(now_ns) or refused.has_one(now_ns):
            return True
        self._drop(place, leaf)
        return False

    def put(self, incoming: Incoming) -> None:
        """Put a command in its lane. A command over its budget is put in the lane of refusals, or is dropped."""
        place = place_of(incoming.leaf, self._users)
        taken, refused = self._allowances_of(place)
        now_ns = self._clock.monotonic_ns()
        if self._lanes[place.lane].has_room(place.sender) and taken.take_one(now_ns):
            self._enqueue(place.lane, place.sender, incoming)
            self.counters[f"{place.lane.value}_taken"] += 1
        elif self._lanes[Lane.REFUSALS].has_room(_ALL) and refused.take_one(now_ns):
            self._enqueue(Lane.REFUSALS, _ALL, msgspec.structs.replace(incoming, is_over_budget=True))
            self.counters[f"{place.lane.value}_refused"] += 1
            self._log.warning(
                "command.over_budget", topic=incoming.leaf, then="refused; its sender sends too many commands"
            )
        else:
            self._drop(place, incoming.leaf)

    async def get(self) -> Incoming:
        """Return the next command, from the first lane that has one. Waits until there is one."""
        while True:
            for lane in self._lanes.values():
                if lane:
                    self._taken, incoming = lane.take()
                    return incoming
            self._news.clear()
            await self._news.wait()

    def task_done(self) -> None:
        """Remember that the command which `get` returned last has been handled."""
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
        """When the oldest word that is not handled came, in host time. None if all have been handled."""
        return min(self._unhandled.values(), default=None)

    def _enqueue(self, lane: Lane, sender: str, incoming: Incoming) -> None:
        self._number += 1
        self._lanes[lane].put(sender, Waiting(self._number, incoming))
        if lane is Lane.WORDS:
            self._unhandled[self._number] = self._clock.monotonic_ns()
        self._news.set()

    def _drop(self, place: Place, leaf: str) -> None:
        self.counters[f"{place.lane.value}_dropped"] += 1
        self._log.error("command.dropped", topic=leaf[:64], why="its sender sends too many commands to answer each")

    def _allowances_of(self, place: Place) -> tuple[Allowance, Allowance]:
        """Return what is left for commands of this place, and for the answers to commands over their budget."""
        found = self._allowances.get(place)
        if found is None:
            found = self._allowances[place] = Allowance(BUDGETS[place.lane]), Allowance(REFUSED_PER_NAME)
        return found
