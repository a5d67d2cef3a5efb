"""Reads and changes the computer of a house, or a directory that is used in its place."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from wheeld_house.settings import SettingsError

STAYS, DIFFERS = "stays", "differs"
AS_POSTGRES = ("runuser", "-u", "postgres", "--")
"""Debian's PostgreSQL lets its own user in without a password, on this computer."""


class HouseStep(msgspec.Struct, frozen=True):
    """One step of the plan. The first three are for people. `do` carries it out; None if there is nothing to do."""

    action: str
    what: str
    why: str
    do: Callable[[], object] | None = None


class HouseComputer:
    """A computer. All its paths are below `root`."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root

    def at(self, path: str) -> Path:
        """The absolute path below the root."""
        return self.root / path

    def is_ours(self) -> bool:
        """Whether this process may give files to any user and start services."""
        return os.geteuid() == 0

    def read(self, path: Path) -> bytes | None:
        """Return the content, or None if there is no file."""
        try:
            return path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write(self, path: Path, content: bytes, *, mode: int, owner: str, group: str) -> None:
        """Write the whole file or nothing, never with more permissions than `mode`. Raises OSError, SettingsError."""
        fresh = path.with_name(f".{path.name}.new")
        fresh.unlink(missing_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            self.own(fresh, owner, group)
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        fresh.replace(path)

    def own(self, path: Path, owner: str, group: str) -> None:
        """Change the owner and the group. Raises OSError, SettingsError."""
        try:
            shutil.chown(path, owner, group)
        except LookupError as wrong:
            raise SettingsError(f"{path}: {wrong}: install the package that makes this user") from None

    def run(self, *command: str) -> None:
        """Run a command to its end. Raises SettingsError."""
        done = subprocess.run(command, cwd="/", check=False)  # noqa: S603  commands of the plan, which was shown
        if done.returncode:
            raise SettingsError(f"{' '.join(command)} failed with exit code {done.returncode}: see its own message")

    def sql(self, database: str, statement: str) -> list[str]:
        """Do a statement as PostgreSQL's own user, and return the lines of the answer. Raises SettingsError."""
        asked = ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", statement]
        done = subprocess.run(  # noqa: S603  words of this program
            [*self.as_postgres(), *asked], cwd="/", capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SettingsError(f"PostgreSQL: {done.stderr.strip()}")
        return done.stdout.splitlines()

    def as_postgres(self) -> Sequence[str]:
        """What a command begins with that PostgreSQL's own user runs."""
        return AS_POSTGRES

    def is_enabled(self, unit: str) -> bool:
        """Whether each boot starts the unit."""
        return os.path.lexists(self.at(f"etc/systemd/system/multi-user.target.wants/{unit}"))

    def started_s(self, unit: str) -> float | None:
        """Return when the unit was started, in whole seconds of the host's date. None if it does not run."""
        active = ["systemctl", "--quiet", "is-active", unit]
        asked = ["systemctl", "show", "--value", "--timestamp=unix", "--property=ActiveEnterTimestamp", unit]
        try:
            if subprocess.run(active, check=False).returncode:  # noqa: S603  the name is one of our units
                return None
            told = subprocess.run(asked, capture_output=True, text=True, check=False).stdout  # noqa: S603
        except FileNotFoundError:
            return None
        return float(told.strip().removeprefix("@") or 0)
