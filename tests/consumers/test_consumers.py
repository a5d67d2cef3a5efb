"""The consumers of docs/feed, in JavaScript and Java, at a real mosquitto and the daemon's own journal and outbox.

`make test-consumers` installs what they need, the packages of npm in .wheeld-consumers.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import random
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import aiomqtt
import pytest

from tests.broker.mqtt_bench import OFFLINE, ONLINE, PATIENCE_S, settings
from tests.broker.world import access_of, queued_intake, working
from tests.documents.vectors import FILE, KEY, OTHER_KEY, ROOT, SITE, TABLE, Wheel, payload_of, sign, vectors
from tests.feed.test_real import HastyClock
from tests.journal.journals import RawSigner
from tests.mosquitto import Mosquitto
from wheeld.broker.mqtt import MqttConnection
from wheeld.broker.outbox import Outbox
from wheeld.core.step import Message, Step, Topic
from wheeld.journal.journal import Journal
from wheeld.journal.opening import Owner
from wheeld.ports import Publication

SOURCE = Path(__file__).parents[2] / "docs" / "feed"
HERE = Path(__file__).parent
TOPICS: tuple[Topic, ...] = ("table", "result", "table", "void")
TOTAL, UNHEARD, FORGED = 1000, 600, 300
"""Messages in all; the one that the broker loses; the one before which a forged one comes."""
VECTORS = vectors()
Command: TypeAlias = Callable[[int, Path, Path], list[str]]
"""What starts a consumer: of the broker's port, the file that it stores in, and the wheel's key."""


@pytest.fixture(scope="session")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Java sources, compiled."""
    out = tmp_path_factory.mktemp("classes")
    sources = [*SOURCE.glob("*.java"), HERE / "Vectors.java"]
    subprocess.run(["javac", "-Xlint:all", "-Werror", "-d", out, *sources], check=True)
    return out


@pytest.fixture(params=["JavaScript", "Java"])
def command(request: pytest.FixtureRequest, classes: Path) -> Command:
    if request.param == "JavaScript":
        return lambda port, file, key: [
            "node", str(SOURCE / "consumer.js"), f"mqtt://127.0.0.1:{port}", ROOT, str(file), str(key)
        ]  # fmt: skip
    return lambda port, file, key: [
        "java", "-cp", str(classes), "Consumer", ROOT, str(file), str(key), "-h", "127.0.0.1", "-p", str(port)
    ]  # fmt: skip


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "wheel.pem"
    path.write_text(VECTORS["public_key_pem"])
    return path


ENVIRONMENT = {
    **os.environ,
    "NODE_PATH": str(SOURCE.parents[1] / ".wheeld-consumers" / "node_modules"),
}


class Line(MqttConnection):
    """The wheel's connection to a broker that loses one message."""

    has_lost = False

    async def publish(self, publication: Publication, *, session: int) -> None:
        if b'"seq":%d,' % UNHEARD in publication.payload and not self.has_lost:
            self.has_lost = True
            return
        await super().publish(publication, session=session)


class Daemon:
    """A signed journal, and the wheel's own connection, outbox and intake."""

    def __init__(self, journal: Journal, port: int) -> None:
        clock, root = HastyClock(), ROOT + "/"
        self.journal, self.wheel, self.said = journal, Wheel(), list[bytes]()
        self.line = Line(
            settings(port), access=access_of(root), online=ONLINE, offline=OFFLINE, clock=clock, rng=random.Random(1)
        )
        self.outbox = Outbox(store=journal, publisher=self.line, clock=clock, root=root, settlement_ack=True)
        self.intake, _ = queued_intake(journal, self.outbox, root=root, clock=clock)

    async def say_up_to(self, seq: int) -> None:
        """Store messages, ten in a step, that the outbox then publishes."""
        while self.wheel.seq < seq:
            messages = []
            for _ in range(min(10, seq - self.wheel.seq)):
                topic = TOPICS[self.wheel.seq % 4]
                payload = self.wheel.say(topic)
                self.said.append(topic.encode() + b" " + sign(payload) + b"\n")
                messages.append(Message(self.wheel.seq, topic, payload, self.wheel.seq))
            await self.journal.append(Step(messages=tuple(messages)), self.wheel.seq)

    def forged(self) -> bytes:
        """What somebody would publish as the next result, who knows everything but the wheel's key."""
        wheel = Wheel()
        wheel.seq, wheel.hash = self.wheel.seq, self.wheel.hash
        return sign(wheel.say("result", number=15), OTHER_KEY)


@asynccontextmanager
async def daemon(port: int, directory: Path) -> AsyncIterator[Daemon]:
    signer = RawSigner(KEY.private_bytes_raw())
    journal = await Journal.open(directory / "journal", Owner(SITE, TABLE), at_utc_us=1, signer=signer)
    running = Daemon(journal, port)
    try:
        async with working(running.line.run(), running.outbox.run(), running.intake.run(running.line.inbox)):
            yield running
    finally:
        await journal.close()


