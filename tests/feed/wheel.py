"""A wheel as its feed is seen from outside: seals as the core does, keeps all, answers a resend as the daemon does."""

from __future__ import annotations

import base64
import json

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from wheeld.core.messages.chain import GENESIS, close_with_hash, signed

SITE, TABLE = "campione", "campione-03"
ROOT = f"wheel/v1/{SITE}/{TABLE}"
Sent = tuple[str, bytes]
"""Leaf and payload."""


class Wheel:
    """One table's whole feed, signed where it has a key, and marked where it is a bench table's (`test`)."""

    def __init__(self, table: str = TABLE, key: Ed25519PrivateKey | None = None, *, test: bool = False) -> None:
        self.sent: list[Sent] = []
        """What its journal holds."""
        self.seqs: list[int] = []
        self.hashes = [GENESIS]
        self.ever: set[bytes] = set()
        """Every payload that it ever made."""
        self._table = table
        self._key = key
        self._mark = {"test": True} if test else {}
        self._gap: dict[str, object] = {}

    @property
    def seq(self) -> int:
        return self.seqs[-1] if self.seqs else 0

    def say(self, leaf: str = "result", **more: object) -> Sent:
        """The next message."""
        seq = self._gap["last_seq"] if self._gap else self.seq
        assert isinstance(seq, int)
        body = {"schema": f"{leaf}/1", "seq": seq + 1, "site": SITE, "table": self._table, **self._mark}
        body |= {"coup": seq + 1, "coup_id": f"coup {seq + 1}", **({"number": 17} if leaf == "result" else {}), **more}
        if self._gap:
            body["gap"], self._gap = self._gap, {}
        body["prev"] = self.hashes[-1]
        payload, digest = close_with_hash(json.dumps(body, separators=(",", ":")).encode())
        if self._key is not None:
            payload = signed(payload, base64.b64encode(self._key.sign(digest.encode())))
        self.hashes.append(digest)
        self.seqs.append(seq + 1)
        self.sent.append((leaf, payload))
        self.ever.add(payload)
        return self.sent[-1]

    def restore(self, messages: int) -> None:
        """Its journal is an older copy with so many messages, adopted: the next message says which are gone."""
        first, last = self.seqs[messages], self.seq
        self._gap = {"first_seq": first, "last_seq": last, "by": "Anna", "why": "the card broke"}
        del self.sent[messages:], self.seqs[messages:], self.hashes[messages + 1 :]

    def answer(self, question: bytes) -> list[Sent]:
        """All from there on, then the reply."""
        asked = json.loads(question)
        first = asked["from_seq"]
        done = first <= self.seq
        why = f"seq {first} to {self.seq} again" if done else f"nothing from seq {first}: the last one is {self.seq}"
        return [
            *(one for seq, one in zip(self.seqs, self.sent, strict=True) if seq >= first),
            reply_to(question, done=done, why=why, last_seq=self.seq, **self._mark),
        ]


def reply_to(question: bytes, *, done: bool, why: str, **more: object) -> Sent:
    whose = {"id": json.loads(question)["id"], "name": "resend", "by": "feed", "user": "settlement"}
    return ("reply", json.dumps({"schema": "reply/1", **whose, "done": done, "why": why, **more}).encode())
