"""A wheel by its name: its configuration, its secrets and its journal are found, and no secret is shown."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.config.test_config import GOOD, with_line
from tests.journal.journals import write_journal, write_keys
from tests.security.shipped import system_root
from wheeld.cli import doctor  # noqa: F401  read now: the user of `as_nobody` may not read Python's own library
from wheeld.cli.main import main
from wheeld.config import instance
from wheeld.config.instance import STORES, journal_of, wheel_of
from wheeld.config.problems import ConfigError
from wheeld.config.reading import load
from wheeld.exits import Exit

Captured = pytest.CaptureFixture[str]
NAME = "campione-03"
SECRET = "correct horse"
USER = with_line("mqtt", 'username = "wheel"')
NAMED = with_line("mqtt", 'password_file = "credential:mqtt-password"', USER)
UNIT = (Path(__file__).parents[2] / "systemd" / "wheeld@.service").read_text()
NOBODY = 65_534


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A computer with one wheel, whose password is in the first store."""
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    with system_root() as path:
        for name in ("etc/wheeld", *STORES, *(f"{store}.encrypted" for store in STORES)):
            (path / name).mkdir(parents=True)
        monkeypatch.setattr(instance, "ROOT", path)
        (path / f"etc/wheeld/{NAME}.toml").write_text(NAMED)
        secret(path / STORES[0])
        yield path


def secret(store: Path, text: str = SECRET) -> Path:
    path = store / f"wheeld.{NAME}.mqtt-password"
    path.write_text(text)
    path.chmod(0o400)
    return path


def password_file() -> Path | None:
    return load(*wheel_of(NAME)).mqtt.password_file


@contextmanager
def as_nobody() -> Iterator[None]:
    """As a user who may not read what root has closed."""
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_the_unit_has_the_same_places() -> None:
    assert re.findall(r"^ExecStart=.+ -c (.+)$", UNIT, re.MULTILINE) == [f"/{instance.CONFIGURATIONS}/%i.toml"]
    loaded = re.findall(r"^LoadCredential=(.+?):(.+)$", UNIT, re.MULTILINE)
    assert len(loaded) == 3
    assert STORES == ("etc/credstore", "run/credstore"), "in the order of systemd"
    assert all(file == f"wheeld.%i.{name}" for name, file in loaded)


def test_a_wheel_is_checked_by_its_name(root: Path, capsys: Captured) -> None:
    assert main(["check-config", NAME]) == Exit.LOOK
    said = capsys.readouterr()
    assert "table: campione-03 of campione" in said.out
    assert SECRET not in said.out + said.err
    assert password_file() == root / STORES[0] / f"wheeld.{NAME}.mqtt-password"


def test_the_file_is_still_a_file(root: Path, capsys: Captured) -> None:
    """Its secrets are those that systemd gave, which outside of a service are none."""
    assert main(["check-config", str(root / f"etc/wheeld/{NAME}.toml")]) == Exit.BAD_CONFIG
    assert "name the wheel and not its file" in capsys.readouterr().err


def test_a_file_of_that_name_comes_first(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = root / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    assert wheel_of(NAME).config == root / f"etc/wheeld/{NAME}.toml"
    (here / NAME).mkdir()  # no file
    assert wheel_of(NAME).config == root / f"etc/wheeld/{NAME}.toml"
    (here / NAME).rmdir()
    (here / NAME).write_text(GOOD)
    assert wheel_of(NAME).config == Path(NAME)


@pytest.mark.parametrize("given", ["./campione-03", "campione-03.toml", "/etc/wheeld/campione-03", "..", "a b", ""])
def test_what_is_no_bare_name_is_a_path(root: Path, given: str) -> None:
    assert wheel_of(given).config == Path(given)


def test_a_secret_of_this_boot_only(root: Path) -> None:
    (root / STORES[0] / f"wheeld.{NAME}.mqtt-password").unlink()
    later = secret(root / STORES[1])
    assert password_file() == later
    first = secret(root / STORES[0])
    assert password_file() == first


def test_a_secret_that_is_not_there(root: Path, capsys: Captured) -> None:
    missing = root / STORES[0] / f"wheeld.{NAME}.mqtt-password"
    missing.unlink()
    assert main(["check-config", NAME]) == Exit.BAD_CONFIG
    assert f"credential:mqtt-password, but {missing} does not exist: write the pass" in capsys.readouterr().err


@pytest.mark.parametrize("store", STORES)
def test_an_encrypted_secret_cannot_be_read_by_hand(root: Path, store: str, capsys: Captured) -> None:
    (root / STORES[0] / f"wheeld.{NAME}.mqtt-password").unlink()
    encrypted = secret(root / f"{store}.encrypted")
    assert main(["check-config", NAME]) == Exit.BAD_CONFIG
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "password_file" in line]
    assert f"is {encrypted}, which is encrypted: only systemd can read it" in line


