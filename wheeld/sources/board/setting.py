"""`[sensors]`: the serial line to the board, and which board must be at its end. The file has exactly these keys."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

_Text: TypeAlias = Annotated[str, Meta(min_length=1, max_length=255, description="a text that is not empty")]
_Hash: TypeAlias = Annotated[
    str, Meta(pattern="^[0-9a-f]{16}$", description="16 hexadecimal digits, as the board reports them")
]


class BoardSetting(msgspec.Struct, frozen=True, kw_only=True):
    """The line, the board's identity as far as it is fixed, and what counts as a fault.

    `silence_s_max`: a board that says nothing for longer is a fault. `max_drift_ppm`: of the board's clock against the
    host's.
    """

    port: _Text
    baud: Annotated[int, Meta(ge=9600, le=4_000_000, description="the line's bits a second, 9600 to 4000000")] = 115200
    silence_s_max: Annotated[float, Meta(ge=0.02, le=60, description="seconds, 0.02 to 60")] = 1.0
    board_serial: _Text | None = None
    config_hash: _Hash | None = None
    max_drift_ppm: Annotated[int, Meta(ge=1, le=100_000_000, description="parts in a million, 1 to 100000000")] = 200
    """Crystals keep 200. A simulated board that plays n times faster than real time needs (n - 1) · 1,000,000."""

    @property
    def silence_ns_max(self) -> int:
        """`silence_s_max` in nanoseconds."""
        return round(self.silence_s_max * 1e9)
