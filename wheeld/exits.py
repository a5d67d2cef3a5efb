"""The exit codes. If sysexits.h has a code for a case, it is used. docs/operations.md says what to do after each."""

from __future__ import annotations

from enum import IntEnum
from typing import Self


class Exit(IntEnum):
    """How a `wheeld` command ended. systemd and scripts react to it. `text` explains it to people."""

    text: str

    OK = 0, "done"
    USAGE = 2, "the command line is wrong"
    LOOK = 3, "nothing is wrong, but look at it, or try again; of `status`: the wheel or its page is down"
    BAD_DATA = 65, "the data is wrong: a malformed log, a journal with a fault, a program that differs from its release"
    NO_INPUT = 66, "a named file does not exist, cannot be read, or does not contain what you asked for"
    NOT_INSTALLED = (
        69,
        "something that the command needs is not installed: a release's manifest, systemd",
    )
    NOT_OPENED = 73, "the journal cannot be used (another table's, edited, …), or another daemon uses it"
    IO_FAILED = (
        74,
        "a file, the journal or a port could not be read, written or opened (disk full, failing; port in use)",
    )
    UNANSWERED = 75, "the broker could not be reached, or the wheel did not answer: the command may be done or not"
    REFUSED = 77, "the broker or the wheel refused the command, and nothing was done; the answer says why"
    BAD_CONFIG = 78, "the configuration is wrong: standard error says where and why"
    INTERRUPTED = 130, "interrupted"

    def __new__(cls, code: int, text: str) -> Self:
        """Make a member whose value is the code alone."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.text = text
        return member
