"""A cabinet's card dies, and a new one gets its journal back from the house: a real daemon, a collector, a database."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.cli.live import Daemon, running
from tests.house.house import COLLECT, ROOT, CollectorProcess
from tests.house.postgres import Cluster
from tests.journal.journals import write_keys
from tests.live.bench import ROOT as TABLE
from tests.live.bench import Subscriber, Wheel, subscribed, turning, wheeld, write_config
from tests.mosquitto import Mosquitto
from wheeld.exits import Exit
from wheeld.feed import Feed, FeedMessage, Login
from wheeld.journal.seal import FileSigner

PATIENCE_S = 60.0


def settings(folder: Path, port: int, dsn: str, key: Path) -> Path:
    """The settings of a collector of the live bench's wheel."""
    public = Ed25519PublicKey.from_public_bytes(FileSigner(key).public_key)
    pem = folder / "wheel.pem"
    pem.write_bytes(public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    lines = ['name = "collector-1"', f'database = "{dsn}"', "lease_s = 2"]
    lines += ["[[brokers]]", 'host = "127.0.0.1"', f"port = {port}"]
    lines += ["[[wheels]]", 'site = "live"', 'table = "wheel-1"', f'public_key_file = "{pem}"']
    file = folder / "house.toml"
    file.write_text("\n".join(lines) + "\n")
    return file


def records(dsn: str, to: Path) -> list[bytes]:
    """Type the command of the house."""
    reader = f"{dsn} options='-c role=wheeld_reader'"
    command = [sys.executable, "-m", "wheeld_house", "records", reader, "live/wheel-1"]
    env = os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "house")))}
    done = subprocess.run(command, capture_output=True, cwd=ROOT, env=env, check=False)
    assert (done.returncode, done.stderr) == (0, b""), done
    to.write_bytes(done.stdout)
    return done.stdout.splitlines()


@dataclass
class Cabinet:
    """A wheel that turns and its house, which listens. `feed`: a consumer that has taken `taken`."""

    folder: Path
    config: Path
    public: Path
    wheel: Wheel
    subscriber: Subscriber
    feed: Feed
    cluster: Cluster
    database: str
    taken: list[FeedMessage] = field(default_factory=list)

    async def play(self, daemon: Daemon) -> None:
        """One coup, until the table is ready for the next one."""
        coups = len(self.subscriber.verdicts())
        await daemon.until("broker.connected")
        await daemon.until("board.identified")
        await self.wheel.play("valid")
        await self.subscriber.until_verdicts(coups + 1)
        await self.subscriber.until_state("faites_vos_jeux")

    async def collected(self) -> list[bytes]:
        """Wait until the database and the consumer have all that was published; returns it."""
        async with asyncio.timeout(PATIENCE_S):
            while await asyncio.to_thread(self.stored) != list(self.subscriber.feed().values()):  # noqa: ASYNC110
                await asyncio.sleep(0.2)
            published = self.stored()
            while not self.taken or self.taken[-1].payload != published[-1]:
                self.taken.append(await anext(self.feed))
        return published

    def stored(self) -> list[bytes]:
        rows = self.cluster.sql(self.database, "select payload from house.record order by seq")
        return [bytes(payload) for (payload,) in rows]

    async def records(self) -> list[bytes]:
        """Type the command of the house; its lines are in the file, too."""
        return await asyncio.to_thread(records, self.cluster.dsn(self.database), self.folder / "records.jsonl")

    async def restore(self) -> None:
        """The card dies, and the new one gets what the file of the house has."""
        for file in self.folder.glob("journal.sqlite*"):
            file.unlink()
        words = ("journal", "restore", self.config, "--from-house", self.folder / "records.jsonl")
        done = await asyncio.to_thread(wheeld, *words)
        assert (done.returncode, done.stderr) == (Exit.OK, b""), done


@asynccontextmanager
async def cabinet(cluster: Cluster, database: str, folder: Path) -> AsyncIterator[Cabinet]:
    key, public = write_keys(folder)
    with Mosquitto(folder) as broker:
        file = settings(folder, broker.port, cluster.dsn(database), key)
        collector = CollectorProcess(file, folder / "collector.log", COLLECT)
        login, of = Login(port=broker.port), FileSigner(key).public_key
        try:
            collector.start()
            async with (
                subscribed(broker.port) as subscriber,
                Feed("127.0.0.1", root=TABLE.rstrip("/"), after_seq=0, public_key=of, login=login) as feed,
                turning(Wheel(8), folder / "board", speed=10) as wheel,
            ):
                config = write_config(folder, broker.port, signing_key=key, silence_s=10)
                yield Cabinet(folder, config, public, wheel, subscriber, feed, cluster, database)
        finally:
            collector.kill()


async def test_a_wheel_goes_on_with_its_journal_from_the_house(cluster: Cluster, database: str, tmp_path: Path) -> None:
    async with cabinet(cluster, database, tmp_path) as lost:
        async with running(lost.config) as daemon:
            await lost.subscriber.until_state("closed")
            await daemon.until("board.identified")
            await lost.wheel.press("open")
            await lost.subscriber.until_state("faites_vos_jeux")
            await lost.play(daemon)
            await lost.collected()
            await lost.records()
            await lost.play(daemon)
            assert await daemon.end() == Exit.OK
        published = await lost.collected()

        # What the house had a coup ago is refused by what the broker keeps.
        await lost.restore()
        async with running(lost.config) as daemon:
            failed = await daemon.until("journal.failed")
            assert await daemon.end(None) == Exit.BAD_DATA
        assert failed["fault"] == "behind"
        assert f"the broker retains `table` with seq {len(published)}, but this journal" in failed["why"]
        assert shlex.split(failed["command"])[:3] == ["wheeld", "journal", "adopt"]
        assert list(lost.subscriber.feed().values()) == published

        *messages, checkpoint = await lost.records()
        assert messages == published
        assert json.loads(checkpoint)["checkpoint"].startswith("wheel/v1/live/wheel-1/1\n")
        await lost.restore()
        async with running(lost.config) as daemon:
            await lost.play(daemon)
            assert await daemon.end() == Exit.OK
        published = await lost.collected()

        assert [message.payload for message in lost.taken] == published
        verdicts = [message.body for message in lost.taken if message.topic in ("result", "void")]
        assert [one["coup"] for one in verdicts] == [1, 2, 3]
        assert lost.feed.counters["faults"] == 0, lost.feed.counters
    assert cluster.sql(database, "select kind, seq, why from house.alarms") == []
    assert cluster.sql(database, "select max(size) from house.checkpoints")[0][0] > len(messages)
    verified = wheeld("journal", "verify", "--public-key", lost.public, "--each-signature", tmp_path / "journal.sqlite")
    assert verified.returncode == Exit.OK, verified.stdout
    assert f"restored from the house up to seq {len(messages)}: ".encode() in verified.stdout
