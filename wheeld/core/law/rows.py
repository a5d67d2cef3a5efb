"""What the clauses of the law are made of: rows, the few kinds of clause, and the groups of states that they name."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, unique
from typing import TypeAlias

import msgspec

from wheeld.core.facts import Cause, Fact, State


@unique
class Goto(Enum):
    """Where a row goes when it names no state."""

    STAY = "stay"
    RETURN = "return"


STAY, RETURN = Goto.STAY, Goto.RETURN


@unique
class Act(Enum):
    """What a row does besides moving the table; the adjudicator does each in one place."""

    BEGIN = "begin a coup"
    RESULT = "publish the result"
    AWAIT = "keep the number for the chef"
    DOUBT = "which number awaits the chef is in doubt"
    CONFIRM = "publish the result by the chef's word"
    DISOWN = "let the run belong to no coup to come"
    LOSE_PLACE = "where the pockets stand is in doubt"
    OVERTAKE = "what is seen from now on is not of the number that awaits the chef"
    CLOSE_BETS = "note that bets closed"
    AWAIT_LAUNCH = "await the launch for a minute"
    NOTE_LAST = "note la dernière"
    FORGET_LAST = "la dernière is taken back"
    TOUT_VA = "the void is over"
    BEGIN_PLAY = "the bouler's time runs"
    END_PLAY = "la dernière is over, the bouler's time stands still"
    NOTE_BOULER = "note the bouler"
    USE_SENSORS = "leave out the sensors that are named, use again those that work again"
    NOTICE = "publish a notice"


class Row(msgspec.Struct, frozen=True):
    """What one fact does in one state: `rules` of docs/rulebook.md that it rests on (a digit is a section), and why in
    plain words. `refuse` answers a command that must not pass."""

    next: State | Goto
    rules: tuple[str, ...]
    text: str
    void: Cause | None = None
    acts: tuple[Act, ...] = ()
    notice: str | None = None
    refuse: bool = False


S = State
ON_TRACK = (S.BALL_RUNNING, S.RIEN_NE_VA_PLUS)
"""A coup runs, and its ball is not known to rest on an obstacle."""
RUNNING = (*ON_TRACK, S.BALL_ON_OBSTACLE)
COUP = (*RUNNING, S.AWAITING_CHEF)
"""A coup is at hand, without its verdict yet."""
BEFORE_LAUNCH = (S.FAITES_VOS_JEUX, S.BETS_CLOSED_EARLY)
AFTER_VOID = (S.RIEN_VA, S.RIEN_VA_OPERATIONS_OWED)
"""A coup was void, and "tout va" is owed."""
OPEN_IDLE = (*BEFORE_LAUNCH, S.OPERATIONS, *AFTER_VOID)
"""The table is open, and no coup runs."""
IDLE = (S.CLOSED, *OPEN_IDLE)
EVERY = tuple(State)


def all_but(*states: State) -> tuple[State, ...]:
    """Every other state."""
    return tuple(state for state in State if state not in states)


NO_COUP = all_but(*COUP)
ELSEWHERE: tuple[State, ...] = ()
"""In a clause: in every state in which another clause says nothing of the fact. One for each fact that is of no
consequence in most states."""


class Clause(msgspec.Struct, frozen=True):
    """The same row for several facts in several states; `ELSEWHERE`: in every state that has no row of its own."""

    facts: tuple[Fact, ...]
    states: tuple[State, ...]
    row: Row


Facts: TypeAlias = Fact | tuple[Fact, ...]
States: TypeAlias = State | Iterable[State]

# In the functions below `rules` names rules of docs/rulebook.md, separated by spaces. A digit is a section of it.


def on(
    facts: Facts, states: States, to: State | Goto, rules: str, text: str, *acts: Act, kind: str | None = None
) -> Clause:
    """The table goes somewhere, or does something; `kind` of the notice that an act publishes."""
    return _clause(facts, states, Row(to, tuple(rules.split()), text, acts=acts, notice=kind))


def void(facts: Facts, states: States, to: State, cause: Cause, text: str, *acts: Act, rules: str = "") -> Clause:
    """The coup is void, by the rule of its cause; `rules` are others that it rests on."""
    return _clause(facts, states, Row(to, (cause.rule, *rules.split()), text, void=cause, acts=acts))


def notice(facts: Facts, states: States, kind: str, rules: str, text: str, *acts: Act) -> Clause:
    """A notice is published, and the table stays where it is."""
    row = Row(STAY, tuple(rules.split()), text, acts=(*acts, Act.NOTICE), notice=kind)
    return _clause(facts, states, row)


def refuse(facts: Facts, states: States, rules: str, text: str) -> Clause:
    """A command that must not pass."""
    return _clause(facts, states, Row(STAY, tuple(rules.split()), text, refuse=True))


def ignore(facts: Facts, states: States, rules: str, text: str) -> Clause:
    """Nothing follows."""
    return _clause(facts, states, Row(STAY, tuple(rules.split()), text))


def _clause(facts: Facts, states: States, row: Row) -> Clause:
    return Clause(
        (facts,) if isinstance(facts, Fact) else facts,
        (states,) if isinstance(states, State) else tuple(states),
        row,
    )
