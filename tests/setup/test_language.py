"""Setup asks, shows its plan and says what is wrong in the language of the screen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.english_left import english_left
from tests.setup.bench import HERE, NOW, REAL, SIMULATED, BareComputer, planned, set_up
from tests.setup.test_questions import answering, run
from wheeld.certificates import CERTIFICATE_DAYS, DAY, authority, issue, new_key, out_of_date, wrong_with
from wheeld.cli import setup as cli_setup
from wheeld.config.problems import ConfigError
from wheeld.core.catalogue import Catalogue, Language
from wheeld.exits import Exit
from wheeld.setup.answers import Answers
from wheeld.setup.questions import ask_all, take_defaults
from wheeld.setup.steps import Action, shown

Captured = pytest.CaptureFixture[str]
PEOPLE = {
    "board": ("campione-03", "", "Campione", "campione", "", "campione", "roulette", "", "12", "148", "4", "3", "", ""),
    "head": ("x", "head", "venezia", "", "venezia", "fair", "slingshot-2", "/dev/ttyUSB0", "chef", "cw", "existing",
             "mqtt.example", "", "", "", "/root/ca", "wheel-x", "/root/password"),
    "pins": ("x", "pins", "venezia", "", "venezia", "roulette-francese", "148", "0, 90", "30.5", "", "", "17, 27, 22",
             "5, 6", "16", "existing", "mqtt.example", "8883", "/root/certificate", "/root/key", "/root/ca"),
}  # fmt: skip
"""What three people type, one after the other; each is asked other questions."""
NAMES = "NAME wheel rotor head pocket journal simulated board chef house"
"""What stands in a file or on a command line."""
COMMANDS = "systemctl enable restart wheeld acl topic read"


@pytest.fixture(autouse=True)
def no_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli_setup, "serial_lines", lambda: HERE.lines)


@pytest.fixture
def computer(tmp_path: Path) -> BareComputer:
    return BareComputer(tmp_path / "root")


@pytest.mark.parametrize("language", ["fr", "it"])
@pytest.mark.parametrize("person", PEOPLE)
def test_every_question_and_what_is_wrong_with_an_answer(person: str, language: Language) -> None:
    heard: dict[Language, list[str]] = {}
    for each in ("en", language):
        heard[each] = []
        typed = answering(PEOPLE[person])
        ask_all(Answers(), HERE, noting(heard[each], typed), heard[each].append, Catalogue(each))
    assert len(heard[language]) == len(heard["en"]) >= len(PEOPLE[person])
    assert [said for said in heard[language] if english_left(said, language, kept=NAMES)] == []
    assert set(heard[language]) & set(heard["en"]) == set()


def noting(heard: list[str], ask: Callable[[str], str]) -> Callable[[str], str]:
    """The same person, with a note of each question."""

    def asked(prompt: str) -> str:
        heard.append(prompt)
        return ask(prompt)

    return asked


@pytest.mark.parametrize("language", ["fr", "it"])
def test_what_nobody_answered(language: Language) -> None:
    with pytest.raises(ConfigError) as wrong:
        take_defaults(Answers(), HERE)
    said = wrong.value.said(Catalogue(language)).splitlines()
    assert len(said) == len(str(wrong.value).splitlines()) > 6
    assert [line for line in said if english_left(line, language, kept=NAMES)] == []


@pytest.mark.parametrize("language", ["fr", "it"])
def test_every_kind_of_step_of_a_plan(computer: BareComputer, tmp_path: Path, language: Language) -> None:
    catalogue, plans = Catalogue(language), [planned(computer, *SIMULATED)]
    set_up(computer, *SIMULATED)
    differing = computer.at("etc/wheeld/bench-01.toml")
    differing.write_text(differing.read_text() + "by = 'hand'\n")
    listed = computer.at("etc/mosquitto/wheeld.acl")
    listed.write_text(listed.read_text() + "user monitor\ntopic read $SYS/#\n")
    plans.append(planned(computer, *SIMULATED, now=NOW + CERTIFICATE_DAYS * DAY))
    for name in ("ca", "password"):
        (tmp_path / name).write_text(name)
    given = ("--ca-file", str(tmp_path / "ca"), "--username", "x", "--password-file", str(tmp_path / "password"))
    plans.append(planned(computer, "campione-03", *REAL, "--broker", "mqtt.example", *given))
    assert {step.action for plan in plans for step in plan} == {*Action} - {Action.UNKNOWN}
    lines = "".join(shown(plan, catalogue) for plan in plans).splitlines()
    assert [line for line in lines if english_left(line, language, kept=f"{NAMES} {COMMANDS}")] == []


@pytest.mark.parametrize("language", ["fr", "it"])
def test_what_is_wrong_with_a_certificate(language: Language) -> None:
    key, other = new_key(), new_key()
    ours, theirs = (authority(each, ("x",), NOW) for each in (key, other))
    made = issue(key, "chef", (ours, key), NOW)
    asked = ((made, key, "page", ours), (made, other, "chef", ours), (made, key, "chef", theirs), (b"", key, "x", ours))
    said = {wrong_with(*each) or "" for each in asked}
    assert len(said) == len(asked)
    said |= {out_of_date(made, NOW + days * DAY) or "" for days in (-9, CERTIFICATE_DAYS - 1, CERTIFICATE_DAYS)}
    assert len(said) == len(asked) + 3
    assert {text for text in said if Catalogue(language).say(text, name="chef") == text.format(name="chef")} == set()


STARTS: dict[Language, tuple[str, str]] = {
    "en": ("start the wheel:", "nothing was done"),
    "fr": ("mettre la roulette en marche :", "rien n'a été fait"),
    "it": ("avviare la roulette:", "non è stato fatto nulla"),
}


@pytest.mark.parametrize(("language", "yes"), [("en", ""), ("fr", "oui"), ("it", "Sì")])
def test_the_whole_command(computer: BareComputer, language: Language, yes: str, capsys: Captured) -> None:
    start, nothing = STARTS[language]
    words = (*SIMULATED, "--broker-name", "x", "--site", "b", "--house", "campione", "--game", "roulette", "--table",
             "t", "--ticks", "148", "--beams", "4", "--readers", "3", "--language", language)  # fmt: skip
    assert run(computer, *words, ask=answering(["n"])) == Exit.OK
    assert capsys.readouterr().out.endswith(f"{nothing}\n")
    assert run(computer, *words, ask=answering([yes])) == Exit.OK
    out = capsys.readouterr().out
    assert start in out
    assert [other for other, _ in STARTS.values() if other != start and other in out] == []


@pytest.mark.parametrize(
    ("language", "said"),
    [
        (
            "fr",
            "wheeld: mosquitto n'est pas installé : apt install mosquitto, ou nommer un autre broker avec --broker\n",
        ),
        ("it", "wheeld: mosquitto non è installato: apt install mosquitto, o nominare un altro broker con --broker\n"),
    ],
)
def test_why_it_cannot_be_done(computer: BareComputer, language: Language, said: str, capsys: Captured) -> None:
    computer.at("usr/sbin/mosquitto").unlink()
    assert run(computer, *SIMULATED, "--yes", "--language", language) == Exit.USAGE
    assert capsys.readouterr().err == said
