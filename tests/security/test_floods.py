"""A flood from each role in turn, against the daemon at the broker that ships, beside a chef and live coups.

The broker has the file that `wheeld setup` writes, TLS and persistence. Short here; `make floods` gives each flood half
a minute at 1,000 a second and as long at 10,000. WHEELD_FLOOD_BUSY=2 has so many processes take a processor each.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import aiomqtt
import pytest

from tests.broker.world import working
from tests.cli.live import Daemon
from tests.live.bench import FEED, ROOT, TABLE_TOPICS, Subscriber, Wheel, table
from tests.security.authority import Authority
from tests.security.flooder import WRONG_COUP
from tests.security.shipped import ShippedBroker, system_root
from wheeld.broker.roles import TableAccess

IS_LONG = "WHEELD_FLOOD_S" in os.environ
FLOOD_S = float(os.environ.get("WHEELD_FLOOD_S", "3"))
"""How long each flood lasts."""
RATES = (1_000, 10_000) if IS_LONG else (2_000,)
"""Messages a second. The short form runs beside other tests, on machines that others use too: it shows that nothing is
lost, not how fast a machine is."""
BUSY = int(os.environ.get("WHEELD_FLOOD_BUSY", "0"))
LATE_S_MAX = 0.5 if IS_LONG else 10.0
COMMANDS = max(10, round(100 * FLOOD_S / 30))
"""What the chef says meanwhile: a hundred words in half a minute."""
CHEF = "panel-7"
"""The chef's own panel floods, too, and a certificate has one connection."""
TABLE = TableAccess.of("live", "wheel-1", {CHEF: "chef"})
SPEED = 10.0
"""The wheel plays so much faster than life: a coup in a few seconds."""
MEMORY_KB_MAX = 100_000
ANSWER_S_MAX = 30.0
"""More than any answer takes; what is not there then never comes."""

WORDS = ("rien_va", "confirm", "tout_va", "close", "suspend")
"""What the chef says, about another coup, so that the table refuses it and the play goes on."""


CAUSED = ("ack.", "command.", "message.", "response.", "response_topic.", "correlation.", "library")
"""The lines of the log that a flood causes, or could."""


class Flood(NamedTuple):
    """Who sends it, to which leaf, and what."""

    user: str
    leaf: str
    kind: str


FLOODS = (
    Flood("settlement", "ack", "ack"),
    Flood("settlement", "ack", "garbage"),
    Flood("settlement", "cmd/settlement/resend", "resend"),
    Flood("bouler-wheel-1", "cmd/bouler-wheel-1/last_coup", "word"),
    Flood("chef-wheel-1", "cmd/chef-wheel-1/bouler", "bouler"),
    Flood("table-system-wheel-1", "cmd/table-system-wheel-1/operations_done", "word"),
    Flood("inspector", "cmd/inspector/acknowledge", "bouler"),
    Flood("direction", "cmd/direction/resume", "word"),
    Flood("control-office", "cmd/control-office/seal", "word"),
    Flood("control-office", "cmd/control-office/program", "word"),
    Flood("technician", "cmd/technician/inspect", "word"),
    Flood("auditor", "cmd/auditor/dance", "garbage"),
)
"""The auditor stands for all who may publish nothing: the broker drops what they send."""


class Chef:
    """Says his words one by one, and keeps how long each answer took."""

    def __init__(self, client: aiomqtt.Client) -> None:
        self._client = client
        self._asked_s: dict[str, float] = {}
        self.answered_s: dict[str, float] = {}
        self.whys: set[str] = set()

    async def hear(self) -> None:
        await self._client.subscribe(ROOT + "reply", qos=1)
        async for message in self._client.messages:
            reply = json.loads(message.payload)
            if reply["id"] in self._asked_s:
                self.answered_s[reply["id"]] = time.monotonic() - self._asked_s[reply["id"]]
                self.whys.add(reply["why"])

    async def say(self, count: int, seconds: float) -> None:
        """So many words, evenly over that time."""
        began_s, first = time.monotonic(), len(self._asked_s)
        for number in range(first, first + count):
            word = WORDS[number % len(WORDS)]
            asked = {"id": f"chef-{number}", "by": "chef", "reason": "a test", "coup": WRONG_COUP}
            asked |= {"number": 7} if word == "confirm" else {}
            self._asked_s[f"chef-{number}"] = time.monotonic()
            await self._client.publish(f"{ROOT}cmd/{CHEF}/{word}", json.dumps(asked), qos=1)
            await asyncio.sleep(max(0.0, began_s + (number - first + 1) * seconds / count - time.monotonic()))

    @property
    def unanswered(self) -> set[str]:
        return self._asked_s.keys() - self.answered_s.keys()


