"""Opens a port for an application, and closes connections that use more of the computer than a viewer needs."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Container
from contextlib import asynccontextmanager

import structlog
from aiohttp import web

from wheeld.page.setting import Address

SHUTDOWN_S = 1.0
"""The time for connections to end. Streams never end by themselves."""
IDLE_S_MAX = 30.0
"""A connection without a request for this long is closed. A browser opens another when it needs one."""
UNREAD_S_MAX = 1.0
"""How long data after an answer is still read, so that its sender gets the answer."""
HANDSHAKE_S_MAX = 10.0
"""A TLS handshake takes a few hundredths of a second, or a few seconds on a bad radio link."""

TROUBLES = {
    errno.EADDRINUSE: "another program uses this port: stop that program, or give another port",
    errno.EADDRNOTAVAIL: "this computer does not have this address: give one of its own addresses",
    errno.EACCES: "only root may open a port below 1024: give a higher port",
}
"""What is wrong with an address, and what to do."""


class _Refused(asyncio.Protocol):
    """Closes a connection beyond the limit."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        transport.abort()


@asynccontextmanager
async def listening(
    app: web.Application,
    address: Address,
    *,
    tls: ssl.SSLContext | None,
    connections_max: int,
    kept: Container[object] | None = None,
) -> AsyncIterator[None]:
    """Keep the port open for the block. A connection beyond `connections_max` is closed at once: all ports of the
    process share the 1,024 files that systemd gives it, and one flooded port would block the others. `kept` has the
    transports of known users. If it is given, the oldest unknown connection is closed instead. Raises OSError."""
    runner = web.AppRunner(
        app,
        access_log=None,
        shutdown_timeout=SHUTDOWN_S,
        keepalive_timeout=IDLE_S_MAX,
        lingering_time=UNREAD_S_MAX,
    )
    await runner.setup()
    try:
        assert runner.server is not None
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        try:
            # Opened here, because the error that asyncio raises has no errno from Python 3.12 on.
            opened = socket.create_server(address, family=family)
        except OSError as wrong:
            why = TROUBLES.get(wrong.errno or 0, str(wrong))
            raise OSError(f"{address.host}:{address.port} cannot be opened: {why}") from None
        server = await asyncio.get_running_loop().create_server(
            _limited(runner.server, connections_max, kept),
            sock=opened,
            ssl=tls,
            ssl_handshake_timeout=None if tls is None else HANDSHAKE_S_MAX,
        )
        try:
            scheme = "http" if tls is None else "https"
            structlog.get_logger("page").info("page.ready", address=f"{scheme}://{address.host}:{address.port}/")
            yield
        finally:
            server.close()
    finally:
        await runner.cleanup()


def _limited(server: web.Server, most: int, kept: Container[object] | None) -> Callable[[], asyncio.Protocol]:
    def accepted() -> asyncio.Protocol:
        if len(server.connections) >= most:
            others = (one for one in server.connections if kept is not None and one.transport not in kept)
            if (stranger := next(others, None)) is None:
                return _Refused()
            stranger.force_close()
        return server()

    return accepted
