"""The package of another architecture, installed in a Debian of that architecture, whose programs qemu runs.

`make test-install-arm64` makes that Debian. It is not booted: systemd does not run under qemu's user emulation.
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.journal.journals import write_keys
from tests.journal.test_kept_versions import KEPT
from wheeld.journal import schema

MACHINES = {"arm64": 0xB7}
"""By Debian's name of an architecture, e_machine of its programs (elf.h)."""
IMPORTS = """
import importlib, pathlib, sys
sys.path.insert(0, "/usr/lib/wheeld")
sys.path.append("/usr/lib/python3/dist-packages")
for file in pathlib.Path("/usr/lib/wheeld").rglob("*.so"):
    relative = file.relative_to("/usr/lib/wheeld")
    if ".libs" not in str(relative):
        name = ".".join([*relative.parts[:-1], relative.name.split(".")[0]])
        importlib.import_module(name)
        print(name)
for name in ("msgspec._core", "cryptography.hazmat.bindings._rust"):
    importlib.import_module(name)  # Debian's, where they are not inside
"""


@pytest.fixture(scope="module")
def root() -> Path:
    root = os.environ.get("WHEELD_EMULATED_ROOT")
    if root is None:
        pytest.skip("`make test-install-arm64` makes a Debian of another architecture")
    return Path(root)


def run(root: Path, *command: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["chroot", str(root), *command], capture_output=True, timeout=600, check=False)


def test_it_is_of_that_architecture(root: Path) -> None:
    architecture = run(root, "dpkg", "--print-architecture").stdout.decode().strip()
    machine = MACHINES[architecture]
    parts = [*(root / "usr/lib/wheeld").rglob("*.so"), root / "usr/bin/env"]
    assert len(parts) > 4
    assert {int.from_bytes(part.read_bytes()[18:20], "little") for part in parts} == {machine}


def test_every_compiled_part_is_loaded(root: Path) -> None:
    done = run(root, "/usr/bin/python3", "-IS", "-c", IMPORTS)
    assert done.returncode == 0, done.stderr.decode()
    loaded = done.stdout.decode().split()
    assert any(name.startswith("aiohttp.") for name in loaded)
    if "VERSION_CODENAME=bookworm" in (root / "etc/os-release").read_text():
        assert any("lgpio" in name for name in loaded), "a wheel on pins needs it"


def test_a_recorded_evening_gives_the_same_bytes(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "evening.jsonl"
    hw_sim = Path(sys.executable).with_name("hw-sim")
    subprocess.run([hw_sim, "record", "--seed", "7", "--out", log], check=True)
    here = subprocess.run(
        [sys.executable, "-m", "wheeld", "replay", str(log), "--jsonl"], capture_output=True, check=True
    )
    shutil.copy(log, root / "tmp/evening.jsonl")
    there = run(root, "wheeld", "replay", "/tmp/evening.jsonl", "--jsonl")
    assert there.returncode == 0, there.stderr.decode()
    assert b'"topic":"result"' in here.stdout
    assert there.stdout == here.stdout


def test_a_journal_verifies_with_its_signatures(root: Path, tmp_path: Path) -> None:
    write_keys(tmp_path)
    shutil.copytree(tmp_path, root / "tmp/keys", dirs_exist_ok=True)
    journal = root / "tmp/keys/journal.sqlite"
    journal.write_bytes(gzip.decompress((KEPT / f"{schema.VERSION}.sqlite.gz").read_bytes()))
    keys = [f"--public-key=/tmp/keys/{key.name}" for key in tmp_path.glob("*.pub")]
    good = run(root, "wheeld", "journal", "verify", "/tmp/keys/journal.sqlite", *keys)
    assert good.returncode == 0, good.stdout.decode() + good.stderr.decode()


def test_what_is_open_in_the_example_is_named(root: Path) -> None:
    done = run(root, "wheeld", "check-config", "/etc/wheeld/example.toml")
    assert done.returncode == 78
    assert b"example.toml" in done.stderr
