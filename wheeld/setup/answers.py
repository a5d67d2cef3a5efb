"""What a person answers about a wheel: the keys of its configuration, and a few about this computer, `[setup]`.

A file of answers is a configuration as far as a person knows it, with a section `[setup]` before it. So each answer is
judged by the declarations of the configuration itself, and a wrong one is named with its key and what was expected.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta, structs

from wheeld.config.problems import ConfigError, Problem, located
from wheeld.config.reading import expected, not_expected, notes, parse, text_in, tree_of
from wheeld.config.sections import SECTIONS
from wheeld.core.catalogue import Text, translatable
from wheeld.core.setting import NAME, NAME_PATTERN

Connection: TypeAlias = Literal["board", "pins", "head", "simulated"]
Broker: TypeAlias = Literal["house", "existing"]
NOWHERE = Path("/nonexistent")
"""Stands for the credentials of an instance, before there are any."""
HOST_PATTERN = r"^[A-Za-z0-9]([A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?\Z"


class SetupSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[setup]`: what the configuration does not say."""

    name: Annotated[
        str,
        Meta(
            pattern=rf"^{NAME_PATTERN}\Z",
            title=translatable("the wheel's name on this computer"),
            description=NAME.english,
        ),
    ]
    sensors: Annotated[
        Connection,
        Meta(
            title=translatable("what sees the wheel"),
            description=translatable("{first} or {last}"),
            extra={"parts": {"first": '"board", "pins", "head"', "last": '"simulated"'}},
        ),
    ]
    broker: Annotated[
        Broker,
        Meta(title=translatable("which broker: a new one on this computer, or one that is there")),
    ]
    broker_names: Annotated[
        tuple[Annotated[str, Meta(pattern=HOST_PATTERN)], ...],
        Meta(
            title=translatable("names and addresses by which devices reach this computer"),
            description=translatable("host names or addresses, with a comma between them"),
        ),
    ] = ()


KINDS = {field.name: field.type for field in structs.fields(SetupSection)}
_KNOWN = Text("{section} knows {names}", {"section": "[setup]", "names": ", ".join(KINDS)})
_UNKNOWN = Text("is not a known key; {hint}", {"hint": _KNOWN})
OPTIONAL = frozenset(field.name for field in structs.fields(SetupSection) if not field.required)


_NAME = Text("the answers")


class Answers:
    """Answers by section and key. `text` is the file that they came from, called `name`."""

    def __init__(self, name: Text | str = _NAME, text: str = "") -> None:
        self._name, self._text = name, text
        self.values: dict[str, dict[str, Any]] = {}

    @classmethod
    def read(cls, path: Path) -> Answers:
        """Those of a file. Raises OSError, ConfigError."""
        text = text_in(path)
        tree = tree_of(text, str(path))
        answers = cls(str(path), text)
        not_sections = [name for name, section in tree.items() if not isinstance(section, dict)]
        if not_sections:
            what = Text("stands in no section: {sections}", {"sections": "[setup], [table], …"})
            answers.refuse([Problem(name, what) for name in not_sections])
        answers.values = tree
        return answers

    def get(self, key: str, default: Any = None) -> Any:
        """The answer to `section.name`."""
        section, _, name = key.partition(".")
        return self.values.get(section, {}).get(name, default)

    def put(self, key: str, value: Any) -> None:
        """Note an answer; None takes it back."""
        section, _, name = key.partition(".")
        if value is None:
            self.values.get(section, {}).pop(name, None)
        else:
            self.values.setdefault(section, {})[name] = value

    @property
    def configuration(self) -> dict[str, dict[str, Any]]:
        """Without `[setup]`."""
        return {section: keys for section, keys in self.values.items() if section != "setup" and keys}

    def setup(self) -> SetupSection:
        """`[setup]`, complete. Raises ConfigError."""
        if wrong := self.setup_problems():
            self.refuse(wrong)
        return msgspec.convert(self.values.get("setup", {}), SetupSection)

    def setup_problems(self) -> list[Problem]:
        """What is wrong with `[setup]`."""
        given = self.values.get("setup", {})
        unknown = [Problem(f"setup.{name}", _UNKNOWN) for name in given if name not in KINDS]
        return [*unknown, *(problem for name in KINDS for problem in self.problems_at(f"setup.{name}"))]

    def problems_at(self, key: str) -> list[Problem]:
        """What is wrong with this answer, as far as can be known from those that are there."""
        section, _, name = key.partition(".")
        if section != "setup":
            return [problem for problem in self.problems() if problem.key == key]
        value = self.get(key)
        if value is None and name in OPTIONAL:
            return []
        try:
            msgspec.convert(value, KINDS[name])
        except msgspec.ValidationError:
            if value is None:
                return [Problem(key, Text("is missing; expected {expected}", {"expected": expected(KINDS[name])}))]
            return [Problem(key, not_expected(toml_of(value), KINDS[name]))]
        return []

    def problems(self) -> list[Problem]:
        """Everything that is wrong with the configuration that these answers come to; files are judged later."""
        return problems_in(self.configuration)

    def refuse(self, problems: list[Problem]) -> None:
        """Raise ConfigError with their lines in the file, where they have one."""
        raise ConfigError(self._name, located([problem._replace(line=None) for problem in problems], self._text))


def problems_in(configuration: dict[str, dict[str, Any]]) -> list[Problem]:
    """Everything that is wrong with a configuration but its files: they may not be there yet."""
    try:
        parse(text_of(configuration), directory=NOWHERE, credentials=NOWHERE.joinpath)
    except ConfigError as wrong:
        return [problem for problem in wrong.problems if not problem.key.endswith("_file")]
    return []


def meaning(key: str) -> tuple[str, Text]:
    """What an answer means, and what is accepted, in words."""
    section, _, name = key.partition(".")
    kind = KINDS[name] if section == "setup" else SECTIONS[section][name].kind
    return next((note.title for note in notes(kind) if note.title), ""), expected(kind)


def text_of(configuration: dict[str, dict[str, Any]], comments: dict[str, str] | None = None) -> str:
    """The file of a configuration; `comments` by `section.key`."""
    lines = []
    for section, keys in configuration.items():
        lines += ["", f"[{section}]"]
        for name, value in keys.items():
            comment = (comments or {}).get(f"{section}.{name}", "")
            line = f"{_key(name)} = {toml_of(value)}"
            lines.append(f"{line:<40}  # {comment}" if comment else line)
    return "\n".join(lines).lstrip("\n") + "\n"


def toml_of(value: Any) -> str:
    """A value as one writes it in the file. What TOML has and a configuration has not, such as a date, is a text."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_key(key)} = {toml_of(each)}' for key, each in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(toml_of(each) for each in value)}]"
    return msgspec.json.encode(value, enc_hook=str).decode()


def _key(name: str) -> str:
    """Quoted: a person may have written any key."""
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else toml_of(name)
