"""The page: one file that asks no host for anything, read by people on a phone, with words for every picture."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser

import msgspec
import pytest

from tests.report.played import BIASED, START_UTC_US, Fault, play, wheel_of
from wheeld.core.catalogue import Catalogue, Language
from wheeld.core.pockets import SINGLE_ZERO
from wheeld_report.health import WheelReport, health
from wheeld_report.page import chance, page, verdict
from wheeld_report.plots import MARK
from wheeld_report.wheel import Decision, VoidCoup, WheelRecord

VOID = {"meta", "br"}
FETCHES = ("src", "href", "xlink:href", "data", "poster", "srcset", "action")


class Outline(HTMLParser):
    """What a page is made of; raises AssertionError for an element that is closed wrongly."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> at {self.getpos()}"

    def handle_data(self, data: str) -> None:
        self.text += data


@cache
def report(language: Language = "en", fault: Fault = Fault(), coups: int = 700) -> WheelReport:  # noqa: B008  frozen
    return health(wheel_of(list(play(3, coups, fault))), Catalogue(language))


def outline(text: str) -> Outline:
    parsed = Outline()
    parsed.feed(text)
    parsed.close()
    assert parsed.open == []
    return parsed


@pytest.fixture(scope="module")
def shown() -> Outline:
    return outline(page([report(), report(fault=Fault(bias=BIASED, blind_beam=0.1))], Catalogue("en")))


def test_it_asks_no_host_for_anything(shown: Outline) -> None:
    for tag, attributes in shown.elements:
        assert tag not in {"script", "link", "iframe", "img", "object"}
        for name in FETCHES:
            assert (attributes.get(name) or "#").startswith("#"), (tag, attributes)
    assert not re.search(r"url\((?!#)|@import", page([report()], Catalogue("en")))


def test_a_screen_reader_has_words_for_every_picture_and_a_table_of_the_same(shown: Outline) -> None:
    pictures = [attributes for tag, attributes in shown.elements if tag == "svg"]
    assert len(pictures) == 12
    assert all(each["role"] == "img" and len(each["aria-label"] or "") > 20 for each in pictures)
    assert sum(tag == "details" for tag, _ in shown.elements) == len(pictures)
    assert all(attributes["scope"] == "col" for tag, attributes in shown.elements if tag == "th")


def test_it_fits_a_phone(shown: Outline) -> None:
    (viewport,) = [attributes for tag, attributes in shown.elements if attributes.get("name") == "viewport"]
    assert viewport["content"] == "width=device-width, initial-scale=1"
    assert "max-width: 100%" in page([report()], Catalogue("en"))
    assert sum(attributes.get("class") == "wide" for _, attributes in shown.elements) == sum(
        tag == "table" for tag, _ in shown.elements
    )


def test_what_people_decided_stands_with_who_when_and_why() -> None:
    at_utc_us = START_UTC_US + 90_000_000
    decisions = [
        Decision(at_utc_us, 3, "number", "17", "Bianchi", "the camera shows it"),
        Decision(at_utc_us, 4, "refused", None, "Rossi", "100 on <17>"),
    ]
    text = outline(page([msgspec.structs.replace(report(), decisions=decisions)], Catalogue("en"))).text
    assert "3the number is 17Bianchi2027-01-15 08:01 UTCthe camera shows it" in text
    assert "4late bet refusedRossi2027-01-15 08:01 UTC100 on <17>" in text
    assert "Rulings of the direction" not in outline(page([report()], Catalogue("en"))).text


def test_ids_of_two_wheels_differ(shown: Outline) -> None:
    ids = [attributes["id"] for _, attributes in shown.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_each_finding_stands_with_what_to_do(shown: Outline) -> None:
    findings = report(fault=Fault(bias=BIASED, blind_beam=0.1)).findings
    assert {"sectors", "sensor_misses"} <= {each.code for each in findings}
    for each in findings:
        assert each.said in shown.text
        assert each.action in shown.text
    assert "Of a hundred wheels with no fault, at most 1 get a finding by chance." in shown.text


@pytest.mark.parametrize(
    ("fault", "coups", "light"),
    [
        (Fault(), 700, "green: nothing was found"),
        (Fault(), 60, "amber: "),
        (Fault(bias=BIASED), 700, "red: findings: "),
    ],
)
def test_it_begins_with_one_light_and_only_a_finding_is_red(fault: Fault, coups: int, light: str) -> None:
    text = page([report(fault=fault, coups=coups)], Catalogue("en"))
    shown = outline(text)
    assert sum(attributes.get("class") == "light" for _, attributes in shown.elements) == 1
    assert light in shown.text
    assert shown.text.index(light) < shown.text.index("Numbers and sectors")
    assert (MARK in text.partition("</style>")[2]) == light.startswith("red")


def test_numbers_have_the_comma_of_their_language_and_no_chance_is_nought() -> None:
    say = Catalogue("it")
    assert (chance(0.0006, say), chance(0.0, say)) == ("p = 0,0006", "p &lt; 0,0001")
    text = page([report("it", Fault(bias=BIASED))], say)
    pictures = "".join(re.findall(r"<text.*?</text>", text, re.DOTALL))
    assert not re.search(r">\s*\d+\.\d+\s*<", pictures)
    assert re.search(r">\s*\d+,\d+\s*<", pictures)


def test_the_same_report_gives_the_same_bytes() -> None:
    assert page([report()], Catalogue("en")) == page([report()], Catalogue("en"))


def test_a_small_sample_says_that_it_is_too_small() -> None:
    say = Catalogue("en")
    small = report(coups=60)
    needed = small.numbers.coups_needed
    said = f"coups are too few to say anything about the numbers: {needed} are needed"
    assert verdict(small, say).endswith(said)
    assert said in outline(page([small], say)).text


@pytest.mark.parametrize(
    ("language", "words"), [("fr", "Numéros et secteurs"), ("it", "Numeri e settori"), ("en", "Numbers and sectors")]
)
def test_it_speaks_the_language_of_its_reader(language: Language, words: str) -> None:
    text = page([report(language, Fault(blind_beam=0.1))], Catalogue(language))
    assert f'<html lang="{language}">' in text
    assert words in text
    others = {"Numéros et secteurs", "Numeri e settori", "Numbers and sectors"} - {words}
    assert not any(other in text for other in others)


def test_a_name_cannot_be_markup() -> None:
    wheel = wheel_of(list(play(3, 50)))
    wheel.table = "<script>"
    wheel.voids.append(VoidCoup(at_utc_us=wheel.coups[-1].at_utc_us, cause="<b>"))
    text = page([health(wheel, Catalogue("en"))], Catalogue("en"))
    assert "<script>" not in text
    assert "campione/&lt;script&gt;" in text
    outline(text)


def test_a_bench_table_is_marked_and_a_wheel_without_coups_has_a_page() -> None:
    bare = WheelRecord(site="a", table="b", test=True, pockets=SINGLE_ZERO, voids=[VoidCoup(at_utc_us=1, cause="chef")])
    text = outline(page([health(bare, Catalogue("en"))], Catalogue("en"))).text
    assert "BENCH TABLE: a test" in text
    assert "This sample is too small to say anything." in text
