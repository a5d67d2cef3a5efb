"""What one step of the adjudicator asks of the world: messages to store and publish, replies to give, logs to store.

The world does them in this order: journal on disk (messages, logs and memory in one transaction), then publish.
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
    """One MQTT message, whole: `payload` is the exact JSON to publish, the same bytes whenever it is sent again.

    `seq` is its place in the feed (`SEQUENCED`) or None; `t_us` its sensing time. `retained`: the broker
    keeps it, though its topic is none of `RETAINED`.
    """

    t_us: int
    topic: Topic
    payload: bytes
    seq: int | None = None
    retained: bool = False


class Reply(msgspec.Struct, frozen=True):
    """The answer to one command: done, or refused and why. `id` is None for a button: logged, not published.

    `user`: the sender's name at the broker, None for a button.

    `last_seq`, of an answer to `resend`: up to where the feed goes, so that the asker knows when it has all. `test`:
    by a bench table; the journal marks what it stores by itself.
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
        """The JSON to publish."""
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
    """All that was observed for one coup: an observation log (JSON lines, uncompressed), ready to replay."""

    coup: int
    verdict: Verdict
    log: bytes


class AppliedFact(msgspec.Struct, frozen=True):
    """One fact as the law took it: when, the state that it led to, and its evidence."""

    t_us: int
    fact: Fact
    state: State
    evidence_us: int
    figures: Figures


class Step(msgspec.Struct, frozen=True):
    """Everything that one observation led to. `memory` is what a restart needs, None when it did not change."""

    messages: tuple[Message, ...] = ()
    replies: tuple[Reply, ...] = ()
    coup_logs: tuple[CoupLog, ...] = ()
    memory: bytes | None = None
    facts: tuple[AppliedFact, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.messages or self.replies or self.coup_logs or self.memory is not None)


def joined(steps: Sequence[Step]) -> Step:
    """What follows from several observations, in order, as one step: to be stored together or not at all."""
    memories = [step.memory for step in steps if step.memory is not None]
    return Step(
        tuple(message for step in steps for message in step.messages),
        tuple(reply for step in steps for reply in step.replies),
        tuple(log for step in steps for log in step.coup_logs),
        memories[-1] if memories else None,
        tuple(applied for step in steps for applied in step.facts),
    )
