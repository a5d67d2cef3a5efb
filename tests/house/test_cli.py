"""What `wheeld-house` says of words that it does not accept."""

from __future__ import annotations

import pytest

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