class Timed(Subscriber):
    """Keeps when each message of the feed came, in UTC, by its number."""

    leaves = TABLE_TOPICS

    def __init__(self) -> None:
        super().__init__()
        self.came_s: dict[int, float] = {}

    def note(self, leaf: str, payload: bytes) -> None:
        if leaf in FEED:
            self.came_s.setdefault(json.loads(payload)["seq"], time.time())


class Playing(NamedTuple):
    """A table that plays, and who is at it."""

    broker: ShippedBroker
    daemon: Daemon
    timed: Timed
    chef: Chef
    journal: Path


@pytest.fixture
async def playing(tmp_path: Path) -> AsyncIterator[Playing]:
    async with playing_in(tmp_path) as at:
        yield at


@asynccontextmanager
async def playing_in(tmp_path: Path, **mqtt: Any) -> AsyncIterator[Playing]:
    """A table with its broker; `mqtt` has more keys of that section."""
    house = Authority(tmp_path)
    own = house.issue("wheel-wheel-1")
    mqtt |= {"ca_file": own.ca_file, "cert_file": own.cert_file, "key_file": own.key_file, f"users.{CHEF}": "chef"}
    with system_root() as root, ShippedBroker(root, house, tables=[TABLE]) as broker, busy():
        port, page = broker.port, house.issue("page-wheel-1").context()
        async with (
            table(tmp_path, port, seed=3, speed=SPEED, subscriber=(timed := Timed()), tls=page, **mqtt) as around,
            broker.client(CHEF) as client,
        ):
            wheel, _, daemon = around
            chef = Chef(client)
            async with working(chef.hear(), coups(wheel)):
                yield Playing(broker, daemon, timed, chef, tmp_path / "journal.sqlite")


