"""One evening of the whole: played, judged, and made smaller when something is wrong with it."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from hw_sim.whole.house import House
from hw_sim.whole.plan import HEADS, KINDS, EveningPlan, Source, draw_plan, from_text
from tests.whole.daemon import play
from tests.whole.oracles import problems

FOUND = [
    from_text(line) for line in Path(__file__).with_name("found.txt").read_text().splitlines() if line.startswith("{")
]
"""Plans that failed once; the line before each says what was wrong."""
SOURCES: tuple[Source, ...] = tuple(source for head in HEADS for source in ("board", "pins", "board", head))
"""What sees the wheel, evening by evening in turn: of four a board twice, pins once, a head once."""
MEMORY = Path("/dev/shm")
"""A journal's file is there, if there is such a place: what a power cut takes is simulated, so no disk is needed."""


class Ended(NamedTuple):
    """How an evening ended. `digest`: of everything that was published and logged."""

    problems: tuple[str, ...]
    injected: Counter[str]
    verdicts: int
    seconds: float
    digest: str


def plan_of(seed: str, index: int, only: Collection[str] = ()) -> EveningPlan:
    """Evening number `index` of that seed; with faults of the kinds in `only` alone, if there are any."""
    kinds = only or KINDS
    sources = [source for source in SOURCES if any(source in KINDS[kind].at for kind in kinds)]
    return draw_plan(f"{seed}/{index}", sources[index % len(sources)], only=kinds)


def played(plan: EveningPlan) -> Ended:
    """Play it from its beginning to its end."""
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as directory:
        house = House(plan)
        play(house, Path(directory))
    digest = hashlib.sha256()
    for one in house.witness.published:
        digest.update(one.payload)
    digest.update(repr(house.witness.logged).encode())
    verdicts = sum(1 for _ in house.witness.of("result", "void"))
    found = tuple(problems(house))
    return Ended(found, house.faults.injected, verdicts, house.now_us / 1e6, digest.hexdigest())


def shrunk(plan: EveningPlan, fails: Callable[[EveningPlan], bool]) -> EveningPlan:
    """The plan without the faults and coups that it does not need to fail."""
    while (smaller := next((one for one in _smaller(plan) if fails(one)), None)) is not None:
        plan = smaller
    return plan


def _smaller(plan: EveningPlan) -> Iterator[EveningPlan]:
    yield from (plan.without_coup(index) for index in reversed(range(len(plan.coups))) if len(plan.coups) > 1)
    yield from (plan.without_fault(index) for index in range(len(plan.faults)))
