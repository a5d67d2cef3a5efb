"""The broker that setup makes: who has a certificate of the house comes in, under its own name, and nobody else."""

from __future__ import annotations

import asyncio
import datetime
import os
import re
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiomqtt
import pytest
from cryptography import x509
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from tests.mosquitto import free_port
from tests.security.authority import Authority
from tests.security.shipped import DEBIAN_12, ShippedBroker, system_root
from tests.setup.bench import SIMULATED, BareComputer, set_up
from wheeld import certificates
from wheeld.broker.roles import ROLES
from wheeld.broker.tls import TlsFiles
from wheeld.setup.places import BrokerPlaces, Places

ROOT_TOPIC = "wheel/v1/bench/bench-01/"
ROUNDS = int(os.environ.get("WHEELD_ROUNDS", "2"))
SESSION_S = 1
"""How long the broker keeps the wheel's session in the rounds: it also ends in one of them."""


class MadeBroker(ShippedBroker):
    """mosquitto with the files that setup has made below `root`; only the port and the paths' root are others."""

    def __init__(self, root: Path) -> None:
        self.root, self.port = root, free_port()
        etc = root / "etc/mosquitto"
        for name in ("run/mosquitto", "var/lib/mosquitto", "var/log/mosquitto"):
            (root / name).mkdir(parents=True, exist_ok=True)
        self._shipped = etc / "conf.d/wheeld.conf"
        self._config, self._process, self._reader = etc / "mosquitto.conf", None, None
        self.configure_made(self._shipped.read_text())

    def configure_made(self, text: str) -> None:
        self._config.write_text(self._here(DEBIAN_12))
        here, listeners = re.subn(r"(?m)^listener 8883$", f"listener {self.port} 127.0.0.1", self._here(text))
        assert listeners == 1
        self._shipped.write_text(here)


@pytest.fixture(scope="module")
def computer() -> Iterator[BareComputer]:
    """Set up now: the broker reads the clock."""
    with system_root() as root:
        made = BareComputer(root / "root")
        set_up(made, *SIMULATED, now=datetime.datetime.now(datetime.UTC))
        yield made


@pytest.fixture(scope="module")
def broker(computer: BareComputer) -> Iterator[MadeBroker]:
    with MadeBroker(computer.root) as running:
        yield running


def files_of(computer: BareComputer, user: str) -> TlsFiles:
    places, made = Places(computer, "bench-01"), BrokerPlaces(computer)
    is_wheel = user.startswith("wheel-")
    key = places.secret("mqtt-key") if is_wheel else made.user_key(user)
    return TlsFiles(made.authority, places.certificate if is_wheel else made.user_certificate(user), key)


def connected(
    broker: MadeBroker, files: TlsFiles, host: str = "localhost", timeout_s: float = 10, **more: Any
) -> aiomqtt.Client:
    version = aiomqtt.ProtocolVersion.V5
    return aiomqtt.Client(host, broker.port, tls_context=files.context(), protocol=version, timeout=timeout_s, **more)


def test_it_objects_to_none_of_its_files() -> None:
    """A broker of its own: this ends it."""
    with system_root() as root:
        made = BareComputer(root / "root")
        set_up(made, *SIMULATED, now=datetime.datetime.now(datetime.UTC))
        with MadeBroker(made.root) as broker:
            assert broker.objections() == []


class RunningComputer(BareComputer):
    """One whose commands to the broker are carried out."""

    broker: MadeBroker | None = None

    def run(self, *command: str) -> None:
        super().run(*command)
        if self.broker is not None and command[-1] == "mosquitto.service" and "enable" not in command:
            assert command == ("systemctl", "restart", "mosquitto.service"), "a signal kills mosquitto 2.0.11"
            self.broker.stop()
            self.broker.start()


async def test_the_broker_survives_every_further_wheel_while_one_is_away() -> None:
    """Debian's own mosquitto. WHEELD_ROUNDS=50 sets up so many further wheels. What came for the wheel that is away
    waits for it over the restart."""
    with system_root() as root:
        computer = RunningComputer(root / "root")
        set_up(computer, *SIMULATED, now=datetime.datetime.now(datetime.UTC))
        with MadeBroker(computer.root) as broker:
            computer.broker = broker
            wheel, chef = (files_of(computer, name) for name in ("wheel-bench-01", "chef-bench-01"))
            topic, kept = f"{ROOT_TOPIC}cmd/chef-bench-01/open", Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
            kept.SessionExpiryInterval = SESSION_S
            for number in range(2, ROUNDS + 2):
                async with connected(broker, wheel, clean_start=False, properties=kept) as client:
                    await client.subscribe(topic, qos=1)
                async with connected(broker, chef) as client:
                    await client.publish(topic, b"%d" % number, qos=1)
                set_up(computer, f"bench-{number:02}", "--simulated", "--house-broker")
                assert broker.is_running, number
                async with asyncio.timeout(20), connected(broker, wheel, clean_start=False, properties=kept) as client:
                    assert (await anext(aiter(client.messages))).payload == b"%d" % number
                ended = "Expiring client wheel-bench-01 due to timeout."
                async with asyncio.timeout(20):
                    while ended not in broker.said:
                        assert broker.is_running, number
                        await asyncio.sleep(0.05)
            assert computer.commands.count("systemctl restart mosquitto.service") == ROUNDS + 1


