"""The bench page in the languages of its players: what stands on it, and all that it answers."""

from __future__ import annotations

import html
import json
import re
from string import Formatter

import pytest

from hw_sim.bench.hand import NotPossibleError
from hw_sim.bench.server import captions
from hw_sim.evening import repeatable
from hw_sim.words import ENGLISH, Language, Words
from tests.hw_sim_bench.test_server import PAGES, served
from tests.hw_sim_bench.virtual import BUTTONS, VirtualBench
from wheeld.locale import PROGRAM, english, read

PRESSES = 60
SAME = {"Faites vos jeux", "Rien ne va plus", "Rien va", "Tout va", "La dernière"}
"""Said at the table in no other language."""


@pytest.mark.parametrize("language", ["fr", "it", "en"])
async def test_the_page_speaks_its_language(language: Language) -> None:
    bench, say = VirtualBench(0, language=language), Words(language).say
    async with served(bench) as client:
        text = await (await client.get("/bench")).text()
    assert f'<html lang="{language}">' in text
    assert text.count(f'src="{PAGES}/?lang={language}"') == 1
    assert set(re.findall(r'href="(http[^"]+)"', text)) == {
        f"{PAGES}/?lang={language}",
        f"{PAGES}/display?lang={language}",
    }
    said = {text for button in BUTTONS.values() for text in (button.group, button.label, button.about)}
    said |= set(captions(ENGLISH.say).values())
    data = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text)[0]
    told = html.unescape(text) + json.loads(data)["no_answer"]
    assert [each for each in said if say(each) not in told] == []
    if language != "en":
        shown = {each.strip() for each in re.findall(r">([^<>]+)<|=\"([^\"]*)\"", told) for each in each}
        assert shown & (said - SAME) == set()


def pattern(text: str) -> re.Pattern[str]:
    """What the text can be with its parts."""
    return re.compile(
        "".join(re.escape(said) + (".+?" if name else "") for said, name, _, _ in Formatter().parse(text))
    )


@pytest.mark.parametrize("language", ["fr", "it"])
def test_whatever_is_pressed_is_answered_in_it(language: Language) -> None:
    texts = {english(each): str(each.string) for each in read(language, PROGRAM.parent / "hw_sim") if each.id}
    ours = [pattern(text) for text in texts.values()]
    other = [pattern(text) for text, translation in texts.items() if text != translation and " " in text]
    bench, rng = VirtualBench(1, language=language), repeatable("presses in a language")
    bench.until_handed_over()
    answers = []
    for _ in range(PRESSES):
        try:
            answers.append(bench.play.press(rng.choice([*BUTTONS, "by-hand"])))
        except NotPossibleError as why:
            answers.append(str(why))
        bench.run(rng.choice((0.25, 4)))
    bench.play.press("by-itself")
    bench.run(60)
    told = {*answers, *(entry.text for entry in bench.entries)}
    assert len(told) > PRESSES / 3
    assert [text for text in told if not any(each.match(text) for each in ours)] == []
    assert [text for text in told if any(each.search(text) for each in other)] == []
