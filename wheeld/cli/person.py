"""Who gives a command, as the journal stores it."""

from __future__ import annotations

import argparse
import getpass
import os

import msgspec

from wheeld.broker.payloads import Name


def user() -> str:
    """The login of who runs this program."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without a name: KeyError until Python 3.12
        return f"uid {os.getuid()}"


def person(text: str) -> str:
    """A name on the command line, as in commands to a wheel; raises ArgumentTypeError."""
    try:
        return msgspec.convert(text, Name)
    except msgspec.ValidationError:
        raise argparse.ArgumentTypeError(f"{text!r} is no name: 1 to 64 visible characters") from None
