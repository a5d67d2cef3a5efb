"""Holds what was told against what truly happened, coup by coup.

A *span* is one mark of an evening: a scenario from "faites vos jeux" to "faites vos jeux", with its outcomes. Every
message belongs to the span in which it was said.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, zip_longest
from typing import Literal, TypeAlias

from hw_sim.campaign.black_box import Message
from hw_sim.table import Outcome, laps_safe

EVIDENCE_SLACK_US = 1_000
"""Two programs round the instant of the evidence apart; earlier than this a void was said before there was any."""

Kind: TypeAlias = Literal[
    "right",
    "unproven",
    "wrong_number",
    "false_valid",
    "false_void",
    "wrong_cause",
    "premature",
    "late",
    "missed",
    "extra_void",
    "stranded",
]
KINDS: dict[Kind, str] = {
    "right": "as it was",
    "unproven": "it ran its laps, but so few that the passes of this layout cannot prove three",
    "wrong_number": "a result with another number",
    "false_valid": "a result where there was a void, or nothing",
    "false_void": "a void where there was a result",
    "wrong_cause": "a void by another cause",
    "premature": "a void by its cause, but before there was evidence of it",
    "late": "right, but after its deadline",
    "missed": "nothing told",
    "extra_void": "a void where there was nothing",
    "stranded": "all told, but then the table waited for people who had done all that the rules ask of them",
}
AGREEING: frozenset[Kind] = frozenset({"right", "unproven"})
WAITING = frozenset({"closed", "operations", "rien_va", "suspended"})
"""States that only people end. In any other a verdict may still come of what was seen."""


@dataclass(frozen=True)
class Span:
    """One mark: its place in the evening, when it begins (sensing clock, µs), what truly came of it."""

    index: int
    start_us: int
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True)
class Comparison:
    """One outcome and the verdict on it; either may be missing, both for a table that is `stranded`."""

    kind: Kind
    outcome: Outcome | None
    verdict: Message | None

    @property
    def agrees(self) -> bool:
        """No disagreement."""
        return self.kind in AGREEING

    @property
    def in_step(self) -> bool:
        """The table then does what the people at it expect."""
        return self.kind in ("right", "late")


@dataclass(frozen=True)
class ComparedSpan:
    """All that was told in one span, judged; `notices` in order."""

    span: Span
    comparisons: tuple[Comparison, ...]
    notices: tuple[Message, ...]

    @property
    def agrees(self) -> bool:
        """Every verdict right."""
        return all(each.agrees for each in self.comparisons)

    @property
    def in_step(self) -> bool:
        """The table stands where the people think it does, so what follows can be judged."""
        return all(each.in_step for each in self.comparisons)


@dataclass
class SpanComparer:
    """Takes messages as they are told and judges each span when a message shows that it is over.

    Stops at the first span after which daemon and people are out of step: `compared` then ends with it.
    """

    spans: Sequence[Span]
    beams_deg: tuple[float, ...]
    compared: list[ComparedSpan] = field(default_factory=list)
    _messages: list[Message] = field(default_factory=list)
    _state: str = ""
    _starts: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self._starts = [span.start_us for span in self.spans[1:]]  # what comes before the first is its own

    @property
    def out_of_step(self) -> bool:
        """Whether the rest would have to be judged anew."""
        return bool(self.compared) and not self.compared[-1].in_step

    def receive(self, message: Message) -> bool:
        """Take one message. False when no more are wanted."""
        self._close(bisect_right(self._starts, message.t))
        if message.topic == "table":
            self._state = str(message.payload["state"])
        elif message.topic in ("result", "void", "notice"):
            self._messages.append(message)
        return not self.out_of_step

    def ended(self) -> None:
        """Nothing more is told."""
        self._close(len(self.spans))

    def _close(self, until: int) -> None:
        while len(self.compared) < until and not self.out_of_step:
            verdicts = [message for message in self._messages if message.topic != "notice"]
            notices = tuple(message for message in self._messages if message.topic == "notice")
            span = self.spans[len(self.compared)]
            comparisons = compare(span.outcomes, verdicts, self.beams_deg)
            if self._state in WAITING and all(each.in_step for each in comparisons):
                comparisons = (*comparisons, Comparison("stranded", None, None))
            self.compared.append(ComparedSpan(span, comparisons, notices))
            self._messages = []


def compare(
    outcomes: Sequence[Outcome], verdicts: Sequence[Message], beams_deg: tuple[float, ...] = ()
) -> tuple[Comparison, ...]:
    """Each outcome with its verdict, in order; where there are more of one than of the other, the ones left over are
    those without which most of the rest is right."""
    fewest = min(len(outcomes), len(verdicts))
    ways = [
        _pairs(outcomes, verdicts, set(mine), set(theirs), beams_deg)
        for mine in combinations(range(len(outcomes)), fewest)
        for theirs in combinations(range(len(verdicts)), fewest)
    ]
    return max(ways, key=lambda way: sum(each.agrees for each in way))


def _pairs(
    outcomes: Sequence[Outcome],
    verdicts: Sequence[Message],
    mine: set[int],
    theirs: set[int],
    beams_deg: tuple[float, ...],
) -> tuple[Comparison, ...]:
    pairs = zip_longest(
        [outcomes[place] for place in sorted(mine)],
        [verdicts[place] for place in sorted(theirs)],
    )
    comparisons = [Comparison(_kind(outcome, verdict, beams_deg), outcome, verdict) for outcome, verdict in pairs]
    comparisons += [Comparison("missed", outcome, None) for place, outcome in enumerate(outcomes) if place not in mine]
    comparisons += [
        Comparison("false_valid" if verdict.topic == "result" else "extra_void", None, verdict)
        for place, verdict in enumerate(verdicts)
        if place not in theirs
    ]
    return tuple(comparisons)


def _kind(outcome: Outcome, verdict: Message, beams_deg: tuple[float, ...]) -> Kind:
    if outcome["kind"] == "result":
        return _of_result(outcome, verdict, beams_deg)
    if verdict.topic == "result":
        return "false_valid"
    if verdict.payload["cause"] != outcome["cause"]:
        return "wrong_cause"
    if verdict.t < outcome["evidence_t"] - EVIDENCE_SLACK_US:
        return "premature"
    return "late" if verdict.t > outcome.get("deadline_t", verdict.t) else "right"


def _of_result(outcome: Outcome, verdict: Message, beams_deg: tuple[float, ...]) -> Kind:
    if verdict.topic == "result":
        return "right" if verdict.payload["number"] == outcome["number"] else "wrong_number"
    few = verdict.payload["cause"] == "too_few_laps" and beams_deg and outcome["laps"] < laps_safe(beams_deg)
    return "unproven" if few else "false_void"
