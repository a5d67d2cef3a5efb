"""Plays a simulated board on a pseudo-terminal, by the wall clock. A program opens the terminal like a serial port.

You choose the path of the host's end. A host may close and reopen it. A host that does not read blocks the board's
transmitter, as with USB. The board keeps its events until it can send them.

The path is a symbolic link to this process's own descriptor of the terminal, `/proc/PID/fd/N`, never to `/dev/pts/N`.
The system gives the number of a closed pseudo-terminal to the next program. If a killed simulator left a link to
`/dev/pts/N`, a host could write to the terminal of another program. A link to a descriptor has no target as soon as its
process has ended.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import random
import re
import resource
import tty
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from hw_sim.board import SimBoard
from hw_sim.events import End, SimEvent
from hw_sim.exits import FileError, told

READ_BYTES = 4096
"""The size of a pseudo-terminal's own buffer."""
NAP_S_MIN = 0.001
"""The shortest sleep. At high speeds this is long for the board, which then sends more data at once."""
NAP_S_MAX = 0.02
"""The longest sleep. After it, a blocked transmitter is tried again."""
DESCRIPTORS = 1024
"""The descriptor in the link is drawn from the upper half of the numbers that a process may use, below this number.
Processes use low numbers first. So another process that gets the PID of a killed one has no descriptor there."""
OURS = re.compile(r"/proc/\d+/fd/\d+")
"""The target of a simulator's link. While the target exists, the simulator runs."""
LINGER_S = 5.0
"""How long a host has to confirm the last event: longer than the daemon takes to reopen a line."""
_NO_PTY = (
    "this system gives no pseudo-terminal, which the simulated wheel needs as its serial port: {}. Where /dev/pts is "
    "not mounted, as in a bare container or chroot, do this in it as root: mkdir -p /dev/pts && "
    "mount -t devpts -o ptmxmode=666 devpts /dev/pts && ln -sf pts/ptmx /dev/ptmx"
)


class Pty:
    """A raw pseudo-terminal whose host side is at `path` until the block ends.

    This replaces a symbolic link at `path`, which a killed simulator may have left. Raises FileExistsError if this link
    belongs to a running simulator or if `path` is another file. Raises FileError if the system has no pseudo-terminals.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._unsent = b""

    def __enter__(self) -> Self:
        if self.path.is_symlink():
            if OURS.fullmatch(str(self.path.readlink())) and self.path.exists():
                raise FileExistsError(
                    errno.EEXIST, "another simulator uses this link: stop it, or choose another path", str(self.path)
                )
            self.path.unlink()
        try:
            self.master, slave = os.openpty()
        except OSError as error:  # the error contains no file name, so it needs our own text
            raise FileError(_NO_PTY.format(told(error))) from error
        # Move the descriptor to a high number, which other programs do not use. The old number is closed.
        limit = min(DESCRIPTORS, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        lowest = random.SystemRandom().randrange(limit // 2, limit - limit // 8)
        self._slave = fcntl.fcntl(slave, fcntl.F_DUPFD_CLOEXEC, lowest)
        os.close(slave)
        self._target = Path(f"/proc/{os.getpid()}/fd/{self._slave}")
        try:
            tty.setraw(self._slave)
            os.set_blocking(self.master, False)
            self.path.symlink_to(self._target)
        except OSError:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.path.is_symlink() and self.path.readlink() == self._target:
            self.path.unlink()
        self._close()

    def _close(self) -> None:
        os.close(self.master)
        os.close(self._slave)  # until now it was open, because without a slave every read of the master fails

    @property
    def blocked(self) -> bool:
        """Whether the line accepts no more bytes, because no program reads at the other end."""
        return bool(self._unsent)

    def read(self) -> bytes:
        """Return the bytes that the host wrote, or no bytes if there are none."""
        try:
            return os.read(self.master, READ_BYTES)
        except BlockingIOError:
            return b""

    def write_from(self, board: SimBoard) -> None:
        """Send the bytes of `board`, as many as the line accepts."""
        while data := self._unsent or board.data_to_send():
            try:
                self._unsent = data[os.write(self.master, data) :]
            except BlockingIOError:
                self._unsent = data
            if self._unsent:
                return


class Player:
    """Plays events to a board at their times and carries its bytes over a pty.

    `speed` is the number of simulated seconds in a real second, also on the board's clock. The host's configuration
    must allow this: a drift limit of 1,000,000 ppm, and a silence time-out shorter than the outages of the scenarios.
    """

    def __init__(
        self, board: SimBoard, pty: Pty, *, speed: float = 1.0, deliver: Callable[[SimEvent], None] | None = None
    ) -> None:
        """`deliver` is called with each event at its time. Without it, the board gets all events."""
        self.board = board
        self._deliver = deliver or board.feed
        self._pty = pty
        self._speed = speed
        self._loop = asyncio.get_running_loop()
        self._began_s = self._loop.time()
        self._horizon_us: int | None = 0

    @property
    def now_us(self) -> int:
        """The simulated time since the creation of the player."""
        return int((self._loop.time() - self._began_s) * self._speed * 1e6)

    async def play(self, events: Iterable[SimEvent], *, linger_s: float = LINGER_S) -> None:
        """Play all events. Then wait until a host has confirmed them, but at most `linger_s` real seconds."""
        self._loop.add_reader(self._pty.master, self._receive)
        try:
            for event in events:
                # Run the board up to `t_us`. A player that is late does not wait between events, but still reads from
                # the host.
                self._horizon_us = event.t_us
                while self.now_us < event.t_us:
                    self._advance()
                    await asyncio.sleep(self._nap_s(event.t_us))
                self._advance()
                await asyncio.sleep(0)
                if not isinstance(event, End):
                    self._deliver(event)
            self._horizon_us = None
            end_s = self._loop.time() + linger_s
            while self._loop.time() < end_s and self.board.acked_seq < self.board.next_seq:
                self._advance()
                await asyncio.sleep(self._nap_s(self.board.wants_us))
        finally:
            self._loop.remove_reader(self._pty.master)

    def _nap_s(self, t_us: int) -> float:
        if self._pty.blocked:
            return NAP_S_MAX
        wait_us = min(t_us, self.board.wants_us) - self.now_us
        return min(max(wait_us / self._speed / 1e6, NAP_S_MIN), NAP_S_MAX)

    def _advance(self) -> None:
        """Advance the board to now, but never past the next event, and send its bytes."""
        self.board.advance(self.now_us if self._horizon_us is None else min(self.now_us, self._horizon_us))
        self._pty.write_from(self.board)

    def _receive(self) -> None:
        data = self._pty.read()
        self._advance()
        self.board.receive(data)
        self._pty.write_from(self.board)
