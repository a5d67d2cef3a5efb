"""Finds the English texts of the code that people read, and keeps the catalogues of their translations.

Such a text is a literal in a call of `say`, `say_number`, `translatable`, `Text` or `RefusedError`, or the first line
of a scenario's docstring in the simulator, or it is in a row of the law that messages quote. The translations are
gettext files, `locale/{language}/LC_MESSAGES/wheeld.po`. The program reads the `wheeld.mo` beside each. After a change
of a text, `python -m wheeld.locale` writes all files again, with `hw_sim` as argument also those of the simulator.
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

PROGRAM = Path(__file__).parents[1]
REPORT = PROGRAM.with_name("wheeld_report")
"""Its texts are in the catalogues of wheeld, because they name what wheeld decides."""
LANGUAGES = ("fr", "it")
"""The languages that have a catalogue. English texts are in the code."""
NUMBERED = "say_number"
KEYWORDS = ("say", NUMBERED, "translatable", "Text", "RefusedError")
"""Functions whose first argument is a text for people."""
WIDTH = 120
"""The width of a line, as in the code."""


def template(program: Path = PROGRAM) -> Catalog:
    """Return every text of the program that people may read, with the file that contains it, without translations."""
    texts = Catalog(project="wheeld", charset="utf-8", fuzzy=False)
    packages = (program, REPORT) if program == PROGRAM else (program,)
    for path in sorted(path for package in packages for path in package.rglob("*.py")):
        for function, text in _texts_in(path.read_text()):
            forms = (text, text) if function == NUMBERED else text
            texts.add(forms, locations=[(str(path.relative_to(program.parent)), 0)])
    for text in dict.fromkeys(_texts_of_the_law()) if program == PROGRAM else ():
        texts.add(text, locations=[("wheeld/core/law", 0)])
    return texts


def _texts_in(code: str) -> Iterator[tuple[str, str]]:
    """Yield (function, text) for each literal in a call, and ("scenario", first line) for each scenario's docstring."""
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Call(
                func=ast.Name(id=function) | ast.Attribute(attr=function), args=[ast.Constant(value=str(text)), *_]
            ) if function in KEYWORDS:
                yield function, text
            case ast.FunctionDef(decorator_list=[ast.Call(func=ast.Name(id="scenario" as mark))]):
                yield mark, (ast.get_docstring(node) or "").partition("\n")[0]


def _texts_of_the_law() -> Iterator[str]:
    """Yield the texts of the law: why a coup is void, a notice is published, or a command is done or refused; what
    notices report; what the chef names; and what is wrong with sensors."""
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
    # A notice may name a fact on which a guard has not decided yet.
    yield from (fact.text for fact in (*GUARDS, *LAUNCHES))


def file_of(language: str, suffix: str, program: Path = PROGRAM) -> Path:
    """Return the file of a language's catalogue: its translations ("po"), or what the program reads ("mo")."""
    return program / "locale" / language / "LC_MESSAGES" / f"{program.name}.{suffix}"


def read(language: str, program: Path = PROGRAM) -> Catalog:
    """Return the stored translations of a language."""
    with file_of(language, "po", program).open("rb") as file:
        return read_po(file, locale=language)


def updated(language: str, program: Path = PROGRAM) -> Catalog:
    """Return the translations with the present texts of the code. A changed text keeps the nearest translation, marked
    as fuzzy. The program does not use it until a person has checked it and removed the mark."""
    catalogue = read(language, program)
    catalogue.update(template(program), update_creation_date=False)
    return catalogue


def without_translation(catalogue: Catalog) -> list[str]:
    """Return the English texts that have no translation, or a fuzzy one."""
    return [
        english(message) for message in catalogue if message.id and (message.fuzzy or not all(translations(message)))
    ]


def translations(message: Message) -> tuple[str, ...]:
    """Return the translation of a text, or each form of it if the text has a number."""
    return (message.string,) if isinstance(message.string, str) else tuple(message.string or ("",))


def english(message: Message) -> str:
    """Return the English text as it is in the code."""
    return message.id if isinstance(message.id, str) else message.id[0]


def text_of(catalogue: Catalog) -> bytes:
    """Return the content of the file of translations."""
    out = BytesIO()
    write_po(out, catalogue, width=WIDTH, ignore_obsolete=True, no_location=True)
    return out.getvalue()


def compiled(catalogue: Catalog) -> bytes:
    """Return the content of the file that the program reads."""
    out = BytesIO()
    write_mo(out, catalogue)
    return out.getvalue()
