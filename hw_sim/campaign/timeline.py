"""Puts a log and the messages about it on one time axis. It does not need the simulation."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec

from hw_sim.campaign.black_box import HeardMessage
from hw_sim.events import called
from hw_sim.wheel import HOUSES, POCKETS

SPEED_OVER_S = 0.5
"""The rotor's speed is averaged over this time, because single edges jitter."""

Line = dict[str, Any]


class ReadPocket(NamedTuple):
    """A reader sees the ball in a pocket. `number` follows from the rotor's angle at that time. It is None if the angle
    is not known."""

    t_s: float
    reader: int
    number: int | None


@dataclass(frozen=True)
class Interval:
    """A state of the table, or a strike of a fault, with its name."""

    from_s: float
    to_s: float
    text: str

    def within(self, from_s: float, to_s: float) -> Interval:
        """Return the part between the two times."""
        return Interval(max(self.from_s, from_s), min(self.to_s, to_s), self.text)


class ShownVerdict(NamedTuple):
    """A verdict with the times of its publication and its evidence."""

    t_s: float
    evidence_s: float
    text: str
    void: bool


@dataclass(frozen=True)
class LogTimeline:
    """One log. Times are in seconds of the log's clock.

    `notes`: commands, objects and self-tests. `facts`: what the daemon concluded. `true_passes`, `strikes` and `truth`
    come from the simulation. The log of a real wheel does not have them.
    """

    beams: int
    readers: int
    passes: list[tuple[float, int]]
    rotor_rpm: list[tuple[float, float]]
    read_pockets: list[ReadPocket]
    notes: list[tuple[float, str]]
    facts: list[tuple[float, str]]
    states: list[Interval]
    verdicts: list[ShownVerdict]
    end_s: float
    start_s: float = 0.0
    true_passes: list[tuple[float, int]] | None = None
    strikes: list[Interval] = field(default_factory=list)
    truth: list[tuple[float, str]] = field(default_factory=list)

    def cut(self) -> LogTimeline:
        """Return the timeline with only what is between `start_s` and `end_s`. Anything else would make the picture
        wider."""

        moments = ("passes", "rotor_rpm", "read_pockets", "notes", "facts", "verdicts", "true_passes")
        here: dict[str, Any] = {
            name: [each for each in getattr(self, name) or [] if self.start_s <= each[0] <= self.end_s]
            for name in moments
        }
        states = [one for one in self.states if one.from_s <= self.end_s and one.to_s >= self.start_s]
        return replace(
            self,
            **here,
            states=[part.within(self.start_s, self.end_s) for part in states],
            strikes=[part.within(self.start_s, self.end_s) for part in self.strikes],
        )


def read_timeline(log: Iterable[bytes], published: Iterable[HeardMessage]) -> LogTimeline:
    """Read a log and its messages. Raises msgspec.DecodeError, KeyError or IndexError if `log` is not an observation
    log."""
    header, *lines = [msgspec.json.decode(line, type=Line) for line in log]
    messages = list(published)
    rotor = RotorCurve(header["rotor_ticks"], [line for line in lines if line["kind"] == "rotor"])
    first_s = min((line["t"] / 1e6 for line in lines), default=0.0)
    end_s = max((line["t"] / 1e6 for line in lines), default=0.0)
    tables = [(each.t / 1e6, str(each.payload["state"])) for each in messages if each.topic == "table"]
    changes = [each for before, each in pairwise([(0.0, ""), *tables]) if before[1] != each[1]]
    return LogTimeline(
        beams=len(header["beams_deg"]),
        readers=len(header["readers_deg"]),
        passes=[(line["t"] / 1e6, line["beam"]) for line in lines if line["kind"] == "ball"],
        rotor_rpm=list(rotor.speeds()),
        read_pockets=[_read_pocket(line, header, rotor) for line in lines if line["kind"] == "pocket"],
        notes=[
            (line["t"] / 1e6, _note_text(line)) for line in lines if line["kind"] in ("object", "sensor", "command")
        ],
        facts=[(each.t / 1e6, str(each.payload["fact"])) for each in messages if each.topic == "fact"],
        states=[Interval(from_s, to_s, state) for (from_s, state), (to_s, _) in pairwise([*changes, (end_s, "")])],
        verdicts=[_verdict(each) for each in messages if each.topic in ("result", "void")],
        start_s=first_s,
        end_s=end_s,
    )


class RotorCurve:
    """The rotor's motion, from the log lines of its encoder."""

    def __init__(self, ticks: int, edges: list[Line]) -> None:
        self._ticks = ticks
        self._edges = edges
        self._times = [edge["t"] for edge in edges]

    def angle(self, t_us: int) -> float | None:
        """Return the angle of pocket 0 in turns, interpolated between edges. None if there are fewer than two edges."""
        if len(self._edges) < 2:
            return None
        after = min(max(1, bisect_right(self._times, t_us)), len(self._edges) - 1)
        before, following = self._edges[after - 1], self._edges[after]
        span_us = max(1, following["t"] - before["t"])
        part: float = (t_us - before["t"]) / span_us
        return self._at(before) + self._way(before, following) * part

    def speeds(self) -> Iterator[tuple[float, float]]:
        """Yield the time in s and the speed in rpm (clockwise positive), about every SPEED_OVER_S."""
        since_s, turned = None, 0.0
        for before, after in pairwise(self._edges):
            since_s = before["t"] / 1e6 if since_s is None else since_s
            turned += self._way(before, after)
            lasted_s = after["t"] / 1e6 - since_s
            if lasted_s >= SPEED_OVER_S:
                yield after["t"] / 1e6, turned / lasted_s * 60
                since_s, turned = None, 0.0

    def _at(self, edge: Line) -> float:
        return float(edge["tick"] + (edge["direction"] == "ccw")) / self._ticks

    def _way(self, before: Line, after: Line) -> float:
        return (self._at(after) - self._at(before) + 0.5) % 1.0 - 0.5


def _read_pocket(line: Line, header: Line, rotor: RotorCurve) -> ReadPocket:
    angle = rotor.angle(line["t"])
    number = None
    if angle is not None:
        pockets, _ = HOUSES.get((header["house"], header["game"]), (POCKETS, 0))
        place = (header["readers_deg"][line["reader"]] / 360 - angle) * len(pockets)
        number = pockets[round(place) % len(pockets)]
    return ReadPocket(line["t"] / 1e6, line["reader"], number)


def _note_text(line: Line) -> str:
    if line["kind"] == "object":
        return "object in" if line["present"] else "object out"
    if line["kind"] == "sensor":
        return f"{called(line['sensor'])} {'works' if line['ok'] else 'fails'}"
    return f"{line['by']}: {line['name']}" if line.get("by") else str(line["name"])


def _verdict(message: HeardMessage) -> ShownVerdict:
    void = message.topic == "void"
    payload = message.payload
    evidence = datetime.fromisoformat(payload["evidence_at" if void else "number_at"])
    # The difference of the two times is right unless UTC was set between them, which is unlikely.
    ago_s = (datetime.fromisoformat(payload["at"]) - evidence).total_seconds()
    text = f"{payload['words']}: {payload['cause']}, {payload['rule']}" if void else f"{payload['number']}"
    return ShownVerdict(message.t / 1e6, message.t / 1e6 - ago_s, text, void)
