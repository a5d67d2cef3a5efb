"""Mistakes that a technician makes in a configuration: one line each, with the place, the key, and what to write."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, get_args

import pytest

from tests.config.test_config import GOOD
from tests.config.test_gpio import PINS
from tests.config.test_head import ALONE, COMBINED, SLINGSHOT
from tests.english_left import english_left
from tests.security.authority import Authority
from wheeld.broker.roles import RoleName
from wheeld.cli.main import main
from wheeld.config.reading import parse
from wheeld.core.catalogue import Language
from wheeld.core.setting import SENSORS_OF
from wheeld.exits import Exit

BOM = "\ufeff"


class Mistake(NamedTuple):
    """`old` of the right text becomes `new`. `line` and `key` are where it is reported, `words` end that line."""

    name: str
    old: str
    new: str
    line: int
    key: str
    words: str
    right: str = GOOD


MQTT = 'host = "127.0.0.1"'
TLS = f"""{MQTT}
port = 8883
ca_file = "house-ca.crt"
cert_file = "wheel-campione-03.crt"
key_file = "wheel-campione-03.key\""""
WITH_TLS = GOOD.replace(MQTT, TLS)
WITH_PASSWORD = GOOD.replace(MQTT, f'{MQTT}\nusername = "wheel-campione-03"\npassword_file = "password"')
WITH_USERS = GOOD.replace(MQTT, f'{MQTT}\nusers = {{ panel-7 = "chef" }}')
A_LINE = "on one line, at most 40 characters"
LIMITS = "expected a list of at most 4 texts, each on one line of at most 40 characters"

