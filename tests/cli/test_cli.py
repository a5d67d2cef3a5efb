"""The command line: what it prints, where it complains, how it ends."""

from __future__ import annotations

import grp
import gzip
import hashlib
import io
import json
import os
import pwd
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import zlib
from contextlib import ExitStack, closing
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import msgspec
import pytest
from cryptography import x509
from msgspec import structs

from hw_sim import log as sim_log
from hw_sim.evening import script
from tests.broker.feed import Feed
from tests.config.test_config import GOOD, with_line
from tests.core.head_evening import CHEF, HeadEvening
from tests.journal.journals import NOW, open_reader, open_writer, write_keys
from tests.security.authority import Authority
from wheeld.broker.tls import TlsFiles
from wheeld.cli import check
from wheeld.cli.main import main
from wheeld.config import instance
from wheeld.config.sections import Config
from wheeld.core.catalogue import Language
from wheeld.core.facts import Bets, StateName
from wheeld.core.observations import Observation
from wheeld.core.setting import Header, from_header
from wheeld.core.table import Table
from wheeld.daemon import root as daemon
from wheeld.daemon.root import Unusable
from wheeld.exits import Exit
from wheeld.journal.opening import open_to_write
from wheeld.journal.seal import public_key
from wheeld.ports import EventRecord
from wheeld.replay import replay
from wheeld.screen.describe import BETS, STATES, describe
from wheeld.screen.locale import LANGUAGES
from wheeld.screen.terminal import printable, printable_bytes

Captured = pytest.CaptureFixture[str]
SEED = 3


@pytest.fixture(scope="module")
def evening(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded evening: one void, then a valid coup."""
    drawn = script(["same_direction", "valid"], seed=SEED)
    path = tmp_path_factory.mktemp("log") / "evening.jsonl"
    sim_log.write(path, drawn.header, drawn.events())
    return path


@pytest.fixture(scope="module")
def stored(evening: Path) -> Path:
    """The journal of that evening."""
    first, *rest = evening.read_bytes().splitlines()
    setting = from_header(msgspec.json.decode(first, type=Header))
    table, opening = Table.start(setting, boot_id="b", started_utc_us=1_800_000_000_000_000)
    with closing(open_writer(evening.with_name("journal.sqlite"))) as file:
        file.append(opening, 1_800_000_000_000_000)
        for line in rest:
            if step := table.apply(msgspec.json.decode(line, type=Observation)):
                file.append(step, 1_800_000_000_000_000 + table.now_us)
    return evening.with_name("journal.sqlite")


@pytest.fixture
def journal(stored: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    return Path(shutil.copy(stored, tmp_path / "journal.sqlite"))


def wheeld(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """The real command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "wheeld", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
    )


# --- the command line itself ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [(), ("run",), ("check-config",), ("replay",), ("journal",), ("journal", "show")])
def test_every_help_names_the_page_of_the_exit_codes(words: tuple[str, ...], capsys: Captured) -> None:
    with pytest.raises(SystemExit) as end:
        main([*words, "--help"])
    assert end.value.code == Exit.OK
    printed = capsys.readouterr().out
    assert printed.count("exit codes: wheeld help exit-codes\n") == 1
    assert "examples:" in printed or words in [("run",), ("check-config",)]


def test_one_page_teaches_the_exit_codes(capsys: Captured) -> None:
    assert main(["help", "exit-codes"]) == Exit.OK
    printed = capsys.readouterr().out.splitlines()
    assert printed[1:] == [f"  {code.value:<4}{code.text}" for code in Exit]


def test_help_without_a_page_is_that_of_the_commands(capsys: Captured) -> None:
    assert main(["help"]) == Exit.OK
    assert "check-config" in capsys.readouterr().out


def test_every_example_in_the_help_is_a_command_line(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO())))
    for words in ([], ["replay"], ["journal"]):
        with pytest.raises(SystemExit):
            main([*words, "--help"])
    lines = [line.strip().split("   ")[0] for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    parts = [part.split() for line in lines for part in line.split(" | ")]
    examples = [part[1:] for part in parts if part and part[0] == "wheeld"]
    assert len(examples) >= 11
    for example in examples:
        try:
            main(example)
        except SystemExit as end:
            pytest.fail(f"{example}: {end}")


@pytest.mark.parametrize("words", [[], ["dance"], ["run"], ["replay"], ["journal", "export", "j"]])
def test_a_wrong_command_line(words: list[str], capsys: Captured) -> None:
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == Exit.USAGE
    assert "usage: wheeld" in capsys.readouterr().err


def test_the_version_is_the_package_s() -> None:
    printed = wheeld("--version")
    assert (printed.returncode, printed.stdout.decode()) == (0, f"wheeld {version('wheeld')}\n")


def test_interrupted(monkeypatch: pytest.MonkeyPatch, evening: Path) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("wheeld.cli.replay.describe", interrupt)
    assert main(["replay", str(evening)]) == Exit.INTERRUPTED


def test_verify_alone_verifies_the_program(capsys: Captured) -> None:
    assert main(["--verify"]) == Exit.NOT_INSTALLED
    assert "no release made this program" in capsys.readouterr().err


@pytest.mark.parametrize("head", ["x", "1", "1:zz", "1:abc", ":ab", "-1:ab"])
def test_a_head_that_is_none(head: str, capsys: Captured) -> None:
    with pytest.raises(SystemExit):
        main(["journal", "verify", "j", f"--head={head}"])
    assert "is not N:HEX, like the head that `wheeld journal verify` and `backup` print" in capsys.readouterr().err


@pytest.mark.parametrize("data", [b"", b"hello\n", bytes(range(128, 256)), b"[]\n", b'{"kind":"wheel"}\n'])
def test_what_is_no_log_at_all(data: bytes, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "log").write_bytes(data)
    assert main(["replay", str(tmp_path / "log")]) == Exit.BAD_DATA
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith(f"wheeld: {tmp_path / 'log'}: line 1: ")
    assert said.endswith("; name an observation log, like those that `wheeld journal export` writes")


# --- run, check-config ---------------------------------------------------------------------------------------------


def write(directory: Path, text: str) -> Path:
    path = directory / "wheel.toml"
    path.write_text(text)
    return path


def test_run_hands_the_configuration_to_the_daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    got: list[tuple[Config, str]] = []

    def run(config: Config, configuration_digest: str, unusable: Unusable) -> Exit:
        assert unusable() is None
        got.append((config, configuration_digest))
        return Exit.IO_FAILED

    monkeypatch.setattr(daemon, "run", run)
    path = write(tmp_path, GOOD)
    assert main(["run", "-c", str(path)]) == Exit.IO_FAILED
    ((config, digest),) = got
    assert config.file == str(path)
    assert config.table.table == "campione-03"
    assert digest == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("command", [["run"], ["check-config"]])
def test_a_wrong_configuration_is_reported_with_its_lines(command: list[str], tmp_path: Path, capsys: Captured) -> None:
    path = write(tmp_path, GOOD.replace("rotor_ticks", "rotor_tick").replace("campione-03", "A 3"))
    assert main([*command, str(path)]) == Exit.BAD_CONFIG
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "wheeld: the configuration is wrong",
        (
            f"{path}:3: table.id: 'A 3' becomes a part of MQTT topics: use only lower-case letters, "
            "digits, - and _, 64 at most; "
            'write "a-3"'
        ),
        f"{path}:8: wheel.rotor_tick: is not a known key; did you mean rotor_ticks?",
    ]


