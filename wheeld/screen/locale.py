"""The language of a screen. Every command asks for it at its start, so it imports little."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import get_args

from wheeld.core.catalogue import Language

LANGUAGES: tuple[Language, ...] = get_args(Language)
LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")
"""The first of these that is set says the language of messages (locale(7))."""


def language_here(environment: Mapping[str, str] = os.environ) -> Language:
    """That of the locale if it is one of ours, else English."""
    locale = next((value for name in LOCALE if (value := environment.get(name))), "")
    wanted = re.split("[_.@]", locale)[0]
    return next((language for language in LANGUAGES if language == wanted), "en")
