"""Brings the catalogues up to date with the texts of the code, and reports what is left to translate."""

from __future__ import annotations

import sys

from wheeld.locale import LANGUAGES, compiled, file_of, text_of, updated, without_translation

for language in LANGUAGES:
    catalogue = updated(language)
    file_of(language, "po").write_bytes(text_of(catalogue))
    file_of(language, "mo").write_bytes(compiled(catalogue))
    for text in without_translation(catalogue):
        sys.stderr.write(f"{file_of(language, 'po')}: to be translated: {text}\n")
