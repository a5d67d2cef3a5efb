"""Serves the fleet page until it is asked to stop."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from wheeld.serving import listening
from wheeld_house.page.database import PageDatabase
from wheeld_house.page.login import login_of
from wheeld_house.page.pages import HousePages
from wheeld_house.page.records import HouseRecords
from wheeld_house.page.settings import PageSettings

CONNECTIONS_MAX = 300
"""The most connections at one time. A browser has six at most. A connection beyond this limit is closed at once."""


async def serve(settings: PageSettings) -> None:
    """Serve the page until SIGTERM or SIGINT. Raises SettingsError, and OSError if the port cannot be opened."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with serving(settings) as address:
        logging.getLogger("wheeld_house").warning("page: ready at %s", address)
        await stop.wait()


@asynccontextmanager
async def serving(settings: PageSettings) -> AsyncIterator[str]:
    """Serve the page until the block ends. Yields the address of the page."""
    tls = settings.tls()
    database = PageDatabase(settings.database)
    records = HouseRecords(database, silent_after_s=settings.silent_after_s)
    pages = HousePages(records, login_of(settings), names=settings.names, is_tls=tls is not None)
    try:
        port = listening(pages.application(), settings.address, tls=tls, connections_max=CONNECTIONS_MAX)
        async with port as address:
            yield address
    finally:
        await database.close()
