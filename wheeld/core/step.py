"""One step of the table: messages to store and publish, replies to send, logs and memory to store.

The caller first stores messages, logs and memory in the journal, in one transaction. Then it publishes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET

from wheeld.core.facts import Fact, State
from wheeld.core.messages.payloads import ReplyPayload
from wheeld.core.tracking.evidence import Figures

Topic: TypeAlias = Literal["result", "void", "ruling", "table", "notice", "board"]
Verdict: TypeAlias = Literal["result", "void"]
SEQUENCED: frozenset[str] = frozenset({"result", "void", "ruling", "table"})
RETAINED: frozenset[str] = frozenset({"table", "board"})


class Message(msgspec.Struct, frozen=True):
    """One complete MQTT message. `payload`: the exact JSON to publish. Each time it is sent it has the same bytes.

    `seq`: its place in the feed, None if the topic is not in `SEQUENCED`. `t_us`: its sensing time. `retained`: the
    broker keeps this message even if its topic is not in `RETAINED`.
    """

    t_us: int
    topic: Topic
    payload: bytes
    seq: int | None = None
    retained: bool = False


class Reply(msgspec.Struct, frozen=True):
    """The answer to one command: whether it was done (`done`), and why (`why`). `id` is None for a button. Then the
    reply is logged, not published.

    `user`: the sender's name at the broker, None for a button. `last_seq`: only in an answer to `resend`, the feed's
    latest number, so that the sender knows when it has everything. `test`: the reply is from a bench table.
    """

    t_us: int
    id: str | None
    name: str
    by: str
    done: bool
    why: str = ""
    last_seq: int | None = None
    user: str | None = None
    test: bool = False

    @property
    def payload(self) -> bytes:
        """Return the JSON to publish."""
        answer = ReplyPayload(
            schema="reply/1",
            id=self.id,
            name=self.name,
            by=self.by,
            user=self.user,
            done=self.done,
            why=self.why,
            last_seq=UNSET if self.last_seq is None else self.last_seq,
            test=self.test or UNSET,
        )
        return msgspec.json.encode(answer)


class CoupLog(msgspec.Struct, frozen=True):
    """All observations of one coup: an observation log (JSON lines, uncompressed), ready to replay."""

    coup: int
    verdict: Verdict
    log: bytes


class AppliedFact(msgspec.Struct, frozen=True):
    """One fact that the law took: when, the table's state afterwards, and the time and figures of the evidence."""

    t_us: int
    fact: Fact
    state: State
    evidence_us: int
    figures: Figures


class Step(msgspec.Struct, frozen=True):
    """Everything that follows from one observation. `memory`: what a restart needs, None if it did not change."""

    messages: tuple[Message, ...] = ()
    replies: tuple[Reply, ...] = ()
    coup_logs: tuple[CoupLog, ...] = ()
    memory: bytes | None = None
    facts: tuple[AppliedFact, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.messages or self.replies or self.coup_logs or self.memory is not None)


def joined(steps: Sequence[Step]) -> Step:
    """Join the steps of several observations, in order, into one step, so that all of them are stored, or none."""
    memories = [step.memory for step in steps if step.memory is not None]
    return Step(
        tuple(message for step in steps for message in step.messages),
        tuple(reply for step in steps for reply in step.replies),
        tuple(log for step in steps for log in step.coup_logs),
        memories[-1] if memories else None,
        tuple(applied for step in steps for applied in step.facts),
    )
