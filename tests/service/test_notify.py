"""sd_notify against a socket that the test owns."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from wheeld.service import notify
from wheeld.service.notify import ServiceNotifier


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[socket.socket, str]]:
    """The manager's socket and its name in NOTIFY_SOCKET."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as endpoint:
        name = str(tmp_path / "notify") if request.param == "path" else f"@wheeld-test-{os.getpid()}"
        endpoint.bind(name.replace("@", "\0", 1) if request.param == "abstract" else name)
        endpoint.settimeout(20)
        yield endpoint, name


def test_what_systemd_receives(manager: tuple[socket.socket, str]) -> None:
    endpoint, name = manager
    notifier = ServiceNotifier({"NOTIFY_SOCKET": name})
    notifier.ready("table open\nREADY=0")
    notifier.status("coup 7")
    notifier.alive()
    notifier.stopping()
    received = [endpoint.recv(4096) for _ in range(4)]
    assert received == [b"READY=1\nSTATUS=table open READY=0", b"STATUS=coup 7", b"WATCHDOG=1", b"STOPPING=1"]


@pytest.mark.parametrize("reads", [True, False])
def test_a_process_that_fails_ends_when_systemd_has_read_why_or_never_does(
    manager: tuple[socket.socket, str], reads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint, name = manager
    monkeypatch.setattr(notify, "READ_S_MAX", 20.0 if reads else 0.2)
    received, kept, began_s = list[bytes](), list[int](), time.monotonic()

    def read() -> None:
        for _ in range(3):
            data, files, _, _ = socket.recv_fds(endpoint, 4096, 8)
            received.append(data)
            kept.extend(files)
        assert len(kept) == 1
        if reads:
            os.close(kept.pop())

    with ThreadPoolExecutor() as pool:
        reading = pool.submit(read)
        ServiceNotifier({"NOTIFY_SOCKET": name}).failed("the key\nis wrong")
        took_s = time.monotonic() - began_s
        reading.result()
    for each in kept:
        os.close(each)
    assert received == [b"STOPPING=1", b"STATUS=the key is wrong", b"BARRIER=1"]
    assert took_s < 10.0 if reads else took_s >= 0.2


def test_without_systemd_nothing_happens() -> None:
    with capture_logs() as logs:
        notifier = ServiceNotifier({})
        notifier.ready("open")
        notifier.alive()
        notifier.failed("the key is wrong")
    assert logs == []
    assert notifier.watchdog_s is None


def test_a_manager_that_is_gone_is_logged_and_survived(tmp_path: Path) -> None:
    with capture_logs() as logs:
        ServiceNotifier({"NOTIFY_SOCKET": str(tmp_path / "gone")}).alive()
    assert [log["event"] for log in logs] == ["notify.failed"]


@pytest.mark.parametrize(
    ("environment", "watchdog_s"),
    [
        ({"WATCHDOG_USEC": "20000000"}, 20.0),
        ({"WATCHDOG_USEC": "500000", "WATCHDOG_PID": str(os.getpid())}, 0.5),
        ({"WATCHDOG_USEC": "500000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({"WATCHDOG_USEC": "²"}, None),
    ],
)
def test_watchdog(environment: dict[str, str], watchdog_s: float | None) -> None:
    assert ServiceNotifier(environment).watchdog_s == watchdog_s
