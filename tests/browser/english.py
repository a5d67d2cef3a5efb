"""English that was left on a page in another language."""

from __future__ import annotations

import re
from functools import cache
from string import Formatter

from playwright.async_api import Page

from wheeld.core.catalogue import Language, forms_of
from wheeld.screen.language import RITUAL

LETTERS_MIN = 3
"""Of a text's own: "s" is of no language."""


async def english_on(page: Page, language: Language) -> list[str]:
    """What people read on the page, or hear, that stands in English in the catalogue, and is not said so in `language`
    too. A single word counts only where it stands alone: inside a sentence it may be one of that language."""
    texts: list[str] = await page.evaluate(_TEXTS)
    patterns, words = _english(language)
    return [text for text in texts if _bare(text) in words or any(each.search(text) for each in patterns)]


@cache
def _english(language: Language) -> tuple[tuple[re.Pattern[str], ...], frozenset[str]]:
    """Texts that `language` does not have, as patterns, and single words."""
    ours = {_bare(form) for forms in forms_of(language).values() for form in forms} | set(map(_bare, RITUAL))
    english = {text: _bare(text) for text in forms_of("en")}
    said = {text: bare for text, bare in english.items() if bare not in ours and len(bare) >= LETTERS_MIN}
    patterns = tuple(_pattern(text, is_alone=" " not in bare) for text, bare in said.items())
    return patterns, frozenset(bare for bare in said.values() if " " not in bare)


def _pattern(text: str, *, is_alone: bool) -> re.Pattern[str]:
    parts = (re.escape(own) + (".+?" if name else "") for own, name, *_ in Formatter().parse(text))
    return re.compile(f"^{''.join(parts)}$" if is_alone else rf"(?<!\w){''.join(parts)}(?!\w)")


def _bare(text: str) -> str:
    """Its own words: without parts, numbers and what stands round them."""
    own = "".join(literal for literal, *_ in Formatter().parse(text)) if "{" in text else text
    return own.strip(" .:;,()–×0123456789").casefold()


_TEXTS = """() => {
  const texts = [document.title];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  // The languages that can be chosen are called by their own names.
  const isShown = (node) =>
    node.checkVisibility({ visibilityProperty: true }) && !node.closest("[lang]:not(html), script");
  while (walker.nextNode()) if (isShown(walker.currentNode.parentElement)) texts.push(walker.currentNode.textContent);
  for (const node of document.querySelectorAll("[aria-label]")) texts.push(node.ariaLabel);
  for (const node of document.querySelectorAll("input")) texts.push(node.value);
  return texts.map((text) => text.replace(/\\s+/g, " ").trim()).filter((text) => text);
}"""
