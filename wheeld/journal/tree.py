"""The feed as a Merkle tree (RFC 6962) with signed checkpoints (c2sp.org/tlog-checkpoint). With them one message can be
proven to somebody who has no other message.

A leaf is the payload of one message of the feed, in the bytes that were published. The tree has one leaf for each `seq`
from `first_seq` on. After an adoption, numbers are missing in the feed, so a new tree with another origin begins.
"""

from __future__ import annotations

import base64
import hashlib

import msgspec

from wheeld.journal.rows import Signer

LEAF, NODE = b"\0", b"\1"
"""The hashed bytes of a leaf and of an inner node begin with these (RFC 6962, 2.1). So no leaf can pass as a node."""

ED25519 = b"\1"
"""The byte that says which type of key it is (c2sp.org/signed-note)."""


class FeedTree(msgspec.Struct, kw_only=True):
    """What is needed to add leaves to a tree of `size` leaves. `peaks`: the roots of its complete subtrees, the largest
    first. The sizes of these are the powers of two that add up to `size`."""

    first_seq: int = 1
    size: int = 0
    peaks: list[bytes] = []

    def add(self, payload: bytes) -> None:
        """Add a leaf."""
        node, size = hashlib.sha256(LEAF + payload).digest(), self.size
        while size & 1:
            node, size = hashlib.sha256(NODE + self.peaks.pop() + node).digest(), size >> 1
        self.peaks.append(node)
        self.size += 1

    def root(self) -> bytes:
        """Return the hash of the whole tree."""
        if not self.peaks:
            return hashlib.sha256(b"").digest()
        *larger, node = self.peaks
        for peak in reversed(larger):
            node = hashlib.sha256(NODE + peak + node).digest()
        return node

    def checkpoint(self, site: str, table: str, signer: Signer) -> str:
        """Return the signed checkpoint of the tree. Its origin is also the name of the key."""
        origin = f"wheel/v1/{site}/{table}/{self.first_seq}"
        text = f"{origin}\n{self.size}\n{_base64(self.root())}\n"
        key_hash = hashlib.sha256(f"{origin}\n".encode() + ED25519 + signer.public_key).digest()[:4]
        return f"{text}\n\u2014 {origin} {_base64(key_hash + signer.sign(text.encode()))}\n"


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
