"""`protocol.toml`, read, and what is made from it: the C header, and the tables of the page.

python -m tests.firmware_protocol.definition > firmware_protocol/c/wheel_protocol.h
"""

from __future__ import annotations

import re
import struct
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "firmware_protocol"
HEADER = FOLDER / "c" / "wheel_protocol.h"
DEFINITION: dict[str, Any] = tomllib.loads((FOLDER / "protocol.toml").read_text(encoding="utf-8"))
MESSAGES: dict[str, dict[str, Any]] = {message["name"]: message for message in DEFINITION["messages"]}
FORMATS = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "8 bytes": "8s", "16 bytes": "16s"}


def layout_of(fields: list[dict[str, Any]]) -> struct.Struct:
    """The struct of these fields."""
    return struct.Struct("<" + "".join(FORMATS[field["type"]] for field in fields))


def fields_at(fields: list[dict[str, Any]], start: int) -> Iterator[tuple[dict[str, Any], int]]:
    """Each field with its place, when the first stands at `start`."""
    for place, field in enumerate(fields):
        yield field, start + layout_of(fields[:place]).size


def fields_line(message: dict[str, Any]) -> str:
    """The fields of a message as the page prints them."""
    parts = [f"{field['type']} {field['name']}" for field in message["fields"]]
    if "records" in message:
        least, most = message["records_min"], message["records_max"]
        many = f"{least} to {most} records of: " if least else "records of: "
        parts.append(many + " | ".join(f"{field['type']} {field['name']}" for field in message["records"]))
    return " | ".join(parts)


def tables() -> Iterator[str]:
    """The rows of the page's tables, each table in one text."""
    yield "".join(f"| `{one['name']}` | {one['value']} | {one['reason']} |\n" for one in DEFINITION["limits"])
    yield "".join(
        f"| {one['code']} | {one['event']} | {one['value']} | {one['index']} |\n" for one in DEFINITION["kinds"]
    )
    yield "".join(_line_row(one) for one in DEFINITION["lines"])


def _line_row(line: dict[str, Any]) -> str:
    longest = f" {_time(line['longest_us'])}" if "longest_us" in line else ""
    restless = f" after {_time(line['restless_us'])}: {line['restless']}" if "restless_us" in line else ""
    return (
        f"| {line['name']} | {_time(line['settle_us'])} | {line['event']} | {line['dated']} |{longest} |{restless} |\n"
    )


def _time(us: int) -> str:
    unit, name = next((unit, name) for unit, name in ((10**6, "s"), (1000, "ms"), (1, "µs")) if us >= unit)
    return f"{us // unit} {name}"


def header() -> str:
    """The C header."""
    return "\n".join(
        [
            "/* Made from protocol.toml; do not edit. The places in a message count its type, which is at 0. */",
            "#ifndef WHEEL_PROTOCOL_H",
            "#define WHEEL_PROTOCOL_H",
            "",
            *(f"#define WHEEL_{name} {value}" for name, value in _constants()),
            "",
            "#endif",
            "",
        ]
    )


def _constants() -> Iterator[tuple[str, str]]:
    yield "VERSION", f"{DEFINITION['version']}u"
    yield from ((one["name"], f"{one['value']}u") for one in DEFINITION["limits"])
    for what, words in DEFINITION["codes"].items():
        yield from ((f"{what.upper()}_{word.upper()}", f"{code}u") for code, word in enumerate(words))
        yield f"{what.upper()}_CODES", f"{len(words)}u"
    yield from ((f"KIND_{kind['name'].upper()}", f"{kind['code']}u") for kind in DEFINITION["kinds"])
    for line in DEFINITION["lines"]:
        times = ((key, line[key]) for key in ("settle_us", "longest_us", "restless_us", "failed_us") if key in line)
        yield from ((f"{line['name'].split()[0].upper()}_{key.upper()}", f"{us}u") for key, us in times)
    for message in DEFINITION["messages"]:
        name = re.sub("(?<=[a-z])(?=[A-Z])", "_", message["name"]).upper()
        head = 1 + layout_of(message["fields"]).size
        yield name, f"0x{message['code']:02x}u"
        yield f"{name}_BYTES", f"{head}u{' /* without records */' if 'records' in message else ''}"
        for field, place in fields_at(message["fields"], 1):
            yield f"{name}_AT_{field['name'].upper()}", f"{place}u /* {field['type']} */"
        if "records" in message:
            yield f"{name}_RECORD_BYTES", f"{layout_of(message['records']).size}u"
            for field, place in fields_at(message["records"], 0):
                yield f"{name}_RECORD_AT_{field['name'].replace(' ', '_').upper()}", f"{place}u /* {field['type']} */"


if __name__ == "__main__":
    sys.stdout.write(header())
