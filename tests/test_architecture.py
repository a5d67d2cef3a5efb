"""The layers of the architecture, walked import by import."""

from __future__ import annotations

import ast
import builtins
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from wheeld.core.heads import HEADS

ROOT = Path(__file__).parents[1]
OURS = ("wheeld", "firmware_protocol", "hw_sim", "wheeld_house", "wheeld_report")
PLACES = ("wheeld", "firmware_protocol", "hw_sim", "house/wheeld_house", "wheeld_report")
"""Where each of them is."""
CORE_STDLIB = {
    "__future__", "bisect", "collections", "dataclasses", "datetime", "enum", "functools", "hashlib", "itertools",
    "math", "re", "types", "typing", "uuid",
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
EDGES = ("journal", "sources", "broker", "service", "monitor")
POCKETS_OF_ALL = ("wheeld/core/pockets.py", "wheeld/feed/message.py")
"""The layouts, and the highest number of them all: a copy of the feed alone has no layouts."""
ONE_WHEEL = re.compile(
    r"(?<![\w.])(3[78]|(?<=max: )36|(?<=% )36|ROTOR_ORDER|POCKETS|POCKET_DEG|SINGLE_ZERO|DOUBLE_ZERO)(?!\w)"
)
"""How many pockets some wheel has, and names of its own: they stand in the data of the layouts."""
WITH_THE_HOUSE = ("certificates", "computer", "serving")
"""Modules that a wheel and a house share. They import nothing of ours but the root of all errors."""
SETUPS = ("wheeld.certificates", "wheeld.computer")
SHARED = ("wheeld.core", "wheeld.ports", "wheeld.errors", "wheeld.text_error", "wheeld.VERSION", "firmware_protocol")
"""What an edge may import of ours, besides itself."""
COPIED_ALONE = ("wheeld/feed", "wheeld/mqtt", "wheeld/auditor.py")
"""Other systems copy these out of the tree, so they import nothing of ours but themselves, and the feed
its MQTT."""


def _is_in(name: str, packages: Sequence[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def _only(*packages: str) -> Callable[[str], bool]:
    """Any library, and of ours only these packages."""
    return lambda name: not _is_in(name, OURS) or _is_in(name, packages)


def _all_but(*packages: str) -> Callable[[str], bool]:
    """Any library, and of ours all but these packages."""
    return lambda name: not _is_in(name, packages)


_EDGE_PACKAGES = tuple(f"wheeld.{edge}" for edge in EDGES)

RULES: dict[str, Callable[[str], bool]] = {
    "firmware_protocol": lambda name: name.split(".")[0] in {*WIRE_STDLIB, "cobs", "msgspec", "firmware_protocol"},
    "wheeld/core": lambda name: (
        name.split(".")[0] in {*CORE_STDLIB, "msgspec"} or _is_in(name, ("wheeld.core", "wheeld.errors"))
    ),
    "wheeld/core/catalogue.py": lambda name: (
        name.split(".")[0] in {*CORE_STDLIB, "gettext", "io", "msgspec", "pkgutil"}
    ),
    "wheeld/errors.py": lambda name: name == "__future__",
    "wheeld/exits.py": _only(),
    "wheeld/ports.py": _only("wheeld.errors"),
    **{f"wheeld/{edge}": _only(*SHARED, f"wheeld.{edge}") for edge in EDGES},
    "wheeld/broker": _only(*SHARED, "wheeld.mqtt", "wheeld.broker"),
    "wheeld/schemas": _only(*SHARED, *_EDGE_PACKAGES, "wheeld.schemas"),
    "wheeld/config": _only(*SHARED, *_EDGE_PACKAGES, "wheeld.config"),
    "wheeld/locale": _only("wheeld.core", "wheeld.locale"),
    "wheeld/law_page.py": _only("wheeld.core"),
    "wheeld/text_error.py": _only("wheeld.core", "wheeld.errors"),
    "wheeld/replay.py": _only("wheeld.core", "wheeld.text_error"),
    "wheeld/release.py": _only("wheeld.journal", "wheeld.service"),
    "wheeld/daemon": _all_but("hw_sim", "wheeld_house", "wheeld_report", "wheeld.cli", "wheeld.doctor"),
    "wheeld/doctor": _all_but("hw_sim", "wheeld_house", "wheeld_report", "wheeld.cli"),
    **{f"wheeld/{name}.py": _only("wheeld.errors") for name in WITH_THE_HOUSE},
    "wheeld/setup": _only(*SHARED, *SETUPS, "wheeld.broker", "wheeld.config", "wheeld.setup"),
    "wheeld/screen": _only("wheeld.core", "wheeld.screen"),
    "wheeld/page": _only(
        *SHARED, "wheeld.broker", "wheeld.monitor", "wheeld.mqtt", "wheeld.screen", "wheeld.serving", "wheeld.page"
    ),
    "wheeld/cli": _all_but("hw_sim", "wheeld_house", "wheeld_report"),
    "wheeld_report": _only(*SHARED, "wheeld.journal", "wheeld.screen", "wheeld_report"),
    "wheeld_report/cli.py": _only(
        *SHARED,
        "wheeld.cli.journal",
        "wheeld.cli.main",
        "wheeld.config",
        "wheeld.exits",
        "wheeld.journal",
        "wheeld.screen",
        "wheeld_report",
    ),
    "wheeld/feed": _only("wheeld.feed", "wheeld.mqtt"),
    "wheeld/mqtt": _only("wheeld.mqtt"),
    "wheeld/auditor.py": _only(),
    "hw_sim": _only("hw_sim", "wheeld.ports", "firmware_protocol"),
    "house/wheeld_house": _only(
        "wheeld_house", "wheeld.feed", "wheeld.mqtt", *(f"wheeld.{name}" for name in WITH_THE_HOUSE)
    ),
    "house/wheeld_house/demo.py": _only("wheeld_house", "hw_sim"),
}


def _core_only(*parts: str) -> Callable[[str], bool]:
    """Any library, and of the core only these parts."""
    allowed = [f"wheeld.core.{part}" for part in parts]
    return lambda name: not _is_in(name, ("wheeld.core",)) or _is_in(name, allowed)


INSIDE_CORE: dict[str, Callable[[str], bool]] = {
    "wheeld/core/facts.py": _core_only(),
    "wheeld/core/observations.py": _core_only("catalogue", "facts"),
    "wheeld/core/pockets.py": _core_only(),
    "wheeld/core/houses.py": _core_only("catalogue", "messages.phrases", "pockets"),
    "wheeld/core/setting.py": _core_only("catalogue", "heads", "houses", "observations", "pockets"),
    "wheeld/core/heads.py": _core_only(),
    "wheeld/core/names.py": _core_only("catalogue", "observations"),
    "wheeld/core/tracking": _core_only("catalogue", "facts", "names", "observations", "pockets", "setting", "tracking"),
    "wheeld/core/law": _core_only(
        "catalogue",
        "facts",
        "houses",
        "law",
        "names",
        "observations",
        "pockets",
        "setting",
        "table_state",
        "tracking",
    ),
    "wheeld/core/table_state.py": _core_only("facts", "messages.chain", "messages.payloads", "tracking"),
    "wheeld/core/messages": _core_only(
        "catalogue",
        "facts",
        "instants",
        "messages",
        "observations",
        "pockets",
        "setting",
        "step",
        "table_state",
        "tracking",
    ),
}
"""What the parts of the core may import of it: tracking knows nothing of the law, and neither of them of messages."""
CLOCKS = {"now", "utcnow", "today", "time", "monotonic", "perf_counter"}


MAKERS = re.compile(
    "|".join({word for key, head in HEADS.items() for word in (key, head.name, head.reader.split(".")[-1])}), re.I
)
"""Words that name one maker's heads."""
OF_MAKERS = {"wheeld/core/heads.py", *(f"{head.reader.replace('.', '/')}.py" for head in HEADS.values())}
OF_ALL_HEADS = ("wheeld/core", "wheeld/sources", "wheeld/config", "wheeld/setup", "wheeld/daemon", "wheeld/cli")


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            assert node.level == 0, f"{path}: relative import"
            is_package = module in (*OURS, "wheeld.core")
            yield from (f"{module}.{alias.name}" if is_package else module for alias in node.names)


def _files(package: str, root: Path) -> list[Path]:
    """Of a package, or of one module."""
    path = root / package
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    assert files, f"{package} has no files: the walk would prove nothing"
    return files


def broken_rules(package: str, root: Path = ROOT) -> list[str]:
    """Every import in `package` that its layer, or its part of the core, must not have."""
    rules = [layer[package] for layer in (RULES, INSIDE_CORE) if package in layer]
    ruled_alone = {root / name for name in RULES if name != package}
    return [
        f"{path.relative_to(root)} imports {name}"
        for path in _files(package, root)
        if path not in ruled_alone
        for name in _imports(path)
        if not all(allows(name) for allows in rules)
    ]


@pytest.mark.parametrize("package", [*RULES, *INSIDE_CORE])
def test_a_layer_imports_only_what_it_may(package: str) -> None:
    assert broken_rules(package) == []


def test_every_module_has_a_rule() -> None:
    ruled = {path for package in RULES for path in _files(package, ROOT)}
    roots = {ROOT / "wheeld" / "__init__.py", ROOT / "wheeld" / "__main__.py"}
    assert {path for package in PLACES for path in (ROOT / package).rglob("*.py")} - ruled == roots


@pytest.mark.parametrize(
    ("module", "source", "wrong"),
    [
        ("wheeld/core/x.py", "import asyncio", "asyncio"),
        ("wheeld/core/x.py", "from wheeld import ports", "wheeld.ports"),
        ("wheeld/core/x.py", "from wheeld.journal.journal import Journal", "wheeld.journal.journal"),
        ("wheeld/core/facts.py", "from wheeld.core import law", "wheeld.core.law"),
        ("wheeld/core/tracking/x.py", "from wheeld.core.law.rows import Row", "wheeld.core.law.rows"),
        ("wheeld/core/tracking/x.py", "from wheeld.core.table_state import Coup", "wheeld.core.table_state"),
        ("wheeld/core/tracking/x.py", "from wheeld.core.messages import payloads", "wheeld.core.messages"),
        ("wheeld/core/law/x.py", "from wheeld.core.messages import writer", "wheeld.core.messages"),
        ("wheeld/core/messages/x.py", "from wheeld.core.law.table import LAW", "wheeld.core.law.table"),
        ("wheeld/core/setting.py", "import wheeld.core.table", "wheeld.core.table"),
        ("wheeld/errors.py", "import enum", "enum"),
        ("wheeld/ports.py", "from wheeld.sources.clock import HostTime", "wheeld.sources.clock"),
        ("wheeld/broker/x.py", "from wheeld.journal.rows import Receipt", "wheeld.journal.rows"),
        ("wheeld/journal/x.py", "import wheeld.broker.outbox", "wheeld.broker.outbox"),
        ("wheeld/service/x.py", "from wheeld.sources.sensing import Batch", "wheeld.sources.sensing"),
        ("wheeld/sources/x.py", "from wheeld import config", "wheeld.config"),
        ("wheeld/sources/x.py", "def f():\n    from hw_sim import wired", "hw_sim.wired"),
        ("wheeld/schemas/x.py", "from wheeld.daemon import root", "wheeld.daemon"),
        ("wheeld/config/x.py", "from wheeld.daemon.root import run", "wheeld.daemon.root"),
        ("wheeld/daemon/x.py", "from wheeld.cli import main", "wheeld.cli"),
        ("wheeld/doctor/x.py", "from wheeld.cli.main import main", "wheeld.cli.main"),
        ("wheeld/setup/x.py", "from wheeld.cli.setup import setup", "wheeld.cli.setup"),
        ("wheeld_report/x.py", "from wheeld.daemon.root import run", "wheeld.daemon.root"),
        ("wheeld_report/x.py", "from hw_sim.campaign import plots", "hw_sim.campaign"),
        ("wheeld/cli/x.py", "import hw_sim.cli", "hw_sim.cli"),
        ("wheeld/cli/x.py", "from wheeld_report.health import health", "wheeld_report.health"),
        ("wheeld/feed/x.py", "from wheeld.errors import WheeldError", "wheeld.errors"),
        ("wheeld/certificates.py", "from wheeld.core.catalogue import Text", "wheeld.core.catalogue"),
        ("wheeld/auditor.py", "from wheeld.feed import Feed", "wheeld.feed"),
        ("hw_sim/x.py", "from wheeld.sources.clock import HostTime", "wheeld.sources.clock"),
        ("firmware_protocol/x.py", "import wheeld", "wheeld"),
        ("house/wheeld_house/x.py", "from wheeld.core.step import Step", "wheeld.core.step"),
        ("wheeld/daemon/x.py", "from wheeld_house.wheel import CollectedWheel", "wheeld_house.wheel"),
    ],
)
def test_the_walk_finds_a_wrong_import(tmp_path: Path, module: str, source: str, wrong: str) -> None:
    path = tmp_path / module
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"from __future__ import annotations\n{source}\n")
    package = module if module in {*RULES, *INSIDE_CORE} else module.rpartition("/")[0]
    assert broken_rules(package, tmp_path) == [f"{module} imports {wrong}"]


LAW_ALONE = ("wheeld/core/law/", "wheeld/core/facts.py", "wheeld/law_page.py")
STARTS_CLOSED = "wheeld/core/table_state.py"
"""A new table is closed: its fields name that state, and nothing there asks for one."""


def terms_asked_for(root: Path = ROOT) -> list[str]:
    """Every place outside the law that names a state of the table, a group of states of the rows, or a cause."""
    found = []
    for path in sorted((root / "wheeld").rglob("*.py")):
        place = str(path.relative_to(root))
        if place.startswith(LAW_ALONE):
            continue
        code = path.read_text()
        if not any(f"from {module} " in code for module in ("wheeld.core.facts", "wheeld.core.law.rows")):
            continue
        nodes = list(ast.walk(ast.parse(code)))
        imported = [node for node in nodes if isinstance(node, ast.ImportFrom)]
        names = {(node.module, alias.name): alias.asname or alias.name for node in imported for alias in node.names}
        groups = [name for module, name in names if module == "wheeld.core.law.rows" and name.isupper()]
        terms = {names.get(("wheeld.core.facts", term)) for term in ("State", "Cause")} - {None}
        members = [
            node.attr
            for node in nodes
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in terms
        ]
        allowed = {"CLOSED"} if place == STARTS_CLOSED else set()
        found += [f"{place}: {name}" for name in (*groups, *members) if name not in allowed]
    return found


def test_nothing_outside_the_law_branches_on_a_state_or_a_cause() -> None:
    assert terms_asked_for() == []


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("from wheeld.core.facts import State\nx = State.RIEN_VA", "RIEN_VA"),
        ("from wheeld.core.facts import State as S\nx = S.CLOSED", "CLOSED"),
        ("from wheeld.core.law.rows import COUP, Row", "COUP"),
        ("from wheeld.core.facts import Cause\nx = Cause.CHEF", "CHEF"),
    ],
)
def test_the_walk_finds_a_term_outside_the_law(tmp_path: Path, source: str, name: str) -> None:
    path = tmp_path / "wheeld/core/x.py"
    path.parent.mkdir(parents=True)
    path.write_text(f"from __future__ import annotations\n{source}\n")
    assert terms_asked_for(tmp_path) == [f"wheeld/core/x.py: {name}"]


