"""`[journal]`: the file, its key, and how long evidence is kept. The configuration file has exactly these keys."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from wheeld.core.catalogue import translatable

EVIDENCE_BYTES_MAX = 4_000_000_000
"""The default limit: the evidence of about ten months. With this limit, a card of 32 GB is large enough for five years,
although records are never removed (docs/operations.md)."""

BYTES_MAX = 2**50
"""The largest limit that a table may set. No file system of a wheel's computer is larger."""

_File: TypeAlias = Annotated[Path, Meta(description=translatable("the path of a file"))]


class JournalSetting(msgspec.Struct, frozen=True, kw_only=True):
    """Where all published messages are stored, and which key signs them."""

    path: Annotated[
        _File,
        Meta(
            title="the journal's file; its directory must exist, and the daemon makes the file",
            examples=["/var/lib/wheeld/campione-03.sqlite"],
        ),
    ]
    signing_key_file: Annotated[
        _File | None,
        Meta(
            title="the wheel's private key (Ed25519), which signs the feed and seals the journal",
            examples=["credential:signing-key"],
            extra={"left_out": "nothing is signed"},
        ),
    ] = None
    evidence_age_days: Annotated[
        Annotated[float, Meta(ge=1, le=36_525, description=translatable("days, 1 to 36525"))] | None,
        Meta(
            title="how long the evidence of a coup is kept; verdicts and commands are never removed",
            examples=[365],
            extra={"left_out": "as long as `evidence_bytes_max` allows"},
        ),
    ] = None
    evidence_bytes_max: Annotated[
        int,
        Meta(
            ge=1_000_000,
            le=BYTES_MAX,
            title="how much evidence is kept, compressed on disk; the oldest is removed first "
            "([how long a card lasts](docs/operations.md#how-long-a-card-lasts))",
            description=translatable("bytes, 1000000 to {most}"),
            examples=[20_000_000_000],
            extra={"parts": {"most": BYTES_MAX}},
        ),
    ] = EVIDENCE_BYTES_MAX
