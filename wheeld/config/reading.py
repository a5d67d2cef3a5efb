"""Reads the configuration file (TOML), and validates it completely before anything starts.

All problems are reported together, each with its key, its line if it can be found, and what was expected. An unknown
key is a problem too, because a mistyped setting that is silently ignored is worse than none.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, get_args

import msgspec
from msgspec import NODEFAULT, Meta

from wheeld.config.paths import CREDENTIAL, MISPLACED, SECRETS, Credentials, PathError, given_by_systemd, resolve
from wheeld.config.problems import ConfigError, Problem, located
from wheeld.config.sections import OPTIONAL, SECTIONS, Config, Key, Values, config_of
from wheeld.config.syntax import key_at, syntax_problem
from wheeld.config.validation import problems_here, problems_of
from wheeld.core.catalogue import Part, Text, either
from wheeld.core.setting import TRUE_OR_FALSE, quoted

BYTE_ORDER_MARK = "\ufeff"
"""The first character that some Windows editors write."""


def load(path: Path, credentials: Credentials = given_by_systemd) -> Config:
    """Read and validate the file at `path`. Raises OSError if it cannot be read, ConfigError if it is wrong.

    Paths in it are relative to its own directory. A key that ends in `_file` may name a credential of systemd.
    """
    return parse(text_in(path), name=str(path), directory=path.parent, credentials=credentials)


def load_here(path: Path, credentials: Credentials = given_by_systemd) -> Config:
    """Read and validate the file at `path`, and check that a wheel could start with it on this computer. Raises
    OSError, ConfigError."""
    config = load(path, credentials)
    if problems := problems_here(config):
        raise ConfigError(str(path), located(problems, text_in(path)))
    return config


def journal_path(path: Path) -> Path:
    """Return the journal's path from the file at `path`. Nothing else is validated. Raises OSError, ConfigError."""
    value = _journal_value(path, "path")
    if value is None:
        raise ConfigError(str(path), [Problem("journal.path", Text("is missing; expected a path"))])
    return path.parent / value


def signing_key(path: Path, credentials: Credentials) -> Path | None:
    """Return the path of the journal's key from the file at `path`, or None if the file names no key. Nothing else is
    validated. Raises OSError, ConfigError."""
    value = _journal_value(path, "signing_key_file")
    try:
        return None if value is None else resolve(value, path.parent, credentials)
    except PathError as wrong:
        raise ConfigError(str(path), [Problem("journal.signing_key_file", wrong.text)]) from None


def _journal_value(path: Path, key: str) -> str | None:
    section = tree_of(text_in(path), str(path)).get("journal")
    value = section.get(key) if isinstance(section, dict) else None
    return value if isinstance(value, str) else None


def parse(
    text: str,
    *,
    name: str = "configuration",
    directory: Path = Path(),
    credentials: Credentials = given_by_systemd,
) -> Config:
    """Validate the text of a file called `name`. Raises ConfigError with every problem found."""
    reader = _Reader(directory, credentials)
    config = config_of(reader.values(tree_of(text, name)))
    if problems := [*reader.problems, *problems_of(config)]:
        raise ConfigError(name, located(problems, text))
    return msgspec.structs.replace(config, file=name)


def text_in(path: Path) -> str:
    """Return the text of a TOML file. Raises OSError, ConfigError."""
    try:
        raw = path.read_bytes()
    except IsADirectoryError as wrong:
        raise IsADirectoryError(wrong.errno, "This is a directory; name the file in it", str(path)) from None
    try:
        return raw.decode()
    except UnicodeDecodeError as wrong:
        line = raw[: wrong.start].count(b"\n") + 1
        key = key_at(raw.decode(errors="replace").split("\n"), line)
        raise ConfigError(str(path), [Problem(key, Text("is not UTF-8 text; save the file as UTF-8"), line)]) from None


def tree_of(text: str, name: str) -> dict[str, Any]:
    """Return the content of a TOML file as plain values. `name` is for messages. Raises ConfigError."""
    if text.startswith(BYTE_ORDER_MARK):
        what = Text("begins with a byte order mark, which TOML does not allow; save the file as UTF-8 without it")
        raise ConfigError(name, [Problem("", what, 1)])
    try:
        tree = tomllib.loads(text)
    except (ValueError, RecursionError) as wrong:  # the text may have a number of 5,000 digits, or 1,000 brackets
        raise ConfigError(name, [syntax_problem(str(wrong), text)]) from None
    if not tree:
        example = {"file": "/etc/wheeld/example.toml"}
        what = Text("has no key; begin with a copy of {file}", example)
        raise ConfigError(name, [Problem("", what, 1)])
    return tree


