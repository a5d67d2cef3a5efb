"""A simulated board on a pseudo-terminal, paced to the wall clock: what a program sees that opens a serial port.

The host's end is a path of your choice. A host may close and reopen it; a host that does not read blocks the board's
transmitter as USB does, and the board keeps its events meanwhile.
"""

from __future__ import annotations

import asyncio
import os
import tty
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from hw_sim.board import SimBoard
from hw_sim.events import End, SimEvent

READ_BYTES = 4096
"""The size of a pseudo-terminal's own buffer."""
NAP_S_MIN = 0.001
"""At high speeds the board would wake more often than this machine schedules; it then says more at once."""
NAP_S_MAX = 0.02
"""A transmitter that was blocked is tried again so often."""
LINGER_S = 5.0
"""After the last event a host has so long to confirm it: longer than the daemon takes to reopen a line."""


class Pty:
    """A raw pseudo-terminal whose host side appears at `path` while this is entered.

    A symbolic link left at `path` by a run that was killed is replaced; anything else there is an error
    (FileExistsError), since it belongs to someone.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._unsent = b""

    def __enter__(self) -> Self:
        if self.path.is_symlink():
            self.path.unlink()
        self.master, self._slave = os.openpty()
        try:
            tty.setraw(self._slave)
            os.set_blocking(self.master, False)
            self.path.symlink_to(os.ttyname(self._slave))
        except OSError:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.path.unlink(missing_ok=True)
        self._close()

    def _close(self) -> None:
        os.close(self.master)
        os.close(self._slave)  # held open until here: without a slave every read of the master is an error

    @property
    def blocked(self) -> bool:
        """The line takes nothing more: nobody reads at the other end."""
        return bool(self._unsent)

    def read(self) -> bytes:
        """What the host wrote; nothing when it wrote nothing."""
        try:
            return os.read(self.master, READ_BYTES)
        except BlockingIOError:
            return b""

    def write_from(self, board: SimBoard) -> None:
        """Send what `board` has to say, as much as the line takes."""
        while data := self._unsent or board.data_to_send():
            try:
                self._unsent = data[os.write(self.master, data) :]
            except BlockingIOError:
                self._unsent = data
            if self._unsent:
                return


class Player:
    """Plays events to a board in time and carries its bytes over a pty.

    `speed` is simulated seconds a real second; the board's clock simply runs that fast. A host must be configured to
    believe it: a drift limit of 1,000,000 ppm, and a silence time-out that is short of the outages played to it.
    """

    def __init__(
        self, board: SimBoard, pty: Pty, *, speed: float = 1.0, happen: Callable[[SimEvent], None] | None = None
    ) -> None:
        """`happen` is told each event at its time; without it the board sees them all."""
        self.board = board
        self._happen = happen or board.feed
        self._pty = pty
        self._speed = speed
        self._loop = asyncio.get_running_loop()
        self._began_s = self._loop.time()
        self._horizon_us: int | None = 0

    @property
    def now_us(self) -> int:
        """Simulated time since the player was made."""
        return int((self._loop.time() - self._began_s) * self._speed * 1e6)

    async def play(self, events: Iterable[SimEvent], *, linger_s: float = LINGER_S) -> None:
        """Play to the last event, then until a host has confirmed them all or `linger_s` real seconds have passed."""
        self._loop.add_reader(self._pty.master, self._hear)
        try:
            for event in events:
                await self._until(event.t_us)
                if not isinstance(event, End):
                    self._happen(event)
            await self._linger(linger_s)
        finally:
            self._loop.remove_reader(self._pty.master)

    async def _until(self, t_us: int) -> None:
        """Live on to `t_us`; a late player catches up event by event, and still lets the host be heard."""
        self._horizon_us = t_us
        while self.now_us < t_us:
            self._live()
            await asyncio.sleep(self._nap_s(t_us))
        self._live()
        await asyncio.sleep(0)

    async def _linger(self, linger_s: float) -> None:
        self._horizon_us = None
        end_s = self._loop.time() + linger_s
        while self._loop.time() < end_s and self.board.acked_seq < self.board.next_seq:
            self._live()
            await asyncio.sleep(self._nap_s(self.board.wants_us))

    def _nap_s(self, t_us: int) -> float:
        if self._pty.blocked:
            return NAP_S_MAX
        wait_us = min(t_us, self.board.wants_us) - self.now_us
        return min(max(wait_us / self._speed / 1e6, NAP_S_MIN), NAP_S_MAX)

    def _live(self) -> None:
        """Bring the board to now, but never past the event that it has not seen yet, and send what it says."""
        self.board.advance(self.now_us if self._horizon_us is None else min(self.now_us, self._horizon_us))
        self._pty.write_from(self.board)

    def _hear(self) -> None:
        data = self._pty.read()
        self._live()
        self.board.receive(data)
        self._pty.write_from(self.board)
