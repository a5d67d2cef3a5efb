"""Where the broker is, and how to log in to it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec


class MqttSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Where the broker is and how to connect to it. TLS is on when any of the three files is given."""

    host: str
    client_id: str
    port: int = 1883
    username: str | None = None
    password_file: Path | None = None
    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None
    keepalive_s: int = 5
    publish_timeout_s: float = 5.0
    protocol: Literal["5", "3.1.1"] = "5"
