"""Split bytes into lines. `status` parses the lines."""

from __future__ import annotations

import re

LINE_BYTES_MAX = 128
"""The longest known line, the answer to `*V`, has 69 characters. Noise cannot use more memory than this."""

_END = re.compile(rb"[\r\n]")
_FRESH = re.compile(rb"[*\r\n]")
CAUSES = ("torn", "too_long", "not_text")
"""The causes that `LineDecoder.rejected` counts: cut off by the next `*`, longer than a line can be, and not plain
text."""


class LineDecoder:
    """Finds the lines in a stream of bytes that arrives in slices of any size.

    A line ends with CR, LF or both (docs/wheels.md 1.1). `*` always begins a line, so if the text before a `*` has no
    such end, it was torn. This text is dropped even if it looks complete, because nothing shows where the line would
    have ended. The decoder holds at most one unfinished line.
    """

    def __init__(self) -> None:
        self.rejected: dict[str, int] = dict.fromkeys(CAUSES, 0)
        self._tail = b""
        self._skipping = False

    def feed(self, data: bytes) -> list[str]:
        """Return the lines that `data` completes, without their ends, oldest first. Empty lines are dropped."""
        if self._skipping:
            fresh = _FRESH.search(data)
            if fresh is None:
                return []
            data = data[fresh.start() :]
            self._skipping = False
        *pieces, self._tail = _END.split(self._tail + data)
        lines: list[str] = []
        for piece in filter(None, pieces):
            line = self._last_of(piece)
            text = line.decode("latin-1")
            if len(line) > LINE_BYTES_MAX:
                self.rejected["too_long"] += 1
            elif text.isascii() and text.isprintable():
                lines.append(text)
            else:
                self.rejected["not_text"] += 1
        if len(self._tail) > LINE_BYTES_MAX:
            self._tail = self._last_of(self._tail)
        if len(self._tail) > LINE_BYTES_MAX:
            self.rejected["too_long"] += 1
            self._tail, self._skipping = b"", True
        return lines

    def reset(self) -> None:
        """Drop the unfinished line, because the port was opened again."""
        self._tail, self._skipping = b"", False

    def _last_of(self, piece: bytes) -> bytes:
        """Return `piece` from its last `*` on. The text before it was torn, and is counted."""
        *torn, last = piece.split(b"*")
        self.rejected["torn"] += sum(map(bool, torn))
        return b"*" + last if torn else last
