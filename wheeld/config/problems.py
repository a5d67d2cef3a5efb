"""Problems of a configuration, for the person who wrote it: the key, its line, and what was expected."""

from __future__ import annotations

import re
from typing import NamedTuple

from wheeld.core.catalogue import Catalogue, Text
from wheeld.errors import WheeldError


class Problem(NamedTuple):
    """What is wrong with one key. `line` counts from 1, and is None if no line has the key."""

    key: str
    what: Text
    line: int | None = None


class ConfigError(WheeldError, ValueError):
    """The file cannot be used. The message has one line for each problem, in English."""

    def __init__(self, name: Text | str, problems: list[Problem]) -> None:
        self.name, self.problems = name, problems
        super().__init__(self.said(Catalogue("en")))

    def said(self, catalogue: Catalogue) -> str:
        """Return the lines of the message in the language of the catalogue. The place before the colon is not
        translated, because editors read it."""
        name = catalogue.say_text(self.name) if isinstance(self.name, Text) else self.name
        lines = []
        for key, what, line in self.problems:
            place = name if line is None else f"{name}:{line}"
            lines.append(": ".join(filter(None, (place, key, catalogue.say_text(what)))))
        return "\n".join(lines)


def located(problems: list[Problem], text: str) -> list[Problem]:
    """Return the problems with their lines in the file's `text`, in the order of the file. A missing key has the line
    of its section."""
    # A key inside a text of several lines may give a wrong line number. This is accepted, because only messages use
    # these numbers.
    lines: dict[str, int] = {}
    section = ""
    for number, line in enumerate(text.split("\n"), start=1):
        begun, key = section_and_key(line)
        section = begun or section
        if begun or key:
            lines.setdefault(begun or f"{section}.{key}".lstrip("."), number)
    found = [each._replace(line=lines.get(each.key, lines.get(each.key.partition(".")[0]))) for each in problems]
    return sorted(found, key=lambda problem: problem.line or 0)


_SECTION_LINE = re.compile(r"\s*\[\s*\[?\s*([A-Za-z0-9_.-]+)\s*\]")
_KEY_LINE = re.compile(r"\s*[\"']?([A-Za-z0-9_.-]+)[\"']?\s*=")


def section_and_key(line: str) -> tuple[str, str]:
    """Return (section, key): the section that begins in this line, or the key in this line. One of the two texts is
    empty, or both are."""
    if found := _SECTION_LINE.match(line):
        return found[1], ""
    found = _KEY_LINE.match(line)
    return "", found[1] if found else ""
