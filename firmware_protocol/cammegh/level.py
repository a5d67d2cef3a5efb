"""The protocol level of a Mercury 360, which is set to `extended` (docs/wheels.md 1.6).

No answer to the command is documented, so only the lines themselves prove the level. A box returns to `advanced` when
it is restarted, so the command is repeated while lines of another level come.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from firmware_protocol.cammegh import events as e
from firmware_protocol.cammegh.commands import END

EXTENDED = "*m2 2 2"
LEVEL_LINES = 4
"""After this many lines the wheel has either followed `*m2 2 2` or ignored it."""
LEVEL_NS = 10_000_000_000
"""The command is sent again after this time, because someone may have restarted the box."""
Level: TypeAlias = Literal["basic", "advanced", "extended"]


class ProtocolLevel:
    """Asks for the extended level and reports whether the wheel has it.

    `wanted`: False if no command may be sent. `outgoing`: the buffer for the bytes to send.
    """

    def __init__(self, outgoing: bytearray, *, wanted: bool) -> None:
        self.current: Level | None = None
        """The level of the latest line."""
        self._outgoing = outgoing
        self._wanted = wanted
        self._again_ns = 0
        self._lines: int | None = None
        """The number of lines of another level since the command. None while the level is the wanted one."""

    def ask(self, host_ns: int) -> None:
        """Send the command for the extended level, if it is wanted."""
        if self._wanted:
            self._outgoing += EXTENDED.encode("ascii") + END
            self._again_ns, self._lines = host_ns + LEVEL_NS, 0

    def line(self, level: Level, host_ns: int) -> Iterator[e.Event]:
        """Process a line of `level`."""
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
