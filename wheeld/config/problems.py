"""What is wrong with a configuration, for the person who wrote it: the key, its line, and what was expected."""

from __future__ import annotations

import re
from typing import NamedTuple

from wheeld.errors import WheeldError


class Problem(NamedTuple):
    """What is wrong with one key; `line` counts from 1, None where it stands nowhere."""

    key: str
    what: str
    line: int | None = None


class ConfigError(WheeldError, ValueError):
    """The file cannot be used. The message has a line for each problem."""

    def __init__(self, name: str, problems: list[Problem]) -> None:
        self.problems = problems
        places = [name if problem.line is None else f"{name}:{problem.line}" for problem in problems]
        super().__init__(
            "\n".join(
                f"{place}: {problem.key}: {problem.what}" if problem.key else f"{place}: {problem.what}"
                for place, problem in zip(places, problems, strict=True)
            )
        )


def syntax_problem(message: str) -> Problem:
    """Of what the TOML parser says."""
    found = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", message)
    if found is None:
        return Problem("", f"is not TOML: {message}")
    return Problem("", f"is not TOML: {found[1]} (column {found[3]})", int(found[2]))


def located(problems: list[Problem], text: str) -> list[Problem]:
    """The problems with their lines in the file's `text`, in the order of the file."""
    lines = _lines_of_keys(text)
    found = [problem._replace(line=_line_of(problem.key, lines)) for problem in problems]
    return sorted(found, key=lambda problem: problem.line or 0)


_SECTION_LINE = re.compile(r"\s*\[\s*([A-Za-z0-9_.-]+)\s*\]")
_KEY_LINE = re.compile(r"\s*[\"']?([A-Za-z0-9_.-]+)[\"']?\s*=")


def _lines_of_keys(text: str) -> dict[str, int]:
    """Where sections and keys stand. Good enough for a message: a key inside a multi-line text may mislead it."""
    lines: dict[str, int] = {}
    section = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if found := _SECTION_LINE.match(line):
            section = found[1]
            lines.setdefault(section, number)
        elif found := _KEY_LINE.match(line):
            lines.setdefault(f"{section}.{found[1]}".lstrip("."), number)
    return lines


def _line_of(key: str, lines: dict[str, int]) -> int | None:
    """The key's own line; that of its section when it is missing from it."""
    return lines.get(key, lines.get(key.partition(".")[0]))
