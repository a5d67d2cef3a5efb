"""Secrets and the configuration: files of their own or credentials of systemd, closed to others, never repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.config.test_config import GOOD, problems, with_line
from wheeld.config.problems import ConfigError
from wheeld.config.reading import load, parse

SECRET = "correct horse"
USER = with_line("mqtt", 'username = "wheel"')
CREDENTIAL = with_line("mqtt", 'password_file = "credential:mqtt-password"', USER)


def closed(path: Path, content: str = SECRET, mode: int = 0o400) -> Path:
    path.write_text(content)
    path.chmod(mode)
    return path


# --- credentials of systemd --------------------------------------------------------------------------------------


def test_a_credential_of_systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    brought = tmp_path / "wheeld@campione-03.service"
    brought.mkdir()
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(brought))
    (tmp_path / "w.toml").write_text(CREDENTIAL)
    with pytest.raises(ConfigError) as wrong:
        load(tmp_path / "w.toml")
    (line,) = str(wrong.value).splitlines()
    assert "mqtt.password_file: names credential:mqtt-password" in line
    assert "but /etc/credstore/wheeld.campione-03.mqtt-password does not exist: write the password into it" in line
    assert "expected" not in line
    closed(brought / "mqtt-password")
    assert load(tmp_path / "w.toml").mqtt.password_file == brought / "mqtt-password"


@pytest.mark.parametrize("key", ["ca_file", "cert_file", "key_file", "password_file"])
def test_every_file_may_be_a_credential(tmp_path: Path, key: str) -> None:
    closed(tmp_path / "x.1")
    text = USER
    for each in {"cert_file", "key_file"} if key in {"cert_file", "key_file"} else {key}:
        text = with_line("mqtt", f'{each} = "credential:x.1"', text)
    assert getattr(parse(text, credentials=tmp_path.joinpath).mqtt, key) == tmp_path / "x.1"


def test_a_credential_where_systemd_brought_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    (tmp_path / "w.toml").write_text(CREDENTIAL)
    with pytest.raises(
        ConfigError,
        match="names a credential, but systemd gave none: name the wheel and not its file",
    ):
        load(tmp_path / "w.toml")


@pytest.mark.parametrize("name", ["", "../shadow", "a/b", ".", "..", ".hidden", "a b", "x" * 256, "café"])
def test_a_credential_is_a_name_and_no_path(tmp_path: Path, name: str) -> None:
    text = with_line("mqtt", f'ca_file = "credential:{name}"')
    with pytest.raises(ConfigError, match=r"mqtt\.ca_file: names no credential"):
        parse(text, credentials=tmp_path.joinpath)


def test_nothing_is_written_to_a_credential() -> None:
    (reported,) = problems(with_line("journal", 'path = "credential:x"'))
    assert "journal.path: names a credential, and nobody can write to a credential" in reported


# --- open to others ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["password_file", "key_file"])
@pytest.mark.parametrize(("mode", "good"), [(0o400, True), (0o640, True), (0o644, False), (0o602, False)])
def test_a_secret_file_is_closed_to_others(tmp_path: Path, key: str, mode: int, *, good: bool) -> None:
    closed(tmp_path / "f", mode=mode)
    closed(tmp_path / "c", mode=0o644)  # a certificate is no secret
    text = with_line("mqtt", f'{key} = "f"', with_line("mqtt", 'cert_file = "c"', USER) if key == "key_file" else USER)
    if good:
        parse(text, directory=tmp_path)
    else:
        (reported,) = problems(text, tmp_path)
        assert (
            f"mqtt.{key}: the file is open to all on this computer (mode {mode:04o}): close it with "
            f"`chmod o= {tmp_path / 'f'}`, and choose a new secret" in reported
        )


# --- secrets in the file itself ----------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["password", "passwd", "passphrase", "secret", "token", "key", "private_key"])
@pytest.mark.parametrize("section", ["mqtt", "journal", "sensors"])
def test_a_key_for_a_secret(section: str, key: str) -> None:
    (reported,) = problems(with_line(section, f'{key} = "{SECRET}"'))
    assert "a secret does not belong in this file: write it into a file of its own, and name that file in" in reported
    assert SECRET not in reported


PEM = f'"""-----BEGIN PRIVATE KEY-----\\n{SECRET}\\n-----END PRIVATE KEY-----"""'


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f'password_file = "{SECRET}"', "mqtt.password_file: the file cannot be read: No such file"),
        (f'key_file = "{SECRET}"', "mqtt.key_file: the file cannot be read: No such file"),
        (f"key_file = {PEM}", "mqtt.key_file: is not a path"),
        (f'password_file = ["{SECRET}"]', "mqtt.password_file: is not a path"),
        (f'password_file = "{SECRET}{"x" * 5000}"', "mqtt.password_file: the file cannot be read: File name too long"),
        (f'host = "wheel:{SECRET}@broker"', "mqtt.host: is more than the name or the address of a host"),
        (f'host = "mqtts://{SECRET}/"', "mqtt.host: is more than the name or the address of a host"),
        (f"password_file = {SECRET}", "is not TOML"),
        (f'password_file = "{SECRET}', "is not TOML"),
        (f'password_file = "x" "{SECRET}"', "is not TOML"),
    ],
)
def test_a_secret_where_it_does_not_belong_is_not_repeated(line: str, expected: str) -> None:
    reported = "\n".join(problems(with_line("mqtt", line, USER)))
    assert expected in reported
    assert SECRET not in reported
    assert "correct" not in reported.replace("correct `", "")


def test_the_file_is_good_without_them() -> None:
    assert parse(GOOD).mqtt.password_file is None
