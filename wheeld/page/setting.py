"""What is served, where, and to whom."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from wheeld.broker.settings import MqttSettings


class Address(NamedTuple):
    """Where a port is opened."""

    host: str
    port: int

    @property
    def is_here(self) -> bool:
        """Whether only this computer reaches it."""
        return self.host in ("127.0.0.1", "::1", "localhost")


PanelRole: TypeAlias = Literal["chef", "bouler"]
"""Who has a panel: its words are those of his role."""


class PanelSetting(msgspec.Struct, frozen=True, kw_only=True):
    """A panel: whose, where, as whom at the broker, and who may use it: with the token, or a certificate of
    `client_ca_file`, which needs our own."""

    role: PanelRole
    address: Address
    mqtt: MqttSettings
    user: str
    token_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None
    client_ca_file: Path | None = None


class PageSetting(msgspec.Struct, frozen=True, kw_only=True):
    """What is served, and where. `socket`: on which the daemon tells what its sensors see, None where that is on
    another computer. `display`: a port for the players' display alone, if it has one. `metrics`: where they are
    served, if at all. `state`: the directory where the last numbers are kept. `frame_of`: whose page may show ours in
    a frame. `names`: by which the live page may be called, beside the computer's own."""

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
        """What the topics of the wheel begin with."""
        return f"wheel/v1/{self.site}/{self.table}/"
