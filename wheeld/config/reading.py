"""Reads the configuration file: TOML, read and validated whole before anything starts.

Every problem is reported at once, each with its key, its line where that can be found, and what was expected. An
unknown key is a problem too, because a mistyped setting that is silently ignored is worse than none.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, get_args

import msgspec
from msgspec import NODEFAULT, Meta

from wheeld.config.paths import CREDENTIAL, MISPLACED, SECRETS, credentials_directory, resolve
from wheeld.config.problems import ConfigError, Problem, located, syntax_problem
from wheeld.config.sections import OPTIONAL, SECTIONS, Config, Key, Keys, config_of
from wheeld.config.validation import problems_of


def load(path: Path) -> Config:
    """Read and validate the file at `path`; raises OSError when it cannot be read, ConfigError when it is wrong.

    Paths in it are relative to the directory it stands in; a key that ends in `_file` may name a credential of systemd.
    """
    raw = path.read_bytes()
    try:
        text = raw.decode()
    except UnicodeDecodeError as wrong:
        line = raw[: wrong.start].count(b"\n") + 1
        raise ConfigError(str(path), [Problem("", "is not UTF-8 text", line)]) from None
    return parse(text, name=str(path), directory=path.parent, credentials=credentials_directory())


def parse(
    text: str, *, name: str = "configuration", directory: Path = Path(), credentials: Path | None = None
) -> Config:
    """Validate the text of a file called `name`; raises ConfigError with every problem found."""
    try:
        tree = tomllib.loads(text)
    except (ValueError, RecursionError) as wrong:  # a number of 5,000 digits, a thousand brackets
        raise ConfigError(name, [syntax_problem(str(wrong))]) from None
    reader = _Reader(directory, credentials)
    values = reader.values(tree)
    problems = reader.problems
    if not problems:
        config = config_of(values)
        problems = problems_of(config)
        if not problems:
            return config
    raise ConfigError(name, located(problems, text))


class _Reader:
    """From a tree of plain values to those of the fields, noting every problem rather than stopping at the first."""

    def __init__(self, directory: Path, credentials: Path | None) -> None:
        self._directory = directory
        self._credentials = credentials
        self.problems: list[Problem] = []

    def values(self, tree: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """By section and field; complete only when there are no problems."""
        self._refuse_unknown("", tree, list(SECTIONS))
        return {
            name: self._section(name, keys, tree.get(name, {}))
            for name, keys in SECTIONS.items()
            if name in tree or name not in OPTIONAL
        }

    def _section(self, name: str, keys: Keys, values: object) -> dict[str, Any]:
        if not isinstance(values, dict):
            self.problems.append(Problem(name, f"must be a section: write [{name}] on a line of its own"))
            return {}
        self._refuse_unknown(name, values, list(keys))
        good: dict[str, Any] = {}
        for key_name, key in keys.items():
            place = f"{name}.{key_name}"
            if key_name in values:
                good[key.field] = self._value(place, key, values[key_name])
            elif key.required:
                self.problems.append(Problem(place, f"is missing; expected {_expected(key.kind)}"))
            elif key.default is not NODEFAULT:
                good[key.field] = key.default
        return good

    def _value(self, place: str, key: Key, value: object) -> object:
        try:
            return msgspec.convert(value, key.kind, dec_hook=partial(self._path, place))
        except msgspec.ValidationError as wrong:
            is_credential = isinstance(value, str) and value.startswith(CREDENTIAL)
            said = str(wrong) if is_credential or place.endswith(SECRETS) else f"is {_shown(value)}"
            self.problems.append(Problem(place, f"{said}; expected {_expected(key.kind)}"))
            return None

    def _path(self, place: str, kind: type, value: object) -> Path:
        if kind is not Path or not isinstance(value, str):
            raise ValueError("is no path")
        if not place.endswith("_file") and value.startswith(CREDENTIAL):
            raise ValueError("names a credential, which nothing can be written to")
        return resolve(value, self._directory, self._credentials)

    def _refuse_unknown(self, section: str, values: dict[str, Any], known: list[str]) -> None:
        for name in values:
            if name not in known:
                key, kind = (f"{section}.{name}", "key") if section else (name, "section")
                self.problems.append(Problem(key, f"is not a known {kind}; {_hint(section, name, known)}"))


def _hint(section: str, name: str, known: list[str]) -> str:
    """Where secrets belong; the nearest known name; the section where the key would be right; all known here."""
    if name in MISPLACED:
        files = " or ".join(key for key in known if key.endswith(SECRETS)) or "mqtt.password_file"
        return f"a secret does not belong in this file: write it to one of its own, and name that in {files}"
    nearest = difflib.get_close_matches(name, known, n=1)
    if nearest:
        return f"did you mean {nearest[0]}?"
    homes = [f"[{home}]" for home, keys in SECTIONS.items() if name in keys]
    if homes:
        return f"it belongs in {' or '.join(homes)}"
    where = f"[{section}]" if section else "the file"
    return f"{where} knows {', '.join(known)}"


def _expected(kind: Any) -> str:
    """What a key's type asks for, in words."""
    for part in (kind, *get_args(kind)):
        for note in getattr(part, "__metadata__", ()):
            if isinstance(note, Meta) and note.description:
                return note.description
    names = {int: "a whole number", float: "a number", bool: "true or false"}
    choices = [part for part in _flat(kind) if isinstance(part, str)]
    if choices:
        return " or ".join(f'"{choice}"' for choice in choices)
    return next(names[part] for part in _flat(kind) if part in names)


def _flat(kind: Any) -> Iterator[Any]:
    parts = get_args(kind)
    if not parts:
        yield kind
    for part in parts:
        yield from _flat(part)


def _shown(value: object) -> str:
    """The value as the person wrote it, cut where it is long."""
    text = msgspec.json.encode(value, enc_hook=str).decode()
    return text if len(text) <= 60 else f"{text[:57]}..."
