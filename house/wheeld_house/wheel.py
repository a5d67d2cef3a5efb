"""What a collector knows of one wheel: its next message, what is not stored yet, and what a person must look at."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from wheeld.feed import GENESIS, FeedError, FeedMessage, Manner
from wheeld.feed.message import ed25519, read_message
from wheeld.feed.order import Order
from wheeld_house.checkpoints import Signed, checkpoint_in, read_signed
from wheeld_house.database import UNDATED, Alarm, Lease, NewRecord
from wheeld_house.note import NoteError
from wheeld_house.settings import HouseWheel

ACTIVE_S = 3.0
"""If a wheel was asked for missing messages and then sends nothing for this time, it does not count as a wheel that
answers."""
RECENT = 256
"""How many of the newest hashes are kept in memory. A message from two brokers comes twice within a short time."""
CHECKPOINTS_MAX = 8
"""How many checkpoints wait in memory for the records that prove them. A wheel signs a few in an evening."""
COUP_MAX = 2**63 - 1


class CollectedWheel:
    """What a collector knows of one wheel. Without a lease (`order` is None) it takes checkpoints, and nothing else.

    `number`: the wheel's number in the database. `user`: the collector's user name at the brokers. `by`: the name under
    which the collector requests missing messages. `tell` gets texts for the log.
    """

    def __init__(self, settings: HouseWheel, *, number: int, user: str, by: str, tell: Callable[[str], object]) -> None:
        self.settings, self.root, self.number = settings, settings.root, number
        self.order: Order | None = None
        self.pending: list[FeedMessage] = []
        """Messages that were checked and are not stored yet, in the order of `seq`."""
        self.repeats: dict[int, list[FeedMessage]] = {}
        """Messages whose numbers were taken before. They must be compared with the stored records."""
        self.alarms: list[Alarm] = []
        self.checkpoints: list[Signed] = []
        """Checkpoints that the wheel signed, and that were not compared with the stored records yet."""
        self.active_s = -ACTIVE_S
        self.fence = 0
        self._last_hash = GENESIS
        self._recent: dict[int, str] = {}
        self._user = user
        self._key = settings.public_key()
        self._verify = None if self._key is None else ed25519(self._key)
        self._manner = Manner(by=by[:64], tell=lambda what: tell(f"{self.root}: {what}"))

    @property
    def is_busy(self) -> bool:
        """Whether there is something for the database. A checkpoint waits until there is a lease."""
        return bool(self.pending or self.repeats or self.alarms or (self.checkpoints and self.order is not None))

    @property
    def is_asked(self) -> bool:
        """Whether the wheel has not answered the last request for missing messages yet."""
        return self.order is not None and self.order.is_asking

    def is_due(self, now_s: float) -> bool:
        """Whether the wheel may be asked for missing messages now."""
        return self.order is not None and self.order.wait_s(now_s) == 0.0

    def begin(self, lease: Lease, now_s: float) -> None:
        """Continue after the last stored record. Records that wait to be stored are kept if they follow it."""
        self.fence = lease.fence
        self.alarms = [replace(alarm, fence=lease.fence) for alarm in self.alarms]
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
        """Stop taking messages, because another collector has the lease, or nobody has it."""
        self.order = None
        self.pending.clear()
        self.repeats.clear()
        self.alarms.clear()

    def take(self, leaf: str, payload: bytes, now_s: float) -> None:
        """Take a message. `leaf`: the last level of its topic."""
        if leaf == "notice":
            # A seal's checkpoint is kept even without a lease, because the broker retains only the newest checkpoint.
            raw = checkpoint_in(payload)
            try:
                signed = None if raw is None or self._key is None else read_signed(raw, self.root, self._key)
            except NoteError as error:
                self._raise("signature", 0, str(error), payload)
                return
            if signed is not None and signed not in self.checkpoints:
                self.checkpoints = [*self.checkpoints, signed][-CHECKPOINTS_MAX:]
            return
        if self.order is None:
            return
        self.active_s = now_s
        try:
            if leaf == "reply":
                self.order.answered(payload)
            else:
                self._take_message(self.order, leaf, payload, now_s)
        except FeedError as error:
            self._raise(error.fault, error.seq or 0, str(error), payload)
            if error.fault != "rolled_back":
                self.order.doubt()

    def stored(self, count: int) -> None:
        """Remember that the first `count` of `pending` are stored."""
        del self.pending[:count]

    def provable(self) -> list[Signed]:
        """Return the checkpoints whose records are stored, and remove them from the list."""
        if self.order is None or self.order.seq is None:
            return []
        stored_seq = self.pending[0].seq - 1 if self.pending else self.order.seq
        ready = [each for each in self.checkpoints if each.first_seq + each.checkpoint.size <= stored_seq + 1]
        self.checkpoints = [each for each in self.checkpoints if each not in ready]
        return ready

    def disproven(self, signed: Signed) -> None:
        """Raise an alarm: the wheel has signed a tree of other records than the stored ones."""
        last_seq = signed.first_seq + signed.checkpoint.size - 1
        why = f"the wheel signed other messages up to seq {last_seq} than those that are stored"
        self._raise("split", last_seq, why, signed.raw.encode())

    def records(self, most: int) -> list[NewRecord]:
        """Return the first messages of `pending`, `most` at most, as records for the database. In a record, a date that
        cannot be read is UNDATED, and a coup that is not a valid number is None."""
        records: list[NewRecord] = []
        for each in self.pending[:most]:
            at, coup, date = each.body.get("at"), each.body.get("coup"), UNDATED
            with suppress(ValueError, OverflowError):
                parsed = datetime.fromisoformat(at) if isinstance(at, str) else None
                date = UNDATED if parsed is None or parsed.tzinfo is None else parsed.astimezone(UTC).isoformat()
            known = coup if type(coup) is int and 0 <= coup <= COUP_MAX else None
            records.append(NewRecord(self.number, self.fence, each, date, known, self._verify is not None))
        return records

    def compare(self, stored: dict[tuple[int, int], str | None]) -> None:
        """Compare repeated messages with the records that are stored under their numbers."""
        for seq, messages in self.repeats.items():
            if (self.number, seq) not in stored:
                continue
            known = stored[self.number, seq]
            for message in messages:
                if known is None:
                    why = f"seq {seq} counted as lost, but came now: it is kept here, and not among the records"
                    self._raise("late", seq, why, message.payload)
                elif known != message.hash:
                    why = f"seq {seq} came with another hash than the stored one: one of the two messages is not true"
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
        is_itself = kind in ("conflict", "chain", "late", "split")
        subject = hashlib.sha256(payload).digest() if is_itself else b""
        clean = why.replace("\0", " ").encode(errors="backslashreplace").decode()[:500]
        self.alarms.append(Alarm(self.number, self.fence, kind, seq, subject, clean, payload[:65_536]))
