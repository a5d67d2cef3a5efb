"""The whole way on a bare Debian: the commands of docs/install.md, word by word, and what a wheel goes through later.

`make test-install` makes that Debian and boots it. The tests follow one another on it. The first wheel is that of the
page; a second one beside it has a journal of a thousand coups.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.packaging.long_journal import write_long_journal
from tests.packaging.test_install import APT_S, PROJECT, apt, package, state, version_in
from tests.packaging.test_long_journal import SETTING
from tests.systemd.machine import Machine, booted

pytestmark = pytest.mark.timeout(900)

PAGE = PROJECT / "docs" / "install.md"
COMMANDS_MAX = 4
DOWNLOADS = "/root/downloads"
"""Where a person has put the two packages."""
FIRST, SECOND = "bench-01", "bench-02"
COUPS = 1_000
COUPS_S = 120.0
"""Two coups take 20 s at five times the speed of life."""
QUESTIONS = 8


def commands(heading: str) -> list[str]:
    """Those of a section of the page, each on one line."""
    section = re.search(rf"^## {heading}\n(.+?)^###? ", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert section is not None
    lines = re.findall(r"^ {4}(.+)$", section[1], re.MULTILINE)
    return re.sub(r" \\\n +", " ", "\n".join(lines)).splitlines()


FOUR = commands("A wheel in four commands")
INSTALL, SETUP, START, WATCH = FOUR


def test_the_page_needs_no_more_commands() -> None:
    assert len(FOUR) <= COMMANDS_MAX


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    root = os.environ.get("WHEELD_PACKAGES_ROOT")
    if root is None:
        pytest.skip("`make test-install` makes a Debian and boots it")
    with booted(Path(root), PROJECT, tmp_path_factory.mktemp("machine")) as machine:
        machine.shell(f"mkdir {DOWNLOADS} && cp /packages/wheeld*~earlier*.deb {DOWNLOADS}")
        yield machine


def at_a_terminal(machine: Machine, command: str, typed: str, *, at: str = "") -> str:
    """What a person sees who types this, once `at` is seen: apt forgets what was typed before it asks. The command must
    succeed."""
    seen = "/root/terminal"
    wait = f"until grep --quiet --no-messages --fixed-strings {at!r} {seen}; do sleep 0.1; done; cat"
    script = f"script --quiet --flush --return --command {f'cd {DOWNLOADS} && {command}'!r} {seen}"
    shell = f"rm -f {seen}; {{ {wait}; }} | {script}"
    return machine.run("bash", "-euo", "pipefail", "-c", shell, text=typed, patience_s=APT_S).stdout


class Verdict(NamedTuple):
    seq: int
    topic: str
    digest: str


def feed(machine: Machine, name: str) -> list[Verdict]:
    """Every message of the feed in the wheel's journal."""
    show = f"runuser -u wheeld -- wheeld journal show /var/lib/wheeld/{name}.sqlite --jsonl"
    lines = [json.loads(line) for line in machine.shell(show).splitlines()]
    found = [(line["topic"], line["payload"]) for line in lines if "seq" in line.get("payload", {})]
    return [Verdict(payload["seq"], topic, payload["hash"]) for topic, payload in found]


def verdicts(machine: Machine, name: str) -> int:
    """How many coups are stored; the feed has no gap."""
    messages = feed(machine, name)
    assert [message.seq for message in messages] == list(range(1, len(messages) + 1))
    return sum(message.topic in ("result", "void") for message in messages)


def decided(machine: Machine, name: str) -> list[str]:
    """Of each coup what the sensors and people decided: a number or a cause. A breakdown is none of these. Asked of the
    file itself: to show a thousand coups again and again would take the computer's time from the wheel."""
    return _asked(machine, name, _DECIDED).split()


def _asked(machine: Machine, name: str, query: str) -> str:
    """What the query prints, asked as the wheel's user."""
    ask = ("runuser", "-u", "wheeld", "--", "python3", "-c", _SAID + query, f"/var/lib/wheeld/{name}.sqlite")
    return machine.run(*ask).stdout