@pytest.mark.parametrize("command", [["run"], ["doctor"], ["check-config"], ["replay"], ["journal", "verify"]])
def test_a_file_that_is_not_there(command: list[str], tmp_path: Path, capsys: Captured) -> None:
    assert main([*command, str(tmp_path / "none")]) == Exit.NO_INPUT
    said = "there is no such file or directory; check the name"
    assert capsys.readouterr().err == f"wheeld: {tmp_path / 'none'}: {said}\n"


def test_check_config_prints_the_key_and_how_long_evidence_stays(tmp_path: Path, capsys: Captured) -> None:
    private, public = write_keys(tmp_path)
    lines = f'path = "j"\nsigning_key_file = "{private}"\nevidence_age_days = 90\nevidence_bytes_max = 2_000_000_000'
    path = write(tmp_path, GOOD.replace('path = "journal.sqlite"', lines))
    assert main(["check-config", str(path)]) == Exit.LOOK
    printed = capsys.readouterr().out
    assert f"and the feed is signed, with key {public_key(public)[0]}\n" in printed
    assert "evidence is kept for 90 days and up to 2 000 000 000 bytes\n" in printed
    private.write_text("no key at all")
    assert main(["check-config", str(path)]) == Exit.BAD_CONFIG
    assert f"{private}: neither a private key in PEM" in capsys.readouterr().err


def test_check_config_says_that_a_file_is_no_serial_port(tmp_path: Path, capsys: Captured) -> None:
    path = write(tmp_path, GOOD.replace("/dev/ttyACM0", str(tmp_path)))
    assert main(["check-config", str(path)]) == Exit.LOOK
    assert capsys.readouterr().err == f"wheeld: {tmp_path} is not a serial port: correct sensors.port\n"


def test_check_config_prints_what_it_means(tmp_path: Path, capsys: Captured) -> None:
    port = tmp_path / "board"
    path = write(tmp_path, GOOD.replace("/dev/ttyACM0", str(port)))
    assert main(["check-config", str(path)]) == Exit.LOOK
    printed = capsys.readouterr()
    assert printed.err == f"wheeld: this computer has no {port}: connect the device, or correct sensors.port\n"
    assert printed.out.splitlines() == [
        "table: campione-03 of campione, campione/roulette",
        "messages in French, numbers announced in French",
        'a void coup is declared with "rien va"',
        "a coup needs 3 proven laps",
        "the number is proven after 3 sightings in the same pocket",
        "rien ne va plus: announced by the chef",
        "wheel: french, the rotor turns either way; its encoder has 148 ticks",
        "beams: 4 at 0°, 90°, 180° and 270°",
        (
            "any 2 pulses may be strays, so a lap is proven only if it is proven without them, too: "
            "a run of 3.75 laps or more is certainly valid"
        ),
        "readers: 3 at 30°, 150° and 270°",
        f"sensor board: {port} at 115200 baud; silence for 1 s is a fault",
        "any board with this layout of sensors is accepted",
        "the board's clock may drift from the host's clock by up to 200 ppm; more is a trouble",
        "the cabinet's door: reported by the sensor board, if it has a door switch",
        "R1, Art. 10: the ball runs against the rotor: the beams and the encoder",
        "R2, Art. 10: the ball runs at least 3 full laps: the beams",
        "R3, Art. 11: the number is where the ball comes to rest: the readers and the encoder",
        "R4: the number is announced with its chances: it follows from the number",
        "N1, Art. 11: the ball runs in the same direction as the rotor: the beams and the encoder",
        "N2, Art. 11: launched too early: the beams, with what people said",
        "N3, Art. 11: too few laps: the beams, when the ball leaves the track",
        "N4, Art. 11: the rotor stops while the ball runs: the encoder, 0.6 to 1.5 s after its last edge",
        (
            "N5, Art. 11: the rotor stops while the ball lies on an obstacle: the encoder, 0.6 to 1.5 s after its last "
            "edge; and the beams"
        ),
        "N6, Art. 11: a foreign object: an object sensor, if the wheel has one",
        "N7, Art. 11: the chef declares it void: the chef's word",
        "N8: breakdown of what observes the wheel: self-tests and time-outs",
        "A1: the launch starts the coup: the beams",
        "A1: rien ne va plus: the chef's word",
        "A7: which way the rotor turns: the encoder",
        "rulebook 3, Art. 11: after a void the ball lies in the pocket of the last number: the readers and the encoder",
        (
            "if the sensors suggest enough laps and do not prove them, the coup waits for the chef to confirm it, or "
            "to declare it void"
        ),
        f"journal: {tmp_path}/journal.sqlite",
        "evidence is kept up to 4 000 000 000 bytes",
        "broker: 127.0.0.1:1883 anonymously, without TLS",
        "topics: wheel/v1/campione/campione-03/…",
        "a message is owed until the broker has confirmed it",
        "log: info and above, JSON lines on standard error",
    ]


