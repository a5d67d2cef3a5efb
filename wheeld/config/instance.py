"""Finds the wheels of this computer by name: the paths of their configurations, secrets and journals.

`campione-03` is the instance of `wheeld@campione-03.service`. Its paths are those of the unit as delivered
(systemd/wheeld@.service): /etc/wheeld/campione-03.toml, and for `credential:ID` the file `wheeld.campione-03.ID` in
systemd's credential stores. The paths of a changed unit are not found.
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
"""The directory that contains all these paths. Tests use another one."""

CONFIGURATIONS = "etc/wheeld"
EXAMPLE = "example.toml"
"""The example configuration of the package. It belongs to no real table."""
STORES = ("etc/credstore", "run/credstore")
"""The directories that systemd searches, in this order, for a credential without an absolute path (LoadCredential= in
systemd.exec(5))."""

NAME_PATTERN = r"[A-Za-z0-9][A-Za-z0-9:_.@-]{0,127}"
"""A name that can be an instance of a unit and the name of a file. It has no slash, so it is not a path."""


class WheelFiles(NamedTuple):
    """The configuration file of one wheel, and the function that finds the files of its credentials."""

    config: Path
    credentials: Credentials = given_by_systemd

    @property
    def is_instance(self) -> bool:
        """Whether a unit of systemd runs this wheel."""
        return self.config.parent == ROOT / CONFIGURATIONS and self.config.suffix == ".toml"

    @property
    def name(self) -> str:
        """Return the name that works in any command and any directory: the instance, or the path of the file."""
        return self.config.stem if self.is_instance else str(self.config.absolute())


def wheel_of(given: str) -> WheelFiles:
    """Return the wheel that a command line names, as a file or as an instance.

    A name without a slash and without `.toml` is an instance, if there is no file with this name. Raises OSError.
    """
    name = _instance(given)
    if name is None:
        return WheelFiles(Path(given))
    # In a service, systemd has already read the credential stores, which the service's user cannot read.
    credentials = given_by_systemd if is_in_service() else StoredCredentials(name).file
    return WheelFiles(ROOT / CONFIGURATIONS / f"{name}.toml", credentials)


def journal_of(given: str) -> Path:
    """Return the journal that a command line names: its file, or the `[journal] path` of a wheel.

    Only this key of the configuration is read. So a person can verify a journal even if other keys are wrong, and even
    if he cannot read secrets. Raises OSError, ConfigError.
    """
    return journal_path(wheel_of(given).config) if _is_wheel(given) else Path(given)


def signing_key_of(given: str) -> Path | None:
    """Return the private key of the wheel that a command line names: its `[journal] signing_key_file`. None if the
    command line names a journal's file, or a wheel without a key. Raises OSError, ConfigError."""
    return signing_key(*wheel_of(given)) if _is_wheel(given) else None


def public_keys_of(given: str) -> list[Path]:
    """Return the public key of the wheel that a command line names, from the path that `wheeld setup` uses. Empty if
    the command line names a journal's file, or if there is no such key. Raises OSError."""
    public_key = wheel_of(given).config.with_suffix(".pub") if _is_wheel(given) else Path()
    return [public_key] if public_key.is_file() else []


def _is_wheel(given: str) -> bool:
    """Return whether `given` is an instance or a configuration file, and not a journal."""
    return given.endswith(".toml") or _instance(given) is not None


class StoredCredentials:
    """The credentials of one instance in systemd's stores, for commands that a person runs outside the unit."""

    def __init__(self, name: str, root: Path | None = None) -> None:
        self._name, self._root = name, root or ROOT

    def file(self, credential: str) -> Path:
        """Return the file of `credential:ID`. Raises PathError if there is none, PermissionError if this user cannot
        read it."""
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
                        "is {file}, which is encrypted: only systemd can read it, and only for the unit",
                        {"file": str(encrypted)},
                    )
                )
        raise PathError(not_stored(credential, self._name, self._root / STORES[0] / file))


def configurations(folder: Path) -> list[Path]:
    """Return the configuration of each wheel of this computer, in the order of the names."""
    return [path for path in sorted(folder.glob("*.toml")) if path.name != EXAMPLE]


def _instance(given: str) -> str | None:
    """Return the name of the instance, or None for a path. Raises FileNotFoundError if there is no such instance and no
    such file."""
    if not re.fullmatch(NAME_PATTERN, given) or given.endswith(".toml") or Path(given).is_file():
        return None
    config = ROOT / CONFIGURATIONS / f"{given}.toml"
    try:
        config.stat()  # `exists` is not used: from Python 3.14 on, it is also False if access is denied
    except FileNotFoundError:
        names = ", ".join(each.stem for each in configurations(config.parent)) or "none"
        why = f"there is no such file here, and no wheel with that name ({config}); the wheels here: {names}"
        raise FileNotFoundError(errno.ENOENT, why, given) from None
    return given
