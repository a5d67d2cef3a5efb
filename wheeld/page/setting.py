"""The settings of `wheeld page`: what is served, where, and to whom."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from wheeld.broker.settings import MqttSettings


class Address(NamedTuple):
    """The address at which a port is opened."""

    host: str
    port: int

    @property
    def is_here(self) -> bool:
        """Whether only this computer can reach the address."""
        return self.host in ("127.0.0.1", "::1", "localhost")


PanelRole: TypeAlias = Literal["chef", "bouler"]
"""The roles that have a panel. A panel has the commands of its role."""


class PanelSetting(msgspec.Struct, frozen=True, kw_only=True):
    """A panel: its role, its address, and its login at the broker. A browser must give the token of `token_file`, or
    have a certificate of the authority in `client_ca_file`. To check browsers' certificates, the panel needs a
    certificate of its own."""

    role: PanelRole
    address: Address
    mqtt: MqttSettings
    user: str
    token_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None
    client_ca_file: Path | None = None


class PageSetting(msgspec.Struct, frozen=True, kw_only=True):
    """What is served, and where. `socket` is the monitor of the daemon, None if the daemon is on another computer.
    `display` is a port for the players' display alone. `metrics` is the port of the metrics. `state` is the directory
    of the last numbers. `frame_of` is the origin whose page may show ours in a frame. `names` are names of the live
    page and of the panel, in addition to the computer's own."""

    site: str
    table: str
    mqtt: MqttSettings
    address: Address
    socket: Path | None = None
    state: Path | None = None
    frame_of: str | None = None
    names: tuple[str, ...] = ()
    display: Address | None = None
    metrics: Address | None = None
    panels: tuple[PanelSetting, ...] = ()

    @property
    def root(self) -> str:
        """The beginning of each topic of the wheel."""
        return f"wheel/v1/{self.site}/{self.table}/"
