"""The order of the feed, without clock or connection: which message is next, and what must be requested."""

from __future__ import annotations

import json
import logging
import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from wheeld.feed.message import (
    GENESIS,
    MESSAGE_BYTES_MAX,
    NO_JSON,
    SEQ_MAX,
    FeedError,
    FeedMessage,
    check_test,
    read_json,
)

REMEMBERED = 10_000
"""How many hashes are kept, to tell a repeat from a different message with the same number: three days of coups."""
SETTLEMENT = "settlement"
"""The user name of the role that may request missing messages."""


@dataclass(frozen=True, kw_only=True)
class Manner:
    """How to request missing messages from the wheel (`by`: the name of the person or system that asks), how long to
    wait, and where to report trouble (`tell`).

    Without `ask` nothing is requested: missing messages are reported and skipped. That is only for systems that
    observe. After `quiet_s` without a message, the wheel is asked whether there is a newer one. The broker may have
    withheld it. Replies are not signed, so an earlier reply may have said falsely that there is none.
    """

    by: str = "wheeld.feed"
    ask: bool = True
    tell: Callable[[str], object] = logging.getLogger("wheeld.feed").warning
    every_s: float = 1.0
    answer_s: float = 10.0
    answer_s_max: float = 300.0
    quiet_s: float = 600.0
    retry_s: float = 0.5
    retry_s_max: float = 30.0


