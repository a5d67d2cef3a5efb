"""The files in systemd/, checked by systemd's own tools."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.systemd.conftest import PROJECT
from tests.systemd.machine import Machine

UNIT = PROJECT / "systemd" / "wheeld@.service"
OTHERS = ("page@", "backup@", "house-collect", "house-page", "house-stamp")
UNITS = (UNIT, *(PROJECT / "systemd" / f"wheeld-{name}.service" for name in OTHERS))
SCORE_MAX = 1.5
"""The highest exposure of the unit, from 0 to 10."""

on_this_host = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze on this host")


def analyze(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["systemd-analyze", "--no-pager", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def verified(directory: Path, text: str) -> str:
    """What systemd reports about a unit. It returns 0 for an unknown key, so only an empty output means success."""
    unit = directory / "wheeld@.service"
    unit.write_text(re.sub(r"^(Exec\w+)=/opt/wheeld/.+$", r"\1=/bin/true", text, flags=re.MULTILINE))
    done = analyze("verify", str(unit))
    return done.stdout + done.stderr


@on_this_host
@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.stem)
def test_systemd_finds_no_fault_in_the_unit(unit: Path, tmp_path: Path) -> None:
    assert verified(tmp_path, unit.read_text()) == ""


@on_this_host
def test_a_key_that_systemd_does_not_know_would_be_found(tmp_path: Path) -> None:
    assert "ProtectWheel" in verified(tmp_path, UNIT.read_text().replace("ProtectHome=", "ProtectWheel="))


@on_this_host
@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.stem)
def test_the_unit_is_hardened(unit: Path) -> None:
    threshold = f"--threshold={round(SCORE_MAX * 10)}"
    done = analyze("security", "--offline=true", threshold, str(unit))
    assert done.returncode == 0, "\n".join(line for line in done.stdout.splitlines() if "✓" not in line)


def test_the_installed_unit_passes_the_same_checks(machine: Machine) -> None:
    done = machine.run("systemd-analyze", "verify", "wheeld@any.service")
    assert done.stdout + done.stderr == ""
    exposure = re.search(r"exposure level for \S+: (\d+\.\d)", machine.ask("systemd-analyze", "security", "wheeld@any"))
    assert exposure is not None
    assert float(exposure[1]) <= SCORE_MAX


def test_wheel_and_broker_get_the_processor_first(machine: Machine) -> None:
    weights = machine.ask("systemctl", "show", "--value", "--property=CPUWeight", "wheeld@any", "mosquitto")
    assert weights.split() == ["1000", "1000"]


def test_systemd_never_gives_up_the_broker(machine: Machine) -> None:
    """The pause between two starts is so long that the limit of starts is never reached."""
    properties = "--property=RestartUSec,StartLimitIntervalUSec,StartLimitBurst"
    shown = machine.ask("systemctl", "show", properties, "mosquitto")
    told = dict(line.split("=") for line in shown.splitlines())
    pause_s, interval_s = (float(told[name].removesuffix("s")) for name in ("RestartUSec", "StartLimitIntervalUSec"))
    assert pause_s * int(told["StartLimitBurst"]) > interval_s


def test_a_board_is_named_by_its_serial_number(machine: Machine) -> None:
    """udev's own answer for a terminal with the properties of a board; the distribution's rules are read too."""
    rule = 'KERNEL=="tty1", ENV{ID_BUS}="usb", ENV{ID_SERIAL_SHORT}="0042", ENV{ID_VENDOR}="wheeld"\n'
    machine.write("/etc/udev/rules.d/00-test.rules", rule)
    printed = machine.run("udevadm", "test", "--action=add", "/sys/class/tty/tty1").stderr
    ours = dict(re.findall(r"70-wheeld\.rules:\d+ (\w+) '?([^'\n]+)", printed))
    group = machine.shell("getent group wheeld | cut -d: -f3").strip()
    assert ours == {"LINK": "wheeld/0042", "GROUP": group, "MODE": "0660"}
    assert not re.search(r"70-wheeld\.rules.*(nvalid|nknown|gnoring)", printed)
