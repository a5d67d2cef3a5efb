"""What a wheel installs: the locks agree with pyproject.toml and hold a hash of each file; the bills say the same."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCKS = {"wheel": ("sign",), "wheel-rpi": ("sign", "rpi"), "wheel-rpi-lgpio": ("sign", "rpi-lgpio")}
"""The extras in each."""
LOCKED = ROOT / "release" / "locks"
PROJECTS = (ROOT / "pyproject.toml", *(ROOT / part / "pyproject.toml" for part in ("hw_sim", "house", "wheeld_report")))
COMPILED = ("cffi", "cryptography", "msgspec")
KINDS_MIN = 20
"""The index has these for so many kinds of computer and Pythons at least: fewer hashes are those of one computer."""
PINNED = re.compile(r"([a-z0-9-]+)==(\S+)(?: ; [^\\]+)?((?: \\\n    --hash=sha256:[0-9a-f]{64})+)")


def project(path: Path = PROJECTS[0]) -> dict[str, object]:
    found: dict[str, object] = tomllib.loads(path.read_text())["project"]
    return found


def asked(of: dict[str, object], *extras: str) -> list[Requirement]:
    """What the project asks for, with these extras."""
    more, own = of.get("optional-dependencies", {}), of["dependencies"]
    assert isinstance(more, dict)
    assert isinstance(own, list)
    return [Requirement(line) for line in [*own, *(line for extra in extras for line in more[extra])]]


def entries(lock: str) -> Iterator[str]:
    """Each requirement of a lock with its hashes; comments left out."""
    lines = [line for line in lock.splitlines() if not line.lstrip().startswith("#")]
    yield from re.split(r"\n(?=\S)", "\n".join(lines).strip())


def problems(lock: str, requirements: list[Requirement]) -> list[str]:
    """What is wrong with a lock, a line each."""
    wrong, versions = [], dict[str, str]()
    for entry in entries(lock):
        pinned = PINNED.fullmatch(entry)
        if pinned is None:
            wrong.append(f"not one version with its hashes: {entry.partition(' ')[0]}")
            continue
        versions[pinned[1]] = pinned[2]
        if pinned[1] in COMPILED and pinned[3].count("--hash") < KINDS_MIN:
            wrong.append(f"hashes of one kind of computer: {pinned[1]}")
    for requirement in requirements:
        version = versions.get(canonicalize_name(requirement.name))
        if version is None:
            wrong.append(f"missing: {requirement.name}")
        elif version not in requirement.specifier:
            wrong.append(f"not the version that is asked for: {requirement.name}")
    return wrong


def unbounded(of: dict[str, object]) -> list[str]:
    """The dependencies of other people that have no upper bound. `<1` is none for 0.x: each 0.y may break its users."""
    more = of.get("optional-dependencies", {})
    assert isinstance(more, dict)
    found = []
    for each in asked(of, *more):
        bounds = [bound for bound in each.specifier if bound.operator in ("<", "<=", "==")]
        old = any(bound.operator == ">=" and bound.version.startswith("0.") for bound in each.specifier)
        if not each.name.startswith("wheeld") and not any(
            not old or bound.version.startswith("0.") for bound in bounds
        ):
            found.append(each.name)
    return found


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_is_what_the_project_asks_for(name: str) -> None:
    assert problems((LOCKED / f"{name}.txt").read_text(), asked(project(), *LOCKS[name])) == []


def test_what_builds_is_locked_too() -> None:
    lines = [line for line in (LOCKED / "build.in").read_text().splitlines() if not line.startswith("#")]
    requirements = [Requirement(line) for line in lines]
    assert problems((LOCKED / "build.txt").read_text(), requirements) == []
    for path in PROJECTS:
        assert set(tomllib.loads(path.read_text())["build-system"]["requires"]) <= set(lines)


@pytest.mark.parametrize("path", PROJECTS, ids=lambda path: path.parent.name)
def test_every_dependency_has_an_upper_bound(path: Path) -> None:
    assert unbounded(project(path)) == []


def test_what_is_wrong_is_found() -> None:
    lock, requirements = (LOCKED / "wheel.txt").read_text(), asked(project(), "sign")
    one_hash = re.sub(r"(msgspec==\S+ \\\n[^\n]+?) \\\n(?:    --hash\S+(?: \\)?\n)+", r"\1\n", lock)
    broken = {
        "not the version that is asked for: mqtt5": re.sub(r"(?m)^mqtt5==0", "mqtt5==1", lock),
        "missing: cobs": re.sub(r"(?m)^cobs==", "cobz==", lock),
        "not one version with its hashes: pyserial>=3.5": re.sub(r"(?m)^pyserial==", "pyserial>=", lock),
        "not one version with its hashes: structlog": re.sub(r"(?m)^structlog==.*\\\n.*\\\n.*$", "structlog @ x", lock),
        "not one version with its hashes: --index-url": f"--index-url https://else.example\n{lock}",
        "hashes of one kind of computer: msgspec": one_hash,
    }
    for said, text in broken.items():
        assert said in problems(text, requirements)
    some: dict[str, object] = {
        "dependencies": ["a>=1", "b>=1,<2"],
        "optional-dependencies": {"x": ["c", "d>=0.2,<1", "e>=0.2,<0.3"]},
    }
    assert unbounded(some) == ["a", "c", "d"]


@pytest.mark.parametrize("name", ["wheel-rpi-lgpio", "house"])  # each takes seconds; the other two hold less
def test_the_bill_of_materials_holds_each_locked_file(name: str, tmp_path: Path) -> None:
    pytest.importorskip("cyclonedx_py")
    lock, made = LOCKED / f"{name}.txt", tmp_path / "bill.json"
    of, component = ("house/", "wheeld-house") if name == "house" else ("", "wheeld")
    ((names, line),) = re.findall(
        r"for lock in ([a-z -]+); do \\\n.*\n.*cyclonedx-py (requirements .+?); \\", (ROOT / "Makefile").read_text()
    )
    assert name in names.split()
    words = line.replace("$$lock", name).replace("$${of}", of).replace(f"dist/{name}.cdx.json", str(made)).split()
    # It uses what Python is about to take away.
    subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "cyclonedx_py", *words], check=True, cwd=ROOT, capture_output=True
    )
    bill = json.loads(made.read_text())
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", component)
    listed = {
        (canonicalize_name(each["name"]), each["version"]): {
            found["content"] for reference in each["externalReferences"] for found in reference.get("hashes", [])
        }
        for each in bill["components"]
    }
    locked = {}
    for entry in entries(lock.read_text()):
        pinned = PINNED.fullmatch(entry)
        assert pinned is not None
        locked[pinned[1], pinned[2]] = set(re.findall(r"sha256:(\w+)", entry))
    assert listed == locked
