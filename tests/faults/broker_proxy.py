"""A wire between daemon and broker that can be stopped, slowed, and cut at a chosen MQTT packet."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias

PUBLISH, PUBACK, SUBACK = 3, 4, 9
Packet: TypeAlias = tuple[int, bytes]
"""Its type (MQTT 3.1.1, 2.2.1) and all of its bytes."""


class Wire:
    """What happens to packets on their way. The settings may be changed at any time."""

    def __init__(self) -> None:
        self.port = 0
        self.passes = asyncio.Event()
        """While it is clear, nothing goes through, nothing is refused, and the connections stay: a half-open broker."""
        self.passes.set()
        self.delay_s = 0.0
        """Delay of each packet from the broker; with one publication at a time it is a round trip."""
        self.up: Callable[[Packet], bool] = lambda _: True
        """Whether a packet towards the broker goes through."""
        self.down: Callable[[Packet], bool] = lambda _: True
        """Whether a packet from the broker goes through."""
        self.connections = 0
        self._writers: set[asyncio.StreamWriter] = set()

    def cut(self) -> None:
        """End every connection on both sides."""
        for writer in self._writers:
            writer.transport.abort()

    async def carry(self, near: asyncio.StreamReader, near_out: asyncio.StreamWriter, broker_port: int) -> None:
        """Carry one connection to its end."""
        self.connections += 1
        try:
            far, far_out = await asyncio.open_connection("127.0.0.1", broker_port)
        except OSError:
            near_out.transport.abort()
            return
        writers = {near_out, far_out}
        self._writers |= writers
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._one_way(near, far_out, is_up=True))
                group.create_task(self._one_way(far, near_out, is_up=False))
        except* (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            self._writers -= writers
            for writer in writers:
                writer.transport.abort()

    async def _one_way(self, source: asyncio.StreamReader, to: asyncio.StreamWriter, *, is_up: bool) -> None:
        while True:
            packet = await _packet(source)
            await self.passes.wait()
            if not is_up and self.delay_s:
                await asyncio.sleep(self.delay_s)
            if (self.up if is_up else self.down)(packet):
                to.write(packet[1])
                await to.drain()


async def _packet(source: asyncio.StreamReader) -> Packet:
    data = await source.readexactly(1)
    length = shift = 0
    while True:
        byte = await source.readexactly(1)
        data += byte
        length |= (byte[0] & 0x7F) << shift
        shift += 7
        if byte[0] < 0x80:
            return data[0] >> 4, data + await source.readexactly(length)


@asynccontextmanager
async def wire_to(broker_port: int) -> AsyncIterator[Wire]:
    """A wire to the broker at that port until the block ends; connect to `wire.port`."""
    wire, carrying = Wire(), set[asyncio.Task[None]]()

    def accept(near: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
        carrying.add(asyncio.create_task(wire.carry(near, out, broker_port)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    wire.port = server.sockets[0].getsockname()[1]
    try:
        yield wire
    finally:
        server.close()
        wire.cut()
        for task in carrying:
            task.cancel()
        with suppress(ValueError):  # nobody ever connected
            await asyncio.wait(carrying)
