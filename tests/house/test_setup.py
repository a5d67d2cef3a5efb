"""`wheeld-house setup` on a computer that is a directory, with a real PostgreSQL and real brokers: once, again, and
with one more wheel; then a record goes from a wheel through the files that it wrote into the database."""

from __future__ import annotations

import asyncio
import datetime
import os
import random
import re
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Self

import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.broker.world import working
from tests.feed.wheel import SITE
from tests.house.house import CollectorProcess, HouseTable, journal_of
from tests.house.postgres import Cluster
from tests.mosquitto import Mosquitto
from tests.security.shipped import system_root
from tests.setup import bench as wheel
from tests.setup.test_broker import MadeBroker
from wheeld import certificates
from wheeld.broker.acl import access_list
from wheeld.broker.roles import TableAccess
from wheeld.setup.computer import SetupError
from wheeld_house.cli import parser
from wheeld_house.page.settings import read_page_settings
from wheeld_house.settings import SettingsError, read_settings
from wheeld_house.setup.command import run
from wheeld_house.setup.computer import HouseComputer
from wheeld_house.setup.plan import COLLECT_UNIT, MOSQUITTO, PAGE_UNIT

DIRECTORIES = ("etc/mosquitto/conf.d", "etc/mosquitto/certs", "etc/systemd/system", "usr/bin", "usr/sbin")
KEY = Ed25519PrivateKey.from_private_bytes(bytes([7]) * 32)
OTHER_KEY = Ed25519PrivateKey.from_private_bytes(bytes([8]) * 32)
Captured = pytest.CaptureFixture[str]


class BareCluster(Cluster):
    """As Debian installs it: without the schema and its roles."""

    def __enter__(self) -> Self:
        self.start()
        return self


