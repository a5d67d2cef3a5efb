"""Whether UTC can be trusted: who is asked, and what is logged when it changes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from tests.broker.world import VirtualClock
from wheeld.service import time_sync
from wheeld.service.time_sync import LOOK_S, TimeSync, by_kernel, by_timesyncd, host_is_synchronised


async def test_each_change_is_logged_once() -> None:
    clock, changes = VirtualClock(), list[bool | None]()
    states: list[bool | None] = [None, None, False, False, True, True, False]
    with capture_logs() as logs:
        sync = TimeSync(on_change=lambda: changes.append(sync.is_synchronised), look=lambda: states.pop(0))
        assert sync.is_synchronised is None
        task = asyncio.create_task(sync.run(clock))
        await clock.advance(LOOK_S * 6)
        task.cancel()
        await asyncio.wait({task})
    assert changes == [False, True, False]
    assert [(log["event"], log["log_level"]) for log in logs] == [
        ("clock.not_synchronised", "warning"),
        ("clock.not_synchronised", "warning"),
        ("clock.synchronised", "info"),
        ("clock.not_synchronised", "warning"),
    ]
    assert logs[0]["why"].startswith("it is unknown")


def test_timesyncd_leaves_a_mark(tmp_path: Path) -> None:
    assert by_timesyncd(tmp_path / "absent") is None
    assert by_timesyncd(tmp_path) is False
    (tmp_path / "synchronized").touch()
    assert by_timesyncd(tmp_path) is True


@pytest.mark.parametrize(("state", "expected"), [(0, True), (1, True), (4, True), (5, False), (-1, None)])
def test_what_the_kernel_answers(state: int, expected: bool | None, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []

    class Library:
        def adjtimex(self, buffer: object) -> int:
            asked.append(bytes(buffer))  # type: ignore[call-overload]
            return state

    monkeypatch.setattr("ctypes.CDLL", lambda _: Library())
    assert by_kernel() is expected
    assert asked == [bytes(512)], "all zero: to read, not to set"


def test_without_a_kernel_that_answers_timesyncd_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda _: object())
    monkeypatch.setattr(time_sync, "by_timesyncd", lambda: False)
    assert by_kernel() is None
    assert host_is_synchronised() is False


def test_the_real_kernel_is_asked_without_harm() -> None:
    assert by_kernel() in {True, False, None}
