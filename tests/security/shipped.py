"""The broker that ships, as it ships: its files in a directory of the test, nothing else changed."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiomqtt

from tests.mosquitto import Mosquitto
from tests.security.authority import Authority

SAMPLES = Path(__file__).parents[2] / "systemd" / "mosquitto"
EYE = "the-eye"
"""A user that only the tests have: reads and publishes everything."""


class ShippedBroker(Mosquitto):
    """mosquitto with `wheeld.conf` and `wheeld.acl`, the latter with a second table, added as its head describes."""

    def __init__(self, directory: Path, house: Authority) -> None:
        self.house = house
        own = house.issue("broker", server=True)
        acl = directory / "wheeld.acl"
        acl.write_bytes((SAMPLES / "wheeld.acl").read_bytes())
        add_table(acl)
        acl.write_text(f"{acl.read_text()}\nuser {EYE}\ntopic readwrite #\ntopic read $SYS/#\n")
        self._places = {
            "/etc/mosquitto/certs/house-ca.crt": own.ca_file,
            "/etc/mosquitto/certs/broker.crt": own.cert_file,
            "/etc/mosquitto/certs/broker.key": own.key_file,
            "/etc/mosquitto/wheeld.acl": acl,
            "/var/lib/mosquitto/": f"{directory}/",
        }
        super().__init__(directory)

    def configure(self, *extra: str) -> None:
        """The shipped configuration at the test's port and places."""
        text = (SAMPLES / "wheeld.conf").read_text()
        for shipped, ours in self._places.items():
            assert shipped in text, shipped
            text = text.replace(shipped, str(ours))
        text, listeners = re.subn(r"(?m)^listener 8883$", f"listener {self.port} 127.0.0.1", text)
        assert listeners == 1
        lines = ["log_dest stderr", "log_type all", *(["user root"] if os.geteuid() == 0 else []), text]
        self._config.write_text("\n".join(lines))

    @asynccontextmanager
    async def client(self, name: str, **more: object) -> AsyncIterator[aiomqtt.Client]:
        """Connected with a certificate for `name`."""
        context = self.house.issue(name).context()
        version = aiomqtt.ProtocolVersion.V5
        async with aiomqtt.Client("127.0.0.1", self.port, tls_context=context, protocol=version, **more) as client:  # type: ignore[arg-type]
            yield client


def add_table(acl: Path) -> None:
    """Run the commands in the head of the file."""
    (command,) = re.findall(r"^#     (sed .+)$", acl.read_text(), re.MULTILINE)
    subprocess.run(["sh", "-ec", command], cwd=acl.parent, check=True)
