"""The socket: each listener first gets a description of the wheel, then up to 20 frames a second until it disconnects.

Without a listener no frame is made. A listener that reads too slowly misses frames, and delays no other part. What a
listener sends is ignored: nothing can be requested or changed here.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import NoReturn

import msgspec
import structlog

from wheeld.core.observations import Observation
from wheeld.core.setting import TableSetting
from wheeld.core.step import CoupLog, Step
from wheeld.monitor.lines import Axis, Frame, Glance, Mark, about, axis, marks
from wheeld.ports import HostClock

FRAME_S = 0.05
"""The time between two frames. Twenty a second look smooth to people."""
LISTENERS_MAX = 4
"""The most listeners. A `wheeld page` is one listener, however many people look at it. A listener costs less than 1 %
of a core of a Pi."""
SEEN_MAX = 256
"""The most marks of one frame. A ball makes one or two. Only a faulty sensor, which switches again and again, makes
more: `health` shows it."""
BEHIND_BYTES_MAX = 65_536
"""A listener with more unread bytes than this misses frames."""
AGAIN_S = 10.0
"""The time until the daemon tries again to make a socket that failed. Its directory may exist by then."""


def bound(path: Path) -> socket.socket:
    """Return a socket at this path for its owner and group only. It replaces a socket that a crash has left there.
    Raises OSError."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if path.is_socket():
            path.unlink()
        made.bind(str(path))
        path.chmod(0o660)  # no program can connect yet
    except OSError:
        made.close()
        raise
    return made


class Monitor:
    """Sends to listeners what `glance` returns and what `note` receives.

    `path`: the path of the socket. `setting`: the setting of the table.
    """

    def __init__(self, path: Path, setting: TableSetting, *, clock: HostClock, glance: Callable[[], Glance]) -> None:
        self._path, self._setting, self._clock, self._glance = path, setting, clock, glance
        self._listeners: set[asyncio.StreamWriter] = set()
        self._arrived = asyncio.Event()
        self._seen: list[Mark] = []
        self._void: tuple[CoupLog, bytes] | None = None
        self._axis: Axis | None = None
        self.counters = {"listeners": 0, "refused": 0, "frames": 0, "frames_missed": 0}
        self._log = structlog.get_logger("monitor")

    def note(self, observations: Sequence[Observation]) -> None:
        """Take observations for the next frame. Does nothing without a listener."""
        if self._listeners and len(self._seen) < SEEN_MAX:
            self._seen += marks(observations)
            del self._seen[SEEN_MAX:]

    def note_step(self, step: Step) -> None:
        """Take a step. If a coup became void in it, the axis of this coup is sent."""
        logs = [log for log in step.coup_logs if log.verdict == "void"]
        voids = [message.payload for message in step.messages if message.topic == "void"]
        if logs and voids:
            self._void = logs[-1], voids[-1]

    async def run(self) -> NoReturn:
        """Accept listeners until cancelled. If the socket cannot be made, the daemon goes on: the wheel does not need
        it."""
        is_told = False
        while True:
            try:
                await self._listen()
            except OSError as wrong:
                if not is_told:
                    self._log.error("monitor.not_opened", path=str(self._path), why=str(wrong))
                    is_told = True
                await self._clock.sleep(AGAIN_S)

    async def _listen(self) -> NoReturn:
        with bound(self._path) as made:
            try:
                server = await asyncio.start_unix_server(self._serve, sock=made)
                # `async with` is not used: from Python 3.12 on it waits until every listener has disconnected.
                with closing(server):
                    while True:
                        await self._arrived.wait()
                        self._arrived.clear()
                        while self._listeners:
                            if self._void is not None:  # send the evidence of a void coup once, to all listeners
                                (log, void), self._void = self._void, None
                                self._axis = await asyncio.to_thread(axis, log, void, self._setting)
                                self._send(self._axis)
                            self._send(Frame(glance=self._glance(), seen=tuple(self._seen)))
                            self._seen.clear()
                            await self._clock.sleep(FRAME_S)
            finally:
                for writer in self._listeners:
                    writer.close()
                self._path.unlink(missing_ok=True)

    def _send(self, line: msgspec.Struct) -> None:
        encoded = msgspec.json.encode(line) + b"\n"
        for writer in self._listeners:
            if writer.transport.get_write_buffer_size() > BEHIND_BYTES_MAX:
                self.counters["frames_missed"] += 1
                continue
            writer.write(encoded)
            self.counters["frames"] += 1

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._listeners) >= LISTENERS_MAX:
            self.counters["refused"] += 1
            writer.close()
            return
        self.counters["listeners"] += 1
        for line in (about(self._setting), self._axis):
            if line is not None:
                writer.write(msgspec.json.encode(line) + b"\n")
        self._listeners.add(writer)
        self._arrived.set()
        try:
            with suppress(ConnectionError):
                while await reader.read(1024):
                    pass  # what a listener sends is ignored
        finally:
            self._listeners.discard(writer)
            writer.close()