def foreign_errors(root: Path = ROOT) -> list[str]:
    """Every exception class in `wheeld` that does not derive from WheeldError, by file and name."""
    bases: dict[str, set[str]] = {}
    places: dict[str, str] = {}
    for path in sorted((root / "wheeld").rglob("*.py")):
        place = str(path.relative_to(root))
        if place.startswith(COPIED_ALONE):
            continue
        code = path.read_text()
        for node in ast.walk(ast.parse(code)) if "class " in code else ():
            if isinstance(node, ast.ClassDef):
                bases[node.name] = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
                places[node.name] = place

    def ancestors(name: str) -> set[str]:
        above = bases.get(name, set())
        return above.union(*(ancestors(base) for base in above))

    def is_error(name: str) -> bool:
        kind = getattr(builtins, name, None)
        return isinstance(kind, type) and issubclass(kind, BaseException)

    return [
        f"{places[name]}: {name}"
        for name in bases
        if name != "WheeldError" and any(map(is_error, ancestors(name))) and "WheeldError" not in ancestors(name)
    ]


def test_every_error_of_ours_has_one_root() -> None:
    assert foreign_errors() == []


def test_the_walk_finds_an_error_without_the_root(tmp_path: Path) -> None:
    package = tmp_path / "wheeld" / "journal"
    package.mkdir(parents=True)
    (package / "x.py").write_text(
        "class WheeldError(Exception): ...\n"
        "class Good(WheeldError, ValueError): ...\n"
        "class Fine(Good): ...\n"
        "class Wrong(OSError): ...\n"
        "class Worse(Wrong): ...\n"
        "class NoError: ...\n"
    )
    assert foreign_errors(tmp_path) == ["wheeld/journal/x.py: Wrong", "wheeld/journal/x.py: Worse"]


