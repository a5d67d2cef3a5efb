"""Reads from the daemon's socket what the wheel's sensors see, while somebody looks at the wheel."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import msgspec
import structlog

LINE_BYTES_MAX = 1_048_576
"""The longest line that is read. The evidence of a long coup has a tenth of this."""
AGAIN_S = 2.0
TROUBLES = {
    errno.ENOENT: "there is no such socket: the wheel does not run, or its [monitor] has another path",
    errno.ECONNREFUSED: "no program listens at this socket: the wheel has stopped",
    errno.EACCES: "this user cannot use the socket: give its directory to his group, as in wheeld's tmpfiles.d",
}
"""What is wrong with the socket and what to do, by error."""


class _Line(msgspec.Struct):
    line: str


class SensorReader:
    """Reads the socket at `path`. `take(kind, line)` gets each line of JSON. `lost` is called when the connection
    ends."""

    def __init__(self, path: Path, *, take: Callable[[str, bytes], None], lost: Callable[[], None]) -> None:
        self._path, self._take, self._lost = path, take, lost
        self._wanted = asyncio.Event()
        self._told = ""
        self._log = structlog.get_logger("page").bind(socket=str(path))

    def want(self, *, is_wanted: bool) -> None:
        """Set whether somebody looks at the wheel. If nobody does, the socket is not read, and the daemon sends no
        lines."""
        if is_wanted:
            self._wanted.set()
        else:
            self._wanted.clear()

    async def run(self) -> NoReturn:
        """Read the socket while somebody looks at the wheel, until cancelled."""
        while True:
            await self._wanted.wait()
            try:
                reader, writer = await asyncio.open_unix_connection(self._path, limit=LINE_BYTES_MAX)
            except OSError as wrong:
                self._tell(TROUBLES.get(wrong.errno or 0, str(wrong)))
                await asyncio.sleep(AGAIN_S)
                continue
            self._tell("")
            try:
                while self._wanted.is_set() and (line := await reader.readline()):
                    self._take(msgspec.json.decode(line, type=_Line).line, line.rstrip(b"\n"))
            except (OSError, ValueError):
                pass  # the daemon has ended, or this is another program's socket
            finally:
                writer.close()
                self._lost()
            if self._wanted.is_set():
                await asyncio.sleep(AGAIN_S)

    def _tell(self, trouble: str) -> None:
        """Log `trouble` if it has changed. An empty text means that nothing is wrong."""
        if trouble != self._told:
            self._log.warning("sensors.not_reached", why=trouble) if trouble else self._log.info("sensors.reached")
        self._told = trouble
