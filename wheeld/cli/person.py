"""Who gives a command and why, as the journal stores it."""

from __future__ import annotations

import argparse
import getpass
import os
from typing import cast

import msgspec

from wheeld.broker.payloads import Name, Sentence


def user() -> str:
    """The login of who runs this program."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without a name: KeyError until Python 3.12
        return f"uid {os.getuid()}"


def person(text: str) -> str:
    """A name on the command line, as in commands to a wheel; raises ArgumentTypeError."""
    return _visible(text, Name, "is no name: 1 to 64 visible characters")


def sentence(text: str) -> str:
    """A reason on the command line, as in commands to a wheel; raises ArgumentTypeError."""
    return _visible(text, Sentence, "is no reason: 1 to 500 visible characters")


def _visible(text: str, kind: object, wrong: str) -> str:
    try:
        text.encode()  # Python takes bytes that are no UTF-8, too
        return msgspec.convert(text, cast("type[str]", kind))
    except (msgspec.ValidationError, UnicodeEncodeError):
        raise argparse.ArgumentTypeError(f"{text!r} {wrong}") from None