PUBLIC = {"_asdict", "_exit", "_field_defaults", "_fields", "_make", "_replace", "_value_"}
"""Of named tuples and enumerations, and `os._exit`: public, says Python's documentation."""


def private_of_others(root: Path = ROOT) -> list[str]:
    """Every private member that nothing in our tree defines, so that a library must: also one that a base class has,
    which ruff (SLF001) does not find. Its setting has the exceptions."""
    paths = [path for package in PLACES for path in sorted((root / package).rglob("*.py"))]
    ours = set(
        tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["ruff"]["lint"]["flake8-self"][
            "extend-ignore-names"
        ]
    )
    used: list[tuple[str, str]] = []
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute):
                is_of_self = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
                if isinstance(node.ctx, ast.Store) and is_of_self:
                    ours.add(node.attr)
                elif node.attr.startswith("_") and not node.attr.startswith("__"):
                    used.append((f"{path.relative_to(root)}:{node.lineno}", node.attr))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                ours.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                ours.add(node.id)
    return [f"{place}: {name}" for place, name in used if name not in ours | PUBLIC]


def test_no_private_member_of_a_library_is_used() -> None:
    assert private_of_others() == []


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("self._client._sock_recv = self._give", "_sock_recv"),
        ("self._client._packet_queue(1)", "_packet_queue"),
        ("return self._disconnected", "_disconnected"),
    ],
)
def test_the_walk_finds_a_private_member_of_a_library(tmp_path: Path, source: str, name: str) -> None:
    for package in PLACES:
        (tmp_path / package).mkdir(parents=True)
    path = tmp_path / "wheeld" / "x.py"
    path.write_text(
        "class Ours(Theirs):\n"
        "    def __init__(self):\n        self._client = Theirs()\n"
        f"    def _give(self):\n        {source}\n"
    )
    assert private_of_others(tmp_path) == [f"wheeld/x.py:5: {name}"]