class _Reader:
    """Converts plain values to the values of the fields. It notes every problem and does not stop at the first."""

    def __init__(self, directory: Path, credentials: Credentials) -> None:
        self._directory = directory
        self._credentials = credentials
        self._meant: set[str] = set()
        """Sections and keys that an unknown name may mean. Their values are therefore unknown."""
        self.problems: list[Problem] = []

    def values(self, tree: dict[str, Any]) -> dict[str, Values]:
        """Return the values of each section. All values are known if there are no problems."""
        self._refuse_unknown("", tree, list(SECTIONS))
        for name, keys in SECTIONS.items():
            if isinstance(section := tree.get(name), dict):
                self._refuse_unknown(name, section, list(keys))
        read: dict[str, Values] = {}
        for name, keys in SECTIONS.items():
            if name not in tree and name not in self._meant and name in OPTIONAL:
                continue
            values = tree.get(name, {})
            if not isinstance(values, dict):
                what = Text("must be a section: write {line} on a line of its own", {"line": f"[{name}]"})
                self.problems.append(Problem(name, what))
            if not isinstance(values, dict) or (name in self._meant and not values):
                read[name] = Values({}, {key.field for key in keys.values()})
                continue
            read[name] = Values({}, set())
            for key_name, key in keys.items():
                self._key(read[name], f"{name}.{key_name}", key, values.get(key_name, NODEFAULT))
        return read

    def _key(self, section: Values, place: str, key: Key, value: object) -> None:
        """Put the value into its `section`. The value is `NODEFAULT` if the file does not contain the key."""
        if value is not NODEFAULT:
            try:
                section.known[key.field] = msgspec.convert(value, key.kind, dec_hook=partial(self._path, place))
            except msgspec.ValidationError as wrong:
                self.problems.append(Problem(place, _wrong_value(place, key.kind, value, wrong.__cause__)))
                section.unknown.add(key.field)
            return
        if key.required:
            self.problems.append(
                Problem(place, Text("is missing; expected {expected}", {"expected": expected(key.kind)}))
            )
        if key.required or place in self._meant:
            section.unknown.add(key.field)
        elif key.default is not NODEFAULT:
            section.known[key.field] = key.default

    def _path(self, place: str, kind: type, value: object) -> Path:
        if kind is not Path or not isinstance(value, str):
            raise PathError(Text("is not a path"))
        if not place.endswith("_file") and value.startswith(CREDENTIAL):
            raise PathError(Text("names a credential, and nobody can write to a credential"))
        return resolve(value, self._directory, self._credentials)

    def _refuse_unknown(self, section: str, values: dict[str, Any], known: list[str]) -> None:
        for name in values:
            if name not in known:
                hint = {"hint": _hint(section, name, known)}
                self._meant.update(_meant(section, name, known))
                if section:
                    self.problems.append(Problem(f"{section}.{name}", Text("is not a known key; {hint}", hint)))
                else:
                    self.problems.append(Problem(name, Text("is not a known section; {hint}", hint)))


def _meant(section: str, name: str, known: list[str]) -> list[str]:
    """Return what an unknown name may mean: the most similar known name, or else the same key in other sections."""
    import difflib  # noqa: PLC0415  a correct configuration does not need it

    if nearest := difflib.get_close_matches(name, known, n=1):
        return [f"{section}.{nearest[0]}" if section else nearest[0]]
    return [f"{home}.{name}" for home, keys in SECTIONS.items() if name in keys]


def _hint(section: str, name: str, known: list[str]) -> Text:
    """Return where secrets belong, or what the name may mean, or all known names."""
    if name in MISPLACED:
        files = _one_of([key for key in known if key.endswith(SECRETS)] or ["mqtt.password_file"])
        return Text(
            "a secret does not belong in this file: write it into a file of its own, and name that file in {files}",
            {"files": files},
        )
    meant = [place.rpartition(".") for place in _meant(section, name, known)]
    if meant and meant[0][0] == section:
        return Text("did you mean {name}?", {"name": meant[0][2]})
    if meant:
        return Text("it belongs in {sections}", {"sections": _one_of([f"[{home}]" for home, _, _ in meant])})
    names = {"section": f"[{section}]", "names": ", ".join(known)}
    return Text("{section} may contain {names}", names) if section else Text("the file may contain {names}", names)


def _wrong_value(place: str, kind: Any, value: object, cause: BaseException | None) -> Text:
    """Return why this key does not accept the value. A value that may be a secret is not repeated."""
    if isinstance(cause, PathError) and str(value).startswith(CREDENTIAL):
        return cause.text
    if place.endswith(SECRETS):
        why = cause.text if isinstance(cause, PathError) else Text("is not a path")
        return Text("{why}; expected {expected}", {"why": why, "expected": expected(kind)})
    written = msgspec.json.encode(value, enc_hook=str).decode()
    return not_expected(written if len(written) <= 60 else f"{written[:57]}...", kind)


def _one_of(names: list[str]) -> Part:
    return names[0] if len(names) == 1 else either(*names)


def not_expected(shown: str, kind: Any) -> Text:
    """Return the text about a value that the key's type does not accept. `shown`: the value for people."""
    return Text("is {value}; expected {expected}", {"value": shown, "expected": expected(kind)})


def expected(kind: Any) -> Text:
    """Return what a key's type accepts, in words: its `description` with the `parts`, if it has a description."""
    for note in notes(kind):
        if note.description:
            return Text(note.description, (note.extra or {}).get("parts", {}))
    choices = [part for part in _flat(kind) if isinstance(part, str)]
    if choices:
        return quoted(choices)
    names = {int: Text("a whole number"), float: Text("a number"), bool: TRUE_OR_FALSE}
    return next(names[part] for part in _flat(kind) if part in names)


def notes(kind: Any) -> Iterator[Meta]:
    """Yield the notes that a key's type declares: first those of the key itself, then those of its parts."""
    declared = getattr(kind, "__metadata__", ())
    yield from (note for note in reversed(declared) if isinstance(note, Meta))
    for part in get_args(kind):
        if part not in declared:
            yield from notes(part)


def _flat(kind: Any) -> Iterator[Any]:
    parts = get_args(kind)
    if not parts:
        yield kind
    for part in parts:
        yield from _flat(part)
