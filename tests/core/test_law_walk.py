"""The table of the law against docs/rulebook.md's second statement: every short history, and every pair both can reach.

The table has no memory but its state; what a suspension hides, and la dernière, are the table's: a few lines here. Each
word of a person is said with all that it needs, and without each of its needs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import TypeAlias

import msgspec
import pytest

from tests.core.known_wheel import COMMANDS
from tests.core.rulebook_model import FREE, RESULT, Game, Happening, Said, Verdict, Way
from wheeld.core.facts import Cause, Fact, State
from wheeld.core.law import table as law
from wheeld.core.law.needs import AHEAD, CHEF_AWAITED, LAST_PLAYED, NEEDS, SO_ALREADY, TIME_NOT_OVER, TOUT_VA_OWED
from wheeld.core.law.rows import COUP, Act, Goto, Row, When

Rule: TypeAlias = Callable[[State, Fact, Collection[When]], Row]
REFUSING = tuple(need for need in NEEDS if need.text)
OF_BOULER = {"so_already": SO_ALREADY, "ahead": AHEAD, "time_not_over": TIME_NOT_OVER}
"""Neither side remembers who spins."""
BOULER: tuple[Happening, ...] = tuple(Said(Fact.BOULER, how) for how in OF_BOULER)
HAPPENINGS: tuple[Happening, ...] = (
    *Fact,
    *BOULER,
    *(Said(fact, need.name) for fact, need in product(Fact, REFUSING) if fact in COMMANDS),
)
"""Everything that can happen: what no command needs is lacking, too."""
NEEDED: tuple[Happening, ...] = (
    *Fact,
    *BOULER,
    *{Said(fact, need.name): None for (_, fact), rows in law.LAW.items() for row in rows for need in row.needs
      if need in REFUSING and fact in COMMANDS},
)  # fmt: skip
DEPTH = 3
"""Histories applied one by one, of `NEEDED`. Longer ones the pairs cover."""


def fact_of(happening: Happening) -> Fact:
    return happening.fact if isinstance(happening, Said) else happening


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

    def held(self, happening: Happening) -> tuple[When, ...]:
        """Which conditions hold: each side remembers by itself what they ask."""
        fact, is_announced = fact_of(happening), self.last_coup or self.closing
        held = {
            CHEF_AWAITED: self.called,
            TOUT_VA_OWED: self.owed,
            LAST_PLAYED: self.closing,
            SO_ALREADY: {Fact.LAST_COUP: is_announced, Fact.LAST_COUP_OFF: not is_announced}.get(fact, False),
        }
        of_bouler = [OF_BOULER[happening.how]] if isinstance(happening, Said) and happening in BOULER else []
        return (*of_bouler, *(when for when, holds in held.items() if holds))

    def apply(self, happening: Happening, rule: Rule) -> tuple[Bench, Seen]:
        row = rule(self.state, fact_of(happening), self.held(happening))
        lacks = happening.how if isinstance(happening, Said) else ""
        if any(need.name == lacks and need.text for need in row.needs):
            return self, Seen(None, begins=False, refused=True, notice=False, after=self)
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


def agreed(pair: Pair, fact: Happening, rule: Rule, history: tuple[Happening, ...] = ()) -> Pair:
    """The pair after the same happening for both. AssertionError if the rulebook does not allow what came of it."""
    bench, game = pair
    after, seen = bench.apply(fact, rule)
    ways = game.ways(fact)
    fitting = [way.game for way in ways if seen.fits(way)]
    step = f"{fact.name} after {[before.name for before in history]}"
    assert fitting, f"{step}\n  table:    {seen}\n  rulebook: {' or '.join(map(str, ways))}"
    return after, fitting[0]


def walk(rule: Rule = law.rule, happenings: tuple[Happening, ...] = HAPPENINGS) -> dict[Pair, tuple[Happening, ...]]:
    """Every pair that both can reach together, with a shortest history to it. AssertionError where they differ."""
    histories: dict[Pair, tuple[Happening, ...]] = {START: ()}
    queue = deque([START])
    while queue:
        pair = queue.popleft()
        for happening in happenings:
            after = agreed(pair, happening, rule, histories[pair])
            if after not in histories:
                histories[after] = (*histories[pair], happening)
                queue.append(after)
    return histories


@cache
def reached() -> dict[Pair, tuple[Happening, ...]]:
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
        for happening in NEEDED:
            after = agreed(pair, happening, law.rule)
            applied += 1
            if left > 1:
                go_on(after, left - 1)

    go_on(START, DEPTH)
    assert applied > 50_000


def test_whatever_is_left_free_is_met_and_nothing_else_is() -> None:
    open_to = {reason for _, _, reason in _freedoms()}
    assert open_to == set(FREE)


def test_every_row_is_looked_up() -> None:
    assert {(state, fact, row.when) for (state, fact), rows in law.LAW.items() for row in rows} == met()


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
        (bench.state, fact_of(happening), way.silence)
        for bench, game in reached()
        for happening in HAPPENINGS
        for way in game.ways(happening)
        if way.silence is not None
    }


@cache
def met() -> set[tuple[State, Fact, When | None]]:
    """The rows that the walk looks up."""
    looked_up = set()

    def rule(state: State, fact: Fact, held: Collection[When]) -> Row:
        row = law.rule(state, fact, held)
        looked_up.add((state, fact, row.when))
        return row

    walk(rule)
    return looked_up


PASSING_MAX = 7
"""Of about 760 wrong tables a state: the other choice at each of its silences, and no more."""
UNSEEN_ACTS = {
    Act.CLOSE_BETS, Act.AWAIT, Act.NOTICE, Act.NOTE_BOULER, Act.DISOWN, Act.USE_SENSORS, Act.AWAIT_LAUNCH,
    Act.BEGIN_PLAY, Act.DOUBT, Act.OVERTAKE, Act.LOSE_PLACE, Act.AT_HOME, Act.ASTRAY, Act.RULE,
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


def _noticed(state: State, fact: Fact, right: Row, wrong: Row) -> bool:
    def rule(at: State, seen: Fact, held: Collection[When]) -> Row:
        row = law.rule(at, seen, held)
        return wrong if (at, seen) == (state, fact) and row is right else row

    try:
        for bench, game in reached():
            if bench.state is state:
                for happening in HAPPENINGS:
                    if fact_of(happening) is fact:
                        agreed((bench, game), happening, rule)
        walk(rule, NEEDED)
    except AssertionError:
        return True
    return False


def _same(state: State, row: Row, wrong: Row) -> bool:
    """Whether both do the same: to stay, and to go where one is, are one thing; and back from nowhere is no move."""
    is_move_same = {row.next, wrong.next} in ({row.next}, {Goto.STAY, state}, {Goto.STAY, Goto.RETURN})
    acts = [set(each.acts) - UNSEEN_ACTS for each in (row, wrong)]
    needs = [() if each.refuse else each.needs for each in (row, wrong)]
    same = row.void == wrong.void and row.refuse == wrong.refuse
    return is_move_same and same and acts[0] == acts[1] and needs[0] == needs[1]


@pytest.mark.parametrize("state", State, ids=lambda state: state.value)
def test_no_row_can_be_wrong_unnoticed(state: State) -> None:
    """Each of its rows made wrong in every way, one at a time; only where the rulebook is silent may one pass."""
    passing = [
        (state, fact)
        for fact in Fact
        for row in law.LAW[state, fact]
        if (state, fact, row.when) in met()
        for wrong in _mutants(row)
        if not _same(state, row, wrong) and not _noticed(state, fact, row, wrong)
    ]
    assert set(passing) <= {(state, fact) for state, fact, _ in _freedoms()}
    assert len(passing) <= PASSING_MAX


def _otherwise_needed(row: Row) -> Iterator[Row]:
    """Every table where this row needs one thing less or more, or holds without its condition."""
    if not row.refuse and row.when not in OF_BOULER.values():
        for need in REFUSING:
            others = tuple(each for each in row.needs if each.name != need.name)
            yield msgspec.structs.replace(row, needs=others if len(others) < len(row.needs) else (*others, need))


@pytest.mark.parametrize("state", State, ids=lambda state: state.value)
def test_no_need_and_no_condition_can_be_wrong_unnoticed(state: State) -> None:
    """Each need of a word left out, each other one added, and each row that has a condition put out of force."""
    for fact in COMMANDS:
        for row in law.LAW[state, fact]:
            for wrong in (*_otherwise_needed(row), law.LAW[state, fact][-1]):
                is_free = any((at, seen) == (state, fact) for at, seen, _ in _freedoms())
                noticed = _same(state, row, wrong) or is_free or _noticed(state, fact, row, wrong)
                assert noticed, (fact, row.when, [need.name for need in wrong.needs])