class BareHouse(HouseComputer):
    """A directory with what Debian and the package put there, and no systemd. It notes owners and commands."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.owners: dict[str, str] = {}
        self.commands: list[str] = []
        self.started: dict[str, float] = {}
        for directory in DIRECTORIES:
            (root / directory).mkdir(parents=True, exist_ok=True)
        for program in ("usr/bin/psql", "usr/sbin/mosquitto"):
            (root / program).touch()

    def is_ours(self) -> bool:
        return True

    def as_postgres(self) -> Sequence[str]:
        """The environment says which server."""
        return ()

    def started_s(self, unit: str) -> float | None:
        return self.started.get(unit)

    def own(self, path: Path, owner: str, group: str) -> None:
        if owner == "mosquitto" and os.geteuid() == 0:  # what a real broker reads
            super().own(path, owner, group)
        name = path.name.removeprefix(".").removesuffix(".new")
        self.owners[str(path.with_name(name).relative_to(self.root))] = f"{owner}:{group}"

    def run(self, *command: str) -> None:
        self.commands.append(" ".join(command))
        if command[0] == "wheeld-house":
            subprocess.run([sys.executable, "-m", "wheeld_house", *command[1:]], check=True)
        elif command[1] == "enable":
            wants = self.at("etc/systemd/system/multi-user.target.wants")
            wants.mkdir(exist_ok=True)
            (wants / command[-1]).touch()
        else:
            assert command[:2] == ("systemctl", "restart")
            self.started[command[-1]] = 1e12

    def tree(self) -> dict[str, bytes]:
        files = (path for path in sorted(self.root.rglob("*")) if path.is_file())
        return {str(path.relative_to(self.root)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def server() -> Iterator[Cluster]:
    with BareCluster() as running:
        yield running


@pytest.fixture
def house(server: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[BareHouse]:
    """A computer on which nothing is set up."""
    for name, value in (("PGHOST", "127.0.0.1"), ("PGPORT", str(server.port)), ("PGUSER", "postgres")):
        monkeypatch.setenv(name, value)
    server.sql("postgres", "drop database if exists house")
    with system_root() as folder:
        for name, key in (("wheel.pub", KEY), ("other.pub", OTHER_KEY)):
            pem = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
            (folder / name).write_bytes(pem)
        (folder / "root").mkdir(mode=0o755)
        yield BareHouse(folder / "root")


def set_up(computer: BareHouse, *words: str, ask: Callable[[str], str] | None = None) -> None:
    assert run(parser().parse_args(["setup", *words]), computer, ask) == 0


def first(computer: BareHouse) -> None:
    key = str(computer.root.parent / "wheel.pub")
    set_up(computer, "--wheel", f"{SITE}/campione-03", "--key", key, "--broker-name", "house.example", "--yes")


def another(computer: BareHouse, *words: str, key: str = "other.pub") -> None:
    key = str(computer.root.parent / key)
    set_up(computer, "--wheel", f"{SITE}/campione-04", "--key", key, "--yes", *words)


def logins(server: Cluster) -> dict[str, str]:
    rows = server.sql(
        "postgres",
        "select m.rolname, g.rolname from pg_auth_members a join pg_roles m on m.oid = a.member "
        "join pg_roles g on g.oid = a.roleid where m.rolcanlogin and not m.rolsuper",
    )
    return dict(rows)


def test_it_makes_a_house_and_a_second_time_changes_nothing(
    house: BareHouse, server: Cluster, capsys: Captured
) -> None:
    first(house)
    said = capsys.readouterr().out
    assert "  systemctl restart mosquitto\n" in said
    assert "/etc/mosquitto/certs/\n" in said
    assert logins(server) == {
        "wheeld-house": "wheeld_collector", "wheeld-house-page": "wheeld_page", "settlement": "wheeld_reader"
    }  # fmt: skip
    (owner,) = server.sql("house", "select tableowner from pg_tables where tablename = 'wheel'")
    assert owner == ("house_owner",)
    assert server.sql("postgres", "select rolsuper, rolcanlogin from pg_roles where rolname = 'house_owner'") == [
        (False, False)
    ]
    settings = read_settings(house.at("etc/wheeld-house/collector.toml"))
    assert [(each.site, each.table, each.test) for each in settings.wheels] == [(SITE, "campione-03", False)]
    assert settings.wheels[0].public_key() == KEY.public_key().public_bytes_raw()
    assert read_page_settings(house.at("etc/wheeld-house/page.toml"), database=None, listen=None).user_header is None
    enabled = {path.name for path in house.at("etc/systemd/system/multi-user.target.wants").iterdir()}
    assert enabled == set(house.started) == {MOSQUITTO, COLLECT_UNIT, PAGE_UNIT}
    before, commands = house.tree(), list(house.commands)
    for words in ((), ("--wheel", f"{SITE}/campione-03")):
        set_up(house, "--yes", *words)
        said = capsys.readouterr().out
        assert {line.split()[0] for line in said.splitlines() if line.startswith("  ")} == {"stays"}
    assert (house.tree(), house.commands) == (before, commands)


def test_nobody_but_its_reader_can_read_a_secret(house: BareHouse) -> None:
    first(house)
    found = {}
    for path in sorted(house.root.rglob("*")):
        name = str(path.relative_to(house.root))
        if path.suffix in (".key", ".acl") or path.name in ("collector.toml", "page.toml", "cabinets", "cabinet-1"):
            found[name] = (f"{stat.S_IMODE(path.stat().st_mode):04o}", house.owners[name])
    assert found == {
        "etc/mosquitto/certs/broker.key": ("0640", "root:mosquitto"),
        "etc/mosquitto/wheeld.acl": ("0600", "mosquitto:mosquitto"),
        "etc/wheeld-house/authority.key": ("0600", "root:root"),
        "etc/wheeld-house/cabinets": ("0700", "root:root"),
        "etc/wheeld-house/cabinets/cabinet-1": ("0700", "root:root"),
        "etc/wheeld-house/cabinets/cabinet-1/cabinet-1.key": ("0600", "root:root"),
        "etc/wheeld-house/collector.key": ("0640", "root:wheeld-house"),
        "etc/wheeld-house/collector.toml": ("0640", "root:wheeld-house"),
        "etc/wheeld-house/page.toml": ("0640", "root:wheeld-house-page"),
    }
    text = house.at("etc/wheeld-house/collector.toml").read_text() + house.at("etc/wheeld-house/page.toml").read_text()
    assert "password" not in text


def test_one_more_wheel_is_added_and_what_people_wrote_stays(house: BareHouse) -> None:
    first(house)
    etc = house.at("etc")
    changed = ("wheeld-house/collector.toml", "mosquitto/wheeld.acl", "wheeld-house/cabinets/cabinet-1/bridge.conf")
    for name in changed:
        with (etc / name).open("a") as file:
            file.write("# by hand\n")
    before, house.commands = house.tree(), []
    another(house, "--cabinet", "cabinet-1")
    after = house.tree()
    assert {name for name in before if after[name] != before[name]} == {f"etc/{name}" for name in changed}
    assert all(after[f"etc/{name}"].startswith(before[f"etc/{name}"]) for name in changed)
    assert set(after) - set(before) == {"etc/wheeld-house/campione-04.pub"}
    wheels = read_settings(etc / "wheeld-house/collector.toml").wheels
    assert [each.table for each in wheels] == ["campione-03", "campione-04"]
    assert house.commands == [f"systemctl restart {unit}" for unit in (MOSQUITTO, COLLECT_UNIT)]


def test_the_collector_may_do_what_its_role_may_at_a_wheel_s_broker(house: BareHouse) -> None:
    """Which `wheeld acl` prints."""

    def rights(text: str) -> set[str]:
        (found,) = re.findall(r"^user collector\n((?:topic .+\n)+)", text, re.MULTILINE)
        return set(found.splitlines())

    first(house)
    listed = house.at("etc/mosquitto/wheeld.acl").read_text()
    assert rights(listed) == rights(access_list([TableAccess.of(SITE, "campione-03")]))
    assert re.findall(r"^user (.+)$", listed, re.MULTILINE) == ["cabinet-1", "collector"]


def test_it_asks_for_what_it_must_know(house: BareHouse, capsys: Captured) -> None:
    key = str(house.root.parent / "wheel.pub")
    answers = iter(["10.0.0.8", "no wheel", "campione/campione-03", "collector", "", key, "n"])
    asked = []

    def ask(question: str) -> str:
        asked.append(question)
        return next(answers)

    before = house.tree()
    set_up(house, ask=ask)
    assert (house.tree(), house.commands) == (before, [])
    assert "nothing was done\n" in capsys.readouterr().out
    assert asked[-1] == "do that? [Y/n] "
    assert any("[cabinet-1]" in each for each in asked)
    assert list(answers) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "give --wheel"),
        (("--wheel", "campione-03"), "cannot be --wheel"),
        (("--wheel", "a/b", "--cabinet", "collector"), "cannot be --cabinet"),
        (("--wheel", "a/b"), "give --key"),
        (("--wheel", "a/b", "--key", "/none"), "/none cannot be read"),
        (("--broker-name", "two words"), "cannot be --broker-name"),
    ],
)
def test_a_wrong_answer_is_named(house: BareHouse, words: tuple[str, ...], said: str) -> None:
    before = house.tree()
    with pytest.raises(SettingsError, match=said):
        set_up(house, "--yes", *words)
    assert house.tree() == before


def test_nobody_but_a_person_chooses_the_cabinet_of_a_further_wheel(house: BareHouse, capsys: Captured) -> None:
    """Setup names that of the first wheel only, and its plan says so."""
    first(house)
    assert f"{SITE}/campione-03 is in cabinet-1\n" in capsys.readouterr().out
    before = house.tree()
    with pytest.raises(SettingsError, match="such as cabinet-1: give --cabinet"):
        another(house)
    assert house.tree() == before
    another(house, "--cabinet", "cabinet-2")
    assert f"{SITE}/campione-04 is in cabinet-2\n" in capsys.readouterr().out
    assert (house.at("etc/wheeld-house/cabinets/cabinet-2/bridge.conf")).exists()


def test_two_wheels_of_one_key_are_refused_with_both_names(house: BareHouse) -> None:
    first(house)
    before = house.tree()
    both = f"{SITE}/campione-03 and {SITE}/campione-04 have the same public key"
    with pytest.raises(SettingsError, match=both):
        another(house, "--cabinet", "cabinet-2", key="wheel.pub")
    assert house.tree() == before
    another(house, "--cabinet", "cabinet-2")
    keys = house.at("etc/wheeld-house")
    (keys / "campione-04.pub").write_bytes((keys / "campione-03.pub").read_bytes())
    with pytest.raises(SettingsError, match=both):
        set_up(house, "--yes")


def test_what_people_wrote_in_another_encoding_stays(house: BareHouse) -> None:
    first(house)
    changed = ("etc/mosquitto/wheeld.acl", "etc/wheeld-house/cabinets/cabinet-1/bridge.conf")
    for name in changed:
        with house.at(name).open("ab") as file:
            file.write("# sala più grande\n".encode("latin-1"))
    another(house, "--cabinet", "cabinet-1")
    for name in changed:
        assert b"pi\xf9" in house.at(name).read_bytes()
        assert b"campione-04" in house.at(name).read_bytes()


def test_two_tables_of_one_name_are_refused(house: BareHouse) -> None:
    """They would share the file of a public key."""
    first(house)
    before = house.tree()
    with pytest.raises(SettingsError, match="another site has a table campione-03"):
        set_up(house, "--yes", "--wheel", "venezia/campione-03", "--key", str(house.root.parent / "wheel.pub"))
    assert house.tree() == before


def test_a_new_key_of_a_wheel_is_read_by_the_collector(house: BareHouse) -> None:
    first(house)
    house.at("etc/wheeld-house/campione-03.pub").rename(house.root.parent / "old.pub")
    house.commands.clear()
    first(house)
    assert house.commands == ["systemctl restart wheeld-house-collect.service"]


def test_a_broken_certificate_is_named(house: BareHouse) -> None:
    first(house)
    house.at("etc/mosquitto/certs/broker.crt").write_text("x")
    with pytest.raises(SettingsError, match=r"broker\.crt .+: move it and its key away"):
        set_up(house, "--yes")


@pytest.mark.parametrize("lost", ["broker.crt", "house-ca.crt"])
def test_a_lost_certificate_is_made_for_the_same_names(house: BareHouse, lost: str) -> None:
    """The cabinets know the broker by no other name."""
    first(house)
    file = house.at("etc/mosquitto/certs") / lost
    before = certificates.hosts_of(file.read_bytes())
    file.unlink()
    set_up(house, "--yes")
    assert certificates.hosts_of(file.read_bytes()) == before


def test_nobody_is_told_to_move_the_authority_away(house: BareHouse) -> None:
    """Every login of the house depends on it."""
    first(house)
    certs = house.at("etc/mosquitto/certs")
    (certs / "broker.crt").unlink()
    (certs / "house-ca.crt").write_bytes(b"garbage")
    with pytest.raises(SettingsError, match=r"house-ca\.crt .+: put your copy of it back"):
        set_up(house, "--yes")


def test_after_answers_that_cannot_be_used_it_says_so(house: BareHouse) -> None:
    with pytest.raises(SettingsError, match=r"none of 3 answers .+ give --broker-name"):
        run(parser().parse_args(["setup"]), house, lambda _question: "not a host!")


def test_a_computer_with_the_broker_of_a_cabinet_is_no_house_s(house: BareHouse) -> None:
    wheel.set_up(wheel.BareComputer(house.root), *wheel.SIMULATED)
    before = house.tree()
    with pytest.raises(SettingsError, match="set the house up on another computer"):
        first(house)
    assert (house.tree(), house.commands) == (before, [])


def test_a_computer_with_the_broker_of_a_house_is_no_cabinet_s(house: BareHouse) -> None:
    first(house)
    cabinet = wheel.BareComputer(house.root)
    before = house.tree()
    with pytest.raises(SetupError, match="set the wheel up on another computer, or name another broker with --broker"):
        wheel.set_up(cabinet, *wheel.SIMULATED)
    assert house.tree() == before


def test_a_house_and_a_wheel_with_a_broker_elsewhere_share_a_computer(house: BareHouse) -> None:
    first(house)
    before, password, authority = house.tree(), house.root.parent / "password", house.root.parent / "authority"
    for given in (password, authority):
        given.write_text("x")
    login = ("--username", "x", "--password-file", str(password), "--ca-file", str(authority))
    elsewhere = ("--broker", "mqtt.example", *login)
    wheel.set_up(wheel.BareComputer(house.root), "campione-03", *wheel.REAL, *elsewhere)
    after = house.tree()
    assert {name: after[name] for name in before} == before
    assert {name.split("/")[1] for name in set(after) - set(before)} >= {"wheeld", "credstore"}
    set_up(house, "--yes")
    assert house.tree() == after


def test_an_authority_without_its_key_is_named(house: BareHouse) -> None:
    house.at("etc/mosquitto/certs/house-ca.crt").write_text("of somebody")
    with pytest.raises(SettingsError, match=r"authority\.key does not: put the key there"):
        first(house)


def test_the_authority_that_a_house_has_is_used(house: BareHouse) -> None:
    key, now = certificates.new_key(), datetime.datetime.now(datetime.UTC)
    house.at("etc/wheeld-house").mkdir()
    house.at("etc/wheeld-house/authority.key").write_bytes(key)
    ours = certificates.authority(key, ("house.example", "localhost", "127.0.0.1"), now)
    house.at("etc/mosquitto/certs/house-ca.crt").write_bytes(ours)
    first(house)
    assert house.at("etc/mosquitto/certs/house-ca.crt").read_bytes() == ours
    folder = house.at("etc/wheeld-house/cabinets/cabinet-1")
    assert (folder / "cabinet-1-ca.crt").read_bytes() == ours
    for certificate in (*folder.glob("cabinet-1.crt"), house.at("etc/wheeld-house/collector.crt")):
        verify = ["openssl", "verify", "-x509_strict", "-purpose", "sslclient", "-CAfile"]
        subprocess.run([*verify, house.at("etc/mosquitto/certs/house-ca.crt"), certificate], check=True)


@pytest.mark.parametrize(
    ("lost", "made"),
    [
        ("etc/mosquitto/certs/house-ca.crt", {"etc/mosquitto/certs/house-ca.crt"}),
        ("etc/wheeld-house/collector.key", {"etc/wheeld-house/collector.crt", "etc/wheeld-house/collector.key"}),
    ],
)
def test_what_is_lost_is_made_anew_and_all_else_stays(
    house: BareHouse, lost: str, made: set[str], capsys: Captured
) -> None:
    first(house)
    before = house.tree()
    house.at(lost).unlink()
    capsys.readouterr()
    set_up(house, "--yes")
    assert "differs" not in capsys.readouterr().out
    assert {name for name, content in house.tree().items() if before[name] != content} == made
    set_up(house, "--yes")
    assert "differs" not in capsys.readouterr().out


def test_a_certificate_that_ends_soon_is_renewed(house: BareHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    first(house)
    before, house.commands = house.tree(), []
    monkeypatch.setattr(certificates, "RENEWED_DAYS", certificates.CERTIFICATE_DAYS + 1)
    set_up(house, "--yes")
    after = house.tree()
    assert {name for name in before if after[name] != before[name]} == {
        "etc/mosquitto/certs/broker.crt",
        "etc/wheeld-house/cabinets/cabinet-1/cabinet-1.crt",
        "etc/wheeld-house/collector.crt",
    }
    assert house.commands == [f"systemctl restart {unit}" for unit in (MOSQUITTO, COLLECT_UNIT)]


def cabinet_of(house: BareHouse, port: int, folder: Path) -> list[str]:
    """The lines of the cabinet's bridge, with the files where they were made and the broker where it is."""
    made = house.at("etc/wheeld-house/cabinets/cabinet-1")
    text = (made / "bridge.conf").read_text()
    for file in made.glob("cabinet-1*"):
        (folder / file.name).write_bytes(file.read_bytes())
    text, count = re.subn(r"^address house\.example:8883$", f"address localhost:{port}", text, flags=re.MULTILINE)
    assert count == 1
    assert text.count("/etc/mosquitto/certs/cabinet-1") == 3
    text = text.replace("/etc/mosquitto/certs", str(folder))
    return [line for line in text.splitlines() if line and not line.startswith("#")]


