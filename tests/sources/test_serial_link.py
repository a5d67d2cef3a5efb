"""The serial link on a real pty, whose other end the test holds."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import subprocess
import sys
import termios
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import serial

from wheeld.ports import LinkClosedError
from wheeld.sources.link.serial_link import UNSENT_BYTES_MAX, PortUnavailableError, SerialLink, open_serial

PATIENCE_S = 10
"""For events that come at once; only a defect waits so long."""


class Pty:
    """A board's end (`board_fd`) and the name of the port that the host opens."""

    def __init__(self) -> None:
        self.board_fd, self._host_fd = os.openpty()
        self.name = os.ttyname(self._host_fd)
        self._open = [self.board_fd, self._host_fd]

    def unplug(self) -> None:
        """The board goes away."""
        while self._open:
            os.close(self._open.pop())


@pytest.fixture
def pty() -> Iterator[Pty]:
    line = Pty()
    yield line
    line.unplug()


@pytest.fixture
async def link(pty: Pty) -> AsyncIterator[SerialLink]:
    opened = open_serial(pty.name, 115200, "port")
    yield opened
    await opened.close()


async def test_bytes_go_both_ways_as_they_are(pty: Pty, link: SerialLink) -> None:
    everything = bytes(range(256))
    os.write(pty.board_fd, everything)
    assert await link.read() == everything
    await link.write(everything)
    assert os.read(pty.board_fd, 1000) == everything


