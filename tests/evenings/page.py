"""The page of an evening: the script for readers, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.evenings.script import Scene, Script

DIRECTORY = Path(__file__).parents[2] / "docs" / "evenings"
GENERATED = "Generated from `tests/evenings/{name}.txt`; [about these pages](README.md)."


def path_of(name: str) -> Path:
    """Where the page of an evening stands."""
    return DIRECTORY / f"{name}.md"


def page(script: Script) -> str:
    """The whole page."""
    head = [
        f"# {script.title}",
        "",
        GENERATED.format(name=script.name),
        "",
        script.words,
        "",
        f"Table `{script.house}/{script.game}`; the number before the evening is {script.last_number}.",
    ]
    return "\n".join([*head, *(line for scene in script.scenes for line in _lines(scene))]) + "\n"


def _lines(scene: Scene) -> Iterator[str]:
    yield from ("", f"## {scene.title}", "", scene.words, "", "| at the table | the machine says |", "|---|---|")
    for step in scene.steps:
        said = "<br>".join(map(_cell, step.said))
        yield f"| {_cell(step.what)} | {said} |"


def _cell(line: str) -> str:
    """A line as a table's cell has it; what belongs to the line above is indented."""
    text = line.lstrip()
    indent = "&emsp;" if text != line else ""
    return indent + text.replace("|", "\\|").replace("_", "\\_")
