"""Errors that people read in the language of their screen."""

from __future__ import annotations

from wheeld.core.catalogue import Catalogue, Part, Text, translatable
from wheeld.errors import WheeldError


class TextError(WheeldError):
    """An error that a screen shows in its own language, from `text`. The exception's message is English, for logs."""

    def __init__(self, text: Text) -> None:
        super().__init__(Catalogue("en").say_text(text))
        self.text = text


OF_FILES = (
    translatable("No such file or directory"),
    translatable("Permission denied"),
    translatable("Is a directory"),
    translatable("Not a directory"),
    translatable("File name too long"),
)
"""The system's texts for the most frequent errors of files. All other texts of the system are shown untranslated."""


def reason(wrong: OSError) -> Part:
    """Return the system's text about a file that cannot be used, as a text of the catalogue if the catalogue has it."""
    told = str(wrong.strerror)
    return Text(told) if told in OF_FILES else told
