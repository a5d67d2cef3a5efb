"""Compares the published messages with the truth, coup by coup.

A *span* is one mark of an evening: a scenario, from "faites vos jeux" to the next "faites vos jeux", with its outcomes.
Every message belongs to the span in which it was published.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any, Literal, TypeAlias

from hw_sim.campaign.black_box import HeardMessage
from hw_sim.table import TOLD_BY_COUPS, Outcome, laps_safe
from hw_sim.wheel import printed

EVIDENCE_SLACK_US = 1_000
"""A void may be earlier than the true evidence by this much, because the two programs round times differently."""

Kind: TypeAlias = Literal[
    "right",
    "unproven",
    "wrong_number",
    "false_valid",
    "false_void",
    "void_after_number",
    "chef_voided",
    "broke_down",
    "asked",
    "in_wake",
    "wrong_cause",
    "premature",
    "late",
    "missed",
    "extra_void",
    "stranded",
    "bets_open",
    "untold",
    "false_alarm",
]
KINDS: dict[Kind, str] = {
    "right": "the verdict agrees with the truth",
    "unproven": "the ball ran its laps, but so few that the passes at the beams of this wheel cannot prove three",
    "wrong_number": "a result with another number",
    "false_valid": "a result where there was a void, or nothing",
    "false_void": "a void where there was a result",
    "void_after_number": "a void where there was a result: its reason came after the number was out",
    "chef_voided": "a void where there was a result: its number was not proven, and the chef said rien va",
    "broke_down": "a void where there was a result: line down, encoder slipped, or a stray hid the ball at rest (N8)",
    "asked": "a person must look before the number counts, or before 'tout va', and the script has no such person",
    "in_wake": "wrong, but after a wrong verdict of the same scenario: people act as if that verdict had been right",
    "wrong_cause": "a void with another cause",
    "premature": "a void with the right cause, but before there was evidence of it",
    "late": "the right verdict, but after its deadline",
    "missed": "no verdict",
    "extra_void": "a void where there was nothing",
    "stranded": "every verdict right, but then the table waited for people, who had done all that the rules require",
    "bets_open": "the verdict is right, but bets were shown open after the ball had left the track",
    "untold": "every verdict right, but a sensor saw nothing for three coups and people were not told",
    "false_alarm": "every verdict right, but people were told that a sensor sees nothing, although it works",
}
AGREEING: frozenset[Kind] = frozenset({"right", "unproven", "chef_voided", "broke_down", "asked", "in_wake"})
HARMLESS: frozenset[Kind] = frozenset(
    {"false_void", "asked", "wrong_cause", "premature", "late", "missed", "extra_void"}
)
"""An earlier wrong verdict may cause these kinds, because people then do not do what the table asks for. But an earlier
wrong verdict never excuses a wrong number, or a void after the number was out."""
WAITING = frozenset({"closed", "operations", "rien_va", "suspended"})
"""States that only people can end. In any other state, an observation may still lead to a verdict."""


@dataclass(frozen=True)
class MarkSpan:
    """One mark: its index in the evening, its start (sensing clock, µs), and its true outcomes."""

    index: int
    start_us: int
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True)
class Comparison:
    """One outcome and its verdict. One of them may be missing. Both are missing if all verdicts are right and `kind` is
    `stranded`, `bets_open`, `untold` or `false_alarm`."""

    kind: Kind
    outcome: Outcome | None
    verdict: HeardMessage | None

    @property
    def agrees(self) -> bool:
        """Whether the kind of the comparison counts as an agreement (`AGREEING`)."""
        return self.kind in AGREEING

    @property
    def in_step(self) -> bool:
        """Whether the table is in the state that the people of the scenario expect."""
        return self.kind in ("right", "late", "bets_open", "untold", "false_alarm")


@dataclass(frozen=True)
class ComparedSpan:
    """One span with its comparisons, and its notices in order. `suspensions`: the `table` messages that show a
    suspension which no person ordered and which made no coup void."""

    span: MarkSpan
    comparisons: tuple[Comparison, ...]
    notices: tuple[HeardMessage, ...]
    suspensions: tuple[HeardMessage, ...] = ()

    @property
    def disagreement(self) -> frozenset[Kind]:
        """Return the kinds of the span's disagreements."""
        return frozenset(each.kind for each in self.comparisons if not each.agrees)

    @property
    def in_step(self) -> bool:
        """Whether the table is in the state that the people expect, so that the next spans can be compared."""
        return all(each.in_step for each in self.comparisons)


