"""`wheeld replay`: prints what the daemon would publish for an observation log."""

from __future__ import annotations

import argparse
import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from wheeld.cli.failure import catalogue_of, fail
from wheeld.core.catalogue import Text, translatable
from wheeld.core.observations import LINE_BYTES_MAX
from wheeld.exits import Exit
from wheeld.replay import LogError, LogReplay, OutputLine
from wheeld.screen.describe import describe

_GZIP_MAGIC = b"\x1f\x8b"


def replay(options: argparse.Namespace) -> Exit:
    """Replay the log. Raises OSError if it cannot be read."""
    replayed = LogReplay(lenient=options.lenient, facts=options.facts)
    try:
        with (
            nullcontext(sys.stdin.buffer) if options.file == "-" else Path(options.file).open("rb") as file,
            nullcontext(sys.stdout.buffer) if options.output is None else options.output.open("wb") as target,
        ):
            for line in replayed.run(_lines(file)):
                if options.jsonl:
                    target.write(line + b"\n")
                else:
                    message = msgspec.json.decode(line, type=OutputLine)
                    told = describe(message.topic, bytes(message.payload), options.language)
                    target.write(f"{message.t / 1e6:12.6f} s  {told}\n".encode())
            target.flush()
    except LogError as wrong:
        sys.stdout.flush()
        what = Text("{first}: {second}", {"first": options.file, "second": wrong.text})
        why = Text("{first}; {second}", {"first": what, "second": _LOG}) if wrong.line == 1 else what
        return fail(why, Exit.BAD_DATA, options)
    for counter, text in SKIPPED.items():
        if count := replayed.counters[counter]:
            sys.stderr.write(f"wheeld: {catalogue_of(options).say(text, count=count)}\n")
    return Exit.OK


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines. A line that is longer than the longest of our lines comes in pieces. Gzip is unpacked, whatever
    the file's name is. If the gzip is damaged, LogError names the line after the last good one."""
    number, source = 0, cast("io.BufferedReader", file)
    if source.peek(2)[:2] == _GZIP_MAGIC:
        source = cast("io.BufferedReader", gzip.GzipFile(fileobj=source))
    try:
        while line := source.readline(LINE_BYTES_MAX + 1):
            number += 1
            yield line
    except (EOFError, gzip.BadGzipFile, zlib.error) as wrong:
        damaged = Text("the gzip file is damaged here, or ends too early ({reason})", {"reason": str(wrong)})
        raise LogError(number + 1, damaged) from wrong


_LOG = Text("name an observation log, like those that `wheeld journal export` writes")

SKIPPED = {
    "unknown": translatable("{count} lines skipped: their kind is unknown to this version"),
    "malformed": translatable("{count} lines skipped: they are malformed"),
    "late": translatable("{count} lines skipped: they are out of order"),
}
"""For each counter, the message about skipped lines: otherwise nobody would notice them."""
