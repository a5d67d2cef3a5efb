"""Runs the program under test as a black box: it gets a log over a pipe, and writes a JSON line for each message."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryFile
from typing import IO, Any, TypeAlias

import msgspec

from hw_sim.exits import UnavailableError

CHUNK_BYTES = 1 << 16
"""The size of a pipe. Smaller writes need more system calls, and larger writes would only wait."""
STDERR_BYTES = 2_000
"""The number of bytes that a report quotes from the end of the program's standard error."""


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
    """Find the executable: `wanted`, or `wheeld` beside the running Python or on the PATH. Raises UnavailableError."""
    beside = Path(sys.executable).with_name("wheeld")
    found = wanted or (beside if beside.exists() else Path(shutil.which("wheeld") or beside))
    if not os.access(found, os.X_OK):
        raise UnavailableError(f"{found} is missing or cannot be run: give the program wheeld with --wheeld FILE")
    return found


def replay(wheeld: Path, lines: Iterable[bytes], receive: Receive, *, facts: bool = False) -> Ended:
    """Write the log into `wheeld replay -` while the log is made. A separate thread calls `receive`.

    Raises UnavailableError if the program cannot be started. If the program ends early, this is not an error here: its
    exit code shows it.
    """
    command = [str(wheeld), "replay", "-", "--jsonl", *(["--facts"] if facts else [])]
    before = getrusage(RUSAGE_CHILDREN)
    with TemporaryFile() as errors:
        try:
            child = subprocess.Popen(  # noqa: S603  the command is the program under test
                command, bufsize=CHUNK_BYTES, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
            )
        except OSError as wrong:
            raise UnavailableError(f"{wheeld} cannot be run: {wrong.strerror}") from wrong
        assert child.stdin is not None
        assert child.stdout is not None
        with child.stdout, ThreadPoolExecutor(1) as threads:
            reading = threads.submit(_read, child, child.stdout, receive)
            try:
                # If the child ends before its input ends, this is not an error here: its exit code shows why, or this
                # program killed it.
                with contextlib.suppress(BrokenPipeError), child.stdin:
                    child.stdin.writelines(lines)
                stopped = reading.result()
            except BaseException:
                child.kill()
                raise
            finally:
                code = child.wait()
        after = getrusage(RUSAGE_CHILDREN)
        errors.seek(0)
        stderr = errors.read()[-STDERR_BYTES:].decode(errors="replace").strip()
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Ended(code, cpu_s, stderr, stopped)


def replay_all(wheeld: Path, lines: Iterable[bytes]) -> tuple[list[HeardMessage], Ended]:
    """Return all messages about the log, with the facts, and how the program ended. Raises UnavailableError."""
    messages: list[HeardMessage] = []

    def receive(message: HeardMessage) -> bool:
        messages.append(message)
        return True

    return messages, replay(wheeld, lines, receive, facts=True)


def _read(child: subprocess.Popen[bytes], source: IO[bytes], receive: Receive) -> bool:
    """Pass on the child's messages. If `receive` wants no more, or after an error, kill the child. Then nobody can
    write to it any more, so the writing ends, too. Returns whether `receive` wants no more."""
    stopped = True
    try:
        stopped = not all(receive(_message(line)) for line in source)
    finally:
        if stopped:
            child.kill()
    return stopped


def _message(line: bytes) -> HeardMessage:
    """Decode one message. The payload of a message `board` is not decoded, because most messages are of this kind and
    none of them is a verdict."""
    try:
        head = _head(line)
        return HeardMessage(head.t, head.topic, {} if head.topic == "board" else _payload(head.payload))
    except msgspec.DecodeError as wrong:
        raise UnavailableError(f"wheeld wrote {line[:80]!r}, which is not a message ({wrong})") from wrong
