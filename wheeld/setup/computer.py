"""The computer on which a wheel is set up. Its errors are in the language of the screen."""

from __future__ import annotations

import stat
import subprocess
from pathlib import Path

from wheeld.computer import AnyComputer
from wheeld.core.catalogue import Text, translatable
from wheeld.text_error import TextError

UNITS = ("etc/systemd/system", "usr/local/lib/systemd/system", "lib/systemd/system", "usr/lib/systemd/system")
"""The directories of unit files."""


class SetupError(TextError):
    """The wheel cannot be set up in this way. The text is one line and says what to do."""


class Computer(AnyComputer):
    """The computer of a wheel."""

    def is_directory(self, path: Path) -> bool:
        """Return whether the directory exists. Raises PermissionError."""
        try:
            path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        return path.is_dir()

    def has_access(self, path: Path, *, mode: int, owner: str, group: str) -> bool:
        """Return whether `path` has this mode, owner and group. Raises OSError."""
        try:
            found = (stat.S_IMODE(path.stat().st_mode), path.owner(), path.group())
        except KeyError:
            return False  # the number of its owner or group has no name
        return found == (mode, owner, group)

    def has_unit(self, unit: str) -> bool:
        """Return whether a unit file is installed."""
        return any((self.root / directory / unit).exists() for directory in UNITS)

    def own(self, path: Path, owner: str, group: str) -> None:
        """Change the owner and the group. Raises OSError, SetupError."""
        try:
            super().own(path, owner, group)
        except LookupError as wrong:
            begin, _, name = str(wrong).partition(": ")
            known = (Text(text, {"name": name}) for text in _NOBODY if text.startswith(f"{begin}:"))
            named = {"file": str(path), "wrong": next(known, str(wrong))}
            what = Text("{file}: {wrong}: install the package that creates this user or group", named)
            raise SetupError(what) from None

    def run(self, *command: str) -> None:
        """Run a command to its end. Raises SetupError."""
        try:
            super().run(*command)
        except subprocess.CalledProcessError as failed:
            ended = {"command": " ".join(command), "code": str(failed.returncode)}
            raise SetupError(Text("{command} failed with exit code {code}: its own message is above", ended)) from None


_NOBODY = (translatable("no such user: {name}"), translatable("no such group: {name}"))
"""Python's messages about an unknown user or group."""
