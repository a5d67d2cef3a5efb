"""The chain of hashes of the feed. Each message contains `prev`, the hash of the message before, and its own `hash`.

The hash is the SHA-256 of the message's own bytes before `,"hash":`. These bytes are enough to check the feed
(docs/interfaces.md, `prev` and `hash`). If a key is configured, the message ends with an Ed25519 signature of the 64
hexadecimal digits of the hash, in ASCII.
"""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

import msgspec

from wheeld.core.messages.payloads import Result, Ruling, TableMessage, Void
from wheeld.core.step import Message, Topic
from wheeld.errors import WheeldError

GENESIS = "0" * 64
"""`prev` of the first message that a table ever publishes."""
SEQ_MAX = 2**53
"""The largest whole number that all JSON readers read exactly."""
_CLOSING = re.compile(rb',"hash":"([0-9a-f]{64})"(?:,"signature":"([A-Za-z0-9+/]{86}==)")?\}')
_HASH_BYTES = len(b',"hash":""}') + 64
_SIGNATURE_BYTES = len(b',"signature":""') + 88


class _Parts(NamedTuple):
    body: bytes
    hash: bytes
    signature: bytes | None


class ChainError(WheeldError, ValueError):
    """A message does not have the hash that it should have. The text says what is wrong."""


def close_with_hash(payload: bytes) -> tuple[bytes, str]:
    """Close a message, a JSON object whose last member is `prev`, with its hash. Return the new bytes and the hash."""
    body = payload[:-1]
    digest = hashlib.sha256(body).hexdigest()
    return body + b',"hash":"%b"}' % digest.encode(), digest


def chained(topic: Topic, payload: Result | Void | Ruling | TableMessage) -> tuple[Message, str]:
    """Return a message of the feed, closed with its hash, and this hash, which is `prev` of the next message."""
    closed, digest = close_with_hash(msgspec.json.encode(payload))
    return Message(payload.t_us, topic, closed, payload.seq), digest


def hash_of(payload: bytes) -> bytes:
    """Return the hash of a closed message: the bytes that a signature covers. Raises ChainError if there is no hash."""
    return _parts(payload).hash


def signature(payload: bytes) -> bytes | None:
    """Return the signature of a closed message, in base64, or None. Raises ChainError if the message has no hash."""
    return _parts(payload).signature


def signed(payload: bytes, in_base64: bytes) -> bytes:
    """Return a closed message with the signature of its hash at its end."""
    return payload[:-1] + b',"signature":"%b"}' % in_base64


def unsigned(payload: bytes) -> bytes:
    """Return a closed message without its signature, if it has one. A replay gives these bytes."""
    in_base64 = signature(payload)
    return payload if in_base64 is None else payload.removesuffix(b',"signature":"%b"}' % in_base64) + b"}"


def verify_link(payload: bytes, prev_hash: str) -> str:
    """Check the hash and `prev` of a closed message. Return its hash. Raises ChainError if one of the two is wrong."""
    return verify_closed(payload, prev_hash)[0]


def verify_closed(payload: bytes, prev_hash: str) -> tuple[str, bytes | None]:
    """Do the same as `verify_link`, and also return the signature in base64. The signature is not checked."""
    parts = _parts(payload)
    if not parts.body.endswith(b',"prev":"' + prev_hash.encode() + b'"'):
        raise ChainError("its prev is not the hash of the message before it: one was removed, inserted or moved")
    digest = hashlib.sha256(parts.body).hexdigest()
    if parts.hash != digest.encode():
        raise ChainError("its bytes do not have its hash: it was edited")
    return digest, parts.signature


def _parts(payload: bytes) -> _Parts:
    # Only the end of the message is matched: a search in the whole message would take longer than the hash.
    start = len(payload) - _HASH_BYTES - (_SIGNATURE_BYTES if payload.endswith(b'=="}') else 0)
    found = _CLOSING.fullmatch(payload, start) if start >= 0 else None
    if found is None:
        raise ChainError("it carries no hash at its end: it was not closed with one, or was cut")
    return _Parts(payload[:start], *found.groups())
