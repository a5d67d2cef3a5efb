"""The settings of a collector: a TOML file that names its database, the brokers of the house and the wheels."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from msgspec import Meta

from wheeld.feed import Login

_Settings = TypeVar("_Settings")
COLLECTOR = "collector"
"""The user name of the collector at the brokers, if the settings give no other."""
_Level: TypeAlias = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")]
"""One level of an MQTT topic."""
_File: TypeAlias = Annotated[str, Meta(min_length=1)]


class SettingsError(Exception):
    """The settings cannot be used. The text says why."""


class HouseBroker(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One broker. TLS is on if `ca_file`, `cert_file` or `key_file` is given."""

    host: Annotated[str, Meta(min_length=1)]
    port: Annotated[int, Meta(ge=1, le=65535)] = 1883
    username: str = COLLECTOR
    password_file: _File | None = None
    ca_file: _File | None = None
    cert_file: _File | None = None
    key_file: _File | None = None

    def login(self) -> Login:
        """Return how to log in to this broker."""
        files = (self.password_file, self.ca_file, self.cert_file, self.key_file)
        password, ca, cert, key = (None if file is None else Path(file) for file in files)
        return Login(
            port=self.port, username=self.username, password_file=password, ca_file=ca, cert_file=cert, key_file=key
        )


class HouseWheel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One wheel. `public_key_file`: its public key, PEM, required if the wheel signs. `test`: it is a bench table."""

    site: _Level
    table: _Level
    public_key_file: _File | None = None
    test: bool = False

    @property
    def name(self) -> str:
        """The site and the table: SITE/TABLE."""
        return f"{self.site}/{self.table}"

    @property
    def root(self) -> str:
        """The text with which all topics of the wheel begin."""
        return f"wheel/v1/{self.name}"

    def public_key(self) -> bytes | None:
        """Return the wheel's public key, 32 bytes. None if the settings give none. Raises SettingsError."""
        return None if self.public_key_file is None else raw_public_key(Path(self.public_key_file))


class HouseWitness(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The name and the private key with which the collector cosigns the checkpoints of the wheels."""

    name: Annotated[str, Meta(pattern=r"^[^\s+]{1,255}\Z")]
    key_file: _File


class HouseSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings. `name`: what people call this collector. `database`: a connection string of libpq. `lease_s`: how
    long a collector may be silent before another one takes its wheels."""

    name: Annotated[str, Meta(min_length=1, max_length=64)]
    database: Annotated[str, Meta(min_length=1)]
    brokers: Annotated[tuple[HouseBroker, ...], Meta(min_length=1)]
    wheels: Annotated[tuple[HouseWheel, ...], Meta(min_length=1)]
    lease_s: Annotated[float, Meta(ge=1, le=600)] = 15.0
    witness: HouseWitness | None = None


def site_and_table(text: str) -> tuple[str, str]:
    """Read SITE/TABLE from the command line. Raises ArgumentTypeError."""
    site, slash, table = text.partition("/")
    if not (site and slash and table) or "/" in table:
        raise ArgumentTypeError(f"{text!r} is not SITE/TABLE, for example campione/campione-03")
    return site, table


def raw_public_key(path: Path) -> bytes:
    """Return the 32 bytes of the Ed25519 public key in a PEM file. Raises SettingsError."""
    try:
        key = load_pem_public_key(path.read_bytes())
    except OSError as wrong:
        raise SettingsError(f"{path} cannot be read: {wrong.strerror}") from None
    except ValueError:
        raise SettingsError(f"{path} is not a public key in PEM, as `openssl pkey -pubout` writes it") from None
    if not isinstance(key, Ed25519PublicKey):
        raise SettingsError(f"{path} is a key of another kind: a wheel signs with Ed25519")
    return key.public_bytes_raw()


def check_keys(keys: Iterable[tuple[str, bytes | None]]) -> None:
    """Raise SettingsError if two wheels have the same key: one could sign for the other. `keys`: names and keys."""
    owners: dict[bytes, str] = {}
    for wheel, key in keys:
        if key is not None and (owner := owners.setdefault(key, wheel)) != wheel:
            raise SettingsError(
                f"{owner} and {wheel} have the same public key, and each wheel has its own: carry "
                "/etc/wheeld/NAME.pub from the computer of each"
            )


def read_toml(path: Path, kind: type[_Settings]) -> _Settings:
    """Read a file of settings. Raises SettingsError."""
    try:
        return msgspec.toml.decode(path.read_bytes().decode(), type=kind)
    except OSError as wrong:
        raise SettingsError(f"{path} cannot be read: {wrong.strerror}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path} is not a text in UTF-8: save it as UTF-8") from None
    except msgspec.DecodeError as wrong:
        raise SettingsError(f"{path}: {wrong}") from None


def read_settings(path: Path) -> HouseSettings:
    """Read the settings of a collector. Raises SettingsError, also if two entries name the same wheel."""
    settings = read_toml(path, HouseSettings)
    roots = [wheel.root for wheel in settings.wheels]
    twice = next((root for root in roots if roots.count(root) > 1), None)
    if twice is not None:
        raise SettingsError(f"{path}: {twice} is named twice")
    return settings
