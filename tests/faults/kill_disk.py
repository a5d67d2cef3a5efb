"""A file system that can be turned read-only under a running daemon, as a failing disk is by the kernel."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
    script = f"mkfs.ext4 -q '{image}' && mount -o loop '{image}' '{point}' && echo ready && exec cat"
    holder = subprocess.Popen(
        ["unshare", "-m", "sh", "-c", script],
        env={**os.environ, "PATH": f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        is_ready = holder.stdout.readline() == b"ready\n"
        yield ["nsenter", "-t", str(holder.pid), "-m", "--"] if is_ready else None
    finally:
        holder.stdin.close()
        holder.wait()
        holder.stdout.close()


def abort(prefix: list[str], point: Path) -> None:
    """What ext4 does when its own journal cannot be written: nothing more is written, though files are open."""
    subprocess.run([*prefix, "mount", "-o", "remount,abort", str(point)], check=True)
    left = subprocess.run([*prefix, "touch", str(point / "more")], check=False, capture_output=True)
    assert b"Read-only" in left.stderr, left
