"""One opening of a serial port, as a byte link on asyncio.

pyserial finds, locks and sets up the port; bytes then go directly between the event loop and the file descriptor, all
that wait at once (`read(1)` is 150 times slower). A link is used once: the first fatal error ends it, and everything
that waits on it or uses it later raises that same error.
"""

from __future__ import annotations

import asyncio
import errno
import os
import termios

import serial

from wheeld.errors import WheeldError
from wheeld.ports import LinkClosedError

READ_BYTES_MAX = 65_536
"""More than the kernel holds back for us (4 kB for a tty), so one read empties it."""
UNSENT_BYTES_MAX = 65_536
"""The host sends some 100 bytes a second. A board that has not taken minutes of that no longer reads."""

_ADVICE: dict[int | None, str] = {
    errno.ENOENT: "the port is not there: is the board plugged in, and does sensors.port name it?",
    errno.ENXIO: "the port is there but no device behind it: is the board plugged in?",
    errno.EACCES: "no permission: `adduser wheeld dialout` lets the daemon use serial ports; then restart it",
    errno.EPERM: "no permission: `adduser wheeld dialout` lets the daemon use serial ports; then restart it",
    errno.EBUSY: "another program holds the port: find it with fuser, or stop ModemManager if it is that",
    errno.EAGAIN: "another program holds the port: find it with fuser, or stop ModemManager if it is that",
    errno.ENOTTY: "this is not a serial port: check sensors.port",
}


class PortUnavailableError(WheeldError, OSError):
    """The port could not be opened. `why` says what to do, and is the same for the same cause."""

    def __init__(self, port: str, why: str) -> None:
        super().__init__(f"{port}: {why}")
        self.why = why


class SerialLink:
    """A `ByteLink` on a serial port that is already open; get one from `open_serial`."""

    def __init__(self, port: serial.Serial) -> None:
        self._port = port
        self._fd: int = port.fileno()
        self._loop = asyncio.get_running_loop()
        self._why: str | None = None
        """Why the link ended; None while it has not."""
        self._awaited: asyncio.Future[bytes] | None = None
        self._is_watched = False
        self._unsent = bytearray()

    async def read(self) -> bytes:
        """The next bytes, all that wait, for one reader at a time; raises `LinkClosedError` at the end."""
        self._check()
        if not self._is_watched:
            self._loop.add_reader(self._fd, self._receive)
            self._is_watched = True
        self._awaited = self._loop.create_future()
        return await self._awaited

    async def write(self, data: bytes) -> None:
        """Hand `data` to the line without waiting; raises `LinkClosedError`, also when the line takes nothing."""
        self._check()
        if len(self._unsent) + len(data) > UNSENT_BYTES_MAX:
            self._end("the board does not read what is sent")
            self._check()
        waiting = bool(self._unsent)
        self._unsent += data
        if not waiting:
            self._send()
            self._check()

    async def close(self) -> None:
        """Release the port; harmless when it is already closed."""
        self._end("closed by the host")

    def _send(self) -> None:
        """Write what the kernel takes now, and the rest when it takes more."""
        try:
            sent = os.write(self._fd, self._unsent)
        except BlockingIOError:
            sent = 0
        except OSError as wrong:
            self._end(f"writing failed: {wrong.strerror}")
            return
        del self._unsent[:sent]
        if self._unsent:
            self._loop.add_writer(self._fd, self._send)
        else:
            self._loop.remove_writer(self._fd)

    def _receive(self) -> None:
        """Give what can be read to who waits for it. While nobody does, it stays in the kernel."""
        if self._awaited is None or self._awaited.done():
            self._loop.remove_reader(self._fd)
            self._is_watched = False
            return
        try:
            data = os.read(self._fd, READ_BYTES_MAX)
        except OSError as wrong:
            self._end(f"reading failed: {wrong.strerror}")
            return
        if data:
            self._awaited.set_result(data)
        else:  # readable and yet empty: the device of the port is gone
            self._end("the device hung up")

    def _check(self) -> None:
        if self._why is not None:
            raise LinkClosedError(self._why)

    def _end(self, why: str) -> None:
        """The first reason stays; the descriptor leaves the loop before its number can belong to another file."""
        if self._why is not None:
            return
        self._why = why
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_exception(LinkClosedError(why))
        self._loop.remove_reader(self._fd)
        self._loop.remove_writer(self._fd)
        self._port.close()


def open_serial(port: str, baud: int) -> SerialLink:
    """Open and lock `port`; raises PortUnavailableError with what to do about it."""
    try:
        return SerialLink(serial.Serial(port, baud, timeout=0, exclusive=True))
    except OSError as wrong:
        raise PortUnavailableError(port, _ADVICE.get(_errno(wrong), str(wrong))) from wrong


def _errno(wrong: OSError) -> int | None:
    """Its own, or that of the terminal error which pyserial made a text of."""
    cause = wrong.__context__
    return cause.args[0] if isinstance(cause, termios.error) else wrong.errno
