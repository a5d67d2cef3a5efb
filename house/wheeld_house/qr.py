"""A receipt as a QR code.

A code has room for 4,296 characters only if all are among 45 compact ones (`LETTERS`). A receipt has about 3,000
characters of all kinds, which do not fit. So the receipt is compressed (zlib) and written in base45 (RFC 9285), after a
prefix. `wheeld-house verify` and the page verify.html also take this text, as a scanner gives it, instead of the
receipt.
"""

from __future__ import annotations

import zlib

import segno

from wheeld_house.receipt import RECEIPT_BYTES_MAX, ReceiptError

PREFIX = "WHEELD-RECEIPT:"
LETTERS_MAX = 4296
"""How many letters the largest code holds (version 40, error correction L)."""
LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:"


class TooLongError(ValueError):
    """The receipt does not fit in a code."""


def qr_text(receipt: str) -> str:
    """Return the text of the receipt's code. Raises TooLongError."""
    text = f"{PREFIX}{base45(zlib.compress(receipt.encode(), 9))}"
    if len(text) > LETTERS_MAX:
        raise TooLongError(
            f"this receipt is too long for a QR code: it needs {len(text)} letters, and a code holds {LETTERS_MAX}. "
            "Give it as a file"
        )
    return text


def qr_code(receipt: str) -> segno.QRCode:
    """Return the code of the receipt. Raises TooLongError."""
    return segno.make_qr(qr_text(receipt), error="l", mode="alphanumeric")


def receipt_in(text: str) -> str:
    """Return the receipt in the text of a code, or any other text unchanged. Raises ReceiptError."""
    letters = text.strip()
    if not letters.startswith(PREFIX):
        return text
    try:
        if len(letters) > LETTERS_MAX:
            raise ValueError("more than a code holds")
        unpacking = zlib.decompressobj()
        receipt = unpacking.decompress(from_base45(letters.removeprefix(PREFIX)), RECEIPT_BYTES_MAX)
        if not unpacking.eof or unpacking.unused_data:
            raise ValueError("less or more than one receipt")
        return receipt.decode()
    except (ValueError, OverflowError, zlib.error) as error:
        raise ReceiptError("not a receipt: the text of the QR code is damaged") from error


def base45(data: bytes) -> str:
    """Write bytes in base45."""
    letters = ""
    for at in range(0, len(data), 2):
        pair = data[at : at + 2]
        number = int.from_bytes(pair)
        for _ in range(len(pair) + 1):
            number, letter = divmod(number, len(LETTERS))
            letters += LETTERS[letter]
    return letters


def from_base45(letters: str) -> bytes:
    """Read base45. Raises ValueError, OverflowError."""
    if len(letters) % 3 == 1:
        raise ValueError("a letter is missing")
    groups = [letters[at : at + 3] for at in range(0, len(letters), 3)]
    numbers = [sum(LETTERS.index(letter) * len(LETTERS) ** at for at, letter in enumerate(group)) for group in groups]
    return b"".join(number.to_bytes(len(group) - 1) for number, group in zip(numbers, groups, strict=True))
