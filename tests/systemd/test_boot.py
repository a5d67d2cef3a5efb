"""The unit under a booted systemd: ready, hung, killed, on a read-only file system; the feed has no gap."""

from __future__ import annotations

import re
import signal

import pytest

from tests.systemd.machine import Machine
from tests.systemd.wheels import NO_BOARD, Wheel, board, wheel
from wheeld.exits import Exit

pytestmark = pytest.mark.timeout(180)


def assert_restarted_in_order(wheel: Wheel, before: list[int]) -> None:
    """Ready again, and its feed without a gap or a repetition, longer than before."""
    wheel.machine.until(lambda: wheel.count("daemon.ready") == 2, "it is ready again")
    wheel.machine.until(lambda: len(wheel.seqs()) > len(before), "the feed goes on")
    after = wheel.seqs()
    assert after == list(range(1, len(after) + 1))
    assert (wheel.show("ActiveState"), wheel.show("NRestarts")) == ("active", "1")


def test_it_starts_publishes_a_result_and_stops(machine: Machine) -> None:
    evening = wheel(machine, "evening", sensors=board(machine, "evening"))
    evening.systemctl("start")
    assert evening.show("ActiveState") == "active"
    machine.until(lambda: evening.count("daemon.ready") == 1, "it logs that it is ready")
    assert evening.show("StatusText").startswith("sim-3: ")
    machine.until(lambda: any(seen["event"] == "board.identified" for seen in evening.events()), "the board is there")
    shown = "runuser -u wheeld -- /opt/wheeld/bin/wheeld journal show /var/lib/wheeld/evening.sqlite --topic result"
    machine.until(lambda: bool(machine.shell(shown)), "a result")
    pid = evening.show("MainPID")
    groups = machine.shell(f"grep ^Groups /proc/{pid}/status")
    named = [int(machine.shell(f"getent group {name} | cut -d: -f3")) for name in ("dialout", "gpio")]
    assert set(map(int, groups.split()[1:])) >= set(named)
    evening.systemctl("stop")
    assert (evening.show("Result"), evening.show("ExecMainStatus")) == ("success", "0")
    assert evening.events()[-1]["event"] == "daemon.stopped"


def test_journald_has_each_lines_priority_and_the_wheel(machine: Machine) -> None:
    talk = wheel(machine, "talk")
    talk.systemctl("start")
    machine.until(lambda: talk.count("broker.unreachable") > 0, "that no broker is there")
    machine.until(
        lambda: "the broker 127.0.0.1:1883 has not been reached since" in talk.show("StatusText"),
        "its status says that too",
    )
    assert {seen["PRIORITY"] for seen in talk.events() if seen["level"] == "info"} == {"6"}
    warnings = machine.ask("journalctl", "-p", "warning", "-t", "wheeld@talk", "-o", "cat").splitlines()
    assert warnings
    assert all('"level":"warning"' in line for line in warnings)
    talk.systemctl("stop")


def test_a_wheel_that_hangs_is_killed_and_started_again(machine: Machine) -> None:
    hung = wheel(machine, "hung")
    hung.systemctl("start")
    before = hung.seqs()
    machine.run("kill", f"-{signal.SIGSTOP.value}", hung.show("MainPID"))
    assert_restarted_in_order(hung, before)
    messages = [line["MESSAGE"] for line in hung.log()]
    assert any("Watchdog timeout" in message for message in messages)
    assert any("Fatal Python error: Aborted" in message for message in messages), "the stack is in the log"
    hung.systemctl("stop")


def test_a_wheel_that_is_killed_is_started_again(machine: Machine) -> None:
    killed = wheel(machine, "killed")
    killed.systemctl("start")
    before = killed.seqs()
    machine.run("kill", "-KILL", killed.show("MainPID"))
    assert_restarted_in_order(killed, before)
    killed.systemctl("stop")


