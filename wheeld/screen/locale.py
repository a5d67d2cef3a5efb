"""The language of a screen. Every command determines it at its start, so this module imports little."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import get_args

from wheeld.core.catalogue import Language

LANGUAGES: tuple[Language, ...] = get_args(Language)
LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")
"""The first of these variables that is set names the language of messages (locale(7))."""


def language_here(environment: Mapping[str, str] = os.environ) -> Language:
    """Return the language of the locale if it is one of ours, otherwise English."""
    locale = next((value for name in LOCALE if (value := environment.get(name))), "")
    wanted = re.split("[_.@]", locale)[0]
    return next((language for language in LANGUAGES if language == wanted), "en")
