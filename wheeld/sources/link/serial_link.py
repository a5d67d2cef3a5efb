"""One opening of a serial port, as a byte link on asyncio.

pyserial finds, locks and sets up the port. After that the event loop reads and writes the file descriptor directly, and
reads all waiting bytes at once (`read(1)` is 150 times slower). A link is used once. The first fatal error ends the
link, and each waiting or later call raises the same error.
"""

from __future__ import annotations

import asyncio
import errno
import os
import termios
from pathlib import Path

import serial

from wheeld.errors import WheeldError
from wheeld.ports import LinkClosedError

READ_BYTES_MAX = 65_536
"""The kernel keeps less than this (4 kB for a tty), so one read takes everything."""
UNSENT_BYTES_MAX = 65_536
"""The host sends about 100 bytes a second. If this many bytes wait, the device has not read for minutes."""

COMMAND_CHARACTERS_MAX = 100
"""A process that has a port open is shown with so many characters of its command."""

_NO_PORT = "this is not a serial port: correct {key}"
_ADVICE: dict[int | None, str] = {
    errno.ENOENT: "the port is not there: is the device plugged in? If it is, correct {key}",
    errno.ENXIO: "the port exists, but no device is connected to it: is the device plugged in? If it is, correct {key}",
    errno.EACCES: "no permission: `adduser wheeld dialout` lets the daemon use serial ports; then restart it",
    errno.EPERM: "no permission: the wheel's unit may open serial ports only (DeviceAllow=): correct {key}",
    errno.ENOTTY: _NO_PORT,
    errno.EISDIR: _NO_PORT,
}
"""What to do about an error. `key` is the key of the configuration that names the port."""


class PortUnavailableError(WheeldError, OSError):
    """The port could not be opened. `why` says what to do. The same cause always has the same text."""

    def __init__(self, port: str, why: str) -> None:
        super().__init__(f"{port}: {why}")
        self.why = why


class SerialLink:
    """A `ByteLink` on a serial port that is already open. `open_serial` returns one."""

    def __init__(self, port: serial.Serial) -> None:
        self._port = port
        self._fd: int = port.fileno()
        self._loop = asyncio.get_running_loop()
        self._why: str | None = None
        """Why the link ended. None while it is open."""
        self._awaited: asyncio.Future[bytes] | None = None
        self._is_watched = False
        self._unsent = bytearray()

    async def read(self) -> bytes:
        """Return all waiting bytes, or wait for bytes. One caller may wait. Raises `LinkClosedError` at the end."""
        self._check()
        if not self._is_watched:
            self._loop.add_reader(self._fd, self._receive)
            self._is_watched = True
        self._awaited = self._loop.create_future()
        return await self._awaited

    async def write(self, data: bytes) -> None:
        """Send `data` on the line without waiting. Raises `LinkClosedError` if the link has ended, or if the line
        accepts no more data."""
        self._check()
        if len(self._unsent) + len(data) > UNSENT_BYTES_MAX:
            self._end("the device does not read what is sent")
            self._check()
        waiting = bool(self._unsent)
        self._unsent += data
        if not waiting:
            self._send()
            self._check()

    async def close(self) -> None:
        """Release the port. Does nothing if it is already closed."""
        self._end("closed by the host")

    def _send(self) -> None:
        """Write as much as the kernel accepts now, and the rest when it accepts more."""
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
        """Pass the bytes to the waiting caller of `read`. While no caller waits, the bytes stay in the kernel."""
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
        else:  # the port is readable but gives no bytes: its device was removed
            self._end("the device was unplugged, or ended the connection")

    def _check(self) -> None:
        if self._why is not None:
            raise LinkClosedError(self._why)

    def _end(self, why: str) -> None:
        """End the link and keep only the first reason. The loop must forget the descriptor before the port is closed:
        a new file may get the same number."""
        if self._why is not None:
            return
        self._why = why
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_exception(LinkClosedError(why))
        self._loop.remove_reader(self._fd)
        self._loop.remove_writer(self._fd)
        self._port.close()


def open_serial(port: str, baud: int, key: str, *, ready: bool = True) -> SerialLink:
    """Open and lock `port`, which `key` of the configuration names. Raises PortUnavailableError, which says what to do.

    `ready`: whether DTR and RTS are on. A converter may need them for its power, but they reset many boards.
    """
    line = serial.Serial(None, baud, timeout=0, exclusive=True)
    line.port, line.dtr, line.rts = port, ready, ready
    try:
        line.open()
        return SerialLink(line)
    except OSError as wrong:
        cause = wrong.__context__  # pyserial converts an error of the terminal to a text, and leaves out its number
        code = cause.args[0] if isinstance(cause, termios.error) else wrong.errno
        if code in (errno.EBUSY, errno.EAGAIN):
            why = "a program of another user holds the port: run `wheeld doctor` as root to see which"
            # A program that has not locked the port does not keep us out of one that is locked.
            if (holder := holder_of(port, has_locked=code == errno.EAGAIN)) is not None:
                why = f"process {holder[0]} holds the port ({holder[1]}): stop that process, or correct {{key}}"
        elif os.path.isfile(port):  # `Path.is_file` would raise an error if a directory cannot be read
            why = _NO_PORT
        else:
            why = _ADVICE.get(code, f"{os.strerror(code) if code else wrong}: check the device, and {{key}}")
        raise PortUnavailableError(port, why.replace("{key}", key)) from wrong


def holder_of(port: str, *, has_locked: bool = False) -> tuple[str, str] | None:
    """Return the number and the command of the process that has the port open. If there are several such processes,
    prefer one that has locked the port, and with `has_locked` return no other. None if this user can see no such
    process: a user sees only his own processes."""
    found: dict[bool, tuple[str, str]] = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            device = os.stat(port).st_rdev
            for file in (process / "fd").iterdir():
                if os.stat(file).st_rdev == device:
                    words = (process / "cmdline").read_text(errors="replace").split("\0")
                    command = "".join(filter(str.isprintable, " ".join(words).strip()))[:COMMAND_CHARACTERS_MAX]
                    is_locked = "FLOCK" in (process / "fdinfo" / file.name).read_text()
                    found[is_locked] = process.name, command
        except OSError:  # the process has ended, or belongs to another user
            continue
    return found.get(True, None if has_locked else found.get(False))
