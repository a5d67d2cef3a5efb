"""What waits for the answer to an open question, so that the law takes all that happens in the order in which it
happened.

A clause names a question, the states in which its answer matters, and what waits there: words of people and facts of
sensors that are dated after the question began. Words keep their order: one that is said while another waits, waits
behind it. Everything else is taken at once. "Rien ne va plus" waits for no question: bets close as it is said, and it
means the same before a launch and after.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple

from wheeld.core.facts import Fact, State
from wheeld.core.law.guards import Known, is_in_place, is_seen_elsewhere
from wheeld.core.law.rows import AFTER_VOID, NO_COUP, RUNNING
from wheeld.core.observations import Command, CommandName
from wheeld.core.tracking.questions import Question, Topic
from wheeld.core.waitlist import Happening

F, S = Fact, State

PLACE_WAIT_US = 10_000_000
"""For so long "tout va" waits for readers to see the ball (docs/rulebook.md 6). One reader has met it twice by then at
12 turns a minute. With a slower rotor the chef says it again."""


AT_ONCE: frozenset[CommandName] = frozenset({"suspend", "close"})
"""They end the wait of a "tout va" for its ball: the direction may stop play at any moment (A6)."""


class Hold(NamedTuple):
    """In `states` these words and facts wait for the answer, if they are dated after the question began."""

    topic: Topic
    states: tuple[State, ...]
    words: frozenset[CommandName]
    facts: frozenset[Fact] = frozenset()
    why: str = ""


HOLDS = (
    Hold(
        Topic.LAUNCH,
        NO_COUP,
        frozenset({"open", "operations_done", "tout_va", "resume", "suspend", "close", "last_coup"}),
        frozenset({F.OBJECT_IN, F.OBJECT_OUT}),
        "a launch means what it meant when it was made; over an object it is void",
    ),
    Hold(
        Topic.LAUNCH, (S.FAITES_VOS_JEUX,), frozenset({"rien_va"}), why="without a launch there is no coup to void (N7)"
    ),
    Hold(
        Topic.UNREPORTED,
        (S.FAITES_VOS_JEUX,),
        frozenset({"rien_va"}),
        why="the ball may run already, and its head reports it later (N7)",
    ),
    Hold(
        Topic.REST,
        RUNNING,
        frozenset({"open", "operations_done", "rien_va", "confirm", "tout_va", "close", "suspend", "resume"}),
        frozenset(
            {
                F.ROTOR_STOPPED_RUNNING,
                F.ROTOR_STOPPED_BEFORE_DROP,
                F.ROTOR_STOPPED_IN_FALL,
                F.ROTOR_WRONG_WAY,
                F.OBJECT_IN,
                F.OBJECT_OUT,
                F.SENSOR_FAULT,
                F.LAUNCHED,
                F.WEAK_LAUNCH,
            }
        ),
        "once the number is out it voids nothing (R3)",
    ),
    Hold(
        Topic.PLACE,
        AFTER_VOID,
        frozenset({"tout_va"}),
        why="the ball must be seen in the pocket of the last number (rulebook 3)",
    ),
)


def questions(known: Known, said: Container[CommandName]) -> Iterator[Question]:
    """The questions that are open at this table now; `said`: the words that wait."""
    yield from known.observer.questions(known.now_us)
    state = known.table_state
    is_known = state.object_present or is_in_place(known) or is_seen_elsewhere(known)
    if state.state in AFTER_VOID and not is_known and not any(word in said for word in AT_ONCE):
        yield Question(Topic.PLACE, -1, wait_us=PLACE_WAIT_US)


def held_until_us(happening: Happening, open_questions: Iterable[Question], state: State) -> int | None:
    """Until when this waits in `state`; None when nothing that is open could change its meaning."""
    ends = [
        question.ends_us(happening.t_us)
        for question in open_questions
        if question.since_us <= happening.t_us and _is_held(happening, question.topic, state)
    ]
    return max(ends, default=None)


def _is_held(happening: Happening, topic: Topic, state: State) -> bool:
    what = happening.what
    return any(
        (what.name in hold.words if isinstance(what, Command) else what.fact in hold.facts)
        for hold in HOLDS
        if hold.topic is topic and state in hold.states
    )
