"""`[journal]`: the file, its key, and how long evidence is kept. The configuration file has exactly these keys."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

_File: TypeAlias = Annotated[Path, Meta(description="the path of a file")]


class JournalSetting(msgspec.Struct, frozen=True, kw_only=True):
    """Where everything that was published is stored, and which key signs it.

    `evidence_age_days`, `evidence_bytes_max`: how long evidence is kept, and how much of it (bytes on disk,
    compressed); None: without limit.
    """

    path: _File
    signing_key_file: _File | None = None
    evidence_age_days: Annotated[float, Meta(ge=1, le=36_525, description="days, 1 to 36525")] | None = None
    evidence_bytes_max: (
        Annotated[int, Meta(ge=1_000_000, le=2**50, description=f"bytes, 1000000 to {2**50}")] | None
    ) = None
