"""A written evening: what people do at the table, and what the machine must say at each step.

One file an evening, `*.txt` beside this module. A line by its beginning:

- `# ` the title; `## ` begins a coup (or what comes before the first one); `> ` says in words what it shows.
- `table HOUSE/GAME` and `last number N`: the table.
- Four blanks: what the machine says to the step above. `python -m tests.evenings.record` writes these lines.
- Every other line is a step, as `players.STEPS` has them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

DIRECTORY = Path(__file__).parent
SAID = "    "


class ScriptError(ValueError):
    """A line of a script that means nothing, with the file and the line's number."""


@dataclass
class Step:
    """What happens, and what the machine says to it."""

    what: str
    said: list[str] = field(default_factory=list)


@dataclass
class Scene:
    """A coup, with what happens around it."""

    title: str
    words: str = ""
    steps: list[Step] = field(default_factory=list)


@dataclass
class Script:
    """One evening at one table."""

    name: str
    title: str = ""
    words: str = ""
    house: str = ""
    game: str = ""
    last_number: int = 0
    scenes: list[Scene] = field(default_factory=list)

    @property
    def steps(self) -> list[Step]:
        """All of them, in order."""
        return [step for scene in self.scenes for step in scene.steps]

    @property
    def text(self) -> str:
        """The script as its file has it."""
        head = [
            f"# {self.title}",
            "",
            f"> {self.words}",
            "",
            f"table {self.house}/{self.game}",
            f"last number {self.last_number}",
        ]
        return "\n".join([*head, *(line for scene in self.scenes for line in _lines(scene))]) + "\n"


def _lines(scene: Scene) -> list[str]:
    lines = ["", f"## {scene.title}", "", f"> {scene.words}", ""]
    for step in scene.steps:
        lines += [step.what, *(f"{SAID}{line}" for line in step.said)]
    return lines


def path_of(name: str) -> Path:
    """The file of an evening."""
    return DIRECTORY / f"{name}.txt"


def names() -> list[str]:
    """Every written evening."""
    return sorted(path.stem for path in DIRECTORY.glob("*.txt"))


def read(name: str) -> Script:
    """A written evening; raises ScriptError where a line means nothing."""
    return parse(name, path_of(name).read_text())


def parse(name: str, text: str) -> Script:
    """The script in `text`."""
    script = Script(name)
    for number, line in enumerate(text.splitlines(), 1):
        try:
            _take(script, line)
        except (IndexError, ValueError) as error:
            raise ScriptError(f"{name}.txt, line {number}: {line!r} stands where it means nothing") from error
    return script


def _take(script: Script, line: str) -> None:
    kind, _, rest = line.partition(" ")
    if not line.strip():
        return
    if line.startswith(SAID):
        script.scenes[-1].steps[-1].said.append(line.removeprefix(SAID))
    elif kind == "#":
        script.title = rest
    elif kind == "##":
        script.scenes.append(Scene(rest))
    elif kind == ">":
        part = script.scenes[-1] if script.scenes else script
        part.words = f"{part.words} {rest}".strip()
    elif script.scenes:
        script.scenes[-1].steps.append(Step(line))
    elif kind == "table":
        script.house, script.game = rest.split("/")
    else:
        script.last_number = int(line.removeprefix("last number "))
