"""The catalogues have every text that the code says to people, and no other."""

from __future__ import annotations

import gettext
from io import BytesIO
from pathlib import Path
from string import Formatter

import pytest
from babel.messages import Catalog, Message

from wheeld.core.catalogue import LANGUAGE_NAMES, Catalogue, Language
from wheeld.locale import (
    LANGUAGES,
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


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_translated_and_every_translation_is_used(language: str) -> None:
    assert set(texts(read(language))) == set(texts(template())), ADVICE
    assert without_translation(read(language)) == [], ADVICE


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_files_are_as_the_tool_writes_them(language: str) -> None:
    """But for the version of Babel, which it writes in the header."""
    written, kept = (
        [line for line in text.splitlines() if b"Generated-By" not in line]
        for text in (text_of(updated(language)), file_of(language, "po").read_bytes())
    )
    assert kept == written, ADVICE


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_names_the_same_parts(language: str) -> None:
    for text, message in texts(read(language)).items():
        for translation in translations(message):
            assert places(translation) == places(text), text


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_compiled_catalogue_is_that_of_the_translations(language: str) -> None:
    """But for the version of Babel in the header."""
    made, kept = compiled(read(language)), file_of(language, "mo").read_bytes()
    assert said_by(made) == said_by(kept), ADVICE
    assert said_by(kept)["the table is open"] != "the table is open"


@pytest.mark.parametrize("language", LANGUAGES)
def test_signs_stand_as_the_language_writes_them(language: str) -> None:
    """French puts a space before a colon and a semicolon, and inside its quotation marks; Italian does not."""
    for message in texts(read(language)).values():
        for text in translations(message):
            assert '"' not in text, text
            assert text == text.strip(), text
            before = {text[at - 1] for at, sign in enumerate(text) if sign in ":;" and at}
            assert before <= {" "} if language == "fr" else " " not in before, text
            assert (text.count("« "), text.count(" »")) == ((text.count("«"),) * 2 if language == "fr" else (0, 0)), (
                text
            )


def test_a_text_that_is_not_in_the_code_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wheeld").mkdir()
    (tmp_path / "wheeld" / "x.py").write_text('catalogue.say("one more {thing}", thing=1)\nsay(TEXTS["no text"])\n')
    monkeypatch.setattr("wheeld.locale.PROGRAM", tmp_path / "wheeld")
    found = set(texts(template()))
    assert "one more {thing}" in found
    assert "no text" not in found
    assert without_translation(updated("fr")).count("one more {thing}") == 1


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
