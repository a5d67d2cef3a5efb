"""Every command that a message, a log line or a file of ours names is one that the program takes as it is typed."""

from __future__ import annotations

import ast
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tests.config.test_config import GOOD, with_line
from tests.journal.journals import OWNER
from tests.security.forger.house import House, build
from tests.setup.bench import SIMULATED, BareComputer, set_up
from wheeld.cli import setup as of_setup
from wheeld.cli import watch as of_watch
from wheeld.cli.main import main
from wheeld.cli.parser import parser
from wheeld.config import instance
from wheeld.config.instance import signing_key_of, wheel_of
from wheeld.config.paths import not_stored, setup_again
from wheeld.config.problems import ConfigError
from wheeld.core.catalogue import Catalogue
from wheeld.daemon.root import adoption
from wheeld.exits import Exit
from wheeld.journal.elsewhere import BehindError
from wheeld.journal.opening import open_to_write
from wheeld.locale import LANGUAGES, english, read, translations
from wheeld.setup.places import BrokerPlaces, Places

Captured = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[2]
UNITS = {path.name for path in (ROOT / "systemd").glob("*.service")} | {"mosquitto", "mosquitto.service"}
PROGRAMS = ("wheeld", "systemctl")
NAME = "campione-03"
PLACED = "1"
"""Stands where a message has a name or a number of its own: each takes it."""


def texts_of(code: str) -> Iterator[str]:
    """Every text in the code that is no docstring; what a message puts into one is `PLACED`."""
    nodes = list(ast.walk(ast.parse(code)))
    parts = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    parts |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else PLACED for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.value


def commands_in(text: str) -> Iterator[str]:
    """Those between backticks, those that have a line of their own, or go on in the next, and a text that is nothing
    else."""
    programs, text = "|".join(PROGRAMS), re.sub(r"\\\n\s*", "", text)
    found = [
        *re.findall(rf"`((?:{programs}) [^`]+)`", text),
        *re.findall(rf"^(?:# )? {{2,}}((?:{programs}) .+?)(?: {{2,}}.*)?$", text, re.MULTILINE),
        *re.findall(rf"(?:&& |\| )((?:{programs}) .+)$", text, re.MULTILINE),
        *re.findall(rf"\A((?:{programs}) (?!--)[^\s:,]+(?: [^:,\n]+)?)\Z", text),
    ]
    for command in found:
        first = re.split(r" (?:\||&&) ", command)[0].replace("{table}", "site/table")
        yield re.sub(r"\{\w+\}", PLACED, first)


def wrong(command: str) -> str:
    """Why a shell or the program does not take it; empty where both do. Command names alone are a mention, and must be
    there."""
    if re.search(r"[<>\[\]…]|\b[A-Z]{3,}\b", command):
        return "has a placeholder"
    program, *words = shlex.split(command)
    if program == "systemctl":
        verb, *rest = (word for word in words if not word.startswith("--"))
        units = [re.sub("@.*", "@.service", unit) for unit in rest]
        is_known = verb in ("enable", "reload", "restart", "start", "stop", "edit", "status", "reset-failed")
        return "" if is_known and set(units) <= {*UNITS, PLACED} else "systemctl does not know that"
    try:
        parser().parse_args(["site/table" if word.startswith("@") else word for word in words])
    except SystemExit as end:
        if end.code and all(re.fullmatch("[a-z-]+", word) and not word.startswith("-") for word in words):
            with pytest.raises(SystemExit) as helped:
                parser().parse_args([*words, "--help"])
            return "" if helped.value.code == 0 else "there is no such command"
        return "the program does not take it" if end.code else ""
    return ""


PRINTED = sorted(
    {
        (str(path.relative_to(ROOT)), command)
        for code, path in ((path.read_text(), path) for path in (ROOT / "wheeld").rglob("*.py"))
        if any(f"{program} " in code for program in PROGRAMS)  # so few files are parsed, which each worker does
        for text in texts_of(code)
        for command in commands_in(text)
    }
    | {
        (str(path.relative_to(ROOT)), command)
        for directory in ("systemd", "wheeld/page/static")
        for path in (ROOT / directory).rglob("*")
        if path.suffix in (".service", ".conf", ".rules", ".acl", ".html", ".js")
        for command in commands_in(path.read_text())
    }
)


