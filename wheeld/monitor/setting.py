"""The section `[monitor]`: the socket. The configuration file has exactly these keys."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from wheeld.core.catalogue import translatable

PATH_BYTES_MAX = 107
"""The longest path that a Unix socket can have (unix(7))."""


class MonitorSetting(msgspec.Struct, frozen=True, kw_only=True):
    """The socket on which programs of this computer, such as `wheeld page`, can read what the sensors see."""

    socket: Annotated[
        Annotated[Path, Meta(description=translatable("the path of a socket"))],
        Meta(
            title="the socket, which the daemon makes; whoever may write to it can watch, but change nothing",
            examples=["/run/wheeld/campione-03.monitor"],
        ),
    ]
