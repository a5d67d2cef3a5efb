"""What waits for the answer to an open question, so that the law takes all that happens in the order in which it
happened.

A clause names a question, the states in which its answer matters, and what waits there: words of people and facts of
sensors that are dated after the question began. Words keep their order: one that is said while another waits, waits
behind it. A command also waits for what it needs, where that may come by itself (`needs`). Everything else is taken at
once. "Rien ne va plus" waits for no question: bets close as it is said, and it
means the same before a launch and after.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from wheeld.core.facts import Fact, State
from wheeld.core.law.guards import Known
from wheeld.core.law.people import fact_of
from wheeld.core.law.rows import COUP, NO_COUP, RUNNING, all_but
from wheeld.core.law.table import in_the_way, row_for
from wheeld.core.observations import Command, CommandName
from wheeld.core.tracking.questions import Question, Topic
from wheeld.core.waitlist import Happening, Waitlist

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
        Topic.UNHEARD,
        COUP,
        frozenset(),
        NUMBERS,
        "what the chef said before the number voids the coup, also where the network delays it (N7)",
    ),
    Hold(
        Topic.MOMENT,
        all_but(*COUP, S.BETS_CLOSED_EARLY),
        frozenset({"rien_va"}),
        why="said at some moment of a standstill, it voids also a coup that is launched before the end of it "
        "(rulebook 7)",
    ),
)

LAUNCH_TOPICS = (Topic.LAUNCH, Topic.UNREPORTED)
"""Was there a coup when it was said? A word in doubt counts as said at its latest moment there, and as said at its
earliest where the question is whether the number was out: in doubt the coup is void (docs/rulebook.md 7)."""


def questions(known: Known, waitlist: Waitlist) -> Iterator[Question]:
    """The questions that are open at this table now."""
    of_sensors = list(known.observer.questions(known.now_us))
    yield from of_sensors
    yield from _numbers(of_sensors, waitlist)


def _numbers(open_questions: Iterable[Question], waitlist: Waitlist) -> Iterator[Question]:
    """While a number waits for words it is not out: what happened after it waits, as before its proof."""
    unheard = next((question for question in open_questions if question.topic is Topic.UNHEARD), None)
    if unheard is not None:
        for one in waitlist.waiting:
            if one.evidence is not None and one.evidence.fact in NUMBERS:
                yield Question(Topic.REST, one.t_us, unheard.until_us)


def held_until_us(
    happening: Happening, open_questions: Iterable[Question], known: Known, said: frozenset[CommandName]
) -> int | None:
    """Until when this waits at this table; None when nothing that is open could change its meaning, and it waits for
    nothing that it needs. `said`: the words that wait."""
    state = known.table_state.state
    ends = [
        question.ends_us(t_us)
        for question in (*open_questions, *_doubts(happening))
        if question.since_us <= (t_us := _counts_from_us(happening, question.topic))
        and _is_held(happening, question.topic, state)
    ]
    if happening.command is not None and not said & AT_ONCE:
        asked = known._replace(command=happening.command)
        need = in_the_way(row_for(fact_of(happening.command), asked), asked)
        ends += [happening.t_us + need.wait_us] if need is not None and need.wait_us else []
    return max(ends, default=None)


def _doubts(happening: Happening) -> Iterator[Question]:
    """The question that a word brings with it when nobody knows at which moment it was said."""
    if happening.latest_us > happening.t_us:
        yield Question(Topic.MOMENT, happening.t_us, happening.latest_us)


def _counts_from_us(happening: Happening, topic: Topic) -> int:
    return happening.latest_us if topic in LAUNCH_TOPICS else happening.t_us


def _is_held(happening: Happening, topic: Topic, state: State) -> bool:
    what = happening.what
    return any(
        (what.name in hold.words if isinstance(what, Command) else what.fact in hold.facts)
        for hold in HOLDS
        if hold.topic is topic and state in hold.states
    )