@pytest.mark.parametrize(("path", "command"), PRINTED)
def test_a_command_that_is_printed_is_one_that_the_program_takes(path: str, command: str) -> None:
    assert wrong(command) == "", path


def test_the_commands_are_found() -> None:
    code = (
        'def f():\n    """`wheeld docstring`"""\n    print(f"do `wheeld journal show {x} --coup 1`", "`wheeld acl`")\n'
    )
    assert [each for text in texts_of(code) for each in commands_in(text)] == [
        "wheeld journal show 1 --coup 1",
        "wheeld acl",
    ]
    assert len(PRINTED) > 30
    assert ("wheeld/setup/configuration.py", "systemctl reload wheeld@1") in PRINTED


@pytest.mark.parametrize(
    "command",
    [
        "wheeld journal adopt 1 --after 1 --why TEXT",
        "wheeld journal adopt 1 --after 1 [--key 1]",
        "wheeld journal adopt 1",
        "wheeld jurnal",
        "wheeld watch 1 --fromseq 1",
        "systemctl restart wheld@1",
        "systemctl renew wheeld@1",
    ],
)
def test_a_command_that_nobody_takes_is_found(command: str) -> None:
    assert wrong(command)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_names_the_same_commands(language: str) -> None:
    differing = [
        english(message)
        for message in read(language)
        if message.id
        for text in translations(message)
        if sorted(commands_in(re.sub(r"«\s*|\s*»", "`", text))) != sorted(commands_in(english(message)))
    ]
    assert differing == []


# --- in the situation that prints them ---------------------------------------------------------------------------


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    """A wheel of this computer, with its key in systemd's store, whose journal was restored from an older copy."""
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    monkeypatch.setattr(instance, "ROOT", tmp_path)
    house = build(tmp_path)
    for directory in (instance.CONFIGURATIONS, instance.STORES[0]):
        (tmp_path / directory).mkdir(parents=True)
    named = with_line("journal", 'signing_key_file = "credential:signing-key"', GOOD)
    text = re.sub(r"(?m)^path = .+$", f'path = "{house.journal}"', named)
    (tmp_path / instance.CONFIGURATIONS / f"{NAME}.toml").write_text(text)
    (tmp_path / "wheel.key").rename(tmp_path / instance.STORES[0] / f"wheeld.{NAME}.signing-key")
    (tmp_path / "wheel.key").symlink_to(tmp_path / instance.STORES[0] / f"wheeld.{NAME}.signing-key")
    shutil.copy(house.older, house.journal)
    return house


def met(house: House) -> BehindError | None:
    """What the daemon's comparison with the broker ends with."""
    with closing(open_to_write(house.journal, owner=OWNER, signer=house.signer)) as journal:
        try:
            journal.compare(house.retained, settlement_ack=True)
        except BehindError as behind:
            return behind
    return None


def typed(command: str) -> int:
    program, *words = shlex.split(command)
    assert program == "wheeld"
    return main(words)


def test_an_older_copy_goes_on_by_the_command_as_it_is_printed(house: House, capsys: Captured) -> None:
    behind = met(house)
    assert behind is not None
    command = adoption(wheel_of(NAME).name, behind)
    assert command.startswith(f"wheeld journal adopt {NAME} --after 16:")
    assert wrong(command) == ""
    assert typed(command) == Exit.OK
    (settled,) = re.findall(r"by hand: (.+)$", capsys.readouterr().out, re.MULTILINE) or [f"wheeld journal show {NAME}"]
    assert typed(settled) == Exit.OK
    assert met(house) is None


def test_a_file_of_a_configuration_elsewhere_is_named_by_its_path(house: House, tmp_path: Path) -> None:
    elsewhere = tmp_path / "a wheel.toml"
    text = (tmp_path / instance.CONFIGURATIONS / f"{NAME}.toml").read_text()
    elsewhere.write_text(text.replace("credential:signing-key", "wheel.key"))
    behind = met(house)
    assert behind is not None
    assert typed(adoption(wheel_of(str(elsewhere)).name, behind)) == Exit.OK
    assert met(house) is None


