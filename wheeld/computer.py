"""Reads and changes the computer that is set up, or a directory that stands for it.

`wheeld setup` and `wheeld-house setup` use this module. Only the first has catalogues, so there are no texts here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


class AnyComputer:
    """A computer. All its paths are below `root`."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root

    def at(self, path: str) -> Path:
        """Return the absolute path of `path` below the root."""
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

    def is_enabled(self, unit: str) -> bool:
        """Return whether each boot starts the unit."""
        return os.path.lexists(self.at(f"etc/systemd/system/multi-user.target.wants/{unit}"))

    def started_s(self, unit: str) -> float | None:
        """Return when the unit was started, in whole seconds since 1970. None if it does not run."""
        active = ["systemctl", "--quiet", "is-active", unit]
        asked = ["systemctl", "show", "--value", "--timestamp=unix", "--property=ActiveEnterTimestamp", unit]
        try:
            if subprocess.run(active, check=False).returncode:  # noqa: S603  the name is one of our units
                return None
            told = subprocess.run(asked, capture_output=True, text=True, check=False).stdout  # noqa: S603
        except FileNotFoundError:
            return None
        return float(told.strip().removeprefix("@") or 0)

    def is_unread(self, unit: str, files: Iterable[Path]) -> bool:
        """Return whether the unit has not read all these files as they are now: it does not run, or it was started
        before one of them was written. A file that this user cannot see counts as read."""
        started_s, written_s = self.started_s(unit), 0
        for file in files:
            with suppress(OSError):
                written_s = max(written_s, int(file.stat().st_mtime))
        # systemd reports whole seconds. If a unit was started in the second of the change, we assume that it has read
        # the file.
        return started_s is None or written_s > started_s

    def write(self, path: Path, content: bytes, *, mode: int, owner: str, group: str) -> None:
        """Write the whole file or nothing. It never has more permissions than `mode`. Raises what `own` raises."""
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
        """Make the directory. Its parent must exist. Raises what `own` raises."""
        path.mkdir(mode=0o700)
        self.own(path, owner, group)
        path.chmod(mode)

    def own(self, path: Path, owner: str, group: str) -> None:
        """Change the owner and the group. Raises OSError, and LookupError for a user or a group that does not exist."""
        shutil.chown(path, owner, group)

    def run(self, *command: str) -> None:
        """Run a command to its end. Raises CalledProcessError."""
        subprocess.run(command, cwd="/", check=True)  # noqa: S603  a command of the plan, which the person has seen