@asynccontextmanager
async def consumer(words: list[str]) -> AsyncIterator[asyncio.subprocess.Process]:
    """A consumer that runs until this is left, and is killed then."""
    errors = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*words, env=ENVIRONMENT, stderr=errors, start_new_session=True)
    try:
        yield process
        assert process.returncode is None, "it has ended by itself"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # what it has started, too
        await process.wait()


async def line_of(process: asyncio.subprocess.Process) -> str:
    """What it says next."""
    assert process.stderr is not None
    async with asyncio.timeout(PATIENCE_S):
        return (await process.stderr.readline()).decode().strip()


async def until(is_so: Callable[[], bool | Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not (found if isinstance(found := is_so(), bool) else await found):  # noqa: ASYNC110  it tells nobody
            await asyncio.sleep(0.02)


async def test_a_thousand_messages(command: Command, key_file: Path, tmp_path: Path) -> None:
    """One is lost and asked for, one is forged and refused, all come twice, and the consumer is killed once."""
    file = tmp_path / "stored"
    with Mosquitto(tmp_path, log_type="information") as broker:
        words = command(broker.port, file, key_file)
        async with daemon(broker.port, tmp_path) as running, aiomqtt.Client("127.0.0.1", broker.port) as other:

            def stored() -> bool:
                return file.exists() and file.read_bytes() == b"".join(running.said)

            async def all_is_acked() -> bool:
                return await running.outbox.depth() == 0

            async with consumer(words) as process:
                await running.say_up_to(FORGED - 1)
                await until(stored)
                await other.publish(f"{ROOT}/result", running.forged(), qos=1)
                said = await line_of(process)
                assert said.startswith("refused: signature")
                assert stored()
                await running.say_up_to(UNHEARD - 10)
                await until(stored)
                await running.say_up_to(UNHEARD + 10)
                await until(stored)
                assert running.line.has_lost  # so it came because the consumer asked
                assert running.outbox.counters["resent"] > 0
                await until(all_is_acked)
            with file.open("ab") as half:
                half.write(b'result {"schema":')  # as a power cut leaves it
            await running.say_up_to(TOTAL - 100)  # nobody hears these
            async with consumer(words):
                await running.say_up_to(TOTAL)
                await until(stored)
                await until(all_is_acked)
                resent = running.outbox.counters["resent"]
                question = {"id": "again", "by": "a test", "reason": "all of it", "from_seq": 1}
                await other.publish(f"{ROOT}/cmd/settlement/resend", json.dumps(question), qos=1)
                await until(lambda: running.outbox.counters["resent"] >= resent + TOTAL)
                broker.kill()
                broker.start()
                await running.say_up_to(TOTAL + 10)
                await until(stored)
                await until(all_is_acked)


async def test_an_ack_that_the_last_run_owes(command: Command, key_file: Path, tmp_path: Path) -> None:
    file, wheel = tmp_path / "stored", Wheel()
    file.write_bytes(b"".join(b"table %b\n" % sign(wheel.say("table")) for _ in range(3)))
    with Mosquitto(tmp_path, log_type="information") as broker:
        async with aiomqtt.Client("127.0.0.1", broker.port) as other, asyncio.timeout(PATIENCE_S):
            await other.subscribe(f"{ROOT}/ack")
            async with consumer(command(broker.port, file, key_file)):
                assert (await anext(aiter(other.messages))).payload == b'{"seq":3}'


def _java(classes: Path, key_file: Path) -> tuple[list[str], str]:
    def parts(message: dict[str, Any]) -> str:
        return f"{message['topic']} {base64.b64encode(payload_of(message)).decode()}"

    lines = [
        " ".join([str(case["key"]).lower(), parts(case), *map(parts, VECTORS["messages"][: case["stored"]])])
        for case in VECTORS["cases"]
    ]
    _, *question = VECTORS["question"].values()
    for each in VECTORS["replies"]:
        asked = "another" if "asked_again" in each else VECTORS["question"]["id"]
        parts_of_it = asked, *question, each["stored"], base64.b64encode(payload_of(each)).decode()
        lines.append(" ".join(["reply", *map(str, parts_of_it)]))
    key = "".join(key_file.read_text().splitlines()[1:-1])
    return ["java", "-cp", str(classes), "Vectors", ROOT, key], "\n".join(lines)


@pytest.mark.parametrize("language", ["JavaScript", "Java"])
def test_the_vectors(language: str, classes: Path, key_file: Path) -> None:
    words, given = (
        _java(classes, key_file)
        if language == "Java"
        else (["node", str(HERE / "vectors.js"), str(key_file)], FILE.read_text())
    )
    found = subprocess.run(words, input=given, capture_output=True, text=True, check=True)
    assert found.stdout.splitlines() == [case["finds"] for case in VECTORS["cases"] + VECTORS["replies"]]


@pytest.mark.parametrize("source", sorted([*SOURCE.glob("*.js"), *SOURCE.glob("*.java")]), ids=lambda path: path.name)
def test_its_length(source: Path) -> None:
    lines = source.read_text().splitlines()
    assert len(lines) <= 80
    assert max(map(len, lines)) <= 120
