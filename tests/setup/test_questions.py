"""What is asked, what is taken from options and a file of answers, and how a wrong answer is named."""

from __future__ import annotations

import os
import pty
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from tests.setup.bench import HERE, REAL, SIMULATED, BareComputer, answers_of, set_up
from tests.smallest_wheel import WHEEL, table
from wheeld.cli import setup as cli_setup
from wheeld.cli.main import main
from wheeld.cli.parser import parser
from wheeld.cli.setup import setup
from wheeld.config.problems import ConfigError
from wheeld.config.reading import parse
from wheeld.core.catalogue import Catalogue
from wheeld.exits import Exit
from wheeld.setup.answers import Answers, text_of
from wheeld.setup.computer import SetupError
from wheeld.setup.problems import problems
from wheeld.setup.questions import TRIES, ask_all, evenly, value_of

PINS = """\
rotor_direction = "cw"
[gpio]
encoder = "quadrature"
encoder_pins = [17, 27, 22]
beam_pins = [5, 6]
reader_pins = [16]
door_pin = 12
"""
ANSWERS = '[setup]\nname = "campione-03"\nsensors = "pins"\nbroker = "house"\n'
ANSWERS += table("campione", "campione-03", "fair") + WHEEL + PINS


@pytest.fixture(autouse=True)
def no_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli_setup, "serial_lines", lambda: HERE.lines)


def answering(given: Sequence[str]) -> Callable[[str], str]:
    """A person who types these lines."""
    lines = iter(given)

    def ask(prompt: str) -> str:
        return next(lines)

    return ask


def asked(answers: Answers, *typed: str) -> list[str]:
    """What a person who types this is told besides the questions."""
    said: list[str] = []
    ask_all(answers, HERE, answering(typed), said.append, Catalogue("en"))
    return said


@pytest.fixture
def computer(tmp_path: Path) -> BareComputer:
    return BareComputer(tmp_path / "root")


def run(computer: BareComputer, *words: str, ask: Callable[[str], str] | None = None) -> Exit:
    return setup(parser().parse_args(["setup", *words]), computer, ask)


# --- a person ---------------------------------------------------------------------------------------------------------


def test_a_person_is_asked_what_is_not_given() -> None:
    answers = Answers()
    typed = ("campione-03", "", "campione", "", "campione", "roulette", "", "148", "4", "30, 150, 270", "", "")
    said = asked(answers, *typed)
    assert said == [
        "  found here: /dev/wheeld/0042",
        "  this computer has no /dev/wheeld/0042: connect the device, or correct sensors.port",
    ]
    assert answers.setup().broker_names == ("wheel-pc",)
    assert answers.configuration == {
        "table": {"site": "campione", "id": "campione-03", "house": "campione", "game": "roulette"},
        "sensors": {"port": "/dev/wheeld/0042"},
        "wheel": {"rotor_ticks": 148, "beams_deg": [0, 90, 180, 270], "readers_deg": [30, 150, 270]},
    }


def test_a_wrong_answer_is_refused_at_once_in_the_words_of_the_configuration() -> None:
    answers = answers_of(*SIMULATED)
    for key in ("table.site", "wheel.rotor_ticks", "setup.broker"):
        answers.put(key, None)
    said = asked(answers, "Campione", "campione", "12", "148", "mine", "house", "")
    assert said[0].strip().startswith("'Campione' becomes a part of MQTT topics: use only lower-case letters")
    assert "12" in said[1]
    assert said[2].strip() == 'is "mine"; expected "house" or "existing"'
    assert (answers.get("table.site"), answers.get("wheel.rotor_ticks")) == ("campione", 148)


def test_who_never_answers_is_not_asked_for_ever_and_is_shown_an_answer() -> None:
    said: list[str] = []
    with pytest.raises(SetupError, match="none of 5 answers to this question can be used: nothing was done"):
        ask_all(Answers(), HERE, answering([""] * TRIES), said.append, Catalogue("en"))
    assert said == ["  this question has no default; an answer is, for example, campione-03"] * TRIES


def test_a_house_without_a_regulation_is_refused_at_its_own_question() -> None:
    answers = answers_of(*SIMULATED)
    answers.put("table.house", None)
    assert asked(answers, "monaco", "venezia") == ['  is "monaco"; expected "campione" or "venezia" or "south-dakota"']
    answers.put("table.house", "monaco")
    answers.put("table.game", None)
    with pytest.raises(ConfigError, match=r'table\.house: is "monaco"; expected "campione" or "venezia"'):
        asked(answers)


