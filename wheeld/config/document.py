"""Writes a page about every key of the configuration file. A test compares docs/configuration.md with this output.

python -m wheeld.config.document > docs/configuration.md
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import NODEFAULT

from wheeld.config.reading import expected, notes
from wheeld.config.sections import OPTIONAL, SECTIONS, default_of
from wheeld.core.catalogue import Catalogue
from wheeld.core.heads import HEADS

_INTRO = """\
# The configuration file

Made from the declarations of the keys by `python -m wheeld.config.document`. A test fails if they differ.

One file for each wheel: TOML, UTF-8, `/etc/wheeld/TABLE.toml` under systemd. The daemon reads it once, at its start:
restart the wheel after a change. [By hand](docs/by-hand.md#configuration) shows a whole file.
`wheeld check-config campione-03` says what a file means, or everything that is wrong in it, with the line. A wheel does
not start with a wrong file (exit code 78).

- **A key that is not listed here is refused**, so a mistyped one is found.
- **A file** is a path. A relative path begins at the directory of the configuration file. A key that ends in `_file`
  may say `"credential:ID"`: the file that systemd gives the service under this name (`LoadCredential=`). With the unit
  as delivered this is `/etc/credstore/wheeld.TABLE.ID`.
- **A secret** is never in the configuration itself. The files of `password_file`, `signing_key_file` and `key_file`
  must be closed to others (`chmod o=`).
- **What sees the wheel** is `[sensors]` (a board), `[gpio]` (pins of this computer) or `[head]` (the wheel's own head),
  or a head together with a board or with pins. At least one is needed.
- **"required"** means a key without a default. In a section that may be left out, the key is required only if the file
  has the section.
"""

_ABOUT: Mapping[str, str] = {
    "table": "Which table this is, and how its game is judged. R2, A7 and the like are [rules](docs/rulebook.md).",
    "wheel": "What the wheel has, and who reports it. `wheeld doctor --learn` finds the angles and writes them.",
    "sensors": "The serial line to a sensor board ([its protocol](firmware_protocol/README.md)).",
    "gpio": "Which pin of this computer is wired to what. [The page of the pins](firmware_protocol/gpio.md) has\n"
    "the wiring and an example.",
    "head": "The wheel's own head: "
    + " or\n".join(f"[{head.name}](firmware_protocol/{product}.md)" for product, head in HEADS.items())
    + ".",
    "journal": "Where everything is stored before it is published, and for how long.",
    "mqtt": "The broker, and how the wheel logs in to it. Without `ca_file` and `cert_file` there is no TLS: a\n"
    "password and every message cross the network in clear.",
    "monitor": "What [`wheeld page`](docs/pages.md) needs to draw the wheel as it turns.",
    "display": "What players read about the table, on [their display](docs/pages.md) and on every other display that\n"
    "shows [`availability`](docs/interfaces.md).",
    "log": "How much is logged, as JSON lines on standard error.",
}


class Described(NamedTuple):
    """The description of one key of the file."""

    name: str
    meaning: str
    accepted: str
    default: str
    example: str


def document() -> str:
    """Return the whole page, as Markdown for docs/. In this module, links begin at the root of the repository."""
    lines = [_INTRO]
    for name in SECTIONS:
        lines += [f"## `[{name}]`", "", f"{_ABOUT[name]}{' It may be left out.' if name in OPTIONAL else ''}", ""]
        lines += ["| key | meaning | value | default | example |", "|---|---|---|---|---|"]
        for key in described(name):
            lines.append(f"| `{key.name}` | {key.meaning} | {key.accepted} | {key.default} | `{key.example}` |")
        lines.append("")
    text = "\n".join(lines)
    return text.rstrip("\n").replace("](", "](../").replace("](../docs/", "](") + "\n"


def described(section: str) -> Iterator[Described]:
    """Yield the keys of a section in the order of their declaration."""
    english = Catalogue("en").say_text
    for name, key in SECTIONS[section].items():
        told = list(notes(key.kind))
        meaning = next(note.title for note in told if note.title)
        example = next(note.examples[0] for note in told if note.examples)
        left_out = next((note.extra["left_out"] for note in told if note.extra and note.extra.get("left_out")), "")
        value = None if key.required else default_of(section, key)
        default = left_out or ("–" if value in (None, NODEFAULT) else f"`{toml(value)}`")
        default = "required" if key.required else default
        yield Described(name, meaning, english(expected(key.kind)), default, toml(example))


def toml(value: Any) -> str:
    """Return the value as a person writes it in the file."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {toml(each)}' for key, each in value.items())} }}" if value else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(toml(each) for each in value)}]"
    if isinstance(value, float):
        return f"{value:g}"
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":  # pragma: no cover - the test calls document()
    print(document(), end="")
