"""A person's answers about a wheel: keys of its configuration, and a few keys about this computer in `[setup]`.

A file of answers is a partial configuration with an additional section `[setup]`. The declarations of the configuration
check each answer. The message about a wrong answer names its key and what was expected.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, structs

from wheeld.config.problems import ConfigError, Problem, located
from wheeld.config.reading import expected, not_expected, notes, parse, text_in, tree_of
from wheeld.config.sections import SECTIONS
from wheeld.core.catalogue import Text, translatable
from wheeld.core.setting import NAME, NAME_PATTERN

NOWHERE = Path("/nonexistent")
"""The directory of credentials that do not exist yet."""
HOST_PATTERN = r"^[A-Za-z0-9]([A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?\Z"


class SetupSection(msgspec.Struct, frozen=True, kw_only=True):
    """The section `[setup]`: the answers that are not part of the configuration."""

    name: Annotated[
        str,
        Meta(
            pattern=rf"^{NAME_PATTERN}\Z",
            title=translatable("the wheel's name on this computer"),
            description=NAME.english,
            examples=["campione-03"],
        ),
    ]
    sensors: Annotated[
        Literal["board", "pins", "head", "simulated"],
        Meta(
            title=translatable("what sees the wheel"),
            description=translatable("{first} or {last}"),
            extra={"parts": {"first": '"board", "pins", "head"', "last": '"simulated"'}},
        ),
    ]
    broker: Annotated[
        Literal["house", "existing"],
        Meta(title=translatable("which broker: a new one on this computer, or one that exists already")),
    ]
    broker_names: Annotated[
        tuple[Annotated[str, Meta(pattern=HOST_PATTERN)], ...],
        Meta(
            title=translatable("names and addresses by which devices reach this computer"),
            description=translatable("host names or addresses, with a comma between them"),
        ),
    ] = ()


KINDS = {field.name: field.type for field in structs.fields(SetupSection)}
_KNOWN = Text("{section} may contain {names}", {"section": "[setup]", "names": ", ".join(KINDS)})
_UNKNOWN = Text("is not a known key; {hint}", {"hint": _KNOWN})


_NAME = Text("the answers")


class Answers:
    """Answers by section and key. They come from the file `name`, whose content is `text`."""

    def __init__(self, name: Text | str = _NAME, text: str = "") -> None:
        self._name, self._text = name, text
        self.values: dict[str, dict[str, Any]] = {}

    @classmethod
    def read(cls, path: Path) -> Answers:
        """Read the answers in a file. Raises OSError, ConfigError."""
        text = text_in(path)
        tree = tree_of(text, str(path))
        answers = cls(str(path), text)
        not_sections = [name for name, section in tree.items() if not isinstance(section, dict)]
        if not_sections:
            what = Text(
                "is in no section; write it below one of these: {sections}", {"sections": "[setup], [table], …"}
            )
            answers.refuse([Problem(name, what) for name in not_sections])
        answers.values = tree
        return answers

    def get(self, key: str) -> Any:
        """Return the answer for the key `section.name`, or None."""
        section, _, name = key.partition(".")
        return self.values.get(section, {}).get(name)

    def put(self, key: str, value: Any) -> None:
        """Store an answer. The value None removes it."""
        section, _, name = key.partition(".")
        if value is None:
            self.values.get(section, {}).pop(name, None)
        else:
            self.values.setdefault(section, {})[name] = value

    @property
    def configuration(self) -> dict[str, dict[str, Any]]:
        """The answers that are keys of the configuration: all except `[setup]`."""
        return {section: keys for section, keys in self.values.items() if section != "setup" and keys}

    def setup(self) -> SetupSection:
        """Return `[setup]`, whose questions are all answered. Raises ConfigError if an answer is wrong."""
        if wrong := self._wrong_in_setup():
            self.refuse(wrong)
        return msgspec.convert(self.values.get("setup", {}), SetupSection)

    def problems(self) -> list[Problem]:
        """Return what is wrong with the answers given so far. Missing answers and files are checked later."""
        wrong = problems_in(self.configuration)
        given = [problem for problem in wrong if "." not in problem.key or self.get(problem.key) is not None]
        return [*self._wrong_in_setup(), *given]

    def _wrong_in_setup(self) -> list[Problem]:
        wrong = []
        for name, value in self.values.get("setup", {}).items():
            if name not in KINDS:
                wrong.append(Problem(f"setup.{name}", _UNKNOWN))
                continue
            try:
                msgspec.convert(value, KINDS[name])
            except msgspec.ValidationError:
                wrong.append(Problem(f"setup.{name}", not_expected(toml_of(value), KINDS[name])))
        return wrong

    def refuse(self, *groups: list[Problem]) -> None:
        """Raise ConfigError for these problems, the first group first. Each has its line in the file if it has one."""
        problems = [located([problem._replace(line=None) for problem in group], self._text) for group in groups]
        raise ConfigError(self._name, [*chain.from_iterable(problems)])


def problems_in(configuration: dict[str, dict[str, Any]]) -> list[Problem]:
    """Return all problems of a configuration except those of the files that it names, which may not exist yet."""
    if not configuration:
        return []
    try:
        parse(text_of(configuration), directory=NOWHERE, credentials=NOWHERE.joinpath)
    except ConfigError as wrong:
        named = {f"{section}.{key}" for section, keys in configuration.items() for key in keys if key.endswith("_file")}
        return [problem for problem in wrong.problems if problem.key not in named]
    return []


def meaning(key: str) -> tuple[str, Text]:
    """Return in words what an answer means and which values are accepted."""
    kind = _kind(key)
    return next((note.title for note in notes(kind) if note.title), ""), expected(kind)


def example_of(key: str) -> str:
    """Return a good answer, as a person types it."""
    return toml_of(next(note.examples[0] for note in notes(_kind(key)) if note.examples)).strip('"')


def _kind(key: str) -> Any:
    section, _, name = key.partition(".")
    return KINDS[name] if section == "setup" else SECTIONS[section][name].kind


def text_of(configuration: dict[str, dict[str, Any]], comments: dict[str, str] | None = None) -> str:
    """Return the text of a configuration file. `comments` has the comment of each `section.key`."""
    lines = []
    for section, keys in configuration.items():
        lines += ["", f"[{section}]"]
        for name, value in keys.items():
            comment = (comments or {}).get(f"{section}.{name}", "")
            line = f"{_key(name)} = {toml_of(value)}"
            lines.append(f"{line:<40}  # {comment}" if comment else line)
    return "\n".join(lines).lstrip("\n") + "\n"


def toml_of(value: Any) -> str:
    """Return a value in TOML. A value of a type that no configuration uses, such as a date, becomes a string."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_key(key)} = {toml_of(each)}' for key, each in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(toml_of(each) for each in value)}]"
    return msgspec.json.encode(value, enc_hook=str).decode()


def _key(name: str) -> str:
    """Return the key, in quotes if TOML needs them: a person may have written any key."""
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else toml_of(name)
