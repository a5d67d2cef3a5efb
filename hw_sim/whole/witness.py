"""What truly happened at the wheel, and what was said and published: a witness that knows nothing of the daemon.

Oracles compare the two afterwards. Times are those of the timeline, in microseconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class TrueCoup:
    """A valid coup as it was played: launched, at rest in the pocket of `number`. It need not have been launched in
    time, for that is a matter of words."""

    round: int
    launch_us: int
    rest_us: int
    number: int


@dataclass(frozen=True)
class TrueRun:
    """A launched ball ran on the track: from when to when, when it passed its second beam, and when one that stands a
    third of a lap from the first or more."""

    from_us: int
    to_us: int
    second_pass_us: int
    third_of_lap_us: int


@dataclass(frozen=True)
class FirstTaken:
    """A message as the broker took it first."""

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
    """Whether the broker took it."""
    reply: dict[str, Any] | None = None
    number: int | None = None
    """The number that the chef named."""


@dataclass
class TimeSpan:
    """From when to when something was so; without an end, it still is."""

    from_us: int
    to_us: float = math.inf

    def touches(self, from_us: float, to_us: float) -> bool:
        """Whether the two have a moment in common."""
        return self.from_us <= to_us and from_us <= self.to_us


@dataclass
class Witness:
    """All that is known of one evening when it is over."""

    coups: list[TrueCoup] = field(default_factory=list)
    published: list[FirstTaken] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    spans: dict[str, list[TimeSpan]] = field(default_factory=dict)
    rounds: list[Round] = field(default_factory=list)
    logged: list[tuple[int, str, str]] = field(default_factory=list)
    """The daemon's log: when, level, event."""
    runs: list[TrueRun] = field(default_factory=list)
    """The runs of three laps or more."""
    sightings: list[int] = field(default_factory=list)
    """When a lying ball was under a reader, which need not have seen it."""
    troubles: list[str] = field(default_factory=list)
    """What is wrong whatever else happened."""

    def begins(self, what: str, t_us: int) -> None:
        """It is so from now on."""
        if not self.is_so(what):
            self.spans.setdefault(what, []).append(TimeSpan(t_us))

    def ends(self, what: str, t_us: int) -> None:
        """It is no longer so."""
        if self.is_so(what):
            self.spans[what][-1].to_us = t_us

    def is_so(self, what: str) -> bool:
        """Whether it is so now."""
        return bool(self.spans.get(what)) and self.spans[what][-1].to_us == math.inf

    def was(self, what: str, from_us: float, to_us: float) -> bool:
        """Whether it was so at any moment between the two."""
        return any(span.touches(from_us, to_us) for span in self.spans.get(what, ()))

    def is_good(self, coup: TrueCoup) -> bool:
        """Whether no foreign object lay in the cylinder while that coup was played."""
        return not self.was("object", coup.launch_us, coup.rest_us)

    def of(self, *leaves: str) -> Iterator[FirstTaken]:
        """The messages of these topics."""
        return (one for one in self.published if one.leaf in leaves)


@dataclass
class Round:
    """A scenario as it was played, with what people and faults added. `truth`: the names of its true outcomes."""

    index: int
    from_us: int
    truth: list[str]
    to_us: float = math.inf
    """When the people went on."""
