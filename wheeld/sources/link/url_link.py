"""A serial line over the network, as a byte link: `socket://host:port`, `rfc2217://host:port`.

pyserial supports both, but with blocking calls. So the line is opened, read and written on its own threads, and a
network that does not answer delays nothing else. A link is used once.
"""

from __future__ import annotations

import asyncio
import re
import socket
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import serial

from wheeld.ports import LinkClosedError
from wheeld.sources.link.serial_link import PortUnavailableError

READ_S = 0.2
"""How long the thread waits for bytes before it checks whether it must end."""
READ_BYTES_MAX = 4096
ALIVE_S = 5
"""After a silence this long the kernel probes the serial server, twice at this interval. Bytes may wait for their
acknowledgement for three times as long."""
UNREAD_MAX = 100_000
"""If more pieces of data than this wait to be read, the link is closed. On a socket a piece is often a single byte: a
head then sends so many in a quarter of an hour."""


class UrlLink:
    """A `ByteLink` to `url`. Its own thread opens it. `key`: the key of the configuration that has the URL. `read` also
    raises the errors of `write`."""

    def __init__(self, url: str, baud: int, key: str) -> None:
        self._url, self._baud, self._key = url, baud, key
        self._loop = asyncio.get_running_loop()
        self._pieces: asyncio.Queue[bytes | str] = asyncio.Queue()
        self._over = threading.Event()
        self._port: serial.Serial | None = None
        self._opened = threading.Event()
        self._is_open: asyncio.Future[str] = self._loop.create_future()
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="head-write")
        self._reader = threading.Thread(target=self._run, name="head-read", daemon=True)
        self._reader.start()

    async def opened(self) -> None:
        """Wait until the line is open. Raises PortUnavailableError if it could not be opened."""
        if why := await asyncio.shield(self._is_open):
            raise PortUnavailableError(self._url, why)

    async def read(self) -> bytes:
        """Return the next bytes. Raises `LinkClosedError` at the end, and if the line could not be opened."""
        piece = await self._pieces.get()
        if isinstance(piece, str):
            self._pieces.put_nowait(piece)  # the next call gets this text, too
            raise LinkClosedError(piece)
        return piece

    async def write(self, data: bytes) -> None:
        """Send `data` on the line. If this fails, `read` raises the error."""
        if data and not self._over.is_set():
            self._writer.submit(self._write, data)

    async def close(self) -> None:
        """Release the line. Does nothing if it is already closed."""
        self._over.set()
        self._writer.shutdown(wait=False, cancel_futures=True)

    # --- what runs on the threads ------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # pyserial 3.5 uses deprecated thread calls
                self._port = serial.serial_for_url(self._url, self._baud, timeout=READ_S)
            if (line := _socket_of(self._port)) is not None:
                # The kernel probes a silent serial server, because a server without power does not close its
                # connection.
                line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                line.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, ALIVE_S)
                line.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, ALIVE_S)
                line.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 2)
                line.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 3 * ALIVE_S * 1_000)
            self._opened.set()
            self._on_loop(self._now_open, "")
            while not self._over.is_set():
                data = self._port.read(max(1, min(self._port.in_waiting, READ_BYTES_MAX)))
                if data:
                    self._put(bytes(data))
                if self._pieces.qsize() > UNREAD_MAX:
                    raise OSError("the head sends more than the program reads")
        except (OSError, ValueError, RuntimeError) as wrong:  # pyserial's own errors are OSErrors
            said = re.sub(r"\[Errno -?\d+\] ", "", str(wrong))
            why = f"{said}; is the serial server on, and is its address right: {self._key}?"
            self._on_loop(self._now_open, why)
            self._put(f"{self._url}: {why}")
        else:
            self._put("closed by the host")
        finally:
            self._over.set()
            self._opened.set()
            if self._port is not None:
                # pyserial leaves the socket open if the other end is gone.
                line = _socket_of(self._port)
                self._port.close()
                if line is not None:
                    line.close()

    def _write(self, data: bytes) -> None:
        self._opened.wait()
        if self._port is None or self._over.is_set():
            return
        try:
            self._port.write(data)
        except (OSError, ValueError) as wrong:
            self._put(f"{self._url}: writing failed: {wrong}")

    def _put(self, piece: bytes | str) -> None:
        self._on_loop(self._pieces.put_nowait, piece)

    def _on_loop(self, do: Callable[..., None], what: bytes | str) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(do, what)

    def _now_open(self, why_not: str) -> None:
        if not self._is_open.done():
            self._is_open.set_result(why_not)


def _socket_of(port: serial.Serial) -> socket.socket | None:
    """Return the socket of the port, for both schemes. pyserial has no public name for it."""
    line = getattr(port, "_socket", None)
    return line if isinstance(line, socket.socket) else None
