"""A run of the whole daemon, good and bad: its secrets are in no log, no argument, no environment, no byte of the
journal, no message and no text of an error.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.broker.mqtt_bench import connecting, observing, session_of, settings
from tests.cli.live import Daemon, running
from tests.live.bench import write_config
from tests.mosquitto import Mosquitto
from tests.security.authority import Authority
from wheeld.broker.login import PASSWORD_BYTES_MAX

PASSWORD = "Tr0ub4dor&3-of-the-wheel"


class Table:
    """A configuration with a password and a key, and a broker that asks for both."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.house = Authority(directory)
        self.password = directory / "mqtt-password"
        self.password.write_text(PASSWORD + "\n")
        self.password.chmod(0o600)
        known = directory / "known"
        known.write_text(f"wheel:{PASSWORD}\n")
        subprocess.run(["mosquitto_passwd", "-U", str(known)], check=True)
        known.chmod(0o644)
        files = self.house.issue("wheel-1")
        assert files.key_file is not None
        self.key = files.key_file
        named = {"ca_file": files.ca_file, "cert_file": files.cert_file, "key_file": files.key_file}
        self.mqtt = {key: str(path) for key, path in named.items()} | {
            "username": "wheel",
            "password_file": "mqtt-password",
        }
        own = self.house.issue("broker", server=True)
        lines = [f"cafile {own.ca_file}", f"certfile {own.cert_file}", f"keyfile {own.key_file}"]
        more = ["require_certificate true", f"password_file {known}", "allow_anonymous false"]
        self.broker = Mosquitto(directory, *lines, *more)

    def configured(self, **changes: Any) -> Path:
        path = write_config(self.directory, self.broker.port, **{**self.mqtt, **changes})
        path.write_text(path.read_text() + '[log]\nlevel = "debug"\n')
        return path

    def secrets(self) -> Iterator[bytes]:
        """Each as it may be found."""
        yield PASSWORD.encode()
        yield json.dumps(PASSWORD)[1:-1].encode()
        yield base64.b64encode(PASSWORD.encode())
        yield PASSWORD.encode().hex().encode()
        lines = self.key.read_text().splitlines()
        yield from (line.encode() for line in lines[1:-1])

    def journal(self) -> bytes:
        return b"".join(path.read_bytes() for path in sorted(self.directory.glob("journal.sqlite*")))

    def must_not_be_in(self, **places: bytes) -> None:
        for name, content in places.items():
            assert content, f"{name} is empty: the search would prove nothing"
            assert [secret for secret in self.secrets() if secret in content] == [], name


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(tmp_path)


def of_process(daemon: Daemon, name: str) -> bytes:
    return Path(f"/proc/{daemon.process.pid}/{name}").read_bytes()


def logs_of(daemon: Daemon) -> bytes:
    return json.dumps(daemon.logs, ensure_ascii=False).encode()


async def test_a_good_run(table: Table) -> None:
    with table.broker:
        async with running(table.configured()) as daemon:
            await daemon.until("broker.connected")
            places = {"argv": of_process(daemon, "cmdline"), "environment": of_process(daemon, "environ")}
            context = table.house.issue("observer").context()
            more: dict[str, Any] = {"username": "wheel", "password": PASSWORD, "tls_context": context}
            async with observing(table.broker, **more) as observer:
                await observer.until("/wheel/v1/live/wheel-1/health")
                received = b"".join(message.payload for message in observer.seen)
            assert await daemon.end() == 0
    table.must_not_be_in(logs=logs_of(daemon), journal=table.journal(), received=received, **places)


async def test_a_run_that_the_broker_refuses(table: Table) -> None:
    with table.broker:
        table.password.write_text(PASSWORD[::-1])
        path = table.configured(username="x")
        async with running(path) as daemon:
            refused = await daemon.until("broker.unreachable")
            assert "correct username and password_file" in str(refused["why"])
            table.password.write_text(PASSWORD)
            assert await daemon.end() == 0
    table.must_not_be_in(logs=logs_of(daemon), journal=table.journal())
    assert PASSWORD[::-1].encode() not in logs_of(daemon) + table.journal()


@pytest.mark.parametrize("open_to_all", ["mqtt-password", "wheel-1.key"])
def test_a_run_with_an_open_secret(table: Table, open_to_all: str) -> None:
    (table.directory / open_to_all).chmod(0o644)
    path = table.configured()
    run = [sys.executable, "-m", "wheeld", "run", "-c", str(path)]
    ended = subprocess.run(run, capture_output=True, timeout=30, check=False)
    assert ended.returncode == 78
    assert b"the file is open to all on this computer" in ended.stderr
    table.must_not_be_in(output=ended.stdout + ended.stderr)


def test_the_search_finds_what_it_looks_for(table: Table) -> None:
    for secret in table.secrets():
        with pytest.raises(AssertionError, match="somewhere"):
            table.must_not_be_in(somewhere=b"x" + secret)
    with pytest.raises(AssertionError, match="prove nothing"):
        table.must_not_be_in(somewhere=b"")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\n", "must hold 1 to"),
        (PASSWORD.encode() * PASSWORD_BYTES_MAX, "must hold 1 to"),
    ],
)
async def test_a_password_that_became_none_is_logged_and_read_again(
    tmp_path: Path, content: bytes, expected: str
) -> None:
    """While the daemon runs: it must neither end nor repeat what is there."""
    path = tmp_path / "password"
    path.write_bytes(content)
    with Mosquitto(tmp_path) as broker, capture_logs() as logs:
        async with connecting(settings(broker.port, username="wheel", password_file=path)) as (connection, clock):
            await clock.waiting()
            path.write_text(PASSWORD)
            clock.go()
            await session_of(connection)
    assert expected in logs[0]["why"]
    assert PASSWORD not in str(logs)
