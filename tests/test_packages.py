"""What each of the four distributions holds: the production one nothing of the others, and none of another."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[1]
OF_OTHERS = ("wheeld-", "aiomqtt", "rich", "alembic", "psycopg", "sqlalchemy", "matplotlib", "numpy", "scipy>")
"""Distributions that no wheel installs."""


def packed(project: Path) -> set[str]:
    """The files that the wheel of `project` holds, its metadata left out."""
    return {file.distribution_path for file in WheelBuilder(str(project)).recurse_included_files()}


def modules(*packages: str) -> set[str]:
    found = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    return {str(path.relative_to(ROOT)).removeprefix("house/") for path in found}


@pytest.mark.parametrize(
    ("project", "packages"),
    [
        (ROOT, ("wheeld", "firmware_protocol")),
        (ROOT / "hw_sim", ("hw_sim",)),
        (ROOT / "wheeld_report", ("wheeld_report",)),
        (ROOT / "house", ("house/wheeld_house",)),
    ],
)
def test_a_wheel_holds_its_own_packages_and_no_other(project: Path, packages: tuple[str, ...]) -> None:
    files = packed(project)
    assert {file for file in files if file.endswith(".py")} == modules(*packages)
    assert {file.split("/")[0] for file in files} == {package.rpartition("/")[2] for package in packages}


@pytest.mark.parametrize("kind", ["sql", "conf"])
def test_the_collector_s_wheel_holds_its_schema_and_what_setup_writes(kind: str) -> None:
    files = {str(path.relative_to(ROOT / "house")) for path in (ROOT / "house").rglob(f"*.{kind}")}
    assert files
    assert files <= packed(ROOT / "house")


def test_the_production_distribution_needs_nothing_of_the_simulator() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(project["scripts"]) == {"wheeld"}
    assert not {"demo", "campaign"} & set(project["optional-dependencies"])
    extras = project["optional-dependencies"]
    everything = [*project["dependencies"], *(name for some in extras.values() for name in some)]
    assert not [name for name in everything if name.startswith(OF_OTHERS)]


def test_the_simulator_starts_without_its_extras() -> None:
    """As Debian's package has it: none of them is inside."""
    missing = "import sys; sys.modules.update(dict.fromkeys(('aiohttp', 'matplotlib', 'rich')))"
    subprocess.run([sys.executable, "-c", f"{missing}; import hw_sim.cli"], check=True)
