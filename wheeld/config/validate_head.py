"""What `[head]` must mean. Pages: `firmware_protocol/mercury-360.md` and `slingshot-2.md`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias
from urllib.parse import urlsplit

from wheeld.core.catalogue import Text
from wheeld.sources.head.setting import POLL_NS, URLS, HeadSetting

Wrong: TypeAlias = tuple[str, Text]
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
        yield "port", Text("{why}; expected a device, or {socket}, or {rfc2217}", {"why": why, **URLS})


def _polls(head: HeadSetting) -> Iterator[Wrong]:
    if head.poll and head.silence_s_max <= 2 * POLL_NS / 1e9:
        seconds = {"seconds": f"{head.silence_s_max:g}"}
        yield "silence_s_max", Text("{seconds} s is no more than two polls", seconds)
    if head.poll and not head.writable:
        yield "poll", Text("needs a line that takes commands: the head's port 1, with writable = true")


def _commands(head: HeadSetting) -> Iterator[Wrong]:
    if not head.writable and head.bare_number:
        what = Text("comes on the head's port 1 only, which is writable; set bare_number = false")
        yield "bare_number", what
    elif not head.writable and head.product == "mercury-360":
        what = Text("is false, and a Mercury 360 must be put into extended mode: wire the head's port 1")
        yield "writable", what


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
