"""Runs the program under test as a black box: it gets a log over a pipe, and writes a JSON line for each message."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, TypeAlias

import msgspec

from hw_sim.exits import UnavailableError

CHUNK_BYTES = 1 << 16
"""The size of a pipe. Smaller writes need more system calls, and larger writes would only wait."""
STDERR_BYTES = 2_000
"""The number of bytes that a report quotes from the end of the program's standard error."""


class BlackBoxError(UnavailableError):
    """The executable is missing, cannot be run, or writes a line that is not a message."""


class HeardMessage(msgspec.Struct, frozen=True):
    """One published message: its time `t` in µs on the sensing clock, its topic and its payload."""

    t: int
    topic: str
    payload: dict[str, Any]


class _Head(msgspec.Struct):
    t: int
    topic: str
    payload: msgspec.Raw


@dataclass(frozen=True)
class Ended:
    """How the program ended: exit code (negative: the signal), processor seconds, and the end of its standard error.

    `stopped`: we killed it, because the receiver wanted no more messages. The exit code then has no meaning.
    """

    code: int
    cpu_s: float
    stderr: str
    stopped: bool


Receive: TypeAlias = Callable[[HeardMessage], bool]
"""A function that takes each message, and returns False if it wants no more messages."""

_head = msgspec.json.Decoder(_Head).decode
_payload = msgspec.json.Decoder(dict[str, Any]).decode


def find(wanted: Path | None = None) -> Path:
    """Find the executable: `wanted`, or `wheeld` beside the running Python or on the PATH. Raises BlackBoxError."""
    beside = Path(sys.executable).with_name("wheeld")
    found = wanted or (beside if beside.exists() else Path(shutil.which("wheeld") or beside))
    if not os.access(found, os.X_OK):
        raise BlackBoxError(f"{found} is missing or cannot be run: give the program wheeld with --wheeld FILE")
    return found


def replay(wheeld: Path, lines: Iterable[bytes], receive: Receive, *, facts: bool = False) -> Ended:
    """Write the log into `wheeld replay -` while the log is made. A separate thread calls `receive`.

    Raises BlackBoxError if the program cannot be started. If the program ends early, this is not an error here: its
    exit code shows it.
    """
    command = [str(wheeld), "replay", "-", "--jsonl", *(["--facts"] if facts else [])]
    with TemporaryFile() as errors:
        try:
            child = subprocess.Popen(  # noqa: S603  the command is the program under test
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
            )
        except OSError as wrong:
            raise BlackBoxError(f"{wheeld} cannot be run: {wrong.strerror}") from wrong
        assert child.stdin is not None
        assert child.stdout is not None
        reader = _Reader(child, child.stdout, receive)
        try:
            reader.start()
            waiting, size = [], 0
            # If the child ends before its input ends, this is not an error here: its exit code shows why, or this
            # program killed it.
            with contextlib.suppress(BrokenPipeError):
                for line in lines:
                    waiting.append(line)
                    size += len(line)
                    if size >= CHUNK_BYTES:
                        child.stdin.write(b"".join(waiting))
                        waiting, size = [], 0
                child.stdin.write(b"".join(waiting))
            _close(child.stdin)
            reader.join()
        except BaseException:
            _kill(child)
            raise
        finally:
            _close(child.stdin)
            code, cpu_s = _reap(child)
            child.stdout.close()
        if reader.error is not None:
            raise reader.error
        errors.seek(0)
        stderr = errors.read()[-STDERR_BYTES:].decode(errors="replace").strip()
        return Ended(code, cpu_s, stderr, reader.stopped)


def replay_all(wheeld: Path, lines: Iterable[bytes]) -> tuple[list[HeardMessage], Ended]:
    """Return all messages about the log, with the facts, and how the program ended. Raises BlackBoxError."""
    messages: list[HeardMessage] = []

    def receive(message: HeardMessage) -> bool:
        messages.append(message)
        return True

    return messages, replay(wheeld, lines, receive, facts=True)


class _Reader(threading.Thread):
    """Reads the child's messages. If `receive` wants no more messages, this thread kills the child. Then nobody can
    write to the child any more, so the writing ends, too."""

    def __init__(self, child: subprocess.Popen[bytes], source: IO[bytes], receive: Receive) -> None:
        super().__init__(name="reader", daemon=True)
        self._child, self._source, self._receive = child, source, receive
        self.stopped = False
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self.stopped = not all(self._receive(_message(line)) for line in self._source)
        except Exception as wrong:  # noqa: BLE001  `wrong` is raised again in the thread that waits
            self.error = wrong
        if self.stopped or self.error:
            _kill(self._child)


def _message(line: bytes) -> HeardMessage:
    """Decode one message. The payload of a message `board` is not decoded, because most messages are of this kind and
    none of them is a verdict."""
    try:
        head = _head(line)
        return HeardMessage(head.t, head.topic, {} if head.topic == "board" else _payload(head.payload))
    except msgspec.DecodeError as wrong:
        raise BlackBoxError(f"wheeld wrote {line[:80]!r}, which is not a message ({wrong})") from wrong


def _close(pipe: IO[bytes]) -> None:
    """Flush and close a pipe whose reader may have ended."""
    with contextlib.suppress(BrokenPipeError):
        pipe.close()


def _kill(child: subprocess.Popen[bytes]) -> None:
    """Kill the child. `Popen.kill` would first take the child's status from the system, and `_reap` needs it."""
    if child.returncode is None:
        os.kill(child.pid, signal.SIGKILL)


def _reap(child: subprocess.Popen[bytes]) -> tuple[int, float]:
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)  # so subprocess does not wait for the child again
    return child.returncode, usage.ru_utime + usage.ru_stime
