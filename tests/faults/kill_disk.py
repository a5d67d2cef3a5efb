"""A file system that can be turned read-only under a running daemon, as a failing disk is by the kernel."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.mount_namespace import mounted

IMAGE_BYTES = 16_000_000
"""The smallest that mkfs.ext4 makes with a journal of its own."""


@contextmanager
def ext4(directory: Path) -> Iterator[list[str] | None]:
    """A small ext4 at `directory`/disk in a mount namespace, and the prefix of a command that sees it.

    None where that is forbidden, as it is without root.
    """
    point, image = directory / "disk", directory / "image"
    point.mkdir()
    with image.open("wb") as file:
        file.truncate(IMAGE_BYTES)
    with mounted(f"mkfs.ext4 -q '{image}' && mount -o loop '{image}' '{point}'") as prefix:
        yield prefix


def abort(prefix: list[str], point: Path) -> None:
    """What ext4 does when its own journal cannot be written: nothing more is written, though files are open."""
    subprocess.run([*prefix, "mount", "-o", "remount,abort", str(point)], check=True)
    left = subprocess.run([*prefix, "touch", str(point / "more")], check=False, capture_output=True)
    assert b"Read-only" in left.stderr, left
