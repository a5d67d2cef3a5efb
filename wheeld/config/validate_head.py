"""Rules for `[head]`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

from wheeld.config.unknown import UnknownError
from wheeld.core.catalogue import Text
from wheeld.sources.head.reader import reader_of
from wheeld.sources.head.setting import URLS, HeadSetting, Wrong

SCHEMES = ("socket", "rfc2217")
"""The kinds of URL that pyserial opens over the network. Its other kinds are for tests."""


def head_rules(head: HeadSetting) -> Iterator[Iterator[Wrong]]:
    """Yield the rule of `port`, then the rules of the head's maker. For an unknown head, yield only the rule of `port`.
    Each rule yields what is wrong."""
    yield _port(head)
    with suppress(KeyError, UnknownError):
        yield from reader_of(head.product).rules(head)


def _port(head: HeadSetting) -> Iterator[Wrong]:
    if "://" not in head.port:  # it is the path of a device
        return
    why: Text | None = None
    try:
        parts = urlsplit(head.port)
        if not (parts.hostname and parts.port):
            why = Text("has no host, or no port")
        if parts.scheme not in SCHEMES:
            why = Text("begins with {scheme}, which is not known", {"scheme": f"{parts.scheme}://"})
    except ValueError as wrong:
        why = Text("is not an address: {reason}", {"reason": str(wrong)})
    if why is not None:
        yield "port", Text("{why}; expected the path of a device, {socket} or {rfc2217}", {"why": why, **URLS})
