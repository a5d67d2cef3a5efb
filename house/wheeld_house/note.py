"""Signed notes and checkpoints in the form of public transparency logs (c2sp.org/signed-note, tlog-checkpoint,
tlog-cosignature), with Ed25519 keys.

A verifier key is one line: `NAME+HASH+KEY`, as Go's `note` package and the tools of other logs write it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import struct
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ed25519

from wheeld_house.tlog import HASH_BYTES

NOTE_BYTES_MAX = 16_384
"""The longest note. A checkpoint has about 300 bytes, and each cosignature about 150, so a hundred of them fit."""

KEY_BYTES = 32
SIGNATURE_BYTES = 64
TIME_BYTES = 8
KeyUse: TypeAlias = Literal[1, 4]
LOG: KeyUse = 1
WITNESS: KeyUse = 4
"""What a key is for: it signs the checkpoints of its own log, or it cosigns the checkpoints of other logs. The number
goes into the key's hash."""

_SIGNATURE_LINE = re.compile(r"\u2014 ([^\s+]+) ([A-Za-z0-9+/]+={0,2})")
_CHECKPOINT = re.compile(r"([^\s+]+)\n(0|[1-9][0-9]{0,15})\n([A-Za-z0-9+/]{43}=)\n")


class NoteError(ValueError):
    """A note, checkpoint or key has a wrong form or a wrong signature. The text says what is wrong."""


class Signature(NamedTuple):
    """A signature line: the name of the key, the first four bytes of the hash of the key, and the signature."""

    name: str
    key_hash: bytes
    code: bytes


class Note(NamedTuple):
    """A text and its signatures. The signatures cover the text, including its last line feed."""

    text: str
    signatures: tuple[Signature, ...]


class Checkpoint(NamedTuple):
    """The hash of the tree `origin` when it had `size` leaves."""

    origin: str
    size: int
    root: bytes


@dataclass(frozen=True)
class Verifier:
    """A public key of 32 bytes with its name and use."""

    name: str
    key: bytes
    use: KeyUse

    @property
    def key_hash(self) -> bytes:
        """The first four bytes of the key's hash, which name the key in a signature line."""
        return hashlib.sha256(f"{self.name}\n".encode() + bytes([self.use]) + self.key).digest()[:4]

    def __str__(self) -> str:
        return f"{self.name}+{self.key_hash.hex()}+{_base64(bytes([self.use]) + self.key)}"

    @classmethod
    def read(cls, line: str) -> Verifier:
        """Read a verifier key. Raises NoteError."""
        try:
            name, key_hash, code = line.strip().split("+", 2)
            use, key = (raw := base64.b64decode(code, validate=True))[0], raw[1:]
        except (ValueError, IndexError) as error:
            raise NoteError(f"not a verifier key, NAME+HASH+KEY: {line.strip()[:100]!r}") from error
        if use not in (LOG, WITNESS) or len(key) != KEY_BYTES:
            raise NoteError(f"{name}: not an Ed25519 key of a log (type 1) or of a witness (type 4)")
        verifier = cls(name, key, LOG if use == LOG else WITNESS)
        if verifier.key_hash.hex() != key_hash:
            raise NoteError(f"{name}: the hash in the verifier key is not that of its key: it was copied wrongly")
        return verifier

    def signed_at(self, note: Note) -> int | None:
        """Return when this key signed the note, in seconds of UTC, as the witness states it. 0 for the key of a log,
        which states no time. None if no signature line names this key. Raises NoteError if the signature in such a line
        is false."""
        for signature in note.signatures:
            if (signature.name, signature.key_hash) != (self.name, self.key_hash):
                continue
            time_s, text, code = 0, note.text, signature.code
            if self.use == WITNESS and len(code) == TIME_BYTES + SIGNATURE_BYTES:
                time_s, code = struct.unpack(">Q", code[:TIME_BYTES])[0], code[TIME_BYTES:]
                text = cosigned_text(text, time_s)
            try:
                ed25519.Ed25519PublicKey.from_public_bytes(self.key).verify(code, text.encode())
            except InvalidSignature as error:
                raise NoteError(f"the signature of {self.name} is false") from error
            return time_s
        return None


def read_note(raw: str) -> Note:
    """Read a signed note. Raises NoteError."""
    text, blank, lines = raw.rpartition("\n\n")
    found = [_SIGNATURE_LINE.fullmatch(line) for line in lines.removesuffix("\n").split("\n")]
    try:
        size = len(raw.encode())
    except UnicodeEncodeError:  # a text from JSON may have half of a surrogate pair
        raise NoteError("not a signed note: it has a character that UTF-8 cannot have") from None
    if size > NOTE_BYTES_MAX or not blank or not lines.endswith("\n"):
        raise NoteError("not a signed note: it has no empty line before its signatures, or is too long")
    signatures: list[Signature] = []
    for line in found:
        code = strict_base64(line[2]) if line else None
        if line is None or code is None or len(code) <= 4:
            raise NoteError("not a signed note: a line below its text is not a signature")
        signatures.append(Signature(line[1], code[:4], code[4:]))
    return Note(f"{text}\n", tuple(signatures))


def read_checkpoint(note: Note) -> Checkpoint:
    """Return the checkpoint in a note. Raises NoteError."""
    found = _CHECKPOINT.fullmatch(note.text)
    root = None if found is None else strict_base64(found[3])
    if found is None or root is None or len(root) != HASH_BYTES:
        raise NoteError("not a checkpoint: it must have an origin, a size and a hash, in three lines")
    return Checkpoint(found[1], int(found[2]), root)


def cosigned_text(text: str, time_s: int) -> str:
    """Return the text that a witness signs. It says that at this time (seconds of UTC) the checkpoint continued all
    checkpoints that the witness had cosigned before."""
    return f"cosignature/v1\ntime {time_s}\n{text}"


def cosignature(note: Note, name: str, key: ed25519.Ed25519PrivateKey, time_s: int) -> str:
    """Return the line that a witness adds to a note."""
    verifier = Verifier(name, key.public_key().public_bytes_raw(), WITNESS)
    code = struct.pack(">Q", time_s) + key.sign(cosigned_text(note.text, time_s).encode())
    return f"\u2014 {name} {_base64(verifier.key_hash + code)}\n"


def strict_base64(text: str) -> bytes | None:
    """Decode base64. None if this text is not the standard base64 of its bytes. Otherwise somebody could change a note
    or a receipt, and it would still be valid."""
    try:
        raw = base64.b64decode(text, validate=True)
    except binascii.Error:
        return None
    return raw if _base64(raw) == text else None


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
