"""One language a screen: that of the locale or of `--language`, whatever the table speaks."""

from __future__ import annotations

import json
from contextlib import closing
from copy import deepcopy
from itertools import permutations
from pathlib import Path
from typing import cast

import msgspec
import pytest

from tests.config.test_config import GOOD
from tests.core.evening import FRENCH, Evening
from tests.core.head_evening import CHEF, COMBINED, MERCURY, whole_evening
from tests.core.table_in_state import STATES, table_in
from tests.core.test_languages import HAPPENINGS
from tests.journal.journals import NOW, open_writer
from wheeld.cli.main import main
from wheeld.core.catalogue import Language
from wheeld.core.setting import TableSetting
from wheeld.core.step import Message, Step, Topic
from wheeld.exits import Exit
from wheeld.screen.describe import describe
from wheeld.screen.language import translation
from wheeld.screen.locale import LANGUAGES, language_here

Captured = pytest.CaptureFixture[str]


def in_language(setting: TableSetting, language: Language) -> TableSetting:
    return msgspec.structs.replace(setting, language=language)


def check(evenings: dict[Language, Evening]) -> int:
    """What each table published and replied, said in another language, is what the table of that language said."""
    compared = 0
    for source, target in permutations(LANGUAGES, 2):
        theirs, ours = evenings[source], evenings[target]
        for their, our in zip(theirs.published, ours.published, strict=True):
            assert describe(their.topic, their.bytes, target) == describe(our.topic, our.bytes, target)
            compared += 1
        for asked, answered in zip(theirs.replies, ours.replies, strict=True):
            assert translation(source, target).of(asked.why) == answered.why
    return compared


@pytest.mark.parametrize("state", STATES)
def test_whatever_happens_is_said_as_a_table_of_that_language_says_it(state: str) -> None:
    tables = {language: table_in(state, in_language(FRENCH, language)) for language in LANGUAGES}
    for happens in HAPPENINGS:
        if happens.__name__ == "names_a_case":  # it checks copies of its own
            continue
        evenings = {language: deepcopy(table) for language, table in tables.items()}
        for evening in evenings.values():
            happens(evening)
        assert check(evenings)


@pytest.mark.parametrize("setting", [MERCURY, CHEF, COMBINED])
def test_an_evening_with_a_wheel_head(setting: TableSetting) -> None:
    assert check({language: whole_evening(in_language(setting, language)) for language in LANGUAGES}) > 50


def test_words_of_nobody_s_catalogue_stay() -> None:
    """A person's own, and those that are said at the table in one language only."""
    of = translation("fr", "en").of
    assert of("rien va") == "rien va"
    assert of("il pleut, puis la bille tourne") == "il pleut, then the ball runs"
    assert of("") == ""


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "fr_FR.UTF-8"}, "fr"),
        ({"LANG": "it_CH.UTF-8@euro"}, "it"),
        ({"LANG": "it"}, "it"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "fr_FR", "LC_MESSAGES": "it_IT"}, "it"),
        ({"LC_ALL": "fr_FR", "LC_MESSAGES": "it_IT", "LANG": "en_US"}, "fr"),
        ({"LC_ALL": "", "LANG": "it_IT"}, "it"),
        ({"LC_ALL": "POSIX", "LANG": "it_IT"}, "en"),
    ],
)
def test_the_language_of_the_locale(environment: dict[str, str], language: Language) -> None:
    assert language_here(environment) == language


# --- the commands -------------------------------------------------------------------------------------------------


@pytest.fixture
def italian(tmp_path: Path) -> tuple[Path, Path]:
    """A journal and the log of an Italian table that played one coup."""
    evening = Evening(in_language(FRENCH, "it"))
    evening.open()
    evening.coup(27)
    log = tmp_path / "evening.jsonl"
    log.write_bytes(evening.evidence[-1].log)
    journal = tmp_path / "journal.sqlite"
    with closing(open_writer(journal)) as file:
        messages = tuple(
            Message(NOW, cast("Topic", one.topic), one.bytes, one.payload.get("seq")) for one in evening.published
        )
        file.append(Step(messages=messages), NOW)
    return journal, log


