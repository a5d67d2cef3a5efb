"""One message of the feed, checked by itself: its bytes, its table, its signature."""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

SEQUENCED = ("result", "void", "ruling", "table")
GENESIS = "0" * 64
"""`prev` of the first message that a table ever publishes."""
MESSAGE_BYTES_MAX = 65_536
"""The largest size of a message. It is far above a wheel's longest message of about 2,000 bytes, so a larger message is
from another program."""
SEQ_MAX = 2**53 - 1
"""The largest sequence number that is accepted: JSON readers agree on whole numbers up to this. A wheel would need a
billion years to reach it."""
NUMBER_MAX = 37
"""The number of "00": the highest in any layout of pockets."""

Fault: TypeAlias = Literal[
    "malformed", "foreign", "test", "edited", "signature", "chain", "conflict", "rolled_back", "lost"
]
Verify: TypeAlias = Callable[[bytes, bytes], bool]
"""Takes a signature, and the hash in hex as the message has it. Returns whether the wheel's key made the signature."""


class FeedError(Exception):
    """A message that must not be used, and was not handed out. Continue to iterate: the feed requests the true one.

    `malformed`: it is not JSON of a feed, or a verdict that nobody can settle. `foreign`: it is from another table or
    topic. `test`: it is from a bench table while a live table was requested, or from a live table while a bench table
    was. `edited`: its bytes do not match its hash. `signature`: it is missing or wrong. `chain`: it does not follow the
    message before. `conflict`: another message with its number came before. `rolled_back`: the wheel no longer has what
    it published. `lost`: the wheel reports that it has no messages for some numbers, because its journal was restored
    from an older copy. Settle the lost messages from other records. The message that reports the loss comes next.
    """

    def __init__(self, fault: Fault, seq: int | None, why: str) -> None:
        super().__init__(f"{'a message' if seq is None else f'seq {seq}'}: {why}")
        self.fault: Fault = fault
        self.seq = seq


@dataclass(frozen=True, slots=True)
class FeedMessage:
    """One message of the feed: its topic, its exact bytes, and its members (`body`), as the JSON Schemas describe them.

    `retained`: the broker has kept it for later subscribers, so it may be old.
    """

    seq: int
    topic: str
    payload: bytes
    body: dict[str, Any]
    prev: str
    hash: str
    retained: bool = False

    @property
    def gap_from(self) -> int:
        """The first of the numbers before this message for which the wheel has no messages. Without such numbers, the
        message's own number."""
        return self.body["gap"]["first_seq"] if "gap" in self.body else self.seq


_CLOSED = re.compile(
    rb'(.*,"prev":"([0-9a-f]{64})"),"hash":"([0-9a-f]{64})"(?:,"signature":"([A-Za-z0-9+/]{86}==)")?\}', re.DOTALL
)
"""A message with its `prev`, its hash and perhaps its signature. The hash is SHA-256 of everything before `,"hash"`.
The signature, if there is one, is Ed25519 over the hash in hex."""


def read_message(
    topic: str, payload: bytes, *, root: str, verify: Verify | None = None, test: bool = False
) -> FeedMessage:
    """Read the message that came on `root`/`topic`, and check its hash, table and signature. `test`: accept only
    messages of a bench table. Raise FeedError."""
    body, seq = _body(topic, payload)
    closed = _CLOSED.fullmatch(payload)
    if closed is None:
        raise FeedError("edited", seq, "it has no hash at its end: it never had one, or its end was cut off")
    content, prev, digest, signature = closed.groups()
    if hashlib.sha256(content).hexdigest().encode() != digest:
        raise FeedError("edited", seq, "its bytes do not have its hash: it was edited")
    whose = ["wheel", "v1", body.get("site"), body.get("table"), body.get("schema")]
    if whose != [*root.split("/"), f"{topic}/1"]:
        raise FeedError("foreign", seq, f"it belongs to {str(whose[2:])[:200]} but came on {root}/{topic}")
    check_test(body, seq, test=test)
    if verify is not None and (signature is None or not _is_signed(signature, digest, verify)):
        raise FeedError("signature", seq, "its signature is wrong" if signature else "it has no signature")
    return FeedMessage(seq, topic, payload, body, prev.decode(), digest.decode())


