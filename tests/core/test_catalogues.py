"""The catalogues have every text that the code says to people, and no other."""

from __future__ import annotations

import gettext
from io import BytesIO
from itertools import product
from pathlib import Path
from string import Formatter

import pytest
from babel.messages import Catalog, Message

from wheeld.core.catalogue import LANGUAGE_NAMES, Catalogue, Language
from wheeld.locale import (
    LANGUAGES,
    PROGRAM,
    compiled,
    english,
    file_of,
    read,
    template,
    text_of,
    translations,
    updated,
    without_translation,
)

ADVICE = "run `make catalogues`, translate what it lists, and run it again"
of_each = pytest.mark.parametrize(
    ("program", "language"),
    [*product((PROGRAM, PROGRAM.parent / "hw_sim"), LANGUAGES)],
    ids=lambda each: Path(each).name,
)


def texts(catalogue: Catalog) -> dict[str, Message]:
    return {english(message): message for message in catalogue if message.id}


def said_by(compiled_bytes: bytes) -> dict[str, str]:
    """What gettext reads in a compiled catalogue: translations, forms of numbers, and which form each number has."""
    read_back = gettext.GNUTranslations(BytesIO(compiled_bytes))
    forms = {f"form of {number}": str(read_back.plural(number)) for number in range(37)}  # type: ignore[attr-defined]
    texts = {str(key): text for key, text in read_back._catalog.items() if key}  # type: ignore[attr-defined]
    return {**texts, **forms}


def places(text: str) -> list[str]:
    return sorted(name for _, name, _, _ in Formatter().parse(text) if name is not None)


def test_every_language_but_english_has_a_catalogue() -> None:
    assert {*LANGUAGES, "en"} == set(LANGUAGE_NAMES)


@of_each
def test_every_text_is_translated(program: Path, language: str) -> None:
    """That the file has each text and no other, the next test finds: the tool adds and removes them."""
    assert without_translation(read(language, program)) == [], ADVICE


@of_each
def test_the_files_are_as_the_tool_writes_them(program: Path, language: str) -> None:
    """But for the version of Babel, which it writes in the header."""
    written, kept = (
        [line for line in text.splitlines() if b"Generated-By" not in line]
        for text in (text_of(updated(language, program)), file_of(language, "po", program).read_bytes())
    )
    assert kept == written, ADVICE


@of_each
def test_a_translation_names_the_same_parts(program: Path, language: str) -> None:
    for text, message in texts(read(language, program)).items():
        for translation in translations(message):
            assert places(translation) == places(text), text


@of_each
def test_the_compiled_catalogue_is_that_of_the_translations(program: Path, language: str) -> None:
    """But for the version of Babel in the header."""
    made, kept = compiled(read(language, program)), file_of(language, "mo", program).read_bytes()
    assert said_by(made) == said_by(kept), ADVICE
    (english, *_) = texts(read(language, program))
    assert said_by(kept)[english] != english


@of_each
def test_signs_stand_as_the_language_writes_them(program: Path, language: str) -> None:
    """French puts a space before a colon and a semicolon, and inside its quotation marks; Italian does not."""
    for message in texts(read(language, program)).values():
        for text in translations(message):
            assert '"' not in text, text
            assert text == text.strip(), text
            before = {text[at - 1] for at, sign in enumerate(text) if sign in ":;" and at}
            assert before <= {" "} if language == "fr" else " " not in before, text
            assert (text.count("« "), text.count(" »")) == ((text.count("«"),) * 2 if language == "fr" else (0, 0)), (
                text
            )


def test_a_text_that_is_new_in_the_code_is_found(tmp_path: Path) -> None:
    program = tmp_path / "mill"
    kept = file_of("fr", "po", program)
    kept.parent.mkdir(parents=True)
    kept.write_bytes(text_of(Catalog("fr")))
    (program / "x.py").write_text(
        'catalogue.say("one more {thing}", thing=1)\nsay(TEXTS["no text"])\n'
        '@scenario(weight=2)\ndef weak(table):\n    """A weak launch.\n\n    Inside."""\n'
    )
    assert set(texts(template(program))) == {"one more {thing}", "A weak launch."}
    assert set(without_translation(updated("fr", program))) == {"one more {thing}", "A weak launch."}


@pytest.mark.parametrize(
    ("language", "one", "two", "three"),
    [("fr", "a", "a et b", "a, b et c"), ("it", "a", "a e b", "a, b e c"), ("en", "a", "a and b", "a, b and c")],
)
def test_a_list(language: Language, one: str, two: str, three: str) -> None:
    catalogue = Catalogue(language)
    assert [catalogue.listed(items) for items in ("a", "ab", "abc")] == [one, two, three]


@pytest.mark.parametrize(("language", "text"), [("fr", "3,25"), ("it", "3,25"), ("en", "3.25")])
def test_a_decimal(language: Language, text: str) -> None:
    assert Catalogue(language).decimal(3.25) == text
    assert Catalogue(language).decimal(4.0) == "4"
