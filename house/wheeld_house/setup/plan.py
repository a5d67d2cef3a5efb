"""The plan for the computer of a house: database, broker, settings, one more wheel, and the services.

What exists stays. A wheel is added at the end of three files: the collector's settings, the access list of the house's
broker, and the bridge file of the wheel's cabinet. So what people changed in these files stays, too.
"""

from __future__ import annotations

import datetime
import re
import socket
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import msgspec
from cryptography.x509 import ExtensionNotFound

from wheeld import certificates
from wheeld_house.migrate import newest
from wheeld_house.settings import HouseWheel, SettingsError, read_settings
from wheeld_house.setup.computer import DIFFERS, STAYS, HouseComputer, HouseStep

DATABASE, OWNER, COLLECTOR, PAGE = "house", "house_owner", "wheeld-house", "wheeld-house-page"
"""The database, the role that owns it, and the users of the two services. Each user has a role with the same name."""
LOGINS = ((COLLECTOR, "wheeld_collector"), (PAGE, "wheeld_page"), ("settlement", "wheeld_reader"))
"""Roles that may log in, each with the role whose rights it gets. They have no password: PostgreSQL asks the operating
system for the name of the user (peer authentication)."""
STATE = """
select 'database ' || datname from pg_database
union all select 'role ' || rolname from pg_roles
union all select m.rolname || ' in ' || g.rolname
from pg_auth_members a join pg_roles m on m.oid = a.member join pg_roles g on g.oid = a.roleid
"""
HERE = ("localhost", "127.0.0.1")
"""The names by which the collector reaches the broker."""
READ, ASKS = ("result", "void", "ruling", "table", "notice", "reply"), "cmd/collector/resend"
"""The topics that the collector reads of each wheel, and the only topic on which it publishes."""
MOSQUITTO, COLLECT_UNIT, PAGE_UNIT = "mosquitto.service", "wheeld-house-collect.service", "wheeld-house-page.service"
SAMPLE = "wheel/v1/campione/campione-03"
"""The table in the bridge file that comes with this program."""


class NewWheel(msgspec.Struct, frozen=True, kw_only=True):
    """A wheel to be added. `key`: its public key, the content of a PEM file. None if this computer has the file."""

    site: str
    table: str
    cabinet: str
    key: bytes | None = None
    test: bool = False

    @property
    def name(self) -> str:
        """The site and the table: SITE/TABLE."""
        return f"{self.site}/{self.table}"


class _File(NamedTuple):
    """A file to be written, and who may use it."""

    path: Path
    mode: int
    owner: str = "root"
    group: str = "root"


