"""A release's files are checked before pip or apt reads any: the documents' commands, typed as they stand there."""

from __future__ import annotations

import io
import os
import re
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WHEEL, ARCHIVE = "wheeld-0.1.0-py3-none-any.whl", "wheeld-0.1.0.tar.gz"
PACKAGE = "wheeld_0.1.0+deb12_amd64.deb"
INSTALLERS = {"by-hand.md": "pip", "install.md": "apt"}
"""By the page that gives its commands."""
VENV = 'mkdir -p "$3/bin" && for each in pip wheeld; do cp "${0%/*}/$each" "$3/bin"; done'


def typed(page: str) -> str:
    """The page's command that begins with the signature of the list, as a person types it."""
    (block,) = re.findall(
        r"^(?: {4}openssl pkeyutl -verify .+ &&\n(?: {4}.+\n)+)", (ROOT / "docs" / page).read_text(), re.M
    )
    return str(block)


def key(directory: Path, name: str) -> Path:
    made = directory / f"{name}.key"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", made], check=True)
    return made


def sign(with_key: Path, directory: Path) -> None:
    subprocess.run([ROOT / "release" / "sign", with_key, directory], check=True)


def archive(path: Path, lock: bytes) -> None:
    """A source archive with the two locks that the commands name."""
    with tarfile.open(path, "w:gz") as packed:
        for name in ("build", "wheel"):
            member = tarfile.TarInfo(f"{path.name.removesuffix('.tar.gz')}/release/locks/{name}.txt")
            member.size = len(lock)
            packed.addfile(member, io.BytesIO(lock))


class Wheel:
    """A computer with a downloaded release and its key, where pip and apt note that they were called."""

    def __init__(self, directory: Path) -> None:
        self.own, self.other = key(directory, "own"), key(directory, "other")
        self.files, self._programs = directory / "files", directory / "bin"
        self._directory = directory
        for each in (self.files, self._programs, directory / "etc/wheeld"):
            each.mkdir(parents=True)
        public = directory / "etc/wheeld/release.pub"
        subprocess.run(["openssl", "pkey", "-in", self.own, "-pubout", "-out", public], check=True)
        for name in (WHEEL, PACKAGE, PACKAGE.replace("amd64", "arm64"), "wheeld-sim_0.1.0+deb12_all.deb"):
            (self.files / name).write_bytes(name.encode())
        archive(self.files / ARCHIVE, b"cobs==1.2.2\n")
        sign(self.own, self.files)
        called = f'echo "${{0##*/}} $*" >> {directory}/called'
        for name, script in {"pip": called, "apt": called, "wheeld": called, "python3": VENV}.items():
            (self._programs / name).write_text(f"#!/bin/sh\n{script}\n")
            (self._programs / name).chmod(0o755)

    def type(self, page: str) -> tuple[int, list[str]]:
        """Type the page's command: how it ended, and which of pip, apt and wheeld were called."""
        text = re.sub(r"/(?=etc/wheeld|opt/wheeld)", f"{self._directory}/", typed(page))
        path = f"{self._programs}:{os.environ['PATH']}"
        done = subprocess.run(["sh", "-c", text], cwd=self.files, env={"PATH": path}, capture_output=True, check=False)
        called = self._directory / "called"
        return done.returncode, called.read_text().splitlines() if called.exists() else []


@pytest.fixture
def wheel(tmp_path: Path) -> Wheel:
    return Wheel(tmp_path)


def test_a_released_wheel_file_is_installed_with_the_released_locks(wheel: Wheel) -> None:
    code, called = wheel.type("by-hand.md")
    assert code == 0
    assert [line.split()[-1] for line in called if line.startswith("pip install")] == [
        "release/locks/build.txt",
        "release/locks/wheel.txt",
        f"../{WHEEL}",
    ]
    assert all("--require-hashes" in line for line in called if "locks" in line)
    assert called[-1].startswith("wheeld --version --verify --release-key ")


def test_a_released_package_is_installed(wheel: Wheel) -> None:
    assert wheel.type("install.md") == (0, [f"apt install ./{PACKAGE} ./wheeld-sim_0.1.0+deb12_all.deb mosquitto"])


def a_changed_file(wheel: Wheel) -> None:
    for name in (WHEEL, PACKAGE):
        (wheel.files / name).write_bytes(b"changed")


def a_changed_lock(wheel: Wheel) -> None:
    archive(wheel.files / ARCHIVE, b"cobs==9\n")
    (wheel.files / "wheeld-sim_0.1.0+deb12_all.deb").write_bytes(b"changed")


def a_changed_list(wheel: Wheel) -> None:
    """It suits the changed file, and nobody signed it."""
    signature = (wheel.files / "SHA256SUMS.sig").read_bytes()
    a_changed_file(wheel)
    sign(wheel.own, wheel.files)
    (wheel.files / "SHA256SUMS.sig").write_bytes(signature)


def a_foreign_key(wheel: Wheel) -> None:
    a_changed_file(wheel)
    sign(wheel.other, wheel.files)


def no_signature(wheel: Wheel) -> None:
    (wheel.files / "SHA256SUMS.sig").unlink()


def the_list_of_another_release(wheel: Wheel) -> None:
    """It is signed, and a true file of that release lies beside the false ones of this."""
    kept = {path.name: path.read_bytes() for path in wheel.files.iterdir()}
    for path in wheel.files.iterdir():
        path.unlink()
    (wheel.files / "wheeld-0.0.9.tar.gz").write_bytes(b"true")
    sign(wheel.own, wheel.files)
    for name in kept.keys() - {"SHA256SUMS", "SHA256SUMS.sig"}:
        (wheel.files / name).write_bytes(kept[name])
    a_changed_file(wheel)


@pytest.mark.parametrize("page", INSTALLERS)
@pytest.mark.parametrize(
    "change",
    [a_changed_file, a_changed_lock, a_changed_list, a_foreign_key, no_signature, the_list_of_another_release],
)
def test_whatever_is_not_the_releases_stops_before_it_is_installed(
    wheel: Wheel, change: Callable[[Wheel], None], page: str
) -> None:
    change(wheel)
    code, called = wheel.type(page)
    assert code != 0
    assert called == []