MISTAKES = (
    # --- what is not TOML
    Mistake("no quote at the end", '"campione-03"', '"campione-03', 3, "table.id", 'begins and ends with "'),
    Mistake("no quotes", '"campione-03"', "campione-03", 3, "table.id", 'in straight quotes ("campione")'),
    Mistake("quotes of a word processor", '"campione-03"', "“campione-03”", 3, "table.id", "in straight quotes"),
    Mistake("True", MQTT, f"{MQTT}\nsettlement_ack = True", 20, "mqtt.settlement_ack", "true and false are not"),
    Mistake("a comma in a fraction", MQTT, f"{MQTT}\npublish_timeout_s = 2,5", 20, "mqtt.publish_timeout_s", "(0.5)"),
    Mistake("a colon", "rotor_ticks = 148", "rotor_ticks: 148", 8, "wheel.rotor_ticks", "write KEY = VALUE"),
    Mistake("no value", "rotor_ticks = 148", "rotor_ticks =", 8, "wheel.rotor_ticks", "true and false are not"),
    Mistake("a key twice", "[wheel]\n", '[wheel]\nrotor_ticks = 37\n', 9, "wheel.rotor_ticks", "remove one"),
    Mistake("a section twice", "[journal]", "[table]\nmin_laps = 3\n[journal]", 15, "table", "below the first"),
    Mistake("a list without an end", "270]\nr", "270\nr", 9, "wheel.beams_deg", "[0, 90]"),
    Mistake("a section without an end", "[wheel]", "[wheel", 7, "wheel", "on a line of its own: [table]"),
    Mistake("a tab and a word", "= 148", "= 148\tsectors", 8, "wheel.rotor_ticks", "# begins a comment"),
    Mistake("a comment of another language", "[wheel]", "; the wheel\n[wheel]", 7, "table", "# and a comment"),
    Mistake("a path of Windows", '"/dev/ttyACM0"', r'"C:\ports\4"', 13, "sensors.port", r"write \\ for each \,"),
    Mistake("a role twice", "panel-7 = ", 'panel-7 = "display", panel-7 = ', 20, "mqtt.users", "remove", WITH_USERS),
    Mistake("a byte order mark", "[table]", BOM + "[table]", 1, "", "save the file as UTF-8 without it"),
    Mistake("Latin-1", '"campione"\nid', '"campionè"\nid', 2, "table.site", "save the file as UTF-8"),
    Mistake("an empty file", GOOD, "", 1, "", "begin with a copy of"),
    # --- names of sections and keys
    Mistake("a key misspelt", "rotor_ticks", "rotor_tick", 8, "wheel.rotor_tick", "did you mean rotor_ticks?"),
    Mistake("a section misspelt", "[wheel]", "[wheels]", 7, "wheels", "did you mean wheel?"),
    Mistake("a section as a list", "[wheel]", "[[wheel]]", 7, "wheel", "write [wheel] on a line of its own"),
    Mistake("a key in another section", MQTT, f"{MQTT}\nmin_laps = 3", 20, "mqtt.min_laps", "belongs in [table]"),
    Mistake("a key that is missing", 'id = "campione-03"\n', "", 1, "table.id", "expected lower-case letters, digits"),
    # --- values
    Mistake("a number as a text", "= 148", '= "148"', 8, "wheel.rotor_ticks", "a whole number from 37 to 4096"),
    Mistake("too few ticks", "= 148", "= 36", 8, "wheel.rotor_ticks", "36 is not within 37…4096"),
    Mistake("a capital letter", "campione-03", "Campione-03", 3, "table.id", 'write "campione-03"'),
    Mistake("a blank in a name", "campione-03", "campione 03", 3, "table.id", 'write "campione-03"'),
    Mistake("fewer laps than the article", "[wheel]", "min_laps = 2\n[wheel]", 7, "table.min_laps", "(Art. 10 asks 3"),
    Mistake("a game of another house", '"roulette"', '"roulette-francese"', 5, "table.game", "campione/roulette,"),
    Mistake("a language", "[wheel]", 'language = "de"\n[wheel]', 7, "table.language", '"fr", "it" or "en"'),
    Mistake("a number of no pocket", "[wheel]", "last_number = 37\n[wheel]", 7, "table.last_number", "(0…36)"),
    Mistake("equal beams", "90, 180", "90, 90", 9, "wheel.beams_deg", "give each sensor its own angle"),
    Mistake("a beam at 360°", "[0, 90", "[360, 90", 9, "wheel.beams_deg", "write 0 for 360"),
    Mistake("opposite beams", "[0, 90, 180, 270]", "[0, 180]", 9, "wheel.beams_deg", "move one, or add a third"),
    Mistake("a negative age", "[mqtt]", "evidence_age_days = -1\n[mqtt]", 18, "journal.evidence_age_days", "days, 1"),
    Mistake("a journal nowhere", '"journal.sq', '"none/journal.sq', 16, "journal.path", "/var/lib/wheeld/NAME.sqlite"),
    # --- what players read
    Mistake("no list", "[journal]", '[display]\nlimits = "5–200"\n[journal]', 16, "display.limits", LIMITS),
    Mistake("five lines", "[journal]", f"[display]\nlimits = {[*'12345']}\n[journal]", 16, "display.limits", LIMITS),
    Mistake("a blank name", "[journal]", '[display]\nname = " "\n[journal]', 16, "display.name", A_LINE),
    Mistake("a long name", "[journal]", f'[display]\nname = "{41 * "x"}"\n[journal]', 16, "display.name", A_LINE),
    Mistake("two lines in one", "[journal]", '[display]\nname = "a\\nb"\n[journal]', 16, "display.name", A_LINE),
    # --- who sees the wheel
    Mistake("two sources", "[gpio]", '[sensors]\nport = "/dev/ttyACM0"\n[gpio]', 16, "gpio.encoder", "remove one",
            PINS),
    Mistake("no source", '[sensors]\nport = "/dev/ttyACM0"\n', "", 0, "sensors.port", "wheel's head in [head]"),
    Mistake("a pin twice", "[16, 20, 21]", "[16, 20, 6]", 18, "gpio.reader_pins", "give each key a pin of its", PINS),
    Mistake("a pin of the header", "= 26", "= 77", 19, "gpio.object_pin", "a GPIO number, 0 to 53", PINS),
    Mistake("too few pins", "[5, 6, 13, 19]", "[5, 6, 13]", 17, "gpio.beam_pins", "one pin for each angle, in the same",
            PINS),
    Mistake("a head of another name", "mercury-360", "mercury", 10, "head.product", '"mercury-360" or "slingshot-2"',
            ALONE),
    Mistake("a head without laps", 'unproven = "void"\n', "", 1, "table.unproven", 'with "chef" the chef confirms it',
            SLINGSHOT.replace("[wheel]", 'unproven = "void"\n[wheel]')),
    Mistake("a line twice", "socket://10.0.0.7:4001", "/dev/ttyACM0", 15, "head.port", "line of the head", COMBINED),
    Mistake("a head's port", ":4001", "", 11, "head.port", "expected the path of a device, socket://HOST:PORT", ALONE),
    # --- the broker, and secrets
    Mistake("the port of TLS", MQTT, f"{MQTT}\nport = 8883", 18, "mqtt.ca_file", "ca_file or cert_file turns TLS on"),
    Mistake("no authority", "house-ca.crt", "none.crt", 21, "mqtt.ca_file", "name one that wheeld can read",
            WITH_TLS),
    Mistake("an authority that is none", "house-ca.crt", "password", 21, "mqtt.ca_file",
            "the files that the house's authority issued", WITH_TLS),
    Mistake("another's key", "wheel-campione-03.key", "other.key", 22, "mqtt.cert_file", "do not belong together",
            WITH_TLS),
    Mistake("another's certificate", "wheel-campione-03.", "other.", 22, "mqtt.cert_file", "wheel-campione-03, or a "
            "name with the role wheel in users", WITH_TLS),
    Mistake("a certificate without key", '\nkey_file = "wheel-campione-03.key"', "", 18, "mqtt.key_file",
            "give cert_file and key_file together", WITH_TLS),
    Mistake("a key open to all", "wheel-campione-03.key", "open.key", 23, "mqtt.key_file", "with `chmod o= ", WITH_TLS),
    Mistake("a secret in the file", "password_file", "password", 21, "mqtt.password", "name that file in password_file",
            WITH_PASSWORD),
    Mistake("a secret for its file", '= "password"', '= "hunter2"', 21, "mqtt.password_file",
            "name a file with the secret in it", WITH_PASSWORD),
    Mistake("no credential", '= "password"', '= "credential:mqtt-password"', 21, "mqtt.password_file", "LoadCredential",
            WITH_PASSWORD),
    Mistake("an address with a user", '"127.0.0.1"', '"wheel@127.0.0.1"', 19, "mqtt.host", "have their own keys"),
    Mistake("a role that is none", '"chef"', '"boss"', 20, "mqtt.users", "table-system, display,", WITH_USERS),
    Mistake("a second role", "panel-7", "settlement", 20, "mqtt.users", "remove settlement from `users`", WITH_USERS),
)  # fmt: skip
"""Line 0: the file has no line for it."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the files are that a configuration names."""
    directory = tmp_path_factory.mktemp("house")
    authority = Authority(directory)
    for name in ("wheel-campione-03", "other"):
        authority.issue(name)
    closed = directory / "password"
    closed.write_text("correct horse")
    closed.chmod(0o600)
    (directory / "open.key").write_bytes((directory / "wheel-campione-03.key").read_bytes())
    (directory / "open.key").chmod(0o644)
    return directory


