"""Each check of documents finds a wrong example, and lets the right one beside it pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.documents.tree import Tree, remarks

RULEBOOK = """\
# Rulebook

| <a id="r1"></a>R1 | the ball runs against the rotor |
| <a id="r3b"></a>R3b | a number seen but not proven |

## 6. How the table moves on
"""
MODULE = """\
class Base:
    laps: int


class BallRun(Base):
    START = 1

    def begin(self) -> None: ...


Reports: TypeAlias = int
"""


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    files = {
        "docs/rulebook.md": RULEBOOK,
        "docs/wheels.md": "## 1. Cammegh\n\n### 1.3 States\n",
        "wheeld/core/run.py": MODULE,
        "wheeld/core/law.py": "",
        "README.md": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return Tree(tmp_path)


def page(tree: Tree, text: str, name: str = "docs/page.md") -> Path:
    path = tree.root / name
    path.write_text(text)
    return path


def test_a_link_and_its_anchor(tree: Tree) -> None:
    good = (
        "[a](rulebook.md) [b](rulebook.md#r1) [c](rulebook.md#6-how-the-table-moves-on) [d](../wheeld/core) [e](#here)"
    )
    text = f"# Here\n{good}\n[x](rules.md) [y](rulebook.md#r2) [z](#there) [w](https://example.org/none)\n"
    assert tree.dead_links(page(tree, text)) == ["rules.md", "rulebook.md#r2", "#there"]


def test_a_link_in_a_fence_is_an_example(tree: Tree) -> None:
    assert tree.dead_links(page(tree, "```\n[x](rules.md)\n```\n")) == []


def test_a_path(tree: Tree) -> None:
    good = (
        "`wheeld/core/run.py`, `law.py`, `wheeld/core/`, `wheels.md`, `README.md`, `/etc/none.py`, `wheeld/core/*.py`"
    )
    bad = "`wheeld/core/gone.py`, `gone.py`, `pytest tests/gone -k some`, `wheeld/{topic}.schema.json`"
    found = tree.dead_paths(page(tree, f"{good}\n{bad}\n"))
    assert found == ["wheeld/core/gone.py", "gone.py", "tests/gone", "wheeld/{topic}.schema.json"]


def test_a_bare_name_beside_no_path_that_the_page_names(tree: Tree) -> None:
    assert tree.dead_paths(page(tree, "`law.py`")) == ["law.py"]


def test_a_path_with_a_test_behind_it(tree: Tree) -> None:
    text = "`wheeld/core/run.py::test_that`, `wheeld/core/gone.py::test_that`"
    assert tree.dead_paths(page(tree, text)) == ["wheeld/core/gone.py"]


def test_a_class_and_its_member(tree: Tree) -> None:
    good = "`BallRun` `BallRun.begin` `BallRun.laps` `BallRun.START` `BallRun(laps=3)` `Reports` `R3b` `WAL` `one word`"
    bad = "`BallRuns` `BallRun.end` `Ball(laps=3)`"
    assert tree.dead_symbols(page(tree, f"{good} {bad}")) == bad.replace("`", "").split()


def test_a_function(tree: Tree) -> None:
    assert tree.dead_symbols(page(tree, "`begin()` `end()`")) == ["end()"]


def test_a_dotted_name_is_resolved_by_import(tree: Tree) -> None:
    good = "`wheeld.core.pockets` `wheeld.core.pockets.label_of` `tests.documents.tree.Tree.documents`"
    bad = "`wheeld.core.pocketz` `wheeld.core.pockets.label_off` `wheeld.none`"
    assert tree.dead_symbols(page(tree, f"{good} {bad}")) == bad.replace("`", "").split()


def test_a_page_that_source_names(tree: Tree) -> None:
    text = '"""See docs/wheels.md, rulebook.md, and docs/gone.md or gone.md."""\nPAGE = ROOT / "none.md"\n'
    assert tree.dead_pages(page(tree, text, "wheeld/core/law.py")) == ["docs/gone.md", "gone.md"]


def test_a_first_mention_without_its_path(tree: Tree) -> None:
    text = '"""As rulebook 6 says (wheels 1.3)."""\n# interfaces, `table`; docs/rulebook.md\n'
    found = tree.vague_mentions(page(tree, text, "wheeld/core/law.py"))
    assert found == ["docs/rulebook.md", "docs/wheels.md", "docs/interfaces.md"]


def test_a_first_mention_with_its_path(tree: Tree) -> None:
    text = '"""docs/rulebook.md 6; observation log, format 1 (docs/observation-log.md)"""\n# rulebook 6\nwheels = 1\n'
    assert tree.vague_mentions(page(tree, text, "wheeld/core/law.py")) == []


def test_a_rule(tree: Tree) -> None:
    text = "# R1, R3b; R2, N9; not PR1 nor R1x\n"
    assert tree.unknown_rules(page(tree, text, "wheeld/core/law.py")) == ["R2", "N9"]


def test_a_section(tree: Tree) -> None:
    text = (
        '"""docs/wheels.md 1, 1.3 and 1.9; `docs/wheels.md` 2.1"""\nwhy = "rulebook 6", "rulebook 9", "docs/no.md 1"\n'
    )
    found = tree.unknown_sections(page(tree, text, "wheeld/core/law.py"))
    assert found == ["wheels.md 1.9", "wheels.md 2.1", "no.md 1", "rulebook.md 9"]


def test_remarks_are_comments_and_statements_that_are_strings() -> None:
    text = '"""a"""\nx = "no"\n"""b"""\n# c\ncall(\n    "no",  # d\n)\n\n\ndef f():\n    """e"""\n'
    assert list(remarks(text)) == ['"""a"""', '"""b"""', "# c", "# d", '"""e"""']
