"""`make docs`: the site is whole, asks no other host for anything, and is not made of pages that are wrong."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LEFT_OUT = shutil.ignore_patterns(".*", "site", "__pycache__", "node_modules", "*.egg-info", "dist")


def build(root: Path) -> tuple[int, str]:
    """Make the site of the repository in `root`: the exit code, and all that is said."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", "release/mkdocs.yml"]
    both = subprocess.STDOUT
    ended = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, stderr=both, text=True, check=False)
    return ended.returncode, ended.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT, tmp_path / "wheeld", ignore=LEFT_OUT))


def test_every_page_is_there_and_none_asks_another_host(repository: Path) -> None:
    code, said = build(repository)
    assert code == 0, said
    site = repository / "site"
    pages = {str(page.relative_to(site)) for page in site.rglob("*.html")}
    assert pages >= {
        "index.html",
        "CHANGELOG.html",
        "docs/architecture.html",
        "firmware_protocol/index.html",
        "wheeld/THREATS.html",
        "wheeld/core/law/LAW.html",
        "wheeld/schemas/index.html",
    }
    loaded = re.compile(r"""<(script|img|iframe)[^>]+src="?https?:|<link[^>]+href="?https?:|url\(["']?https?:""")
    texts = [path for path in site.rglob("*") if path.suffix in (".html", ".css")]
    assert [path.name for path in texts if loaded.search(path.read_text())] == []
    assert (site / "wheeld" / "schemas" / "result.schema.json").exists()
    assert (site / "search" / "search_index.json").exists()


GONE = "gone.md"
WRONG = {
    "docs/feed.md": (f"[x]({GONE})", f"contains a link '{GONE}', but the target"),
    "README.md": ("[x](docs/feed.md#gone)", "contains a link 'docs/feed.md#gone', but the doc"),
    "wheeld/THREATS.md": ("[x](../systemd/gone.conf)", "contains a link '../systemd/gone.conf', but the target"),
    "docs/release.md": ("A list:\n- one\n- two", "looks different on a forge: <li>"),
    "docs/new.md": ("# New", 'not included in the "nav" configuration'),
}
"""What is added to a page, and what is said of it."""


def test_pages_that_are_wrong_fail_it(repository: Path) -> None:
    for page, (more, _) in WRONG.items():
        with (repository / page).open("a") as file:
            file.write(f"\n{more}\n")
    code, said = build(repository)
    assert code == 1
    lines = re.split(r"\n(?=[A-Z])", said)
    for page, (_, what) in WRONG.items():
        assert [line for line in lines if page in line and what in line], said
