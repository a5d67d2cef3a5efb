"""The evidence of a void coup, as a page draws it: rows on one axis of time, in one language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

import msgspec

from wheeld.core.catalogue import Catalogue, Language
from wheeld.core.facts import VoidRule
from wheeld.core.messages.payloads import Void
from wheeld.core.names import COMMAND_NAMES
from wheeld.core.observations import Direction
from wheeld.monitor.lines import Axis
from wheeld.page.health import sensor_name
from wheeld.page.offers import words_after
from wheeld.page.words import WORDS

Point: TypeAlias = tuple[float, float]
ARROWS: dict[Direction, str] = {"cw": "↻", "ccw": "↺"}
TICKS_MAX = 8
NOTES_MAX = 8
"""Only the latest notes are drawn: people would not read more."""

DECIDES: dict[VoidRule, tuple[str, ...]] = {
    "N1": ("ball", "rotor"),
    "N2": ("ball", "before"),
    "N3": ("laps",),
    "N4": ("rotor",),
    "N5": ("rotor", "obstacle"),
    "N6": ("object",),
    "N7": ("word",),
    "N8": ("fails", "word"),
}
"""For each rule that makes a coup void, the rows that show why. Of several words or failures the last one decided."""


class EvidenceRow(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One row. `told` says in words what it shows. `decides`: whether it shows why the coup is void. The other fields
    have places from 0 to 1 on the axis: `line` with heights, `marks`, completed `laps` with their numbers, and `bars`
    from one place to another."""

    kind: str
    name: str
    told: str = ""
    decides: bool = False
    line: list[Point] = []
    marks: list[float] = []
    laps: list[Point] = []
    bars: list[Point] = []


class DrawnEvidence(msgspec.Struct, kw_only=True):
    """The drawing of one coup. `moment` is the place on the axis where the cause happened, `why` the reason in a few
    words. `ticks` are seconds since the launch, or since the beginning of the axis if there was no launch."""

    coup: int
    words: str
    why: str
    moment: float
    rows: list[EvidenceRow]
    ticks: list[Point]


def evidence(axis: Axis, language: Language) -> DrawnEvidence:
    """Return the drawing. Raises msgspec's errors for a message of another version."""
    return _Drawing(axis, language).whole()


