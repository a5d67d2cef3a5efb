"""A record of what truly happened at the wheel, and of commands and messages. It does not use the daemon.

Afterwards tests compare the messages with the truth. Times are those of the timeline, in microseconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class TrueCoup:
    """A valid coup as it was played, from its launch to its rest in the pocket of `number`. A coup that was launched
    too early also counts as valid here, because only commands decide whether a launch is too early."""

    round: int
    launch_us: int
    rest_us: int
    number: int


@dataclass(frozen=True)
class TrueRun:
    """The run of a launched ball on the track: its start and end, when the ball passed its second beam, and when it
    passed a beam that is a third of a lap or more from its first beam."""

    from_us: int
    to_us: int
    second_pass_us: int
    third_of_lap_us: int


@dataclass(frozen=True)
class FirstTaken:
    """A message at the time when the broker first took it."""

    t_us: int
    leaf: str
    payload: bytes
    body: dict[str, Any]


@dataclass
class Word:
    """A person's command over the broker, and its answer."""

    t_us: int
    name: str
    id: str
    is_taken: bool
    """Whether the broker took the command."""
    reply: dict[str, Any] | None = None
    number: int | None = None
    """The number that the chef named."""


@dataclass
class TimeSpan:
    """A time in which a condition was true. If the time has no end, the condition is still true."""

    from_us: int
    to_us: float = math.inf

    def touches(self, from_us: float, to_us: float) -> bool:
        """Whether the span overlaps the time from `from_us` to `to_us`."""
        return self.from_us <= to_us and from_us <= self.to_us


@dataclass
class Witness:
    """The record of one evening. `spans` has, for each condition by name, the times in which it was true."""

    coups: list[TrueCoup] = field(default_factory=list)
    published: list[FirstTaken] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    spans: dict[str, list[TimeSpan]] = field(default_factory=dict)
    rounds: list[Round] = field(default_factory=list)
    logged: list[tuple[int, str, str]] = field(default_factory=list)
    """The daemon's log: time, level and event of each line."""
    runs: list[TrueRun] = field(default_factory=list)
    """The runs of three laps or more."""
    sightings: list[int] = field(default_factory=list)
    """The times at which a lying ball was under a reader, even if the reader did not see it."""
    troubles: list[str] = field(default_factory=list)
    """Errors that no fault excuses."""

    def begins(self, what: str, t_us: int) -> None:
        """Record that the condition `what` is true from `t_us` on."""
        if not self.is_so(what):
            self.spans.setdefault(what, []).append(TimeSpan(t_us))

    def ends(self, what: str, t_us: int) -> None:
        """Record that the condition `what` is false from `t_us` on."""
        if self.is_so(what):
            self.spans[what][-1].to_us = t_us

    def is_so(self, what: str) -> bool:
        """Whether the condition `what` is true now."""
        return bool(self.spans.get(what)) and self.spans[what][-1].to_us == math.inf

    def was(self, what: str, from_us: float, to_us: float) -> bool:
        """Whether `what` was true at any moment between `from_us` and `to_us`."""
        return any(span.touches(from_us, to_us) for span in self.spans.get(what, ()))

    def is_good(self, coup: TrueCoup) -> bool:
        """Whether no foreign object lay in the cylinder while `coup` was played."""
        return not self.was("object", coup.launch_us, coup.rest_us)

    def of(self, *leaves: str) -> Iterator[FirstTaken]:
        """Return the messages whose leaf is one of `leaves`."""
        return (one for one in self.published if one.leaf in leaves)


@dataclass
class Round:
    """A scenario as it was played, with people and faults. `truth`: the names of its true outcomes."""

    index: int
    from_us: int
    truth: list[str]
    to_us: float = math.inf
    """When the next scenario began."""
