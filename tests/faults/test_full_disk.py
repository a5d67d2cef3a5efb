"""A wheel that is started on a full disk: systemd tries again, and freeing space is enough."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.live import running
from tests.faults.kill_disk import ext4
from tests.live.bench import write_config
from tests.mosquitto import free_port
from wheeld.exits import Exit

UNIT = Path(__file__).parents[2] / "systemd" / "wheeld@.service"


def setting(name: str, pattern: str = r"(\d+)") -> int:
    found = re.search(rf"^{name}={pattern}$", UNIT.read_text(), re.MULTILINE)
    assert found is not None, name
    return int(found[1])


def fill(prefix: list[str], file: Path) -> None:
    """Leave no space."""
    subprocess.run([*prefix, "dd", "if=/dev/zero", f"of={file}", "bs=1k"], check=False, capture_output=True)


def free(prefix: list[str], file: Path) -> None:
    """Free it."""
    subprocess.run([*prefix, "rm", str(file)], check=True)


def test_systemd_tries_as_long_as_it_takes() -> None:
    prevented = re.search(r"^RestartPreventExitStatus=(.+)$", UNIT.read_text(), re.MULTILINE)
    assert prevented is not None
    assert str(Exit.IO_FAILED.value) not in prevented[1].split()
    only = rf'\[ "\$\$EXIT_STATUS" != {Exit.IO_FAILED} \]'
    pause_s = setting("ExecStopPost", rf"/bin/sh -c '{only} \|\| exec sleep (\d+)'")
    assert pause_s < setting("TimeoutStopSec")
    assert (setting("RestartSec") + pause_s) * setting("StartLimitBurst") > setting("StartLimitIntervalSec")


@pytest.mark.parametrize("is_begun", [False, True])
async def test_freeing_space_is_enough(tmp_path: Path, is_begun: bool) -> None:
    with ext4(tmp_path) as prefix:
        if prefix is None:
            pytest.skip("no file system may be mounted here")
        disk = tmp_path / "disk"
        config = write_config(tmp_path, free_port(), journal=str(disk / "journal.sqlite"))
        if is_begun:
            async with running(config, prefix=prefix) as daemon:
                await daemon.until("daemon.ready")
                assert await daemon.end() == Exit.OK
        fill(prefix, disk / "filler")
        async with running(config, prefix=prefix) as daemon:
            assert await daemon.end(None) == Exit.IO_FAILED
        free(prefix, disk / "filler")
        async with running(config, prefix=prefix) as daemon:
            await daemon.until("daemon.ready")
            assert await daemon.end() == Exit.OK
