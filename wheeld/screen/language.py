"""Messages of a table that has another one said in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from string import Formatter
from typing import NamedTuple

from wheeld.core.catalogue import Catalogue, Language, forms_of
from wheeld.core.houses import TOUT_VA

KEPT = 4_096
"""Texts whose translation is kept: a table says the same few hundred again and again."""

RITUAL = {*TOUT_VA.keys(), *TOUT_VA.values()}
"""Words that are said at the table in no other language."""


class _Template(NamedTuple):
    """A text of the catalogue as it is said in one language. `patterns`: with its first part as short as it can be, and
    as long, for the words between two parts may stand in a part too. `longest`: what never changes in it."""

    english: str
    patterns: tuple[re.Pattern[str], ...]
    longest: str
    is_numbered: bool


class _Reading(NamedTuple):
    """A text in the other language; `unknown`: how many of its characters are in no catalogue."""

    unknown: int
    text: str


class Translation:
    """Says in one language what a message says in another.

    A message has whole sentences, made of texts of the catalogue with others in their places, and nothing says which.
    So they are looked up the other way round: of all ways to read a sentence as texts of the catalogue, the one that
    leaves least unknown. What stands in no catalogue, as a person's own words, stays as it is.
    """

    def __init__(self, source: Language, target: Language) -> None:
        self._target = Catalogue(target)
        self._whole: dict[str, str] = {}
        self._templates: list[_Template] = []
        for english, forms in forms_of(source).items():
            for form in dict.fromkeys(forms):
                if "{" in form:
                    self._templates.append(_template(english, form, is_numbered=len(forms) > 1))
                else:
                    self._whole.setdefault(form, english)
        self._templates.sort(key=lambda each: -len(each.patterns[0].pattern))
        self._read = lru_cache(KEPT)(self._reading)

    def of(self, text: str) -> str:
        """The text in the other language, as far as it is known."""
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
        """As each text that it may be, those with most words of their own first; last as a list."""
        for template in self._templates:
            if template.longest in text:
                found = filter(None, (pattern.fullmatch(text) for pattern in template.patterns))
                yield from (self._filled(template, each.groupdict()) for each in found)
        if ", " in text:
            items = [self._read(item) for item in text.split(", ")]
            yield _Reading(sum(item.unknown for item in items), ", ".join(item.text for item in items))

    def _filled(self, template: _Template, found: Mapping[str, str]) -> _Reading:
        if template.is_numbered:
            return _Reading(0, self._target.say_number(template.english, found["number"]))
        parts = {name: self._read(part) for name, part in found.items()}
        said = self._target.say(template.english, **{name: part.text for name, part in parts.items()})
        return _Reading(sum(part.unknown for part in parts.values()), said)


def _template(english: str, form: str, *, is_numbered: bool) -> _Template:
    pieces = [(literal, name) for literal, name, _, _ in Formatter().parse(form)]
    shapes = (r"\d+",) if is_numbered else (".+?", ".+")
    patterns = dict.fromkeys(_pattern(pieces, shape) for shape in shapes)
    return _Template(
        english, tuple(map(re.compile, patterns)), max((literal for literal, _ in pieces), key=len), is_numbered
    )


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
    """From one language to another one."""
    return Translation(source, target)
