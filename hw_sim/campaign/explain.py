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
from hw_sim.campaign.comparison import Listening
from hw_sim.campaign.slices import Slice
from hw_sim.evening import Evening
from hw_sim.faults import KINDS, Harm, Spoilt

ALL = frozenset(KINDS)

Spoil: TypeAlias = Callable[[frozenset[str]], Spoilt]
"""The same evening with the same luck, without the faults named."""


@dataclass(frozen=True)
class Doubt:
    """The mark that went wrong, and the one from which the black box had been running when it did."""

    mark: int
    since: int


@dataclass(frozen=True)
class Explanation:
    """Why a coup was judged wrongly.

    `causes`: the kinds of fault that did it, each alone, or all of them only `together`.
    `alone`: whether the coup is judged wrongly when it is played by itself; if not, play the evening from mark `since`.
    `harms`: the places in it where those sensors lied, in words.
    """

    causes: tuple[str, ...]
    together: bool
    alone: bool
    since: int
    harms: tuple[str, ...]

    @property
    def found(self) -> bool:
        """Some fault is to blame."""
        return self.together or bool(self.causes)


@dataclass
class _Case:
    """A doubt under examination: from which mark its coup goes wrong, and who may have done it."""

    doubt: Doubt
    first: int
    alone: bool
    harms: list[Harm]
    guilty: list[str] = field(default_factory=list)
    right_without_all: bool = False

    @property
    def suspects(self) -> list[str]:
        present = {harm.fault for harm in self.harms}
        return [kind for kind in KINDS if kind in present]


@dataclass
class _Bench:
    """Plays parts of one evening over and over; `cpu_s` is what the black box used for it."""

    night: Evening
    wheeld: Path
    cpu_s: float = 0.0

    def wrong(self, spoilt: Spoilt, first: int, mark: int) -> bool:
        """Whether `mark` is judged wrongly when the table opens at mark `first`."""
        part = Slice(self.night, spoilt, first, mark)
        listening = Listening(part.spans(), self.night.world.layout.beams_deg)
        ended = replay(self.wheeld, part.lines(), listening.hear)
        self.cpu_s += ended.cpu_s
        listening.ended()
        last = listening.accounts[-1]
        return last.span.index != mark or not last.fine


def explain(
    night: Evening, spoilt: Spoilt, spoil: Spoil, doubts: Sequence[Doubt], wheeld: Path
) -> tuple[dict[int, Explanation], float]:
    """The explanation of each doubt by its mark, and the processor seconds that the black box used for them."""
    bench = _Bench(night, wheeld)
    cases = [_case(bench, spoilt, doubt) for doubt in doubts]
    for kind in KINDS:
        suspected = [case for case in cases if kind in case.suspects]
        lighter = spoil(frozenset({kind})) if suspected else spoilt
        for case in suspected:
            if not bench.wrong(lighter, case.first, case.doubt.mark):
                case.guilty.append(kind)
    unsolved = [case for case in cases if not case.guilty]
    truthful = spoil(ALL) if unsolved else spoilt
    for case in unsolved:
        case.right_without_all = not bench.wrong(truthful, case.first, case.doubt.mark)
    return {case.doubt.mark: _explanation(case) for case in cases}, bench.cpu_s


def _case(bench: _Bench, spoilt: Spoilt, doubt: Doubt) -> _Case:
    alone = doubt.since == doubt.mark or bench.wrong(spoilt, doubt.mark, doubt.mark)
    first = doubt.mark if alone else doubt.since
    part = Slice(bench.night, spoilt, first, doubt.mark)
    harms = [harm for harm in spoilt.harms if harm.from_us < part.end_us and harm.to_us >= part.start_us]
    return _Case(doubt, first, alone, harms)


def _explanation(case: _Case) -> Explanation:
    together = not case.guilty and case.right_without_all
    causes = case.suspects if together else case.guilty
    own = [harm for harm in case.harms if harm.fault in causes]
    words = tuple(f"{harm.from_us / 1e6:.3f} s {harm.fault}: {harm.what}" for harm in own)
    return Explanation(tuple(causes), together, case.alone, case.doubt.since, words)