_SAID = """
import json, sqlite3, sys
journal = sqlite3.connect(sys.argv[1], timeout=20)
def said(*topics, last=-1):
    rows = "SELECT id, payload FROM messages WHERE topic IN (SELECT value FROM json_each(?)) ORDER BY id DESC LIMIT ?"
    return [json.loads(payload) for _, payload in journal.execute(rows, (json.dumps(topics), last))][::-1]
"""
_DECIDED = """
verdicts = (each.get("cause", each.get("number")) for each in said("result", "void"))
print(*(verdict for verdict in verdicts if verdict != "breakdown"))
"""
_WHY = """
for table in said("table", last=1):
    shown = ("seq", "at", "coup", "state", "last_number", "failing", "waiting_codes", "waiting_for", "by", "reason")
    print({name: table[name] for name in shown})
for one in said("notice", "reply", last=40):
    if not one.get("done", one.get("notice") != "refused"):
        print("refused:", one.get("at"), one.get("text") or f"{one['name']} by {one['by']}: {one['why']}")
"""
"""Where the table stands by its last message, and which words it has refused lately."""


def is_active(machine: Machine, name: str) -> bool:
    return state(machine, name) == "active"


def assert_coups_go_on(machine: Machine, name: str) -> None:
    """Two more are decided, one of them by a number: the table did not stop."""
    before = len(decided(machine, name))

    def are_more() -> bool:
        more = decided(machine, name)[before:]
        return len(more) > 1 and any(verdict.isdecimal() for verdict in more)

    try:
        machine.until(are_more, "coups go on", COUPS_S)
    except AssertionError as stopped:
        units = [word for unit in ("wheeld", "wheeld-sim") for word in ("--unit", f"{unit}@{name}")]
        log = machine.ask("journalctl", *units, "--lines", "40", "--output", "cat")
        told = f"{name}: {stopped}: {decided(machine, name)[before:]}\n{_asked(machine, name, _WHY)}\n{log}"
        raise AssertionError(told) from stopped


def assert_good(machine: Machine, name: str) -> None:
    machine.run(
        "wheeld", "journal", "verify", f"/var/lib/wheeld/{name}.sqlite", "--public-key", f"/etc/wheeld/{name}.pub"
    )


def test_apt_installs_everything(machine: Machine) -> None:
    at_a_terminal(machine, INSTALL, "y\n", at="[Y/n]")
    assert machine.ask("wheeld", "--version").startswith("wheeld ")


def test_setup_asks_shows_its_plan_and_does_it(machine: Machine) -> None:
    said = at_a_terminal(machine, SETUP, "\n" * QUESTIONS + "y\n")
    assert "the game of this house" in said
    assert "/etc/wheeld/bench-01.toml" in said
    assert START in said
    assert machine.ask("systemctl", "is-active", "mosquitto") == "active"
    assert machine.ask("systemctl", "show", "--value", "--property=CPUWeight", "mosquitto") == "1000"
    again = at_a_terminal(machine, f"{SETUP} --yes", "")
    assert not re.findall(r"^  (?:make|replace|run|differs) ", again, re.MULTILINE)


def test_the_wheel_runs_and_a_subscriber_sees_its_coups(machine: Machine) -> None:
    machine.shell(START)
    assert state(machine, FIRST) == "active"
    machine.run("systemd-run", "--quiet", "--unit=watch", "sh", "-c", f"exec {WATCH}")
    machine.until(lambda: any(map(str.isdecimal, decided(machine, FIRST))), "a number comes out", COUPS_S)
    people = machine.ask("journalctl", f"--unit=wheeld-sim@{FIRST}", "--output=cat")
    assert "# the people see the table" in people, people

    def watched() -> str:
        return machine.ask("journalctl", "--unit=watch", "--output=cat")

    machine.until(
        lambda: "faites vos jeux" in watched() and bool(re.search(r"coup \d+", watched())), "it is seen", COUPS_S
    )
    machine.run("systemctl", "stop", "watch")


