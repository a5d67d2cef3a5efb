"""A serial line over the network, against real sockets on loopback."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs

from tests.mosquitto import free_port
from wheeld.ports import LinkClosedError
from wheeld.service.host_clock import SystemClock
from wheeld.sources.link.serial_link import PortUnavailableError
from wheeld.sources.link.supervisor import LinkSupervisor
from wheeld.sources.link.url_link import UrlLink

PATIENCE_S = 20.0


@asynccontextmanager
async def box() -> AsyncIterator[tuple[str, asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]]:
    """A converter's TCP port: its URL, and the connections to it."""
    callers: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()

    def called(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        callers.put_nowait((reader, writer))

    server = await asyncio.start_server(called, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield f"socket://127.0.0.1:{port}", callers


async def read_until(link: UrlLink, complete: Callable[[bytes], bool]) -> bytes:
    received = b""
    async with asyncio.timeout(PATIENCE_S):
        while not complete(received):
            received += await link.read()
    return received


async def test_bytes_go_both_ways() -> None:
    async with box() as (url, callers):
        link = UrlLink(url, 9600, "port")
        await link.write(b"*X\r")  # before it is open: nothing of it is lost
        reader, writer = await callers.get()
        assert await asyncio.wait_for(reader.readexactly(3), PATIENCE_S) == b"*X\r"
        writer.write(b"*X;2;011;34;0;150;1\r\n")
        assert await read_until(link, lambda received: received.endswith(b"\n")) == b"*X;2;011;34;0;150;1\r\n"
        await link.close()
        await link.close()
        with pytest.raises(LinkClosedError, match="closed by the host"):
            await read_until(link, lambda _: False)
        writer.close()


async def test_a_box_that_hangs_up_ends_the_link_for_everyone() -> None:
    async with box() as (url, callers):
        link = UrlLink(url, 9600, "port")
        _, writer = await callers.get()
        writer.close()
        for _ in range(2):
            with pytest.raises(LinkClosedError, match="is the serial server on"):
                await read_until(link, lambda _: False)
        await link.write(b"*X\r")
        await link.close()


async def test_the_socket_of_a_box_that_is_gone_is_closed() -> None:
    """Its power was cut and came back: it answers a connection that it has lost by a reset."""
    async with box() as (url, callers):
        link = UrlLink(url, 9600, "port")
        _, writer = await callers.get()
        await link.opened()
        held = getattr(link._port, "_socket")  # noqa: B009  pyserial's stubs do not have it
        writer.transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
        writer.transport.abort()
        with pytest.raises(LinkClosedError):
            await read_until(link, lambda _: False)
        await asyncio.to_thread(link._reader.join, PATIENCE_S)
        assert held.fileno() == -1
        await link.close()


@pytest.mark.parametrize("scheme", ["socket", "rfc2217", "nonsense"])
async def test_the_first_read_fails_when_nobody_is_there(scheme: str) -> None:
    link = UrlLink(f"{scheme}://127.0.0.1:{free_port()}", 9600, "port")
    with pytest.raises(LinkClosedError, match="is its address right: port"):
        await asyncio.wait_for(link.read(), PATIENCE_S)
    await link.close()


async def test_a_box_that_refuses_is_one_line_however_often_it_does() -> None:
    url, tried = f"socket://127.0.0.1:{free_port()}", asyncio.Semaphore(0)

    def open_link() -> UrlLink:
        tried.release()
        return UrlLink(url, 9600, "port")

    async def serve(link: UrlLink) -> None:
        raise AssertionError("it is not open")

    supervisor = LinkSupervisor(open_link, serve, clock=SystemClock(), jitter=lambda: 0.0)
    with capture_logs() as logs:
        task = asyncio.create_task(supervisor.run())
        async with asyncio.timeout(PATIENCE_S):
            for _ in range(4):
                await tried.acquire()
        task.cancel()
        await asyncio.wait([task])
    assert [entry["event"] for entry in logs] == ["link.unavailable"]
    assert supervisor.opened_count == 0


async def test_an_open_line_is_kept_alive_and_a_refused_one_has_a_reason() -> None:
    async with box() as (url, callers):
        link = UrlLink(url, 9600, "port")
        await asyncio.wait_for(link.opened(), PATIENCE_S)
        line = link._port._socket  # type: ignore[union-attr]
        assert line.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        await link.close()
        (await callers.get())[1].close()
    with pytest.raises(PortUnavailableError, match="is the serial server on"):
        await asyncio.wait_for(UrlLink(url, 9600, "port").opened(), PATIENCE_S)