@pytest.mark.parametrize("package", ["wheeld/core", "firmware_protocol"])
def test_the_pure_layers_read_no_clock(package: str) -> None:
    calls = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for code, path in ((path.read_text(), path) for path in sorted((ROOT / package).rglob("*.py")))
        if any(f".{clock}(" in code for clock in CLOCKS)
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CLOCKS
    ]
    assert calls == []


def test_the_top_level_holds_nothing_else() -> None:
    allowed = {
        "pyproject.toml", "wheeld", "firmware_protocol", "hw_sim", "systemd", "tests", "README.md", "Makefile",
        "LICENSE", "CHANGELOG.md", "docs", "release", "house", "wheeld_report",
    }  # fmt: skip
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert found - {"build", "dist", "site", "__pycache__"} == allowed


@pytest.mark.parametrize("package", OF_ALL_HEADS)
def test_no_maker_of_wheel_heads_is_named_outside_of_its_own_package_and_its_row(package: str) -> None:
    texts = {str(path.relative_to(ROOT)): path.read_text() for path in _files(package, ROOT)}
    assert [name for name, text in texts.items() if name not in OF_MAKERS and MAKERS.search(text)] == []


def of_one_wheel(root: Path = ROOT) -> list[str]:
    """Where the program has the pockets of one wheel, and not those of the table's."""
    files = sorted(path for kind in ("py", "js") for path in (root / "wheeld").rglob(f"*.{kind}"))
    return [
        f"{name}:{number}: {line.strip()}"
        for name, path in ((str(path.relative_to(root)), path) for path in files)
        if name not in POCKETS_OF_ALL
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if ONE_WHEEL.search(line) and not (name == "wheeld/core/houses.py" and "_ZERO" in line)
    ]