class HousePlan:
    """Finds the present state, and the steps that lead to the needed state. To make a plan changes nothing: only `do`
    of a step makes a change."""

    def __init__(self, computer: HouseComputer, now: datetime.datetime) -> None:
        self.computer, self._now = computer, now
        at = computer.at
        self.folder = at("etc/wheeld-house")
        self.collector, self.page = self.folder / "collector.toml", self.folder / "page.toml"
        self.cabinets = self.folder / "cabinets"
        self._authority_key = self.folder / "authority.key"
        self._certs, self._list = at("etc/mosquitto/certs"), at("etc/mosquitto/wheeld.acl")
        self._broker_settings = at("etc/mosquitto/conf.d/wheeld.conf")
        self._hosts: tuple[str, ...] = ()
        """All names of the broker."""
        self._authority, self._certificate = self._certs / "house-ca.crt", self._certs / "broker.crt"

    def wheels(self) -> Sequence[HouseWheel]:
        """Return the wheels in the collector's settings. Raises SettingsError."""
        return read_settings(self.collector).wheels if self.collector.exists() else ()

    def cabinet_of(self, wheel: str) -> str | None:
        """Return the cabinet of a wheel (SITE/TABLE) from the access list. None if the list does not have the wheel."""
        listed = (self.computer.read(self._list) or b"").decode(errors="replace")
        found = re.search(rf"^# --- {re.escape(wheel)}, in (\S+)$", listed, re.MULTILINE)
        return found[1] if found else None

    def cabinet_names(self) -> list[str]:
        """Return the cabinets that have files on this computer."""
        return sorted(path.name for path in self.cabinets.iterdir()) if self.cabinets.is_dir() else []

    def hosts(self) -> tuple[str, ...]:
        """Return the names in the broker's certificate, or else those that the authority allows. Empty without both.
        Cabinets use the first name. Raises SettingsError."""
        for certificate, mend in (
            (self._certificate, "move it and its key away, and setup makes new ones"),
            (self._authority, "put your copy of it back, because every login of the house depends on it"),
        ):
            if (found := self.computer.read(certificate)) is not None:
                try:
                    return certificates.hosts_of(found)
                except (ValueError, ExtensionNotFound):
                    raise SettingsError(f"{certificate} does not say which broker it is for: {mend}") from None
        return ()

    def key_of(self, table: str) -> Path:
        """Return the file of a wheel's public key."""
        return self.folder / f"{table}.pub"

    def steps(self, hosts: Sequence[str], wheel: NewWheel | None) -> list[HouseStep]:
        """Return all steps. `hosts`: the names by which cabinets reach the broker. Raises OSError, SettingsError."""
        self._hosts = hosts = tuple(dict.fromkeys((*hosts, *HERE)))
        broker = [*self._broker(hosts)]
        plan = [self._directory(self.folder, 0o755, "settings and keys"), *self._database(), *broker]
        key = _File(self.folder / "collector.key", 0o640, group=COLLECTOR)
        why = "certificate and key of the collector"
        plan.append(login := self._issued(key, self.folder / "collector.crt", "collector", why))
        keys = [] if wheel is None else [*self._key(wheel)]
        if wheel is not None:
            broker.append(self._rights(wheel))
            plan += [*keys, broker[-1]]
        plan += [*self._cabinets(wheel, hosts[0]), settings := self._settings(wheel)]
        text = f"""\
# The fleet page of the house, written by `wheeld-house setup`. It is for this computer alone: docs/house-page.md says
# how others get in. After a change: systemctl restart {PAGE_UNIT}
database = "dbname={DATABASE} user={PAGE}"
"""
        plan.append(page := self._made(_File(self.page, 0o640, group=PAGE), text.encode, "the settings of the page"))
        read = (self._broker_settings, self._authority, self._certificate, self._certs / "broker.key", self._list)
        plan += self._service(MOSQUITTO, read, broker)
        known = (self.key_of(each.table) for each in self.wheels())
        own = (self.collector, self.folder / "collector.crt", *known)
        plan += self._service(COLLECT_UNIT, own, [login, settings, *keys])
        plan += self._service(PAGE_UNIT, (self.page,), [page])
        return plan

    def check(self) -> None:
        """Raise SettingsError if this computer lacks something, or has the broker of a cabinet."""
        at = self.computer.at
        for program, package in (("usr/bin/psql", "postgresql"), ("usr/sbin/mosquitto", "mosquitto")):
            if not at(program).exists():
                raise SettingsError(f"{package} is not installed: apt install {package}")
        if at("etc/wheeld/house").exists():
            raise SettingsError(
                "wheeld setup has made the broker of this computer, for a cabinet, and the house needs another one: "
                "set the house up on another computer"
            )
        if self._authority.exists() and not self._authority_key.exists():
            raise SettingsError(
                f"{self._authority} exists, but its key {self._authority_key} does not: put the key there"
            )

    # --- the database -------------------------------------------------------------------------------------------------

    def _database(self) -> Iterator[HouseStep]:
        sql, there = self.computer.sql, set(self.computer.sql("postgres", STATE))

        def step(known: str, what: str, why: str, statement: str) -> HouseStep:
            if known in there:
                return HouseStep(STAYS, what, why)
            return HouseStep("make", what, why, partial(sql, "postgres", statement))

        yield step(f"role {OWNER}", f"role {OWNER}", "owns the database", f"create role {OWNER} nologin createrole")
        made = f"create database {DATABASE} owner {OWNER} template template0 encoding 'UTF8' locale 'C.UTF-8'"
        yield step(f"database {DATABASE}", f"database {DATABASE}", "every record of every wheel", made)
        migrated = [*self.computer.as_postgres(), "wheeld-house", "migrate"]
        migrated.append(f"dbname={DATABASE} options='-c role={OWNER}'")
        why = "the schema of this version"
        is_newest = False
        if f"database {DATABASE}" in there and any(sql(DATABASE, "select to_regclass('public.wheeld_house_version')")):
            is_newest = "".join(sql(DATABASE, "select version_num from public.wheeld_house_version")) == newest()
        do = None if is_newest else partial(self.computer.run, *migrated)
        yield HouseStep(STAYS if is_newest else "run", " ".join(migrated), why, do)
        for user, group in LOGINS:
            told = f'create role "{user}" login in role {group}'
            if f"role {user}" in there:
                told = f'grant {group} to "{user}"'
            yield step(f"{user} in {group}", f"role {user}", f"a login with the rights of {group}", told)

    # --- the broker ---------------------------------------------------------------------------------------------------

    def _broker(self, hosts: Sequence[str]) -> Iterator[HouseStep]:
        """Yield the steps for the house's authority and for what the broker needs."""
        key = self._authority_key
        yield self._made(_File(key, 0o600), certificates.new_key, "the key of the house's authority")
        why = "the certificate of the house's authority"
        yield self._made(
            _File(self._authority, 0o644), lambda: certificates.authority(key.read_bytes(), hosts, self._now), why
        )
        own, why = self._certs / "broker.key", f"certificate and key of the broker, for {', '.join(hosts)}"
        yield self._issued(_File(own, 0o640, group="mosquitto"), self._certificate, "broker", why, hosts)
        text = shipped("mosquitto.conf")
        if self.computer.read(self._broker_settings) not in (None, text):
            why = "is not what setup would write: compare it with the file of this version"
            yield HouseStep(DIFFERS, str(self._broker_settings), why)
        else:
            yield self._made(_File(self._broker_settings, 0o644), lambda: text, "the broker's configuration")

    def _rights(self, wheel: NewWheel) -> HouseStep:
        """Return the step that gives the cabinet's bridge and the collector the rights that they need for this wheel.
        Other users get no rights for it."""
        root = f"wheel/v1/{wheel.name}"
        bridged = re.findall(r"^topic (\S+) (out|in) 1$", _block(wheel.name), re.MULTILINE)
        lines = ["", f"# --- {wheel.name}, in {wheel.cabinet}", f"user {wheel.cabinet}"]
        lines += [f"topic {'write' if way == 'out' else 'read'} {topic}" for topic, way in bridged]
        lines += [f"topic write bridge/{wheel.cabinet}", "user collector"]
        lines += [*(f"topic read {root}/{leaf}" for leaf in READ), f"topic write {root}/{ASKS}", ""]
        head = "# Who may do what at the broker of the house. `wheeld-house setup` adds wheels at the end.\n"
        text = None if self.cabinet_of(wheel.name) else "\n".join(lines)
        file = _File(self._list, 0o600, "mosquitto", "mosquitto")
        return self._added(file, head, text, f"who may do what at the broker; {wheel.name} is in {wheel.cabinet}")

    # --- the cabinets -------------------------------------------------------------------------------------------------

    def _cabinets(self, wheel: NewWheel | None, host: str) -> Iterator[HouseStep]:
        """Yield the steps for the files that people carry to the computers of the cabinets' brokers."""
        yield self._directory(self.cabinets, 0o700, "files for the cabinets")
        for cabinet in sorted({*self.cabinet_names(), *([wheel.cabinet] if wheel else [])}):
            folder = self.cabinets / cabinet
            yield self._directory(folder, 0o700, f"carry it to the broker of {cabinet}")
            key, why = _File(folder / f"{cabinet}.key", 0o600), f"certificate and key of the bridge of {cabinet}"
            yield self._issued(key, folder / f"{cabinet}.crt", cabinet, why)
            copy = _File(folder / f"{cabinet}-ca.crt", 0o644)
            yield self._made(copy, self._authority.read_bytes, "the certificate of the house's authority")
            if wheel is not None and wheel.cabinet == cabinet:
                file, block = _File(folder / "bridge.conf", 0o644), _block(wheel.name)
                is_there = block.strip() in (self.computer.read(file.path) or b"").decode(errors="replace")
                why = "the bridge to the broker of the house"
                # The lines of the sample table are left out.
                head = shipped("bridge.conf").decode().partition(f"topic {SAMPLE}/")[0]
                head = head.replace("house-ca.crt", f"{cabinet}-ca.crt").replace("cluster.casino.example", host)
                head = head.replace("cabinet-1", cabinet).rstrip("\n") + "\n"
                yield self._added(file, head, None if is_there else block, why)

    # --- settings -----------------------------------------------------------------------------------------------------

    def _key(self, wheel: NewWheel) -> Iterator[HouseStep]:
        path = self.key_of(wheel.table)
        found, key = self.computer.read(path), wheel.key
        if found is not None and key not in (None, found):
            new = "move this file away, keep it, and run setup again"
            yield HouseStep(DIFFERS, str(path), f"is another key. If the wheel has a new key: {new}")
        elif key is not None:
            yield self._made(_File(path, 0o644), lambda: key, "the public key of the wheel")

    def _settings(self, wheel: NewWheel | None) -> HouseStep:
        file, why = _File(self.collector, 0o640, group=COLLECTOR), "the settings of the collector"
        known = [(each.site, each.table) for each in self.wheels()]
        if wheel is None or (wheel.site, wheel.table) in known:
            return self._added(file, "", None, why)
        head = f"""\
# The collector of the house, written by `wheeld-house setup`, which adds wheels at the end. docs/collector.md explains
# each key. After a change: systemctl restart {COLLECT_UNIT}
name = {_toml(socket.gethostname())}
database = "dbname={DATABASE} user={COLLECTOR}"

[[brokers]]
host = "{HERE[0]}"
port = 8883
ca_file = {_toml(str(self._authority))}
cert_file = {_toml(str(self.folder / "collector.crt"))}
key_file = {_toml(str(self.folder / "collector.key"))}
"""
        text = f'\n[[wheels]]\nsite = "{wheel.site}"\ntable = "{wheel.table}"\n'
        text += f"public_key_file = {_toml(str(self.key_of(wheel.table)))}\n" + ("test = true\n" if wheel.test else "")
        return self._added(file, head, text, why)

    # --- kinds of steps -----------------------------------------------------------------------------------------------

    def _directory(self, path: Path, mode: int, why: str) -> HouseStep:
        make = partial(self.computer.make_directory, path, mode=mode, owner="root", group="root")
        return HouseStep(STAYS, f"{path}/", why) if path.is_dir() else HouseStep("make", f"{path}/", why, make)

    def _made(self, file: _File, make: Callable[[], bytes], why: str) -> HouseStep:
        """Return the step for a file that is made only if it is missing."""
        if self.computer.read(file.path) is not None:
            return HouseStep(STAYS, str(file.path), why)
        return HouseStep("make", str(file.path), why, lambda: self._write(file, make()))

    def _added(self, file: _File, head: str, text: str | None, why: str) -> HouseStep:
        """Return the step that adds `text`, unless it is None, at the end of a file. A new file begins with `head`."""
        if text is None:
            return HouseStep(STAYS, str(file.path), why)
        found = self.computer.read(file.path)
        content = (head.encode() if found is None else found) + text.encode()
        action = "make" if found is None else "add"
        return HouseStep(action, str(file.path), why, partial(self._write, file, content))

    def _issued(self, key: _File, certificate: Path, name: str, why: str, hosts: Sequence[str] = ()) -> HouseStep:
        """Return the step for a certificate and its key, of a user or of the broker. A good certificate stays until
        shortly before it ends. Then it is renewed."""
        read, what = self.computer.read, f"{certificate}, {key.path.name}"
        has_key, found = read(key.path), read(certificate)

        def make() -> None:
            if has_key is None:
                self._write(key, certificates.new_key())
            by = (self._authority.read_bytes(), self._authority_key.read_bytes())
            self._write(
                _File(certificate, 0o644), certificates.issue(key.path.read_bytes(), name, by, self._now, hosts)
            )

        issuer = certificates.issuer_of(read(self._authority), read(self._authority_key), self._hosts, self._now)
        verdict, reason = certificates.judged(found, has_key, name, issuer, self._now)
        if verdict == "differs":
            return HouseStep(DIFFERS, what, f"{reason.format(name=name)}: move both away, and setup makes new ones")
        if verdict == "stays":
            return HouseStep(STAYS, what, why)
        return HouseStep(verdict, what, f"{reason}; {why}" if reason else why, make)

    def _write(self, file: _File, content: bytes) -> None:
        self.computer.write(file.path, content, mode=file.mode, owner=file.owner, group=file.group)

    def _service(self, unit: str, files: Sequence[Path], before: Sequence[HouseStep]) -> Iterator[HouseStep]:
        """Yield the steps that start a service at each boot, and restart it now if it does not run or has not read its
        files. `before`: earlier steps that change these files."""
        if not self.computer.is_enabled(unit):
            command = ("systemctl", "enable", unit)
            yield HouseStep(
                "run", " ".join(command), "starts the service at each boot", partial(self.computer.run, *command)
            )
        if self.computer.is_unread(unit, files) or any(step.do is not None for step in before):
            # The unit is restarted, never reloaded, because SIGHUP can kill the mosquitto of Debian 12.
            command = ("systemctl", "restart", unit)
            yield HouseStep(
                "run",
                " ".join(command),
                "restarts the service, which then reads its files",
                partial(self.computer.run, *command),
            )


def shipped(name: str) -> bytes:
    """Return a file for mosquitto that comes with this program."""
    return resources.files("wheeld_house.setup").joinpath(name).read_bytes()


def _block(name: str) -> str:
    """Return the lines of one table in a bridge file."""
    lines = [line for line in shipped("bridge.conf").decode().splitlines() if line.startswith("topic ")]
    return "\n" + "\n".join(lines).replace("campione/campione-03", name) + "\n"


def _toml(text: str) -> str:
    return msgspec.json.encode(text).decode()
