"""The shipped configuration on a stock Debian: beside that system's own, with only paths and the port replaced."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.security.authority import Authority
from tests.security.shipped import DEBIAN_12, EYE, ShippedBroker, system_root

OWN = Path("/etc/mosquitto/mosquitto.conf")


@pytest.fixture
def root() -> Iterator[Path]:
    with system_root() as path:
        yield path


def packaged_digest() -> str | None:
    """The MD5 of that file as the package has it; None where mosquitto is not the one of Debian 12."""
    if shutil.which("dpkg-query") is None:
        return None
    wanted = ["dpkg-query", "--show", "--showformat=${Version}${Conffiles}", "mosquitto"]
    found = subprocess.run(wanted, capture_output=True, text=True, check=False).stdout
    digest = re.search(rf"{OWN} (\w+)", found)
    return digest[1] if digest is not None and found.startswith("2.0.11-1.2+deb12") else None


@pytest.mark.skipif(packaged_digest() is None, reason="mosquitto is not the one of Debian 12")
def test_debian_s_own_file_is_the_one_of_the_tests() -> None:
    digest = hashlib.md5(DEBIAN_12.encode(), usedforsecurity=False).hexdigest()
    assert digest == packaged_digest()


async def test_it_starts_and_lets_certificates_in(root: Path, tmp_path: Path) -> None:
    house = Authority(tmp_path)
    with ShippedBroker(root, house) as broker:
        async with broker.client(EYE) as eye, broker.client("chef-campione-03") as chef:
            topic = "wheel/v1/campione/campione-03/cmd/chef-campione-03/rien_va"
            await eye.subscribe("wheel/#", qos=1)
            await chef.publish(topic, b"{}", qos=1)
            assert (await anext(aiter(eye.messages))).topic.value == topic
        assert (root / "run/mosquitto/mosquitto.pid").exists()
        assert broker.objections() == []


@pytest.mark.parametrize("mode", [0o604, 0o644])
def test_a_list_that_others_may_read_is_objected_to(root: Path, tmp_path: Path, mode: int) -> None:
    """Else the test above would prove nothing. mosquitto 2.0.11 does not look."""
    with ShippedBroker(root, Authority(tmp_path)) as broker:
        broker.kill()
        broker.access_list.chmod(mode)
        objected = broker.start().objections()
    assert any("world readable" in line for line in objected) == ("version 2.0.11" not in broker.said)


async def test_it_stores_all_at_an_orderly_end_and_not_at_each_change(root: Path, tmp_path: Path) -> None:
    """Debian's file turns persistence on; ours says how often. What is stored survives its death."""
    topic, stored = "wheel/v1/campione/campione-03/table", root / "var/lib/mosquitto/mosquitto.db"
    with ShippedBroker(root, Authority(tmp_path)) as broker:
        async with broker.client("wheel-campione-03") as wheel:
            for number in range(200):
                await wheel.publish(topic, b"%d" % number, qos=1, retain=True)
        assert not stored.exists(), "a flood would have it stored all the time"
        broker.stop()
        broker.start().kill()
        broker.start()
        async with broker.client(EYE) as eye:
            await eye.subscribe(topic, qos=1)
            assert (await anext(aiter(eye.messages))).payload == b"199"


@pytest.mark.parametrize("twice", ["persistence_location /var/lib/mosquitto/", "pid_file /run/mosquitto.pid"])
def test_a_place_that_is_said_twice_is_found(root: Path, tmp_path: Path, twice: str) -> None:
    """Else this file would prove nothing."""
    with pytest.raises(AssertionError, match=r"Duplicate ['\"]?\w+['\"]? value"):
        ShippedBroker(root, Authority(tmp_path), more=f"{twice}\n").start()