def test_check_config_says_nothing_of_a_port_that_is_there(tmp_path: Path, capsys: Captured) -> None:
    assert main(["check-config", str(write(tmp_path, GOOD.replace("/dev/ttyACM0", "/dev/null")))]) == Exit.OK
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("of_root", "may"),
    [
        ("etc/wheeld/c-3.toml", "read"),
        ("ca.crt", "read"),
        ("var", "write"),
        ("var/journal.sqlite", "write"),
        ("var/journal.sqlite.lock", "write"),
        ("var var/journal.sqlite var/journal.sqlite.lock", "write"),
        ("etc/wheeld", "read"),
    ],
)
def test_check_config_says_which_file_is_closed_to_the_unit(
    of_root: str, may: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """The unit asks it before a reload, as root. The command that it prints is the cure."""
    if os.geteuid():
        pytest.skip("only root can ask what another user may do")
    top = Path(tempfile.mkdtemp())  # not pytest's, where nobody else comes in
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, top)
        top.chmod(0o755)
        monkeypatch.setattr(instance, "ROOT", top)
        monkeypatch.setattr(check, "USER", user := "nobody")
        file = top / "etc/wheeld/c-3.toml"
        file.parent.mkdir(parents=True)
        Authority(top).file.rename(top / "ca.crt")
        (top / "var").mkdir()
        for name in ("journal.sqlite", "journal.sqlite.lock"):
            (top / "var" / name).touch()
        config = GOOD.replace("journal.sqlite", f"{top}/var/journal.sqlite")
        file.write_text(config.replace("[mqtt]\n", f'[mqtt]\nca_file = "{top}/ca.crt"\n'))
        for path in (file.parent, file, top / "ca.crt", top / "var", *(top / "var").iterdir()):
            path.chmod(0o750 if path.is_dir() else 0o640)
            shutil.chown(path, user, grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_name)
        assert main(["check-config", "c-3"]) == Exit.LOOK, capsys.readouterr().err
        closed = [top / each for each in of_root.split()]
        for path in closed:
            shutil.chown(path, "root", "root")
        capsys.readouterr()
        assert main(["check-config", "c-3"]) == Exit.BAD_CONFIG
        said = capsys.readouterr().err
        assert f"wheeld: the unit's user, {user}, may not {may} {closed[0]}; as root: " in said
        if may == "write":
            with monkeypatch.context() as patched:
                patched.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=os.ST_RDONLY))
                assert main(["check-config", "c-3"]) == Exit.BAD_CONFIG
            read_only = capsys.readouterr().err
            assert f"{closed[0]} is on a file system that is read-only: " in read_only
            assert "chown" not in read_only
        (command,) = re.findall("`(.+)`", said)
        if may == "read":  # here the group of this user has another name
            command = command.replace(f"chgrp {user} ", "chgrp nogroup ")
        subprocess.run(command, shell=True, check=True)
        assert main(["check-config", "c-3"]) == Exit.LOOK
    assert os.geteuid() == 0


def test_check_config_says_that_it_is_a_bench_table(tmp_path: Path, capsys: Captured) -> None:
    assert main(["check-config", str(write(tmp_path, with_line("table", "test = true")))]) == Exit.LOOK
    assert capsys.readouterr().out.splitlines()[:2] == [
        "table: campione-03 of campione, campione/roulette",
        "a BENCH TABLE: every message is marked as a test, and programs accept it only if they ask for tests",
    ]
    assert main(["check-config", str(write(tmp_path, with_line("table", "test = 1")))]) == Exit.BAD_CONFIG
    assert "true or false" in capsys.readouterr().err


def test_check_config_prints_what_is_not_the_default(tmp_path: Path, capsys: Captured) -> None:
    authority = Authority(tmp_path).file
    table = 'game = "fair"\nsightings_to_call = 1\nlast_number = 17\nauto_rien_ne_va_plus_rev_s = 0.8'
    text = (
        GOOD.replace('game = "roulette"', table)
        .replace("[wheel]", '[wheel]\nrotor_direction = "ccw"')
        .replace("[sensors]", '[sensors]\nboard_serial = "B-7"\nconfig_hash = "0123456789abcdef"')
        .replace(
            "[mqtt]",
            f'[mqtt]\nusername = "w"\nca_file = "{authority}"\nsettlement_ack = true\nusers = {{ p7 = "chef" }}',
        )
    )
    text += '[display]\nname = "Tavolo 3"\nlimits = ["Plein 5–200 €"]\n'
    assert main(["check-config", str(write(tmp_path, text))]) == Exit.LOOK
    printed = capsys.readouterr().out
    for fact in (
        "players read: Tavolo 3 · Plein 5–200 €",
        "messages in Italian, numbers announced in French",
        "proven after one sighting",
        "announced automatically when the ball slows to 0.8 laps a second",
        "last number: 17, for a journal that is still empty",
        "wheel: fair, the rotor turns counter-clockwise only",
        "only the board with serial number B-7 and configuration hash 0123456789abcdef",
        "as w, with TLS",
        "owed until the settlement core acknowledges it",
        "p7 at the broker: chef",
    ):
        assert fact in printed


