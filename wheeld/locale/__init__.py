"""The catalogues of what people read: which English texts of the code they must have, and how they are kept.

A text is the literal in a call of `say`, `say_number`, `translatable`, `Text` or `RefusedError`, or stands in a row of
the law that messages quote. The translations are gettext files, `{language}/LC_MESSAGES/wheeld.po`; `wheeld.mo` beside
each is what the program reads. After a text has changed, `python -m wheeld.locale` writes them all again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from babel.messages import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from wheeld.core.facts import Case, Cause, Trouble
from wheeld.core.law import people
from wheeld.core.law.needs import NEEDS
from wheeld.core.law.table import CLAUSES, GUARDS, LATE, LAUNCHES

DIRECTORY = Path(__file__).parent
PROGRAM = DIRECTORY.parent
LANGUAGES = ("fr", "it")
"""Those with a catalogue; English texts stand in the code."""
NUMBERED = "say_number"
KEYWORDS = ("say", NUMBERED, "translatable", "Text", "RefusedError")
"""Functions whose first argument is a text for people."""
WIDTH = 120
"""Of a line, as in the code."""


def template() -> Catalog:
    """Every text that people may read, without translations, and the file that it stands in."""
    texts = Catalog(project="wheeld", charset="utf-8", fuzzy=False)
    for path in sorted(PROGRAM.rglob("*.py")):
        for function, text in _texts_in(path.read_text()):
            forms = (text, text) if function == NUMBERED else text
            texts.add(forms, locations=[(str(path.relative_to(PROGRAM.parent)), 0)])
    for text in dict.fromkeys(_texts_of_the_law()):
        texts.add(text, locations=[("wheeld/core/law", 0)])
    return texts


def _texts_in(code: str) -> Iterator[tuple[str, str]]:
    """(function, text) for each text that is a literal in a call."""
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Call(
                func=ast.Name(id=function) | ast.Attribute(attr=function), args=[ast.Constant(value=str(text)), *_]
            ) if function in KEYWORDS:
                yield function, text


def _texts_of_the_law() -> Iterator[str]:
    """Why a coup is void, a notice published, or a command done or refused; what notices report, and the chef names;
    what is wrong with sensors."""
    for clause in CLAUSES:
        row = clause.row
        if row.void or row.notice or clause in people.ROWS:
            yield row.text
        if row.notice:
            yield from (row.when.of(fact) if row.when else fact.text for fact in clause.facts)
    yield from (need.text for need in NEEDS if need.text)
    yield from (row.text for row in LATE.values() if row.void or row.notice)
    yield from (case.text for case in Case)
    yield from (cause.text for cause in Cause)
    yield from (text for trouble in Trouble for text in (trouble.text, trouble.mend))
    yield from (fact.text for fact in (*GUARDS, *LAUNCHES))  # a notice names the fact as it was before its guard chose


def file_of(language: str, suffix: str) -> Path:
    """The catalogue of a language: its translations ("po"), or what the program reads ("mo")."""
    return DIRECTORY / language / "LC_MESSAGES" / f"wheeld.{suffix}"


def read(language: str) -> Catalog:
    """The translations of a language as they are kept."""
    with file_of(language, "po").open("rb") as file:
        return read_po(file, locale=language)


def updated(language: str) -> Catalog:
    """The translations with the texts that the code has now. A text that was changed keeps the nearest translation,
    marked as fuzzy: the program does not use it before a person has looked at it and removed the mark."""
    catalogue = read(language)
    catalogue.update(template(), update_creation_date=False)
    return catalogue


def without_translation(catalogue: Catalog) -> list[str]:
    """The English texts that have no translation, or a fuzzy one."""
    return [
        english(message) for message in catalogue if message.id and (message.fuzzy or not all(translations(message)))
    ]


def translations(message: Message) -> tuple[str, ...]:
    """The translation of a text; of one with a number, each form."""
    return (message.string,) if isinstance(message.string, str) else tuple(message.string or ("",))


def english(message: Message) -> str:
    """The text itself, as it stands in the code."""
    return message.id if isinstance(message.id, str) else message.id[0]


def text_of(catalogue: Catalog) -> bytes:
    """The file of translations."""
    out = BytesIO()
    write_po(out, catalogue, width=WIDTH, ignore_obsolete=True, include_lineno=False, sort_by_file=True)
    return out.getvalue()


def compiled(catalogue: Catalog) -> bytes:
    """What the program reads."""
    out = BytesIO()
    write_mo(out, catalogue)
    return out.getvalue()
