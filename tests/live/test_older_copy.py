"""A backup is restored that is older than what was published: nothing is published, and one command goes on safely."""

from __future__ import annotations

import asyncio
import base64
import shlex
import socket
from pathlib import Path

import pytest

from tests.cli.live import PATIENCE_S, running
from tests.cli.test_run import until
from tests.journal.journals import write_keys
from tests.live.bench import ROOT, SPEED, Wheel, subscribed, table, turning, wheeld, write_config
from tests.mosquitto import Mosquitto
from wheeld.exits import Exit
from wheeld.feed import Feed, FeedError, FeedMessage, Login


def feed_after(broker: Mosquitto, public: Path, message: FeedMessage | None) -> Feed:
    after_seq, after_hash = (0, None) if message is None else (message.seq, message.hash)
    key = base64.b64decode(public.read_text())
    login = Login(port=broker.port)
    return Feed("127.0.0.1", root=ROOT, after_seq=after_seq, after_hash=after_hash, public_key=key, login=login)


async def all_of(feed: Feed, count: int) -> list[FeedMessage]:
    async with feed:
        messages = [await anext(feed) for _ in range(count)]
        await feed.ack(messages[-1])
    return messages


async def test_it_is_refused_before_anything_is_published_and_adopted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private, public = write_keys(tmp_path)
    journal, backup = tmp_path / "journal.sqlite", tmp_path / "monday.sqlite"
    with Mosquitto(tmp_path) as broker:
        config = write_config(tmp_path, broker.port, signing_key=private, settlement_ack=True)
        async with table(tmp_path, broker.port, seed=8, signing_key=private, settlement_ack=True) as (
            wheel,
            subscriber,
            daemon,
        ):
            await wheel.play("valid")
            await subscriber.until_state("faites_vos_jeux")
            # On a thread: the simulated board is played here, and would fall silent meanwhile.
            copied = await asyncio.to_thread(wheeld, "journal", "backup", journal, backup)
            assert (copied.returncode, copied.stderr) == (Exit.OK, b""), copied
            before = len(subscriber.feed())
            await wheel.play("valid")
            await subscriber.until_verdicts(2)
            await subscriber.until_state("faites_vos_jeux")
            published = await all_of(feed_after(broker, public, None), len(subscriber.feed()))
            assert await daemon.end() == Exit.OK

        journal.write_bytes(backup.read_bytes())
        async with subscribed(broker.port) as subscriber:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager, monkeypatch.context() as service:
                manager.bind(str(tmp_path / "notify"))
                manager.settimeout(PATIENCE_S)
                service.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
                async with running(config) as daemon:
                    failed = await daemon.until("journal.failed")
                    (*_, told) = await asyncio.to_thread(until, manager, "an older copy was restored")
                    manager.close()
                    assert await daemon.end(None) == Exit.BAD_DATA
            assert told.endswith(f"`{failed['command']}`"), "the unit's status has it too"
            new = [one for one in subscriber.feed().values() if one not in {m.payload for m in published}]
            assert new == []
        assert failed["fault"] == "behind"
        last = published[-1]
        assert f"seq {last.seq}" in failed["why"]

        adopted = wheeld(*shlex.split(failed["command"])[1:])
        assert (adopted.returncode, adopted.stderr) == (Exit.OK, b""), adopted
        assert f"the next message is seq {last.seq + 1}".encode() in adopted.stdout

        async with turning(Wheel(9), tmp_path / "board", speed=SPEED), running(config) as daemon:
            await daemon.until("broker.connected")
            async with feed_after(broker, public, last) as feed:
                follows = await anext(feed)
            assert follows.seq == last.seq + 1
            assert (follows.prev, follows.body["gap"]["last_seq"]) == (last.hash, last.seq)
            async with feed_after(broker, public, published[before - 1]) as feed:
                with pytest.raises(FeedError, match=r"restored its journal .*the newest journal is lost") as lost:
                    await anext(feed)
                assert lost.value.fault == "lost"
                assert (await anext(feed)).payload == follows.payload
            assert await daemon.end() == Exit.OK
        verified = wheeld("journal", "verify", "--public-key", public, journal)
        assert verified.returncode == Exit.OK, verified.stdout