def test_check_config_tells_of_a_directory_that_is_not_there(tmp_path: Path, capsys: Captured) -> None:
    path = write(tmp_path, GOOD.replace("journal.sqlite", "none/journal.sqlite"))
    assert main(["check-config", str(path)]) == Exit.BAD_CONFIG
    line = path.read_text().splitlines().index('path = "none/journal.sqlite"') + 1
    told = capsys.readouterr()
    assert f"{path}:{line}: journal.path: the directory {tmp_path / 'none'} does not exist" in told.err
    assert told.out == ""


def with_certificate(files: TlsFiles, more: str = "") -> str:
    lines = f'[mqtt]\nport = 8883\nca_file = "{files.ca_file}"\ncert_file = "{files.cert_file}"\n'
    return GOOD.replace("[mqtt]\n", f'{lines}key_file = "{files.key_file}"\n{more}')


def test_check_config_says_where_the_password_is_and_what_to_do_after_a_change(
    tmp_path: Path, capsys: Captured
) -> None:
    """A broker that refuses the login refers to this."""
    (tmp_path / "password").write_text("secret")
    (tmp_path / "password").chmod(0o600)
    path = write(tmp_path, GOOD.replace("[mqtt]\n", '[mqtt]\nusername = "w"\npassword_file = "password"\n'))
    assert main(["check-config", str(path)]) == Exit.LOOK, "its port is not there"
    wanted = f"is in {tmp_path / 'password'}; after a change of it: `systemctl restart wheeld@{path.stem}`"
    assert wanted in capsys.readouterr().out


def test_check_config_says_whose_the_certificate_is(tmp_path: Path, capsys: Captured) -> None:
    files = Authority(tmp_path).issue("wheel-campione-03")
    assert main(["check-config", str(write(tmp_path, with_certificate(files)))]) == Exit.LOOK
    assert "8883 with the certificate of wheel-campione-03, with TLS" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["anonymous", "wheel-campione-04", "chef-campione-03", "settlement"])
def test_check_config_tells_of_a_certificate_that_is_not_the_wheel_s(
    name: str, tmp_path: Path, capsys: Captured
) -> None:
    files = Authority(tmp_path).issue(name)
    path = write(tmp_path, with_certificate(files))
    assert main(["check-config", str(path)]) == Exit.BAD_CONFIG
    told = f"mqtt.cert_file: has the common name '{name}', which is not this wheel's in the broker's access list"
    assert told in capsys.readouterr().err
    path = write(tmp_path, with_certificate(files, 'username = "wheel-campione-03"\n'))
    assert main(["check-config", str(path)]) == Exit.LOOK
    assert f"as wheel-campione-03 with the certificate of {name}," in capsys.readouterr().out


def test_check_config_takes_a_name_that_the_file_makes_a_wheel_s(tmp_path: Path, capsys: Captured) -> None:
    files = Authority(tmp_path).issue("cabinet-7")
    path = write(tmp_path, with_certificate(files, 'users = { cabinet-7 = "wheel" }\n'))
    assert main(["check-config", str(path)]) == Exit.LOOK
    assert "with the certificate of cabinet-7" in capsys.readouterr().out


@pytest.mark.parametrize("more", ["", 'username = "wheel-campione-03"\n'])
def test_check_config_tells_of_a_certificate_that_has_ended(more: str, tmp_path: Path, capsys: Captured) -> None:
    files = Authority(tmp_path).issue("wheel-campione-03", days=-1)
    path = write(tmp_path, with_certificate(files, more))
    assert main(["check-config", str(path)]) == Exit.BAD_CONFIG
    told = capsys.readouterr().err
    assert re.search(r"mqtt.cert_file: expired at [-\d]+ [:\d]+ UTC: have a new certificate .+\(`timedatectl`\)", told)
    assert f"`wheeld setup {path.stem} --answers {path} --yes`" in told


def test_check_config_tells_of_a_certificate_that_is_not_valid_yet(tmp_path: Path, capsys: Captured) -> None:
    """The daemon starts with it: at a boot the clock may be wrong, and be set a minute later."""
    files = Authority(tmp_path).issue("wheel-campione-03", begins=1)
    assert main(["check-config", str(write(tmp_path, with_certificate(files)))]) == Exit.LOOK
    told = capsys.readouterr().err
    assert re.search(rf"{files.cert_file} is valid only from [-\d]+ [:\d]+ UTC: correct this computer's clock", told)


def test_check_config_tells_of_a_certificate_of_another_authority(tmp_path: Path, capsys: Captured) -> None:
    """The broker may know that authority, so it is no error."""
    (tmp_path / "later").mkdir()
    house, other, namesake = Authority(tmp_path), Authority(tmp_path, "other"), Authority(tmp_path / "later")
    files = house.issue("wheel-campione-03")
    for authority, is_said in ((house, False), (other, True), (namesake, True)):
        path = write(tmp_path, with_certificate(structs.replace(files, ca_file=authority.file)))
        assert main(["check-config", str(path)]) == Exit.LOOK
        told = f"{files.cert_file} is not from an authority in {authority.file}: "
        assert (told in capsys.readouterr().err) == is_said


