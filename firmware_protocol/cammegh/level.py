"""The protocol level of a Mercury 360, which is to be `extended` (docs/wheels.md 1.6).

No answer to the command is documented: only the lines themselves prove the level. A box that was restarted falls back
to `advanced`, so the command is repeated while other lines come.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from firmware_protocol.cammegh import events as e
from firmware_protocol.cammegh.commands import END

EXTENDED = "*m2 2 2"
LEVEL_LINES = 4
"""After so many lines the wheel has understood `*m2 2 2`, or never will."""
LEVEL_NS = 10_000_000_000
"""Then it is sent again: someone may have restarted the box."""
Level: TypeAlias = Literal["basic", "advanced", "extended"]


class ProtocolLevel:
    """Asks for the extended level and reports whether the wheel has it.

    `wanted`: False where nothing is to be asked. `outgoing`: where the bytes for the line are put.
    """

    def __init__(self, outgoing: bytearray, *, wanted: bool) -> None:
        self.current: Level | None = None
        """That of the latest line."""
        self._outgoing = outgoing
        self._wanted = wanted
        self._again_ns = 0
        self._lines: int | None = None
        """Lines of another level since it was asked for; None while the level is the wanted one."""

    def ask(self, host_ns: int) -> None:
        """Ask for it, where it is wanted."""
        if self._wanted:
            self._outgoing += EXTENDED.encode("ascii") + END
            self._again_ns, self._lines = host_ns + LEVEL_NS, 0

    def line(self, level: Level, host_ns: int) -> Iterator[e.Event]:
        """A line of `level` has come."""
        self.current = level
        if not self._wanted:
            return
        if level == "extended":
            if self._lines is not None:
                yield e.CommandConfirmed(host_ns, EXTENDED, level)
            self._lines = None
        elif self._lines is not None and self._lines < LEVEL_LINES:
            self._lines += 1
            if self._lines == LEVEL_LINES:
                yield e.CommandIgnored(host_ns, EXTENDED, level)
        elif host_ns >= self._again_ns:
            self.ask(host_ns)
