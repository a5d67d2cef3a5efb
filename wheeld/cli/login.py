"""The login at the broker that options name."""

from __future__ import annotations

import argparse

from wheeld.broker.settings import PLAIN_PORT, TLS_PORT, MqttSettings


def settings_of(options: argparse.Namespace, who: str, username: str | None) -> MqttSettings:
    """Return the settings from the options that begin with `who`. A certificate alone replaces the `username`."""
    given = vars(options)
    password_file, cert_file, key_file = (given[f"{who}{name}"] for name in ("password_file", "cert_file", "key_file"))
    has_tls = options.ca_file is not None or cert_file is not None
    return MqttSettings(
        host=options.host,
        port=options.port or (TLS_PORT if has_tls else PLAIN_PORT),
        username=username if password_file is not None or cert_file is None else None,
        password_file=password_file,
        ca_file=options.ca_file,
        cert_file=cert_file,
        key_file=key_file,
    )
