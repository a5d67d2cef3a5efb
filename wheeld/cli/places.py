"""Files and addresses on the command line."""

from __future__ import annotations

import argparse
from pathlib import Path

from wheeld.config.paths import PathError, given_by_systemd, resolve
from wheeld.page.setting import Address


def address(text: str) -> Address:
    """Return the address in `ADDRESS:PORT`. An IPv6 address is in brackets. Raises ArgumentTypeError."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 <= int(port) <= 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not ADDRESS:PORT, like 127.0.0.1:8400")
    return Address(host.removeprefix("[").removesuffix("]"), int(port))


def origin_here(text: str) -> str:
    """Return the origin of a page on this computer, `http://ADDRESS:PORT`, after a check. Raises ArgumentTypeError."""
    scheme, _, place = text.partition("://")
    if scheme != "http" or not address(place).is_here:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not the origin of a page on this computer, like http://127.0.0.1:8500"
        )
    return text


def named_file(text: str) -> Path:
    """Return the path of a file, or of a credential that systemd gave. Raises ArgumentTypeError."""
    try:
        return resolve(text, Path(), given_by_systemd)
    except PathError as wrong:
        raise argparse.ArgumentTypeError(f"{text!r} {wrong}") from None
