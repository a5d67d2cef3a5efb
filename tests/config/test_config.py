"""The configuration file: what is accepted, and the problems of what is not."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from wheeld.config.problems import ConfigError
from wheeld.config.reading import load, parse
from wheeld.core.houses import PROFILES
from wheeld.journal.setting import EVIDENCE_BYTES_MAX

GOOD = """\
[table]
site = "campione"
id = "campione-03"
house = "campione"
game = "roulette"

[wheel]
rotor_ticks = 148
beams_deg = [0, 90, 180, 270]
readers_deg = [30, 150, 270]

[sensors]
port = "/dev/ttyACM0"

[journal]
path = "journal.sqlite"

[mqtt]
host = "127.0.0.1"
"""


def with_line(section: str, line: str, text: str = GOOD) -> str:
    """`text` with one more line at the top of a section, in the place of the section's line with the same key."""
    before, mark, after = text.partition(f"[{section}]\n")
    own, rest_mark, rest = after.partition("\n[")
    key = line.partition("=")[0].strip()
    kept = [old for old in own.splitlines() if old.partition("=")[0].strip() != key]
    return before + mark + "\n".join([line, *kept, ""]) + rest_mark + rest


def problems(text: str, directory: Path = Path()) -> list[str]:
    """The problems, one line each."""
    with pytest.raises(ConfigError) as wrong:
        parse(text, name="f.toml", directory=directory)
    return str(wrong.value).splitlines()


def test_a_short_file_gets_the_documented_defaults() -> None:
    config = parse(GOOD, directory=Path("/etc/wheeld"))
    assert (config.table.min_laps, config.table.sightings_to_call, config.table.last_number) == (3, 3, None)
    assert config.sensors is not None
    assert (config.sensors.baud, config.sensors.silence_s_max, config.sensors.max_drift_ppm) == (115200, 1.0, 200)
    mqtt = config.mqtt
    assert (mqtt.port, mqtt.keepalive_s, mqtt.publish_timeout_s, mqtt.settlement_ack) == (1883, 5, 5.0, False)
    assert config.log.level == "info"
    assert config.journal.path == Path("/etc/wheeld/journal.sqlite")


def test_users_have_the_roles_that_the_file_gives_them() -> None:
    assert parse(with_line("mqtt", 'users = { panel-7 = "chef", "d@2" = "display" }')).mqtt.users == {
        "panel-7": "chef",
        "d@2": "display",
    }


@pytest.mark.parametrize("user", ["bouler-{table}", "settlement"])
def test_a_name_that_has_a_role_already_gets_no_other(user: str) -> None:
    name = user.format(table=parse(GOOD).table.table)
    (reported,) = problems(with_line("mqtt", f'users = {{ {name} = "chef" }}'))
    assert f"mqtt.users: gives a role to {name}, who already is the {user.partition('-')[0]} of this table" in reported


@pytest.mark.parametrize("user", ["dircetion", "auditor"])
def test_commands_that_must_expire_are_those_of_somebody_who_gives_any(user: str) -> None:
    both = with_line("mqtt", 'users = { panel-7 = "chef" }\nexpiry_required = ["direction", "panel-7"]')
    assert parse(both).mqtt.expiry_required == ("direction", "panel-7")
    (reported,) = problems(with_line("mqtt", f'expiry_required = ["direction", "{user}"]'))
    assert f"mqtt.expiry_required: names {user}, who gives no command at this table; correct the name" in reported


def test_a_coup_needs_as_many_laps_as_its_house_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    table = parse(GOOD).table
    asks_four = msgspec.structs.replace(table.profile, min_laps=4)
    monkeypatch.setitem(PROFILES, (table.house, table.game), asks_four)
    assert parse(GOOD).table.min_laps == 4
    assert "3 is not within 4…20 (Art. 10 asks 4 at least" in problems(with_line("table", "min_laps = 3"))[0]
    assert parse(with_line("table", "min_laps = 5")).table.min_laps == 5


def test_the_core_gets_the_wheel_of_the_game() -> None:
    setting = parse(GOOD).table
    assert (setting.table, setting.wheel, setting.beams_deg) == ("campione-03", "french", (0.0, 90.0, 180.0, 270.0))
    fair = with_line("wheel", 'rotor_direction = "cw"', with_line("table", 'game = "fair"'))
    assert parse(fair).table.wheel == "fair"


def test_absolute_paths_stay() -> None:
    text = with_line("journal", 'path = "/var/lib/wheeld/j.sqlite"')
    assert parse(text, directory=Path("/etc")).journal.path == Path("/var/lib/wheeld/j.sqlite")


