"""The texts for people, in the language of the table. gettext catalogues translate the English texts of the code.

The English text is the key of its translations, which are in `wheeld/locale/{language}`. After a text has changed,
`python -m wheeld.locale` brings the catalogues up to date.
"""

from __future__ import annotations

import gettext
import io
import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, reduce
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

Language: TypeAlias = Literal["fr", "it", "en"]
"""The languages that a table's messages may have."""
NO_WORDS: Mapping[str, str] = MappingProxyType({})


def translatable(text: str) -> str:
    """Return the text itself. This marks a text that the catalogues must have, but that no call of `say` contains."""
    return text


LANGUAGE_NAMES: dict[Language, str] = {
    "fr": translatable("French"),
    "it": translatable("Italian"),
    "en": translatable("English"),
}


class Text(NamedTuple):
    """A text for people, before its language is known: an English text of the code, and its parts. A part is a value
    that is the same in every language, or one `Text` or more."""

    # This is not a msgspec.Struct: to import msgspec takes a quarter of the time in which the shortest command starts.
    english: str
    parts: Mapping[str, Part] = MappingProxyType({})


Part: TypeAlias = "str | int | float | Text | tuple[Text, ...]"


def either(first: Text | str, last: str, *more: str) -> Text:
    """Return a text that names two or more things to choose from: "a or b"."""
    both = Text("{first} or {last}", {"first": first, "last": last})
    return either(both, *more) if more else both


class Catalogue:
    """The texts of one language. `words`: parts that every text may use, such as the house's words for "rien va"."""

    def __init__(self, language: Language, words: Mapping[str, str] = NO_WORDS) -> None:
        self.language = language
        self._texts, self._words = _load(language), words

    def say(self, text: str, /, **parts: object) -> str:
        """Translate an English text of the code, and put `parts` in the places of their names, such as "{coup}"."""
        return self._texts.gettext(text).format(**self._words, **parts)

    def say_number(self, text: str, printed: str) -> str:
        """Translate a text whose only part is `{number}`, and whose words depend on this number. Italian says "nel 7",
        but "nell'8". `printed`: the number as it is printed in its pocket."""
        return self._texts.ngettext(text, text, int(printed)).format(number=printed)

    def say_text(self, text: Text) -> str:
        """Translate a text that was made before its language was known."""
        parts: dict[str, str | int] = {}
        for name, part in text.parts.items():
            if isinstance(part, Text):
                parts[name] = self.say_text(part)
            elif isinstance(part, float):
                parts[name] = self.decimal(part)
            else:
                parts[name] = self.listed([self.say_text(each) for each in part]) if isinstance(part, tuple) else part
        return self.say(text.english, **parts)

    def listed(self, items: Sequence[str]) -> str:
        """Return one or more things as one text: "a, b and c"."""
        if len(items) == 1:
            return items[0]
        return self.say("{first} and {last}", first=", ".join(items[:-1]), last=items[-1])

    def joined(self, texts: Iterable[str]) -> str:
        """Join texts of this language: "a; b"."""
        return reduce(lambda first, second: self.say("{first}; {second}", first=first, second=second), texts)

    def decimal(self, value: float) -> str:
        """Return a number with as many decimals as it needs. English has a decimal point, other languages a comma."""
        text = f"{value:g}"
        return text if self.language == "en" else text.replace(".", ",")


@cache
def forms_of(language: Language) -> Mapping[str, tuple[str, ...]]:
    """Return the forms of each text, by its English text. A text that depends on a number has two forms or more."""
    forms: dict[str, list[str]] = {}
    # English has no catalogue: its texts are the keys of any other catalogue. Only `_catalog` lists the keys.
    known: dict[str | tuple[str, int], str] = _load("fr" if language == "en" else language)._catalog  # type: ignore[attr-defined]
    for key, text in known.items():
        english = key if isinstance(key, str) else key[0]
        if english:  # the header has the empty key
            forms.setdefault(english, []).append(english if language == "en" else text)
    return {english: tuple(each) for english, each in forms.items()}


@cache
def _load(language: Language) -> gettext.NullTranslations:
    """Load the compiled catalogue from the package. English has no catalogue, because its texts are in the code."""
    if language == "en":
        return gettext.NullTranslations()
    compiled = pkgutil.get_data("wheeld", f"locale/{language}/LC_MESSAGES/wheeld.mo")
    assert compiled is not None, "files of the package can be read"
    return gettext.GNUTranslations(io.BytesIO(compiled))
