"""Client certificates at a real mosquitto: let in, kept out, renewed without a restart, and whose fault it is."""

from __future__ import annotations

import asyncio
import gc
import re
import shutil
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from structlog.testing import capture_logs

from tests.broker.mqtt_bench import RetryClock, connecting, session_of, settings
from tests.mosquitto import Mosquitto
from tests.security.authority import Authority, strict
from wheeld.broker.mqtt import FILES_CHECK_S
from wheeld.broker.settings import MqttSettings
from wheeld.broker.tls import TlsFiles, TlsFilesError, fault
from wheeld.ports import Publication


@pytest.fixture
def house(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def broker(tmp_path: Path, house: Authority) -> Iterator[Mosquitto]:
    with strict(tmp_path, house.issue("broker", server=True)) as running:
        yield running


def secured(port: int, files: TlsFiles, **more: object) -> MqttSettings:
    return settings(port, ca_file=files.ca_file, cert_file=files.cert_file, key_file=files.key_file, **more)


async def refusal(wanted: MqttSettings) -> str:
    """Why the first attempt failed. It leaves no socket behind: pytest fails a test in which one is collected."""
    with capture_logs() as logs:
        async with connecting(wanted) as (connection, clock):
            await clock.waiting()
            assert connection.counters["connections"] == 0
    gc.collect()
    (entry,) = logs
    assert entry["event"] == "broker.unreachable"
    return str(entry["why"])


def names_in(broker: Mosquitto) -> list[str]:
    """The users of the connections that the broker accepted, in order. It is stopped: its last lines are read then."""
    broker.stop()
    return [found[1] for line in broker.log if (found := re.search(r"as wheeld-3 \(.*u'([^']+)'", line))]


# --- let in, and kept out ----------------------------------------------------------------------------------------


async def test_a_client_certificate_is_the_name(broker: Mosquitto, house: Authority) -> None:
    wanted = secured(broker.port, house.issue("wheel-3"))
    async with connecting(wanted) as (connection, _):
        session = await session_of(connection)
        await connection.publish(Publication(topic="x", payload=b""), session=session)
    assert names_in(broker) == ["wheel-3"]


async def test_without_ca_file_the_authorities_of_the_computer_count(
    broker: Mosquitto, house: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(house.file))
    own = TlsFiles(None, *house.issue("wheel-3").named[1:])
    async with connecting(secured(broker.port, own)) as (connection, _):
        await session_of(connection)
    assert names_in(broker) == ["wheel-3"]


@pytest.mark.parametrize(
    ("days", "authority", "expected"),
    [
        (None, "house", "the broker asks for a client certificate: give cert_file and key_file"),
        (-1, "house", "the broker says that our certificate has expired: renew cert_file (check-config prints how)"),
        (30, "another", "the broker does not know the authority of our certificate"),
    ],
)
async def test_the_broker_refuses_us_and_we_name_the_cause_at_once(
    broker: Mosquitto, house: Authority, tmp_path: Path, days: int | None, authority: str, expected: str
) -> None:
    files = TlsFiles(ca_file=house.file)
    if days is not None:
        own = house if authority == "house" else Authority(tmp_path, authority)
        files = TlsFiles(house.file, *own.issue("wheel-3", days=days).named[1:])
    why = await refusal(secured(broker.port, files, publish_timeout_s=600.0))  # not by a time-out
    assert expected in why
    assert names_in(broker) == []


async def test_a_revoked_certificate_is_kept_out_and_another_is_not(tmp_path: Path, house: Authority) -> None:
    lost = house.issue("lost")
    own = house.issue("broker", server=True)
    with strict(tmp_path, own, f"crlfile {house.revoke(lost)}") as broker:
        why = await refusal(secured(broker.port, lost))
        assert "the broker says that our certificate is revoked: have a new cert_file issued" in why
        async with connecting(secured(broker.port, house.issue("wheel-3"))) as (connection, _):
            await session_of(connection)
    assert names_in(broker) == ["wheel-3"]


@pytest.mark.parametrize(
    ("days", "host", "authority", "expected"),
    [
        (-1, "127.0.0.1", "house", "the broker's certificate has expired: it has to be renewed at the broker"),
        (30, "127.0.0.1", "another", "the broker's certificate is not from an authority in ca_file"),
        (30, "127.0.0.2", "house", "the broker's certificate is for another address than `host`"),
    ],
)
async def test_we_refuse_a_broker_and_name_the_cause(
    house: Authority, tmp_path: Path, days: int, host: str, authority: str, expected: str
) -> None:
    theirs = house if authority == "house" else Authority(tmp_path, authority)
    with strict(tmp_path, theirs.issue("broker", server=True, days=days, host=host)) as broker:
        assert expected in await refusal(secured(broker.port, house.issue("wheel-3")))
        assert names_in(broker) == []


def test_names_for_errors_of_other_brokers_only() -> None:
    wrong = ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1)")
    assert "does not use TLS on this port" in fault(wrong)
    refused = "Multiple exceptions: [Errno 111] Connection refused ('::1', 1), Connection refused ('127.0.0.1', 1)"
    assert fault(OSError(refused)).startswith("no broker listens there: start it on its computer (`systemctl start")
    assert fault(OSError(113, "No route to host")) == ""


@pytest.mark.parametrize(
    ("host", "password", "warnings"), [("127.0.0.1", "x", 0), ("0.0.0.0", "x", 1), ("0.0.0.0", None, 0)]
)
async def test_a_password_without_tls_is_logged(tmp_path: Path, host: str, password: str | None, warnings: int) -> None:
    login: dict[str, Any] = {}
    if password is not None:
        (tmp_path / "password").write_text(password)
        login = {"username": "wheel", "password_file": tmp_path / "password"}
    with Mosquitto(tmp_path) as broker:
        wanted = settings(broker.port, host=host, **login)
        with capture_logs() as logs:
            async with connecting(wanted) as (connection, _):
                await session_of(connection)
    assert [log["event"] for log in logs].count("password.in_clear") == warnings


