"""`[mqtt]`: the broker, and how to log in to it. The configuration file has exactly these keys."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from wheeld.broker.roles import USER_PATTERN, RoleName

_Text: TypeAlias = Annotated[str, Meta(min_length=1, max_length=255, description="a text that is not empty")]
_File: TypeAlias = Annotated[Path, Meta(description="the path of a file")]
_Users: TypeAlias = Annotated[
    dict[Annotated[str, Meta(pattern=USER_PATTERN)], RoleName],
    Meta(description='names at the broker (letters, digits, - . _ @) with the role of each, like { panel-7 = "chef" }'),
]


class MqttSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Where the broker is and how to connect to it. TLS is on when any of the three files is given."""

    host: _Text
    port: Annotated[int, Meta(ge=1, le=65_535, description="a TCP port, 1 to 65535")] = 1883
    username: _Text | None = None
    password_file: _File | None = None
    client_id: _Text | None = None
    """None: the configuration makes one of the site and the table."""
    protocol: Literal["5", "3.1.1"] = "5"
    ca_file: _File | None = None
    cert_file: _File | None = None
    key_file: _File | None = None
    keepalive_s: Annotated[int, Meta(ge=1, le=3600, description="whole seconds, 1 to 3600")] = 5
    publish_timeout_s: Annotated[float, Meta(gt=0, le=3600, description="seconds, more than 0")] = 5.0
    users: _Users = {}
    """Names at the broker that do not follow from a role and this table, and the role of each: only these send commands
    besides the roles' own."""
    settlement_ack: bool = False
    """Whether a message stays owed until the settlement core acknowledges it, and not only until the broker does."""
