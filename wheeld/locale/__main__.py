"""Brings the catalogues of wheeld, and of the programs in the given directories, up to date with the texts of the code.
Reports the texts that have no translation yet."""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

from wheeld.locale import LANGUAGES, PROGRAM, compiled, file_of, text_of, updated, without_translation

for program, language in product((PROGRAM, *map(Path, sys.argv[1:])), LANGUAGES):
    catalogue, translations = updated(language, program), file_of(language, "po", program)
    translations.write_bytes(text_of(catalogue))
    file_of(language, "mo", program).write_bytes(compiled(catalogue))
    for text in without_translation(catalogue):
        sys.stderr.write(f"{translations}: to be translated: {text}\n")
