"""A wheel as its feed is seen from outside: seals as the core does, keeps all, answers a resend as the daemon does."""

from __future__ import annotations

import json
import random

from wheeld.core.messages.chain import GENESIS, close_with_hash

SITE, TABLE = "campione", "campione-03"
ROOT = f"wheel/v1/{SITE}/{TABLE}"
Sent = tuple[str, bytes]
"""Leaf and payload."""


class Wheel:
    """One table's whole feed."""

    def __init__(self, table: str = TABLE) -> None:
        self.sent: list[Sent] = []
        self.hashes = [GENESIS]
        self._table = table

    @property
    def seq(self) -> int:
        return len(self.sent)

    def say(self, leaf: str = "result", **more: object) -> Sent:
        """The next message."""
        body = {"schema": f"{leaf}/1", "seq": self.seq + 1, "site": SITE, "table": self._table, **more}
        body["prev"] = self.hashes[-1]
        payload, digest = close_with_hash(json.dumps(body, separators=(",", ":")).encode())
        self.hashes.append(digest)
        self.sent.append((leaf, payload))
        return self.sent[-1]

    def answer(self, question: bytes) -> list[Sent]:
        """All from there on, then the reply."""
        asked = json.loads(question)
        first = asked["from_seq"]
        done = first <= self.seq
        why = f"seq {first} to {self.seq} again" if done else f"nothing from seq {first}: the last one is {self.seq}"
        return [*self.sent[first - 1 :], reply_to(question, done=done, why=why, last_seq=self.seq)]


def reply_to(question: bytes, *, done: bool, why: str, **more: object) -> Sent:
    said = {"schema": "reply/1", "id": json.loads(question)["id"], "name": "resend", "by": "feed", "done": done}
    return ("reply", json.dumps({**said, "why": why, **more}).encode())


class LyingMiddle:
    """Between wheel and feed: loses, doubles, holds back and edits, each with this probability, until `honest`."""

    def __init__(self, rng: random.Random, rate: float) -> None:
        self.rng = rng
        self.rate = rate
        self.falsified = 0
        self._held: list[Sent] = []

    def honest(self) -> None:
        self.rate = 0.0

    def through(self, sent: list[Sent]) -> list[Sent]:
        """What arrives of it, in the order in which it arrives."""
        arrived: list[Sent] = []
        for message in sent:
            arrived += self._one(message)
            if self._held and self.rng.random() < 0.5:
                arrived.append(self._held.pop(self.rng.randrange(len(self._held))))
        if not self.rate:
            arrived += self._held
            self._held = []
        return arrived

    def _one(self, message: Sent) -> list[Sent]:
        if self.rng.random() >= self.rate:
            return [message]
        self.falsified += 1
        lie = self.rng.choice(("lose", "double", "hold", "edit", "cut", "forge"))
        if lie == "hold":
            self._held.append(message)
        return {"double": [message, message], "edit": [self._edit(message)], "cut": [self._cut(message)],
                "forge": [message, self._forge(message)]}.get(lie, [])  # fmt: skip

    def _edit(self, message: Sent) -> Sent:
        leaf, payload = message
        at = self.rng.randrange(len(payload))
        return leaf, payload[:at] + bytes([payload[at] ^ (1 << self.rng.randrange(8))]) + payload[at + 1 :]

    def _cut(self, message: Sent) -> Sent:
        return message[0], message[1][: self.rng.randrange(len(message[1]))]

    def _forge(self, message: Sent) -> Sent:
        """Another content under the same number, sealed as if it belonged there."""
        leaf, payload = message
        if leaf == "reply":
            return message
        body = json.loads(payload)
        del body["hash"]
        return leaf, close_with_hash(json.dumps({"number": 36, **body}, separators=(",", ":")).encode())[0]
