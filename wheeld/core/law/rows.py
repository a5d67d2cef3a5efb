"""What the law is made of: rows with their conditions and needs, the kinds of clauses, and groups of states."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum, unique
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from wheeld.core.catalogue import Text
from wheeld.core.facts import Awaited, Cause, Fact, State

if TYPE_CHECKING:
    from wheeld.core.law.needs import Known


@unique
class Goto(Enum):
    """The target of a row that does not name the next state."""

    STAY = "stay"
    RETURN = "return"


STAY, RETURN = Goto.STAY, Goto.RETURN


@unique
class Act(Enum):
    """What a row does in addition to a move of the table. The adjudicator does each act in one place."""

    BEGIN = "begin a coup"
    RESULT = "publish the result"
    AWAIT = "keep the number for the chef"
    DOUBT = "which number awaits the chef is in doubt"
    CONFIRM = "publish the result by the chef's word"
    DISOWN = "let the run belong to no future coup"
    LOSE_PLACE = "the place of the pockets is in doubt"
    ASTRAY = "after a gap the ball lies elsewhere: the chef confirms each number"
    AT_HOME = "the ball is where it belongs; if readers saw a hand bring it there, the doubt ends"
    OVERTAKE = "what is seen from now on does not concern the number that awaits the chef"
    CLOSE_BETS = "note that bets are closed"
    AWAIT_LAUNCH = "await the launch for a minute"
    NOTE_LAST = "note la dernière"
    FORGET_LAST = "la dernière is taken back"
    TOUT_VA = "the void is over"
    BEGIN_PLAY = "the bouler's time runs"
    END_PLAY = "la dernière is over, the bouler's time stands still"
    NOTE_BOULER = "note the bouler"
    USE_SENSORS = "leave out the named sensors, and use those that work again"
    RULE = "publish the ruling"
    NOTICE = "publish a notice"


class When(msgspec.Struct, frozen=True):
    """A condition for a row of what people ask, in addition to the state. `text` comes after the fact's text."""

    name: str
    text: str
    holds: Callable[[Known], bool]

    def of(self, fact: Fact) -> str:
        """Return the text of the fact and, after it, of the condition."""
        return f"{fact.text}, {self.text}"


class Need(msgspec.Struct, frozen=True):
    """What must be so before a command is done, or what the table waits for before a launch.

    While the need is not met: the table waits for `code`, and a command is refused with these `rules`, this `text` and
    these `reasons`, after it has waited for `wait_us`. Without a text no command is refused. `word`: no sensor shows
    that the need is met, so the command is done on a person's word, and this text is published.
    """

    name: str
    is_met: Callable[[Known], bool]
    code: Awaited | None = None
    rules: str = ""
    text: str = ""
    reasons: Callable[[Known], tuple[Text, ...]] = lambda _: ()
    wait_us: int = 0
    word: str = ""


class Row(msgspec.Struct, frozen=True):
    """What one fact does in one state. `rules`: the rules of docs/rulebook.md that the row applies (a digit is a
    section). `text`: the reason. `refuse`: the command is refused. `when`: the row applies only if this condition
    holds. `needs`: the first unmet need refuses the command. If the row refuses, the need only adds its reasons."""

    next: State | Goto
    rules: tuple[str, ...]
    text: str
    void: Cause | None = None
    acts: tuple[Act, ...] = ()
    notice: str | None = None
    refuse: bool = False
    when: When | None = None
    needs: tuple[Need, ...] = ()


S = State
ON_TRACK = (S.BALL_RUNNING, S.RIEN_NE_VA_PLUS)
"""A coup runs, and nothing shows that its ball rests on an obstacle."""
RUNNING = (*ON_TRACK, S.BALL_ON_OBSTACLE)
COUP = (*RUNNING, S.AWAITING_CHEF)
"""A coup has begun, and it has no verdict yet."""
BEFORE_LAUNCH = (S.FAITES_VOS_JEUX, S.BETS_CLOSED_EARLY)
AFTER_VOID = (S.RIEN_VA, S.RIEN_VA_OPERATIONS_OWED)
"""A coup was void, and "tout va" is owed."""
OPEN_IDLE = (*BEFORE_LAUNCH, S.OPERATIONS, *AFTER_VOID)
"""The table is open, and no coup runs."""
IDLE = (S.CLOSED, *OPEN_IDLE)


def all_but(*states: State) -> tuple[State, ...]:
    """Return all states except these."""
    return tuple(state for state in State if state not in states)


NO_COUP = all_but(*COUP)
ELSEWHERE: tuple[State, ...] = ()
"""In a clause, this means every state in which no other clause names the fact."""


class Clause(msgspec.Struct, frozen=True):
    """One row for one or more facts in one or more states. `states` may be `ELSEWHERE`."""

    facts: tuple[Fact, ...]
    states: tuple[State, ...]
    row: Row

    def when(self, condition: When) -> Clause:
        """Return this clause with a condition. Another clause must give the row that applies if the condition fails."""
        return msgspec.structs.replace(self, row=msgspec.structs.replace(self.row, when=condition))

    def needing(self, *needs: Need) -> Clause:
        """Return this clause with these needs."""
        return msgspec.structs.replace(self, row=msgspec.structs.replace(self.row, needs=needs))


Facts: TypeAlias = Fact | tuple[Fact, ...]
States: TypeAlias = State | Iterable[State]

# In the functions below, `rules` names rules of docs/rulebook.md, separated by spaces. A digit alone is a section.


def on(
    facts: Facts, states: States, to: State | Goto, rules: str, text: str, *acts: Act, kind: str | None = None
) -> Clause:
    """Move the table to the state `to`, do the acts, or both. `kind`: the kind of the notice that an act publishes."""
    return _clause(facts, states, Row(to, tuple(rules.split()), text, acts=acts, notice=kind))


def void(
    facts: Facts, states: States, cause: Cause, text: str, *acts: Act, to: State = State.RIEN_VA, rules: str = ""
) -> Clause:
    """Make the coup void, by the rule of the cause. `rules`: other rules that also apply."""
    return _clause(facts, states, Row(to, (cause.rule, *rules.split()), text, void=cause, acts=acts))


def breakdown(facts: Facts, states: States, text: str, *acts: Act, rules: str = "") -> Clause:
    """Make the coup void because it was not observed fully (N8), and suspend play."""
    return void(facts, states, Cause.BREAKDOWN, text, *acts, to=State.SUSPENDED, rules=rules)


def notice(facts: Facts, states: States, kind: str, rules: str, text: str, *acts: Act) -> Clause:
    """Publish a notice. The table stays in its state."""
    row = Row(STAY, tuple(rules.split()), text, acts=(*acts, Act.NOTICE), notice=kind)
    return _clause(facts, states, row)


def refuse(facts: Facts, states: States, rules: str, text: str) -> Clause:
    """Refuse a command."""
    return _clause(facts, states, Row(STAY, tuple(rules.split()), text, refuse=True))


def ignore(facts: Facts, states: States, rules: str, text: str) -> Clause:
    """Do nothing."""
    return _clause(facts, states, Row(STAY, tuple(rules.split()), text))


def _clause(facts: Facts, states: States, row: Row) -> Clause:
    return Clause(
        (facts,) if isinstance(facts, Fact) else facts, (states,) if isinstance(states, State) else tuple(states), row
    )
