"""JSON Schemas of every MQTT payload, made from the structures that the daemon itself encodes and decodes.

The schema files in this directory are part of the package, for the authors of other programs. `asyncapi.yaml` describes
the topics of the payloads. After a change of a structure, run `python -m wheeld.schemas` to write the files again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from wheeld.broker.payloads import COMMANDS, AckPayload, Availability, CommandPayload, Health
from wheeld.core.messages.payloads import BoardMessage, Notice, ReplyPayload, Result, Ruling, TableMessage, Void
from wheeld.core.step import SEQUENCED

DIRECTORY = Path(__file__).parent
VERSION = 1

_OF_COMMANDS = {kind: f"command-{name}" for name, kind in COMMANDS.items()} | {CommandPayload: "command"}
"""The name of the schema file of each payload of a command. `open` takes what `resume` takes, so both use one file."""
PAYLOADS: dict[str, type[msgspec.Struct]] = {
    "result": Result,
    "void": Void,
    "ruling": Ruling,
    "table": TableMessage,
    "notice": Notice,
    "board": BoardMessage,
    "health": Health,
    "availability": Availability,
    "reply": ReplyPayload,
    "ack": AckPayload,
    **{name: kind for kind, name in _OF_COMMANDS.items()},
}
"""The structure of each payload, by the name of its schema file. Commands without a file of their own use `command`."""


def document(name: str) -> dict[str, Any]:
    """Return the JSON Schema of one payload. Some details are added that its structure cannot express."""
    structure = PAYLOADS[name]
    schema = msgspec.json.schema(structure)
    body = schema["$defs"][structure.__name__]
    if "schema" in body["properties"]:
        body["properties"]["schema"] = {"const": f"{name}/{VERSION}"}
    if name in SEQUENCED:
        # Every message has a hash. The structure declares it as optional only because it is added last.
        body["required"].append("hash")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"urn:wheeld:{name}:{VERSION}", **schema}


def file_of(name: str) -> Path:
    """Return the path of the schema file of one payload."""
    return DIRECTORY / f"{name}.schema.json"


def text_of(name: str) -> bytes:
    """Return the text of the schema file of one payload."""
    return msgspec.json.format(msgspec.json.encode(document(name)), indent=2) + b"\n"
