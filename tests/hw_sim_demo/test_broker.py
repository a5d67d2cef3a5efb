"""The broker of the demo, and the errors when there is none or it does not start."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from hw_sim import broker, child
from hw_sim.exits import UnavailableError


def stand_in(directory: Path, does: str) -> str:
    """A program in the place of mosquitto."""
    program = directory / "mosquitto"
    program.write_text(f"#!/bin/sh\n{does}\n")
    program.chmod(0o755)
    return str(program)


@pytest.fixture
def programs(tmp_path: Path) -> str:
    stand_in(tmp_path, "")
    return str(tmp_path)


def test_its_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    for uid, root in ((0, True), (1000, False)):
        monkeypatch.setattr(os, "geteuid", lambda uid=uid: uid)
        assert "listener 1234 127.0.0.1" in broker.configuration(1234)
        assert ("user root" in broker.configuration(1234)) is root


def test_the_systems_directories_are_searched_too(monkeypatch: pytest.MonkeyPatch, programs: str) -> None:
    monkeypatch.setattr(broker, "SYSTEM_PROGRAMS", (programs,))
    monkeypatch.delenv("PATH")
    assert broker.program().endswith("mosquitto")


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker, "SYSTEM_PROGRAMS", ())
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UnavailableError, match="apt-get install mosquitto"):
        broker.program()


async def test_the_error_of_a_broker_that_does_not_start_has_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker, "program", lambda: stand_in(tmp_path, "echo no such user; exit 3"))
    with pytest.raises(UnavailableError, match=r"(?s)exit code 3.*no such user"):
        async with broker.broker(tmp_path):
            raise AssertionError


async def test_a_broker_that_never_listens_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker, "program", lambda: stand_in(tmp_path, "exec sleep 60"))
    monkeypatch.setattr(child, "READY_S_MAX", 0.1)
    with pytest.raises(UnavailableError, match="did not listen on port"):
        async with broker.broker(tmp_path):
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
