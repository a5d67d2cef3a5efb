"""Translates messages of a table whose language is not that of the screen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from string import Formatter
from typing import NamedTuple

from wheeld.core.catalogue import Catalogue, Language, forms_of
from wheeld.core.houses import TOUT_VA

KEPT = 4_096
"""How many translations are kept. A table sends the same few hundred texts again and again."""

RITUAL = {*TOUT_VA.keys(), *TOUT_VA.values()}
"""Words that are used at the table in one language only, and are not translated."""


class _Template(NamedTuple):
    """A text of the catalogue in one language. `patterns`: in the first pattern, placeholders match as little text as
    possible, and in the second as much as possible: a value may contain the same words as the text between two
    placeholders. `longest`: the longest piece between placeholders."""

    english: str
    patterns: tuple[re.Pattern[str], ...]
    longest: str
    is_numbered: bool


class _Reading(NamedTuple):
    """A possible translation. `unknown`: how many of its characters no catalogue contains."""

    unknown: int
    text: str


class Translation:
    """Translates the texts of messages from one language to another.

    A message contains whole sentences. The table made them from texts of the catalogue, with other texts in their
    placeholders, and the message does not say from which. So each sentence is compared with the catalogue: of all
    possible readings, the one with the fewest unknown characters is used. What no catalogue contains, such as a
    person's own words, is kept.
    """

    def __init__(self, source: Language, target: Language) -> None:
        self._target = Catalogue(target)
        self._whole: dict[str, str] = {}
        self._templates: list[_Template] = []
        for english, forms in forms_of(source).items():
            for form in dict.fromkeys(forms):
                if "{" in form:
                    is_numbered = len(forms) > 1
                    pieces = [(literal, name) for literal, name, _, _ in Formatter().parse(form)]
                    shapes = (r"\d+",) if is_numbered else (".+?", ".+")
                    patterns = dict.fromkeys(_pattern(pieces, shape) for shape in shapes)
                    self._templates.append(
                        _Template(
                            english,
                            tuple(map(re.compile, patterns)),
                            max((literal for literal, _ in pieces), key=len),
                            is_numbered,
                        )
                    )
                else:
                    self._whole.setdefault(form, english)
        self._templates.sort(key=lambda each: -len(each.patterns[0].pattern))
        self._read = lru_cache(KEPT)(self._reading)

    def of(self, text: str) -> str:
        """Return the text in the other language, as far as it is known."""
        return self._read(text).text

    def _reading(self, text: str) -> _Reading:
        if not re.search(r"[^\W\d_]", text):
            return _Reading(0, text)
        if text in self._whole:
            return _Reading(0, self._target.say(self._whole[text]))
        if text in RITUAL:
            return _Reading(0, text)
        best = _Reading(len(text), text)
        for found in self._readings(text):
            best = min(best, found, key=lambda each: each.unknown)
            if not best.unknown:
                break
        return best

    def _readings(self, text: str) -> Iterator[_Reading]:
        """Yield each possible reading: first as one of the texts of the catalogue, the longest first, then as a list of
        texts with commas between them."""
        for template in self._templates:
            if template.longest in text:
                for found in filter(None, (pattern.fullmatch(text) for pattern in template.patterns)):
                    if template.is_numbered:
                        yield _Reading(0, self._target.say_number(template.english, found["number"]))
                    else:
                        parts = {name: self._read(part) for name, part in found.groupdict().items()}
                        filled = {name: part.text for name, part in parts.items()}
                        said = self._target.say(template.english, **filled)
                        yield _Reading(sum(part.unknown for part in parts.values()), said)
        if ", " in text:
            items = [self._read(item) for item in text.split(", ")]
            yield _Reading(sum(item.unknown for item in items), ", ".join(item.text for item in items))


def _pattern(pieces: Sequence[tuple[str, str | None]], shape: str) -> str:
    pattern, seen = "", set[str]()
    for literal, name in pieces:
        pattern += re.escape(literal)
        if name is not None:
            pattern += f"(?P={name})" if name in seen else f"(?P<{name}>{shape})"
            seen.add(name)
    return pattern


@cache
def translation(source: Language, target: Language) -> Translation:
    """Return the translation from one language to another."""
    return Translation(source, target)
