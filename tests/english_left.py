"""Words of English in what a screen of another language shows."""

from __future__ import annotations

import re
from functools import cache

from wheeld.core.catalogue import Language, forms_of


def english_left(said: str, language: Language, kept: str = "") -> set[str]:
    """The words that texts for people have in English and not in this language. `kept`: what a person wrote, which
    stays as it is."""
    return (words(said) & _words_in("en")) - _words_in(language) - words(re.sub(r"[\"'\[\]{}=/]", " ", kept))


def words(text: str) -> set[str]:
    """Those that could be of a language: names of keys, of programs and of files are joined by signs."""
    return {word for word in re.split(r"[\s,;()]+|: |:$", text.lower()) if re.fullmatch(r"[^\W\d_'’]{2,}", word)}


@cache
def _words_in(language: Language) -> set[str]:
    """Those of all texts for people; some are of several languages, such as "section"."""
    return words("\n".join(form for forms in forms_of(language).values() for form in forms))
