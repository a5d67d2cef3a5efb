"""A wheel with a key: its messages are accepted by their signature, and its journal is sealed when it stops."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from tests.journal.journals import write_keys
from tests.live.bench import ROOT, expected, table, wheeld
from tests.mosquitto import Mosquitto
from wheeld.exits import Exit
from wheeld.feed import Feed, FeedError, Login
from wheeld.service.program import file_digests, installed_at, program_digest

RUNNING = program_digest(file_digests(installed_at()))


async def test_a_feed_with_the_key_accepts_only_messages_of_the_wheel(tmp_path: Path) -> None:
    private, public = write_keys(tmp_path)
    _, another = write_keys(tmp_path, "another", seed=9)
    with Mosquitto(tmp_path) as broker:
        async with table(tmp_path, broker.port, seed=8, signing_key=private) as (wheel, subscriber, daemon):
            await wheel.play("valid")
            await subscriber.until_state("faites_vos_jeux")
            await subscriber.command("seal")
            await subscriber.command("program", user="control-office")
            assert subscriber.of("reply")[-1]["why"].endswith(
                f"program {RUNNING}; the program has no manifest of a release"
            )
            feed = _feed(broker, public)
            async with feed:
                messages = [await anext(feed) for _ in subscriber.feed()]
            assert [message.payload for message in messages] == list(subscriber.feed().values())
            assert [
                f"result {message.body['number']}" for message in messages if message.topic == "result"
            ] == expected(wheel.truth)
            async with _feed(broker, another) as stranger:
                with pytest.raises(FeedError) as refused:
                    await anext(stranger)
            assert refused.value.fault == "signature"
            assert await daemon.end() == Exit.OK
            sealed = [one for one in subscriber.of("notice") if one["notice"] == "sealed"]
            assert [(one["by"], one["reason"]) for one in sealed] == [
                ("wheeld", "the daemon starts"),
                ("inspector", "a test"),
                ("wheeld", "the daemon stops"),
            ]
    head = f"{sealed[-1]['figures']['n']}:{sealed[-1]['figures']['head']}"
    found = wheeld("journal", "verify", "--public-key", public, "--head", head, tmp_path / "journal.sqlite")
    assert (found.returncode, found.stderr) == (Exit.OK, b"")
    assert f"({len(messages)} signed)".encode() in found.stdout
    assert b"by wheeld, the daemon stops" in found.stdout


def _feed(broker: Mosquitto, public: Path) -> Feed:
    key = base64.b64decode(public.read_text())
    return Feed("127.0.0.1", root=ROOT, public_key=key, login=Login(port=broker.port))