def test_check_config_tells_of_a_certificate_that_names_nobody(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = Authority(tmp_path)
    monkeypatch.setattr("tests.security.authority._name", lambda _: x509.Name([]))
    path = write(tmp_path, with_certificate(house.issue("x")))
    assert main(["check-config", str(path)]) == Exit.BAD_CONFIG
    assert "mqtt.cert_file: has no common name" in capsys.readouterr().err


def test_check_config_tells_of_a_certificate_that_is_none(tmp_path: Path, capsys: Captured) -> None:
    files = Authority(tmp_path).issue("x")
    assert files.cert_file is not None
    files.cert_file.write_text("no certificate")
    assert main(["check-config", str(write(tmp_path, with_certificate(files)))]) == Exit.BAD_CONFIG
    assert f"mqtt.cert_file: {files.cert_file} holds no certificate in PEM" in capsys.readouterr().err


# --- acl -----------------------------------------------------------------------------------------------------------


def test_acl_prints_the_list_of_the_tables_that_are_named(tmp_path: Path, capsys: Captured) -> None:
    assert main(["acl", "campione/campione-03"]) == Exit.OK
    shipped = Path(__file__).parents[2] / "systemd" / "mosquitto" / "wheeld.acl"
    assert capsys.readouterr().out == shipped.read_text()
    assert main(["acl", "a/x", "a/y", "-o", str(tmp_path / "acl")]) == Exit.OK
    written = (tmp_path / "acl").read_text()
    assert "topic write wheel/v1/a/x/cmd/chef-x/rien_va\n" in written
    assert "topic write wheel/v1/a/y/cmd/direction/suspend\n" in written
    assert written.count("\nuser auditor\n") == 1


def test_acl_has_those_whom_a_configuration_gives_a_role(tmp_path: Path, capsys: Captured) -> None:
    text = GOOD.replace("[mqtt]", '[mqtt]\nusers = { p7 = "bouler" }')
    assert main(["acl", str(write(tmp_path, text)), "a/other"]) == Exit.OK
    printed = capsys.readouterr().out
    block = printed.split("\nuser p7\n")[1].split("\n\n")[0]
    given = [line.rpartition("/cmd/")[2] for line in block.splitlines() if "/cmd/" in line]
    assert given == [f"p7/{word}" for word in ("last_coup", "open", "rien_ne_va_plus", "tout_va")]


def test_acl_refuses_what_would_make_a_wrong_list(capsys: Captured) -> None:
    assert main(["acl", "a/x", "b/x"]) == Exit.USAGE
    assert "two tables are called x, so their users" in capsys.readouterr().err


@pytest.mark.parametrize("names", [[], ["a/b/c"], ["a/+"], ["a/x\nuser nobody"], ["A/x"]])
def test_acl_takes_names_of_tables_only(names: list[str]) -> None:
    with pytest.raises(SystemExit):
        main(["acl", *names])


# --- replay --------------------------------------------------------------------------------------------------------


def published_by_the_core(log: Path) -> list[bytes]:
    """What the CLI has to print, line by line."""
    return list(replay(log.read_bytes().splitlines(keepends=True)))


def test_replay_prints_exactly_what_the_core_publishes(evening: Path) -> None:
    expected = b"".join(line + b"\n" for line in published_by_the_core(evening))
    plain = wheeld("replay", evening, "--jsonl")
    assert (plain.returncode, plain.stderr, plain.stdout) == (Exit.OK, b"", expected)
    packed = wheeld("replay", "-", "--jsonl", stdin=gzip.compress(evening.read_bytes()))
    assert (packed.returncode, packed.stderr, packed.stdout) == (Exit.OK, b"", expected)


def test_replay_to_a_file(evening: Path, tmp_path: Path, capsys: Captured) -> None:
    assert main(["replay", str(evening), "--jsonl", "-o", str(tmp_path / "out")]) == Exit.OK
    assert capsys.readouterr().out == ""
    assert (tmp_path / "out").read_bytes().splitlines() == published_by_the_core(evening)


def test_replay_for_people_speaks_one_language(evening: Path, capsys: Captured) -> None:
    assert main(["replay", str(evening), "--language", "fr"]) == Exit.OK
    lines = capsys.readouterr().out.splitlines()
    (void,) = [line for line in lines if "  nul " in line]
    (result,) = [line for line in lines if "  résultat " in line]
    assert "rien va — N1 ; R1 : la bille doit tourner en sens inverse du cylindre ; selon l'usage, " in void
    assert "  coup 1 " in void
    assert "  coup 2 " in result
    assert result.endswith(" tours, bille dans le sens antihoraire)")


@pytest.mark.parametrize("extra", [[], ["--jsonl"]])
def test_a_malformed_line_is_reported_with_its_number(
    extra: list[str], evening: Path, tmp_path: Path, capsys: Captured
) -> None:
    lines = evening.read_bytes().splitlines()
    lines.insert(5, b'{"kind": "rotor"')
    (tmp_path / "bad").write_bytes(b"\n".join(lines))
    assert main(["replay", str(tmp_path / "bad"), *extra]) == Exit.BAD_DATA
    captured = capsys.readouterr()
    assert f"wheeld: {tmp_path / 'bad'}: line 6: " in captured.err
    assert "closed" in captured.out or "table fermée" in captured.out, "what came before the fault is printed"


def test_lenient_skips_and_counts(evening: Path, tmp_path: Path, capsys: Captured) -> None:
    lines = evening.read_bytes().splitlines()
    lines[5:5] = [b"rubbish", b'{"t": 0, "kind": "weather"}', b"more rubbish"]
    (tmp_path / "bad").write_bytes(b"\n".join(lines))
    assert main(["replay", str(tmp_path / "bad"), "--jsonl", "--lenient"]) == Exit.OK
    captured = capsys.readouterr()
    assert captured.err.splitlines() == [
        "wheeld: 1 lines skipped: their kind is unknown to this version",
        "wheeld: 2 lines skipped: they are malformed",
    ]
    assert captured.out.encode().splitlines() == published_by_the_core(evening)


@pytest.mark.parametrize("damage", [lambda data: data[:-20], lambda data: data[:200] + b"\xff" * 50 + data[250:]])
def test_a_damaged_gzip_is_bad_data(damage: Any, evening: Path, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "bad.gz").write_bytes(damage(gzip.compress(evening.read_bytes())))
    assert main(["replay", str(tmp_path / "bad.gz")]) == Exit.BAD_DATA
    assert "the gzip file is damaged here, or ends too early" in capsys.readouterr().err


def test_an_endless_line_is_not_read_whole(tmp_path: Path, capsys: Captured) -> None:
    with (tmp_path / "endless").open("wb") as file:
        file.truncate(1 << 40)
    assert main(["replay", str(tmp_path / "endless")]) == Exit.BAD_DATA
    assert "line 1: not a header" in capsys.readouterr().err


def test_an_empty_log_is_bad_data(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO())))
    assert main(["replay", "-"]) == Exit.BAD_DATA
    assert "-: line 1: " in capsys.readouterr().err


