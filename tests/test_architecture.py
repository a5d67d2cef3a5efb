"""The layers of the architecture, walked import by import."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = ("wheeld", "firmware_protocol", "hw_sim")
CORE_STDLIB = {
    "__future__", "collections", "dataclasses", "datetime", "enum", "functools", "hashlib", "itertools", "math", "re",
    "types", "typing", "uuid",
}  # fmt: skip
WIRE_STDLIB = {
    "__future__",
    "collections",
    "dataclasses",
    "enum",
    "functools",
    "re",
    "struct",
    "types",
    "typing",
    "zlib",
}
EDGES = ("journal", "sources", "broker", "service")
COMPOSITION = ("hw_sim", "wheeld.daemon", "wheeld.cli", "wheeld.config")


def _edge(name: str) -> bool:
    return not name.startswith(COMPOSITION)


RULES: dict[str, Callable[[str], bool]] = {
    "firmware_protocol": lambda name: name.split(".")[0] in {*WIRE_STDLIB, "cobs", "msgspec", "firmware_protocol"},
    "wheeld/core": lambda name: name.split(".")[0] in {*CORE_STDLIB, "msgspec"} or name.startswith("wheeld.core"),
    **{f"wheeld/{edge}": _edge for edge in EDGES},
    "hw_sim": lambda name: not name.startswith("wheeld") or name == "wheeld.ports",
}
CLOCKS = {"now", "utcnow", "today", "time", "monotonic", "perf_counter"}


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{module}.{alias.name}" if module in OURS else module for alias in node.names)


def broken_rules(package: str, root: Path = ROOT) -> list[str]:
    """Every import in `package` that its layer must not have."""
    allowed = RULES[package]
    files = sorted((root / package).rglob("*.py"))
    assert files, f"{package} has no files: the walk would prove nothing"
    return [
        f"{path.relative_to(root)} imports {name}" for path in files for name in _imports(path) if not allowed(name)
    ]


@pytest.mark.parametrize("package", RULES)
def test_a_layer_imports_only_what_it_may(package: str) -> None:
    assert broken_rules(package) == []


def test_the_walk_sees_a_wrong_import(tmp_path: Path) -> None:
    wrong = tmp_path / "wheeld" / "core" / "wrong.py"
    wrong.parent.mkdir(parents=True)
    wrong.write_text("import asyncio\nfrom wheeld import ports\nfrom wheeld.journal.journal import Journal\n")
    assert broken_rules("wheeld/core", tmp_path) == [
        "wheeld/core/wrong.py imports asyncio",
        "wheeld/core/wrong.py imports wheeld.ports",
        "wheeld/core/wrong.py imports wheeld.journal.journal",
    ]


@pytest.mark.parametrize("package", ["wheeld/core", "firmware_protocol"])
def test_the_pure_layers_read_no_clock(package: str) -> None:
    calls = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / package).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CLOCKS
    ]
    assert calls == []


def test_the_top_level_holds_nothing_else() -> None:
    allowed = {
        "pyproject.toml", "wheeld", "firmware_protocol", "hw_sim", "systemd", "tests", "README.md", "Makefile",
        "LICENSE", "CHANGELOG.md", "docs",
    }  # fmt: skip
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert found - {"build", "dist", "__pycache__"} == allowed