SAID: dict[Language, tuple[str, str]] = {
    "fr": (
        "résultat  coup 1     27 · Vingt-sept, rouge, impair et passe (",
        "en attente :",
    ),
    "it": ("risultato colpo 1    27 · Vingt-sept, rouge, impair et passe (", "in attesa:"),
    "en": ("result    coup 1     27 · Vingt-sept, rouge, impair et passe (", "waiting for:"),
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("how", ["option", "locale"])
def test_replay_and_journal_show(
    italian: tuple[Path, Path], language: Language, how: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, log = italian
    monkeypatch.setenv("LC_ALL", "de_DE" if how == "option" else f"{language}_XX.UTF-8")
    more = ["--language", language] if how == "option" else []
    result, waiting = SAID[language]
    for command in (["replay", str(log)], ["journal", "show", str(journal)]):
        assert main([*command, *more]) == Exit.OK
        shown = capsys.readouterr().out
        assert result in shown
        assert waiting in shown
        assert [other for _, other in SAID.values() if other != waiting and other in shown] == []


def test_what_programs_read_has_no_language(
    italian: tuple[Path, Path], capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, log = italian
    printed: set[str] = set()
    for language in LANGUAGES:
        monkeypatch.setenv("LC_ALL", language)
        assert main(["replay", str(log), "--jsonl"]) == Exit.OK
        assert main(["journal", "show", str(journal), "--jsonl"]) == Exit.OK
        printed.add(capsys.readouterr().out)
    assert len(printed) == 1
    assert all(json.loads(line)["payload"].get("language", "it") == "it" for line in printed.pop().splitlines())


CHECKED: dict[Language, tuple[str, ...]] = {
    "en": (
        "beams: 4 at 0°, 90°, 180° and 270°",
        "a run of 3.75 laps or more is certainly valid",
        "R1, Art. 10: the ball runs against the rotor: the beams and the encoder",
        'a void coup is declared with "rien va"',
    ),
    "fr": (
        "faisceaux : 4, à 0°, 90°, 180° et 270°",
        "une course est sûrement valable à partir de 3,75 tours",
        "R1, Art. 10 : la bille tourne en sens inverse du cylindre : les faisceaux et le codeur",
        "un coup nul est déclaré par « rien va »",
    ),
    "it": (
        "fotocellule: 4, a 0°, 90°, 180° e 270°",
        "una corsa è sicuramente valida da 3,75 giri in su",
        "R1, Art. 10: la pallina gira in senso inverso al cilindro: le fotocellule e l'encoder",
        "un colpo nullo è dichiarato con «rien va»",
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_check_config(language: Language, tmp_path: Path, capsys: Captured) -> None:
    config = tmp_path / "wheel.toml"
    config.write_text(GOOD)
    shown: dict[Language, set[str]] = {}
    for each in LANGUAGES:
        assert main(["check-config", str(config), "--language", each]) == Exit.LOOK
        shown[each] = set(capsys.readouterr().out.splitlines())
    assert all(any(text in line for line in shown[language]) for text in CHECKED[language])
    same = {line for other in LANGUAGES if other != language for line in shown[language] & shown[other]}
    assert same == set()


@pytest.mark.parametrize(
    ("language", "missing", "nothing", "wrong"),
    [
        (
            "en",
            "there is no such file or directory; check the name",
            "the journal has no coup yet",
            "the configuration is wrong",
        ),
        (
            "fr",
            "n'existe pas ; vérifier le nom",
            "le journal n'a pas encore de coup",
            "la configuration n'est pas",
        ),
        (
            "it",
            "non esiste; controllare il nome",
            "il registro non ha ancora nessun colpo",
            "la configurazione non è",
        ),
    ],
)
def test_errors(
    language: Language,
    missing: str,
    nothing: str,
    wrong: str,
    tmp_path: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a command with `--language`, of one without, and of one whose file is wrong."""
    monkeypatch.setenv("LC_ALL", language)
    none, journal, config = (tmp_path / name for name in ("none", "journal.sqlite", "wheel.toml"))
    open_writer(journal).close()
    config.write_text("[table]\n")
    assert main(["replay", str(none), "--language", language]) == Exit.NO_INPUT
    assert capsys.readouterr().err.endswith(f"{missing}\n")
    assert main(["journal", "export", str(journal), "--coup", "7"]) == Exit.NO_INPUT
    assert nothing in capsys.readouterr().err
    assert main(["check-config", str(config)]) == Exit.BAD_CONFIG
    assert wrong in capsys.readouterr().err


LINES: dict[Language, tuple[str, str]] = {
    "en": ("line 2: tick 999: the header allows 0…147", "line 1: not a header of a table: "),
    "fr": (
        "ligne 2 : tick 999 : l'en-tête admet 0…147",
        "ligne 1 : ce n'est pas un en-tête dont on puisse faire une table : ",
    ),
    "it": (
        "riga 2: tick 999: l'intestazione ammette 0…147",
        "riga 1: non è un'intestazione di cui si possa fare un tavolo: ",
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_wrong_with_a_log(
    italian: tuple[Path, Path], language: Language, tmp_path: Path, capsys: Captured
) -> None:
    _, log = italian
    header, wrong = log.read_bytes().splitlines()[0], tmp_path / "wrong.jsonl"
    snapshot = msgspec.json.decode(header)
    snapshot.pop("snapshot")
    for line, said in zip((b'{"t":1,"kind":"rotor","tick":999,"direction":"cw"}', None), LINES[language], strict=True):
        first = msgspec.json.encode({**snapshot, "min_laps": 4 if line else 99})
        wrong.write_bytes(b"\n".join(filter(None, (first, line))) + b"\n")
        assert main(["replay", str(wrong), "--language", language]) == Exit.BAD_DATA
        assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "french", "italian", "english"),
    [
        (
            "replay - --language de",
            "--language : de n'est pas parmi fr, it, en",
            "--language: de non è tra fr, it, en",
            "--language: de is not one of fr, it, en",
        ),
        ("doctor --ball", "--ball : la valeur manque", "--ball: manca il valore", "--ball: its value is missing"),
        ("journal show x --coup red", "--coup : red n'est pas", "--coup: red non è", "--coup: red is not a number"),
        ("", "il manque : COMMAND", "manca: COMMAND", "missing: COMMAND"),
        ("replay", "il manque : FILE", "manca: FILE", "missing: FILE"),
        ("replay - --fast", "inconnu : --fast", "sconosciuto: --fast", "unknown: --fast"),
        (
            "setup x --board a --head b",
            "donnez --head ou --board, pas les deux",
            "dare --head o --board, non entrambi",
            "give --head or --board, not both",
        ),
    ],
)
def test_a_wrong_command_line_is_told_in_the_language_of_the_screen(
    words: str, french: str, italian: str, english: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In words of ours: those of argparse change with Python's version."""
    for locale, expected in (("fr_FR.UTF-8", french), ("it_IT.UTF-8", italian), ("C", english)):
        monkeypatch.setenv("LC_ALL", locale)
        with pytest.raises(SystemExit, match="2"):
            main(words.split())
        usage, said = capsys.readouterr().err.rstrip("\n").rsplit("\n", 1)
        assert usage.startswith("usage: wheeld")
        assert expected in said
