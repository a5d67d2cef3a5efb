"""The program's own files against the manifest of a release: each kind of change is found and named."""

from __future__ import annotations

import compileall
import os
import py_compile
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from wheeld.cli.failure import file_trouble
from wheeld.cli.main import main
from wheeld.cli.version import verify
from wheeld.exits import Exit
from wheeld.release import release
from wheeld.service import program
from wheeld.service.program import MANIFEST, SIGNATURE, Program, file_digests, installed_at, program_digest

ROOT = Path(__file__).parents[2]
Change = Callable[[Path], object]


def key_pair(directory: Path, name: str) -> tuple[Path, Path]:
    key, private, public = Ed25519PrivateKey.generate(), directory / f"{name}.key", directory / f"{name}.pub"
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return private, public


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small program, released, and compiled as an installer does."""
    root = tmp_path / "site"
    for name, text in {
        "wheeld/__init__.py": "",
        "wheeld/law.py": "LAPS = 3\n\n\ndef laps():\n    return [LAPS for _ in range(2)]\n",
        "wheeld/schemas/void.json": "{}",
        "firmware_protocol/__init__.py": "VERSION = 1\n",
        "pyproject.toml": '[project]\nversion = "7.8.9"\n',
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    private, _ = key_pair(tmp_path, "release")
    release(root, private, "c0ffee")
    compileall.compile_dir(root, quiet=1)
    return root


def test_a_released_program_is_the_released_program(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify(tree, tree.parent / "release.pub") == Exit.OK
    printed = capsys.readouterr()
    assert "all 4 files are those of release 7.8.9 (commit c0ffee), signed with key " in printed.out
    assert program_digest(file_digests(tree)) in printed.out
    assert printed.err == ""


def compiled(root: Path) -> Path:
    (copy,) = (root / "wheeld" / "__pycache__").glob("law.*.pyc")
    return copy


def false_copy(root: Path) -> None:
    """It has the time and the size of the true source, so that Python runs it."""
    source = root / "wheeld" / "law.py"
    true, times = source.read_text(), source.stat()
    source.write_text(true.replace("3", "1"))
    os.utime(source, ns=(times.st_atime_ns, times.st_mtime_ns))
    py_compile.compile(str(source), doraise=True)
    source.write_text(true)
    os.utime(source, ns=(times.st_atime_ns, times.st_mtime_ns))


def unchecked_copy(root: Path) -> None:
    """One of those that Python runs without a look at the source."""
    other = root / "other.py"
    other.write_text("LAPS = 1\n")
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(other), cfile=str(compiled(root)), doraise=True, invalidation_mode=mode)
    other.unlink()


def of_release(root: Path, name: str = "law.py") -> Path:
    return root / "wheeld" / name


CHANGES: dict[str, tuple[Change, str]] = {
    "a source": (lambda root: of_release(root).write_text("LAPS = 1\n"), "changed: wheeld/law.py"),
    "no source": (lambda root: of_release(root).unlink(), "missing: wheeld/law.py"),
    "another source": (lambda root: of_release(root, "json.py").write_text(""), "not of the release: wheeld/json.py"),
    "a module without source": (
        lambda root: shutil.copy(compiled(root), of_release(root, "new.pyc")),
        "not of the release: wheeld/new.pyc",
    ),
    "data": (lambda root: of_release(root, "schemas/void.json").write_text("[]"), "changed: wheeld/schemas/void.json"),
    "the other package": (
        lambda root: (root / "firmware_protocol/__init__.py").write_text("VERSION = 2\n"),
        "changed: firmware_protocol/__init__.py",
    ),
    "a linked directory": (
        lambda root: of_release(root, "more").symlink_to(root / "wheeld" / "schemas"),
        "not of the release: wheeld/more",
    ),
    "a link in the place of a file": (
        lambda root: of_release(root).symlink_to(of_release(root).rename(root / "law.py")),
        "changed: wheeld/law.py",
    ),
    "the manifest": (
        lambda root: (root / MANIFEST).write_text((root / MANIFEST).read_text().replace("7.8.9", "7.9.0")),
        "did not sign",
    ),
    "the signature": (lambda root: (root / SIGNATURE).write_bytes(bytes(64)), "did not sign"),
    "no signature": (lambda root: (root / SIGNATURE).unlink(), "did not sign"),
    "another key's manifest": (
        lambda root: release(root, key_pair(root.parent, "other")[0], "c0ffee"),
        "did not sign",
    ),
    "no manifest to read": (lambda root: (root / MANIFEST).write_text("{}"), "not a manifest of a release"),
    "a false compiled copy": (false_copy, "compiled from something else: wheeld/__pycache__/law"),
    "a copy that is not checked": (unchecked_copy, "compiled from something else: wheeld/__pycache__/law"),
    "a copy without source": (
        lambda root: shutil.copy(compiled(root), compiled(root).with_name("new.cpython-311.pyc")),
        "not of the release: wheeld/__pycache__/new.cpython-311.pyc",
    ),
    "a module among the copies": (
        lambda root: (compiled(root).parent / "new.py").write_text("LAPS = 1\n"),
        "not of the release: wheeld/__pycache__/new.py",
    ),
    "a copy that is none": (
        lambda root: compiled(root).write_bytes(compiled(root).read_bytes()[:16] + b"rubbish"),
        "compiled from something else: wheeld/__pycache__/law",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_is_found_and_named(name: str, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change, said = CHANGES[name]
    change(tree)
    assert verify(tree, tree.parent / "release.pub") == Exit.BAD_DATA
    assert said in capsys.readouterr().err


def test_copies_that_python_does_not_run_do_not_matter(tree: Path) -> None:
    copy = compiled(tree)
    false_copy(tree)
    os.utime(tree / "wheeld" / "law.py", (1, 1))
    copy.with_name("law.cpython-27.pyc").write_bytes(b"of another Python")
    copy.with_name("__init__.cpython-311.pyc").write_bytes(b"old" * 9)
    assert verify(tree, tree.parent / "release.pub") == Exit.OK


def test_who_lacks_the_key_of_the_releases_is_told_whose_it_is(tree: Path) -> None:
    missing = tree.parent / "none.pub"
    with pytest.raises(FileNotFoundError) as caught:
        verify(tree, missing)
    assert "the public key of who releases wheeld: get it from there" in str(file_trouble(caught.value))


def test_a_source_tree_says_that_it_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version", "--verify"]) == Exit.NOT_INSTALLED
    assert "no release made this program" in capsys.readouterr().err


def test_a_key_that_is_not_there(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("wheeld.cli.version.installed_at", lambda: tree)
    assert main(["--version", "--verify", "--release-key", "/no/such.pub"]) == Exit.NO_INPUT
    assert "/no/such.pub" in capsys.readouterr().err


def test_the_digest_is_what_the_page_computes() -> None:
    page = (ROOT / "docs" / "release.md").read_text()
    (command,) = (line.strip() for line in page.splitlines() if line.startswith("    find "))
    printed = subprocess.run(["sh", "-c", command], cwd=installed_at(), check=True, capture_output=True, text=True)
    assert printed.stdout.split()[0] == program_digest(file_digests(installed_at()))


async def test_the_daemon_reads_its_files_once_and_in_a_thread(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "installed_at", lambda: tree)
    released = Program()
    await released.read()
    assert (released.digest, released.as_released) == (program_digest(file_digests(tree)), True)
    of_release(tree).write_text("LAPS = 1\n")
    changed = Program()
    await changed.read()
    assert changed.as_released is False
    assert changed.digest != released.digest
    (tree / MANIFEST).unlink()
    unreleased = Program()
    await unreleased.read()
    assert (unreleased.digest, unreleased.as_released) == (changed.digest, None)
    (tree / MANIFEST).write_text("{}")
    broken = Program()
    await broken.read()
    assert broken.digest is None
