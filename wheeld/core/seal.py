"""The chain over the sequenced messages: each carries `prev`, the hash of the one before, and its own `hash`.

The hash is SHA-256 over the message's own bytes up to the hash: everything before `,"hash":`. Whoever has the feed
can check it with nothing but those bytes (interfaces, `prev` and `hash`).
"""

from __future__ import annotations

import hashlib

GENESIS = "0" * 64
"""`prev` of the first message that a table ever publishes."""
_MARK = b',"hash":"'
_HASH_HEX = 64
_TAIL = b'"}'


class SealError(ValueError):
    """A message that is not what was sealed; the text says what is wrong with it."""


def seal(payload: bytes) -> tuple[bytes, str]:
    """Close a JSON object whose last member is `prev` with its hash: (the final bytes, the hash)."""
    body = payload[:-1]
    digest = hashlib.sha256(body).hexdigest()
    return body + _MARK + digest.encode() + _TAIL, digest


def verify_link(payload: bytes, prev_hash: str) -> str:
    """Check one sealed message against its predecessor's hash; its own hash, or SealError saying what differs."""
    body, mark, tail = payload.rpartition(_MARK)
    if not mark or len(tail) != _HASH_HEX + len(_TAIL) or not tail.endswith(_TAIL):
        raise SealError("it carries no hash at its end: it was not sealed, or was cut")
    if not body.endswith(b',"prev":"' + prev_hash.encode() + b'"'):
        raise SealError("its prev is not the hash of the message before it: one was removed, inserted or moved")
    digest = hashlib.sha256(body).hexdigest()
    if tail[:_HASH_HEX] != digest.encode():
        raise SealError("its bytes do not have its hash: it was edited")
    return digest
