"""Files and addresses on the command line."""

from __future__ import annotations

import argparse
from pathlib import Path

from wheeld.config.paths import PathError, given_by_systemd, resolve
from wheeld.page.setting import Address


def address(text: str) -> Address:
    """`ADDRESS:PORT`, an address of IPv6 in brackets; raises ArgumentTypeError."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 <= int(port) <= 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is no ADDRESS:PORT, like 127.0.0.1:8400")
    return Address(host.removeprefix("[").removesuffix("]"), int(port))


def origin_here(text: str) -> str:
    """`http://ADDRESS:PORT` of this computer, as a browser names where a page comes from; raises ArgumentTypeError."""
    scheme, _, place = text.partition("://")
    if scheme != "http" or not address(place).is_here:
        raise argparse.ArgumentTypeError(f"{text!r} is no page's origin on this computer, like http://127.0.0.1:8500")
    return text


def named_file(text: str) -> Path:
    """A file, or a credential that systemd gave; raises ArgumentTypeError."""
    try:
        return resolve(text, Path(), given_by_systemd)
    except PathError as wrong:
        raise argparse.ArgumentTypeError(f"{text!r} {wrong}") from None
