"""The paths of the files of a wheel and of the house's broker. The unit and mosquitto's configuration use them too."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from wheeld.config.paths import CREDENTIAL
from wheeld.setup.computer import Computer


class Places(NamedTuple):
    """The files of the wheel `name` on a computer."""

    computer: Computer
    name: str

    @property
    def configurations(self) -> Path:
        """The directory with one configuration for each wheel."""
        return self.computer.at("etc/wheeld")

    @property
    def configuration(self) -> Path:
        """The configuration of this wheel."""
        return self.configurations / f"{self.name}.toml"

    @property
    def public_key(self) -> Path:
        """The public half of the signing key."""
        return self.configurations / f"{self.name}.pub"

    @property
    def pages(self) -> Path:
        """The options of the wheel's pages."""
        return self.computer.at("etc/wheeld-page") / self.name

    @property
    def monitor(self) -> Path:
        """The socket on which the wheel reports to its pages what the sensors see. It is never below `root`: the
        running wheel makes it, and the path of a socket must be short."""
        return Path(f"/run/wheeld/{self.name}.monitor")

    @property
    def certificate(self) -> Path:
        """The wheel's certificate for the broker."""
        return self.configurations / f"{self.name}.crt"

    @property
    def broker_authority(self) -> Path:
        """The certificate of a broker's authority, if setup did not make the broker."""
        return self.configurations / f"{self.name}.ca.crt"

    @property
    def secrets(self) -> Path:
        """The directory of the credentials of all units."""
        return self.computer.at("etc/credstore")

    def secret(self, credential: str) -> Path:
        """Return the file that the unit gives the wheel as `credential`."""
        return self.secrets / f"wheeld.{self.name}.{credential}"

    @property
    def copies(self) -> dict[str, tuple[str, Path]]:
        """For each file of `[mqtt]` that a person gives: what the configuration says, and the path of the wheel's copy,
        which the wheel can read."""
        return {
            "ca_file": (str(self.broker_authority), self.broker_authority),
            "cert_file": (str(self.certificate), self.certificate),
            "key_file": (f"{CREDENTIAL}mqtt-key", self.secret("mqtt-key")),
            "password_file": (f"{CREDENTIAL}mqtt-password", self.secret("mqtt-password")),
        }

    def source(self, name: str, given: str) -> Path:
        """Return the path of a given file. The answers may be the wheel's own configuration, which names the copy."""
        said, copy = self.copies[name]
        return copy if given == said else Path(given)

    @property
    def state(self) -> Path:
        """The directory of the journals."""
        return self.computer.at("var/lib/wheeld")

    @property
    def journal(self) -> Path:
        """The wheel's journal."""
        return self.state / f"{self.name}.sqlite"

    @property
    def line(self) -> Path:
        """The path of the line to a simulated board, as the unit of the simulated board names it."""
        return self.computer.at(f"run/wheeld-sim/{self.name}/line")


class BrokerPlaces(NamedTuple):
    """The files of the house's own broker."""

    computer: Computer

    @property
    def program(self) -> Path:
        """The program mosquitto, if it is installed."""
        return self.computer.at("usr/sbin/mosquitto")

    @property
    def configuration(self) -> Path:
        """Our configuration of mosquitto, in addition to Debian's."""
        return self.computer.at("etc/mosquitto/conf.d/wheeld.conf")

    @property
    def access_list(self) -> Path:
        """The access list."""
        return self.computer.at("etc/mosquitto/wheeld.acl")

    @property
    def authority(self) -> Path:
        """The certificate of the house's authority: the broker, the wheels and all devices read it."""
        return self.computer.at("etc/mosquitto/certs/house-ca.crt")

    @property
    def certificate(self) -> Path:
        """The broker's certificate."""
        return self.computer.at("etc/mosquitto/certs/broker.crt")

    @property
    def key(self) -> Path:
        """The broker's key."""
        return self.computer.at("etc/mosquitto/certs/broker.key")

    @property
    def house(self) -> Path:
        """The directory of the authority's key, and of the files that are carried to the devices."""
        return self.computer.at("etc/wheeld/house")

    @property
    def authority_key(self) -> Path:
        """The authority's key. It can make a certificate for anybody."""
        return self.house / "authority.key"

    @property
    def key_of_house(self) -> Path:
        """The key of the authority that `wheeld-house setup` makes. If this file exists, this is the computer of a
        house."""
        return self.computer.at("etc/wheeld-house/authority.key")

    def user_certificate(self, user: str) -> Path:
        """Return the path of a device's certificate."""
        return self.house / f"{user}.crt"

    def user_key(self, user: str) -> Path:
        """Return the path of a device's key."""
        return self.house / f"{user}.key"
