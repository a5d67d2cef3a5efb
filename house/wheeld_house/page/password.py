"""The hash of a password, by scrypt. It has all that is needed to check it: scrypt$n$r$p$salt$key."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets

N, R, P = 2**15, 8, 1
"""32 MB and about a tenth of a second for each try."""
MEMORY_MAX = 128 * N * R * 2
PASSWORD_MAX = 256


def password_hash(password: str) -> str:
    """Return a new hash of the password, with a new salt."""
    salt = secrets.token_bytes(16)
    return "$".join(("scrypt", str(N), str(R), str(P), _text(salt), _text(_key(password, salt, N, R, P))))


def is_password_hash(text: str) -> bool:
    """Whether `password_hash` can have made this text, and a check with it costs no more than with one of ours."""
    return _parts(text) is not None


def is_password(password: str, hashed: str) -> bool:
    """Whether this is the password of that hash. A wrong password takes the same time."""
    parts = _parts(hashed)
    if parts is None or len(password) > PASSWORD_MAX:
        return False
    n, r, p, salt, key = parts
    return hmac.compare_digest(_key(password, salt, n, r, p), key)


def _key(password: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=n, r=r, p=p, maxmem=MEMORY_MAX, dklen=32)


def _text(some: bytes) -> str:
    return base64.b64encode(some).decode()


def _parts(text: str) -> tuple[int, int, int, bytes, bytes] | None:
    words = text.split("$")
    if len(words) != 6 or words[:4] != ["scrypt", str(N), str(R), str(P)]:
        return None
    try:
        salt, key = (base64.b64decode(word, validate=True) for word in words[4:])
    except binascii.Error:
        return None
    return (N, R, P, salt, key) if len(salt) == 16 and len(key) == 32 else None
