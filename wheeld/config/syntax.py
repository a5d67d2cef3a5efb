"""Explains a text that is not TOML: the line and key of the error, and what to write. Only names of keys are repeated
from the text, because the rest may contain a secret."""

from __future__ import annotations

import re

from wheeld.config.problems import Problem, section_and_key
from wheeld.config.sections import SECTIONS
from wheeld.core.catalogue import Part, Text, translatable

_LINE = Text(
    "a line is KEY = VALUE, [SECTION], or # and a comment; a text is in straight quotes: {example}",
    {"example": '"campione"'},
)
_QUOTES = Text("a text begins and ends with {quote} in the same line", {"quote": '"'})
_TWICE = Text("this key is there twice: remove one of the two")
_HINTS = (
    ("Illegal character", _QUOTES),
    ("Unterminated string", _QUOTES),
    ("Expected '\"", _QUOTES),
    ('Expected "', _QUOTES),
    ("Unescaped", Text(r"in a text write \\ for each \, or put the text between ' and '")),
    (
        "Unclosed array",
        Text("a list is between [ and ], with commas between its values: {example}", {"example": "[0, 90]"}),
    ),
    (
        "Unclosed inline table",
        Text(
            "names and their values are between {opens} and {closes}, with commas: {example}",
            {"opens": "{", "closes": "}", "example": '{ panel-7 = "chef" }'},
        ),
    ),
    (
        "Expected ']",
        Text("a section is its name between [ and ], on a line of its own: {example}", {"example": "[table]"}),
    ),
    ("Expected '='", Text("write KEY = VALUE")),
    (
        "Expected newline",
        Text("a line has one value; a fraction has a point (0.5), no number begins with 0, # begins a comment"),
    ),
    (
        "Invalid value",
        Text("a text is in straight quotes ({example}); numbers, true and false are not", {"example": '"campione"'}),
    ),
    ("Cannot overwrite", _TWICE),
    ("Duplicate", _TWICE),
    ("Cannot declare", Text("the section is there twice: write all its keys below the first")),
)
"""What to write instead, for each beginning of a message of Python's parser."""
_MESSAGES = (
    translatable("Invalid statement"),
    translatable("Expected newline or end of document after a statement"),
    translatable("Expected ']' at the end of a table declaration"),
    translatable("Expected ']]' at the end of an array declaration"),
    translatable("Expected '=' after a key in a key/value pair"),
    translatable("Expected {sign}"),
    translatable("Found invalid character {character}"),
    translatable("Illegal character {character}"),
    translatable("Cannot declare {key} twice"),
    translatable("Cannot overwrite a value"),
    translatable("Cannot mutate immutable namespace {key}"),
    translatable("Cannot redefine namespace {key}"),
    translatable("Duplicate inline table key {key}"),
    translatable("Invalid initial character for a key part"),
    translatable("Unclosed array"),
    translatable("Unclosed inline table"),
    translatable("Unescaped '\\' in a string"),
    translatable("Invalid hex value"),
    translatable("Escaped character is not a Unicode scalar value"),
    translatable("Unterminated string"),
    translatable("Invalid date or datetime"),
    translatable("Invalid value"),
    translatable("maximum recursion depth exceeded"),
    translatable("Exceeds the limit {limit} for integer string conversion{more}"),
)
"""The messages of Python's parser (tomllib). Messages of another version are shown unchanged."""
_AT_END = " (at end of document)"
_WORD = re.compile(r"\s*(\[*)\s*[\"']?([A-Za-z0-9_-]+)")
_OPENS_LATE = ('"""', "'''")


def syntax_problem(message: str, text: str) -> Problem:
    """Return the problem that the TOML parser reports in the file's `text`."""
    lines = text.split("\n")
    told: Part
    if found := re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", message):
        what, number, column = found[1], int(found[2]), int(found[3])
        if what == "Unclosed array" and not lines[number - 1][: column - 1].strip():
            told, number = _told(what), _begin(lines[: number - 1], what)  # the parser has already reached the next key
        else:
            told = Text("{what} (column {column})", {"what": _told(what), "column": column})
    else:
        what, told, number = message, _told(message), _begin(lines, message)
    hint = next((hint for begin, hint in _HINTS if what.startswith(begin)), _LINE)
    return Problem(key_at(lines, number), Text("is not TOML: {told}; {hint}", {"told": told, "hint": hint}), number)


def _told(what: str) -> Part:
    """Return the parser's message as a text of the catalogue, or unchanged if it is unknown."""
    if what.endswith(_AT_END):
        return Text("{what} (at end of document)", {"what": _told(what.removesuffix(_AT_END))})
    for text in _MESSAGES:
        if found := re.fullmatch(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.*)", re.escape(text)), what, re.DOTALL):
            return Text(text, found.groupdict())
    return what


def key_at(lines: list[str], number: int) -> str:
    """Return the known key in the line, counted from 1. If there is none: the known section that contains the line."""
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
    """Return the line, counted from 1, in which the unclosed value begins: a text of several lines, or the last key."""
    is_text = what.startswith(("Unterminated", "Expected"))
    marked = [number for number, line in enumerate(lines, 1) if is_text and any(mark in line for mark in _OPENS_LATE)]
    keyed = [number for number, line in enumerate(lines, 1) if any(section_and_key(line))]
    return (marked or keyed or [len(lines)])[-1]
