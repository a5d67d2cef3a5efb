"""Serves the fleet page until it is asked to stop."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from wheeld_house.page.database import PageDatabase
from wheeld_house.page.login import login_of
from wheeld_house.page.pages import HousePages
from wheeld_house.page.records import HouseRecords
from wheeld_house.page.settings import PageSettings

CONNECTIONS_MAX = 300
"""A browser has six at most. A connection beyond this is closed at once."""
IDLE_S_MAX = 30.0
SHUTDOWN_S = 1.0
UNREAD_S_MAX = 1.0
HANDSHAKE_S_MAX = 10.0


async def serve(settings: PageSettings) -> None:
    """Serve until SIGTERM or SIGINT. Raises SettingsError, and OSError if the port cannot be opened."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with serving(settings) as address:
        logging.getLogger("wheeld_house").warning("page: ready at %s", address)
        await stop.wait()


@asynccontextmanager
async def serving(settings: PageSettings) -> AsyncIterator[str]:
    """Keep the port open for the block. Gives the address of the page."""
    tls = settings.tls()
    database = PageDatabase(settings.database)
    records = HouseRecords(database, silent_after_s=settings.silent_after_s)
    pages = HousePages(records, login_of(settings), names=settings.names, is_tls=tls is not None)
    runner = web.AppRunner(
        pages.application(),
        access_log=None,
        shutdown_timeout=SHUTDOWN_S,
        keepalive_timeout=IDLE_S_MAX,
        lingering_time=UNREAD_S_MAX,
    )
    await runner.setup()
    try:
        assert runner.server is not None
        host, port = settings.address
        opened = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        server = await asyncio.get_running_loop().create_server(
            _limited(runner.server),
            sock=opened,
            ssl=tls,
            ssl_handshake_timeout=None if tls is None else HANDSHAKE_S_MAX,
        )
        try:
            named = f"[{host}]" if ":" in host else host
            yield f"{'http' if tls is None else 'https'}://{named}:{opened.getsockname()[1]}/"
        finally:
            server.close()
    finally:
        await runner.cleanup()
        await database.close()


class _Refused(asyncio.Protocol):
    """Closes a connection beyond the limit."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        transport.abort()


def _limited(server: web.Server) -> Callable[[], asyncio.Protocol]:
    def accepted() -> asyncio.Protocol:
        return _Refused() if len(server.connections) >= CONNECTIONS_MAX else server()

    return accepted