HEADINGS: dict[Language, str] = {
    "en": "wheeld: the configuration is wrong",
    "fr": "wheeld: la configuration n'est pas correcte",
    "it": "wheeld: la configurazione non è corretta",
}


@pytest.fixture
def printed(house: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., list[str]]]:
    """What `wheeld check-config` prints of a wrong file with this text, without its name."""
    path = house / "f.toml"

    def check(text: str, language: Language = "en") -> list[str]:
        path.write_bytes(text.encode("latin-1" if "è" in text else "utf-8"))
        assert main(["check-config", str(path), "--language", language]) == Exit.BAD_CONFIG
        printed = capsys.readouterr()
        assert printed.out == ""
        heading, *lines = printed.err.splitlines()
        assert heading == HEADINGS[language]
        return [line.replace(str(path), "f.toml") for line in lines]

    yield check
    path.unlink()


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_one_line_with_its_place_its_key_and_what_to_write(
    mistake: Mistake, printed: Callable[[str], list[str]]
) -> None:
    assert mistake.right.count(mistake.old) >= 1
    (line,) = printed(mistake.right.replace(mistake.old, mistake.new, 1))
    place = f"f.toml:{mistake.line}: " if mistake.line else "f.toml: "
    assert line.startswith(place + (f"{mistake.key}: " if mistake.key else ""))
    assert mistake.words in line
    assert "hunter2" not in line


