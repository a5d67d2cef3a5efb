"""What `wheeld page` refuses to serve, and what it makes of its options."""

from __future__ import annotations

from pathlib import Path

import pytest

from wheeld.cli.main import main
from wheeld.cli.page import _setting
from wheeld.cli.parser import parser
from wheeld.exits import Exit

TOKEN = "correct horse battery"


@pytest.fixture
def token(tmp_path: Path) -> str:
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    return str(path)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("--chef 127.0.0.1:8401", "anybody could command the wheel"),
        ("--chef 0.0.0.0:8401 --token-file {token}", "would cross it in clear"),
        ("--chef [2001:db8::1]:8401 --token-file {token}", "would cross it in clear"),
        ("--chef 127.0.0.1:8401 --panel-client-ca-file {token}", "needs --panel-cert-file"),
        ("--chef 127.0.0.1:8401 --token-file {token} --panel-cert-file {token}", "go together"),
        ("--chef 127.0.0.1:8400 --token-file {token}", "never on the players' port"),
    ],
)
def test_a_panel_that_is_open_to_others_is_not_served(
    options: str, why: str, token: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["page", "campione/campione-03", *options.format(token=token).split()]) == Exit.USAGE
    said = capsys.readouterr().err
    assert why in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(("content", "why"), [(b"short", "12 characters"), (b"\xff" * 20, "can be typed")])
def test_a_token_that_protects_nothing_is_refused(
    content: bytes, why: str, token: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(token).write_bytes(content)
    assert main(["page", "s/t", "--chef", "127.0.0.1:8401", "--token-file", token]) == Exit.USAGE
    assert why in capsys.readouterr().err


@pytest.mark.parametrize("place", ["8400", "127.0.0.1", "127.0.0.1:x", ":8400", "127.0.0.1:70000"])
def test_what_is_no_address_is_named(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["page", "s/t", "--listen", place])
    assert "is no ADDRESS:PORT" in capsys.readouterr().err


def test_pages_and_chef_log_in_under_the_names_of_their_roles(token: str) -> None:
    words = ["page", "campione/campione-03", "--chef", "127.0.0.1:8401", "--token-file", token, "--ca-file", token]
    setting = _setting(parser().parse_args(words))
    assert setting.chef is not None
    assert (setting.mqtt.username, setting.chef.mqtt.username) == ("page-campione-03", "chef-campione-03")
    assert (setting.mqtt.port, setting.address.port, setting.metrics) == (8883, 8400, None)


def test_options_can_stand_in_a_file(tmp_path: Path) -> None:
    options = tmp_path / "options"
    options.write_text("campione/campione-03\n--listen=[::1]:9\n--metrics=127.0.0.1:9000\n")
    setting = _setting(parser().parse_args(["page", f"@{options}"]))
    assert (setting.root, setting.address.host) == ("wheel/v1/campione/campione-03/", "::1")
    assert setting.metrics is not None