@contextmanager
def busy() -> Iterator[None]:
    """Take `BUSY` processors, with a tenth of the weight of what they disturb, as `CPUWeight` of the units gives."""
    taking = [subprocess.Popen(["nice", "-n", "10", sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]
    try:
        yield
    finally:
        for process in taking:
            process.kill()
            process.wait()


async def coups(wheel: Wheel) -> None:
    while True:
        await wheel.play("valid")


async def flooded(broker: ShippedBroker, flood: Flood, per_s: int) -> int:
    """Run it to its end; returns how many messages were sent."""
    files = [str(path) for path in broker.house.issue(flood.user).named]
    arguments = (str(broker.port), *files, ROOT + flood.leaf, str(per_s), str(FLOOD_S), flood.kind)
    module = (sys.executable, "-m", "tests.security.flooder")
    process = await asyncio.create_subprocess_exec(*module, *arguments, stdout=asyncio.subprocess.PIPE)
    printed, _ = await process.communicate()
    assert process.returncode == 0, flood
    return int(printed)


def memory_kb(daemon: Daemon) -> int:
    """The most that the process has ever had in memory."""
    status = Path(f"/proc/{daemon.process.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0])


def stored_at_us(journal: Path, first_seq: int) -> dict[int, int]:
    """When each message of the feed was stored, from that one on, in UTC."""
    with closing(sqlite3.connect(f"file:{journal}?mode=ro", uri=True)) as db:
        return dict(db.execute("SELECT seq, at_utc_us FROM messages WHERE seq >= ?", (first_seq,)).fetchall())


async def until(holds: Callable[[], bool], what: Callable[[], object]) -> None:
    """Wait until it is so; else fail with `what`."""
    try:
        async with asyncio.timeout(ANSWER_S_MAX):
            while not holds():  # noqa: ASYNC110  there is no event to wait for
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise AssertionError(what()) from None


def p99(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.99)]


def processor_s(daemon: Daemon) -> float:
    """How long the process has used a processor."""
    fields = Path(f"/proc/{daemon.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Outcome(NamedTuple):
    """What one flood did; the times in seconds."""

    flood: Flood
    sent: int
    answers_s: list[float]
    messages_s: list[float]
    thrown_off: int
    processor_s: float
    memory_kb: int

    def __str__(self) -> str:
        return (
            f"{self.flood.user}, {self.flood.leaf}, {self.flood.kind}: {self.sent} in {FLOOD_S} s; "
            f"{len(self.answers_s)} answers, p99 {p99(self.answers_s):.3f} s; "
            f"{len(self.messages_s)} messages, p99 {p99(self.messages_s):.3f} s; thrown off {self.thrown_off} times; "
            f"processor {self.processor_s:.1f} s, memory {self.memory_kb} kB"
        )


async def outcome_of(flood: Flood, per_s: int, at: Playing) -> Outcome:
    """One flood, with the chef's words and the coups beside it, to the last answer and the last message."""
    timed, chef, said = at.timed, at.chef, len(at.daemon.logs)
    first_seq, before, used_s = max(timed.came_s), set(chef.answered_s), processor_s(at.daemon)
    sent, _ = await asyncio.gather(flooded(at.broker, flood, per_s), chef.say(COMMANDS, FLOOD_S))
    used_s = processor_s(at.daemon) - used_s
    await until(lambda: not chef.unanswered, lambda: (flood, "unanswered", chef.unanswered))
    stored = stored_at_us(at.journal, first_seq)
    await until(lambda: stored.keys() <= timed.came_s.keys(), lambda: (flood, stored.keys() - timed.came_s.keys()))
    messages_s = [timed.came_s[seq] - at_us / 1e6 for seq, at_us in stored.items()]
    answers_s = [took_s for each, took_s in chef.answered_s.items() if each not in before]
    thrown_off = sum(log["event"] == "broker.unreachable" for log in at.daemon.logs[said:])
    return Outcome(flood, sent, answers_s, messages_s, thrown_off, used_s, memory_kb(at.daemon))


@pytest.mark.timeout(len(FLOODS) * (FLOOD_S + ANSWER_S_MAX) + 120)
@pytest.mark.parametrize("per_s", RATES)
async def test_a_flood_keeps_nobody_waiting(playing: Playing, per_s: int, capsys: pytest.CaptureFixture[str]) -> None:
    daemon = playing.daemon
    said = len(daemon.logs)
    outcomes = list[Outcome]()
    for flood in FLOODS:
        outcomes.append(await outcome_of(flood, per_s, playing))
        with capsys.disabled():
            sys.stdout.write(f"\n{per_s} a second, {outcomes[-1]}")
    report = "\n".join(map(str, outcomes))
    assert all(p99(one.messages_s) <= LATE_S_MAX for one in outcomes), report
    assert all(p99(one.answers_s) <= LATE_S_MAX for one in outcomes), report
    assert not any(one.thrown_off for one in outcomes), report
    assert outcomes[-1].memory_kb <= MEMORY_KB_MAX, report
    assert not any("too many" in why for why in playing.chef.whys), report
    caused = [log for log in daemon.logs[said:] if str(log["event"]).startswith(CAUSED)]
    ats_s = [datetime.fromisoformat(str(log["at"])).timestamp() for log in caused]
    assert all(later - at >= 0.9 for at, later in pairwise(ats_s)), caused


async def test_a_wheel_that_was_thrown_off_meets_the_flood_once(tmp_path: Path) -> None:
    """It stands still in a flood until the broker ends its connection. Back, it takes what has waited, and stays.

    The broker holds all that comes meanwhile at this rate. It keeps 10,000 messages for a wheel and drops what is more,
    also of the chef.
    """
    async with playing_in(tmp_path, keepalive_s=2) as at:
        flooding = asyncio.create_task(flooded(at.broker, Flood("direction", "cmd/direction/resume", "word"), 1_000))
        at.daemon.process.send_signal(signal.SIGSTOP)
        try:
            await until(lambda: "wheel-wheel-1 has exceeded timeout" in at.broker.said, lambda: at.broker.said[-500:])
        finally:
            at.daemon.process.send_signal(signal.SIGCONT)
        said = len(at.daemon.logs)
        await asyncio.gather(flooding, at.chef.say(COMMANDS, FLOOD_S))
        await until(lambda: not at.chef.unanswered, lambda: at.chef.unanswered)
        events = [log["event"] for log in at.daemon.logs[said:]]
        assert [event for event in events if event in ("broker.unreachable", "broker.connected")] == [
            "broker.unreachable",
            "broker.connected",
        ]
