"""The table of the law against docs/rulebook.md's second statement: every short history, and every pair both can reach.

The table has no memory but its state; what a suspension hides, and la dernière, are the table's: a few lines here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeAlias

import msgspec
import pytest

from tests.core.rulebook_model import FREE, RESULT, Game, Verdict, Way
from wheeld.core.facts import Cause, Fact, State
from wheeld.core.law import table as law
from wheeld.core.law.rows import AFTER_VOID, COUP, RUNNING, Act, Goto, Row

Rule: TypeAlias = Callable[[State, Fact], Row]
LAST = {Fact.TOUT_VA: Fact.TOUT_VA_LAST, Fact.OPERATIONS_DONE: Fact.OPERATIONS_DONE_LAST}
AWAITED = {Fact.OPEN: Fact.OPEN_AWAITED, Fact.RESUME: Fact.RESUME_AWAITED}
GUARDED = {**LAST, Fact.OPEN: Fact.OPEN_OWED}
"""What la dernière, "tout va" that is owed, or a number that awaits the chef, makes of a fact: each side remembers
those by itself."""
COMMON_FACTS = tuple(fact for fact in Fact if fact not in {*GUARDED.values(), *AWAITED.values()})
DEPTH = 3
"""Histories applied fact by fact: 61,000 steps, half a second. Longer ones the pairs cover."""


@dataclass(frozen=True, slots=True)
class Bench:
    """The table of the law, and what the table's state adds to it."""

    state: State = State.CLOSED
    hidden: State | None = None
    last_coup: bool = False
    spared: bool = False
    closing: bool = False
    owed: bool = False
    running: bool = False
    called: bool = False

    def guarded(self, fact: Fact) -> Fact:
        """What the guards make of it."""
        match fact:
            case Fact.LAST_COUP if self.last_coup or self.closing:
                return Fact.UNCHANGED
            case Fact.LAST_COUP_OFF if not self.last_coup and not self.closing:
                return Fact.UNCHANGED
            case Fact.OPEN | Fact.RESUME if self.called:
                return AWAITED[fact]
            case Fact.OPEN if self.owed:
                return Fact.OPEN_OWED
        return LAST.get(fact, fact) if self.closing else fact

    def apply(self, fact: Fact, rule: Rule) -> tuple[Bench, Seen]:
        row = rule(self.state, self.guarded(fact))
        is_result = Act.RESULT in row.acts or Act.CONFIRM in row.acts
        verdict: Verdict = RESULT if is_result else row.void
        assert row.void is None or not is_result, "two verdicts"
        begins = Act.BEGIN in row.acts and not self.running
        running = (self.running or begins) and verdict is None
        owed = (self.owed or row.void is not None) and Act.TOUT_VA not in row.acts
        called = (self.called or Act.AWAIT in row.acts) and verdict is None
        after = replace(self._moved(row), running=running, owed=owed, spared=self.spared and running, called=called)
        return self._note_last(after, row), Seen(verdict, begins, row.refuse, Act.NOTICE in row.acts, after)

    def _moved(self, row: Row) -> Bench:
        to = self.hidden if row.next is Goto.RETURN else self.state if row.next is Goto.STAY else row.next
        assert isinstance(to, State)
        if to is State.SUSPENDED and row.void is not None:
            owed = {self.state, self.hidden} & {State.OPERATIONS, State.RIEN_VA_OPERATIONS_OWED}
            return replace(self, state=to, hidden=State.RIEN_VA_OPERATIONS_OWED if owed else State.RIEN_VA)
        if to is State.SUSPENDED and self.hidden is None:
            return replace(self, state=to, hidden=self.state)
        return replace(self, state=to, hidden=self.hidden if to is State.SUSPENDED else None)

    def _note_last(self, after: Bench, row: Row) -> Bench:
        if {Act.FORGET_LAST, Act.END_PLAY} & {*row.acts}:
            return replace(after, last_coup=False, spared=False, closing=False)
        if {Act.RESULT, Act.CONFIRM} & {*row.acts} and self.last_coup and not self.spared:
            return replace(after, last_coup=False, closing=True)
        return replace(after, last_coup=True, spared=self.running) if Act.NOTE_LAST in row.acts else after

    @property
    def bets(self) -> str:
        if self.state in (State.FAITES_VOS_JEUX, State.BALL_RUNNING):
            return "open"
        return "locked" if self.state is State.BALL_ON_OBSTACLE else "closed"


