"""Observation logs, format 1 (docs/observation-log.md), and their truth, as files. The same evening always gives the
same bytes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from hw_sim.events import SimEvent
from hw_sim.table import Outcome

_encode = msgspec.json.Encoder().encode


def lines(header: dict[str, Any], events: Iterable[SimEvent]) -> Iterator[bytes]:
    """Yield the lines of the log, each with its line feed: the header, then one line for each event."""
    yield _encode(header) + b"\n"
    for event in events:
        yield _encode(event) + b"\n"


def write(path: Path, header: dict[str, Any], events: Iterable[SimEvent]) -> None:
    """Write the log to `path`. It is compressed if `path` ends in `.gz`. Raises OSError."""
    data = b"".join(lines(header, events))
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)  # without the time of day, each run gives the same bytes
    path.write_bytes(data)


def truth_path(path: Path) -> Path:
    """Return the path for the truth of the log at `path`: `x.jsonl.gz` has `x.truth.json`."""
    name = path.name.removesuffix(".gz").removesuffix(".jsonl")
    return path.with_name(f"{name}.truth.json")


def write_truth(path: Path, truth: list[Outcome]) -> None:
    """Write the outcomes in order, as JSON. Raises OSError."""
    path.write_text(json.dumps(truth, indent=1) + "\n", encoding="utf-8")