def test_a_file_alone_has_no_key_and_the_cure_is_named(house: House, capsys: Captured) -> None:
    assert main(["journal", "adopt", str(house.journal), "--after", "16", "--why", "x"]) == Exit.BAD_DATA
    assert "no key is given: name the wheel in place of its journal's file, or its key with --key" in (
        capsys.readouterr().err
    )
    assert main(["journal", "seal", str(house.journal), "--why", "x"]) == Exit.USAGE
    assert "name a wheel that has a key, or give --key" in capsys.readouterr().err
    assert main(["journal", "seal", NAME, "--why", "x"]) == Exit.OK


def test_a_key_that_is_not_there_is_a_fault_of_the_configuration(house: House, tmp_path: Path) -> None:
    (tmp_path / instance.STORES[0] / f"wheeld.{NAME}.signing-key").unlink()
    with pytest.raises(ConfigError, match="signing_key_file"):
        signing_key_of(NAME)


def test_the_commands_that_setup_leaves_to_a_person(tmp_path: Path, capsys: Captured) -> None:
    computer = BareComputer(tmp_path)
    assert of_setup.setup(parser().parse_args(["setup", *SIMULATED, "--yes"]), computer) == Exit.OK
    printed = capsys.readouterr().out
    left = [*commands_in(printed)]
    assert [command.split()[:2] for command in left] == [
        ["wheeld", "check-config"],
        ["wheeld", "watch"],
        ["systemctl", "enable"],
    ]
    assert [wrong(command) for command in left] == [""] * 3
    assert parser().parse_args(shlex.split(left[0])[1:]).wheel == "bench-01"


def test_what_a_message_says_of_setup_works_without_a_terminal(tmp_path: Path) -> None:
    computer = BareComputer(tmp_path)
    set_up(computer, *SIMULATED)
    places = Places(computer, "bench-01")
    places.secret("mqtt-key").unlink()
    said = not_stored("mqtt-key", "bench-01", places.secret("mqtt-key"))
    assert Catalogue("en").say_text(said).endswith(f"let `{setup_again('/etc/wheeld/bench-01.toml')}` make it")
    _, *words = shlex.split(setup_again(str(places.configuration)))
    assert of_setup.setup(parser().parse_args(words), computer) == Exit.OK
    assert places.secret("mqtt-key").exists()


def test_what_a_message_says_of_a_lost_signing_key_makes_a_new_one_and_keeps_the_old_journal(tmp_path: Path) -> None:
    computer = BareComputer(tmp_path)
    set_up(computer, *SIMULATED)
    places = Places(computer, "bench-01")
    places.secret("signing-key").unlink()
    left = [Path(f"{places.journal}{end}") for end in ("", "-wal", ".lock")]
    for file in left:
        file.write_text("records")
    said = Catalogue("en").say_text(not_stored("signing-key", "bench-01", places.secret("signing-key")))
    move, again = re.findall(r"`(mkdir [^`]*|wheeld setup [^`]*)`", said)
    for directory in ("/var/", "/etc/"):
        move, again = (each.replace(f" {directory}", f" {tmp_path}{directory}") for each in (move, again))
    subprocess.run(["sh", "-euc", move], check=True)
    assert not any(file.exists() for file in left)
    assert of_setup.setup(parser().parse_args(shlex.split(again)[1:]), computer) == Exit.OK
    assert places.secret("signing-key").exists()
    assert said.index("start the wheel") < said.index("65") < said.index("`wheeld logs bench-01`")


def test_watch_takes_table_broker_and_login_of_the_wheel_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computer = BareComputer(tmp_path)
    set_up(computer, *SIMULATED)
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    monkeypatch.setattr(instance, "ROOT", tmp_path)
    given: list[tuple[str, dict[str, Any]]] = []

    def feed(host: str, **more: Any) -> NoReturn:
        given.append((host, more))
        raise KeyboardInterrupt

    monkeypatch.setattr(of_watch, "Feed", feed)
    assert main(["watch", "bench-01"]) == main(["watch", "bench-01", "--from-seq", "1"]) == Exit.INTERRUPTED
    (host, more), (_, asking) = given
    assert asking["login"].cert_file == BrokerPlaces(computer).user_certificate("collector")
    login, house = more["login"], BrokerPlaces(computer)
    assert (host, more["root"], more["test"], login.port) == ("localhost", "wheel/v1/bench/bench-01", True, 8883)
    assert login.ca_file == house.authority
    assert login.cert_file == house.user_certificate("table-system-bench-01")
    assert login.key_file == house.user_key("table-system-bench-01")