def check_test(body: dict[str, Any], seq: int | None, *, test: bool) -> None:
    """Raise FeedError if the message is of a bench table and a live table is requested, or the reverse."""
    if body.get("test", False) is test:
        return
    if test:
        why = "it has no mark of a test, but a bench table was asked for: to read a live table, ask for no tests"
    else:
        why = (
            "it is marked as a test and must never be paid: a bench table publishes under this name. The owner of "
            "the bench table has to give it a name of its own ([table] site, id). To read it all the same, ask for "
            "tests (test=True in Python)"
        )
    raise FeedError("test", seq, why)


def check_verdict(message: FeedMessage) -> None:
    """Raise FeedError if it is a verdict that nobody can settle. A system that only collects evidence takes such a
    message, too."""
    if message.topic not in ("result", "void"):
        return
    coup, number = message.body.get("coup"), message.body.get("number") if message.topic == "result" else 0
    is_whole = type(coup) is type(number) is int and coup >= 0 and 0 <= number <= NUMBER_MAX
    if not is_whole or type(message.body.get("coup_id")) is not str:
        why = f"no wheel sends a {message.topic} without a coup and a number from 0 to {NUMBER_MAX}"
        raise FeedError("malformed", message.seq, why)


def _is_signed(in_base64: bytes, digest: bytes, verify: Verify) -> bool:
    # Four bits of the last letter have no meaning. So a signature has sixteen spellings, and the wheel uses only one of
    # them.
    signature = base64.b64decode(in_base64)
    return base64.b64encode(signature) == in_base64 and verify(signature, digest)


def _body(topic: str, payload: bytes) -> tuple[dict[str, Any], int]:
    if len(payload) > MESSAGE_BYTES_MAX:
        raise FeedError("malformed", None, f"{len(payload)} bytes on {topic} are more than {MESSAGE_BYTES_MAX}")
    try:
        body = read_json(payload)
        seq = body["seq"]
        is_good = type(seq) is int and 0 < seq <= SEQ_MAX
        if "gap" in body:
            first, last = body["gap"]["first_seq"], body["gap"]["last_seq"]
            is_good = is_good and type(first) is type(last) is int and 0 < first <= last == seq - 1
    except (*NO_JSON, TypeError, LookupError) as error:
        raise FeedError("malformed", None, f"what came on {topic} is not a message of a feed: {error}") from error
    if not is_good:
        raise FeedError("malformed", None, f"a message on {topic} has a seq or a gap that no wheel would send")
    return body, seq


NO_JSON = (ValueError, RecursionError)
"""What `read_json` raises."""
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


def read_json(payload: bytes) -> Any:
    """Read JSON strictly: refuse what readers understand differently, and what no wheel writes. Raise NO_JSON."""
    if b"\\u0000" in payload and _NUL.search(payload):  # the first test is far quicker, and mostly enough
        raise ValueError("a text in it contains a NUL, and some readers end the text there")
    return json.loads(payload.decode(), object_pairs_hook=_each_once, parse_constant=_refuse)


def _each_once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    once = dict(members)
    if len(once) < len(members):
        raise ValueError("one of its objects has the same name twice")
    return once


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not a number in JSON")


def ed25519(public_key: bytes) -> Verify:
    """Return a check with a wheel's public key of 32 bytes. Raise ImportError, or ValueError for another length."""
    key = importlib.import_module("cryptography.hazmat.primitives.asymmetric.ed25519").Ed25519PublicKey
    wrong: type[Exception] = importlib.import_module("cryptography.exceptions").InvalidSignature
    wheel = key.from_public_bytes(public_key)

    def verify(signature: bytes, digest: bytes) -> bool:
        try:
            wheel.verify(signature, digest)
        except wrong:
            return False
        return True

    return verify
