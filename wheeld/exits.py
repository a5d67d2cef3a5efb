"""Exit codes, those of sysexits.h where it has one."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """How a `wheeld` command ended; systemd and scripts act on it."""

    OK = 0
    USAGE = 2
    BAD_DATA = 65
    NO_INPUT = 66
    NOT_OPENED = 73
    IO_FAILED = 74
    BAD_CONFIG = 78
    INTERRUPTED = 130
