"""A booted Debian: systemd as PID 1 in systemd-nspawn, nothing of which outlives the test."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

PATIENCE_S = 40.0
"""For what takes seconds; only a defect, or a very busy machine, waits so long."""

GROUP = f"wheeld-test-{os.getpid()}"

# The machine gets a cgroup tree of version 2, as every host of today has, whatever this one has; and writes to memory.
_BOOT = f"""
set -e
mount -t cgroup2 none /sys/fs/cgroup
mkdir /sys/fs/cgroup/{GROUP}
echo $$ > /sys/fs/cgroup/{GROUP}/cgroup.procs
exec systemd-nspawn -q --directory="$0" --volatile=overlay --private-network --register=no --keep-unit \\
    --system-call-filter=bpf --console=pipe --bind-ro="$1:/mnt/project" --machine=wheel --boot
"""


class Machine:
    """Commands in the running machine, as root."""

    def __init__(self, nspawn: subprocess.Popen[bytes]) -> None:
        self._nspawn = nspawn
        self._leader = self._until(self._find_leader, "systemd starts")
        self.until(lambda: self.ask("systemctl", "is-system-running") == "running", "it is up")

    def run(self, *command: str, text: str = "", check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run `command` with `text` as its input."""
        spaces = ("--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup")
        enter = ("nsenter", "--target", str(self._leader), *spaces)
        done = subprocess.run(
            [*enter, *command], input=text, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        assert not check or done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def ask(self, *command: str) -> str:
        """What `command` prints, whatever its exit code."""
        return self.run(*command, check=False).stdout.strip()

    def shell(self, script: str) -> str:
        """What a shell prints that must succeed with `script`."""
        return self.run("sh", "-euc", script).stdout

    def write(self, path: str, text: str) -> None:
        """Make the file at `path`, with its directory."""
        self.run("sh", "-euc", 'mkdir -p "${0%/*}"; cat > "$0"', path, text=text)

    def until(self, holds: Callable[[], bool], what: str) -> None:
        """Return when it is so."""
        self._until(holds, what)

    def power_off(self) -> None:
        """Kill it with everything in it."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._leader, signal.SIGKILL)
        self._nspawn.wait(PATIENCE_S)

    def _find_leader(self) -> int:
        assert self._nspawn.poll() is None, "systemd-nspawn ended"
        children = Path(f"/proc/{self._nspawn.pid}/task/{self._nspawn.pid}/children").read_text().split()
        named = [child for child in children if Path(f"/proc/{child}/comm").read_text() == "systemd\n"]
        return int(named[0]) if named else 0

    def _until(self, look: Callable[[], T], what: str) -> T:
        deadline = time.monotonic() + PATIENCE_S
        while not (seen := look()):
            assert time.monotonic() < deadline, f"waited in vain: {what}"
            time.sleep(0.05)
        return seen


@contextmanager
def booted(root: Path, project: Path) -> Iterator[Machine]:
    """The Debian in `root`, booted with an empty overlay; `project` is at /mnt/project."""
    nspawn = subprocess.Popen(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", _BOOT, str(root), str(project)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    machine: Machine | None = None
    try:
        machine = Machine(nspawn)
        yield machine
    finally:
        if machine is None:
            nspawn.kill()
            nspawn.wait(PATIENCE_S)
        else:
            machine.power_off()
        _remove_group()


def _remove_group() -> None:
    """Where this host has the tree of version 2: alone, or beside those of version 1."""
    for tree in (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified")):
        for group in sorted((tree / GROUP).rglob("*/"), reverse=True):
            group.rmdir()
        with contextlib.suppress(FileNotFoundError):
            (tree / GROUP).rmdir()


class Wheel:
    """One instance of the unit in the machine."""

    def __init__(self, machine: Machine, name: str) -> None:
        self.machine, self.name, self.unit = machine, name, f"wheeld@{name}.service"

    def show(self, name: str) -> str:
        """A property of the unit."""
        return self.machine.ask("systemctl", "show", "--value", "--property", name, self.unit)

    def drop_in(self, text: str) -> None:
        """What this test sets differently."""
        self.machine.write(f"/etc/systemd/system/{self.unit}.d/test.conf", text)
        self.machine.run("systemctl", "daemon-reload")

    def systemctl(self, verb: str, *, check: bool = True) -> int:
        """Returns systemctl's exit code; `start` returns when the wheel has said READY."""
        return self.machine.run("systemctl", verb, self.unit, check=check).returncode

    def log(self) -> list[dict[str, str]]:
        """Everything in journald about the unit, its own lines and systemd's."""
        self.machine.run("journalctl", "--sync")  # what was written is there, though journald may be busy
        lines = self.machine.ask("journalctl", "--unit", self.unit, "--output", "json", "--all").splitlines()
        return [json.loads(line) for line in lines]

    def events(self) -> list[dict[str, object]]:
        """What the daemon logged, decoded, each with its PRIORITY."""
        lines = [line for line in self.log() if line["MESSAGE"].startswith("{")]
        return [{**json.loads(line["MESSAGE"]), "PRIORITY": line["PRIORITY"]} for line in lines]

    def count(self, event: str) -> int:
        """How often it was logged."""
        return sum(each["event"] == event for each in self.events())

    def seqs(self, journal: str = "") -> list[int]:
        """Every `seq` in its journal, which must verify."""
        path = journal or f"/var/lib/wheeld/{self.name}.sqlite"
        journal_command = "runuser -u wheeld -- /opt/wheeld/bin/wheeld journal"
        told = self.machine.shell(f"{journal_command} verify {path} >&2; {journal_command} show {path} --jsonl")
        payloads = [json.loads(line)["payload"] for line in told.splitlines()]
        return [payload["seq"] for payload in payloads if "seq" in payload]
