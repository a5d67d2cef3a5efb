"""What the demo and the bench page show of their own, in the language of their viewer: English texts of the code, or
their translations in `hw_sim/locale`, which `make catalogues` brings up to date. The daemon's sentences come in that
language from the daemon.
"""

from __future__ import annotations

import gettext
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias, get_args

Language: TypeAlias = Literal["fr", "it", "en"]
"""Those that a table's messages may have."""
LANGUAGES: tuple[Language, ...] = get_args(Language)
LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")
"""The first of these that is set says the language of messages (locale(7))."""
Say: TypeAlias = Callable[..., str]


def translatable(text: str) -> str:
    """Marks a text for the catalogues that is not a literal where it is said; the text itself."""
    return text


CODES = (
    translatable("state closed"),
    translatable("state faites_vos_jeux"),
    translatable("state ball_running"),
    translatable("state rien_ne_va_plus"),
    translatable("state ball_on_obstacle"),
    translatable("state awaiting_chef"),
    translatable("state operations"),
    translatable("state rien_va"),
    translatable("state suspended"),
    translatable("bets open"),
    translatable("bets closed"),
    translatable("bets locked"),
)
"""By the member of the message `table` and its code."""


class Words:
    """Says these texts in one language."""

    def __init__(self, language: Language) -> None:
        self.language = language
        directory = Path(__file__).parent / "locale"
        self._texts = gettext.translation("hw_sim", directory, [language], fallback=language == "en")

    def say(self, text: str, /, **parts: object) -> str:
        """An English text of the code, with `parts` in the places that it names."""
        return self._texts.gettext(text).format(**parts)

    def code(self, kind: Literal["state", "bets"], code: str) -> str:
        """A code of the message `table` as a word; in English as it stands there."""
        return self.say(f"{kind} {code}").removeprefix(f"{kind} ")


ENGLISH = Words("en")


def language_here(environment: Mapping[str, str] = os.environ) -> Language:
    """That of the locale if it is one of ours, else English."""
    locale = next((value for name in LOCALE if (value := environment.get(name))), "")
    wanted = re.split("[_.@]", locale)[0]
    return next((language for language in LANGUAGES if language == wanted), "en")