@pytest.mark.parametrize("sensors", ["board", "pins", "head"])
def test_the_example_of_every_question_without_a_default_is_good(sensors: str) -> None:
    answers = Answers()
    said: list[str] = []
    for key, value in (("setup.sensors", sensors), ("setup.broker", "existing")):
        answers.put(key, value)

    def ask(prompt: str) -> str:
        return said.pop().partition("for example, ")[2] if said else ""

    ask_all(answers, HERE._replace(lines=()), ask, said.append, Catalogue("en"))
    assert answers.get("table.id") == "campione-03"


def test_who_has_no_port_is_told_so_at_its_question() -> None:
    answers = answers_of("campione-03", *REAL, "--house-broker")
    answers.put("sensors.port", None)
    said: list[str] = []
    ask_all(answers, HERE._replace(lines=()), answering(["", "/dev/nowhere"]), said.append, Catalogue("en"))
    assert said == [
        "  no serial port: is the device plugged in?",
        "  this question has no default; an answer is, for example, /dev/wheeld/0042",
        "  this computer has no /dev/nowhere: connect the device, or correct sensors.port",
    ]


def test_a_fair_wheel_turns_one_way_and_an_existing_broker_asks_for_its_files() -> None:
    answers = answers_of("x", *REAL, "--house-broker")
    for key in ("setup.broker", "setup.broker_names"):
        answers.put(key, None)
    answers.put("table.game", "fair")
    said = asked(answers, "ccw", "existing", "mqtt.example", "", "", "", "/root/ca", "wheel-x", "/root/password")
    assert said == ["  this question has no default; an answer is, for example, /etc/wheeld/house-ca.crt"]
    assert answers.get("wheel.rotor_direction") == "ccw"
    assert answers.configuration["mqtt"] == {
        "host": "mqtt.example",
        "port": 8883,
        "ca_file": "/root/ca",
        "username": "wheel-x",
        "password_file": "/root/password",
    }


@pytest.mark.parametrize(
    ("text", "shape", "value"),
    [
        ("8", "angles", [0, 45, 90, 135, 180, 225, 270, 315]),
        ("[0, 90.5]", "angles", [0, 90.5]),
        ("0", "angles", [0]),
        ("17 27,22", "numbers", [17, 27, 22]),
        ("148", "number", 148),
        ("many", "number", "many"),
        ("1 2", "number", "1 2"),
        ("a.example, 10.0.0.7", "names", ["a.example", "10.0.0.7"]),
        (" campione ", "text", "campione"),
    ],
)  # fmt: skip
def test_what_a_person_types(text: str, shape: str, value: object) -> None:
    assert value_of(text, shape) == value  # type: ignore[arg-type]


def test_beams_stand_evenly_until_they_are_measured() -> None:
    assert evenly(3) == [0, 120, 240]


def test_what_this_computer_lacks_is_said_at_the_question_that_needs_it(computer: BareComputer) -> None:
    (computer.root / "etc/systemd/system/wheeld-sim@.service").unlink()
    (computer.root / "usr/sbin/mosquitto").unlink()
    answers, said = answers_of("y", *REAL, "--house-broker"), list[str]()
    for key in ("setup.sensors", "setup.broker", "setup.broker_names"):
        answers.put(key, None)
    here = HERE._replace(problems=partial(problems, computer=computer))
    typed = answering(["simulated", "board", "house", "existing", "h", "1883", "", "/nowhere.crt", "", ""])
    ask_all(answers, here, typed, said.append, Catalogue("en"))
    assert said == [
        "  the simulator is not installed: apt install ./wheeld-sim_*.deb",
        "  mosquitto is not installed: apt install mosquitto, or name another broker with --broker",
        "  /nowhere.crt does not exist or is empty: name the file that you have from the broker's owner",
    ]


def test_a_table_that_has_a_wheel_is_refused_at_its_question(computer: BareComputer) -> None:
    set_up(computer, *SIMULATED)
    answers, said = answers_of("other", *SIMULATED[1:]), list[str]()
    answers.put("table.id", None)
    here = HERE._replace(problems=partial(problems, computer=computer))
    ask_all(answers, here, answering(["bench-01", "other"]), said.append, Catalogue("en"))
    (refused,) = said
    assert "bench-01.toml is already the wheel of this table" in refused


