"""One wheel as a collector takes it: which message is next, what is not stored yet, what a person must look at."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime

from wheeld.feed import GENESIS, FeedError, FeedMessage, Manner
from wheeld.feed.message import ed25519, read_message
from wheeld.feed.order import Order
from wheeld_house.database import UNDATED, Alarm, Lease, NewRecord
from wheeld_house.settings import HouseWheel

ACTIVE_S = 10.0
"""A wheel that was asked and has sent nothing for this time counts no more among those that answer."""
RECENT = 256
"""How many hashes are kept in memory: a message that comes from two brokers comes twice within a short time."""
COUP_MAX = 2**63 - 1


class CollectedWheel:
    """What a collector knows of one wheel. Without a lease (`order` is None) it takes nothing.

    `number`: of the wheel in the database. `user`: the collector's name at the brokers, by which it asks.
    """

    def __init__(self, settings: HouseWheel, *, number: int, user: str, by: str, tell: Callable[[str], object]) -> None:
        self.settings, self.root, self.number = settings, settings.root, number
        self.order: Order | None = None
        self.pending: list[FeedMessage] = []
        """Checked, in order, not stored yet."""
        self.repeats: dict[int, list[FeedMessage]] = {}
        """Messages with numbers that were taken before, to be compared with what is stored."""
        self.alarms: list[Alarm] = []
        self.active_s = -ACTIVE_S
        self._fence = 0
        self._last_hash = GENESIS
        self._recent: dict[int, str] = {}
        self._user = user
        key = settings.public_key()
        self._verify = None if key is None else ed25519(key)
        self._manner = Manner(by=by[:64], tell=lambda what: tell(f"{self.root}: {what}"))

    def begin(self, lease: Lease, now_s: float) -> None:
        """Go on behind what stands in the database. What was not stored is kept if it follows."""
        self._fence = lease.fence
        while self.pending and self.pending[0].seq <= lease.seq:
            self.pending.pop(0)
        if self.order is not None:
            follows = self.pending and self.pending[0].prev == lease.hash and self.pending[0].seq == lease.seq + 1
            if follows or (not self.pending and (self.order.seq, self._last_hash) == (lease.seq, lease.hash)):
                return
        self.pending.clear()
        self._recent.clear()
        self._last_hash = lease.hash
        self.order = Order(lease.seq, lease.hash, self._manner, user=self._user, test=self.settings.test, remembered=0)
        self.order.connected(now_s)

    def end(self) -> None:
        """Take nothing more: another collector has the lease, or nobody."""
        self.order = None
        self.pending.clear()
        self.repeats.clear()
        self.alarms.clear()

    def take(self, leaf: str, payload: bytes, now_s: float) -> None:
        """Take what came on this leaf."""
        if self.order is None:
            return
        self.active_s = now_s
        try:
            if leaf == "reply":
                self.order.answered(payload, now_s)
            else:
                self._take_message(self.order, leaf, payload, now_s)
        except FeedError as error:
            self._raise(error.fault, error.seq or 0, str(error), payload)
            if error.fault != "rolled_back":
                self.order.doubt(now_s)

    def stored(self, count: int) -> None:
        """Note that the first `count` of `pending` stand in the database."""
        del self.pending[:count]

    def records(self, most: int) -> list[NewRecord]:
        """Return the first of `pending` for the database."""
        signed = self._verify is not None
        return [
            NewRecord(self.number, self._fence, each, _date(each.body.get("at")), _coup(each.body.get("coup")), signed)
            for each in self.pending[:most]
        ]

    def compare(self, stored: dict[tuple[int, int], str]) -> None:
        """Compare the repeats with what is stored under their numbers."""
        for seq, messages in self.repeats.items():
            known = stored.get((self.number, seq))
            for message in messages:
                if known is None:
                    why = f"seq {seq} came, which was lost: it is kept here, and not among the records"
                    self._raise("late", seq, why, message.payload)
                elif known != message.hash:
                    why = f"seq {seq} came with another hash than the one that stands: one of the two is not true"
                    self._raise("conflict", seq, why, message.payload)
        self.repeats.clear()

    def _take_message(self, order: Order, leaf: str, payload: bytes, now_s: float) -> None:
        message = read_message(leaf, payload, root=self.root, verify=self._verify, test=self.settings.test)
        if order.seq is not None and message.seq <= order.seq:
            if self._recent.get(message.seq) != message.hash:
                self.repeats.setdefault(message.seq, []).append(message)
            return
        lost = order.lost_before(message)
        if not order.take(message, now_s):
            return
        if lost is not None:
            self._raise(lost.fault, lost.seq or 0, str(lost), payload)
        self.pending.append(message)
        self._last_hash = message.hash
        self._recent[message.seq] = message.hash
        if len(self._recent) > RECENT:
            self._recent.pop(next(iter(self._recent)))

    def _raise(self, kind: str, seq: int, why: str, payload: bytes) -> None:
        is_itself = kind in ("conflict", "chain", "late")
        subject = hashlib.sha256(payload).digest() if is_itself else b""
        clean = why.replace("\0", " ").encode(errors="backslashreplace").decode()[:500]
        self.alarms.append(Alarm(self.number, self._fence, kind, seq, subject, clean, payload[:65_536]))


def _date(at: object) -> str:
    """Return the date of a message in UTC. UNDATED if it has none that can be read."""
    try:
        parsed = datetime.fromisoformat(at) if isinstance(at, str) else None
        return UNDATED if parsed is None or parsed.tzinfo is None else parsed.astimezone(UTC).isoformat()
    except (ValueError, OverflowError):
        return UNDATED


def _coup(coup: object) -> int | None:
    return coup if type(coup) is int and 0 <= coup <= COUP_MAX else None