async def test_a_record_goes_from_a_wheel_through_the_made_files_into_the_database(
    house: BareHouse, server: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The collector has the role of its own in the database, and its own certificate at the broker."""
    await asyncio.to_thread(first, house)
    monkeypatch.delenv("PGUSER")
    settings = house.at("etc/wheeld-house/collector.toml")
    with MadeBroker(house.root) as broker:
        settings.write_text(settings.read_text().replace("port = 8883", f"port = {broker.port}"))
        collector = CollectorProcess(settings, tmp_path / "collector.log")
        with Mosquitto(tmp_path, "max_queued_messages 0", *cabinet_of(house, broker.port, tmp_path)) as cabinet:
            journal = await journal_of(tmp_path / "journal", "campione-03", KEY)
            table = HouseTable("campione-03", journal, cabinet.port, KEY)
            collector.start()
            try:
                async with working(*table.works()):
                    await table.say(random.Random(1))
                    rows: list[tuple[object, ...]] = []
                    async with asyncio.timeout(60):
                        while not rows:
                            await asyncio.sleep(0.2)
                            query = "select seq, is_signed from house.messages"
                            rows = await asyncio.to_thread(server.sql, "house", query)
                assert rows == [(1, True)], collector.log
            finally:
                assert await asyncio.to_thread(collector.end) == 0
                await journal.close()
    assert "refuses" not in collector.log
    with psycopg.connect(server.dsn("house", "wheeld-house-page")) as page:
        assert page.execute("select table_name from house.tables").fetchall() == [("campione-03",)]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            page.execute("delete from house.record")
