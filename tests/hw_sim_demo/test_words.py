"""The demo and the bench page in three languages: nothing of their own stays English, and the daemon is asked for the
same language."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from hw_sim.bench.hand import SAYS, BallPlace
from hw_sim.broker import Broker
from hw_sim.cli import parser
from hw_sim.demo import Demo
from hw_sim.scenarios import SCENARIOS
from hw_sim.subscriber import NAMES as KINDS
from hw_sim.subscriber import Subscriber
from hw_sim.view import NAME_WIDTH, view_of
from hw_sim.words import CODES, ENGLISH, LANGUAGES, Language, Words, language_here
from tests.hw_sim_demo.test_subscriber import TABLE, message, result, void
from tests.hw_sim_demo.test_view import Terminal
from wheeld.config.reading import parse
from wheeld.locale import PROGRAM, english, read
from wheeld.screen.describe import BETS, STATES
from wheeld.screen.locale import LANGUAGES as OF_WHEELD
from wheeld.screen.locale import language_here as of_wheeld

NAMES = ("state", "bets", "waiting for", "last numbers", "last notice", "bench page")
"""Of lines of the picture."""


def test_the_codes_of_a_table_are_words() -> None:
    assert {*CODES} == {f"state {code}" for code in STATES} | {f"bets {code}" for code in BETS}
    assert Words("fr").code("state", "closed") == "table fermée"
    assert Words("fr").code("bets", "closed") == "fermées"
    assert ENGLISH.code("bets", "closed") == "closed"


def test_what_is_no_literal_where_it_is_said_has_a_translation() -> None:
    said = {*KINDS.values(), *SAYS.values(), *(where.value for where in BallPlace)}
    assert said <= set(map(english, read("fr", PROGRAM.parent / "hw_sim")))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_names_of_lines_fit(language: Language) -> None:
    assert max(map(len, map(Words(language).say, NAMES))) < NAME_WIDTH


def test_they_are_the_languages_of_a_table_chosen_as_wheeld_does() -> None:
    assert LANGUAGES == OF_WHEELD
    for locale in ("fr_FR.UTF-8", "it_CH@euro", "it", "frr_DE", "C.UTF-8", "", "de_DE"):
        for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
            assert language_here({name: locale, "LANGUAGE": "x"}) == of_wheeld({name: locale})


def lines(words: Words) -> str:
    out, seen = io.StringIO(), Subscriber(words=words)
    with view_of(seen, out) as shown:
        shown.show_address("http://127.0.0.1:1/bench")
        shown.show_scenario(SCENARIOS["foreign_object"])
        shown.show_message(seen.take("result", result(1)))
        shown.show_message(seen.take("void", void(2)))
        shown.show_message(seen.take("table", message(3, **TABLE)))
        shown.show_message(seen.take("board", json.dumps({"coup": 1, "numbers": [5]}).encode()))
        reply = {"name": "resume", "by": "inspector", "done": False, "why": "…"}
        shown.show_message(seen.take("reply", json.dumps(reply).encode()))
    return out.getvalue()


def test_lines() -> None:
    french = lines(Words("fr"))
    for text in (
        "page du banc: http://127.0.0.1:1/bench",
        "--- la roulette joue foreign_object : Une pièce tombe dans le cylindre",
        "RÉSULTAT 32 · Trente-deux · 7.5 tours, cylindre 14.1 tours/min",
        "NUL     rien va: chef · N7",
        "table   table fermée, mises fermées, en attente : ouverture",
        "numéros 5",
        "resume par inspector : refusé. …",
    ):
        assert text in french
    italian = lines(Words("it"))
    assert "tavolo chiuso, puntate chiuse, in attesa: ouverture" in italian
    assert "RISULTATO 32" in italian
    assert "pagina del banco: http" in italian


def test_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    out, seen = Terminal(), Subscriber(words=Words("it"))
    with view_of(seen, out) as shown:
        shown.show_message(seen.take("table", message(3, **TABLE)))
    for text in ("in attesa del tavolo", "stato", "tavolo chiuso", "puntate", "non manca nulla", "verdetto"):
        assert text in out.getvalue()


@pytest.mark.parametrize(
    ("language", "end"), [("en", "no message"), ("fr", "aucun message"), ("it", "nessun messaggio")]
)
def test_table_and_tally_have_the_language(language: Language, end: str, tmp_path: Path) -> None:
    one = Demo(parser().parse_args(["demo", "--state", str(tmp_path), "--language", language]))
    served: Broker = Broker(None, 1883)  # type: ignore[arg-type]
    assert parse(one._configuration(served, tmp_path / "board", tmp_path / "monitor")).table.language == language
    assert any(end in line for line in one.tally())