# --- renewed without a restart -----------------------------------------------------------------------------------


async def file_check(clock: RetryClock) -> None:
    """Until the connection waits before it looks at its files, then let it look."""
    assert await clock.waiting() == FILES_CHECK_S
    clock.go()


async def test_a_renewed_certificate_is_used_without_a_restart(broker: Mosquitto, house: Authority) -> None:
    with capture_logs() as logs:
        async with connecting(secured(broker.port, house.issue("wheel-3"))) as (connection, clock):
            assert await session_of(connection) == 1
            await file_check(clock)
            renewed = house.issue("renewed")
            assert renewed.cert_file is not None
            assert renewed.key_file is not None
            await file_check(clock)  # nothing has changed: nothing ends
            assert connection.is_connected
            shutil.move(renewed.key_file, renewed.key_file.with_name("wheel-3.key"))
            await file_check(clock)  # half a renewal: the connection stays
            await file_check(clock)  # and that is logged once
            assert connection.is_connected
            assert "do not belong together" in connection.not_renewed
            for begins, ends in ((-100, -1), (1, 30)):  # it has expired, or is not valid yet: the connection stays, too
                house.issue("wheel-3", begins=begins, days=ends)
                await file_check(clock)
                await file_check(clock)
                assert connection.is_connected
            renewed = house.issue("renewed")
            for file in (renewed.key_file, renewed.cert_file):
                assert file is not None
                shutil.move(file, file.with_name(f"wheel-3{file.suffix}"))
            assert await clock.waiting() == FILES_CHECK_S
            lost = asyncio.create_task(connection.lost(1))
            clock.go()
            await asyncio.wait_for(lost, 30)
            assert await session_of(connection) == 2
            await clock.waiting()  # the next look at the files: no wait before the new connection was needed
            assert connection.not_renewed == ""
    assert names_in(broker) == ["wheel-3", "renewed"]
    assert connection.counters["failures"] == 0
    events = [log["event"] for log in logs]
    assert events == ["broker.connected", *["tls.not_renewed"] * 3, "tls.renewed"]
    assert "do not belong together" in logs[1]["why"]
    assert "expired at " in logs[2]["why"]
    assert "is valid only from " in logs[3]["why"]


async def test_the_last_will_stays_silent_on_a_renewal(broker: Mosquitto, house: Authority) -> None:
    """Displays must not flicker: the old connection takes its leave in order."""
    async with connecting(secured(broker.port, house.issue("wheel-3"))) as (connection, clock):
        await session_of(connection)
        house.issue("wheel-3")
        lost = asyncio.create_task(connection.lost(1))
        await file_check(clock)
        await asyncio.wait_for(lost, 30)
        assert await session_of(connection) == 2
    broker.stop()
    published = [line for line in broker.log if "Received PUBLISH" in line and "availability" in line]
    assert len(published) == 3  # online, online, offline at the end: no will in between
    assert not [line for line in broker.log if "Sending Will" in line]


async def test_an_expired_certificate_recovers_when_it_is_renewed(broker: Mosquitto, house: Authority) -> None:
    wanted = secured(broker.port, house.issue("wheel-3", days=-1))
    with capture_logs() as logs:
        async with connecting(wanted) as (connection, clock):
            await clock.waiting()
            house.issue("wheel-3")
            clock.go()
            await session_of(connection)
    assert [log["event"] for log in logs] == ["broker.unreachable", "broker.connected"]


# --- files of no use ---------------------------------------------------------------------------------------------


def locked(files: TlsFiles) -> None:
    assert files.key_file is not None
    key = serialization.load_pem_private_key(files.key_file.read_bytes(), None)
    assert hasattr(key, "private_bytes")
    passphrase = serialization.BestAvailableEncryption(b"nobody types this")
    encoding, shape = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    files.key_file.write_bytes(key.private_bytes(encoding, shape, passphrase))


def test_files_that_make_no_context(tmp_path: Path, house: Authority) -> None:
    mine, other = house.issue("mine"), house.issue("other")
    rubbish = tmp_path / "rubbish"
    rubbish.write_text("not PEM")
    wrong = {
        "do not belong together": TlsFiles(house.file, mine.cert_file, other.key_file),
        "holds no certificate in PEM": TlsFiles(rubbish),
        "are not a certificate and its key in PEM": TlsFiles(house.file, rubbish, mine.key_file),
        "none cannot be read: No such file": TlsFiles(tmp_path / "none"),
        "none or key_file": TlsFiles(house.file, tmp_path / "none", mine.key_file),
    }
    for expected, files in wrong.items():
        with pytest.raises(TlsFilesError, match=expected):
            files.context()
    locked(mine)
    with pytest.raises(TlsFilesError, match="has a passphrase"):
        mine.context()


def test_old_versions_of_tls_are_refused() -> None:
    context = TlsFiles().context()
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2
    assert context.check_hostname
    assert context.verify_mode == ssl.CERT_REQUIRED


async def test_a_file_of_no_use_is_logged_and_tried_again(broker: Mosquitto, house: Authority, tmp_path: Path) -> None:
    files = house.issue("wheel-3")
    assert files.key_file is not None
    hidden = files.key_file.rename(tmp_path / "hidden")
    with capture_logs() as logs:
        async with connecting(secured(broker.port, files)) as (connection, clock):
            await clock.waiting()
            hidden.rename(files.key_file)
            clock.go()
            await session_of(connection)
    assert "cannot be read" in logs[0]["why"]
    assert connection.counters["failures"] == 1
