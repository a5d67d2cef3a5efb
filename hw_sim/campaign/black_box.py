"""The program under test as a black box: observation log in, one line of JSON a message out, over pipes."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, TypeAlias

import msgspec

CHUNK_BYTES = 1 << 16
"""What a pipe holds: writing less at a time costs system calls, more would only wait."""
LAST_WORDS_BYTES = 2_000
"""As much of its standard error as a report quotes."""


class BlackBoxError(Exception):
    """The executable is not there, cannot be run, or tells what is no message."""


class Message(msgspec.Struct, frozen=True):
    """One message that was published: `t` µs on the sensing clock, topic, payload."""

    t: int
    topic: str
    payload: dict[str, Any]


class _Head(msgspec.Struct):
    t: int
    topic: str
    payload: msgspec.Raw


@dataclass(frozen=True)
class Ended:
    """How it ended: exit code (negative: the signal), processor seconds it used, the end of its standard error.

    `stopped`: whoever listened had heard enough and it was killed; its exit code then means nothing.
    """

    code: int
    cpu_s: float
    words: str
    stopped: bool


Receive: TypeAlias = Callable[[Message], bool]
"""Takes each message; False when it has heard enough."""

_head = msgspec.json.Decoder(_Head).decode
_payload = msgspec.json.Decoder(dict[str, Any]).decode


def find(wanted: Path | None = None) -> Path:
    """The executable: `wanted`, or `wheeld` beside the running Python, or on the PATH. Raises NoBlackBoxError."""
    beside = Path(sys.executable).with_name("wheeld")
    found = wanted or (beside if beside.exists() else Path(shutil.which("wheeld") or beside))
    if not os.access(found, os.X_OK):
        raise BlackBoxError(f"{found} is no program that can be run")
    return found


def replay(wheeld: Path, lines: Iterable[bytes], receive: Receive, *, facts: bool = False) -> Ended:
    """Stream the log into a `wheeld replay -` while it is made; `receive` is called in a thread of its own.

    Raises NoBlackBoxError when it cannot be started. A child that ends early is no error here: see the exit code.
    """
    command = [str(wheeld), "replay", "-", "--jsonl", *(["--facts"] if facts else [])]
    with TemporaryFile() as errors:
        try:
            child = subprocess.Popen(  # noqa: S603  the program under test
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
            )
        except OSError as wrong:
            raise BlackBoxError(f"{wheeld} cannot be run: {wrong.strerror}") from wrong
        return _conversation(child, lines, receive, errors)


def _conversation(child: subprocess.Popen[bytes], lines: Iterable[bytes], receive: Receive, errors: IO[bytes]) -> Ended:
    assert child.stdin is not None
    assert child.stdout is not None
    listener = _Listener(child, child.stdout, receive)
    try:
        listener.start()
        _write(child.stdin, lines)
        listener.join()
    except BaseException:
        child.kill()
        raise
    finally:
        _close(child.stdin)
        code, cpu_s = _reap(child)
        child.stdout.close()
    if listener.failed is not None:
        raise listener.failed
    errors.seek(0)
    words = errors.read()[-LAST_WORDS_BYTES:].decode(errors="replace").strip()
    return Ended(code, cpu_s, words, listener.enough)


class _Listener(threading.Thread):
    """Hears all that the child tells, and kills it when nobody wants more: whoever writes to it then stops, too."""

    def __init__(self, child: subprocess.Popen[bytes], source: IO[bytes], receive: Receive) -> None:
        super().__init__(name="listener", daemon=True)
        self._child, self._source, self._hear = child, source, receive
        self.enough = False
        self.failed: Exception | None = None

    def run(self) -> None:
        try:
            self.enough = not all(self._hear(_told(line)) for line in self._source)
        except Exception as wrong:  # noqa: BLE001  raised anew where it can be caught
            self.failed = wrong
        if self.enough or self.failed:
            self._child.kill()


def _told(line: bytes) -> Message:
    """The boards for the public are most of the output and say nothing of a verdict: left packed."""
    try:
        head = _head(line)
        return Message(head.t, head.topic, {} if head.topic == "board" else _payload(head.payload))
    except msgspec.DecodeError as wrong:
        raise BlackBoxError(f"it told {line[:80]!r}, which is no message ({wrong})") from wrong


def _write(pipe: IO[bytes], lines: Iterable[bytes]) -> None:
    waiting, size = [], 0
    # A child that ends before its input does is no error here: its exit code says why, or we killed it.
    with contextlib.suppress(BrokenPipeError):
        for line in lines:
            waiting.append(line)
            size += len(line)
            if size >= CHUNK_BYTES:
                pipe.write(b"".join(waiting))
                waiting, size = [], 0
        pipe.write(b"".join(waiting))
    _close(pipe)


def _close(pipe: IO[bytes]) -> None:
    """Close, and so flush, a pipe that perhaps nobody reads any more."""
    with contextlib.suppress(BrokenPipeError):
        pipe.close()


def _reap(child: subprocess.Popen[bytes]) -> tuple[int, float]:
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)  # subprocess must not wait for it again
    return child.returncode, usage.ru_utime + usage.ru_stime
