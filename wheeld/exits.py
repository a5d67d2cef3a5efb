"""Exit codes, those of sysexits.h where it has one."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """How a `wheeld` command ended; systemd and scripts act on it."""

    OK = 0
    USAGE = 2  # the command line is wrong
    BAD_DATA = 65  # a malformed log, a journal with a fault, or one that somebody changed while it was open
    NO_INPUT = 66  # a named file does not exist or cannot be read
    NOT_RELEASED = 69  # the program has no manifest: a source tree, or no release's
    NOT_OPENED = 73  # the journal cannot be used (another table's, edited, …), or another daemon uses it
    IO_FAILED = 74  # a file or the journal could not be read or written: worth another try
    BAD_CONFIG = 78  # the configuration is wrong
    INTERRUPTED = 130  # by SIGINT, as shells count it