@pytest.mark.parametrize(
    ("section", "line", "expected"),
    [
        ("table", "min_lap = 4", "f.toml:2: table.min_lap: is not a known key; did you mean min_laps?"),
        ("mqtt", "rotor_ticks = 148", "mqtt.rotor_ticks: is not a known key; it belongs in [wheel]"),
        ("journal", "colour = 1", "journal.colour: is not a known key; [journal] may contain path"),
        ("table", "site = 4", "table.site: is 4; expected lower-case letters, digits, - and _, 64 at most"),
        ("table", 'void_words = "rien"', 'table.void_words: is "rien"; expected "rien va" or "nulla vale"'),
        ("table", "min_laps = 2.5", "table.min_laps: is 2.5; expected a whole number"),
        ("table", "auto_rien_ne_va_plus_rev_s = true", "is true; expected laps a second, 0.3 to 3"),
        ("table", "last_number = 1979-05-27", 'is "1979-05-27"; expected a number as it is printed on the wheel'),
        ("wheel", 'rotor_direction = "left"', 'is "left"; expected "cw" or "ccw"'),
        ("wheel", "beams_deg = 4", "wheel.beams_deg: is 4; expected a list of angles in degrees"),
        ("sensors", "baud = 300", "sensors.baud: is 300; expected the line's bits a second, 9600 to 4000000"),
        ("sensors", 'config_hash = "xyz"', 'is "xyz"; expected 16 hexadecimal digits'),
        ("mqtt", "port = 0", "mqtt.port: is 0; expected a TCP port, 1 to 65535"),
        (
            "mqtt",
            'password = "x"',
            "mqtt.password: is not a known key; a secret does not belong in this file: write it into a file of its own",
        ),
        ("mqtt", 'settlement_ack = "yes"', 'is "yes"; expected true or false'),
        ("mqtt", 'users = ["x"]', "expected names at the broker (letters, digits, - . _ @) with the role of each"),
        ("mqtt", 'users = { "x" = "boss" }', "mqtt.users: is {"),
        ("mqtt", 'users = { "a/b" = "chef" }', "mqtt.users: is {"),
        ("mqtt", 'users = { "a b" = "chef" }', "mqtt.users: is {"),
        ("mqtt", 'users = { "#" = "chef" }', "mqtt.users: is {"),
        ("journal", "path = 3", "journal.path: is 3; expected the path of a file"),
        ("journal", 'path = ""', 'journal.path: is ""; expected the path of a file'),
        ("journal", f'path = ["{"a" * 80}"]', "aaa...; expected the path of a file"),
    ],
)
def test_a_wrong_key_is_reported_with_what_was_expected(section: str, line: str, expected: str) -> None:
    reported = problems(with_line(section, line))
    assert len(reported) == 1
    assert expected in reported[0]


@pytest.mark.parametrize(
    ("section", "line", "expected"),
    [
        ("table", 'site = "Casinò 1"', "f.toml:2: table.site: 'Casinò 1' becomes a part of MQTT topics"),
        ("table", 'id = "a/b"', "table.id: 'a/b' becomes a part of MQTT topics"),
        ("table", 'game = "poker"', "f.toml:2: table.game: no regulation for campione/poker; known: campione/roulette"),
        ("table", "min_laps = 2", "table.min_laps: 2 is not within 3…20 (Art. 10 asks 3 at least"),
        ("table", 'game = "fair"', 'wheel.rotor_direction: a fair wheel turns one way only (A7): set "cw" or "ccw"'),
        ("wheel", 'rotor_direction = "cw"', "wheel.rotor_direction: a french rotor may turn either way"),
        ("wheel", "rotor_ticks = 20", "wheel.rotor_ticks: 20 is not within 37"),
        ("wheel", "beams_deg = [0, 360]", "f.toml:8: wheel.beams_deg: an angle is 0 degrees or more and less than 360"),
        ("wheel", "beams_deg = [5]", "wheel.beams_deg: one beam can't show the ball's direction"),
        ("wheel", "beams_deg = [5, 185]", "can't show the ball's direction (Art. 10)"),
        ("wheel", "readers_deg = [7, 7]", "wheel.readers_deg: two of the angles are the same"),
    ],
)
def test_the_core_validates_the_meaning_and_problems_name_the_files_keys(
    section: str, line: str, expected: str
) -> None:
    reported = problems(with_line(section, line))
    assert len(reported) == 1
    assert expected in reported[0]


