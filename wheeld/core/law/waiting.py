"""What waits for the answer to an open question, so that the law takes all that happens in the order in which it
happened.

A clause names a question, the states in which its answer matters, and what waits there: words of people and facts of
sensors that are dated after the question began. Words keep their order: one that is said while another waits, waits
behind it. A command also waits for what it needs, where that may come by itself (`needs`). Everything else is taken at
once. "Rien ne va plus" waits for no question: bets close as it is said, and it
means the same before a launch and after.

A word of which nobody knows when it was said is between two moments. In a coup it counts from the earliest, against a
number; elsewhere from the latest, after a launch: in doubt the coup is void (docs/rulebook.md 7).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from wheeld.core.facts import Fact, State
from wheeld.core.law.guards import Known
from wheeld.core.law.people import fact_of
from wheeld.core.law.rows import COUP, NO_COUP, RUNNING
from wheeld.core.law.table import in_the_way, row_for
from wheeld.core.observations import Command, CommandName
from wheeld.core.tracking.evidence import Evidence, Question, Topic
from wheeld.core.waitlist import Happening, Wait, Waitlist

F, S = Fact, State

NUMBERS = frozenset({F.NUMBER, F.NUMBER_UNPROVEN, F.NUMBER_UNCONFIRMED})
AT_ONCE: frozenset[CommandName] = frozenset({"suspend", "close"})
"""They end the wait of a word for what it needs: the direction may stop play at any moment (A6)."""


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
        frozenset({F.OBJECT_IN, F.OBJECT_OUT, F.OBJECT_UNKNOWN}),
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
                F.OBJECT_UNKNOWN,
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
        Topic.SAID,
        COUP,
        frozenset(),
        NUMBERS,
        "what the chef said before the number voids the coup, also where the network delays it (N7)",
    ),
)

AT_HAND = frozenset({*COUP, S.BETS_CLOSED_EARLY})
"""Here a "rien va" has its coup."""


def questions(known: Known, waitlist: Waitlist) -> Iterator[Question]:
    """The questions that are open at this table now."""
    yield from known.observer.questions(known.now_us)
    if waitlist.unheard is not None:
        yield from _unheard(*waitlist.unheard, waitlist)


def _unheard(since_us: int, until_us: int, waitlist: Waitlist) -> Iterator[Question]:
    """Words may be on their way. While a number waits for them it is not out: what happened after it waits, as before
    its proof."""
    yield Question(Topic.SAID, since_us, until_us)
    for one in waitlist.waiting:
        if isinstance(one, Evidence) and one.fact in NUMBERS:
            yield Question(Topic.REST, one.evidence_us, until_us)


def wait_of(
    happening: Happening, open_questions: Iterable[Question], known: Known, said: frozenset[CommandName]
) -> Wait:
    """From when this counts at this table, and until when it waits there: until the sensors have reported up to then,
    no open question could change its meaning, and it waits for nothing that it needs. `said`: the words that wait."""
    state = known.table_state.state
    if isinstance(happening, Evidence):
        counts_us = happening.evidence_us
    else:
        counts_us = happening.t_us if state in AT_HAND else happening.latest_us
    ends_us = [
        question.ends_us(counts_us)
        for question in open_questions
        if question.since_us <= counts_us and _is_held(happening, question.topic, state)
    ]
    if isinstance(happening, Command) and not said & AT_ONCE:
        asked = known._replace(command=happening)
        need = in_the_way(row_for(fact_of(happening), asked), asked)
        ends_us += [counts_us + need.wait_us] if need is not None and need.wait_us else []
    return Wait(counts_us, max([counts_us - 1, *ends_us]))


def _is_held(happening: Happening, topic: Topic, state: State) -> bool:
    return any(
        (happening.fact in hold.facts if isinstance(happening, Evidence) else happening.name in hold.words)
        for hold in HOLDS
        if hold.topic is topic and state in hold.states
    )
