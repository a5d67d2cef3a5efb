"""Reads and changes the computer on which a wheel is set up, or a directory that is used in its place."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

from wheeld.core.catalogue import Text, translatable
from wheeld.text_error import TextError

UNITS = ("etc/systemd/system", "usr/local/lib/systemd/system", "lib/systemd/system", "usr/lib/systemd/system")
"""The directories of unit files."""


class SetupError(TextError):
    """The wheel cannot be set up in this way. The text is one line and says what to do."""


class Computer:
    """A computer. All its paths are below `root`."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root

    def at(self, path: str) -> Path:
        """The absolute path below the root."""
        return self.root / path.lstrip("/")

    def is_ours(self) -> bool:
        """Return whether this process may give files to any user and start services."""
        return os.geteuid() == 0

    def read(self, path: Path) -> bytes | None:
        """Return the content, or None if there is no file. Raises OSError; PermissionError if only root may read it."""
        try:
            return path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def is_directory(self, path: Path) -> bool:
        """Return whether the directory exists. Raises PermissionError."""
        try:
            path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        return path.is_dir()

    def written_s(self, path: Path) -> float | None:
        """Return when the file was last written, in seconds of the host's date. None if there is no file."""
        try:
            return path.stat().st_mtime
        except (FileNotFoundError, NotADirectoryError):
            return None

    def has_access(self, path: Path, *, mode: int, owner: str, group: str) -> bool:
        """Return whether `path` has this mode, owner and group. Raises OSError."""
        try:
            found = (stat.S_IMODE(path.stat().st_mode), path.owner(), path.group())
        except KeyError:
            return False  # the number of its owner or group has no name
        return found == (mode, owner, group)

    def has_unit(self, unit: str) -> bool:
        """Whether a unit file is installed."""
        return any((self.root / directory / unit).exists() for directory in UNITS)

    def is_enabled(self, unit: str) -> bool:
        """Whether each boot starts the unit."""
        return os.path.lexists(self.at(f"etc/systemd/system/multi-user.target.wants/{unit}"))

    def started_s(self, unit: str) -> float | None:
        """Return when the unit was started, in whole seconds of the host's date. None if it does not run."""
        asked = ["systemctl", "show", "--value", "--timestamp=unix", "--property=ActiveEnterTimestamp"]
        active = ["systemctl", "--quiet", "is-active", unit]
        try:
            if subprocess.run(active, check=False).returncode:  # noqa: S603  the name is one of our units
                return None
            told = subprocess.run([*asked, unit], capture_output=True, text=True, check=False).stdout  # noqa: S603
        except FileNotFoundError:
            return None
        return float(told.strip().removeprefix("@") or 0)

    def write(self, path: Path, content: bytes, *, mode: int, owner: str, group: str) -> None:
        """Write the whole file or nothing, never with more permissions than `mode`. Raises OSError, SetupError."""
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

    def make_directory(self, path: Path, *, mode: int, owner: str, group: str) -> None:
        """Make the directory. Its parent must exist. Raises OSError, SetupError."""
        path.mkdir(mode=0o700)
        self.own(path, owner, group)
        path.chmod(mode)

    def own(self, path: Path, owner: str, group: str) -> None:
        """Change the owner and the group. Raises OSError, SetupError."""
        try:
            shutil.chown(path, owner, group)
        except LookupError as wrong:
            begin, _, name = str(wrong).partition(": ")
            known = (Text(text, {"name": name}) for text in _NOBODY if text.startswith(f"{begin}:"))
            named = {"file": str(path), "wrong": next(known, str(wrong))}
            raise SetupError(Text("{file}: {wrong}: install the package that makes this user", named)) from None

    def run(self, *command: str) -> None:
        """Run a command to its end. Raises SetupError."""
        done = subprocess.run(command, check=False)  # noqa: S603  commands of the plan, which was shown
        if done.returncode:
            ended = {"command": " ".join(command), "code": str(done.returncode)}
            raise SetupError(Text("{command} failed with exit code {code}: its own message is above", ended))


_NOBODY = (translatable("no such user: {name}"), translatable("no such group: {name}"))
"""Python's messages about an unknown user or group."""
