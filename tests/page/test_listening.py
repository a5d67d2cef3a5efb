"""A port: how many connections it takes, and for how long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from aiohttp import web

from tests.mosquitto import free_port
from wheeld.page.setting import Address
from wheeld.serving import listening


class Connection:
    """Of a browser."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def is_answered(self) -> bool:
        try:
            self._writer.write(b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
            return (await self._reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        except (ConnectionError, asyncio.IncompleteReadError):
            return False

    async def begins(self, sent: bytes) -> None:
        self._writer.write(sent)
        await self._writer.drain()

    async def is_closed_after(self, sent: bytes) -> bool:
        self._writer.write(sent)
        return await self._reader.read() == b""


@asynccontextmanager
async def connected(address: Address) -> AsyncIterator[Connection]:
    reader, writer = await asyncio.open_connection(*address)
    try:
        yield Connection(reader, writer)
    finally:
        writer.close()


@asynccontextmanager
async def port(connections_max: int, kept: set[object] | None = None) -> AsyncIterator[Address]:
    async def _here(request: web.Request) -> web.Response:
        if kept is not None:
            kept.add(request.transport)
        return web.Response(text="here")

    app = web.Application()
    app.router.add_get("/", _here)
    address = Address("127.0.0.1", free_port())
    async with listening(app, address, tls=None, connections_max=connections_max, kept=kept), asyncio.timeout(30):
        yield address


async def test_connections_beyond_the_limit_are_closed_and_the_others_go_on() -> None:
    async with port(2) as address, AsyncExitStack() as held:
        first = await held.enter_async_context(connected(address))
        assert await first.is_answered()
        async with connected(address) as second:
            assert await second.is_answered()
            async with connected(address) as third:
                assert not await third.is_answered()
            assert await first.is_answered()
        while True:  # until the server has seen that the second left
            async with connected(address) as fourth:
                if await fourth.is_answered():
                    break


async def test_who_connects_and_asks_nothing_whole_is_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wheeld.serving.IDLE_S_MAX", 0.05)
    async with port(2) as address, connected(address) as slow:
        assert await slow.is_closed_after(b"GET / HTTP/1.1\r\nHo")


async def test_unfinished_requests_take_no_place_of_who_is_known_or_comes() -> None:
    """The oldest of those of whom nothing is known goes for the next one."""
    async with port(3, set()) as address, AsyncExitStack() as held:
        known = await held.enter_async_context(connected(address))
        assert await known.is_answered()
        for _ in range(20):
            await (await held.enter_async_context(connected(address))).begins(b"POST / HTTP/1.1\r\nHost: x\r\n")
        newest = await held.enter_async_context(connected(address))
        assert await newest.is_answered()
        assert await known.is_answered()
        third = await held.enter_async_context(connected(address))
        assert await third.is_answered()
        fourth = await held.enter_async_context(connected(address))
        assert not await fourth.is_answered(), "all places are of those who are known"
