"""What is to be published again: one pass over the stored messages at a time, for all who have asked for it.

A request for messages that the present pass has yet to send joins this pass. A request for earlier ones waits for the
next pass, which begins at the lowest number that was asked for. So every request is answered after two passes at most,
however many come. Each asker gets its messages in order and without a gap.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import msgspec

from wheeld.core.catalogue import Text, translatable
from wheeld.errors import WheeldError

QUESTIONS_MAX = 20
"""How many requests may wait at one time: some feeds that ask again before they are answered. Each request waits in
memory and, as a command without an answer, in the journal."""

RESEND_BATCH = 25
"""How many messages of a pass are read and published before the pause."""
RESEND_PAUSE_S = 0.05
"""With the batch, at most 500 messages a second: a day of coups takes ten seconds, a year of them an hour. Live
messages are not delayed, on the disk or at a slow subscriber."""

Answered: TypeAlias = Callable[[int], Awaitable[None]]
"""Called when all that was asked for has been published, with the last number that is stored."""


class ResendError(WheeldError):
    """A resend that cannot be done. `last_seq` is the last number that is stored."""

    def __init__(self, text: Text, last_seq: int) -> None:
        self.text, self.last_seq = text, last_seq
        super().__init__(text.english.format(**text.parts))


def no_such_message(from_seq: int, last_seq: int) -> ResendError:
    """Return the error for a message that does not exist yet."""
    words = translatable("there is no message {first}: the last one is {last}")
    return ResendError(Text(words, {"first": from_seq, "last": last_seq}), last_seq)


class ResendRequest(msgspec.Struct, frozen=True):
    """A request for all messages from `from_seq` on."""

    from_seq: int
    answered: Answered


class Resends:
    """The present pass, and the requests for the next one."""

    def __init__(self) -> None:
        self.next_seq = 0
        """The next number of the present pass."""
        self._served: list[ResendRequest] = []
        self._waiting: list[ResendRequest] = []

    @property
    def is_under_way(self) -> bool:
        """Whether a pass is not finished."""
        return bool(self._served)

    def ask(self, question: ResendRequest, last_seq: int) -> None:
        """Add a request. Raises ResendError if too many wait."""
        if len(self._served) + len(self._waiting) >= QUESTIONS_MAX:
            words = translatable("{most} earlier requests are not answered yet: ask again when one of them is answered")
            raise ResendError(Text(words, {"most": QUESTIONS_MAX}), last_seq)
        if self._served and question.from_seq < self.next_seq:
            self._waiting.append(question)
        else:
            self._served.append(question)
            if len(self._served) == 1:
                self.next_seq = question.from_seq

    def sent(self, seq: int) -> None:
        """Note that the present pass has sent the message with this number."""
        self.next_seq = seq + 1

    def end(self) -> list[ResendRequest]:
        """End the present pass. Returns the requests that it has served. The next pass begins."""
        served, self._served, self._waiting = self._served, self._waiting, []
        if self._served:
            self.next_seq = min(question.from_seq for question in self._served)
        return served