@dataclass(frozen=True, slots=True)
class Seen:
    """What one fact led to, as the world sees it."""

    verdict: Verdict
    begins: bool
    refused: bool
    notice: bool
    after: Bench

    def fits(self, way: Way) -> bool:
        mine = (self.verdict, self.begins, self.refused, self.after.state.wire_name, self.after.bets)
        return mine == way.seen and self.notice >= way.notice


Pair: TypeAlias = tuple[Bench, Game]
START: Pair = (Bench(), Game())


def agreed(pair: Pair, fact: Fact, rule: Rule, history: tuple[Fact, ...] = ()) -> Pair:
    """The pair after the same fact for both. AssertionError if the rulebook does not allow what happened."""
    bench, game = pair
    after, seen = bench.apply(fact, rule)
    ways = game.ways(fact)
    fitting = [way.game for way in ways if seen.fits(way)]
    step = f"{fact.name} after {[before.name for before in history]}"
    assert fitting, f"{step}\n  table:    {seen}\n  rulebook: {' or '.join(map(str, ways))}"
    return after, fitting[0]


def walk(rule: Rule = law.rule) -> dict[Pair, tuple[Fact, ...]]:
    """Every pair that both can reach together, with a shortest history to it. AssertionError where they differ."""
    histories: dict[Pair, tuple[Fact, ...]] = {START: ()}
    queue = deque([START])
    while queue:
        pair = queue.popleft()
        for fact in COMMON_FACTS:
            after = agreed(pair, fact, rule, histories[pair])
            if after not in histories:
                histories[after] = (*histories[pair], fact)
                queue.append(after)
    return histories


@cache
def reached() -> dict[Pair, tuple[Fact, ...]]:
    """The walk of the table as it is."""
    return walk()


def test_both_agree_wherever_they_can_come_together() -> None:
    """A pair is all that either remembers, so this holds for histories of any length."""
    assert {bench.state for bench, _ in reached()} == set(State)
    last = {(bench.last_coup, bench.spared, bench.closing) for bench, _ in reached()}
    assert last == {(False, False, False), (True, False, False), (True, True, False), (False, False, True)}
    assert {bench.owed for bench, _ in reached()} == {True, False}


def test_both_agree_in_every_short_history() -> None:
    """The same without trusting the pairs: each history from a closed table, fact by fact."""
    applied = 0

    def go_on(pair: Pair, left: int) -> None:
        nonlocal applied
        for fact in COMMON_FACTS:
            after = agreed(pair, fact, law.rule)
            applied += 1
            if left > 1:
                go_on(after, left - 1)

    go_on(START, DEPTH)
    assert applied > 50_000


def test_whatever_is_left_free_is_met_and_nothing_else_is() -> None:
    open_to = {reason for _, _, reason in _freedoms()}
    assert open_to == set(FREE)


def test_every_row_is_looked_up_but_those_of_what_is_over() -> None:
    """Once la dernière was played the table goes on to operations, to "rien va" and closed, and to no new game. "Tout
    va" is owed after a void, and in no new game. A number awaits the chef in its state, or while play is stopped."""
    new_game = (State.FAITES_VOS_JEUX, State.BETS_CLOSED_EARLY, *RUNNING, State.AWAITING_CHEF)
    over = {(state, fact) for state in (State.CLOSED, *new_game) for fact in LAST.values()}
    over |= {(state, Fact.OPEN_OWED) for state in (*new_game, State.OPERATIONS)}
    over |= {(state, Fact.OPEN) for state in AFTER_VOID}
    awaits = (State.AWAITING_CHEF, State.CLOSED, State.SUSPENDED)
    over |= {(state, fact) for state in State if state not in awaits for fact in AWAITED.values()}
    over |= {(State.AWAITING_CHEF, fact) for fact in AWAITED}
    assert {(state, fact) for state in State for fact in Fact} - met() == over


