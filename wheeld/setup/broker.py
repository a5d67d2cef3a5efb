"""Steps for the house's own broker (mosquitto) on this computer: the authority, all certificates, the access list."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import resources
from pathlib import Path

from cryptography.x509 import ExtensionNotFound

from wheeld import certificates
from wheeld.broker.roles import ROLES, RoleName, TableAccess
from wheeld.core.catalogue import Text, translatable
from wheeld.setup import pages, steps
from wheeld.setup.access import configured, list_for, lost
from wheeld.setup.computer import Computer, SetupError
from wheeld.setup.places import BrokerPlaces, Places
from wheeld.setup.steps import Action, Put, SetupStep, looked

HERE = ("localhost", "127.0.0.1")
"""The names by which the wheels of this computer reach the broker."""
UNIT = "mosquitto.service"
RESTART = ("systemctl", "restart", UNIT)
"""The broker must never be reloaded: SIGHUP corrupts the memory of mosquitto 2.0.11 (Debian 12) while a client with a
certificate is disconnected and its session is kept. The broker disconnects that client again, and its session is then
twice in the list of expiring sessions. When the client returns, or its session expires, one of the two entries points
to freed memory, and the broker crashes for every table. After a restart all clients connect again within two seconds,
and stored messages stay."""
_WRONG = (
    translatable("it is not the certificate of {name}"),
    translatable("it does not belong to its key"),
    translatable("another authority issued it"),
    translatable("it or its key cannot be read, or another authority issued it"),
    translatable("the key is missing"),
    translatable("by this computer's clock it is not valid yet"),
    translatable("it has expired"),
    translatable("it expires soon"),
)
"""The reasons that `certificates.judged` returns."""


def hosts_known(computer: Computer) -> tuple[str, ...]:
    """Return the names and addresses that the authority of this computer's broker allows, or else those in the broker's
    certificate. Empty if there is neither of the two, or if this user cannot read them."""
    broker = BrokerPlaces(computer)
    for certificate in (broker.authority, broker.certificate):
        with suppress(PermissionError, ValueError, ExtensionNotFound):
            return certificates.hosts_of(computer.read(certificate) or b"")
    return ()


def broker_steps(
    places: Places,
    site: str,
    table: str,
    users: Mapping[str, RoleName],
    hosts: Sequence[str],
    now: datetime.datetime,
) -> Iterator[SetupStep]:
    """Yield the steps for a broker of this wheel and of the other wheels configured here. Raises SetupError."""
    broker = BrokerPlaces(places.computer)
    maker = _Certificates(places, broker, hosts_known(places.computer) or tuple(dict.fromkeys((*hosts, *HERE))), now)
    put = Put(broker.configuration, 0o644, shipped)
    otherwise = Text("compare it with the file of this version")
    configuration = steps.text(broker.computer, put, Text("the broker's configuration"), otherwise)
    of_key = Put(broker.authority_key, 0o600, certificates.new_key)
    made = [
        looked(
            lambda: steps.directory(broker.computer, broker.house, 0o700, "root", Text("the files for the devices")),
            broker.house,
        ),
        # Only root may read this key: with it a person can make a certificate of any role.
        looked(
            lambda: steps.secret(broker.computer, of_key, Text("the key of the house's authority")),
            broker.authority_key,
        ),
        looked(maker.of_authority, broker.authority),
        maker.of_broker(),
        configuration,
    ]
    yield from made
    yield maker.of_wheel(ROLES[0].user(table))
    for role in ROLES[1:]:
        yield maker.of_pages(role.user(table)) if role.name == "page" else maker.of_device(role.user(table))
    yield from pages.steps_of(places, broker.authority, site, table)
    listed = looked(lambda: _access_list(places, broker, TableAccess.of(site, table, users)), broker.access_list)
    closed = [] if listed.does else list(_closed(broker))
    yield from (listed, *closed)
    if not broker.computer.is_enabled(UNIT):
        yield steps.command(("systemctl", "enable", UNIT), Text("starts the broker at each boot"))
    files = (broker.configuration, broker.authority, broker.certificate, broker.key, broker.access_list)
    if broker.computer.is_unread(UNIT, files) or any(step.does for step in (*made, listed, *closed)):
        yield steps.command(RESTART, Text("starts the broker, which then reads its files"))


class _Certificates:
    """Steps that make certificates and their keys. An existing certificate stays until it must be renewed: shortly
    before it expires, or when its key is lost."""

    def __init__(self, places: Places, broker: BrokerPlaces, hosts: tuple[str, ...], now: datetime.datetime) -> None:
        self.places, self.broker = places, broker
        self._hosts, self._now = hosts, now

    def of_authority(self) -> SetupStep:
        broker, read = self.broker, self.places.computer.read
        key, found = read(broker.authority_key), read(broker.authority)
        if found is None:
            put = Put(
                broker.authority,
                0o644,
                lambda: certificates.authority(broker.authority_key.read_bytes(), self._hosts, self._now),
            )
            return SetupStep(
                action=Action.MAKE,
                what=str(put.path),
                why=Text("the certificate of the house's authority"),
                files=(put,),
            )
        if key is None:
            files = {"certificate": str(broker.authority), "key": str(broker.authority_key)}
            raise SetupError(
                Text(
                    "{certificate} exists, but its key {key} does not. Have a certificate made by the person who "
                    "keeps this key, and give it with --broker, --ca-file, --cert-file and --key-file",
                    files,
                )
            )
        about = Text("the certificate of the house's authority")
        return SetupStep(action=Action.STAYS, what=str(broker.authority), why=about)

    def of_broker(self) -> SetupStep:
        key, certificate = (Put(self.broker.key, 0o640, certificates.new_key, "mosquitto"), self.broker.certificate)
        why = Text("certificate and key of the broker, for {names}", {"names": ", ".join(self._hosts)})
        return self._step(key, Put(certificate, 0o644, bytes), "broker", why, self._hosts)

    def of_wheel(self, user: str) -> SetupStep:
        key = Put(self.places.secret("mqtt-key"), 0o600, certificates.new_key)
        about = Text("certificate and key of the wheel: {user}", {"user": user})
        return self._step(key, Put(self.places.certificate, 0o644, bytes), user, about)

    def of_pages(self, user: str) -> SetupStep:
        """Return the step for key and certificate of the pages. They run on this computer, and systemd gives them both
        files."""
        key = Put(self.places.secret("page-key"), 0o600, certificates.new_key)
        about = Text("certificate and key of its pages: {user}", {"user": user})
        return self._step(key, Put(self.places.secret("page-certificate"), 0o600, bytes), user, about)

    def of_device(self, user: str) -> SetupStep:
        key = Put(self.broker.user_key(user), 0o600, certificates.new_key)
        certificate = Put(self.broker.user_certificate(user), 0o600, bytes)
        return self._step(key, certificate, user, Text("carry both files to the device"))

    def _step(self, key: Put, certificate: Put, name: str, why: Text, hosts: Sequence[str] = ()) -> SetupStep:
        return looked(lambda: self._judged(key, certificate, name, why, hosts), certificate.path)

    def _judged(self, key: Put, certificate: Put, name: str, why: Text, hosts: Sequence[str]) -> SetupStep:
        read = self.places.computer.read
        found, has_key = read(certificate.path), read(key.path)
        issuer = certificates.issuer_of(
            read(self.broker.authority), read(self.broker.authority_key), self._hosts, self._now
        )
        verdict, told = certificates.judged(found, has_key, name, issuer, self._now)
        what, reason = f"{certificate.path}, {key.path.name}", Text(told, {"name": name})
        if verdict == "stays":
            return SetupStep(action=Action.STAYS, what=what, why=why)
        if verdict == "differs":
            again = Text("{wrong}; move certificate and key away, and setup makes new ones", {"wrong": reason})
            return SetupStep(action=Action.DIFFERS, what=what, why=again)
        fresh = certificate._replace(make=partial(self._issued, key.path, name, hosts))
        files = (key, fresh) if has_key is None else (fresh,)
        if verdict == "make":
            return SetupStep(action=Action.MAKE, what=what, why=why, files=files)
        renewed = Text("{first}; {second}", {"first": reason, "second": why})
        return SetupStep(action=Action.REPLACE, what=what, why=renewed, files=files)

    def _issued(self, key: Path, name: str, hosts: Sequence[str]) -> bytes:
        by = (self.broker.authority.read_bytes(), self.broker.authority_key.read_bytes())
        return certificates.issue(key.read_bytes(), name, by, self._now, hosts)


def shipped() -> bytes:
    """Return the configuration of mosquitto that comes with this program: `systemd/mosquitto/wheeld.conf`."""
    return resources.files("wheeld.setup").joinpath("mosquitto.conf").read_bytes()


def _access_list(places: Places, broker: BrokerPlaces, own: TableAccess) -> SetupStep:
    """Return a step that adds missing tables to the list, but leaves the list as it is if a user would lose a right."""
    others = {path: wheel.table for path, wheel in configured(places).items()}
    # An existing configuration may give roles to user names that are not in the answers.
    own = others.pop(places.configuration, own)
    found = places.computer.read(broker.access_list)
    before = (found or b"").decode(errors="replace")
    after = list_for([*others.values(), own], before)
    put = _list_of(broker, after.encode)
    why = Text("who may do what, at every table of this computer")
    if found is None:
        return SetupStep(action=Action.MAKE, what=str(put.path), why=why, files=(put,))
    if before == after:
        return SetupStep(action=Action.STAYS, what=str(put.path), why=why)
    if gone := lost(before, after):
        why = Text(
            "contains a right that the new list would not contain ({right}); make the list by hand: {command}",
            {"right": f'"{gone[0]}"', "command": "wheeld acl --help"},
        )
        return SetupStep(action=Action.DIFFERS, what=str(put.path), why=why)
    return SetupStep(action=Action.REPLACE, what=str(put.path), why=why, files=(put,))


def _list_of(broker: BrokerPlaces, make: Callable[[], bytes]) -> Put:
    """Return the list's file, for mosquitto alone: 2.0.21 warns if others may use it, later versions refuse it."""
    return Put(broker.access_list, 0o600, make, group="mosquitto", owner="mosquitto")


def _closed(broker: BrokerPlaces) -> Iterator[SetupStep]:
    """Yield a step that closes the list to everybody except the broker. Earlier versions of setup, or people, may have
    left it open."""
    put = _list_of(broker, broker.access_list.read_bytes)
    with suppress(PermissionError):  # the step for the access list already says that only root can see it
        if not broker.computer.has_access(put.path, mode=put.mode, owner=put.owner, group=put.group):
            why = Text("for the broker alone: later versions of mosquitto refuse a list that others may use")
            yield SetupStep(action=Action.REPLACE, what=str(put.path), why=why, files=(put,))
