"""The feed can be copied to a host that has nothing else of ours."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import mqtt5

from tests.feed.wheel import ROOT, Wheel

WHEELD = Path(__file__).parents[2] / "wheeld"
COPIED = ("feed", "mqtt")
NEEDS = {*sys.stdlib_module_names, "mqtt5"}
PROOF = """
import sys
class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("msgspec", "structlog", "serial", "cobs", "cryptography"):
            raise ImportError(name)
sys.meta_path.insert(0, Nothing())
import wheeld.feed
assert wheeld.feed.__file__.startswith(sys.argv[1]), wheeld.feed.__file__
from wheeld.feed.message import read_message
print(read_message("result", sys.argv[3].encode(), root=sys.argv[2]).seq)
"""


def imports(path: Path) -> set[str]:
    walk = list(ast.walk(ast.parse(path.read_text())))
    plain = {alias.name for node in walk if isinstance(node, ast.Import) for alias in node.names}
    return plain | {node.module or "" for node in walk if isinstance(node, ast.ImportFrom)}


def test_it_imports_only_what_it_may() -> None:
    files = sorted(path for name in COPIED for path in (WHEELD / name).rglob("*.py"))
    assert files
    wrong = [
        (path.name, name)
        for path in files
        for name in imports(path)
        if name.partition(".")[0] not in NEEDS and not name.startswith(("wheeld.feed", "wheeld.mqtt"))
    ]
    assert wrong == []


def test_a_copy_of_it_works_alone(tmp_path: Path) -> None:
    for name in COPIED:
        shutil.copytree(WHEELD / name, tmp_path / "wheeld" / name, ignore=shutil.ignore_patterns("__pycache__"))
    payload = Wheel().say()[1].decode()
    # -S: no path files of site-packages, so that our own tree, installed for development, is not found.
    words = [sys.executable, "-S", "-c", PROOF, str(tmp_path), ROOT, payload]
    path = f"{tmp_path}:{Path(mqtt5.__file__).parents[1]}"
    found = subprocess.run(words, check=False, cwd=tmp_path, env={"PYTHONPATH": path}, capture_output=True, text=True)
    assert (found.stdout, found.stderr) == ("1\n", "")
