"""A whole house in one machine: wheel, broker, settlement core, people, and an auditor who hears the seals."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.journal.journals import write_keys
from tests.systemd.machine import Machine
from tests.systemd.people import ROOT, configuration
from tests.systemd.wheels import wheel

NAME = "whole"
JOURNAL, STORE = f"/var/lib/wheeld/{NAME}.sqlite", "/var/lib/settlement/feed.sqlite"
HEARD = "/var/lib/settlement/notices"
PUBLIC_KEY = "/etc/settlement/wheel.pub"
PTY = Path("/run/people/line")
PYTHON = "/opt/wheeld/bin/python"
HERE = Path(__file__).parent

BROKER = """\
listener 1883 127.0.0.1
allow_anonymous true
autosave_interval 10
autosave_on_changes true
"""
"""Persistence as systemd/mosquitto/wheeld.conf advises it; names and keys are tested elsewhere."""

_QUERY = """\
import json, sqlite3, sys
print(json.dumps(sqlite3.connect(sys.argv[1], timeout=20).execute(sys.argv[2]).fetchall()))
"""
VERDICTS = ("result", "void")


@dataclass(frozen=True)
class Said:
    """A message of the feed, where it was written or where it was stored."""

    seq: int
    topic: str
    payload: bytes
    at_utc_s: float

    @property
    def is_of_the_sensors(self) -> bool:
        """A verdict that a wheel gives which sees: not the void that a restart itself is."""
        return self.topic in VERDICTS and json.loads(self.payload).get("cause") != "breakdown"


class House:
    """Everything is enabled, so that it comes back by itself when the machine does."""

    def __init__(self, machine: Machine, directory: Path) -> None:
        self.machine = machine
        private, public = write_keys(directory)
        machine.write("/etc/mosquitto/conf.d/wheel.conf", BROKER)
        machine.run("systemctl", "--quiet", "enable", "--now", "mosquitto")
        machine.shell("useradd --system settlement && install -d -m 700 /etc/credstore")
        machine.write(f"/etc/credstore/wheeld.{NAME}.signing-key", private.read_text())
        machine.write(PUBLIC_KEY, public.read_text())
        restarts = "Restart=always\nRestartSec=200ms"
        self._hire(
            "settlement", f"{ROOT} {PUBLIC_KEY} {STORE}", f"User=settlement\nStateDirectory=settlement\n{restarts}"
        )
        self._hire("people", str(PTY), "User=wheeld\nRuntimeDirectory=people")
        listens = f"/usr/bin/mosquitto_sub -h 127.0.0.1 -i auditor -c -q 1 -t {ROOT}/notice"
        machine.service("auditor", listens, f"{restarts}\nStandardOutput=append:{HEARD}\nStandardError=journal")
        self.wheel = wheel(
            machine, NAME, sensors=configuration(PTY), key="credential:signing-key", mqtt="settlement_ack = true\n"
        )
        machine.run("systemctl", "--quiet", "enable", "--now", self.wheel.unit)
        machine.until(self._is_shift_begun, "a bouler begins, which is sealed: a key proves nothing before the first")

    def _is_shift_begun(self) -> bool:
        asks = '{"id":"first","by":"chef","reason":"the evening begins","who":"Anna"}'
        self.machine.run("mosquitto_pub", "-h", "127.0.0.1", "-q", "1", "-t", f"{ROOT}/cmd/bouler", "-m", asks)
        return bool(self._rows("wheeld", JOURNAL, "SELECT n FROM heads"))

    def _hire(self, name: str, words: str, more: str) -> None:
        self.machine.write(f"/opt/{name}.py", (HERE / f"{name}.py").read_text())
        self.machine.service(name, f"{PYTHON} /opt/{name}.py {words}", more)

    # --- what is on disk -----------------------------------------------------------------------------------------

    def _rows(self, user: str, path: str, question: str) -> list[list[Any]]:
        """As that user: root would leave files that the writer could not open."""
        told = self.machine.run("runuser", "-u", user, "--", PYTHON, "-c", _QUERY, path, question)
        rows: list[list[Any]] = json.loads(told.stdout)
        return rows

    def written(self) -> list[Said]:
        """The feed in the wheel's journal, in the order in which it was written."""
        question = "SELECT seq, topic, hex(payload), at_utc_us / 1e6 FROM messages WHERE seq IS NOT NULL ORDER BY id"
        return [_said(row) for row in self._rows("wheeld", JOURNAL, question)]

    def stored(self) -> list[Said]:
        """The feed as the settlement core has it, in the order in which it came."""
        question = "SELECT seq, topic, hex(payload), stored_utc_s FROM messages ORDER BY arrived"
        return [_said(row) for row in self._rows("settlement", STORE, question)]

    def refused(self) -> list[list[Any]]:
        """What the settlement core did not believe."""
        return self._rows("settlement", STORE, "SELECT * FROM refused")

    def owed(self) -> int:
        """How many messages of the feed the wheel still holds for not stored at the settlement core."""
        return int(self._rows("wheeld", JOURNAL, "SELECT count(*) FROM debts WHERE seq IS NOT NULL")[0][0])

    def seals_at_a_stop(self) -> list[str]:
        """The heads that the daemon sealed when it stopped, as `verify --head` takes them."""
        question = "SELECT n || ':' || lower(hex(head)) FROM heads WHERE why = 'the daemon stops' ORDER BY n"
        return [row[0] for row in self._rows("wheeld", JOURNAL, question)]

    def heard_seals(self) -> list[str]:
        """The same, as the auditor heard them: each at least once."""
        notices = [json.loads(line) for line in self.machine.ask("cat", HEARD).splitlines()]
        sealed = [told for told in notices if told["notice"] == "sealed" and told["reason"] == "the daemon stops"]
        return list(dict.fromkeys(f"{told['figures']['n']}:{told['figures']['head']}" for told in sealed))

    def verify(self, *more: str) -> None:
        """`wheeld journal verify` with the public key is content, and every message of the feed is signed."""
        command = ("/opt/wheeld/bin/wheeld", "journal", "verify", "--public-key", PUBLIC_KEY, *more, JOURNAL)
        told = self.machine.run("runuser", "-u", "wheeld", "--", *command).stdout
        assert re.search(r" (\d+) of them in the feed up to seq \1 \(\1 signed\).*: all as they were written", told), (
            told
        )

    # --- how it goes on ------------------------------------------------------------------------------------------

    def until_the_ball_runs(self) -> None:
        """So that what happens now happens in the middle of a coup."""
        self.machine.until(lambda: "ball_running" in self.wheel.show("StatusText"), "a ball runs")

    def until_verdicts_of_the_sensors(self, count: int, since_utc_s: float) -> Said:
        """Stored by the settlement core, and judged after that moment; the first of them."""
        found: list[Said] = []

        def come() -> bool:
            later = {each.seq for each in self.written() if each.at_utc_s > since_utc_s and each.is_of_the_sensors}
            found[:] = [each for each in self.stored() if each.seq in later]
            return len(found) >= count

        self.machine.until(come, "the wheel judges and the settlement core stores")
        return found[0]

    def moment(self, event: str, since_utc_s: float) -> float | None:
        """When the daemon logged it after that moment."""
        for line in self.wheel.log():
            at_utc_s = int(line["__REALTIME_TIMESTAMP"]) / 1e6
            if at_utc_s > since_utc_s and f'"event":"{event}"' in line["MESSAGE"].replace('": "', '":"'):
                return at_utc_s
        return None

    def pid_of(self, unit: str) -> str:
        """Its process, "0" when it has none."""
        return self.machine.ask("systemctl", "show", "--value", "--property=MainPID", unit)

    def start_s(self) -> float:
        """From the start of the daemon's process to READY=1, the last time."""
        began, ready = (int(self.wheel.show(f"{name}TimestampMonotonic")) for name in ("ExecMainStart", "ActiveEnter"))
        return (ready - began) / 1e6


def _said(row: list[Any]) -> Said:
    return Said(row[0], row[1], bytes.fromhex(row[2]), row[3])


def now_utc_s() -> float:
    """Of the machine, whose clock is this host's."""
    return time.time()
