"""The texts of the demo and the bench page in the language of the viewer: the English texts in the code, or their
translations in `hw_sim/locale`, which `make catalogues` updates. The daemon sends its messages in that language, too.
"""

from __future__ import annotations

import gettext
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias, get_args

Language: TypeAlias = Literal["fr", "it", "en"]
"""The languages that a table's messages may have."""
LANGUAGES: tuple[Language, ...] = get_args(Language)
LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")
"""The first of these variables that is set gives the language of messages (locale(7))."""
Say: TypeAlias = Callable[..., str]


def translatable(text: str) -> str:
    """Return `text`, and mark it for the catalogues, because the call that translates it gets only a variable."""
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
"""Each text is the name of a member of the message `table`, and a code that this member may have."""


class Words:
    """Translates the texts of the demo and the bench page into one language."""

    def __init__(self, language: Language) -> None:
        self.language = language
        directory = Path(__file__).parent / "locale"
        self._texts = gettext.translation("hw_sim", directory, [language], fallback=language == "en")

    def say(self, text: str, /, **parts: object) -> str:
        """Translate an English text of the code, and put `parts` in its named places."""
        return self._texts.gettext(text).format(**parts)

    def code(self, kind: Literal["state", "bets"], code: str) -> str:
        """Return a code of the message `table` as a word. In English this is the code itself."""
        return self.say(f"{kind} {code}").removeprefix(f"{kind} ")


ENGLISH = Words("en")


def language_here(environment: Mapping[str, str] = os.environ) -> Language:
    """Return the language of the locale if it is one of LANGUAGES, otherwise English."""
    locale = next((value for name in LOCALE if (value := environment.get(name))), "")
    wanted = re.split("[_.@]", locale)[0]
    return next((language for language in LANGUAGES if language == wanted), "en")