class _Drawing:
    def __init__(self, axis: Axis, language: Language) -> None:
        self._axis = axis
        self._void = msgspec.json.decode(axis.void, type=Void)
        self._catalogue = Catalogue(language, words_after(self._void.words))

    def whole(self) -> DrawnEvidence:
        """Return the whole drawing."""
        # A note is what a person said, or a failure. Of the notes that could decide the coup, the last one decided it.
        notes = [*self._axis.notes][-NOTES_MAX:]
        failed = self._void.evidence.get("sensor")
        if self._decides("fails") and failed is not None and not any(kind == "fails" for _, kind, *_ in notes):
            notes.append((self._axis.moment_us, "fails", str(failed), ""))
        deciding = [note for note in notes if self._decides(note[1])][-1:]
        rows, why = [*self._measured()], self._say(self._void.cause.text)
        for note in notes:
            (t_us, kind, name, by), decides = note, note in deciding
            if kind == "word":
                told = self._say(COMMAND_NAMES[name]) if name in COMMAND_NAMES else name
                rows.append(EvidenceRow(kind=kind, name=by, told=told, decides=decides, marks=[self._at(t_us)]))
                continue
            row = EvidenceRow(
                kind=kind, name=sensor_name(name, self._catalogue), told=self._say(WORDS[kind]), decides=decides
            )
            if kind == "works":
                row.marks = [self._at(t_us)]
            else:
                mended = (at_us for at_us, *what, _ in self._axis.notes if what == ["works", name] and at_us > t_us)
                row.bars = [(self._at(t_us), self._at(next(mended, self._axis.to_us)))]
            rows.append(row)
        if self._decides("fails") and (decided := [row for row in rows if row.decides]):
            # If the direction suspended play, the text of the cause is "a breakdown", too. So the reason also names the
            # command that was given, or what failed.
            what = decided[0].told if decided[0].kind == "word" else f"{decided[0].name} {decided[0].told}"
            why = self._say("{first}: {second}", first=why, second=what)
        axis = self._axis
        zero_us = axis.from_us if axis.launch_us is None else axis.launch_us
        first, last = int((axis.from_us - zero_us) / 1e6), int((axis.to_us - zero_us) / 1e6)
        step = next((each for each in (1, 2, 5, 10, 20) if (last - first) / each <= TICKS_MAX), 60)
        seconds = range(-(-first // step) * step, last + 1, step)
        return DrawnEvidence(
            coup=self._void.coup,
            words=self._void.words,
            why=why,
            moment=self._at(axis.moment_us),
            rows=rows,
            ticks=[(self._at(zero_us + second * 1_000_000), second) for second in seconds],
        )

    def _say(self, text: str, **parts: object) -> str:
        return self._catalogue.say(text, **parts)

    def _at(self, t_us: int) -> float:
        axis = self._axis
        return round(max(0.0, min(1.0, (t_us - axis.from_us) / (axis.to_us - axis.from_us))), 4)

    def _decides(self, kind: str) -> bool:
        return kind in DECIDES[self._void.rule]

    def _measured(self) -> Iterator[EvidenceRow]:
        """Yield the rows of ball, laps and rotor. Then yield up to four rows: that the operations were not done at the
        launch, that the ball was on an obstacle, what readers saw, and when a foreign object was there."""
        axis = self._axis
        hops = [(t_us, (laps - before) / (t_us - before_us) * 60e6) for (before_us, before), (t_us, laps) in
                pairwise(axis.ball)]  # fmt: skip
        speeds = [round(rpm) for _, rpm in hops]
        yield EvidenceRow(
            kind="ball",
            name=self._say(WORDS["ball"]),
            told=self._turning(axis.direction, [speeds[0], speeds[-1]] if speeds else []),
            decides=self._decides("ball"),
            line=self._line(hops),
            marks=[self._at(t_us) for t_us, kind, _ in axis.marks if kind == "beam"],
        )
        if axis.launch_us is not None:
            # This row shows the completed laps. If the coup is void for too few laps, the row shows how many laps the
            # message says were proven, and how many were needed. Otherwise it does not show the needed laps: people
            # would think that they are the cause.
            ball = axis.ball
            run = ball[-1][1] if ball else 0.0
            count, told = float(int(run)), WORDS["laps_counted"]
            if self._decides("laps"):
                count, told = float(self._void.evidence.get("laps_proven", count)), WORDS["laps_of"]
            shown = range(1, int(min(count, run)) + 1)
            done = [next(self._at(t_us) for t_us, laps in ball if laps >= lap) for lap in shown]
            yield EvidenceRow(
                kind="laps",
                name=self._say(WORDS["laps_row"]),
                told=self._say(told, count=self._catalogue.decimal(count), number=self._void.laps_needed),
                decides=self._decides("laps"),
                laps=[(place, lap) for lap, place in enumerate(done, 1)],
            )
        turned = [(t_us, abs(rpm)) for t_us, rpm in axis.rpm]
        way: Direction = "ccw" if axis.rpm and axis.rpm[0][1] < 0 else "cw"
        speeds = [round(rpm) for _, rpm in turned]
        ends = [] if not speeds else [speeds[0], 0] if turned[-1][1] == 0 else [speeds[0]]
        yield EvidenceRow(
            kind="rotor",
            name=self._say(WORDS["rotor"]),
            told=self._turning(way if any(speeds) else None, ends),
            decides=self._decides("rotor"),
            line=self._line(turned),
        )
        if self._decides("before"):  # no sensor sees this cause: the operations were not done at the launch
            name, told = self._say(WORDS["before"]), self._say(WORDS["not_finished"])
            yield EvidenceRow(kind="before", name=name, told=told, decides=True, bars=[(0.0, 1.0)])
        if self._decides("obstacle") and axis.ball:  # no sensor sees this cause: the ball is on an obstacle
            name, told = self._say(WORDS["off_track"]), self._say(WORDS["no_pocket"])
            bars = [(self._at(axis.ball[-1][0]), self._at(axis.moment_us))]
            yield EvidenceRow(kind="obstacle", name=name, told=told, decides=True, bars=bars)
        if sightings := [self._at(t_us) for t_us, kind, _ in axis.marks if kind == "reader"]:
            yield EvidenceRow(kind="reader", name=self._say(WORDS["readers_row"]), marks=sightings)
        levels = [(t_us, bool(stands)) for t_us, kind, stands in axis.marks if kind == "object"]
        if any(stands for _, stands in levels):
            ends = [*(t_us for t_us, _ in levels[1:]), axis.to_us]
            bars = [(self._at(t_us), self._at(end)) for (t_us, stands), end in zip(levels, ends, strict=True) if stands]
            name, decides = self._say(WORDS["object"]), self._decides("object")
            yield EvidenceRow(kind="object", name=name, told=self._say(WORDS["object_in"]), decides=decides, bars=bars)

    def _turning(self, way: Direction | None, rpm: Sequence[int]) -> str:
        """Return in words the direction, and the speeds in `rpm`: the first one and the last one."""
        words = [] if way is None else [f"{ARROWS[way]} {self._say(WORDS[way])}"]
        if rpm:
            value = " → ".join(map(str, dict.fromkeys(rpm)))
            words.append(self._say(WORDS["rpm"], value=value))
        return ", ".join(words) or self._say(WORDS["unknown"])

    def _line(self, points: Sequence[tuple[int, float]]) -> list[Point]:
        """Return points with heights from 0 (at rest) to 1 (the fastest)."""
        most = max((value for _, value in points), default=0.0) or 1.0
        return [(self._at(t_us), round(value / most, 3)) for t_us, value in points]
