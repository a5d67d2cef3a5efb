"""The computer on which a wheel is set up, or a directory that stands for one: what is there, and what is done."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

from wheeld.core.catalogue import Text, translatable
from wheeld.text_error import TextError

UNITS = ("etc/systemd/system", "usr/local/lib/systemd/system", "lib/systemd/system", "usr/lib/systemd/system")
"""Where units stand."""


class SetupError(TextError):
    """The wheel cannot be set up so; the text is one line and says what to do."""


class Computer:
    """All paths are below `root`."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root

    def at(self, path: str) -> Path:
        """The absolute path below the root."""
        return self.root / path.lstrip("/")

    def is_ours(self) -> bool:
        """Whether files can be given to any user, and services be started."""
        return os.geteuid() == 0

    def read(self, path: Path) -> bytes | None:
        """The content; None where nothing is. Raises OSError, PermissionError where only root can look."""
        try:
            return path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def is_directory(self, path: Path) -> bool:
        """Whether it is there. Raises PermissionError."""
        try:
            path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        return path.is_dir()

    def written_s(self, path: Path) -> float | None:
        """When it was written last, in seconds of the host's date; None where nothing is."""
        try:
            return path.stat().st_mtime
        except (FileNotFoundError, NotADirectoryError):
            return None

    def has_access(self, path: Path, *, mode: int, owner: str, group: str) -> bool:
        """Whether what is at `path` belongs to them and has that mode. Raises OSError."""
        try:
            found = (stat.S_IMODE(path.stat().st_mode), path.owner(), path.group())
        except KeyError:
            return False  # it belongs to a number that is nobody's
        return found == (mode, owner, group)

    def has_unit(self, unit: str) -> bool:
        """Whether a unit file is installed."""
        return any((self.root / directory / unit).exists() for directory in UNITS)

    def is_enabled(self, unit: str) -> bool:
        """Whether each boot starts the unit."""
        return os.path.lexists(self.at(f"etc/systemd/system/multi-user.target.wants/{unit}"))

    def started_s(self, unit: str) -> float | None:
        """Since when the unit runs, in whole seconds of the host's date; None: it does not."""
        asked = ["systemctl", "show", "--value", "--timestamp=unix", "--property=ActiveEnterTimestamp"]
        active = ["systemctl", "--quiet", "is-active", unit]
        try:
            if subprocess.run(active, check=False).returncode:  # noqa: S603  a unit's name of ours
                return None
            told = subprocess.run([*asked, unit], capture_output=True, text=True, check=False).stdout  # noqa: S603
        except FileNotFoundError:
            return None
        return float(told.strip().removeprefix("@") or 0)

    def write(self, path: Path, content: bytes, *, mode: int, owner: str, group: str) -> None:
        """The whole file or nothing, and never readable by more than `mode` says. Raises OSError, SetupError."""
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
        """Make it; those above it are there. Raises OSError, SetupError."""
        path.mkdir(mode=0o700)
        self.own(path, owner, group)
        path.chmod(mode)

    def own(self, path: Path, owner: str, group: str) -> None:
        """Give it away. Raises OSError, SetupError."""
        try:
            shutil.chown(path, owner, group)
        except LookupError as wrong:
            named = {"file": str(path), "wrong": _nobody(str(wrong))}
            raise SetupError(Text("{file}: {wrong}: install the package that makes this user", named)) from None

    def run(self, *command: str) -> None:
        """Run a command to its end. Raises SetupError."""
        done = subprocess.run(command, check=False)  # noqa: S603  commands of the plan, which was shown
        if done.returncode:
            ended = {"command": " ".join(command), "code": str(done.returncode)}
            raise SetupError(Text("{command} ended with {code}: what it said stands above", ended))


_NOBODY = (translatable("no such user: {name}"), translatable("no such group: {name}"))


def _nobody(told: str) -> Text | str:
    """What Python says of a user or a group that is not there."""
    begin, _, name = told.partition(": ")
    return next((Text(text, {"name": name}) for text in _NOBODY if text.startswith(f"{begin}:")), told)
