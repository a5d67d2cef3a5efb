"""`[mqtt]`: the broker, and how to log in to it. The configuration file has exactly these keys."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias, get_args

import msgspec
from msgspec import Meta

from wheeld.broker.roles import USER_PATTERN, RoleName
from wheeld.core.catalogue import translatable

_Text: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=255, description=translatable("a text that is not empty"))
]
_File: TypeAlias = Annotated[Path, Meta(description=translatable("the path of a file"))]
_Users: TypeAlias = Annotated[
    dict[Annotated[str, Meta(pattern=USER_PATTERN)], RoleName],
    Meta(
        description=translatable(
            "names at the broker (letters, digits, - . _ @) with the role of each, like {example}; roles are {roles}"
        ),
        extra={"parts": {"example": '{ panel-7 = "chef" }', "roles": ", ".join(get_args(RoleName))}},
    ),
]
_Names: TypeAlias = Annotated[
    tuple[Annotated[str, Meta(pattern=USER_PATTERN)], ...],
    Meta(description=translatable("a list of names at the broker")),
]

PLAIN_PORT, TLS_PORT = 1883, 8883
"""The registered ports of MQTT without TLS and with TLS."""


class MqttSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Where the broker is and how to connect to it. TLS is on if any of the three files is given."""

    host: Annotated[_Text, Meta(title=translatable("the broker's name or address"), examples=["broker.casino.example"])]
    port: Annotated[
        int,
        Meta(
            ge=1,
            le=65_535,
            title=translatable("the broker's port, usually 8883 with TLS"),
            description=translatable("a TCP port, 1 to 65535"),
            examples=[8883],
        ),
    ] = 1883
    username: Annotated[
        _Text | None,
        Meta(
            title=translatable(
                "the wheel's name at the broker; a broker that takes names from certificates ignores it"
            ),
            examples=["wheel-campione-03"],
            extra={"left_out": "none"},
        ),
    ] = None
    password_file: Annotated[
        _File | None,
        Meta(
            title=translatable("the file with the password; needs `username`"),
            examples=["credential:mqtt-password"],
            extra={"left_out": "no password"},
        ),
    ] = None
    client_id: Annotated[
        _Text | None,
        Meta(
            title="the MQTT client id, which no other client of the broker may have",
            examples=["wheel-campione-03"],
            extra={"left_out": "`wheeld-SITE-ID`"},
        ),
    ] = None
    ca_file: Annotated[
        _File | None,
        Meta(
            title=translatable(
                "certificates (PEM) of the authorities that may issue the broker's certificate; turns TLS on"
            ),
            examples=["/etc/wheeld/house-ca.crt"],
            extra={"left_out": "no TLS; with `cert_file` the authorities of the system"},
        ),
    ] = None
    cert_file: Annotated[
        _File | None,
        Meta(
            title=translatable("the wheel's own certificate (PEM); turns TLS on, needs `key_file`"),
            examples=["/etc/wheeld/campione-03.crt"],
            extra={"left_out": "none"},
        ),
    ] = None
    key_file: Annotated[
        _File | None,
        Meta(
            title=translatable("the key of `cert_file` (PEM), without a passphrase"),
            examples=["credential:mqtt-key"],
            extra={"left_out": "none"},
        ),
    ] = None
    keepalive_s: Annotated[
        int,
        Meta(
            ge=1,
            le=3600,
            title="how often the connection is tested while nothing else is sent",
            description=translatable("whole seconds, 1 to 3600"),
            examples=[5],
        ),
    ] = 5
    publish_timeout_s: Annotated[
        float,
        Meta(
            gt=0,
            le=3600,
            title="how long the broker may take to confirm a message before it is sent again",
            description=translatable("seconds, more than 0, at most 3600"),
            examples=[10],
        ),
    ] = 5.0
    users: Annotated[
        _Users,
        Meta(
            title="the roles of names at the broker that do not have the form ROLE-TABLE",
            examples=[{"panel-7": "chef"}],
            extra={"left_out": "only the roles' own names"},
        ),
    ] = {}
    expiry_required: Annotated[
        _Names,
        Meta(
            title="users whose commands are refused without `expires_at`: those outside the cabinet, behind a bridge",
            examples=[["direction"]],
            extra={"left_out": "nobody's"},
        ),
    ] = ()
    settlement_ack: Annotated[
        bool,
        Meta(
            title="whether a message stays owed until the settlement system has acknowledged it, not only the broker",
            examples=[True],
        ),
    ] = False
