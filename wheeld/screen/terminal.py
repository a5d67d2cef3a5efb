"""Makes text from outside safe for a terminal: nothing in it controls the terminal, or looks like another line."""

from __future__ import annotations

import re
import unicodedata

_STEERING = re.compile("[\x00-\x1f\x7f-\x9f]")
"""The only characters in a text that can control a terminal. JSON contains none of them, except white space."""


def printable(text: str) -> str:
    """Return a text on one line, with each invisible character as its escape: `\\x1b`."""
    return "".join(
        # French uses spaces at which no line may break. Python does not count them as printable.
        one if one.isprintable() or unicodedata.category(one) == "Zs" else one.encode("unicode_escape").decode()
        for one in text
    )


def printable_bytes(data: bytes) -> bytes:
    """Return a line as it is, byte for byte. Only a line that would control a terminal, or is not text, is escaped."""
    text = data.decode(errors="backslashreplace")
    return printable(text).encode() if text.encode() != data or _STEERING.search(text) else data
