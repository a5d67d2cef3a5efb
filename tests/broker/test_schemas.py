"""The shipped schemas: current, true of what the table really says, and named by the AsyncAPI document."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, get_args

import jsonschema
import msgspec
import pytest
import yaml

from hw_sim import log
from hw_sim.evening import draw_evening
from tests.core.evening import Evening
from wheeld.broker.payloads import COMMANDS, Availability, ClockHealth, Display, Health
from wheeld.core.observations import CommandName
from wheeld.core.step import RETAINED, Topic
from wheeld.replay import replay
from wheeld.schemas import DIRECTORY, PAYLOADS, file_of, text_of

SEEDS = range(4)


def validator(name: str) -> jsonschema.Draft202012Validator:
    schema = msgspec.json.decode(file_of(name).read_bytes())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def with_id(line: bytes) -> bytes:
    """A command as the broker brings it, not a button: only such a one is answered."""
    return line.replace(b'"kind":"command"', b'"kind":"command","id":"c-1"')


@cache
def said() -> dict[str, list[dict[str, Any]]]:
    """Everything that some simulated evenings, their commands with an id, make a table say, by topic."""
    topics: dict[str, list[dict[str, Any]]] = {}
    for seed in SEEDS:
        played = draw_evening(seed)
        for line in replay(map(with_id, log.lines(played.header, played.events()))):
            stored = msgspec.json.decode(line)
            topics.setdefault(stored["topic"], []).append(stored["payload"])
    evening = Evening().open()
    evening.coup(17)
    evening.say("ruling", about=1, ruled_as="number", number=4)
    topics["ruling"] = evening.of("ruling")
    return topics


@pytest.mark.parametrize("name", PAYLOADS)
def test_the_files_are_current(name: str) -> None:
    written, now = (same(msgspec.json.decode(text)) for text in (file_of(name).read_bytes(), text_of(name)))
    assert written == now, "write them anew: python -m wheeld.schemas"


def same(schema: Any) -> Any:
    """Without what differs between versions of Python and msgspec: how a docstring is indented, which kind of a value
    comes first."""
    if isinstance(schema, dict):
        return {key: same(part) for key, part in schema.items()}
    if isinstance(schema, list):
        return sorted(map(same, schema), key=str)
    return " ".join(schema.split()) if isinstance(schema, str) else schema


def test_no_file_is_left_over() -> None:
    assert sorted(DIRECTORY.glob("*.json")) == sorted(file_of(name) for name in PAYLOADS)


@pytest.mark.parametrize("topic", [*get_args(Topic), "reply"])
def test_what_a_table_says_is_valid(topic: str) -> None:
    check = validator(topic)
    payloads = said()[topic]
    assert payloads
    for payload in payloads:
        check.validate(payload)


@pytest.mark.parametrize("topic", ["result", "void", "ruling", "table"])
def test_a_message_without_one_of_its_members_is_not_valid(topic: str) -> None:
    check, payload = validator(topic), said()[topic][-1]
    required = msgspec.json.decode(file_of(topic).read_bytes())["$defs"][PAYLOADS[topic].__name__]["required"]
    assert {"seq", "coup", "coup_id", "at", "t_us", "prev", "hash"} <= set(required)
    for member in required:
        assert not check.is_valid({key: value for key, value in payload.items() if key != member}), member
    assert not check.is_valid(payload | {"schema": "other/1"})


def edge_payloads() -> Iterator[tuple[str, object, bool]]:
    base = {"id": "1", "by": "chef", "reason": "a test"}
    health = Health(
        at="2026-11-20T18:00:00.000000Z",
        boot_id="b",
        uptime_s=1.5,
        state="closed",
        sensors={"beam/0": True},
        clock=ClockHealth(),
        outbox_depth=0,
        counters={"mqtt": {"connections": 1}},
        temperatures_c={"cpu": 51.5},
    )
    yield "health", health, True
    online = Availability(state="online", version="0.1.0", boot_id="b", display=Display(limits=("Plein 5–200 €",)))
    yield "availability", online, True
    yield "availability", {"schema": "availability/1", "state": "away", "version": "0.1.0", "boot_id": "b"}, False
    yield "ack", {"seq": 4}, True
    yield "ack", {"seq": -4}, False
    yield "command", base | {"coup": 4, "expires_at": "2026-11-20T18:00:00Z"}, True
    yield "command", base | {"who": "Anna"}, False
    yield "command", {"id": "1", "by": "chef"}, False
    yield "command-bouler", base | {"who": "Anna"}, True
    yield "command-bouler", base | {"who": "Anna", "announced": True}, True
    yield "command-bouler", base, False
    yield "command-acknowledge", base | {"who": "Anna"}, True
    yield "command-acknowledge", base, False
    yield "command-rien_va", base | {"case": "foreign_object"}, True
    yield "command-rien_va", base | {"case": "chef"}, False
    yield "command-inspect", base | {"level": "good", "ball": None}, True
    yield "command-inspect", base | {"level": "crooked"}, False
    yield "command-resend", base | {"from_seq": 1}, True
    yield "command-resend", base | {"from_seq": 0}, False
    yield "command-resume", base, True
    yield "command-resume", base | {"without": ["beam/2", "object"]}, True
    yield "command-resume", base | {"without": "beam/2"}, False


@pytest.mark.parametrize(("name", "payload", "valid"), list(edge_payloads()))
def test_payloads_of_the_edges(name: str, payload: object, *, valid: bool) -> None:
    assert validator(name).is_valid(msgspec.json.decode(msgspec.json.encode(payload))) is valid


def test_asyncapi_names_every_topic_and_every_schema() -> None:
    document = yaml.safe_load((DIRECTORY / "asyncapi.yaml").read_text(encoding="utf-8"))
    leaves = {channel["address"].removeprefix("wheel/v1/{site}/{table}/") for channel in document["channels"].values()}
    assert leaves == {*get_args(Topic), "health", "availability", "reply", "ack", "cmd/{user}/{name}"}
    messages = [message for channel in document["channels"].values() for message in channel["messages"].values()]
    named = {message["payload"]["$ref"] for message in messages}
    assert named == {file_of(name).name for name in PAYLOADS}
    assert set(document["channels"]["command"]["parameters"]["name"]["enum"]) == set(COMMANDS)
    assert set(COMMANDS) == {*get_args(CommandName), "inspect", "program", "resend", "seal"}


def test_asyncapi_tells_what_is_retained() -> None:
    document = yaml.safe_load((DIRECTORY / "asyncapi.yaml").read_text(encoding="utf-8"))
    sent = [operation for operation in document["operations"].values() if operation["action"] == "send"]
    retained = {
        operation["channel"]["$ref"].removeprefix("#/channels/")
        for operation in sent
        if operation["bindings"]["mqtt"]["retain"]
    }
    assert retained == RETAINED | {"health", "availability"}