def test_within_a_service_systemd_has_read_the_store(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = root / "given"
    given.mkdir()
    secret(given).rename(given / "mqtt-password")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(given))
    assert password_file() == given / "mqtt-password"


@pytest.mark.parametrize("closed", ["etc/wheeld", STORES[0]])
@pytest.mark.parametrize("command", [["check-config"], ["doctor"], ["acl"]])
def test_who_may_not_read_it_is_told_in_one_line(root: Path, closed: str, command: list[str], capsys: Captured) -> None:
    (root / closed).chmod(0)
    with as_nobody():
        assert main([*command, NAME]) == Exit.NO_INPUT
    (root / closed).chmod(0o700)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"wheeld: {root / closed}")
    assert ": this user may not use it; run the command as root, or as a user who may" in line
    assert ("`chgrp wheeld" in line) is line.startswith(f"wheeld: {root / closed}/{NAME}.toml")


@pytest.mark.parametrize("command", [["check-config"], ["run"], ["doctor", "-c"], ["journal", "verify"]])
def test_a_name_that_no_wheel_has(root: Path, command: list[str], capsys: Captured) -> None:
    (root / "etc/wheeld/example.toml").touch()  # the package's, and no wheel
    assert main([*command, "campione-04"]) == Exit.NO_INPUT
    said = capsys.readouterr().err
    missing = f"{root}/etc/wheeld/campione-04.toml"
    assert f"no such file here, and no wheel with that name ({missing}); the wheels here: {NAME}\n" in said
    assert "Traceback" not in said


def test_the_access_list_of_a_wheel(root: Path, capsys: Captured) -> None:
    assert main(["acl", NAME]) == Exit.OK
    assert "user chef-campione-03\n" in capsys.readouterr().out


# --- the journal -------------------------------------------------------------------------------------------------


def test_the_journal_is_the_one_that_the_configuration_names(root: Path) -> None:
    """It is found whatever else is wrong in the file, and by who may not read secrets."""
    assert journal_of(NAME) == root / "etc/wheeld/journal.sqlite"
    config = root / f"etc/wheeld/{NAME}.toml"
    config.write_text('[journal]\npath = "/var/lib/wheeld/x.sqlite"\n[nonsense]\n')
    (root / STORES[0]).chmod(0)
    with as_nobody():
        assert journal_of(NAME) == Path("/var/lib/wheeld/x.sqlite")
    (root / STORES[0]).chmod(0o700)
    assert journal_of(str(config)) == Path("/var/lib/wheeld/x.sqlite")
    assert journal_of("./x.sqlite") == Path("./x.sqlite")
    for text in ("journal = 3\n", "[journal]\n", "[journal]\npath = 3\n"):
        config.write_text(text)
        with pytest.raises(ConfigError, match=r"journal\.path: is missing"):
            journal_of(NAME)


def test_a_journal_is_verified_by_the_name_of_its_wheel_with_the_key_of_setup(root: Path, capsys: Captured) -> None:
    home = root / "etc/wheeld"
    assert main(["journal", "verify", NAME]) == Exit.NO_INPUT
    assert f"{home}/journal.sqlite" in capsys.readouterr().err
    key, public_key = write_keys(home, NAME)
    write_journal(home / "journal.sqlite", key)
    for by in (NAME, str(home / f"{NAME}.toml")):
        assert main(["journal", "verify", by]) == Exit.OK
        assert "was not checked" not in capsys.readouterr().out
    public_key.rename(home / "mine.pub")
    assert main(["journal", "verify", NAME]) == Exit.OK
    assert "whether that is a key of the house was not checked (give --public-key)" in capsys.readouterr().out
    write_keys(home, NAME, seed=8)
    assert main(["journal", "verify", NAME]) == Exit.BAD_DATA
    assert main(["journal", "verify", NAME, "--public-key", str(home / "mine.pub")]) == Exit.OK