def test_on_a_read_only_file_system_it_stays_down_until_a_person_repairs_it(machine: Machine) -> None:
    disk = "/var/lib/wheeld/disk"
    machine.shell(f"mkdir -p {disk} && mount -t tmpfs wheel {disk} && chown wheeld: {disk}")
    fixed = wheel(machine, "fixed", journal=f"{disk}/fixed.sqlite")
    fixed.systemctl("start")
    before = fixed.seqs(f"{disk}/fixed.sqlite")
    machine.shell(f"kill -KILL {fixed.show('MainPID')}; until mount -o remount,ro {disk}; do :; done")
    machine.until(lambda: fixed.show("ActiveState") == "failed", "it gives up")
    assert (fixed.show("ExecMainStatus"), fixed.show("NRestarts")) == (str(Exit.NOT_OPENED.value), "1")
    assert [seen["fault"] for seen in fixed.events() if seen["event"] == "journal.not_opened"] == ["io"]
    machine.shell(f"mount -o remount,rw {disk}")
    fixed.systemctl("start")
    machine.until(lambda: len(fixed.seqs(f"{disk}/fixed.sqlite")) > len(before), "the feed goes on")
    after = fixed.seqs(f"{disk}/fixed.sqlite")
    assert after == list(range(1, len(after) + 1))
    fixed.systemctl("stop")


def test_a_wrong_configuration_is_not_tried_again(machine: Machine) -> None:
    wrong = wheel(machine, "wrong", mqtt="prot = 1\n")
    assert wrong.systemctl("start", check=False) != 0
    assert (wrong.show("ExecMainStatus"), wrong.show("NRestarts")) == (str(Exit.BAD_CONFIG.value), "0")
    assert any("did you mean port?" in line["MESSAGE"] for line in wrong.log())


def test_a_reload_takes_a_right_file_and_refuses_a_wrong_one(machine: Machine) -> None:
    machine.shell("umask 077; echo secret > /etc/credstore/wheeld.changed.mqtt-password")
    changed = wheel(machine, "changed", mqtt='username = "wheel"\npassword_file = "credential:mqtt-password"\n')
    changed.drop_in("[Service]\nWatchdogSec=20\n")  # as it ships: no wheel is watched while it starts again
    changed.systemctl("start")
    before, pid = changed.seqs(), changed.show("MainPID")
    machine.shell("cp /etc/wheeld/changed.toml /root/; echo 'prot = 1' >> /etc/wheeld/changed.toml")
    assert changed.systemctl("reload", check=False) != 0
    machine.until(lambda: any("prot" in line["MESSAGE"] for line in changed.log()), "it says what is wrong")
    assert (changed.show("ActiveState"), changed.count("daemon.asked_again")) == ("active", 0)
    machine.shell("cat /root/changed.toml > /etc/wheeld/changed.toml")
    machine.shell("printf '[display]\nname = \"Tavolo 3\"\n' >> /etc/wheeld/changed.toml")
    changed.systemctl("reload")
    machine.until(lambda: changed.count("daemon.ready") == 2, "it is ready again")
    machine.until(lambda: changed.show("ActiveState") == "active", "systemd knows that")
    machine.until(lambda: len(changed.seqs()) > len(before), "the feed goes on")
    assert changed.seqs() == list(range(1, len(changed.seqs()) + 1))
    assert (changed.show("MainPID"), changed.show("NRestarts")) == (pid, "0")
    changed.systemctl("stop")
    assert (changed.show("Result"), changed.show("ExecMainStatus")) == ("success", "0")


def test_a_wheel_that_fails_again_and_again_stays_down(machine: Machine) -> None:
    falls = wheel(machine, "falls")
    falls.drop_in("[Service]\nExecStart=\nExecStart=/bin/false\nRestartSec=10ms\n")
    falls.systemctl("start", check=False)
    machine.until(lambda: falls.show("Result") == "start-limit-hit" or falls.show("NRestarts") == "20", "it gives up")
    assert falls.show("ActiveState") == "failed"
    starts = [line for line in falls.log() if re.match(r"Starting .*falls", line["MESSAGE"])]
    assert len(starts) == 20


