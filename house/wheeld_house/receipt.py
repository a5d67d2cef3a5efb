"""A receipt: one message of a wheel's feed, and the proof that it is in a tree that the wheel signed and witnesses saw.

It has the form of a proof of a transparency log (c2sp.org/tlog-proof), with the message as its `extra`. Other programs
can check it too, and nobody needs a server for that.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wheeld.feed.message import NO_JSON, FeedError, FeedMessage, ed25519, read_json, read_message
from wheeld_house.note import LOG, NoteError, Verifier, read_checkpoint, read_note, strict_base64
from wheeld_house.tlog import HASH_BYTES, leaf_hash, root_of_inclusion

FIRST_LINE = "c2sp.org/tlog-proof@v1"
RECEIPT_BYTES_MAX = 131_072
"""The longest receipt: enough for a message of 65,536 bytes in base64, a proof and a checkpoint."""

_HEAD = re.compile(r"extra ([A-Za-z0-9+/]*={0,2})\nindex (0|[1-9][0-9]{0,15})\n((?:[A-Za-z0-9+/]{43}=\n){0,63})")
ORIGIN = re.compile(r"(wheel/v1/[^/\s]+/[^/\s]+)/([1-9][0-9]{0,15})")
"""The name of a wheel's tree: the wheel's root, and the `seq` of the first leaf."""


class ReceiptError(ValueError):
    """The receipt proves nothing. The text says which part is wrong."""


@dataclass(frozen=True)
class Proven:
    """What a good receipt proves: the wheel at `root` published `message` as one of the first `size` messages of its
    tree, and each witness saw that tree at the time given for it, in seconds of UTC."""

    root: str
    message: FeedMessage
    size: int
    witnessed_at_s: Mapping[str, int]


def write_receipt(payload: bytes, index: int, proof: Sequence[bytes], checkpoint: str) -> str:
    """Return a receipt as text. It proves that `payload` is leaf `index` of the tree that `checkpoint` signs."""
    hashes = "".join(f"{base64.b64encode(each).decode()}\n" for each in proof)
    return f"{FIRST_LINE}\nextra {base64.b64encode(payload).decode()}\nindex {index}\n{hashes}\n{checkpoint}"


def verify_receipt(receipt: str, wheel_key: bytes, witnesses: Sequence[Verifier] = ()) -> Proven:
    """Return what the receipt proves to somebody who trusts the wheel's public key (32 bytes) and the keys of these
    witnesses. Each of them must have cosigned. Raises ReceiptError."""
    payload, index, proof, signed = _parts(receipt)
    try:
        note = read_note(signed)
        checkpoint = read_checkpoint(note)
        if Verifier(checkpoint.origin, wheel_key, LOG).signed_at(note) is None:
            raise ReceiptError("the checkpoint is not signed with this wheel's key")
        seen: dict[str, int] = {}
        for witness in witnesses:
            at_s = witness.signed_at(note)
            if at_s is None:
                raise ReceiptError(f"the witness {witness.name} has not cosigned the checkpoint")
            seen[witness.name] = at_s
    except NoteError as error:
        raise ReceiptError(str(error)) from error
    if root_of_inclusion(proof, leaf_hash(payload), index, checkpoint.size) != checkpoint.root:
        raise ReceiptError("the message is not in the tree of the checkpoint, or not at this place")
    origin = ORIGIN.fullmatch(checkpoint.origin)
    if origin is None:
        raise ReceiptError(f"{checkpoint.origin} is not the tree of a wheel")
    root, first_seq = origin[1], int(origin[2])
    # A message of a bench table is refused, because nobody is paid for its results.
    try:
        topic = str(read_json(payload)["schema"]).removesuffix("/1")
        message = read_message(topic, payload, root=root, verify=ed25519(wheel_key))
    except (FeedError, LookupError, TypeError, *NO_JSON) as error:
        raise ReceiptError(f"the message is not one of the wheel: {error}") from error
    if message.seq != first_seq + index:
        raise ReceiptError(f"the message has seq {message.seq}, but is at the place of seq {first_seq + index}")
    return Proven(root, message, checkpoint.size, seen)


def _parts(receipt: str) -> tuple[bytes, int, list[bytes], str]:
    first, _, rest = receipt.partition("\n")
    head, blank, signed = rest.partition("\n\n")
    found = _HEAD.fullmatch(f"{head}\n")
    if len(receipt) > RECEIPT_BYTES_MAX or first != FIRST_LINE or not blank or found is None:
        raise ReceiptError(f"not a receipt: it must begin with {FIRST_LINE}, extra, index and the hashes of the proof")
    payload, *proof = map(strict_base64, (found[1], *found[3].split()))
    known = [each for each in proof if each is not None]
    if payload is None or len(known) != len(proof):
        raise ReceiptError("not a receipt: a part of it is not base64")
    if any(len(each) != HASH_BYTES for each in known):
        raise ReceiptError("not a receipt: a hash of the proof does not have 32 bytes")
    return payload, int(found[2]), known, signed
