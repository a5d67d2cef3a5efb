"""Finds the fault that caused a disagreement: plays the same coup again and again, each time without one kind of fault.

A kind is a cause if the coup agrees without that kind. If the coup agrees only without all kinds, all of them caused
the disagreement together. If the coup disagrees even with faultless sensors, the disagreement is *unexplained*: our
programs have a defect.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hw_sim.campaign.black_box import replay
from hw_sim.campaign.comparison import Kind, SpanComparer
from hw_sim.campaign.slices import Slice
from hw_sim.evening import Evening
from hw_sim.faults import KINDS, FaultyEvening, Strike

ALL = frozenset(KINDS)


@dataclass(frozen=True)
class Disagreement:
    """A disagreement of mark `mark`: its kinds, and `since`, the mark at which the run of the black box started."""

    mark: int
    since: int
    kinds: frozenset[Kind]


@dataclass(frozen=True)
class Explanation:
    """Why a coup disagreed.

    `causes`: the kinds of fault that caused it, each alone or, if `together`, only all together. `alone`: whether the
    coup also disagrees if it is played alone. `strikes`: the strikes of those faults in the coup, as texts.
    """

    causes: tuple[str, ...]
    together: bool
    alone: bool
    strikes: tuple[str, ...]

    @property
    def found(self) -> bool:
        """Whether faults caused the disagreement."""
        return self.together or bool(self.causes)


@dataclass
class _Case:
    """A disagreement whose causes are not known yet. `first`: the mark from which its coup is played."""

    disagreement: Disagreement
    first: int
    alone: bool
    strikes: list[Strike]
    causes: list[str] = field(default_factory=list)
    together: bool = False


@dataclass
class _Replays:
    """Plays parts of one evening again. `cpu_s`: the processor time that the black box has used for this."""

    evening: Evening
    wheeld: Path
    cpu_s: float = 0.0

    def disagreement(self, faulty: FaultyEvening, first: int, mark: int) -> frozenset[Kind]:
        """Return the kinds in which mark `mark` disagrees if the table opens at mark `first`."""
        part = Slice(self.evening, faulty, first, mark)
        comparer = SpanComparer(part.spans(), self.evening.world.layout.beams_deg)
        ended = replay(self.wheeld, part.lines(), comparer.receive)
        self.cpu_s += ended.cpu_s
        comparer.finish()
        last = comparer.compared[-1]
        return last.disagreement or (frozenset({"missed"}) if last.span.index != mark else frozenset())


def explain(
    evening: Evening,
    faulty: FaultyEvening,
    faulty_without: Callable[[frozenset[str]], FaultyEvening],
    disagreements: Sequence[Disagreement],
    wheeld: Path,
) -> tuple[dict[int, Explanation], float]:
    """Return the explanation of each disagreement by its mark, and the processor seconds that the black box needed.
    `faulty_without` returns the same evening with the same seed, without the given kinds of fault."""
    replays = _Replays(evening, wheeld)
    cases: list[_Case] = []
    for disagreement in disagreements:
        mark, since = disagreement.mark, disagreement.since
        alone = since == mark or replays.disagreement(faulty, mark, mark) == disagreement.kinds
        first = mark if alone else since
        cases.append(_Case(disagreement, first, alone, Slice(evening, faulty, first, mark).strikes()))

    def agreeing(some: list[_Case], kinds: frozenset[str]) -> list[_Case]:
        """Return those of the cases that agree without these kinds of fault."""
        without = faulty_without(kinds) if some else faulty
        return [case for case in some if not replays.disagreement(without, case.first, case.disagreement.mark)]

    for kind in KINDS:
        possible = [case for case in cases if any(strike.fault == kind for strike in case.strikes)]
        for case in agreeing(possible, frozenset({kind})):
            case.causes.append(kind)
    for case in agreeing([case for case in cases if not case.causes], ALL):
        present = {strike.fault for strike in case.strikes}
        case.causes, case.together = [kind for kind in KINDS if kind in present], True
    explanations: dict[int, Explanation] = {}
    for case in cases:
        own = [strike for strike in case.strikes if strike.fault in case.causes]
        texts = tuple(f"{strike.from_us / 1e6:.3f} s {strike.fault}: {strike.what}" for strike in own)
        explanations[case.disagreement.mark] = Explanation(tuple(case.causes), case.together, case.alone, texts)
    return explanations, replays.cpu_s
