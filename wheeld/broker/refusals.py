"""Why the intake refuses a command: a sentence for its sender, in the table's language, and details for the log."""

from __future__ import annotations

import re

from wheeld.broker.payloads import NAME_MAX, SENTENCE_MAX
from wheeld.core.catalogue import Catalogue, translatable
from wheeld.errors import WheeldError

DAMAGED_TEXT_MAX = 64
"""If an id, a name or a member breaks the limits, how many of its characters the answer quotes."""

_MISSING, _UNKNOWN = re.compile(r"missing required field `(\w+)`"), re.compile(r"unknown field `(.+)`", re.DOTALL)
_AT = re.compile(r" at `\$\.(\w+)`$")
"""These patterns find the wrong member in a text of msgspec. If none of them is found, the text names no member."""

_TYPED = {
    "id": (translatable("the identifier of the command must have 1 to {most} characters, all on one line"), NAME_MAX),
    "by": (translatable("the name of the sender must have 1 to {most} characters, all on one line"), NAME_MAX),
    "who": (translatable("the name of the bouler must have 1 to {most} characters, all on one line"), NAME_MAX),
    "reason": (translatable("the reason must have 1 to {most} characters, all on one line"), SENTENCE_MAX),
}
"""The members that people may have typed. In all other members, only a program can make a mistake."""


class RefusedError(WheeldError):
    """The intake refuses the command. `text` is the reason, `parts` fill its placeholders, `detail` is for the log."""

    def __init__(self, text: str, *, detail: str = "", **parts: object) -> None:
        super().__init__(text.format(**parts))
        self.text, self.parts, self.detail = text, parts, detail

    def said(self, catalogue: Catalogue) -> str:
        """Return the reason in the language of the catalogue."""
        return catalogue.say(self.text, **self.parts)


def wrong_payload(error: Exception) -> RefusedError:
    """Return the refusal of a payload that could not be decoded because of `error`."""
    detail = str(error)
    if missing := _MISSING.search(detail):
        return RefusedError(
            'the command has no "{member}": its sender has to correct it', detail=detail, member=missing[1]
        )
    if unknown := _UNKNOWN.search(detail):
        return RefusedError(
            'this command must not have "{member}": its sender has to correct it',
            detail=detail,
            member=quoted(unknown[1]),
        )
    wrong = _AT.search(detail)
    if wrong is None:
        return RefusedError("the command cannot be read: its sender has to correct it", detail=detail)
    if wrong[1] in _TYPED:
        text, most = _TYPED[wrong[1]]
        return RefusedError(text, detail=detail, most=most)
    return RefusedError(
        'the command has a wrong value in "{member}": its sender has to correct it', detail=detail, member=wrong[1]
    )


def quoted(text: str) -> str:
    """Return the beginning of a text, enough to recognise it, without characters that control the reader's terminal."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text[:DAMAGED_TEXT_MAX])
