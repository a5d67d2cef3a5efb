"""`[sensors]`: the serial line to the board, and which board is required. The section has exactly these keys."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from wheeld.core.catalogue import translatable

_Text: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=255, description=translatable("a text that is not empty"))
]
_Hash: TypeAlias = Annotated[
    str, Meta(pattern="^[0-9a-f]{16}$", description=translatable("16 hexadecimal digits, as the board reports them"))
]


class BoardSetting(msgspec.Struct, frozen=True, kw_only=True):
    """The line, the required identity of the board, and the limits of faults."""

    port: Annotated[
        _Text,
        Meta(
            title=translatable("the serial port of the sensor board"),
            description=translatable("the path of a serial port"),
            examples=["/dev/wheeld/0042"],
        ),
    ]
    baud: Annotated[
        int,
        Meta(
            ge=9600,
            le=4_000_000,
            title="the speed of the line, as the board has it",
            description=translatable("the line's bits a second, 9600 to 4000000"),
            examples=[115_200],
        ),
    ] = 115200
    silence_s_max: Annotated[
        float,
        Meta(
            ge=0.02,
            le=60,
            title="silence of the board for longer than this is a fault",
            description=translatable("seconds, 0.02 to 60"),
            examples=[0.5],
        ),
    ] = 1.0
    board_serial: Annotated[
        _Text | None,
        Meta(
            title="the serial number that the board reports; another board is refused",
            examples=["0042"],
            extra={"left_out": "any board"},
        ),
    ] = None
    config_hash: Annotated[
        _Hash | None,
        Meta(
            title="the checksum of the board's own settings, as the board reports it; a board with another one is "
            "refused",
            examples=["9f86d081884c7d65"],
            extra={"left_out": "any"},
        ),
    ] = None
    max_drift_ppm: Annotated[
        int,
        Meta(
            ge=1,
            le=100_000_000,
            title="how fast the board's clock and the computer's may drift apart before it is a trouble",
            description=translatable("parts in a million, 1 to 100000000"),
            examples=[200],
        ),
    ] = 200
    """Crystals stay within 200. A simulated board that runs n times as fast as real time needs (n - 1) · 1,000,000."""
