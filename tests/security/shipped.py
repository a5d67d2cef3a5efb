"""The broker that ships, as it ships, on Debian: beside that system's own configuration of mosquitto.

Only paths and the port are others. It is started as systemd starts it: it says by itself when it is ready, and changes
to the user `mosquitto` where it was started by root.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Self

import aiomqtt

from tests.mosquitto import READY_S_MAX, Mosquitto
from tests.security.authority import Authority
from wheeld.broker.acl import access_list
from wheeld.broker.roles import TableAccess

BY_HAND = Path(__file__).parents[2] / "docs" / "by-hand.md"
SAMPLES = BY_HAND.parents[1] / "systemd" / "mosquitto"
SITE, TABLES = "campione", ("campione-03", "campione-04")
TABLE_ACCESS = tuple(TableAccess.of(SITE, table) for table in TABLES)
EYE = "the-eye"
"""A user that only the tests have: reads and publishes everything."""

LOOKS_S = 0.05
"""So often it is looked whether it has ended, which it does not say."""
DEBIAN_12 = """\
# Place your local configuration in /etc/mosquitto/conf.d/
#
# A full description of the configuration file is at
# /usr/share/doc/mosquitto/examples/mosquitto.conf.example

pid_file /run/mosquitto/mosquitto.pid

persistence true
persistence_location /var/lib/mosquitto/

log_dest file /var/log/mosquitto/mosquitto.log

include_dir /etc/mosquitto/conf.d
"""
"""`/etc/mosquitto/mosquitto.conf` of mosquitto 2.0.11-1.2+deb12u2."""

DIRECTORIES = ("/run/mosquitto", "/var/lib/mosquitto", "/var/log/mosquitto", "/etc/mosquitto")
"""Those that the package and its unit make."""


class ShippedBroker(Mosquitto):
    """mosquitto with the files of `systemd/mosquitto` in `root`, a system's root directory of the test's own.

    The list is made for `tables`. `more`: a file for `conf.d` that a test adds.
    """

    def __init__(
        self, root: Path, house: Authority, more: str = "", tables: Sequence[TableAccess] = TABLE_ACCESS
    ) -> None:
        self.house, self.root = house, root
        etc = root / "etc" / "mosquitto"
        for name in (*DIRECTORIES, "/etc/mosquitto/conf.d", "/etc/mosquitto/certs"):
            Path(f"{root}{name}").mkdir(parents=True)
        own = house.issue("broker", server=True)
        assert own.ca_file is not None
        assert own.cert_file is not None
        assert own.key_file is not None
        for file, name in ((own.ca_file, "house-ca.crt"), (own.cert_file, "broker.crt"), (own.key_file, "broker.key")):
            shutil.copy(file, etc / "certs" / name)
        acl = access_list(tables)
        self.access_list = etc / "wheeld.acl"
        made = root / "wheeld.acl"
        made.write_text(f"{acl}\nuser {EYE}\ntopic readwrite #\ntopic read $SYS/#\n")
        subprocess.run([*by_hand(), made, self.access_list], check=True)
        if more:
            (etc / "conf.d" / "more.conf").write_text(more)
        super().__init__(etc)
        self._config = etc / "mosquitto.conf"

    def configure(self, *_: str) -> None:
        """The two configurations at the test's port and places."""
        etc = self.root / "etc" / "mosquitto"
        (etc / "mosquitto.conf").write_text(self._here(DEBIAN_12))
        text, listeners = re.subn(
            r"(?m)^listener 8883$",
            f"listener {self.port} 127.0.0.1",
            self._here((SAMPLES / "wheeld.conf").read_text()),
        )
        assert listeners == 1
        (etc / "conf.d" / "wheeld.conf").write_text(text)

    def _here(self, text: str) -> str:
        """With each path of the system below `root`."""
        return re.sub(r"(?m)^(\w+ (?:file )?)(/(?:run|var|etc)/)", rf"\1{self.root}\2", text)

    def start(self) -> Self:
        """Start it and return when it says that it is ready."""
        if os.geteuid() == 0:
            own = [f"{self.root}{name}" for name in ("/run", "/var", "/etc/mosquitto/certs")]
            subprocess.run(["chown", "-R", "mosquitto:", *own], check=True)
        program = shutil.which("mosquitto", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
        assert program is not None, "these tests need mosquitto: apt-get install mosquitto"
        address = self.root / "notify"
        address.unlink(missing_ok=True)
        environment = {**os.environ, "NOTIFY_SOCKET": str(address)}
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified, (self.root / "stderr").open("w") as stderr:
            notified.bind(str(address))
            address.chmod(0o777)
            notified.settimeout(LOOKS_S)
            self._process = subprocess.Popen(
                [program, "-c", str(self._config)], env=environment, stdin=subprocess.DEVNULL, stderr=stderr, text=True
            )
            self._await(notified)
        return self

    def _await(self, notified: socket.socket) -> None:
        """Until it is ready; when it ends instead, that fails with what it has said."""
        assert self._process is not None
        given_up_s = monotonic() + READY_S_MAX
        while self._process.poll() is None and monotonic() < given_up_s:
            with suppress(TimeoutError):
                if b"READY=1" in notified.recv(4096):
                    return
        self.kill()
        raise AssertionError(f"mosquitto did not start:\n{self.said}")

    @property
    def said(self) -> str:
        """Its log since it was started, and what it says of a configuration that it cannot use."""
        return (self.root / "stderr").read_text()

    def objections(self) -> list[str]:
        """What it has had against its files since it was started; this ends it."""
        self.kill()  # all is said by then, and mosquitto 2.0.11 ignores a SIGTERM that comes just behind its READY=1
        return re.findall(r".*(?:Error|Warning|Note|will refuse|deprecated).*", self.said)

    @asynccontextmanager
    async def client(self, name: str, **more: object) -> AsyncIterator[aiomqtt.Client]:
        """Connected with a certificate for `name`."""
        context = self.house.issue(name).context()
        version = aiomqtt.ProtocolVersion.V5
        async with aiomqtt.Client("127.0.0.1", self.port, tls_context=context, protocol=version, **more) as client:  # type: ignore[arg-type]
            yield client


def by_hand() -> list[str]:
    """What docs/by-hand.md gives the list to the broker with; for who is not root without the owners, as `start` is."""
    text = BY_HAND.read_text()
    (line,) = re.findall(r"^ {4}(install .+) wheeld\.acl /etc/mosquitto/wheeld\.acl$", text, re.MULTILINE)
    return shlex.split(line if os.geteuid() == 0 else re.sub(r"-[og] \w+ ", "", line))


@contextmanager
def system_root() -> Iterator[Path]:
    """A directory that every user may enter, as a system's root is: one of pytest's is its owner's alone."""
    with tempfile.TemporaryDirectory(prefix="wheeld-broker-") as name:
        path = Path(name)
        path.chmod(0o755)
        yield path
