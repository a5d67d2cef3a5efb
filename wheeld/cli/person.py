"""The name of the person who gives a command, and the reason, as the journal stores them."""

from __future__ import annotations

import argparse
import getpass
import os
from typing import cast

import msgspec

from wheeld.broker.payloads import Name, Sentence


def user() -> str:
    """Return the login name of the user who runs this program."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # the user has no name; until Python 3.12 this raises KeyError
        return f"uid {os.getuid()}"


def person(text: str) -> str:
    """Return a person's name, if it is valid in a command to a wheel. Raises ArgumentTypeError."""
    return _visible(text, Name, "is not a name of 1 to 64 visible characters")


def sentence(text: str) -> str:
    """Return a reason, if it is valid in a command to a wheel. Raises ArgumentTypeError."""
    return _visible(text, Sentence, "is not a reason of 1 to 500 visible characters")


def _visible(text: str, kind: object, wrong: str) -> str:
    try:
        text.encode()  # this fails if the command line has bytes that are not UTF-8
        return msgspec.convert(text, cast("type[str]", kind))
    except (msgspec.ValidationError, UnicodeEncodeError):
        raise argparse.ArgumentTypeError(f"{text!r} {wrong}") from None