def test_a_reader_that_has_seen_enough_is_no_error(evening: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "wheeld", "replay", str(evening), "--jsonl"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == Exit.OK


def test_a_full_disk_is_reported(evening: Path, capsys: Captured) -> None:
    assert main(["replay", str(evening), "-o", "/dev/full"]) == Exit.IO_FAILED
    assert capsys.readouterr().err == "wheeld: the disk is full; make room on it, then run the command again\n"


# --- journal -------------------------------------------------------------------------------------------------------


def test_a_whole_journal_verifies(journal: Path, capsys: Captured) -> None:
    assert main(["journal", "verify", str(journal)]) == Exit.OK
    found, checked, last = capsys.readouterr().out.splitlines()
    assert "evidence of 2 coups: all as they were written" in found
    assert checked.startswith("signatures checked: none, because this journal has no key")
    assert last.startswith("hash of seq ")


def test_a_fault_of_a_journal_is_named(journal: Path, capsys: Captured) -> None:
    with closing(sqlite3.connect(journal)) as db, db:
        db.execute("DELETE FROM messages WHERE seq = 3")
    assert main(["journal", "verify", str(journal)]) == Exit.BAD_DATA
    printed = capsys.readouterr().out
    assert "fault: seq 4" in printed
    assert "NOT as they were written" in printed


def test_what_is_no_journal_is_bad_data(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "letter").write_text("Dear sir, " * 100)
    assert main(["journal", "show", str(tmp_path / "letter")]) == Exit.BAD_DATA
    assert f"journal {tmp_path / 'letter'}: " in capsys.readouterr().err


def test_show_lists_everything_for_people(journal: Path, capsys: Captured) -> None:
    assert main(["journal", "show", str(journal), "--language", "fr"]) == Exit.OK
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("2027-01-15T08:00:00.000000Z       1  table     coup 0     table fermée, mises fermées")
    assert [line for line in lines if "  nul       coup 1" in line]


def test_show_chooses(journal: Path, capsys: Captured) -> None:
    chosen = ["--coup", "2", "--topic", "result", "--topic", "void", "--language", "fr"]
    assert main(["journal", "show", str(journal), *chosen]) == Exit.OK
    (line,) = capsys.readouterr().out.splitlines()
    assert "résultat  coup 2" in line
    assert main(["journal", "show", str(journal), "--from-seq", "4", "--jsonl"]) == Exit.OK
    printed = [json.loads(line)["payload"]["seq"] for line in capsys.readouterr().out.splitlines()]
    assert printed == list(range(4, 4 + len(printed)))


def test_show_has_the_events_of_the_device_among_the_messages(journal: Path, capsys: Captured) -> None:
    with closing(open_to_write(journal)) as file:
        at_utc_us = file.reader.records(0, 1000)[-1].at_utc_us
        details: dict[str, object] = {"sensor": "beam/1", "what": ["chatters"], "known": None, "first": False}
        file.note(EventRecord(event="sensor_failed", details=details), at_utc_us)
        file.note(EventRecord(event="inspection", by="Rossi", why="weekly"), at_utc_us)
    assert main(["journal", "show", str(journal)]) == Exit.OK
    *_, last, failed, inspection = capsys.readouterr().out.splitlines()
    assert "  event" not in last
    words = "sensor_failed (sensor beam 2, what chatters, known unknown, first no)"
    assert failed[27:] == f"          event                {words}"
    assert inspection.endswith("  event                inspection by Rossi: weekly")
    assert main(["journal", "show", str(journal), "--topic", "event", "--jsonl"]) == Exit.OK
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["topic"], line["payload"]["event"]) for line in lines] == [
        ("event", "sensor_failed"),
        ("event", "inspection"),
    ]
    assert lines[0]["payload"]["details"] == details
    for chosen in (["--coup", "1"], ["--from-seq", "1"], ["--topic", "void"]):
        assert main(["journal", "show", str(journal), *chosen]) == Exit.OK
        assert "sensor_failed" not in capsys.readouterr().out


def test_details_of_many_things_can_be_told_apart(tmp_path: Path, capsys: Captured) -> None:
    beams: list[dict[str, object]] = [{"index": 0, "deg": 90.5}, {"index": 1, "deg": None}]
    with closing(open_writer(tmp_path / "new")) as file:
        file.note(
            EventRecord(event="doctor", by="Rossi", details={"beams": beams, "readers": [], "rpm": [17, 19]}), NOW
        )
    assert main(["journal", "show", str(tmp_path / "new")]) == Exit.OK
    told = "beams index 0 deg 90.5; index 1 deg unknown, readers none, rpm 17 19"
    assert capsys.readouterr().out.endswith(f"  doctor by Rossi ({told})\n")


def test_an_event_stands_where_it_happened(journal: Path, tmp_path: Path, capsys: Captured) -> None:
    with closing(open_writer(tmp_path / "new")) as file:
        file.note(EventRecord(event="power_up"), NOW)
        file.append(Feed().step("notice", "table"), NOW)
        file.note(EventRecord(event="stop"), NOW)
        file.note(EventRecord(event="power_up"), NOW)
    assert main(["journal", "show", str(tmp_path / "new"), "--jsonl"]) == Exit.OK
    topics = [json.loads(line)["topic"] for line in capsys.readouterr().out.splitlines()]
    assert topics == ["event", "notice", "table", "event", "event"]