async def test_the_wheel_publishes_and_the_table_system_receives(broker: MadeBroker, computer: BareComputer) -> None:
    wheel, system = files_of(computer, "wheel-bench-01"), files_of(computer, "table-system-bench-01")
    async with asyncio.timeout(20), connected(broker, system, "127.0.0.1") as reads, connected(broker, wheel) as writes:
        await reads.subscribe(f"{ROOT_TOPIC}result", qos=1)
        await writes.publish(f"{ROOT_TOPIC}result", b"{}", qos=1)
        assert (await anext(aiter(reads.messages))).topic.value == f"{ROOT_TOPIC}result"


async def test_a_display_gives_no_command(broker: MadeBroker, computer: BareComputer) -> None:
    """Only the chef's own arrives."""
    topic = f"{ROOT_TOPIC}cmd/chef-bench-01/open"
    display, chef, auditor = (files_of(computer, name) for name in ("display-bench-01", "chef-bench-01", "auditor"))
    async with asyncio.timeout(20), connected(broker, auditor) as reads:
        await reads.subscribe(topic, qos=1)
        for files, payload in ((display, b"display"), (chef, b"chef")):
            async with connected(broker, files) as writes:
                await writes.publish(topic, payload, qos=1)
        assert (await anext(aiter(reads.messages))).payload == b"chef"


async def test_a_stranger_stays_outside(broker: MadeBroker, computer: BareComputer, tmp_path: Path) -> None:
    house = BrokerPlaces(computer).authority
    stranger = Authority(tmp_path, "house").issue("wheel-bench-01")
    for files in (TlsFiles(house), TlsFiles(house, stranger.cert_file, stranger.key_file)):
        with pytest.raises(aiomqtt.MqttError):
            # One that is refused waits for the end of this time: the broker hangs up behind the handshake.
            async with connected(broker, files, timeout_s=2) as client:
                await client.subscribe(f"{ROOT_TOPIC}result", qos=1)


def test_every_certificate_verifies_with_its_name(computer: BareComputer) -> None:
    made = BrokerPlaces(computer)
    found = {}
    places = Places(computer, "bench-01")
    for path in (*made.house.glob("*.crt"), places.certificate, places.secret("page-certificate")):
        verify = [
            "openssl",
            "verify",
            "-x509_strict",
            "-purpose",
            "sslclient",
            "-CAfile",
            str(made.authority),
            str(path),
        ]
        subprocess.run(verify, check=True, capture_output=True)
        (name,) = x509.load_pem_x509_certificate(path.read_bytes()).subject
        found[name.value] = path.stem.removeprefix("wheeld.")
    assert set(found) == {role.user("bench-01") for role in ROLES}
    assert all(stem in (name, "bench-01") for name, stem in found.items())


@pytest.mark.parametrize(("host", "code"), [("localhost", 0), ("wheel-pc", 0), ("other.example", 2)])
def test_the_broker_is_known_under_its_names_only(computer: BareComputer, host: str, code: int) -> None:
    made = BrokerPlaces(computer)
    verify = ["openssl", "verify", "-x509_strict", "-purpose", "sslserver", "-verify_hostname", host,
              "-CAfile", str(made.authority), str(made.certificate)]  # fmt: skip
    assert subprocess.run(verify, check=False, capture_output=True).returncode == code


def test_who_steals_the_authority_s_key_can_be_no_other_server(computer: BareComputer, tmp_path: Path) -> None:
    made, now = BrokerPlaces(computer), datetime.datetime.now(datetime.UTC)
    by = (made.authority.read_bytes(), made.authority_key.read_bytes())
    key, stolen = certificates.new_key(), tmp_path / "stolen.crt"
    for host, code in (("bank.example", 2), ("10.0.0.1", 2), ("localhost", 0)):
        stolen.write_bytes(certificates.issue(key, "broker", by, now, (host,)))
        verify = ["openssl", "verify", "-CAfile", str(made.authority), str(stolen)]
        assert subprocess.run(verify, check=False, capture_output=True).returncode == code, host


def test_a_device_cannot_pretend_to_be_the_broker(computer: BareComputer) -> None:
    made = BrokerPlaces(computer)
    files = (str(made.authority), str(made.user_certificate("auditor")))
    verify = ["openssl", "verify", "-purpose", "sslserver", "-CAfile", *files]
    assert subprocess.run(verify, check=False, capture_output=True).returncode == 2


def test_python_accepts_the_authority_strictly(computer: BareComputer) -> None:
    """Later versions of Python verify so by default."""
    context = ssl.create_default_context(cafile=str(BrokerPlaces(computer).authority))
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    assert context.cert_store_stats()["x509_ca"] == 1
