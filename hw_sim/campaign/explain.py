"""Which fault made a verdict wrong: the same coup, with one kind of fault after the other left out.

A kind whose absence alone makes the coup right is a cause of the disagreement. Where only the absence of all does,
they did it together. A coup that stays wrong with sensors that tell the truth is *unexplained*: a defect of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from hw_sim.campaign.black_box import replay
from hw_sim.campaign.comparison import SpanComparer
from hw_sim.campaign.slices import Slice
from hw_sim.evening import Evening
from hw_sim.faults import KINDS, FaultyEvening, Strike

ALL = frozenset(KINDS)

FaultyWithout: TypeAlias = Callable[[frozenset[str]], FaultyEvening]
"""The same evening with the same luck, without the faults named."""


@dataclass(frozen=True)
class Disagreement:
    """The mark that went wrong, and the one from which the black box had been running when it did."""

    mark: int
    since: int


@dataclass(frozen=True)
class Explanation:
    """Why a coup was judged wrongly.

    `causes`: the kinds of fault that did it, each alone, or all of them only `together`.
    `alone`: whether the coup is judged wrongly when it is played by itself; if not, play the evening from mark `since`.
    `strikes`: the places in it where those sensors lied, in words.
    """

    causes: tuple[str, ...]
    together: bool
    alone: bool
    since: int
    strikes: tuple[str, ...]

    @property
    def found(self) -> bool:
        """Some fault is to blame."""
        return self.together or bool(self.causes)


@dataclass
class _Case:
    """A doubt under examination: from which mark its coup goes wrong, and who may have done it."""

    disagreement: Disagreement
    first: int
    alone: bool
    strikes: list[Strike]
    causes: list[str] = field(default_factory=list)
    right_without_all: bool = False

    @property
    def possible_causes(self) -> list[str]:
        present = {harm.fault for harm in self.strikes}
        return [kind for kind in KINDS if kind in present]


@dataclass
class _Replays:
    """Plays parts of one evening over and over; `cpu_s` is what the black box used for it."""

    evening: Evening
    wheeld: Path
    cpu_s: float = 0.0

    def wrong(self, faulty: FaultyEvening, first: int, mark: int) -> bool:
        """Whether `mark` is judged wrongly when the table opens at mark `first`."""
        part = Slice(self.evening, faulty, first, mark)
        comparer = SpanComparer(part.spans(), self.evening.world.layout.beams_deg)
        ended = replay(self.wheeld, part.lines(), comparer.receive)
        self.cpu_s += ended.cpu_s
        comparer.ended()
        last = comparer.compared[-1]
        return last.span.index != mark or not last.agrees


def explain(
    evening: Evening,
    faulty: FaultyEvening,
    add_faults: FaultyWithout,
    disagreements: Sequence[Disagreement],
    wheeld: Path,
) -> tuple[dict[int, Explanation], float]:
    """The explanation of each doubt by its mark, and the processor seconds that the black box used for them."""
    replays = _Replays(evening, wheeld)
    cases = [_case(replays, faulty, disagreement) for disagreement in disagreements]
    for kind in KINDS:
        suspected = [case for case in cases if kind in case.possible_causes]
        lighter = add_faults(frozenset({kind})) if suspected else faulty
        for case in suspected:
            if not replays.wrong(lighter, case.first, case.disagreement.mark):
                case.causes.append(kind)
    unsolved = [case for case in cases if not case.causes]
    truthful = add_faults(ALL) if unsolved else faulty
    for case in unsolved:
        case.right_without_all = not replays.wrong(truthful, case.first, case.disagreement.mark)
    return {case.disagreement.mark: _explanation(case) for case in cases}, replays.cpu_s


def _case(replays: _Replays, faulty: FaultyEvening, disagreement: Disagreement) -> _Case:
    alone = disagreement.since == disagreement.mark or replays.wrong(faulty, disagreement.mark, disagreement.mark)
    first = disagreement.mark if alone else disagreement.since
    part = Slice(replays.evening, faulty, first, disagreement.mark)
    strikes = [harm for harm in faulty.strikes if harm.from_us < part.end_us and harm.to_us >= part.start_us]
    return _Case(disagreement, first, alone, strikes)


def _explanation(case: _Case) -> Explanation:
    together = not case.causes and case.right_without_all
    causes = case.possible_causes if together else case.causes
    own = [harm for harm in case.strikes if harm.fault in causes]
    words = tuple(f"{harm.from_us / 1e6:.3f} s {harm.fault}: {harm.what}" for harm in own)
    return Explanation(tuple(causes), together, case.alone, case.disagreement.since, words)
