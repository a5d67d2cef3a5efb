"""The floor of a daemon, a process of its own: decoding, and for each button one commit and one publication.

`python -m tests.bench.bare PTY PORT JOURNAL MODULES…` imports the modules named, as many libraries as the daemon has.
`Client` is the least that speaks MQTT 3.1.1 over asyncio; the bench listens with it, too.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import sqlite3
import struct
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from firmware_protocol import messages as m
from firmware_protocol.codec import FrameDecoder, encode_frame
from firmware_protocol.wire import decode_from_board, encode

TOPIC = "wheel/v1/bench/wheel-1/notice"
READY = "wheel/v1/bench/wheel-1/availability"
RECORD = bytes(1_500)
PAYLOAD = b'{"notice":"refused"}'.ljust(400)


class Client(asyncio.Protocol):
    """One connection; `hear` gets each message that comes. Use `connect`."""

    def __init__(self, name: str, hear: Callable[[str, bytes], None]) -> None:
        self._hear, self._name = hear, name
        self._buffer = bytearray()
        self._mid = 0
        self._waiting: dict[int, asyncio.Future[None]] = {}

    @classmethod
    async def connect(cls, port: int, name: str, hear: Callable[[str, bytes], None] = lambda *_: None) -> Client:
        loop = asyncio.get_running_loop()
        _, client = await loop.create_connection(lambda: cls(name, hear), "127.0.0.1", port)
        await client._wait(0)
        return client

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport
        self._send(0x10, b"\x00\x04MQTT\x04\x02\x00\x00" + _text(self._name))

    async def subscribe(self, topic: str) -> None:
        self._mid += 1
        self._send(0x82, struct.pack("!H", self._mid) + _text(topic) + b"\x01")
        await self._wait(self._mid)

    async def publish(self, topic: str, payload: bytes) -> None:
        """QoS 1; returns when the broker has confirmed it."""
        self._mid = self._mid % 65_535 + 1
        self._send(0x32, _text(topic) + struct.pack("!H", self._mid) + payload)
        await self._wait(self._mid)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (packet := self._packet()) is not None:
            kind, body = packet
            if kind >> 4 == 3:
                end = 2 + int.from_bytes(body[:2], "big")
                at = end + (2 if kind & 6 else 0)
                if kind & 6:
                    self._send(0x40, body[end:at])
                self._hear(body[2:end].decode(), body[at:])
            else:  # the broker's answer to CONNECT has no number
                self._waiting.pop(0 if kind == 0x20 else int.from_bytes(body[:2], "big")).set_result(None)

    def _packet(self) -> tuple[int, bytes] | None:
        length = shift = 0
        for at in range(1, len(self._buffer)):
            length |= (self._buffer[at] & 127) << shift
            shift += 7
            if self._buffer[at] < 128:
                if len(self._buffer) <= at + length:
                    return None
                kind, body = self._buffer[0], bytes(self._buffer[at + 1 : at + 1 + length])
                del self._buffer[: at + 1 + length]
                return kind, body
        return None

    def _send(self, kind: int, body: bytes) -> None:
        length, rest = b"", len(body)
        while rest > 127:
            length += bytes([rest & 127 | 128])
            rest >>= 7
        self._transport.write(bytes([kind]) + length + bytes([rest]) + body)

    async def _wait(self, mid: int) -> None:
        answered = self._waiting[mid] = asyncio.get_running_loop().create_future()
        await answered


def _text(text: str) -> bytes:
    return struct.pack("!H", len(text)) + text.encode()


class Bare:
    """One WAL commit, FULL, on a thread of its own, and one publication, for each button that is decoded."""

    def __init__(self, line: int, client: Client, journal: Path) -> None:
        self._line, self._client, self._path = line, client, journal
        self._decoder = FrameDecoder()
        self._thread = ThreadPoolExecutor(1, initializer=self._open)
        self._tasks: set[asyncio.Task[None]] = set()

    def read(self) -> None:
        for frame in self._decoder.feed(os.read(self._line, 65_536)):
            message = decode_from_board(frame)
            if isinstance(message, m.Events):
                for one in message.events:
                    if isinstance(one.event, m.ButtonPress):
                        task = asyncio.create_task(self._tell())
                        self._tasks.add(task)
                        task.add_done_callback(self._tasks.discard)

    async def _tell(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._commit)
        await self._client.publish(TOPIC, PAYLOAD)

    def _open(self) -> None:
        self._db = sqlite3.connect(self._path, isolation_level=None)
        for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "CREATE TABLE records (body BLOB)"):
            self._db.execute(statement)

    def _commit(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        self._db.execute("INSERT INTO records VALUES (?)", (RECORD,))
        self._db.execute("COMMIT")


async def main(pty: Path, port: int, journal: Path) -> None:
    client = await Client.connect(port, "bare")
    line = os.open(pty, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    bare = Bare(line, client, journal)
    asyncio.get_running_loop().add_reader(line, bare.read)
    os.write(line, encode_frame(encode(m.Hello(1, m.VERSION, m.VERSION))))
    await client.publish(READY, b'{"state":"online"}')
    await asyncio.Event().wait()


if __name__ == "__main__":
    for module in sys.argv[4:]:
        importlib.import_module(module)
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])))
