"""What the demo and the bench page show of their own, in the language of their viewer: English texts as they stand in
the code, or their translations in `fr` and `it`. The daemon's sentences come in that language from the daemon.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from types import ModuleType
from typing import Literal, TypeAlias, get_args

from hw_sim.scenarios import Scenario
from hw_sim.words import fr, it

Language: TypeAlias = Literal["fr", "it", "en"]
"""Those that a table's messages may have."""
LANGUAGES: tuple[Language, ...] = get_args(Language)
TRANSLATIONS: dict[Language, ModuleType] = {"fr": fr, "it": it}
"""English texts stand in the code."""
LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")
"""The first of these that is set says the language of messages (locale(7))."""


class Words:
    """Says these texts in one language."""

    def __init__(self, language: Language) -> None:
        self.language = language
        translations = TRANSLATIONS.get(language)
        self._texts: Mapping[str, str] = getattr(translations, "TEXTS", {})
        self._codes: Mapping[str, str] = getattr(translations, "CODES", {})
        self._about: Mapping[str, str] = getattr(translations, "ABOUT", {})

    def say(self, text: str, /, **parts: object) -> str:
        """An English text of the code, with `parts` in the places that it names."""
        return self._texts.get(text, text).format(**parts)

    def code(self, kind: Literal["state", "bets"], code: str) -> str:
        """A code of the message `table` as a word; in English as it stands there."""
        return self._codes.get(f"{kind} {code}", code)

    def about(self, scenario: Scenario) -> str:
        """What the scenario is about."""
        return self._about.get(scenario.name, scenario.about)


ENGLISH = Words("en")


def language_here(environment: Mapping[str, str] = os.environ) -> Language:
    """That of the locale if it is one of ours, else English."""
    locale = next((value for name in LOCALE if (value := environment.get(name))), "")
    wanted = re.split("[_.@]", locale)[0]
    return next((language for language in LANGUAGES if language == wanted), "en")
