"""A booted Debian: systemd as PID 1 in systemd-nspawn. Nothing of it is left after the test."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

THERE = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8"}
"""The environment of a command in the machine. What the tests' own processes have is none of its business."""

PATIENCE_S = 40.0
"""Limit for what takes seconds; only a defect, or a very busy machine, needs so long."""

# What a machine writes stays in memory from one boot to the next, in a mount namespace that ends with its keeper; the
# keeper ends with this process. The cgroup tree is always of version 2, as on every current host.
_KEEP = """
set -e
cd "$0"
mkdir lower memory root
mount --bind "$1" lower
mount -t tmpfs -o mode=755 wheel memory
mkdir memory/upper memory/work
mount -t overlay -o lowerdir=lower,upperdir=memory/upper,workdir=memory/work wheel root
mount -t cgroup2 none /sys/fs/cgroup
echo kept
exec cat
"""
_BOOT = """
set -e
mkdir /sys/fs/cgroup/$2
echo $$ > /sys/fs/cgroup/$2/cgroup.procs
exec systemd-nspawn -q --directory="$0/root" --private-network --register=no --keep-unit \\
    --system-call-filter=bpf --console=pipe --bind-ro="$1:/mnt/project" --machine=wheel --boot
"""


class Machine:
    """Commands in the running machine, as root."""

    def __init__(self, keeper: int, directory: Path, project: Path) -> None:
        self._keeper, self._directory, self._project = keeper, directory, project
        self._group = f"wheeld-test-{keeper}"
        self._nspawn: subprocess.Popen[bytes] | None = None
        self._leader = 0

    @property
    def leader(self) -> int:
        """The process in which its systemd runs."""
        return self._leader

    def boot(self) -> None:
        """Boot it with the disk as it is; returns when systemd has started everything."""
        enter = ("nsenter", "--mount", "--target", str(self._keeper))
        self._nspawn = subprocess.Popen(
            [*enter, "sh", "-c", _BOOT, str(self._directory), str(self._project), self._group],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        self._leader = self._until(self._find_leader, "systemd starts")
        self.until(lambda: self.ask("systemctl", "is-system-running") == "running", "it is up")

    def run(
        self, *command: str, text: str = "", check: bool = True, patience_s: float = PATIENCE_S
    ) -> subprocess.CompletedProcess[str]:
        """Run `command` with `text` as its input."""
        spaces = ("--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup")
        enter = ("nsenter", "--target", str(self._leader), *spaces)
        done = subprocess.run(
            [*enter, *command], input=text, capture_output=True, text=True, timeout=patience_s, check=False, env=THERE
        )
        assert not check or done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def ask(self, *command: str) -> str:
        """What `command` prints, with any exit code."""
        return self.run(*command, check=False).stdout.strip()

    def shell(self, script: str) -> str:
        """Run `script` in a shell, which must succeed. Returns what it prints."""
        return self.run("sh", "-euc", script).stdout

    def write(self, path: str, text: str) -> None:
        """Write the file at `path`, and make its directory."""
        self.run("sh", "-euc", 'mkdir -p "${0%/*}"; cat > "$0"', path, text=text)

    def service(self, name: str, command: str, more: str) -> None:
        """Run `command` as a service now and after every boot; `more` are lines of its [Service] section."""
        unit = f"[Unit]\nStartLimitIntervalSec=0\n[Service]\nExecStart={command}\n{more}\n"
        self.write(f"/etc/systemd/system/{name}.service", f"{unit}[Install]\nWantedBy=multi-user.target\n")
        self.run("systemctl", "--quiet", "enable", "--now", name)

    def until(self, holds: Callable[[], bool], what: str, patience_s: float = PATIENCE_S) -> None:
        """Return when `holds` is true; fails after so many seconds."""
        self._until(holds, what, patience_s)

    def cut_power(self) -> None:
        """Kill it with everything in it, at once."""
        if self._nspawn is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._leader or self._nspawn.pid, signal.SIGKILL)
        self._ended()

    def shut_down(self, verb: str) -> None:
        """An orderly `systemctl reboot` or `poweroff`; in both cases it is off when this returns."""
        self.run("systemctl", verb, check=False)  # it may be gone before systemctl has received the answer
        self._ended()

    def _ended(self) -> None:
        assert self._nspawn is not None
        self._nspawn.wait(PATIENCE_S)
        self._nspawn, self._leader = None, 0
        _remove_group(self._group)

    def _find_leader(self) -> int:
        assert self._nspawn is not None
        assert self._nspawn.poll() is None, "systemd-nspawn ended"
        children = Path(f"/proc/{self._nspawn.pid}/task/{self._nspawn.pid}/children").read_text().split()
        named = [child for child in children if Path(f"/proc/{child}/comm").read_text() == "systemd\n"]
        return int(named[0]) if named else 0

    def _until(self, look: Callable[[], T], what: str, patience_s: float = PATIENCE_S) -> T:
        deadline = time.monotonic() + patience_s
        while not (seen := look()):
            assert time.monotonic() < deadline, f"not in time: {what}"
            time.sleep(0.05)
        return seen


@contextmanager
def booted(root: Path, project: Path, directory: Path) -> Iterator[Machine]:
    """The Debian in `root`, booted with nothing changed in it; `project` is at /mnt/project, `directory` is empty."""
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", _KEEP, str(directory), str(root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as keeper:
        assert keeper.stdout is not None
        assert keeper.stdout.readline() == "kept\n"
        machine = Machine(keeper.pid, directory, project)
        try:
            machine.boot()
            yield machine
        finally:
            machine.cut_power()


def _remove_group(group: str) -> None:
    """Remove the group where this host has the tree of version 2: alone, or beside those of version 1."""
    for tree in (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified")):
        for part in sorted((tree / group).rglob("*/"), reverse=True):
            part.rmdir()
        with contextlib.suppress(FileNotFoundError):
            (tree / group).rmdir()
