"""Sealed messages as the core writes them, for tests of what carries them."""

from __future__ import annotations

import msgspec

from wheeld.core.messages.chain import GENESIS, close_with_hash
from wheeld.core.step import SEQUENCED, CoupLog, Message, Step, Topic


class Feed:
    """Writes one table's feed: `seq` without gaps and the chain, continued from message to message; with the mark of a
    bench table where it is one (`test`)."""

    def __init__(self, *, test: bool = False) -> None:
        self._mark = {"test": True} if test else {}
        self.seq = 0
        self._prev = GENESIS
        self._written = 0

    def message(self, topic: Topic) -> Message:
        """The next message of this topic."""
        self._written += 1
        if topic not in SEQUENCED:
            return Message(
                self._written, topic, msgspec.json.encode({"schema": topic + "/1", "n": self._written} | self._mark)
            )
        self.seq += 1
        body = {"schema": topic + "/1", **self._mark, "seq": self.seq, "n": self.seq - 1, "prev": self._prev}
        payload, self._prev = close_with_hash(msgspec.json.encode(body))
        return Message(self._written, topic, payload, self.seq)

    def step(self, *topics: Topic, evidence: CoupLog | None = None, memory: bytes | None = None) -> Step:
        """A step with one message a topic."""
        messages = tuple(self.message(topic) for topic in topics)
        return Step(messages=messages, coup_logs=() if evidence is None else (evidence,), memory=memory)
