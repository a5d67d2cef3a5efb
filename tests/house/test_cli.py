"""What `wheeld-house` says of words that it does not accept."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from wheeld_house import cli


def test_a_password_that_is_not_given_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def ended(_: str) -> str:
        raise EOFError

    monkeypatch.setattr(cli, "getpass", ended)
    assert cli.main(["password"]) == 2
    assert "no password was given" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["records", "dbname=x"], ["receipt", "dbname=x"]])
@pytest.mark.parametrize("table", ["campione", "campione/", "a/b/c"])
def test_a_table_is_named_with_its_site(command: list[str], table: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main([*command, table, *(["1"] if command[0] == "receipt" else [])])
    assert "is not SITE/TABLE" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["collect", "page", "witness"])
def test_a_file_that_is_not_utf_8_is_named_in_plain_words(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "settings.toml"
    file.write_bytes("name = 'sala più grande'".encode("latin-1"))
    assert cli.main([command, str(file)]) == 2
    assert capsys.readouterr().err == f"wheeld-house: {file} is not a text in UTF-8: save it as UTF-8\n"


def test_a_receipt_that_is_not_utf_8_is_named_in_plain_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "receipt"
    file.write_bytes(b"\xff")
    assert cli.main(["verify", str(file), "--key", "none"]) == 1
    assert capsys.readouterr().err == f"wheeld-house: {file} proves nothing: it is not a text in UTF-8\n"


def test_an_argument_that_is_not_utf_8_is_told_in_plain_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["migrate", "dbname=\udcff"]) == 2
    assert capsys.readouterr().err == "wheeld-house: an argument of this command is not a text in UTF-8\n"


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("collect", "[[brokers]]\nhost = 'x'\n"),
        ("witness", "key_file = 'x'\nstate_file = 'x'\n"),
    ],
)
def test_two_wheels_of_one_key_are_named(
    command: str, more: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key, file = tmp_path / "wheel.pub", tmp_path / "settings.toml"
    public = Ed25519PrivateKey.from_private_bytes(bytes([7]) * 32).public_key()
    key.write_bytes(public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    wheels = (f"[[wheels]]\nsite = 's'\ntable = '{table}'\npublic_key_file = '{key}'\n" for table in "abc")
    file.write_text("name = 'x'\ndatabase = 'dbname=x'\n" + more + "".join(wheels))
    assert cli.main([command, str(file)]) == 2
    assert re.search("s/a and .*s/b have the same public key", capsys.readouterr().err)