@pytest.mark.parametrize(("ready", "wanted"), [(True, termios.TIOCMBIS), (False, termios.TIOCMBIC)])
async def test_the_lines_on_which_boards_reset_are_on_or_off(
    ready: bool, wanted: int, pty: Pty, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pty has none of them, so what the kernel is asked is written down."""
    asked: list[tuple[int, bytes]] = []

    def ioctl(_: int, what: int, argument: bytes = b"") -> bytes:
        asked.append((what, argument))
        return argument

    monkeypatch.setattr(fcntl, "ioctl", ioctl)
    link = open_serial(pty.name, 115200, "port", ready=ready)
    lines = {what for what, _ in asked} & {termios.TIOCMBIS, termios.TIOCMBIC}
    of = [int.from_bytes(argument, sys.byteorder) for what, argument in asked if what in lines]
    assert (lines, of) == ({wanted}, [termios.TIOCM_DTR, termios.TIOCM_RTS])
    await link.close()


async def test_read_waits_for_bytes(pty: Pty, link: SerialLink) -> None:
    reading = asyncio.create_task(link.read())
    await asyncio.sleep(0)
    assert not reading.done()
    os.write(pty.board_fd, b"late")
    assert await asyncio.wait_for(reading, PATIENCE_S) == b"late"


async def test_a_reader_that_gives_up_leaves_the_link_usable(pty: Pty, link: SerialLink) -> None:
    reading = asyncio.create_task(link.read())
    await asyncio.sleep(0)
    reading.cancel()
    await asyncio.wait([reading])
    os.write(pty.board_fd, b"x")
    assert await asyncio.wait_for(link.read(), PATIENCE_S) == b"x"


async def test_every_later_caller_gets_the_first_reason(pty: Pty, link: SerialLink) -> None:
    reading = asyncio.create_task(link.read())
    await asyncio.sleep(0)
    pty.unplug()
    with pytest.raises(LinkClosedError, match="the device was unplugged"):
        await asyncio.wait_for(reading, PATIENCE_S)
    await link.close()
    with pytest.raises(LinkClosedError, match="the device was unplugged"):
        await link.write(b"x")
    with pytest.raises(LinkClosedError, match="the device was unplugged"):
        await link.read()


async def test_a_closed_link_is_an_error_for_who_waits(link: SerialLink) -> None:
    reading = asyncio.create_task(link.read())
    await asyncio.sleep(0)
    await link.close()
    await link.close()
    with pytest.raises(LinkClosedError, match="closed by the host"):
        await asyncio.wait_for(reading, PATIENCE_S)


async def test_an_error_in_reading_ends_the_link(pty: Pty, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_fd: int, _count: int) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    link = open_serial(pty.name, 115200, "port")
    os.write(pty.board_fd, b"x")
    with monkeypatch.context() as patch:
        patch.setattr(os, "read", fail)
        with pytest.raises(LinkClosedError, match="reading failed: Input/output error"):
            await link.read()


async def test_writing_to_a_line_that_is_gone(pty: Pty, link: SerialLink) -> None:
    pty.unplug()
    with pytest.raises(LinkClosedError, match="writing failed"):
        await link.write(b"x")


def fill(fd: int) -> int:
    """Write until the kernel takes no more; how many bytes that were."""
    written = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            written += os.write(fd, b"-" * 1000)
    return written


async def test_what_the_kernel_does_not_take_is_sent_later_and_whole(pty: Pty, link: SerialLink) -> None:
    os.set_blocking(pty.board_fd, False)
    filler = os.open(pty.name, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    filled = fill(filler)
    os.close(filler)
    block = bytes(range(251)) * 240
    for start in range(0, len(block), 1000):
        await link.write(block[start : start + 1000])
    got = bytearray()
    async with asyncio.timeout(PATIENCE_S):
        while len(got) < filled + len(block):
            await asyncio.sleep(0)
            try:
                got += os.read(pty.board_fd, 4096)
            except BlockingIOError:
                continue
    assert got[filled:] == block


async def test_a_board_that_takes_nothing_ends_the_link(link: SerialLink) -> None:
    async def flood() -> None:
        for _ in range(UNSENT_BYTES_MAX):
            await link.write(b"x" * 1000)

    with pytest.raises(LinkClosedError, match="does not read"):
        await flood()


HOLDS = "import serial, sys; port = serial.Serial(sys.argv[1], exclusive=True); print('held', flush=True); input()"


def test_a_port_is_held_by_one_only_and_that_is_named(pty: Pty, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one who locked it, and not whoever else has it open, as this process: its pty is open at both ends."""
    pipe, name = subprocess.PIPE, f"{pty.name}\x1b[2J"
    with subprocess.Popen([sys.executable, "-c", HOLDS, pty.name, name], stdin=pipe, stdout=pipe) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(PortUnavailableError) as wrong:
            open_serial(pty.name, 115200, "port")
        monkeypatch.setattr(Path, "glob", lambda *_: iter([Path("/proc/self")]))  # the other is another user's
        with pytest.raises(PortUnavailableError, match="a program of another user holds the port"):
            open_serial(pty.name, 115200, "port")
        other.kill()
    assert wrong.value.why.startswith(f"process {other.pid} holds the port ({sys.executable} -c import serial")
    assert wrong.value.why.endswith("): stop that process, or correct port")
    assert wrong.value.why.isprintable()


async def test_a_holder_that_this_user_may_not_see(pty: Pty, monkeypatch: pytest.MonkeyPatch) -> None:
    """As ModemManager, which is root's: nobody is accused."""
    link = open_serial(pty.name, 115200, "port")
    monkeypatch.setattr(Path, "glob", lambda *_: iter(()))
    with pytest.raises(PortUnavailableError, match="of another user holds the port: run `wheeld doctor` as root"):
        open_serial(pty.name, 115200, "port")
    await link.close()
    await open_serial(pty.name, 115200, "port").close()


@pytest.mark.parametrize(
    ("port", "expected"),
    [
        ("/dev/nothing-here", "the port is not there: is the device plugged in\\? If it is, correct port$"),
        ("/dev/null", "this is not a serial port: correct port$"),
        ("/dev", "this is not a serial port: correct port$"),
        (__file__, "this is not a serial port: correct port$"),
    ],
)
async def test_the_error_of_a_port_that_cannot_be_opened_names_the_remedy(port: str, expected: str) -> None:
    with pytest.raises(PortUnavailableError, match=f"{port}: {expected}"):
        open_serial(port, 115200, "port")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (errno.EACCES, "adduser wheeld dialout"),
        (errno.EPERM, "DeviceAllow=.: correct port$"),
        (errno.EIO, ": Input/output error: check the device, and port$"),
    ],
)
async def test_other_causes(code: int, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise serial.SerialException(code, os.strerror(code))

    monkeypatch.setattr(serial.Serial, "open", refuse)
    with pytest.raises(PortUnavailableError, match=expected):
        open_serial("/dev/ttyACM0", 115200, "port")
