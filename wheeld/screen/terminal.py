"""What comes from outside, as a terminal may show it: nothing in it steers the terminal, or looks like another line."""

from __future__ import annotations

import re
import unicodedata

_STEERING = re.compile("[\x00-\x1f\x7f-\x9f]")
"""Of bytes that are text these alone change what a terminal does. JSON has none, but for blanks."""


def printable(text: str) -> str:
    """A text on one line, each character that is not to be seen as its escape: `\\x1b`."""
    return "".join(map(_shown, text))


def printable_bytes(data: bytes) -> bytes:
    """A line as it is, byte for byte; only where it would steer a terminal, or is no text, escaped."""
    text = data.decode(errors="backslashreplace")
    return printable(text).encode() if text.encode() != data or _STEERING.search(text) else data


def _shown(character: str) -> str:
    if character.isprintable() or unicodedata.category(character) == "Zs":  # French has blanks that do not break
        return character
    return character.encode("unicode_escape").decode()
