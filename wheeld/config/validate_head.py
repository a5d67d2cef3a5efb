"""What `[head]` must mean."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

from wheeld.config.unknown import UnknownError
from wheeld.core.catalogue import Text
from wheeld.sources.head.reader import reader_of
from wheeld.sources.head.setting import URLS, HeadSetting, Wrong

SCHEMES = ("socket", "rfc2217")
"""What pyserial opens over the network; its other kinds are for trying things out."""


def head_rules(head: HeadSetting) -> Iterator[Iterator[Wrong]]:
    """Its rules and those of its maker; each yields what is wrong. Who made an unknown product is not known."""
    yield _port(head)
    with suppress(KeyError, UnknownError):
        yield from reader_of(head.product).rules(head)


def _port(head: HeadSetting) -> Iterator[Wrong]:
    if why := _wrong_url(head.port):
        yield "port", Text("{why}; expected a device, or {socket}, or {rfc2217}", {"why": why, **URLS})


def _wrong_url(port: str) -> Text | None:
    """None for a device, and for a URL with all that is needed."""
    if "://" not in port:
        return None
    try:
        parts = urlsplit(port)
        is_whole = bool(parts.hostname and parts.port)
    except ValueError as wrong:
        return Text("is no address: {reason}", {"reason": str(wrong)})
    if parts.scheme not in SCHEMES:
        return Text("is of no known kind, {scheme}", {"scheme": f"{parts.scheme}://"})
    return None if is_whole else Text("lacks the host or its port")
