"""Observation logs, format 1, and their truth, as files: the same evening always gives the same bytes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from hw_sim.events import BallPass, End, ForeignObject, Person, RotorEdge, SensorState, Sighting, SimEvent
from hw_sim.stage import Outcome

_encode = msgspec.json.Encoder().encode


_KINDS: dict[type[SimEvent], tuple[str, tuple[str, ...]]] = {
    RotorEdge: ("rotor", ("tick", "direction")),
    BallPass: ("ball", ("beam",)),
    Sighting: ("pocket", ("reader",)),
    ForeignObject: ("object", ("present",)),
    SensorState: ("sensor", ("sensor", "ok")),
    Person: ("command", ("name", "by", "reason", "who")),
    End: ("end", ()),
}
"""What each event is called in a log, and the fields it shows there."""


def _line(event: SimEvent) -> dict[str, Any]:
    kind, fields = _KINDS[type(event)]
    line: dict[str, Any] = {"t": event.t_us, "kind": kind}
    for name in fields:
        value = getattr(event, name)
        if value is not None and value != "":  # a command without a reason, or about nobody
            line[name] = value
    return line


def lines(header: dict[str, Any], events: Iterable[SimEvent]) -> Iterator[bytes]:
    """The log, line by line, each with its line feed: the header, then one line an event."""
    yield _encode(header) + b"\n"
    for event in events:
        yield _encode(_line(event)) + b"\n"


def write(path: Path, header: dict[str, Any], events: Iterable[SimEvent]) -> None:
    """Write the log to `path`, compressed when it ends in `.gz`. Raises OSError."""
    data = b"".join(lines(header, events))
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)  # no time of day: the same bytes on every run
    path.write_bytes(data)


def truth_path(path: Path) -> Path:
    """Where the truth of the log at `path` goes: `x.jsonl.gz` has `x.truth.json`."""
    name = path.name.removesuffix(".gz").removesuffix(".jsonl")
    return path.with_name(f"{name}.truth.json")


def write_truth(path: Path, truth: list[Outcome]) -> None:
    """Write the outcomes in order, as JSON. Raises OSError."""
    path.write_text(json.dumps(truth, indent=1) + "\n", encoding="utf-8")
