"""A mount namespace for tests that need a disk of their own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def mounted(mount: str) -> Iterator[list[str] | None]:
    """Run the shell command `mount` in a new mount namespace, which ends with the block.

    Yields the prefix of a command that enters the namespace; None where this is forbidden.
    """
    is_root = os.geteuid() == 0
    holder = subprocess.Popen(
        ["unshare", "-m" if is_root else "-rm", "sh", "-c", f"{mount} && echo ready && exec cat"],
        env={**os.environ, "PATH": f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    user = [] if is_root else ["-U", "--preserve-credentials"]
    try:
        is_ready = holder.stdout.readline() == b"ready\n"
        yield ["nsenter", "-t", str(holder.pid), "-m", *user, "--"] if is_ready else None
    finally:
        holder.stdin.close()
        holder.wait()
        holder.stdout.close()
