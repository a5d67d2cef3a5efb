"""What a subscriber to one table knows: its state, its numbers, its verdicts, and whether messages are missing."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hw_sim.wheel import printed
from hw_sim.words import ENGLISH, Words, translatable

Payload: TypeAlias = dict[str, Any]
VERDICTS = ("result", "void")
SEQUENCED = (*VERDICTS, "ruling", "table")
NAMES = {
    "result": translatable("RESULT"),
    "void": translatable("VOID"),
    "ruling": translatable("RULING"),
    "table": translatable("table"),
    "board": translatable("numbers"),
    "notice": translatable("notice"),
    "reply": translatable("reply"),
}
"""The name of each kind of message, as people read it. The key is the last level of the message's topic."""


@dataclass(frozen=True)
class ToldVerdict:
    """One verdict as published. `name` is "result" and its number, or "void" and its cause."""

    coup: int
    seq: int
    name: str
    text: str


@dataclass
class Subscriber:
    """What was received since the subscription."""

    table: Payload | None = None
    numbers: list[int] = field(default_factory=list)
    verdicts: list[ToldVerdict] = field(default_factory=list)
    seqs: list[int] = field(default_factory=list)
    gaps: int = 0
    remark: str = ""
    """The last notice, or the last reply to a command."""
    words: Words = ENGLISH
    """The language of the lines."""
    _boot_ids: list[str] = field(default_factory=list)

    def take(self, leaf: str, data: bytes) -> str | None:
        """Process a message. Returns a line of text about it, or None if it contains nothing new."""
        payload: Payload = json.loads(data)
        if leaf in SEQUENCED and not self._is_next(payload):
            return None
        match leaf:
            case "table":
                self.table = payload
            case "board" if self.numbers == payload["numbers"]:
                return None
            case "board":
                self.numbers = payload["numbers"]
            case "result" | "void":
                text = verdict_text(leaf, payload, self.words)
                name = f"result {printed(payload['number'])}" if leaf == "result" else f"void {payload['cause']}"
                self.verdicts.append(ToldVerdict(payload["coup"], payload["seq"], name, text))
        told = message_text(leaf, payload, self.words)
        if told is None:
            return None
        place = f"seq {payload['seq']:>5}" if "seq" in payload else " " * 9
        coup = " " * 9 if leaf == "reply" else f"{self.words.say('coup')} {payload['coup']:>4}"
        line = f"{place}  {coup}  {self.words.say(NAMES[leaf]):<7} {told}"
        if leaf in ("notice", "reply"):
            self.remark = line.strip()
        return line

    def _is_next(self, payload: Payload) -> bool:
        """Return whether the message is new: the broker may deliver a message twice. If numbers are missing before the
        message, count a gap."""
        seq, boot_id, last = payload["seq"], payload["boot_id"], self.seqs[-1] if self.seqs else 0
        # After a restore or with a new journal, another run of the daemon has lower numbers.
        if seq <= last and boot_id in self._boot_ids:
            return False
        # After a message of an earlier run of the daemon, missing numbers are not a gap: those messages were sent
        # before the subscription.
        self.gaps += bool(last) and boot_id == self._boot_ids[-1] and seq != last + 1
        if boot_id not in self._boot_ids:
            self._boot_ids.append(boot_id)
        self.seqs.append(seq)
        return True

    @property
    def tally(self) -> Counter[str]:
        """The number of results, and of voids by cause."""
        return Counter("results" if v.name.startswith("result") else v.name for v in self.verdicts)


def verdict_text(leaf: str, payload: Payload, words: Words) -> str:
    """Return the text of a result (its number in digits and words, its laps) or of a void (its cause, its reason)."""
    if leaf == "result":
        laps, rpm = payload["laps"], payload["rotor_rpm"]
        run = [] if laps is None else [words.say("{laps} laps", laps=f"{laps:g}")]  # null: laps are not proven
        run += [] if rpm is None else [words.say("rotor {rpm} rpm", rpm=f"{rpm:.1f}")]
        return " · ".join([printed(payload["number"]), payload["announcement"], *([", ".join(run)] if run else [])])
    who = f" ({payload['by']}: {payload['reason']})" if payload.get("reason") else ""
    return f"{payload['words']}: {payload['cause']} · {payload['why']}{who}"


def message_text(leaf: str, payload: Payload, words: Words) -> str | None:
    """Return the text of a message, without its number in the feed. None if people need not see the message."""
    match leaf:
        case "result" | "void":
            return verdict_text(leaf, payload, words)
        case "ruling":
            ruled = payload["ruled_as"] if payload["label"] is None else payload["label"]
            return f"{words.say('coup')} {payload['about']}: {ruled} ({payload['by']}: {payload['reason']})"
        case "table":
            state, bets = words.code("state", payload["state"]), words.code("bets", payload["bets"])
            steps = payload["waiting_for"]
            return words.say("{state}, bets {bets}, waiting for: {steps}", state=state, bets=bets, steps=steps)
        case "board":
            return numbers_text(payload["numbers"], words)
        case "notice":
            return f"{payload['notice']}: {payload['text']}"
        case "reply":
            parts = {"name": payload["name"], "person": payload["by"], "why": payload["why"]}
            if payload["done"]:
                return words.say("{name} by {person}: done. {why}", **parts)
            return words.say("{name} by {person}: refused. {why}", **parts)
    return None


def numbers_text(numbers: list[int], words: Words) -> str:
    """Return the last numbers as text, the newest first."""
    return " ".join(map(printed, numbers)) or words.say("none yet")
