"""`[head]`: the wheel's own head and its line."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from wheeld.core.catalogue import Text, translatable
from wheeld.core.heads import HEADS
from wheeld.core.setting import quoted

Wrong: TypeAlias = tuple[str, Text]
"""A key of the section, and a text of what is wrong with it."""
_PRODUCTS = quoted(HEADS)
URLS = {"socket": "socket://HOST:PORT", "rfc2217": "rfc2217://HOST:PORT"}
"""How a person writes `port` if the line is a serial server on the network."""


class HeadSetting(msgspec.Struct, frozen=True, kw_only=True):
    """The product, and the line to it. The configuration file has exactly these keys."""

    product: Annotated[
        str,
        Meta(
            title=translatable("the maker's product"),
            description=_PRODUCTS.english,
            examples=[next(iter(HEADS))],
            extra={"parts": _PRODUCTS.parts},
        ),
    ]
    port: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=255,
            title=translatable("the line to the head: a device, or a serial server on the network"),
            description=translatable("the path of a device, {socket} or {rfc2217}"),
            examples=["socket://10.0.0.7:4001"],
            extra={"parts": URLS},
        ),
    ]
    baud: Annotated[
        int,
        Meta(
            ge=300,
            le=115_200,
            title="the speed of the line, as the head has it",
            description=translatable("the line's bits a second, 300 to 115200"),
            examples=[9600],
        ),
    ] = 9600
    writable: Annotated[
        bool, Meta(title="whether commands may be sent: the line is the head's port 1", examples=[False])
    ] = True
    poll: Annotated[
        bool,
        Meta(
            title="whether wheeld asks the head for each status line, because the head sends none by itself",
            examples=[True],
        ),
    ] = False
    bare_number: Annotated[
        bool, Meta(title="whether this port gives the number also on a line of its own", examples=[False])
    ] = True
    silence_s_max: Annotated[
        float,
        Meta(
            ge=1,
            le=60,
            title="silence of the head for longer than this is a fault; with `poll` more than 1 s",
            description=translatable("seconds, 1 to 60"),
            examples=[3],
        ),
    ] = 2.0
    """Status lines come every half second. If three lines in a row are missing, this is not by chance."""
