"""Ed25519 keys that seal the journal and sign the feed, and the checks of these signatures.

A private key file is PEM (`openssl genpkey -algorithm ed25519`) or the 32 bytes in base64. A public key file is PEM
(`openssl pkey -pubout`) or the 32 bytes in base64. `cryptography` is an optional dependency (`wheeld[sign]`). It is
imported only if there is a key.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from wheeld.core.messages.chain import hash_of, signature, signed
from wheeld.errors import WheeldError
from wheeld.journal.rows import Signer

RAW_BYTES = 32
"""The size of an Ed25519 key, private or public (RFC 8032)."""

KEY_ID_HEX = 16
"""The length of a key id. It is enough to distinguish the keys of a house. Only a signature proves which key it is."""

Check: TypeAlias = Callable[[bytes, bytes], bool]
"""A check by one key: takes a signature and the bytes that it covers, and returns whether the key made the
signature."""


class KeyFileError(WheeldError, ValueError):
    """The file contains no key, or the library that uses it is not installed. The text names the file and what to
    do."""


class FileSigner:
    """The private key in a file, as the journal's `Signer`. Raises OSError, KeyFileError."""

    def __init__(self, path: Path) -> None:
        text = path.read_bytes()
        try:
            from cryptography.hazmat.primitives import serialization  # noqa: PLC0415  it is optional: see above
            from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415

            raw = _raw(text)
            private = ed25519.Ed25519PrivateKey.from_private_bytes
            key = private(raw) if raw else serialization.load_pem_private_key(text, None)
        except ImportError as error:
            raise _missing(path) from error
        except (ValueError, TypeError) as error:
            why = f"{path}: neither a private key in PEM without a password, nor 32 bytes in base64"
            raise KeyFileError(why) from error
        if not isinstance(key, ed25519.Ed25519PrivateKey):
            raise KeyFileError(f"{path}: not an Ed25519 key; make one with openssl genpkey -algorithm ed25519")
        self._key = key
        self.public_key = self._key.public_key().public_bytes_raw()
        self.key_id = key_id(self.public_key)

    def sign(self, data: bytes) -> bytes:
        """Return the signature of these bytes."""
        return self._key.sign(data)


def public_key(path: Path) -> tuple[str, Check]:
    """Return the id of the public key in a file, and a check of its signatures. Raises OSError, KeyFileError."""
    raw = raw_public_key(path)
    return key_id(raw), check_by(raw)


def check_by(raw: bytes) -> Check:
    """Return a check of the signatures of the public key with these 32 bytes. Raises KeyFileError."""
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415  it is optional: see above

        key = ed25519.Ed25519PublicKey.from_public_bytes(raw)
    except ImportError as error:
        raise _missing(Path("the journal's key")) from error
    except ValueError as error:
        raise KeyFileError(f"{raw.hex()}: not an Ed25519 key") from error

    def check(signature: bytes, data: bytes) -> bool:
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415  it is optional: see above

        try:
            key.verify(signature, data)
        except InvalidSignature:
            return False
        return True

    return check


def raw_public_key(path: Path) -> bytes:
    """Return the 32 bytes of the public key in a file, as the feed library takes them. Raises OSError, KeyFileError."""
    text = path.read_bytes()
    try:
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415  it is optional: see above
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415

        if raw := _raw(text):
            return ed25519.Ed25519PublicKey.from_public_bytes(raw).public_bytes_raw()
        key = serialization.load_pem_public_key(text)
    except ImportError as error:
        raise _missing(path) from error
    except ValueError as error:
        raise KeyFileError(f"{path}: neither a public key in PEM, nor 32 bytes in base64") from error
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise KeyFileError(f"{path}: not an Ed25519 key")
    return key.public_bytes_raw()


def sign_message(payload: bytes, signer: Signer) -> bytes:
    """Return a message of the feed with its signature. Raises ChainError if the message is not closed with its hash."""
    return signed(payload, base64.b64encode(signer.sign(hash_of(payload))))


def is_signed(payload: bytes, check: Check) -> bool:
    """Whether a message has a signature of its hash that `check` accepts. Raises ChainError if it has no hash."""
    in_base64 = signature(payload)
    return in_base64 is not None and check(base64.b64decode(in_base64), hash_of(payload))


def _raw(text: bytes) -> bytes | None:
    try:
        raw = base64.b64decode(text.strip(), validate=True)
    except binascii.Error:
        return None
    return raw if len(raw) == RAW_BYTES else None


def key_id(raw: bytes) -> str:
    """Return the id of the public key with these bytes."""
    return hashlib.sha256(raw).hexdigest()[:KEY_ID_HEX]


def _missing(path: Path) -> KeyFileError:
    return KeyFileError(f"{path}: to use a key, the Python package cryptography is needed: pip install 'wheeld[sign]'")
