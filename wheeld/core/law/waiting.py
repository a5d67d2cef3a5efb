"""Decides when words of people count, and what waits for the answer to an open question. So the law takes everything in
the order in which it happened (docs/rulebook.md 7).

Sensors date what they see. The network, or a standstill of the machine, may delay a person's word. Then it is in doubt
when it was said, unless its sender gives the time. While a coup runs, such a word counts from the earliest moment at
which it may have been said: so it comes before a number. Otherwise it counts from the latest moment: so it comes after
a launch.

Each row of `HOLDS` below names a question, the states in which the answer matters, and the words of people and facts of
sensors that wait for it. They wait if they are dated after the question began. Words keep their order: a word that is
said while another word waits must wait until that word is taken. A command also waits for a need that may be met
without a person (`needs`). Everything else is taken at once. "Rien ne va plus" waits for no question: bets close when
it is said, and it means the same before a launch and after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple, TypeAlias

import msgspec

from wheeld.core.facts import Fact, State
from wheeld.core.law.needs import Known, in_the_way
from wheeld.core.law.people import fact_of
from wheeld.core.law.rows import COUP, NO_COUP, RUNNING
from wheeld.core.law.table import row_for
from wheeld.core.observations import Command, CommandName
from wheeld.core.tracking.evidence import Evidence, Question, Topic

ON_THEIR_WAY_US = 60_000_000
"""No word is on its way for longer than this. A lost connection is made again within half a minute, and the broker
keeps no word for longer. If a sender gives an earlier time, his clock is probably wrong."""


def when_said(name: str, since: int | None, came: int, said: int | None) -> tuple[int, int]:
    """Return the earliest and the latest moment at which a command counts as said. All times are µs of the same clock.
    `came`: when the command arrived. `since`: no word could be received from `since` to `came`; None if words could be
    received. `said`: when it was said, as its sender says; None if he gives no time.

    If words could be received, only "rien va" may count from before its arrival (N7). For any other word, a wrong clock
    could give a time before the event that the word answers.
    """
    is_rien_va = name == "rien_va"
    earliest = since if since is not None else came - ON_THEIR_WAY_US * is_rien_va
    if said is not None and earliest <= said <= came:
        return said, said
    return (earliest if is_rien_va and since is not None else came), came


WAITING_MAX = 256
"""The most words and facts that may wait. A question is open for some seconds, in which people and sensors never give
so many. If there are more, the oldest is decided without an answer, so that memory stays limited."""

Happening: TypeAlias = Evidence | Command
"""A fact that sensors proved, or a word of a person."""


class Wait(NamedTuple):
    """When a word or a fact counts as happened, and until when it waits."""

    counts_us: int
    until_us: int


WaitOf: TypeAlias = Callable[[Happening], Wait]
"""A function that returns the `Wait` of a happening in the present state of the table."""


class Waitlist(msgspec.Struct):
    """Gives out words and facts in the order of their time, each when it no longer waits. `unheard`: since when words
    of people may be on their way, and until when they can arrive. None: no word is on its way."""

    waiting: list[Happening] = []
    unheard: tuple[int, int] | None = None

    @property
    def said(self) -> frozenset[CommandName]:
        """Return the names of the commands that wait."""
        return frozenset(happening.name for happening in self.waiting if isinstance(happening, Command))

    def take(self, now_us: int, wait_of: WaitOf) -> Happening | None:
        """Take out and return the first item that does not have to wait. None if all must wait. Words keep their order:
        a word also waits while an earlier word waits."""
        is_behind = False
        for happening, wait in self._in_order(wait_of):
            is_word = isinstance(happening, Command)
            is_held = wait.until_us >= now_us or (is_behind and is_word)
            if not is_held or len(self.waiting) > WAITING_MAX:
                self.waiting.remove(happening)
                return happening
            is_behind |= is_word
        return None

    def due_us(self, now_us: int, wait_of: WaitOf) -> int | None:
        """Return the time at which the next wait ends. None if no wait ends later than `now_us`. A word whose own wait
        has ended may still wait behind an earlier word, and has no time here."""
        ends_us = (wait_of(happening).until_us for happening in self.waiting)
        return min((until_us + 1 for until_us in ends_us if until_us >= now_us), default=None)

    def _in_order(self, wait_of: WaitOf) -> Iterator[tuple[Happening, Wait]]:
        """Yield all items in the order of the time from which they count now. If two count from the same time, a fact
        comes before a word, and what arrived earlier comes first."""
        waits = [(happening, wait_of(happening)) for happening in self.waiting]
        yield from sorted(waits, key=lambda one: (one[1].counts_us, isinstance(one[0], Command)))


F, S = Fact, State

NUMBERS = frozenset({F.NUMBER, F.NUMBER_UNPROVEN, F.NUMBER_UNCONFIRMED})
AT_ONCE: frozenset[CommandName] = frozenset({"suspend", "close"})
"""While one of these words waits, other words do not wait for their needs: they would delay it, because words keep
their order, and the direction may stop play at any moment (A6)."""


class Hold(NamedTuple):
    """The words and facts that wait for an answer in these `states`, if they are dated after the question began."""

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
        "a launch means what it meant when it was made; with an object in the cylinder it is void",
    ),
    Hold(
        Topic.LAUNCH, (S.FAITES_VOS_JEUX,), frozenset({"rien_va"}), why="without a launch there is no coup to void (N7)"
    ),
    Hold(
        Topic.UNREPORTED,
        (S.FAITES_VOS_JEUX,),
        frozenset({"rien_va"}),
        why="the ball may run already, and the head may report it later (N7)",
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
        "after the number is out, what waits here voids nothing (R3)",
    ),
    Hold(
        Topic.SAID,
        COUP,
        frozenset(),
        NUMBERS,
        "what the chef said before the number voids the coup, even if the network delays his word (N7)",
    ),
)

AT_HAND = frozenset({*COUP, S.BETS_CLOSED_EARLY})
"""In these states there is a coup that "rien va" can make void."""


def waits(known: Known, waitlist: Waitlist) -> WaitOf:
    """Return the function that gives the `Wait` of a happening at this table now."""
    return partial(wait_of, open_questions=[*questions(known, waitlist)], known=known, said=waitlist.said)


def questions(known: Known, waitlist: Waitlist) -> Iterator[Question]:
    """Yield the questions that are open at this table now."""
    yield from known.observer.questions(known.now_us)
    if waitlist.unheard is not None:
        # Words may be on their way, and a proven number waits for them. As long as it waits, the question of the number
        # is still open, so what happened after the number waits too.
        since_us, until_us = waitlist.unheard
        yield Question(Topic.SAID, since_us, until_us)
        for one in waitlist.waiting:
            if isinstance(one, Evidence) and one.fact in NUMBERS:
                yield Question(Topic.REST, one.evidence_us, until_us)


def wait_of(
    happening: Happening, open_questions: Iterable[Question], known: Known, said: frozenset[CommandName]
) -> Wait:
    """Return when a word or a fact counts as happened, and until when it waits: until the sensors have reported up to
    its time, open questions that could change its meaning are answered, and its needs are met. `said`: the names of
    waiting words."""
    state = known.table_state.state
    if isinstance(happening, Evidence):
        counts_us = happening.evidence_us
    else:
        counts_us = happening.t_us if state in AT_HAND else happening.latest_us
    ends_us = [
        question.ends_us(counts_us)
        for question in open_questions
        if question.since_us <= counts_us
        and any(
            (happening.fact in hold.facts if isinstance(happening, Evidence) else happening.name in hold.words)
            for hold in HOLDS
            if hold.topic is question.topic and state in hold.states
        )
    ]
    if isinstance(happening, Command) and not said & AT_ONCE:
        asked = known._replace(command=happening)
        need = in_the_way(row_for(fact_of(happening), asked), asked)
        ends_us += [counts_us + need.wait_us] if need is not None and need.wait_us else []
    return Wait(counts_us, max([counts_us - 1, *ends_us]))