@dataclass
class SpanComparer:
    """Takes messages in the order of publication, and compares each span when a message shows that the span is over.

    It stops at the first span after which the table is not in the state that people expect. `compared` then ends with
    that span.
    """

    spans: Sequence[MarkSpan]
    beams_deg: tuple[float, ...]
    compared: list[ComparedSpan] = field(default_factory=list)
    _messages: list[HeardMessage] = field(default_factory=list)
    _suspensions: list[HeardMessage] = field(default_factory=list)
    _bets: list[tuple[int, bool]] = field(default_factory=lambda: [(0, False)])
    """When bets were shown as open (True) or closed. The first entry is from before the span."""
    _table: dict[str, Any] = field(default_factory=lambda: {"state": ""})
    """The payload of the latest `table` message."""
    _told: set[str] = field(default_factory=set)
    """The blind sensors of which people have been told. The daemon tells people of each sensor only once."""
    _starts: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self._starts = [span.start_us for span in self.spans[1:]]  # the first span also gets the messages before it

    @property
    def out_of_step(self) -> bool:
        """Whether the daemon must start again for the spans that follow."""
        return bool(self.compared) and not self.compared[-1].in_step

    def receive(self, message: HeardMessage) -> bool:
        """Take one message. Returns False if no more messages are wanted."""
        self._close(bisect_right(self._starts, message.t))
        if message.topic == "table":
            before, self._table = self._table["state"], message.payload
            self._bets.append((message.t, message.payload["bets"] == "open"))
            if before != self._table["state"] == "suspended" and message.payload.get("by") is None:
                self._suspensions.append(message)
        elif message.topic in ("result", "void", "notice"):
            self._messages.append(message)
        return not self.out_of_step

    def finish(self) -> None:
        """Compare the spans that are left, after the last message."""
        self._close(len(self.spans))

    def _close(self, until: int) -> None:
        while len(self.compared) < until and not self.out_of_step:
            verdicts = [message for message in self._messages if message.topic != "notice"]
            notices = tuple(message for message in self._messages if message.topic == "notice")
            span = self.spans[len(self.compared)]
            found = [self._by_chef(each) for each in compare(span.outcomes, verdicts, self.beams_deg)]
            # Sort the comparisons by time. Those that an earlier wrong verdict may have caused get the kind `in_wake`.
            ordered = sorted(found, key=_at_us)
            steps = [each.in_step for each in ordered]
            first = steps.index(False) if False in steps else len(steps)
            comparisons = tuple(
                replace(each, kind="in_wake") if place > first and each.kind in HARMLESS else each
                for place, each in enumerate(ordered)
            )
            if all(each.in_step for each in comparisons):
                comparisons += tuple(Comparison(kind, None, None) for kind in self._also(span, notices))
            void_us = {verdict.t for verdict in verdicts}
            idle = tuple(message for message in self._suspensions if message.t not in void_us)
            self.compared.append(ComparedSpan(span, comparisons, notices, idle))
            self._messages, self._suspensions, self._bets = [], [], self._bets[-1:]

    def _also(self, span: MarkSpan, notices: Sequence[HeardMessage]) -> Iterator[Kind]:
        """Yield what is wrong with a span in which all verdicts are right."""
        if self._table["state"] in WAITING:
            yield "stranded"
        by_us = [outcome["closed_t"] for outcome in span.outcomes if "closed_t" in outcome]
        if any(self._bets[bisect_right(self._bets, t_us, key=lambda shown: shown[0]) - 1][1] for t_us in by_us):
            yield "bets_open"
        figures = [each.payload["figures"] for each in notices if each.payload["notice"] == "sensor_trouble"]
        told = {each["sensor"] for each in figures if each["what"] == "blind"}
        blind = Counter(outcome["blind"] for outcome in span.outcomes if "blind" in outcome)
        self._told = (self._told | told) & set(blind)
        if not {sensor for sensor, coups in blind.items() if coups >= TOLD_BY_COUPS} <= self._told:
            yield "untold"
        if not told <= set(blind):
            yield "false_alarm"

    def _by_chef(self, one: Comparison) -> Comparison:
        """Change the kind if the chef had to confirm the number. `missed` becomes `asked`, but if the table shows him a
        number, this must be the true number. A void becomes `chef_voided` if he said "rien va" instead, as R3b allows
        (docs/rulebook.md). He may also say it before the proof is complete. The evidence of the void then has
        `number_seen` or `unproven`."""
        if one.kind == "missed" and one.outcome is not None and self._table["state"] == "awaiting_chef":
            shown = self._table.get("number_awaiting_chef", one.outcome.get("number"))
            return replace(one, kind="asked") if shown == one.outcome.get("number") is not None else one
        if one.kind == "void_after_number" and one.verdict is not None and one.verdict.payload["cause"] == "chef":
            is_his = one.verdict.payload["evidence"].keys() & {"number_seen", "unproven"}
            return replace(one, kind="chef_voided") if is_his else one
        return one


