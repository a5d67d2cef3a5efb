"""Hashes of passwords, made with scrypt. A hash has all that is needed to check a password: scrypt$n$r$p$salt$key."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets

N, R, P = 2**15, 8, 1
"""The parameters of scrypt. With them, each check takes 32 MB of memory and about a tenth of a second."""
MEMORY_MAX = 128 * N * R * 2
PASSWORD_MAX = 256


def password_hash(password: str) -> str:
    """Return a new hash of the password, with a new salt."""
    salt = secrets.token_bytes(16)
    return "$".join(("scrypt", str(N), str(R), str(P), _text(salt), _text(_key(password, salt))))


def is_password_hash(text: str) -> bool:
    """Whether `password_hash` could make this text. If so, a check with it takes only the usual time and memory."""
    return _parts(text) is not None


def is_password(password: str, hashed: str) -> bool:
    """Whether `hashed` is a hash of this password. The check of a wrong password takes as long as that of the right
    one."""
    parts = _parts(hashed)
    if parts is None or len(password) > PASSWORD_MAX:
        return False
    salt, key = parts
    return hmac.compare_digest(_key(password, salt), key)


def _key(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=N, r=R, p=P, maxmem=MEMORY_MAX, dklen=32)


def _text(some: bytes) -> str:
    return base64.b64encode(some).decode()


def _parts(text: str) -> tuple[bytes, bytes] | None:
    words = text.split("$")
    if len(words) != 6 or words[:4] != ["scrypt", str(N), str(R), str(P)]:
        return None
    try:
        salt, key = (base64.b64decode(word, validate=True) for word in words[4:])
    except binascii.Error:
        return None
    return (salt, key) if len(salt) == 16 and len(key) == 32 else None
