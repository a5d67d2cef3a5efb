"""What `[head]` must mean. Pages: `firmware_protocol/mercury-360.md` and `slingshot-2.md`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias
from urllib.parse import urlsplit

from wheeld.sources.head.setting import POLL_NS, HeadSetting

Wrong: TypeAlias = tuple[str, str]
"""A key of the section, and what is wrong with it."""
SCHEMES = ("socket", "rfc2217")
"""What pyserial opens over the network; its other kinds are for trying things out."""


def head_rules(head: HeadSetting) -> Iterator[Iterator[Wrong]]:
    """Its rules; each yields what is wrong."""
    yield _port(head)
    yield _polls(head)
    yield _commands(head)


def _port(head: HeadSetting) -> Iterator[Wrong]:
    if why := _wrong_url(head.port):
        yield "port", f"{why}; expected a device, or socket://HOST:PORT, or rfc2217://HOST:PORT"


def _polls(head: HeadSetting) -> Iterator[Wrong]:
    if head.poll and head.silence_s_max <= 2 * POLL_NS / 1e9:
        yield "silence_s_max", f"{head.silence_s_max:g} s is no more than two polls"
    if head.poll and not head.writable:
        yield "poll", "needs a line that takes commands: the head's port 1, with writable = true"


def _commands(head: HeadSetting) -> Iterator[Wrong]:
    if not head.writable and head.bare_number:
        yield "bare_number", "comes on the head's port 1 only, which is writable; set bare_number = false"
    elif not head.writable and head.product == "mercury-360":
        yield "writable", "is false, and a Mercury 360 must be put into extended mode: wire the head's port 1"


def _wrong_url(port: str) -> str:
    """Empty for a device, and for a URL with all that is needed."""
    if "://" not in port:
        return ""
    try:
        parts = urlsplit(port)
        is_whole = bool(parts.hostname and parts.port)
    except ValueError as wrong:
        return f"is no address: {wrong}"
    if parts.scheme not in SCHEMES:
        return f"is of no known kind, {parts.scheme}://"
    return "" if is_whole else "lacks the host or its port"
