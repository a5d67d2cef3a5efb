"""`[head]`: the wheel's own head and its line. Pages: `firmware_protocol/mercury-360.md` and `slingshot-2.md`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from firmware_protocol.cammegh.session import Setup
from firmware_protocol.cammegh.status import Product
from wheeld.core.observations import HeadProduct

SCHEMES = ("socket", "rfc2217")
"""What pyserial opens over the network; its other kinds are for trying things out."""
POLL_NS = 500_000_000
"""As often as a head speaks by itself: more is no use to the law, and the wheel wants 100 ms between polls."""


class HeadSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[head]`: which product it is, and the line to it.

    `port`: a device, or a URL that pyserial knows, like "socket://10.0.0.7:4001". `writable`: commands may be sent (the
    head's port 1). `poll`: the wheel is asked for each status line, for it sends none by itself. `bare_number`: this
    port tells the number on a line of its own besides.
    """

    product: HeadProduct
    port: Annotated[str, Meta(min_length=1, max_length=255, description="a text that is not empty")]
    baud: Annotated[int, Meta(ge=300, le=115_200, description="the line's bits a second, 300 to 115200")] = 9600
    writable: bool = True
    poll: bool = False
    bare_number: bool = True
    silence_s_max: Annotated[float, Meta(ge=1, le=60, description="seconds, 1 to 60")] = 2.0
    """Status lines come every half second: three missing are no chance."""

    def setup(self) -> Setup:
        """What its session needs of it; ValueError unless `judge` finds nothing."""
        return Setup(
            Product(self.product),
            writable=self.writable,
            bare_number=self.bare_number,
            poll_ns=POLL_NS if self.poll else 0,
            silence_ns=round(self.silence_s_max * 1e9),
        )


def judge(head: HeadSection) -> Iterator[tuple[str, str]]:
    """What is wrong with it, as (key, what)."""
    if not head.writable and head.poll:
        yield "poll", "asks, which needs a line that takes commands: the head's port 1, writable"
    if not head.writable and head.bare_number:
        yield "bare_number", "is given on the head's port 1 only, which is writable; say bare_number = false"
    elif not head.writable and head.product == "mercury-360":
        yield "writable", "is false, and a Mercury 360 must be put into extended mode: wire the head's port 1"
    if why := _wrong_url(head.port):
        yield "port", f"{why}; expected a device, or socket://HOST:PORT, or rfc2217://HOST:PORT"
    if head.poll and head.silence_s_max <= 2 * POLL_NS / 1e9:
        yield "silence_s_max", f"{head.silence_s_max:g} s is no more than two polls"


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
