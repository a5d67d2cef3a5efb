"""Writes the schema files again: `python -m wheeld.schemas`."""

from __future__ import annotations

from wheeld.schemas import PAYLOADS, file_of, text_of

for name in PAYLOADS:
    file_of(name).write_bytes(text_of(name))