def test_a_stranger_sees_nothing(machine: Machine) -> None:
    """Somebody with a certificate of his own authority, and somebody without any."""
    own = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 9"
    machine.shell(f"{own} -subj /CN=table-system-bench-01 -keyout /root/own.key -out /root/own.crt 2>/dev/null")
    away = "wheeld watch bench/bench-01 --test --port 8883 --ca-file /etc/mosquitto/certs/house-ca.crt"
    for command in (f"{WATCH} --cert-file /root/own.crt --key-file /root/own.key", away):
        done = machine.run("sh", "-c", f"timeout --signal=INT 5 {command}", check=False)
        assert done.stdout == ""
        # On a busy computer the broker's alert may be lost, and only the end of the connection is seen.
        assert re.search("alert|eof occurred", done.stderr.lower()), done.stderr


_LOOK = """
import sys, urllib.request
page = urllib.request.urlopen("http://127.0.0.1:8400/?lang=en", timeout=10).read()
assert b"The wheel" in page, page
seen = set()
for line in urllib.request.urlopen("http://127.0.0.1:8400/events?lang=en", timeout=10):
    if line.startswith(b"event: "):
        seen.add(line.split()[1].decode())
    if {"wheel", "about", "frame"} <= seen or len(seen) > 9:
        break
print(*sorted(seen))
"""


def test_its_pages_show_what_the_sensors_see_and_have_nothing_else_of_the_wheel(machine: Machine) -> None:
    """One command, as setup said; the pages' user reads the socket, and neither journal nor configuration."""
    unit = f"wheeld-page@{FIRST}"
    machine.run("systemctl", "enable", "--now", unit)  # returns when the pages are served
    assert {"wheel", "about", "frame"} <= {*machine.run("python3", "-c", _LOOK).stdout.split()}
    for path in (f"/var/lib/wheeld/{FIRST}.sqlite", f"/etc/wheeld/{FIRST}.toml", "/etc/credstore"):
        assert "denied" in machine.shell(f"runuser -u wheeld-page -- cat {path} 2>&1 || true")
    machine.run("systemctl", "disable", "--now", unit)


def test_a_second_wheel_has_the_same_broker_and_a_long_journal(machine: Machine, tmp_path: Path) -> None:
    at_a_terminal(machine, SETUP.replace(FIRST, SECOND) + " --yes", "")
    key, journal = tmp_path / "key", tmp_path / "journal.sqlite"
    key.write_text(machine.run("cat", f"/etc/credstore/wheeld.{SECOND}.signing-key").stdout)
    write_long_journal(journal, SETTING, key, COUPS)
    path = f"/var/lib/wheeld/{SECOND}.sqlite"
    machine.run(
        "sh",
        "-euc",
        'base64 -d > "$0" && chown wheeld: "$0"',
        path,
        text=base64.b64encode(journal.read_bytes()).decode(),
    )
    machine.shell(START.replace(FIRST, SECOND))
    assert verdicts(machine, SECOND) >= COUPS
    assert_coups_go_on(machine, SECOND)


def test_after_a_reboot_everything_comes_back_and_the_numbers_go_on(machine: Machine) -> None:
    machine.shut_down("reboot")
    machine.boot()
    for name in (FIRST, SECOND):
        machine.until(partial(is_active, machine, name), "the wheel is back")
        assert machine.ask("systemctl", "is-active", f"wheeld-sim@{name}") == "active"
        assert_coups_go_on(machine, name)


def test_an_upgrade_keeps_every_coup(machine: Machine) -> None:
    before = feed(machine, SECOND)
    version = version_in(machine)
    code, said = apt(machine, "install", package(machine, version), package(machine, version, "wheeld-sim"))
    assert code == 0, said
    assert feed(machine, SECOND)[: len(before)] == before
    assert len(before) > COUPS
    for name in (FIRST, SECOND):
        assert state(machine, name) == "active"
        assert_coups_go_on(machine, name)
    assert_good(machine, SECOND)