def test_every_problem_is_reported_at_once_in_the_order_of_the_file() -> None:
    text = GOOD.replace("site = ", "sites = ").replace("148", '"x"').replace('host = "127.0.0.1"', "prot = 1")
    assert problems(text + "\n[extra]\na = 1\n") == [
        "f.toml:1: table.site: is missing; expected lower-case letters, digits, - and _, 64 at most",
        "f.toml:2: table.sites: is not a known key; did you mean site?",
        (
            'f.toml:8: wheel.rotor_ticks: is "x"; '
            "expected a whole number from 37 to 4096, at least as many as the wheel has pockets"
        ),
        "f.toml:18: mqtt.host: is missing; expected a text that is not empty",
        "f.toml:19: mqtt.prot: is not a known key; did you mean port?",
        (
            "f.toml:21: extra: is not a known section; "
            "the file may contain table, wheel, sensors, gpio, head, journal, mqtt, monitor, display, log"
        ),
    ]


def test_a_missing_section_names_its_keys() -> None:
    assert problems(GOOD.replace('[journal]\npath = "journal.sqlite"\n', "")) == [
        "f.toml: journal.path: is missing; expected the path of a file"
    ]


def test_a_key_where_a_section_should_be() -> None:
    assert problems("log = 3\n" + GOOD) == ["f.toml:1: log: must be a section: write [log] on a line of its own"]


def test_dotted_keys_are_found_too() -> None:
    assert problems(GOOD.replace("[table]", "log.level = 3\n[table]")) == [
        'f.toml:1: log.level: is 3; expected "debug" or "info" or "warning" or "error"'
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[table]\nsite =\n", "f.toml:2: table.site: is not TOML: Invalid value (column 7); a text is in"),
        (
            "[table]\nsite = 1\nsite = 2\n",
            "f.toml:3: table.site: is not TOML: Cannot overwrite a value (column 9); this key is there",
        ),
        ('a = "', "f.toml:1: is not TOML: Unterminated string (at end of document); a text begins"),
    ],
)
def test_text_that_is_not_toml(text: str, expected: str) -> None:
    (reported,) = problems(text)
    assert reported.startswith(expected)


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "w.toml"
    path.write_bytes(b"# caf\xc3\xa9\n# caf\xe9\n")
    with pytest.raises(ConfigError, match=r"w\.toml:2: is not UTF-8 text"):
        load(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.toml")


def with_password(tmp_path: Path, content: bytes | None) -> str:
    if content is not None:
        (tmp_path / "secret").write_bytes(content)
        (tmp_path / "secret").chmod(0o640)
    return with_line("mqtt", 'password_file = "secret"', with_line("mqtt", 'username = "wheel"'))


def test_a_password_file_that_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "w.toml").write_text(with_password(tmp_path, b"s3cret\n"))
    assert load(tmp_path / "w.toml").mqtt.password_file == tmp_path / "secret"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            None,
            "the file cannot be read: No such file or directory; name a file with the secret in it, or credential:NAME",
        ),
        (b"", "the file is empty; write into it what this key needs"),
    ],
)
def test_a_password_file_of_no_use(tmp_path: Path, content: bytes | None, expected: str) -> None:
    reported = problems(with_password(tmp_path, content), tmp_path)
    assert reported == [f"f.toml:19: mqtt.password_file: {expected}"]


def test_keys_that_are_nothing_alone(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    (tmp_path / "f").chmod(0o600)
    assert problems(with_line("mqtt", 'password_file = "f"'), tmp_path) == [
        "f.toml:18: mqtt.username: is missing; give it, because password_file is given"
    ]
    assert problems(with_line("mqtt", 'key_file = "f"'), tmp_path) == [
        "f.toml:18: mqtt.cert_file: is missing; give cert_file and key_file together"
    ]
    assert problems(with_line("mqtt", 'cert_file = "f"'), tmp_path) == [
        "f.toml:18: mqtt.key_file: is missing; give cert_file and key_file together"
    ]


def test_the_journal_is_signed_and_kept_as_configured(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("x")
    (tmp_path / "key").chmod(0o600)
    text = with_line("journal", "evidence_bytes_max = 2_000_000_000", with_line("journal", "evidence_age_days = 90"))
    journal = parse(with_line("journal", 'signing_key_file = "key"', text), directory=tmp_path).journal
    assert journal.signing_key_file == tmp_path / "key"
    assert (journal.evidence_age_days, journal.evidence_bytes_max) == (90, 2_000_000_000)
    none = parse(GOOD).journal
    assert (none.signing_key_file, none.evidence_age_days, none.evidence_bytes_max) == (None, None, EVIDENCE_BYTES_MAX)


def test_the_port_of_tls_without_tls_is_told() -> None:
    (reported,) = problems(with_line("mqtt", "port = 8883"))
    assert "mqtt.ca_file: is missing; on port 8883 brokers use TLS" in reported


def test_the_port_of_tls_with_tls(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text("x")
    text = with_line("mqtt", "port = 8883", with_line("mqtt", 'ca_file = "ca.crt"'))
    assert parse(text, directory=tmp_path).mqtt.port == 8883
