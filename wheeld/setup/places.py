"""Where the files of a wheel and of a house's broker stand. The unit and mosquitto's configuration name the same."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

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
        """The wheel's own."""
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
        """The socket on which the wheel tells its pages what the sensors see. It is made when the wheel runs, so it has
        its place also where setup writes elsewhere; a longer path would name no socket."""
        return Path(f"/run/wheeld/{self.name}.monitor")

    @property
    def certificate(self) -> Path:
        """The wheel's certificate for the broker."""
        return self.configurations / f"{self.name}.crt"

    @property
    def broker_authority(self) -> Path:
        """The authority of a broker that was there before."""
        return self.configurations / f"{self.name}.ca.crt"

    @property
    def secrets(self) -> Path:
        """The directory of the credentials of all units."""
        return self.computer.at("etc/credstore")

    def secret(self, credential: str) -> Path:
        """The file that the unit gives the wheel as `credential`."""
        return self.secrets / f"wheeld.{self.name}.{credential}"

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
        """Where a simulated board is, by its unit."""
        return self.computer.at(f"run/wheeld-sim/{self.name}/line")


class BrokerPlaces(NamedTuple):
    """The files of the house's own broker."""

    computer: Computer

    @property
    def program(self) -> Path:
        """There when mosquitto is installed."""
        return self.computer.at("usr/sbin/mosquitto")

    @property
    def configuration(self) -> Path:
        """Ours, beside Debian's own."""
        return self.computer.at("etc/mosquitto/conf.d/wheeld.conf")

    @property
    def access_list(self) -> Path:
        """Who may do what."""
        return self.computer.at("etc/mosquitto/wheeld.acl")

    @property
    def authority(self) -> Path:
        """The certificate of the house's authority: the broker, the wheels and all devices read it."""
        return self.computer.at("etc/mosquitto/certs/house-ca.crt")

    @property
    def certificate(self) -> Path:
        """The broker's own."""
        return self.computer.at("etc/mosquitto/certs/broker.crt")

    @property
    def key(self) -> Path:
        """Its key."""
        return self.computer.at("etc/mosquitto/certs/broker.key")

    @property
    def house(self) -> Path:
        """The directory of the authority's key, and of what is carried to the devices."""
        return self.computer.at("etc/wheeld/house")

    @property
    def authority_key(self) -> Path:
        """Who has it can make a certificate for everybody."""
        return self.house / "authority.key"

    def user_certificate(self, user: str) -> Path:
        """Of a device."""
        return self.house / f"{user}.crt"

    def user_key(self, user: str) -> Path:
        """Its key."""
        return self.house / f"{user}.key"
