"""What `wheeld page` refuses to serve, and what it makes of its options."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from tests.mosquitto import free_port
from wheeld.cli.main import main
from wheeld.cli.page import _setting
from wheeld.cli.parser import parser
from wheeld.exits import Exit
from wheeld.page.setting import Address
from wheeld.service import notify

TOKEN = "correct horse battery"


@pytest.fixture
def token(tmp_path: Path) -> str:
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    path.chmod(0o600)
    return str(path)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("--chef 127.0.0.1:8401", "anybody could command the wheel"),
        ("--chef 0.0.0.0:8401 --token-file {token}", "would carry its token without encryption"),
        ("--chef [2001:db8::1]:8401 --token-file {token}", "would carry its token without encryption"),
        ("--chef 127.0.0.1:8401 --panel-client-ca-file {token}", "needs --panel-cert-file"),
        ("--chef 127.0.0.1:8401 --token-file {token} --panel-cert-file {token}", "give --panel-cert-file and"),
        ("--chef 127.0.0.1:8400 --token-file {token}", "--chef and --listen have the same address and port"),
        ("--token-file {token}", "--token-file needs --chef"),
        ("--chef-username x", "--chef-username needs --chef"),
        ("--bouler 127.0.0.1:8403", "--bouler needs --bouler-token-file"),
        ("--bouler 127.0.0.1:8403 --token-file {token}", "--token-file needs --chef"),
        ("--bouler 0.0.0.0:8403 --bouler-token-file {token}", "would carry its token without encryption"),
        ("--bouler-token-file {token}", "--bouler-token-file needs --bouler"),
        ("--bouler 127.0.0.1:8403 --bouler-token-file {token} --panel-client-ca-file {token}", "needs --chef"),
        (
            "--chef 127.0.0.1:9 --token-file {token} --bouler 127.0.0.1:9",
            "--chef and --bouler have the same address and port",
        ),
        ("--display 127.0.0.1:9 --metrics 127.0.0.1:9", "--display and --metrics have the same address and port"),
    ],
)
def test_a_panel_that_is_open_to_others_is_not_served(
    options: str, why: str, token: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["page", "campione/campione-03", *options.format(token=token).split()]) == Exit.USAGE
    said = capsys.readouterr().err
    assert why in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(("content", "why"), [(b"short", "12 characters"), (b"\xff" * 20, "nobody can type")])
def test_a_token_that_protects_nothing_is_refused(
    content: bytes, why: str, token: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(token).write_bytes(content)
    assert main(["page", "s/t", "--chef", "127.0.0.1:8401", "--token-file", token]) == Exit.USAGE
    assert why in capsys.readouterr().err


@pytest.fixture
def unlogged(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log of the whole process stays as it is."""
    monkeypatch.setattr("wheeld.cli.page.log_to_stderr", lambda _: None)


CHEF = "--chef 127.0.0.1:8401 --token-file {token}"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("--chef 127.0.0.1:8401 --token-file none", "--token-file: the file cannot be read: No such file or directory"),
        ("--chef 127.0.0.1:8401 --token-file {opened}", "--token-file: the file is open to all on this computer"),
        ("--state {token}", "--state: {token} is not a directory in which this user may write"),
        ("--state none", "--state: none is not a directory"),
        ("--ca-file none", "--ca-file: none cannot be read"),
        ("--ca-file {opened}", "holds no certificate in PEM"),
        ("--key-file {token}", "--key-file needs --cert-file"),
        ("--username x --password-file {opened}", "--password-file: the file is open to all"),
        (f"{CHEF} --chef-cert-file none --chef-key-file {{token}}", "--chef-cert-file: none cannot be read"),
        (f"{CHEF} --chef-cert-file {{opened}} --chef-key-file {{token}}", "not a certificate and its key in PEM"),
        (f"{CHEF} --panel-cert-file {{opened}} --panel-key-file {{token}}", "not a certificate and its key in PEM"),
    ],
)
@pytest.mark.usefixtures("unlogged")
def test_a_file_that_cannot_be_used_is_named(
    options: str, why: str, token: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = tmp_path / "opened"
    opened.write_text(TOKEN)
    opened.chmod(0o644)
    words = options.format(token=token, opened=opened).split()
    assert main(["page", "s/t", "--listen", f"127.0.0.1:{free_port()}", *words]) == Exit.NO_INPUT
    said = capsys.readouterr().err.splitlines()[-1]
    assert why.format(token=token) in said
    assert TOKEN not in said


@pytest.mark.parametrize(
    ("host", "why"),
    [("127.0.0.1", "another program uses this port"), ("192.0.2.1", "this computer does not have this address")],
)
@pytest.mark.usefixtures("unlogged")
def test_a_port_that_cannot_be_opened_is_named(
    host: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the file that a unit's options are in; systemd is notified of the same."""
    options = tmp_path / "c-3"
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        options.write_text(f"s/t\n--listen\n{host}:{port}\n")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(str(tmp_path / "notify"))
            monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
            monkeypatch.setattr(notify, "READ_S_MAX", 0.1)
            monkeypatch.setattr(sys, "argv", ["wheeld", "page", f"@{options}"])
            assert main() == Exit.IO_FAILED
            assert manager.recv(1000) == b"STOPPING=1"
            said = manager.recv(1000).decode().removeprefix("STATUS=")
    assert said.startswith(f"{host}:{port} cannot be opened: {why}")
    assert said.endswith(f"; the options are in {options}")
    assert f"wheeld: {said}\n" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["8400", "127.0.0.1", "127.0.0.1:x", ":8400", "127.0.0.1:70000"])
def test_what_is_no_address_is_named(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["page", "s/t", "--listen", place])
    assert "is not ADDRESS:PORT" in capsys.readouterr().err


def test_pages_and_chef_log_in_under_the_names_of_their_roles(token: str) -> None:
    words = ["page", "campione/campione-03", "--chef", "127.0.0.1:8401", "--token-file", token, "--ca-file", token]
    setting = _setting(parser().parse_args(words))
    (chef,) = setting.panels
    assert (setting.mqtt.username, chef.mqtt.username) == ("page-campione-03", "chef-campione-03")
    assert (setting.mqtt.port, setting.address.port, setting.metrics) == (8883, 8400, None)


def test_each_panel_has_its_own_login_and_token_and_browsers_with_a_certificate_use_the_chefs_alone(token: str) -> None:
    tls = ["--panel-cert-file", token, "--panel-key-file", token, "--panel-client-ca-file", token]
    panels = ["--chef", "127.0.0.1:8401", "--bouler", "127.0.0.1:8403", "--bouler-token-file", token]
    setting = _setting(parser().parse_args(["page", "campione/campione-03", *panels, *tls]))
    chef, bouler = setting.panels
    assert (chef.user, chef.token_file, str(chef.client_ca_file)) == ("chef-campione-03", None, token)
    assert (bouler.user, str(bouler.token_file), bouler.client_ca_file) == ("bouler-campione-03", token, None)
    assert chef.cert_file == bouler.cert_file


def test_options_can_stand_in_a_file(tmp_path: Path) -> None:
    options = tmp_path / "options"
    options.write_text("campione/campione-03\n--listen=[::1]:9\n--metrics=127.0.0.1:9000\n--display=10.0.0.7:8402\n")
    setting = _setting(parser().parse_args(["page", f"@{options}"]))
    assert (setting.root, setting.address.host) == ("wheel/v1/campione/campione-03/", "::1")
    assert setting.metrics is not None
    assert setting.display == Address("10.0.0.7", 8402)