def _at_us(one: Comparison) -> int:
    """Return the time of the verdict. Without a verdict, return when the number was out, or when the evidence of a void
    came."""
    if one.verdict is not None:
        return one.verdict.t
    outcome = one.outcome or {}
    return outcome.get("out_t", outcome.get("evidence_t", 0))


def compare(
    outcomes: Sequence[Outcome], verdicts: Sequence[HeardMessage], beams_deg: tuple[float, ...] = ()
) -> tuple[Comparison, ...]:
    """Pair each outcome with its verdict, in order. If there are more outcomes than verdicts, or fewer, choose the
    pairs so that as many as possible agree. Outcomes or verdicts that are left over have no partner."""
    fewest = min(len(outcomes), len(verdicts))
    ways = []
    for kept_outcomes in combinations(range(len(outcomes)), fewest):
        for kept_verdicts in combinations(range(len(verdicts)), fewest):
            pairs = [
                (outcomes[at], verdicts[told_at]) for at, told_at in zip(kept_outcomes, kept_verdicts, strict=True)
            ]
            way = [Comparison(_kind(outcome, verdict, beams_deg), outcome, verdict) for outcome, verdict in pairs]
            way += [
                Comparison("missed", outcome, None)
                for place, outcome in enumerate(outcomes)
                if place not in kept_outcomes
            ]
            way += [
                Comparison("false_valid" if verdict.topic == "result" else "extra_void", None, verdict)
                for place, verdict in enumerate(verdicts)
                if place not in kept_verdicts
            ]
            ways.append(tuple(way))
    return max(ways, key=lambda way: sum(each.agrees for each in way))


def _kind(outcome: Outcome, verdict: HeardMessage, beams_deg: tuple[float, ...]) -> Kind:
    if outcome["kind"] == "result":
        return _of_result(outcome, verdict, beams_deg)
    if verdict.topic == "result":
        return "false_valid"
    if verdict.payload["cause"] == "too_few_laps" and "laps" in outcome:
        return "right"
    if verdict.payload["cause"] != outcome["cause"]:
        return "wrong_cause"
    if verdict.t < outcome["evidence_t"] - EVIDENCE_SLACK_US:
        return "premature"
    return "late" if verdict.t > outcome.get("deadline_t", verdict.t) else "right"


def _of_result(outcome: Outcome, verdict: HeardMessage, beams_deg: tuple[float, ...]) -> Kind:
    if verdict.topic == "result":
        told = verdict.payload["number"], verdict.payload["label"]
        return "right" if told == (outcome["number"], printed(outcome["number"])) else "wrong_number"
    if verdict.payload["cause"] == "too_few_laps" and beams_deg:
        safe = laps_safe(beams_deg, verdict.payload["laps_needed"])
        if outcome["laps"] < safe:
            return "unproven"
    # The payload gives the time of the evidence in UTC. The comparison needs it on the sensing clock.
    at, evidence_at = (datetime.fromisoformat(verdict.payload[name]) for name in ("at", "evidence_at"))
    evidence_us = verdict.t - (at - evidence_at) // timedelta(microseconds=1)
    if verdict.payload["cause"] == "breakdown" and outcome.get("down_t", evidence_us + 1) <= evidence_us:
        return "broke_down"
    if verdict.payload["cause"] == "breakdown" and "stray_t" in outcome and outcome["out_t"] < evidence_us:
        # Before the number was proven the ball was launched again, play was suspended, or a sensor failed. A stray
        # pulse looked like a later pass of its run, so the ball seemed to bounce when readers saw it (N8).
        return "broke_down"
    if verdict.payload["cause"] in ("early_launch", "breakdown") and "readers_dead" in outcome:
        # Either no reader saw the ball back in its pocket, so "tout va" was refused (rulebook 3). Or no reader saw it
        # at rest, and people launched again when they should have named the number (N8).
        return "asked"
    if verdict.payload["cause"] == "chef" and "readers_dead" in outcome:
        return "chef_voided"  # no reader saw the ball, so the daemon knew no number
    return "void_after_number" if evidence_us > outcome["out_t"] + EVIDENCE_SLACK_US else "false_void"
