"""The computer of a house, with its PostgreSQL."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from wheeld.computer import AnyComputer
from wheeld_house.settings import SettingsError

STAYS, DIFFERS = "stays", "differs"
AS_POSTGRES = ("runuser", "-u", "postgres", "--")
"""The words before a command of PostgreSQL's own user, who needs no password on this computer (Debian)."""


class HouseStep(msgspec.Struct, frozen=True):
    """One step of the plan. The first three members are for people. `do` does the step. It is None if the step is done
    already (STAYS), or if a person must do it (DIFFERS)."""

    action: str
    what: str
    why: str
    do: Callable[[], object] | None = None


class HouseComputer(AnyComputer):
    """The computer of a house: setup reads and writes its files, and runs commands on it."""

    def own(self, path: Path, owner: str, group: str) -> None:
        """Change the owner and the group of a file. Raises OSError, SettingsError."""
        try:
            super().own(path, owner, group)
        except LookupError as wrong:
            raise SettingsError(f"{path}: {wrong}: install the package that creates this user or group") from None

    def run(self, *command: str) -> None:
        """Run a command to its end. Raises SettingsError."""
        try:
            super().run(*command)
        except subprocess.CalledProcessError as failed:
            raise SettingsError(
                f"{' '.join(command)} failed with exit code {failed.returncode}: its own message says why"
            ) from None

    def sql(self, database: str, statement: str) -> list[str]:
        """Execute a statement as PostgreSQL's own user. Returns the lines of the answer. Raises SettingsError."""
        asked = ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", statement]
        done = subprocess.run(  # noqa: S603  the command has only words of this program
            [*self.as_postgres(), *asked], cwd="/", capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SettingsError(f"PostgreSQL: {done.stderr.strip()}")
        return done.stdout.splitlines()

    def as_postgres(self) -> Sequence[str]:
        """Return the words before a command of PostgreSQL's own user."""
        return AS_POSTGRES