def answer_of(machine: Machine, device: str) -> str:
    """The error when a wheel opens /dev/`device` as its board."""
    tries = wheel(machine, device.lower(), sensors=NO_BOARD.replace("/dev/none", f"/dev/{device}"))
    tries.systemctl("start")
    machine.until(lambda: tries.count("link.unavailable") > 0, "the result of opening the device")
    tries.systemctl("stop")
    return next(str(seen["why"]) for seen in tries.events() if seen["event"] == "link.unavailable")


def test_only_serial_lines_and_pins_can_be_opened(machine: Machine) -> None:
    """The kernel refuses a device that is not in the list before the device itself can answer."""
    machine.shell("mknod -m 666 /dev/ttyS31 c 4 95 && mknod -m 666 /dev/watchful c 10 237")
    answers = {name: answer_of(machine, name) for name in ("ttyS31", "watchful")}
    assert "no permission" in answers["watchful"]
    assert "no device is connected to it" in answers["ttyS31"], "the list let it through to the driver"


def test_secrets_come_as_credentials_and_may_be_missing(machine: Machine) -> None:
    machine.shell("umask 077; echo secret > /etc/credstore/wheeld.keeps.mqtt-password")
    named = 'username = "wheel"\npassword_file = "credential:mqtt-password"\n'
    keeps = wheel(machine, "keeps", mqtt=named)
    keeps.systemctl("start")
    keeps.systemctl("stop")
    lacks = wheel(machine, "lacks", mqtt=named)
    assert lacks.systemctl("start", check=False) != 0
    assert lacks.show("ExecMainStatus") == str(Exit.BAD_CONFIG.value)
    # By hand the same is found, by the name of the wheel.
    right = machine.run("/opt/wheeld/bin/wheeld", "check-config", "keeps", check=False)
    assert (right.returncode, "this computer has no " in right.stderr) == (Exit.LOOK, True)
    checked = machine.run("/opt/wheeld/bin/wheeld", "check-config", "lacks", check=False)
    assert checked.returncode == Exit.BAD_CONFIG
    assert "/etc/credstore/wheeld.lacks.mqtt-password does not exist" in checked.stderr
    denied = machine.run("runuser", "-u", "wheeld", "/opt/wheeld/bin/wheeld", "check-config", "keeps", check=False)
    assert denied.returncode == Exit.NO_INPUT
    assert "run the command as root" in denied.stderr


def test_a_signing_key_that_is_configured_must_be_there(machine: Machine) -> None:
    """A key is optional: no other wheel here has one."""
    machine.shell("umask 077; echo nonsense > /etc/credstore/wheeld.odd.signing-key")
    for name, why in {"keyless": "wheeld.keyless.signing-key does not exist", "odd": "neither a private key"}.items():
        tries = wheel(machine, name, key="credential:signing-key")
        assert tries.systemctl("start", check=False) != 0
        assert (tries.show("ExecMainStatus"), tries.show("NRestarts")) == (str(Exit.BAD_CONFIG.value), "0")
        assert why in tries.show("StatusText")
        messages = [line["MESSAGE"] for line in tries.log()]
        assert any("signing_key" in message and why in message for message in messages), messages
        assert not any("nonsense" in message for message in messages)


def test_it_reports_a_clock_that_is_not_synchronised(machine: Machine) -> None:
    early = wheel(machine, "early")
    assert "time-sync.target" in early.show("After").split()
    early.systemctl("start")
    assert "UTC not synchronised" in early.show("StatusText")
    assert early.count("clock.not_synchronised") == 1
    machine.shell("mkdir -p /run/systemd/timesync && touch /run/systemd/timesync/synchronized")
    machine.until(lambda: early.count("clock.synchronised") == 1, "it sees the synchronised clock")
    assert "UTC" not in early.show("StatusText")
    machine.shell("rm -r /run/systemd/timesync")
    early.systemctl("stop")