@pytest.mark.parametrize("more", [[], ["--jsonl"], ["--topic", "result"]])
def test_show_says_that_it_has_nothing_of_a_coup(more: list[str], journal: Path, capsys: Captured) -> None:
    assert main(["journal", "show", str(journal), "--coup", "99", *more]) == Exit.NO_INPUT
    assert capsys.readouterr() == (
        "",
        f"wheeld: {journal}: there is no such message about coup 99; the journal has coups 1 to 2\n",
    )


def test_show_gives_the_payloads_byte_for_byte(journal: Path, capsys: Captured) -> None:
    assert main(["journal", "show", str(journal), "--jsonl"]) == Exit.OK
    printed = capsys.readouterr().out.encode()
    with closing(open_reader(journal)) as file:
        for message in file.records(0, 1000):
            assert message.payload in printed


def test_show_of_a_coup_passes_over_payloads_that_are_none(journal: Path, capsys: Captured) -> None:
    with closing(sqlite3.connect(journal)) as db, db:
        db.execute("UPDATE messages SET payload = ? WHERE seq = 2", (b"\xff{",))
    assert main(["journal", "show", str(journal), "--coup", "1"]) == Exit.BAD_DATA
    assert main(["journal", "show", str(journal)]) == Exit.BAD_DATA
    assert "2  table     \ufffd{" in capsys.readouterr().out


STEERING = "\x1b]0;title\x07\x1b[2J\x9b1A\r\nall as they were written\u202e"
"""What a forger would have a terminal do: another title, an empty screen, a line above, one of its own."""


def steers(printed: bytes) -> bool:
    """Whether a terminal would do anything but show this and end lines: it knows commands as bytes, and in UTF-8."""
    return re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", printed.decode()) is not None


def plant(journal: Path) -> None:
    """What steers, wherever a journal has text."""
    log = zlib.compress(STEERING.encode() + b"\x9b31m")
    said = json.dumps(
        {"coup": 1, "seq": 3, "hash": STEERING, "words": STEERING, "why": STEERING, "laps_needed": STEERING}
    )
    with closing(sqlite3.connect(journal)) as db, db:
        db.execute("INSERT INTO events VALUES (9, ?1, ?1, ?1, ?2, 0)", (STEERING, '{"a":' + json.dumps(STEERING) + "}"))
        db.execute("UPDATE messages SET payload = ? WHERE topic = 'result'", (said.encode(),))
        db.execute("UPDATE messages SET topic = 'void', payload = ? WHERE topic = 'void'", (said.encode(),))
        db.execute("UPDATE messages SET topic = ?1, payload = ?2 WHERE topic = 'board'", (STEERING, STEERING.encode()))
        db.execute("UPDATE messages SET payload = ? WHERE topic = 'notice'", (STEERING.encode("latin-1", "replace"),))
        db.execute("UPDATE logs SET packed = ?", (log,))
        db.execute("UPDATE chain SET kind = ? WHERE n = 5", (STEERING,))