def test_the_pockets_are_the_table_s() -> None:
    assert of_one_wheel() == []


@pytest.mark.parametrize(
    "line",
    ["index % 37", "range(38)", "from wheeld.core.pockets import ROTOR_ORDER", "pockets = SINGLE_ZERO", "max: 36,"],
)
def test_the_walk_finds_the_pockets_of_one_wheel(tmp_path: Path, line: str) -> None:
    package = tmp_path / "wheeld" / "core" / "tracking"
    package.mkdir(parents=True)
    (package / "x.py").write_text(f"waited_s = 0.37, 137\n{line}\n")
    (package.parent / "pockets.py").write_text(f"{line}\n")
    assert of_one_wheel(tmp_path) == [f"wheeld/core/tracking/x.py:2: {line}"]


def test_the_core_cites_no_guide_of_a_maker() -> None:
    texts = {str(path.relative_to(ROOT)): path.read_text() for path in _files("wheeld/core", ROOT)}
    assert [name for name, text in texts.items() if name not in OF_MAKERS and "wheels.md" in text] == []


OF_ONE_MEANING = {
    "BallPass", "ClockReading", "End", "ForeignObject", "RotorEdge", "Sensed", "SensorState", "Sighting",
}  # fmt: skip
"""What a sensor saw has one name in the core, on the wire and in the simulator, which shares no code with them."""


def _public_classes() -> dict[str, list[str]]:
    """Each name, and the modules that have a class of that name."""
    found: dict[str, list[str]] = {}
    for package in PLACES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    found.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    return found


def test_a_class_name_has_one_meaning() -> None:
    found = {name: modules for name, modules in _public_classes().items() if len(modules) > 1}
    assert {name: modules for name, modules in found.items() if name not in OF_ONE_MEANING} == {}
    assert set(found) == OF_ONE_MEANING
