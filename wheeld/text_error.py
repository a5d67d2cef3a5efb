"""Errors that people read in the language of their screen."""

from __future__ import annotations

from wheeld.core.catalogue import Catalogue, Part, Text, translatable
from wheeld.errors import WheeldError


class TextError(WheeldError):
    """An error that a screen says in its language: `text`. Its message, for logs, is the English one."""

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
"""The system's words for the errors of files that people meet most. Others are shown as it says them."""


def reason(wrong: OSError) -> Part:
    """What the system says of a file that cannot be used."""
    told = str(wrong.strerror)
    return Text(told) if told in OF_FILES else told