@pytest.mark.parametrize(
    "command",
    [["verify"], ["show"], ["show", "--jsonl"], ["show", "--last", "5"], ["show", "--coup", "1"],
     ["export", "--coup", "1"], ["export", "--coup", "77"], ["show", "--coup", "77"]],
    ids=" ".join,
)  # fmt: skip
def test_a_forged_journal_steers_no_terminal_and_is_told(
    journal: Path, command: list[str], capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    plant(journal)
    assert main(["journal", command[0], str(journal), *command[1:]]) == Exit.BAD_DATA
    printed, told = capsysbinary.readouterr()
    assert not steers(printed), printed
    assert not steers(told), told
    assert re.search(b"NOT as|is damaged", printed + told)
    assert b"\nall as" not in printed or command[0] == "export", "a log has lines of its own"


def test_an_export_of_a_journal_that_is_not_whole_is_written_and_told(
    journal: Path, tmp_path: Path, capsys: Captured
) -> None:
    with closing(sqlite3.connect(journal)) as db, db:
        db.execute("UPDATE messages SET payload = ? WHERE seq = 2", (b"{}",))
    command = ["journal", "export", str(journal), "--coup", "2", "-o", str(tmp_path / "coup")]
    assert main(command) == Exit.BAD_DATA
    told = capsys.readouterr().err
    assert told.startswith(f"wheeld: {journal}: the journal is NOT as it was written")
    assert "record" in told
    assert (tmp_path / "coup").read_bytes().startswith(b'{"')


@pytest.mark.parametrize(
    ("text", "shown"),
    [("Zoé — « 17 » ✓", "Zoé — « 17 » ✓"), ("un\u00a0blanc\u202ffin", "un\u00a0blanc\u202ffin"),
     ("\x1b[31m", r"\x1b[31m"), ("a\nb\tc\0", r"a\nb\tc\x00"), ("\x9b", r"\x9b"), ("\udcff", r"\udcff"),
     ("\u202e\u2028\u200b", r"\u202e\u2028\u200b")],
)  # fmt: skip
def test_a_text_from_outside(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("line", "shown"),
    [('{"by":"Zoé\u200d"}'.encode(), '{"by":"Zoé\u200d"}'.encode()), (b"\x1b", rb"\x1b"),
     (b"\x9b1A\xc3", rb"\x9b1A\xc3"), ("\x9b\u200d".encode(), rb"\x9b\u200d")],
)  # fmt: skip
def test_a_line_from_outside_is_as_it_is_where_that_steers_nothing(line: bytes, shown: bytes) -> None:
    assert printable_bytes(line) == shown


def test_export_is_ready_to_replay(journal: Path, tmp_path: Path, capsys: Captured) -> None:
    exported = wheeld("journal", "export", journal, "--coup", "2")
    assert (exported.returncode, exported.stderr) == (Exit.OK, b"")
    assert main(["journal", "export", str(journal), "--coup", "2", "-o", str(tmp_path / "coup")]) == Exit.OK
    assert (tmp_path / "coup").read_bytes() == exported.stdout
    assert main(["journal", "show", str(journal), "--coup", "2", "--topic", "result", "--jsonl"]) == Exit.OK
    live = json.loads(capsys.readouterr().out)["payload"]
    replayed = wheeld("replay", "-", "--jsonl", stdin=exported.stdout)
    results = [json.loads(line) for line in replayed.stdout.splitlines()]
    assert [line["payload"] for line in results if line["topic"] == "result"] == [live]


def test_export_of_a_coup_that_is_not_there(journal: Path, tmp_path: Path, capsys: Captured) -> None:
    assert main(["journal", "export", str(journal), "--coup", "9"]) == Exit.NO_INPUT
    assert "there is no evidence of coup 9; the journal has coups 1 to 2" in capsys.readouterr().err
    open_writer(tmp_path / "new").close()
    assert main(["journal", "export", str(tmp_path / "new"), "--coup", "9"]) == Exit.NO_INPUT
    assert "the journal has no coup yet" in capsys.readouterr().err


# --- messages as text -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("topic", "payload", "words"),
    [
        ("notice", {"coup": 3, "notice": "drift", "text": "it drifts"}, "notice    coup 3     it drifts"),
        (
            "board",
            {"coup": 3, "state": "closed", "numbers": []},
            "board     coup 3     table closed, numbers: none yet",
        ),
        (
            "board",
            {"language": "it", "coup": 3, "state": "operations", "numbers": [8, 0]},
            "tabellone colpo 3    operazioni, numeri: 8 0",
        ),
        (
            "table",
            {"language": "it", "coup": 3, "state": "rien_va", "bets": "closed", "waiting_for": "«tutto vale»"},
            "tavolo    colpo 3    il colpo era nullo, puntate chiuse — in attesa: «tutto vale»",
        ),
        (
            "table",
            {
                "language": "fr",
                "coup": 3,
                "state": "suspended",
                "bets": "closed",
                "waiting_for": "…",
                "without": ["beam/2"],
            },
            "table     coup 3     jeu suspendu, mises fermées, sans tenir compte de : le faisceau 3 — en attente : …",
        ),
        (
            "result",
            {"coup": 9, "number": 0, "announcement": "Zéro", "laps": 5.25, "ball_direction": "cw"},
            "result    coup 9     0 · Zéro (5.25 laps, ball clockwise)",
        ),
        (
            "result",
            {"language": "fr", "coup": 9, "number": 0, "announcement": "Zéro", "laps": 5.25, "ball_direction": None},
            "résultat  coup 9     0 · Zéro (5,25 tours)",
        ),
        (
            "result",
            {"test": True, "coup": 9, "number": 0, "announcement": "Zéro", "laps": 5.25, "ball_direction": None},
            "result    coup 9     TEST: 0 · Zéro (5.25 laps)",
        ),
        ("reply", {"test": True, "name": "open", "done": True, "why": ""}, "reply                TEST: open ✓"),
        ("reply", {"name": "open", "done": False, "why": "no"}, "reply                open ✗ no"),
        ("reply", {"name": "open", "done": True, "why": ""}, "reply                open ✓"),
        ("reply", {"name": "open"}, 'reply     {"name":"open"}'),
        ("health", {"a": 1}, 'health    {"a":1}'),
        ("table", {"language": "de", "state": "odd"}, 'table     {"language":"de","state":"odd"}'),
    ],
)
def test_a_message_as_text(topic: str, payload: dict[str, object], words: str) -> None:
    english: Language = "en"
    language = next((each for each in LANGUAGES if each == payload.get("language")), english)
    assert describe(topic, msgspec.json.encode(payload), language) == words


def test_running_as_a_module_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    by_module = wheeld("check-config", os.devnull)
    assert by_module.returncode == Exit.BAD_CONFIG
    assert b"wheeld: the configuration is wrong" in by_module.stderr


def test_replay_shows_the_facts_on_demand(evening: Path, capsys: Captured) -> None:
    assert main(["replay", str(evening), "--facts"]) == Exit.OK
    printed = capsys.readouterr().out
    assert "a ball runs → ball_running (laps_proven" in printed
    assert main(["replay", str(evening)]) == Exit.OK
    assert "→" not in capsys.readouterr().out


def test_a_result_that_a_chef_confirmed_is_shown_as_such() -> None:
    evening = HeadEvening(CHEF).ready()
    evening.game(32, None)
    evening.confirm(by="Rossi")
    (result,) = [message for message in evening.published if message.topic == "result"]
    words = "32 · Trente-deux, rouge, pair et passe (laps not proven, confirmed by Rossi)"
    assert describe("result", result.bytes, "en") == f"result    coup 1     {words}"


def test_every_state_of_a_table_has_words() -> None:
    assert (set(STATES), set(BETS)) == (set(get_args(StateName)), set(get_args(Bets)))


@pytest.mark.parametrize("option", ["--why", "--by"])
@pytest.mark.parametrize("command", [["seal"], ["adopt", "--after", "7"]])
def test_words_that_are_no_text_are_refused(command: list[str], option: str, capsys: Captured) -> None:
    """Python gives bytes that are no UTF-8 as lone surrogates, which no journal can store."""
    with pytest.raises(SystemExit) as end:
        main(["journal", *command, "campione-03", "--why", "card", option, "\udcff"])
    assert end.value.code == Exit.USAGE
    assert f"argument {option}: '\\udcff' is not a " in capsys.readouterr().err
