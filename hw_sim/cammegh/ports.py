"""The ports of a wheel head, in wall-clock time: a pseudo-terminal, or TCP, like that of a serial device server.

TCP is on the loopback only. It is raw (pyserial's `socket://`) or uses RFC 2217 (pyserial's `rfc2217://`). Bytes that
the host does not read are lost, as on RS-232 without flow control.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace

import serial
from serial import rfc2217

from hw_sim.cammegh.head import SimHead
from hw_sim.pty_link import Pty

LOOPBACK = "127.0.0.1"
NAP_S_MAX = 0.02
"""The head reads the bytes of a host within this time."""
UNSENT_BYTES_MAX = 65_536
"""The most bytes that wait for a host: the lines of several minutes. A host with so many unread bytes does not read at
all."""


class Pace:
    """Runs a head with `speed` simulated seconds in each real second, and sends the head's bytes to every port."""

    def __init__(self, head: SimHead, *, speed: float = 1.0) -> None:
        self.head = head
        self.ports: list[Callable[[bytes], None]] = []
        self.listeners: list[Callable[[], bytes]] = []
        """Functions that return what a host wrote, for ports that must be polled."""
        self._speed = speed

    async def run(self) -> None:
        """Run until the head has no more coups."""
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        while not self.head.over:
            for listen in self.listeners:
                self.head.receive(listen())
            self.head.advance(int((loop.time() - began_s) * self._speed * 1e6))
            self.flush()
            await asyncio.sleep(min(NAP_S_MAX, 0.2 / self._speed))

    def flush(self) -> None:
        """Send the bytes of the head to every port."""
        data = self.head.data_to_send()
        if data:
            for send in self.ports:
                send(data)

    def on_pty(self, pty: Pty) -> None:
        """Use `pty` as a port. Its `with` block must have begun."""

        def send(data: bytes) -> None:
            with contextlib.suppress(BlockingIOError):
                os.write(pty.master, data)

        self.ports.append(send)
        self.listeners.append(pty.read)


class RawPort(asyncio.Protocol):
    """One connection that passes bytes unchanged."""

    def __init__(self, pace: Pace) -> None:
        self.pace = pace
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Add the connection of a host."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.pace.ports.append(self.send)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  asyncio passes this argument
        """Remove the connection of the host."""
        self.pace.ports.remove(self.send)

    def data_received(self, data: bytes) -> None:
        """Pass on what the host wrote."""
        self.pace.head.receive(data)

    def send(self, data: bytes) -> None:
        """Send bytes of the wheel."""
        assert self.transport is not None
        if self.transport.get_write_buffer_size() <= UNSENT_BYTES_MAX:
            self.transport.write(data)


class Rfc2217Port(RawPort):
    """One connection with RFC 2217. A host may set the baud rate, but there is no real port."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Add the connection of a host, and negotiate the telnet options."""
        super().connection_made(transport)
        self._nowhere = serial.serial_for_url("loop://", 9600)
        # `PortManager` accepts any port, and any object that has `write`. Its type stubs ask for more.
        network = SimpleNamespace(write=super().send)
        self._manager = rfc2217.PortManager(self._nowhere, network)  # type: ignore[arg-type]

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection of the host."""
        super().connection_lost(exc)
        self._nowhere.close()

    def data_received(self, data: bytes) -> None:
        """Pass on what the host wrote, except the telnet commands."""
        super().data_received(b"".join(self._manager.filter(data)))

    def send(self, data: bytes) -> None:
        """Send bytes of the wheel, escaped for telnet."""
        super().send(b"".join(self._manager.escape(data)))


@asynccontextmanager
async def on_tcp(pace: Pace, port: int, *, rfc: bool) -> AsyncIterator[int]:
    """Listen on the loopback until the block ends. Yields the port number, which is `port` unless that is 0."""
    server = await asyncio.get_running_loop().create_server(
        lambda: (Rfc2217Port if rfc else RawPort)(pace), LOOPBACK, port
    )
    try:
        number: int = server.sockets[0].getsockname()[1]
        yield number
    finally:
        server.close()
        for one in pace.ports:
            owner = getattr(one, "__self__", None)
            if isinstance(owner, RawPort) and owner.transport is not None:
                owner.transport.abort()  # otherwise a host that reads nothing would keep the connection open
