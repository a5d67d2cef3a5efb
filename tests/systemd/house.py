"""A whole house in one machine: wheel, broker, settlement core, people, and an auditor that receives the seals.

The people are those of `hw-sim run`. While there is no broker they go on with the last state, and connect again.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hw_sim.configuration import sections
from hw_sim.demo import LAYOUT
from hw_sim.panel import command_leaf
from tests.journal.journals import write_keys
from tests.systemd.machine import Machine
from tests.systemd.wheels import wheel

NAME = "whole"
SITE, TABLE = "test", "whole"
ROOT = f"wheel/v1/{SITE}/{TABLE}"
SPEED = 10
JOURNAL, STORE = f"/var/lib/wheeld/{NAME}.sqlite", "/var/lib/settlement/feed.sqlite"
NOTICES = "/var/lib/settlement/notices"
PUBLIC_KEY = "/etc/settlement/wheel.pub"
PTY = Path("/run/people/line")
PYTHON = "/opt/wheeld/bin/python"
HERE = Path(__file__).parent

BROKER = """\
listener 1883 127.0.0.1
allow_anonymous true
autosave_interval 60
"""
"""Persistence as in systemd/mosquitto/wheeld.conf; names and keys are tested elsewhere."""

_QUERY = """\
import json, sqlite3, sys
print(json.dumps(sqlite3.connect(sys.argv[1], timeout=20).execute(sys.argv[2]).fetchall()))
"""
VERDICTS = ("result", "void")


@dataclass(frozen=True)
class FeedRecord:
    """A message of the feed, where it was written or where it was stored."""

    seq: int
    topic: str
    payload: bytes
    at_utc_s: float

    @property
    def is_of_the_sensors(self) -> bool:
        """A verdict that came from the sensors: not the void that a restart makes."""
        return self.topic in VERDICTS and json.loads(self.payload).get("cause") != "breakdown"


class House:
    """Every service is enabled, so that it starts again when the machine boots."""

    def __init__(self, machine: Machine, directory: Path) -> None:
        self.machine = machine
        private, public = write_keys(directory)
        machine.write("/etc/mosquitto/conf.d/wheel.conf", BROKER)
        machine.run("systemctl", "--quiet", "enable", "--now", "mosquitto")
        machine.shell("useradd --system settlement && install -d -m 700 /etc/credstore")
        machine.write(f"/etc/credstore/wheeld.{NAME}.signing-key", private.read_text())
        machine.write(PUBLIC_KEY, public.read_text())
        restarts = "Restart=always\nRestartSec=200ms"
        machine.write("/opt/settlement.py", (HERE / "settlement.py").read_text())
        settlement = f"{PYTHON} /opt/settlement.py {ROOT} {PUBLIC_KEY} {STORE}"
        machine.service("settlement", settlement, f"User=settlement\nStateDirectory=settlement\n{restarts}")
        subscriber = f"/usr/bin/mosquitto_sub -h 127.0.0.1 -i auditor -c -q 1 -t {ROOT}/notice"
        machine.service("auditor", subscriber, f"{restarts}\nStandardOutput=append:{NOTICES}\nStandardError=journal")
        sensors = sections(LAYOUT, site=SITE, table=TABLE, last_number=17, port=PTY, speed=SPEED)
        self.wheel = wheel(machine, NAME, sensors=sensors, key="credential:signing-key", mqtt="settlement_ack = true\n")
        run = f"/opt/wheeld/bin/hw-sim run --layout /etc/wheeld/{NAME}.toml --pty {PTY} --speed {SPEED} --quick"
        machine.service("people", run, "User=wheeld\nRuntimeDirectory=people")
        machine.run("systemctl", "--quiet", "enable", "--now", self.wheel.unit)
        machine.until(
            self._is_shift_begun, "a bouler begins, which makes the first seal: a key proves nothing before it"
        )

    def _is_shift_begun(self) -> bool:
        request = '{"id":"first","by":"chef","reason":"the evening begins","who":"Anna"}'
        topic = f"{ROOT}/{command_leaf('chef', 'bouler', TABLE)}"
        self.machine.run("mosquitto_pub", "-h", "127.0.0.1", "-q", "1", "-t", topic, "-m", request)
        return bool(self._rows("wheeld", JOURNAL, "SELECT n FROM heads"))

    # --- what is on disk -----------------------------------------------------------------------------------------

    def _rows(self, user: str, path: str, question: str) -> list[list[Any]]:
        """Run the query as that user: root would leave files that the writer could not open."""
        done = self.machine.run("runuser", "-u", user, "--", PYTHON, "-c", _QUERY, path, question)
        rows: list[list[Any]] = json.loads(done.stdout)
        return rows

    def written(self) -> list[FeedRecord]:
        """The feed in the wheel's journal, in the order in which it was written."""
        question = "SELECT seq, topic, hex(payload), at_utc_us / 1e6 FROM messages WHERE seq IS NOT NULL ORDER BY id"
        return [_record(row) for row in self._rows("wheeld", JOURNAL, question)]

    def stored(self) -> list[FeedRecord]:
        """The feed as the settlement core has it, in the order in which it came."""
        question = "SELECT seq, topic, hex(payload), stored_utc_s FROM messages ORDER BY arrived"
        return [_record(row) for row in self._rows("settlement", STORE, question)]

    def refused(self) -> list[list[Any]]:
        """What the settlement core refused."""
        return self._rows("settlement", STORE, "SELECT * FROM refused")

    def owed(self) -> int:
        """How many messages of the feed the settlement core has not acknowledged to the wheel."""
        return int(self._rows("wheeld", JOURNAL, "SELECT count(*) FROM debts WHERE seq IS NOT NULL")[0][0])

    def seals_at_a_stop(self) -> list[str]:
        """The heads that the daemon sealed when it stopped, as `verify --head` takes them."""
        question = "SELECT n || ':' || lower(hex(head)) FROM heads WHERE why = 'the daemon stops' ORDER BY n"
        return [row[0] for row in self._rows("wheeld", JOURNAL, question)]

    def published_seals(self) -> list[str]:
        """The same, as the auditor received them, each once."""
        notices = [json.loads(line) for line in self.machine.ask("cat", NOTICES).splitlines()]
        sealed = [one for one in notices if one["notice"] == "sealed" and one["reason"] == "the daemon stops"]
        return list(dict.fromkeys(f"{one['figures']['n']}:{one['figures']['head']}" for one in sealed))

    def verify(self, *more: str) -> None:
        """`wheeld journal verify` with the public key finds no fault, and every message of the feed is signed."""
        command = ("/opt/wheeld/bin/wheeld", "journal", "verify", "--public-key", PUBLIC_KEY, *more, JOURNAL)
        printed = self.machine.run("runuser", "-u", "wheeld", "--", *command).stdout
        assert re.search(
            r" (\d+) of them in the feed up to seq \1 \(\1 signed\).*: all as they were written", printed
        ), printed

    # --- what happens next ---------------------------------------------------------------------------------------

    def until_the_ball_runs(self) -> None:
        """Wait until the middle of a coup."""
        self.machine.until(lambda: "ball_running" in self.wheel.show("StatusText"), "a ball runs")

    def until_verdicts_of_the_sensors(self, count: int, since_utc_s: float) -> FeedRecord:
        """Wait until `count` verdicts written after that moment are stored. Returns the first."""
        found: list[FeedRecord] = []

        def are_stored() -> bool:
            later = {each.seq for each in self.written() if each.at_utc_s > since_utc_s and each.is_of_the_sensors}
            found[:] = [each for each in self.stored() if each.seq in later]
            return len(found) >= count

        self.machine.until(are_stored, "verdicts of the wheel, stored by the settlement core")
        return found[0]

    def moment(self, event: str, since_utc_s: float) -> float | None:
        """When the daemon first logged `event` after that moment; None when it did not."""
        for line in self.wheel.log():
            at_utc_s = int(line["__REALTIME_TIMESTAMP"]) / 1e6
            if at_utc_s > since_utc_s and f'"event":"{event}"' in line["MESSAGE"].replace('": "', '":"'):
                return at_utc_s
        return None

    def pid_of(self, unit: str) -> str:
        """The pid of its process, "0" when it has none."""
        return self.machine.ask("systemctl", "show", "--value", "--property=MainPID", unit)

    def start_s(self) -> float:
        """Seconds from the last start of the daemon's process to READY=1."""
        began, ready = (int(self.wheel.show(f"{name}TimestampMonotonic")) for name in ("ExecMainStart", "ActiveEnter"))
        return (ready - began) / 1e6


def _record(row: list[Any]) -> FeedRecord:
    return FeedRecord(row[0], row[1], bytes.fromhex(row[2]), row[3])


def now_utc_s() -> float:
    """The time of the machine, which has this host's clock."""
    return time.time()
