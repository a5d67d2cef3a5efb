"""Draws one evening of a campaign, adds faults, plays it into the black box, and compares it with its truth. If a
disagreement leaves the table in a state that people do not expect, the black box starts again at the next mark.

Several evenings run in parallel processes. The number of processes does not change the result.
"""

from __future__ import annotations

import multiprocessing
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path

from hw_sim.campaign.black_box import Ended, replay
from hw_sim.campaign.comparison import ComparedSpan, SpanComparer
from hw_sim.campaign.explain import Disagreement, Explanation, explain
from hw_sim.campaign.rows import EarlyWarning, IdleSuspension, VerdictRow, early_warnings, idle_suspensions, rows
from hw_sim.campaign.slices import Slice
from hw_sim.evening import AMERICANS, Evening, campaign_evening, repeatable
from hw_sim.faults import FaultyEvening, Rates, add_faults, swarm

EVENING_COUPS = 250
"""The number of coups in an evening. With far fewer, the starts of the black box would take much time. With far more,
the memory would not be enough."""


@dataclass(frozen=True)
class CampaignPlan:
    """The parameters of a campaign. `faults`: a factor for the default rates. `margin`: launches of two to four laps
    only. `people`: a factor for how often people press early, late, twice and wrongly. `americans`: the share of
    evenings on an American wheel.

    The name of a coup contains the numbers of its evening and of its mark. In longer or shorter evenings, the same name
    would mean another coup. So the length of an evening is a parameter, too.
    """

    seed: str
    faults: float = 1.0
    margin: bool = False
    people: float = 1.0
    americans: float = AMERICANS
    evening_coups: int = EVENING_COUPS

    def evening(self, index: int) -> Evening:
        """Return evening number `index`."""
        return campaign_evening(
            self.named(index), self.evening_coups, margin=self.margin, people=self.people, americans=self.americans
        )

    def faulty(self, evening: Evening, index: int, without: frozenset[str] = frozenset()) -> FaultyEvening:
        """Return the evening with its faults, except the kinds in `without`."""
        rates = swarm(repeatable(f"{self.named(index)} swarm"), Rates().times(self.faults))
        return add_faults(evening, self.named(index), rates, without=without)

    def named(self, index: int) -> str:
        """Return the seed of evening number `index`."""
        return f"{self.seed}/{index}"

    def options(self) -> str:
        """Return the options that `hw-sim coup ID` needs for a coup of this campaign."""
        faults = "" if self.faults == 1 else f" --faults {self.faults:g}"
        people = "" if self.people == 1 else f" --people {self.people:g}"
        americans = "" if self.americans == AMERICANS else f" --americans {self.americans:g}"
        return faults + people + americans + (" --margin" if self.margin else "")


@dataclass(frozen=True)
class Segment:
    """One run of the black box, from mark `first` to the end, or to a mark after which `run_segments` starts it
    again."""

    first: int
    compared: tuple[ComparedSpan, ...]
    ended: Ended


@dataclass(frozen=True)
class EveningRun:
    """The result of one evening. `refused`: the black box refused the wheel, because one beam cannot prove a direction.
    `failed`: what is wrong if the black box ended with another error, or accepted a wheel with one beam. Times are
    processor seconds."""

    index: int
    rows: tuple[VerdictRow, ...]
    early_warnings: tuple[EarlyWarning, ...]
    idle_suspensions: tuple[IdleSuspension, ...]
    explained: dict[str, Explanation]
    refused: bool
    failed: str | None
    simulator_s: float
    black_box_s: float


def run_evening(plan: CampaignPlan, index: int, wheeld: Path) -> EveningRun:
    """Run the whole evening `index`. Raises UnavailableError."""
    began_s = time.process_time()
    evening = plan.evening(index)
    faulty = plan.faulty(evening, index)
    whole = Slice(evening, faulty, 0, len(evening.marks) - 1)
    segments = list(run_segments(whole, wheeld))
    compared = [span for segment in segments for span in segment.compared]
    disagreements = [
        Disagreement(span.span.index, segment.first, span.disagreement)
        for segment in segments
        for span in segment.compared
        if span.disagreement
    ]
    explained, explaining_s = explain(
        evening, faulty, lambda without: plan.faulty(evening, index, without), disagreements, wheeld
    )
    name, beams = plan.named(index), len(evening.header["beams_deg"])
    first = segments[0]
    refused = beams == 1 and first.ended.code > 0 and not first.ended.stopped and not first.compared
    ended, failed = segments[-1].ended, None
    if not ended.stopped and ended.code:
        failed = f"exit code {ended.code}: {ended.stderr}"
    elif beams == 1:
        failed = "a wheel with one beam was not refused, although one beam cannot prove a direction"
    return EveningRun(
        index,
        tuple(row for span in compared for row in rows(name, span, beams)),
        tuple(one for span in compared for one in early_warnings(name, span, evening.world, faulty.scale)),
        tuple(one for span in compared for one in idle_suspensions(name, span, whole)),
        {f"{name}/{mark}": explanation for mark, explanation in explained.items()},
        refused,
        None if refused else failed,
        time.process_time() - began_s,
        sum(segment.ended.cpu_s for segment in segments) + explaining_s,
    )


def run_segments(part: Slice, wheeld: Path) -> Iterator[Segment]:
    """Play and compare `part`. If the table is in a state that people do not expect, start again at the next mark."""
    first = part.first
    while first <= part.last:
        rest = replace(part, first=first)
        comparer = SpanComparer(rest.spans(), part.evening.world.layout.beams_deg)
        ended = replay(wheeld, rest.lines(), comparer.receive)
        broken = bool(ended.code) and not ended.stopped
        if not broken:
            comparer.finish()
        yield Segment(first, tuple(comparer.compared), ended)
        if broken:
            return
        first += len(comparer.compared)


def run_evenings(plan: CampaignPlan, coups: int, jobs: int, wheeld: Path) -> Iterator[EveningRun]:
    """Run evenings 0, 1, 2, … until they have `coups` rows, `jobs` at a time.

    An evening whose layout is refused has no rows, so another evening runs in its place. If an evening was started and
    is not needed, its result is dropped: only the plan may decide which evenings belong to a campaign.
    """
    context = multiprocessing.get_context("spawn")  # a fork would copy locks that the progress bar's thread holds
    pool = None if jobs == 1 else ProcessPoolExecutor(jobs, mp_context=context)
    pending: deque[Callable[[], EveningRun]] = deque()
    indices = count()
    compared = 0
    try:
        while compared < coups:
            while len(pending) <= jobs and compared + len(pending) * plan.evening_coups < coups:
                run = partial(run_evening, plan, next(indices), wheeld)
                # Without a second process, an evening runs when its result is wanted.
                pending.append(run if pool is None else pool.submit(run).result)
            evening_run = pending.popleft()()
            compared += len(evening_run.rows)
            yield evening_run
    finally:
        if pool is not None:
            pool.shutdown(cancel_futures=True)