def test_what_the_options_ask_of_this_computer_in_vain_is_said_before_the_first_question(
    computer: BareComputer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(computer, "--board", "/dev/nowhere", "--dry-run", ask=answering(["no name"] * TRIES)) == Exit.USAGE
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "wheeld: this computer has no /dev/nowhere: connect the device, or correct sensors.port"
    (computer.root / "etc/systemd/system/wheeld-sim@.service").unlink()
    assert run(computer, "--simulated", ask=answering([])) == Exit.USAGE
    assert capsys.readouterr().err == "wheeld: the simulator is not installed: apt install ./wheeld-sim_*.deb\n"


# --- options and a file -----------------------------------------------------------------------------------------------


def test_a_file_of_answers_has_any_key_of_the_configuration(tmp_path: Path) -> None:
    file = tmp_path / "answers.toml"
    file.write_text(ANSWERS)
    answers = answers_of("--answers", str(file))
    assert answers.get("gpio.door_pin") == 12
    assert answers.setup().sensors == "pins"
    text = text_of(answers.configuration) + '[journal]\npath = "j"\n[mqtt]\nhost = "h"\n'
    assert parse(text).table.beams_deg == (0, 90)


def test_an_option_goes_before_the_file(tmp_path: Path) -> None:
    file = tmp_path / "answers.toml"
    file.write_text(ANSWERS)
    assert answers_of("--answers", str(file), "--site", "venezia").get("table.site") == "venezia"


@pytest.mark.parametrize(
    ("right", "wrong", "line", "words"),
    [
        ('site = "campione"', 'sites = "campione"', 6, "table.sites: is not a known key; did you mean site?"),
        ("148", "12", 11, "wheel.rotor_ticks: 12"),
        ("[0, 90]", '"north"', 12, 'wheel.beams_deg: is "north"; expected a list of angles'),
        ("door_pin = 12", "door_pin = 99", 20, "gpio.door_pin: is 99; expected a GPIO number, 0 to 53"),
        ("door_pin = 12", "door_pin = 17", 20, "gpio.door_pin: "),
        ('sensors = "pins"', 'sensors = "eyes"', 3, 'setup.sensors: is "eyes"; expected "board", "pins", "head"'),
        ('name = "campione-03"', 'nam = "x"', 2, "setup.nam: is not a known key; [setup] may contain name, sensors"),
        ('broker = "house"', 'broker = "house"\nbroker_names = ["a b"]', 5, 'setup.broker_names: is ["a b"]; expected'),
    ],
)
def test_a_wrong_answer_in_a_file_is_named_with_its_line_and_what_was_expected(
    tmp_path: Path, computer: BareComputer, right: str, wrong: str, line: int, words: str
) -> None:
    file = tmp_path / "answers.toml"
    assert right in ANSWERS
    file.write_text(ANSWERS.replace(right, wrong))
    before = computer.tree()
    with pytest.raises(ConfigError) as caught:
        run(computer, "--answers", str(file), "--yes")
    assert f"{file}:{line}: {words}" in str(caught.value)
    assert computer.tree() == before


@pytest.mark.parametrize(
    ("text", "words"),
    [("[table\n", "is not TOML"), ("name = 3\n", "name: is in no section"), ("\xff", "is not UTF-8")],
)
def test_a_file_that_is_none(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "answers.toml"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError, match=words):
        Answers.read(file)


def test_without_a_person_all_that_is_missing_is_named_with_its_option() -> None:
    with pytest.raises(ConfigError) as caught:
        answers_of("--board", "/dev/ttyACM0")
    text = str(caught.value)
    for option in ("NAME", "--site", "--house", "--game", "--ticks", "--beams", "--readers"):
        assert f"give {option}, or write it in a file of answers" in text
    assert text.count("table.site") == 1


@pytest.mark.parametrize(
    ("right", "wrong", "cause"),
    [
        ("[table]", "[tabel]", ":5: tabel: is not a known section; did you mean table?"),
        ('game = "fair"', 'gane = "fair"', ":9: table.gane: is not a known key; did you mean game?"),
    ],
)
def test_a_wrong_name_of_a_key_is_said_before_the_answers_that_are_missing_because_of_it(
    tmp_path: Path, computer: BareComputer, right: str, wrong: str, cause: str
) -> None:
    file = tmp_path / "answers.toml"
    assert right in ANSWERS
    file.write_text(ANSWERS.replace(right, wrong))
    with pytest.raises(ConfigError) as caught:
        run(computer, "--answers", str(file), "--yes")
    first, *others = str(caught.value).splitlines()
    assert first.startswith(f"{file}{cause}")
    assert others
    assert [line for line in others if ": is missing; expected" not in line] == []


# --- the command ------------------------------------------------------------------------------------------------------


def test_a_dry_run_shows_the_plan_and_needs_no_root(computer: BareComputer, capsys: pytest.CaptureFixture[str]) -> None:
    computer.is_root = False
    before = computer.tree()
    assert run(computer, *SIMULATED, "--dry-run") == Exit.OK
    assert "make     " in capsys.readouterr().out
    assert computer.tree() == before
    assert run(computer, *SIMULATED, "--yes") == Exit.USAGE
    said = capsys.readouterr().err
    assert "as root" in said
    assert said.count("\n") == 1
    assert computer.tree() == before


def test_a_further_wheel_takes_the_names_that_the_broker_has(
    computer: BareComputer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(computer, *SIMULATED, "--broker-name", "wheel.example", "--yes") == Exit.OK
    capsys.readouterr()
    assert run(computer, "bench-02", "--simulated", "--house-broker", "--dry-run") == Exit.OK
    assert "certificate and key of the broker, for wheel.example, localhost, 127.0.0.1\n" in capsys.readouterr().out


@pytest.mark.parametrize("answer", ["n", "no"])
def test_without_a_yes_nothing_is_done(computer: BareComputer, answer: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = computer.tree()
    given = ("--site", "b", "--house", "campione", "--game", "roulette", "--table", "t", "--ticks", "148",
             "--beams", "4", "--readers", "3", "--broker-name", "x")  # fmt: skip
    assert run(computer, *SIMULATED, *given, ask=answering([answer])) == Exit.OK
    assert "nothing was done" in capsys.readouterr().out
    assert computer.tree() == before


def test_where_nobody_can_answer_nothing_is_done_and_the_exit_code_says_so(
    computer: BareComputer, capsys: pytest.CaptureFixture[str]
) -> None:
    """So that a script does not go on as if the wheel were set up."""
    before = computer.tree()
    assert run(computer, *SIMULATED, "--broker-name", "wheel.example") == Exit.USAGE
    assert "nothing was done, because nobody can answer here: give --yes" in capsys.readouterr().out
    assert run(computer) == Exit.USAGE
    assert capsys.readouterr().err == (
        "wheeld: nobody can answer here, because the input is not a terminal: nothing was done; `wheeld setup --yes` "
        "says what to give\n"
    )
    with pytest.raises(ConfigError) as wrong:
        run(computer, "--yes")
    assert "has no key" not in str(wrong.value), "nothing was read yet"
    assert computer.tree() == before


def test_with_a_yes_it_is_done_checked_and_the_start_is_told(
    computer: BareComputer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(computer, *SIMULATED, "--yes") == Exit.OK
    out = capsys.readouterr().out
    assert out.endswith("  systemctl enable --now wheeld@bench-01\n")
    assert "bench-01.toml has no problems" in out
    assert "  wheeld watch bench-01\n" in out
    capsys.readouterr()
    assert run(computer, *SIMULATED) == Exit.OK, "nothing is left to do: there is nothing to ask"
    assert computer.commands.count("systemctl restart mosquitto.service") == 1


def test_what_differs_is_said_at_the_end(computer: BareComputer, capsys: pytest.CaptureFixture[str]) -> None:
    run(computer, *SIMULATED, "--yes")
    file = computer.at("etc/wheeld/bench-01.toml")
    file.write_text(file.read_text().replace("[0, 90, 180, 270]", "[0.5, 90, 180, 270]"))
    capsys.readouterr()
    assert run(computer, *SIMULATED, "--yes") == Exit.OK
    assert f"not changed: {file} is not what setup would write" in capsys.readouterr().out


def test_a_wrong_option_ends_with_the_code_of_a_wrong_configuration(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["setup", "x", *REAL, "--broker", "h", "--site", "No", "--yes", "--dry-run"]) == Exit.BAD_CONFIG
    assert "table.site: 'No' becomes a part of MQTT topics" in capsys.readouterr().err


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Standard input is a terminal; what is written to this descriptor is typed there."""
    master, slave = pty.openpty()
    with open(slave, encoding="utf-8", closefd=False) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield master
    os.close(master)
    os.close(slave)


def test_at_a_terminal_it_asks(terminal: int, computer: BareComputer, capsys: pytest.CaptureFixture[str]) -> None:
    os.write(terminal, b"\n" * 9)
    assert run(computer, *SIMULATED) == Exit.OK
    out = capsys.readouterr().out
    assert "the casino's name" in out
    assert "do that? [Y/n]" in out
    assert computer.at("etc/wheeld/bench-01.toml").exists()


# --- docs/install.md --------------------------------------------------------------------------------------------------


def test_the_page_s_answers_are_good(tmp_path: Path, computer: BareComputer) -> None:
    page = (Path(__file__).parents[2] / "docs" / "install.md").read_text()
    (text,) = re.findall(r"```toml\n(.+?)```", page, re.DOTALL)
    file = tmp_path / "answers.toml"
    file.write_text(text)
    assert run(computer, "--answers", str(file), "--yes") == Exit.OK
    assert computer.at("etc/wheeld/campione-03.toml").exists()