def test_a_null_coup_never_becomes_a_result() -> None:
    """§2, walked: from a void to a result there is always a new coup between."""
    for bench, game in reached():
        after, seen = bench.apply(Fact.NUMBER, law.rule)
        assert (seen.verdict == RESULT) == (bench.state in COUP) == game.running, after


# --- The walk notices a table that is wrong ---------------------------------------------------------------------------


@cache
def _freedoms() -> set[tuple[State, Fact, str]]:
    """Where, and by which silence, the rulebook lets the table decide."""
    return {
        (bench.state, fact, way.silence)
        for bench, game in reached()
        for fact in COMMON_FACTS
        for way in game.ways(fact)
        if way.silence is not None
    }


def _common(fact: Fact) -> Fact:
    return next((plain for plain, guarded in (*GUARDED.items(), *AWAITED.items()) if guarded is fact), fact)


@cache
def met() -> set[tuple[State, Fact]]:
    """The rows that the walk looks up."""
    looked_up = set()

    def rule(state: State, fact: Fact) -> Row:
        looked_up.add((state, fact))
        return law.rule(state, fact)

    walk(rule)
    return looked_up


PASSING_MAX = 7
"""Of about 760 wrong tables a state: the other choice at each of its silences, and no more."""
UNSEEN_ACTS = {
    Act.CLOSE_BETS, Act.AWAIT, Act.NOTICE, Act.NOTE_BOULER, Act.DISOWN, Act.USE_SENSORS, Act.AWAIT_LAUNCH,
    Act.BEGIN_PLAY, Act.DOUBT, Act.OVERTAKE, Act.LOSE_PLACE,
}  # fmt: skip
"""What these do is no part of state, bets or verdict; the façade's own tests hold them."""


def _mutants(row: Row) -> Iterator[Row]:
    """Every table with this one row wrong: elsewhere, not void, void for another cause, an act left out, refused."""
    yield from (msgspec.structs.replace(row, next=to) for to in (*State, Goto.STAY) if to is not row.next)
    yield from (msgspec.structs.replace(row, void=cause) for cause in (None, *Cause) if cause is not row.void)
    yield from (
        msgspec.structs.replace(row, acts=tuple(act for act in row.acts if act is not left_out))
        for left_out in set(row.acts) - UNSEEN_ACTS
    )
    yield msgspec.structs.replace(row, refuse=not row.refuse)


def _noticed(state: State, fact: Fact, wrong: Row) -> bool:
    def rule(at: State, seen: Fact) -> Row:
        return wrong if (at, seen) == (state, fact) else law.rule(at, seen)

    try:
        for bench, game in reached():
            if bench.state is state:
                agreed((bench, game), _common(fact), rule)
        walk(rule)
    except AssertionError:
        return True
    return False


def _same_move(state: State, row: Row, wrong: Row) -> bool:
    """To stay, and to go where one is, are one thing; and back from nowhere is no move."""
    return {row.next, wrong.next} in ({Goto.STAY, state}, {Goto.STAY, Goto.RETURN}) and row.void == wrong.void


@pytest.mark.parametrize("state", State, ids=lambda state: state.value)
def test_no_row_can_be_wrong_unnoticed(state: State) -> None:
    """Each of its rows made wrong in every way, one at a time; only where the rulebook is silent may one pass."""
    passing = [
        (state, fact)
        for fact in Fact
        if (state, fact) in met()
        for wrong in _mutants(law.rule(state, fact))
        if not _same_move(state, law.rule(state, fact), wrong) and not _noticed(state, fact, wrong)
    ]
    assert set(passing) <= {(state, fact) for state, fact, _ in _freedoms()}
    assert len(passing) <= PASSING_MAX
