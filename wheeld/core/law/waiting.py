"""When people's words count, and what waits for the answer to an open question, so that the law takes all that happens
in the order in which it happened (docs/rulebook.md 7).

Sensors keep their own time. Nobody knows when a word was said that a network delayed, or that came while the machine
stood still, unless its sender says so: such a word is between two moments. In a coup it counts from the earliest,
against a number; elsewhere from the latest, after a launch: in doubt the coup is void.

A clause names a question, the states in which its answer matters, and what waits there: words of people and facts of
sensors that are dated after the question began. Words keep their order: one that is said while another waits, waits
behind it. A command also waits for what it needs, where that may come by itself (`needs`). Everything else is taken at
once. "Rien ne va plus" waits for no question: bets close as it is said, and it means the same before a launch and
after.
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
"""For so long at most a word is on its way: a connection that fails is made again within half a minute, and a broker
keeps words no longer. A sender that names an earlier time has a wrong clock, more likely than a late word."""


def when_said(name: str, since: int | None, came: int, said: int | None) -> tuple[int, int]:
    """The earliest and the latest moment at which a command of that name counts as said, all on one clock, whichever
    it is. It came at `came`, and nobody could be heard from `since` until then (None: the machine listened); `said`:
    when its sender says that it was said, None when he does not.

    While the machine listened only "rien va" counts from before it came (N7). Any other word would then lie before what
    it was an answer to, by a clock that may be wrong.
    """
    is_rien_va = name == "rien_va"
    earliest = since if since is not None else came - ON_THEIR_WAY_US * is_rien_va
    if said is not None and earliest <= said <= came:
        return said, said
    return (earliest if is_rien_va and since is not None else came), came


WAITING_MAX = 256
"""Kept at once. A question is open for some seconds: nobody says more in that time, and sensors show far less. The
oldest is decided without an answer when more comes, so that memory stays bounded."""

Happening: TypeAlias = Evidence | Command
"""What sensors showed, or a person said."""


class Wait(NamedTuple):
    """From when something counts, and until when it waits."""

    counts_us: int
    until_us: int


WaitOf: TypeAlias = Callable[[Happening], Wait]
"""How a happening waits, as the table stands now."""


class Waitlist(msgspec.Struct):
    """Gives out what happened in the order of its time, each when no open question holds it any more. `unheard`: since
    when words of people may be on their way, and until when they can arrive; None: everybody has been heard."""

    waiting: list[Happening] = []
    unheard: tuple[int, int] | None = None

    @property
    def said(self) -> frozenset[CommandName]:
        """The words that wait."""
        return frozenset(happening.name for happening in self.waiting if isinstance(happening, Command))

    def take(self, now_us: int, wait_of: WaitOf) -> Happening | None:
        """The first that need not wait, taken out; None while each must. Words keep their order: each waits behind an
        earlier one that waits."""
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
        """When the next of them has waited long enough; None while nothing waits for a time. What has waited long
        enough and was not given out at `now_us` waits behind another one, and time alone does not free it."""
        ends_us = (wait_of(happening).until_us for happening in self.waiting)
        return min((until_us + 1 for until_us in ends_us if until_us >= now_us), default=None)

    def _in_order(self, wait_of: WaitOf) -> Iterator[tuple[Happening, Wait]]:
        """All, each by the time from which it counts now. Of two at the same time what was shown is first, then what
        came first."""
        waits = [(happening, wait_of(happening)) for happening in self.waiting]
        yield from sorted(waits, key=lambda one: (one[1].counts_us, isinstance(one[0], Command)))


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


def waits(known: Known, waitlist: Waitlist) -> WaitOf:
    """How something waits, by the questions that are open at this table now."""
    return partial(wait_of, open_questions=[*questions(known, waitlist)], known=known, said=waitlist.said)


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
