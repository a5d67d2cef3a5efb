"""One evening of a campaign: drawn, spoilt, played into the black box, judged; anew after every disagreement."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from hw_sim.campaign.black_box import Ended, replay
from hw_sim.campaign.comparison import ComparedSpan, SpanComparer
from hw_sim.campaign.explain import Disagreement, Explanation, explain
from hw_sim.campaign.rows import EarlyWarning, Row, early_warnings, rows
from hw_sim.campaign.slices import Slice
from hw_sim.evening import Evening, campaign_evening, repeatable
from hw_sim.faults import FaultyEvening, Rates, add_faults, swarm

EVENING_COUPS = 250
"""Long enough that the start of the black box costs little, short enough that two of them fit in memory."""


@dataclass(frozen=True)
class Plan:
    """What a campaign is made of. `faults`: times the default rates. `margin`: launches of two to four laps only.

    A coup is known by its evening and its mark there, so the length of an evening belongs to its name, too.
    """

    seed: str
    faults: float = 1.0
    margin: bool = False
    evening_coups: int = EVENING_COUPS

    def evening(self, index: int) -> Evening:
        """Evening number `index`."""
        return campaign_evening(self.named(index), self.evening_coups, margin=self.margin)

    def faulty(self, night: Evening, index: int, without: frozenset[str] = frozenset()) -> FaultyEvening:
        """What its sensors told, leaving out the faults named."""
        rates = swarm(repeatable(f"{self.named(index)} swarm"), Rates().times(self.faults))
        return add_faults(night, self.named(index), rates, without=without)

    def named(self, index: int) -> str:
        """The evening's own seed."""
        return f"{self.seed}/{index}"

    def options(self) -> str:
        """What must follow `hw-sim coup ID` to play a coup of this campaign."""
        faults = "" if self.faults == 1 else f" --faults {self.faults:g}"
        return faults + (" --margin" if self.margin else "")


@dataclass(frozen=True)
class Segment:
    """One run of the black box, from mark `first` until all was told or daemon and people were out of step."""

    first: int
    compared: tuple[ComparedSpan, ...]
    ended: Ended


@dataclass(frozen=True)
class EveningRun:
    """What came of one evening. `refused`: its layout proves nothing, and the black box said so. `failed`: its words
    where it ended by an error, or didn't refuse what it had to. Times are processor seconds."""

    index: int
    beams: int
    rows: tuple[Row, ...]
    early_warnings: tuple[EarlyWarning, ...]
    explained: dict[str, Explanation]
    refused: bool
    failed: str | None
    simulator_s: float
    black_box_s: float


def run_evening(plan: Plan, index: int, wheeld: Path) -> EveningRun:
    """Play evening `index` whole. Raises NoBlackBoxError."""
    began_s = time.process_time()
    night = plan.evening(index)
    faulty = plan.faulty(night, index)
    segments = list(comparisons(Slice(night, faulty, 0, len(night.marks) - 1), wheeld))
    told = [(segment.first, compared) for segment in segments for compared in segment.compared]
    beams = len(night.header["beams_deg"])
    refused = beams == 1 and _refused(segments)
    disagreements = [Disagreement(compared.span.index, first) for first, compared in told if not compared.agrees]
    causes, explaining_s = explain(
        night, faulty, lambda without: plan.faulty(night, index, without), disagreements, wheeld
    )
    name = plan.named(index)
    return EveningRun(
        index,
        beams,
        tuple(row for _, compared in told for row in rows(name, compared, beams)),
        tuple(warning for _, compared in told for warning in early_warnings(name, compared, night.world, faulty.scale)),
        {f"{name}/{mark}": cause for mark, cause in causes.items()},
        refused,
        None if refused else _failed(segments, beams),
        time.process_time() - began_s,
        sum(segment.ended.cpu_s for segment in segments) + explaining_s,
    )


def comparisons(part: Slice, wheeld: Path) -> Iterator[Segment]:
    """Play that part and judge it; after each mark that went wrong, anew from the next."""
    first = part.first
    while first <= part.last:
        rest = replace(part, first=first)
        comparer = SpanComparer(rest.spans(), part.evening.world.layout.beams_deg)
        ended = replay(wheeld, rest.lines(), comparer.receive)
        broken = bool(ended.code) and not ended.stopped
        if not broken:
            comparer.ended()
        yield Segment(first, tuple(comparer.compared), ended)
        if broken:
            return
        first += len(comparer.compared)


def _refused(segments: list[Segment]) -> bool:
    ended = segments[0].ended
    return ended.code > 0 and not ended.stopped and not segments[0].compared


def _failed(segments: list[Segment], beams: int) -> str | None:
    ended = segments[-1].ended
    if not ended.stopped and ended.code:
        return f"exit code {ended.code}: {ended.words}"
    return "one beam can tell no direction, and the layout was not refused" if beams == 1 else None
