"""The wheels of this computer by their names: where the configuration, the secrets and the journal of each are.

`campione-03` is the instance of `wheeld@campione-03.service`. Its places are those of the unit as it ships
(systemd/wheeld@.service): /etc/wheeld/campione-03.toml, and for `credential:ID` the file `wheeld.campione-03.ID` of
systemd's stores of credentials. What a changed unit says is not read.
"""

from __future__ import annotations

import errno
import re
from pathlib import Path
from typing import NamedTuple

from wheeld.config.paths import Credentials, PathError, given_by_systemd, is_in_service, not_stored
from wheeld.config.reading import journal_path, signing_key
from wheeld.core.catalogue import Text

ROOT = Path("/")
"""Below it are all places; tests have another one."""

CONFIGURATIONS = "etc/wheeld"
STORES = ("etc/credstore", "run/credstore")
"""Where systemd looks for a credential that is no whole path, in this order (LoadCredential= in systemd.exec(5))."""

NAME_PATTERN = r"[A-Za-z0-9][A-Za-z0-9:_.@-]{0,127}"
"""What can be an instance of a unit and the name of a file. A path has a slash."""


class WheelFiles(NamedTuple):
    """The configuration file of one wheel, and what gives the files of the credentials that it names."""

    config: Path
    credentials: Credentials = given_by_systemd

    @property
    def name(self) -> str:
        """By which any command finds it from any directory: that of its instance, or its file."""
        is_instance = self.config.parent == ROOT / CONFIGURATIONS and self.config.suffix == ".toml"
        return self.config.stem if is_instance else str(self.config.absolute())


def wheel_of(given: str) -> WheelFiles:
    """The wheel that a command line names, as a file or as an instance.

    An instance is a bare name, without a slash and without `.toml`, that is no existing file. Raises OSError.
    """
    name = _instance(given)
    if name is None:
        return WheelFiles(Path(given))
    # Within a service systemd has read the store already, which the service's user may not.
    credentials = given_by_systemd if is_in_service() else StoredCredentials(name).file
    return WheelFiles(ROOT / CONFIGURATIONS / f"{name}.toml", credentials)


def journal_of(given: str) -> Path:
    """The journal that a command line names: its file, or that of a wheel by `[journal] path`.

    Of the configuration only this key is read. So a journal can be verified whatever else is wrong, and by a user that
    may not read secrets. Raises OSError, ConfigError.
    """
    return journal_path(wheel_of(given).config) if _is_wheel(given) else Path(given)


def signing_key_of(given: str) -> Path | None:
    """The private key of the wheel that a command line names, by `[journal] signing_key_file`; None where it names a
    journal's file, or a wheel without a key. Raises OSError, ConfigError."""
    return signing_key(*wheel_of(given)) if _is_wheel(given) else None


def public_keys_of(given: str) -> list[Path]:
    """The public half of the key of the wheel that a command line names, where `wheeld setup` has put it; none where it
    names a journal's file, or where there is no such key. Raises OSError."""
    public_key = wheel_of(given).config.with_suffix(".pub") if _is_wheel(given) else Path()
    return [public_key] if public_key.is_file() else []


def _is_wheel(given: str) -> bool:
    """Whether it is an instance or the file of a configuration, and no journal."""
    return given.endswith(".toml") or _instance(given) is not None


class StoredCredentials:
    """The credentials of one instance in systemd's stores, for commands that a person gives outside of the unit."""

    def __init__(self, name: str, root: Path | None = None) -> None:
        self._name, self._root = name, root or ROOT

    def file(self, credential: str) -> Path:
        """The file of `credential:ID`; raises PathError where there is none, PermissionError for who may not read
        it."""
        file = f"wheeld.{self._name}.{credential}"
        for store in STORES:
            path = self._root / store / file
            try:
                path.open("rb").close()
            except FileNotFoundError:
                continue
            return path
        for store in STORES:
            encrypted = self._root / f"{store}.encrypted" / file
            if encrypted.exists():
                raise PathError(
                    Text(
                        "is {file}, which is encrypted: only systemd can read it, for the unit",
                        {"file": str(encrypted)},
                    )
                )
        raise PathError(not_stored(credential, self._name, self._root / STORES[0] / file))


def _instance(given: str) -> str | None:
    """The name of the instance; None for a path. Raises FileNotFoundError where there is neither."""
    if not re.fullmatch(NAME_PATTERN, given) or given.endswith(".toml") or Path(given).is_file():
        return None
    config = ROOT / CONFIGURATIONS / f"{given}.toml"
    try:
        config.stat()  # not `exists`: from Python 3.14 on that is False also where nobody may look
    except FileNotFoundError:
        why = f"there is no such file here, and no wheel of that name ({config})"
        raise FileNotFoundError(errno.ENOENT, why, given) from None
    return given
