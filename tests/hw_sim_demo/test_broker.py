"""Which broker is started, and the errors when there is none or it does not start."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from hw_sim import broker, child
from hw_sim.broker import Kind, choose
from hw_sim.child import DemoError


@pytest.fixture
def programs(tmp_path: Path) -> str:
    program = tmp_path / "mosquitto"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return str(tmp_path)


def test_mosquitto_where_it_is_installed(programs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for uid, root in ((0, True), (1000, False)):
        monkeypatch.setattr(os, "geteuid", lambda uid=uid: uid)
        kind = choose("auto", 1234, path=programs)
        assert (kind.name, kind.command[0], kind.protocol) == ("mosquitto", f"{programs}/mosquitto", "5")
        assert "listener 1234 127.0.0.1" in kind.configuration
        assert ("user root" in kind.configuration) is root


def test_python_where_it_is_not_or_where_that_is_asked_for(programs: str) -> None:
    for kind in (choose("auto", 1234, path=""), choose("python", 1234, path=programs)):
        assert (kind.name, kind.command[0], kind.protocol) == ("amqtt", sys.executable, "3.1.1")
        assert json.loads(kind.configuration)["listeners"]["default"]["bind"] == "127.0.0.1:1234"


def test_the_systems_directories_are_searched_too(monkeypatch: pytest.MonkeyPatch, programs: str) -> None:
    monkeypatch.setattr(broker, "SYSTEM_PROGRAMS", (programs,))
    monkeypatch.delenv("PATH")
    assert choose("mosquitto", 1).command[0].endswith("mosquitto")


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DemoError, match="apt-get install mosquitto"):
        choose("mosquitto", 1, path="")
    monkeypatch.setattr(broker, "find_spec", lambda name: None)
    with pytest.raises(DemoError, match=r"pip install '\./hw_sim\[demo\]' \(amqtt\)"):
        choose("auto", 1, path="")


async def test_the_error_of_a_broker_that_does_not_start_has_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = Kind("mosquitto", ["/bin/sh", "-c", "echo no such user; exit 3"], "", "5")
    monkeypatch.setattr(broker, "choose", lambda wanted, port: kind)
    with pytest.raises(DemoError, match=r"(?s)exit code 3.*no such user"):
        async with broker.broker("auto", tmp_path):
            raise AssertionError


async def test_a_broker_that_never_listens_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = Kind("mosquitto", ["/bin/sh", "-c", "exec sleep 60"], "", "5")
    monkeypatch.setattr(broker, "choose", lambda wanted, port: kind)
    monkeypatch.setattr(child, "READY_S_MAX", 0.1)
    with pytest.raises(DemoError, match="did not listen on port"):
        async with broker.broker("auto", tmp_path):
            raise AssertionError


async def test_a_child_that_will_not_end_is_killed_and_one_that_has_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "END_S_MAX", 0.1)
    # The shell writes to the FIFO when it ignores SIGTERM; before that SIGTERM would end it.
    os.mkfifo(tmp_path / "fifo")
    command = ["/bin/sh", "-c", f"trap '' TERM; echo deaf > {tmp_path}/fifo; while :; do sleep 60; done"]
    async with child.child("stubborn", command, tmp_path / "log") as stubborn:
        assert (tmp_path / "fifo").read_text() == "deaf\n"
    assert stubborn._process.returncode == -signal.SIGKILL
    async with child.child("short", ["/bin/sh", "-c", "exit 5"], tmp_path / "log") as short:
        assert await short.ended() == "short ended with exit code 5; its last lines:\n  (none)"