NAMES = " ".join((*get_args(RoleName), *SENSORS_OF))
"""The same in every language: roles at the broker, parts of the wheel."""


@pytest.mark.parametrize("language", ["fr", "it"])
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_told_in_the_language_of_the_screen_with_no_english_left(
    mistake: Mistake, language: Language, printed: Callable[..., list[str]]
) -> None:
    wrong = mistake.right.replace(mistake.old, mistake.new, 1)
    (english,), (line,) = printed(wrong), printed(wrong, language)
    place = f"f.toml:{mistake.line}: " if mistake.line else "f.toml: "
    start = place + (f"{mistake.key}: " if mistake.key else "")
    assert line.startswith(start)
    told = line.removeprefix(start)
    assert told != english.removeprefix(start)
    assert english_left(told, language, kept=f"{wrong} {NAMES}") == set()
    assert "hunter2" not in line


@pytest.mark.parametrize("text", {mistake.right for mistake in MISTAKES})
def test_the_files_were_right_before(text: str, house: Path) -> None:
    parse(text, directory=house)


def test_there_are_so_many() -> None:
    assert len(MISTAKES) >= 40
    assert len({mistake.name for mistake in MISTAKES}) == len(MISTAKES)


def test_ten_mistakes_in_one_file_are_ten_lines_in_its_order(printed: Callable[[str], list[str]]) -> None:
    edits = (
        ('site = "campione"', 'site = "Campione"'),
        ('game = "roulette"', 'game = "roulette"\nlanguage = "de"\nmin_laps = 2\nlast_number = 37'),
        ("rotor_ticks", "rotor_tick"),
        ("90, 180", "90, 90"),
        ("[30, 150, 270]", "[400]"),
        ('[sensors]\nport = "/dev/ttyACM0"', '[sensors]\nport = "/dev/ttyACM0"\nbaud = 300'),
        ('path = "journal.sqlite"', 'path = "journal.sqlite"\nevidence_age_days = -1'),
        (MQTT, f"{MQTT}\nport = 8883"),
    )
    text = GOOD
    for old, new in edits:
        text = text.replace(old, new)
    found = [re.match(r"f\.toml:(\d+): ([\w.]+): ", line) for line in printed(text)]
    places = [(int(each[1]), each[2]) for each in found if each is not None]
    assert len(found) == len(places) == 10
    assert places == sorted(places)
    assert [key for _, key in places] == [
        "table.site",
        "table.language",
        "table.min_laps",
        "table.last_number",
        "wheel.rotor_tick",
        "wheel.beams_deg",
        "wheel.readers_deg",
        "sensors.baud",
        "journal.evidence_age_days",
        "mqtt.ca_file",
    ]


def test_beams_may_be_listed_in_any_order() -> None:
    """A beam's number is its place in the list, as it is wired; the core goes by the angle."""
    assert parse(GOOD.replace("90, 180", "180, 90")).table.beams_deg == (0, 180, 90, 270)


def test_a_directory_in_the_place_of_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-config", str(tmp_path)]) == Exit.NO_INPUT
    (line,) = capsys.readouterr().err.splitlines()
    assert "This is a directory; name the file in it" in line
    assert str(tmp_path) in line


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ('[mqtt]\nhost = "x"\nusers = """\nhost = 1\n', 3, "mqtt.users"),
        ('[mqtt]\nhost = "x', 2, "mqtt.host"),
        ("[wheel]\nbeams_deg = [0, 90\n\n", 2, "wheel.beams_deg"),
        ("[wheel]\nbeams_deg = [0 90]\n", 2, "wheel.beams_deg"),
        ("[wheel]\nhunter2== 4\n", 2, "wheel"),
        ("[hunter2]\nhunter2 = =\n", 2, ""),
        ("?", 1, ""),
    ],
)
def test_where_the_text_is_no_toml_and_only_known_names_are_repeated(
    text: str, line: int, key: str, printed: Callable[[str], list[str]]
) -> None:
    (said,) = printed(text)
    assert said.startswith(f"f.toml:{line}: {key}: is not TOML: " if key else f"f.toml:{line}: is not TOML: ")
    assert "hunter2" not in said