class Order:
    """Decides which message is next, and what must be requested. It reads no clock: the caller gives every `now_s`.

    `remembered`: how many hashes it keeps, to find a different message with the number of an earlier one (None:
    REMEMBERED). With 0 it compares none, for callers who compare with their own store.
    """

    def __init__(
        self,
        after_seq: int | None,
        after_hash: str | None,
        manner: Manner,
        *,
        user: str = SETTLEMENT,
        test: bool = False,
        remembered: int | None = None,
    ) -> None:
        self.seq = after_seq
        self.counters = {"taken": 0, "repeats": 0, "gaps": 0, "faults": 0, "questions": 0, "unanswered": 0}
        self._hash = GENESIS if after_seq == 0 else after_hash
        self._known: dict[int, str] = {}
        self._remembered = REMEMBERED if remembered is None else remembered
        if after_seq and after_hash and self._remembered:
            self._known[after_seq] = after_hash
        self._manner = manner
        self._user = user
        self._test = test
        # These two show what came since the last request for missing messages (`resend`).
        self._unsure = False  # whether a message or reply was refused
        self._beyond = 0  # the highest number of a message that came, or that the reply named
        self._asked: str | None = None  # the id of the request that is not answered yet
        self._asked_from = 0
        self._claimed = 0  # the highest number that had come before that request
        self._asked_s = -manner.answer_s
        self._first_s: float | None = None  # when the first request of this connection is due
        # Another request is due `_wait_s` after `_since_s`, even if the last request has no answer.
        self._since_s = 0.0  # when the last request was sent, or the last message was taken
        self._wait_s = 0.0
        self._tries = 0
        self._silences = 0
        # Our last number and the wheel's in the last report `rolled_back`. It is not repeated for the same two.
        self._rolled_back: tuple[int, int] | None = None

    def connected(self, now_s: float) -> None:
        """Note a new connection. Messages and an answer may be lost: ask soon, after the messages that the broker kept
        have come."""
        self._asked, self._tries = None, 0
        self._first_s = now_s + self._manner.every_s / 2

    def doubt(self) -> None:
        """Remember that a message or a reply was refused. The true one may still be missing, so the next request is due
        sooner."""
        self.counters["faults"] += 1
        self._unsure = True

    def take(self, message: FeedMessage, now_s: float) -> bool:
        """Take the message if it is the next one. Return whether it is. Raise FeedError (`chain`, `conflict`).

        It is also the next one if it contains the wheel's report that there are no messages for the numbers before.
        """
        if self.seq is not None and message.gap_from <= self.seq + 1 <= message.seq and message.gap_from < message.seq:
            self._accept(message, now_s)
            return True
        if self.seq is not None and message.seq <= self.seq:
            self.counters["repeats"] += 1
            known = self._known.get(message.seq, message.hash)
            if known != message.hash:
                raise FeedError(
                    "conflict", message.seq, "another message with this number came before: one of the two is false"
                )
            return False
        if self.seq is not None and message.seq > self.seq + 1 and self._wait_for_the_rest(message.seq):
            return False
        if self._hash is not None and message.prev != self._hash:
            why = f"its prev is not the hash of seq {message.seq - 1}: a message was removed, inserted or replaced"
            raise FeedError("chain", message.seq, why)
        self._accept(message, now_s)
        return True

    def lost_before(self, message: FeedMessage) -> FeedError | None:
        """Return the error for messages before `message` that the wheel reports as lost. None if there are none."""
        if self.seq is None or not message.gap_from <= self.seq + 1 < message.seq:
            return None
        gap = message.body["gap"]
        first, last = self.seq + 1, message.seq - 1
        why = (
            f"the wheel has no messages {first} to {last} any more: {gap.get('by')} restored its journal from an older "
            f"copy ({gap.get('why')}); settle them from other records"
        )
        return FeedError("lost", last, why[:500])

    def answered(self, payload: bytes) -> None:
        """Take a reply. Raise FeedError (`rolled_back`, `test`)."""
        try:
            reply = read_json(payload[:MESSAGE_BYTES_MAX])
            whose = reply["id"], reply["user"], reply["name"]
        except (*NO_JSON, TypeError, LookupError):
            return
        if self.seq is None or self._asked is None or whose != (self._asked, self._user, "resend"):
            return
        self._asked, self._silences = None, 0
        check_test(reply, None, test=self._test)
        last = reply.get("last_seq")
        if type(last) is not int or not 0 <= last <= SEQ_MAX:
            why = str(reply.get("why"))
            self._manner.tell(f"the wheel refused to send again from seq {self._asked_from}: {why[:200]}")
            self._unsure = True
        elif last >= self._asked_from - 1:
            self._beyond = max(self._beyond, last)
            if last <= self.seq:
                self._begin_anew()
            if last < self._claimed:
                self._manner.tell(
                    f"seq {self._claimed} came, but the wheel reports that its last message is {last}: one of the two "
                    "was not from the wheel"
                )
        elif self._rolled_back != (self.seq, last):
            self._rolled_back = (self.seq, last)
            why = (
                f"the wheel reports that its last message is {last}: this number is too high, or the wheel's journal "
                "was replaced or cut"
            )
            raise FeedError("rolled_back", self.seq, why)

    def question(self, now_s: float) -> bytes | None:
        """Return the command `resend` if it is due now."""
        due_s = self._due_s()
        if self.seq is None or due_s is None or now_s < due_s:
            return None
        if self._asked is not None:
            self.counters["unanswered"] += 1
            self._silences += 1
            self._manner.tell(
                f"no answer to resend from seq {self._asked_from} ({self._silences} in a row): the wheel is offline, "
                "or the broker's access list refuses the request or the answer"
            )
        missing = f"seq {self.seq + 1} is missing" if self._beyond > self.seq else f"is there more than seq {self.seq}?"
        self.counters["questions"] += 1
        self._asked, self._asked_from, self._asked_s = f"feed-{uuid.uuid4().hex}", self.seq + 1, now_s
        self._claimed, self._unsure, self._beyond, self._first_s = self._beyond, False, 0, None
        self._since_s, self._wait_s = now_s, self._patience_s()
        self._tries += 1
        asked = {"id": self._asked, "by": self._manner.by, "reason": missing, "from_seq": self._asked_from}
        return json.dumps(asked, separators=(",", ":")).encode()

    def wait_s(self, now_s: float) -> float | None:
        """Return in how many seconds the next `resend` is due. None if none will be due."""
        due_s = self._due_s()
        return None if due_s is None else max(0.0, due_s - now_s)

    @property
    def is_asking(self) -> bool:
        """Whether the wheel has not answered the last `resend` yet."""
        return self._asked is not None

    def _due_s(self) -> float | None:
        """Return when the next `resend` is due. None if none will be due."""
        if self.seq is None or not self._manner.ask:
            return None
        if self._first_s is not None:
            return self._first_s
        later_s = self._since_s + self._wait_s
        if self._asked is not None:
            return later_s
        if self._beyond > self.seq >= self._asked_from:
            # If the last request brought nothing, another request is not urgent. Otherwise a broker that shows a later
            # message, and falsely answers that there is none, could cause a request each second.
            return min(later_s, self._asked_s + self._manner.every_s)
        return later_s if self._unsure or self._beyond > self.seq else self._since_s + self._manner.quiet_s

    def _begin_anew(self) -> None:
        """Remember that the last `resend` brought a message, or the answer that there is none. Waits are short
        again."""
        self._tries = 0
        self._wait_s = self._patience_s()

    def _patience_s(self) -> float:
        longest = min(self._manner.answer_s_max, self._manner.answer_s * 2.0 ** min(self._tries, 16))
        return longest * random.uniform(1.0, 1.25)  # noqa: S311  many feeds must not ask at one time; it is not secret

    def _wait_for_the_rest(self, seq: int) -> bool:
        """Note a gap before `seq`. Return whether to wait for the missing messages. A `resend` then brings `seq` again,
        too."""
        first = (self.seq or 0) + 1
        if self._beyond < first:
            self.counters["gaps"] += 1
            then = "requested" if self._manner.ask else "skipped"
            self._manner.tell(f"seq {first} to {seq - 1} did not come and are {then}")
        if not self._manner.ask:
            self._hash = None
            return False
        self._beyond = max(self._beyond, seq)
        return True

    def _accept(self, message: FeedMessage, now_s: float) -> None:
        self.counters["taken"] += 1
        self.seq, self._hash = message.seq, message.hash
        self._known[message.seq] = message.hash
        self._known.pop(message.seq - self._remembered, None)
        self._since_s = now_s
        self._begin_anew()