def test_a_journal_that_is_lost_is_restored_from_its_backup(machine: Machine) -> None:
    """As docs/operations.md says."""
    journal, copy = f"/var/lib/wheeld/{SECOND}.sqlite", "/root/backup.sqlite"
    machine.shell(f"systemctl stop wheeld@{SECOND} && wheeld journal backup {journal} {copy}")
    before = verdicts(machine, SECOND)
    machine.shell(f"rm {journal}* && cp {copy} {journal} && chown wheeld:wheeld {journal}")
    machine.shell(START.replace(FIRST, SECOND))
    assert verdicts(machine, SECOND) >= before > COUPS
    assert_coups_go_on(machine, SECOND)
    assert_good(machine, SECOND)


def test_an_older_copy_is_refused_and_goes_on_behind_what_others_have(machine: Machine) -> None:
    """As docs/operations.md says: the start ends with 65, and the log names the command."""
    journal, copy = f"/var/lib/wheeld/{SECOND}.sqlite", "/root/older.sqlite"
    machine.shell(f"wheeld journal backup {SECOND} {copy}")
    assert_coups_go_on(machine, SECOND)
    machine.shell(f"systemctl stop wheeld@{SECOND}")
    last = feed(machine, SECOND)[-1].seq
    machine.shell(f"rm {journal}* && cp {copy} {journal} && chown wheeld:wheeld {journal}")
    start = START.replace(FIRST, SECOND)
    machine.run("sh", "-c", start, check=False)
    unit = f"wheeld@{SECOND}"
    code = partial(machine.ask, "systemctl", "show", "--value", "--property=ExecMainStatus", unit)
    machine.until(lambda: code() == "65", "the older copy is refused")
    log = machine.ask("journalctl", f"--unit={unit}", "--lines=30", "--output=cat")
    command = re.search(r'"command":"(wheeld journal adopt .+?)"', log)
    assert command is not None, log
    said = machine.shell(command[1])
    assert f"the next message is seq {last + 1};" in said
    machine.shell(f"systemctl reset-failed {unit}; {start}")
    assert_coups_go_on(machine, SECOND)
    assert last not in [message.seq for message in feed(machine, SECOND)]
    assert_good(machine, SECOND)


def test_debian_is_upgraded_below_the_wheels(machine: Machine) -> None:
    """As the page says, but for `apt update` and the reboot: there is no network, its lists and packages are there."""
    if machine.ask("ls", "-d", "/next") == "":
        pytest.skip("this is the newest Debian that there is a package for")
    sources, update, upgrade, reboot = commands("Upgrade Debian below the wheels")
    assert (update, reboot) == ("apt update", "reboot")
    before = feed(machine, SECOND)
    machine.shell(sources)
    machine.shell(f"rm -r {DOWNLOADS}/* /var/lib/apt/lists/*_* && cp /next/*.deb {DOWNLOADS}")
    machine.shell("cp /next/lists/* /var/lib/apt/lists && cp /next/archives/*.deb /var/cache/apt/archives")
    at_a_terminal(machine, f"DEBIAN_FRONTEND=noninteractive {upgrade}", "y\n", at="[Y/n]")
    machine.shut_down("reboot")
    machine.boot()
    assert machine.ask("sh", "-c", ". /etc/os-release && echo $VERSION_CODENAME") == "trixie"
    for name in (FIRST, SECOND):
        machine.until(partial(is_active, machine, name), "the wheel is back")
        assert_coups_go_on(machine, name)
    assert feed(machine, SECOND)[: len(before)] == before
    assert len(before) > COUPS
    assert_good(machine, SECOND)


def test_a_purge_keeps_journals_keys_and_certificates(machine: Machine) -> None:
    code, said = apt(machine, "purge", "wheeld", "wheeld-sim")
    assert code == 0, said
    for kept in (f"/var/lib/wheeld/{SECOND}.sqlite", f"/etc/wheeld/{SECOND}.toml", "/etc/wheeld/house/authority.key",
                 f"/etc/credstore/wheeld.{SECOND}.signing-key"):  # fmt: skip
        machine.shell(f"test -s {kept}")
    assert machine.ask("find", "/etc/systemd/system", "-name", "wheeld*@*") == ""
