"""Nothing that a client may publish to a table ends the daemon, or fills its memory or its disk."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest
from structlog.testing import capture_logs

from tests.broker.mqtt_bench import ROOT, connecting, observing, session_of, settings
from tests.broker.test_commands import GOOD, Bench, bench
from tests.mosquitto import Mosquitto
from wheeld.broker.commands import CORRELATION_BYTES_MAX
from wheeld.broker.lanes import COMMAND_BYTES_MAX
from wheeld.broker.login import PACKET_BYTES_MAX

__all__ = ["bench"]

DEEP = b"[" * 3000
"""More brackets than Python's stack is deep, in fewer bytes than a command may have."""


@pytest.mark.parametrize(
    "payload",
    [
        b'{"seq":1,"x":' + DEEP,
        b'{"seq":1,"x":"' + b"x" * COMMAND_BYTES_MAX + b'"}',
        b'{"seq":' + b"9" * COMMAND_BYTES_MAX,
        b'{"seq":-1}',
        DEEP,
    ],
    ids=["deep", "long", "endless", "negative", "brackets"],
)
async def test_an_ack_that_is_none(bench: Bench, payload: bytes) -> None:
    with capture_logs() as logs:
        bench.inbox.acks.put(payload)
    assert [log["event"] for log in logs] == ["ack.malformed"]
    assert bench.inbox.counters["acks_malformed"] == 1


@pytest.mark.parametrize(
    "leaf", ["cmd/chef-3/open", "cmd/settlement/resend", "cmd/chef-3/bouler", "cmd/chef-3/" + "x" * 60_000]
)
@pytest.mark.parametrize(
    "payload", [DEEP, b'{"id":"a","x":' + DEEP, b'{"id":' + DEEP, b'{"id":"' + b"x" * COMMAND_BYTES_MAX]
)
async def test_a_command_that_is_none_is_answered(bench: Bench, leaf: str, payload: bytes) -> None:
    await bench.send(leaf, payload)
    assert await bench.refusal()
    (owed,) = await bench.owed()
    assert len(owed.payload) < 1000


@pytest.mark.parametrize("number", [2**53, 2**63, 2**64, 10**30])
async def test_numbers_that_the_journal_cannot_hold(bench: Bench, number: int) -> None:
    await bench.send("cmd/settlement/resend", GOOD | {"from_seq": number})
    await bench.send("cmd/chef-3/open", GOOD | {"id": "c-2", "coup": number})
    bench.inbox.acks.put(msgspec.json.encode({"seq": number}))
    assert [answer["why"] for answer in await bench.answers()] == [
        f'the command has a wrong value in "{member}": its sender has to correct it' for member in ("from_seq", "coup")
    ]
    assert bench.inbox.counters["acks_malformed"] == 1


@pytest.mark.parametrize("member", ["id", "by", "reason", "who"])
@pytest.mark.parametrize("mark", ["\0", "\x1b[2K", "\n", "\x9b", "\u2028", "\u202e"])
async def test_text_that_would_not_be_read_as_it_was_sent(bench: Bench, member: str, mark: str) -> None:
    for text in (f"a{mark}b", f"a{mark}", f"{mark}b"):
        await bench.send("cmd/chef-3/bouler", GOOD | {"who": "Anna"} | {member: text})
    answers = await bench.answers()
    assert ["all on one line" in str(answer["why"]) for answer in answers] == [True] * 3
    assert all(str(answer[key]).isprintable() for answer in answers for key in ("id", "name"))


async def test_names_of_people_are_people_s_names(bench: Bench) -> None:
    await bench.send("cmd/settlement/resend", GOOD | {"id": "a\u00a0b", "by": "Zoë D’Aguì, 王 (4711)", "from_seq": 1})
    (answer,) = await bench.answers()
    assert (answer["id"], answer["by"]) == ("a\u00a0b", "Zoë D’Aguì, 王 (4711)")


@pytest.mark.parametrize("size", [CORRELATION_BYTES_MAX, CORRELATION_BYTES_MAX + 1])
async def test_a_correlation_is_stored_up_to_its_limit(bench: Bench, size: int) -> None:
    await bench.send("cmd/settlement/resend", GOOD | {"from_seq": 1}, correlation=b"x" * size)
    (owed,) = await bench.owed()
    assert owed.correlation == (b"x" * size if size == CORRELATION_BYTES_MAX else None)


async def test_a_packet_larger_than_anything_we_read(tmp_path: Path) -> None:
    """The broker knows our limit, and keeps it."""
    with Mosquitto(tmp_path) as broker, capture_logs() as logs:
        async with observing(broker) as observer, connecting(settings(broker.port)) as (ours, _):
            await session_of(ours)
            await observer.client.publish(ROOT + "cmd/chef-3/open", b"x" * (PACKET_BYTES_MAX + 1), qos=1)
            await observer.send("cmd/chef-3/open", GOOD)
            arrived = await asyncio.wait_for(ours.inbox.get(), 30)
    assert arrived.payload == msgspec.json.encode(GOOD)
    assert [log["event"] for log in logs if log["log_level"] == "error"] == []
    assert ours.counters["connections"] == 1
