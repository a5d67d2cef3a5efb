"""A text that is not TOML: in which line and key, and what to write there. Nothing of the text itself is repeated but
names of keys: somebody may have written a secret there."""

from __future__ import annotations

import re

from wheeld.config.problems import Problem, section_and_key
from wheeld.config.sections import SECTIONS

_LINE = 'a line is KEY = VALUE, [SECTION], or # and a comment; a text stands in straight quotes: "campione"'
_QUOTES = 'a text begins and ends with " in the same line'
_TWICE = "it stands twice: take out one of the two"
_HINTS = (
    ("Illegal character", _QUOTES),
    ("Unterminated string", _QUOTES),
    ("Expected '\"", _QUOTES),
    ('Expected "', _QUOTES),
    ("Unescaped", r"in a text write \\ for each \, or put the text between ' and '"),
    ("Unclosed array", "a list stands between [ and ], with commas between its values: [0, 90]"),
    ("Unclosed inline table", 'names and their values stand between { and }, with commas: { panel-7 = "chef" }'),
    ("Expected ']", "a section is its name between [ and ], on a line of its own: [table]"),
    ("Expected '='", "write KEY = VALUE"),
    (
        "Expected newline",
        "a line has one value; a fraction has a point (0.5), no number begins with 0, # begins a comment",
    ),
    ("Invalid value", 'a text stands in straight quotes ("campione"); numbers, true and false do not'),
    ("Cannot overwrite", _TWICE),
    ("Duplicate", _TWICE),
    ("Cannot declare", "the section stands twice: write all its keys below the first"),
)
"""What to write instead, by how the message of Python's parser begins."""
_WORD = re.compile(r"\s*(\[*)\s*[\"']?([A-Za-z0-9_-]+)")
_OPENS_LATE = ('"""', "'''")


def syntax_problem(message: str, text: str) -> Problem:
    """Of what the TOML parser says of the file's `text`."""
    lines = text.split("\n")
    if found := re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", message):
        what, number, column = found[1], int(found[2]), int(found[3])
        told = f"{what} (column {column})"
        if what == "Unclosed array" and not lines[number - 1][: column - 1].strip():
            told, number = what, _begin(lines[: number - 1], what)  # the parser has come to the next key already
    else:
        told, number = message, _begin(lines, message)
    hint = next((hint for begin, hint in _HINTS if told.startswith(begin)), _LINE)
    return Problem(key_at(lines, number), f"is not TOML: {told}; {hint}", number)


def key_at(lines: list[str], number: int) -> str:
    """The known key in that line, counted from 1; where there is none, the known section that the line is in."""
    section = ""
    for line in lines[: number - 1]:
        section = section_and_key(line)[0] or section
    brackets, word = found.groups() if (found := _WORD.match(lines[number - 1])) else ("", "")
    if brackets:
        return word if word in SECTIONS else ""
    if word in SECTIONS.get(section, {}):
        return f"{section}.{word}"
    return section if section in SECTIONS else ""


def _begin(lines: list[str], what: str) -> int:
    """The line, counted from 1, of what has no end: of a text of several lines, else of the last key."""
    is_text = what.startswith(("Unterminated", "Expected"))
    marked = [number for number, line in enumerate(lines, 1) if is_text and any(mark in line for mark in _OPENS_LATE)]
    keyed = [number for number, line in enumerate(lines, 1) if any(section_and_key(line))]
    return (marked or keyed or [len(lines)])[-1]
