"""`[head]`: the wheel's own head and its line. Pages: `firmware_protocol/mercury-360.md` and `slingshot-2.md`."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from firmware_protocol.cammegh.session import Setup
from firmware_protocol.cammegh.status import Product
from wheeld.core.observations import HeadProduct

POLL_NS = 500_000_000
"""As often as a head speaks by itself: more is no use to the law, and the wheel wants 100 ms between polls."""


class HeadSetting(msgspec.Struct, frozen=True, kw_only=True):
    """Which product it is, and the line to it. The configuration file has exactly these keys.

    `port`: a device, or a URL that pyserial knows, like "socket://10.0.0.7:4001". `writable`: commands may be sent (the
    head's port 1). `poll`: the wheel is asked for each status line, because it sends none by itself. `bare_number`:
    this port also gives the number on a line of its own.
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
        """What the protocol's session needs of it; ValueError for contradictions, which the configuration refuses."""
        return Setup(
            Product(self.product),
            writable=self.writable,
            bare_number=self.bare_number,
            poll_ns=POLL_NS if self.poll else 0,
            silence_ns=round(self.silence_s_max * 1e9),
        )
