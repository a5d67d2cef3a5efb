"""A daemon that stood still (docs/rulebook.md 7): when people's words of that time count from, and what is reported.

Sensors keep their own time, so a standstill delays what they saw and changes none of it. What people said is heard at
its end, and nobody knows when they said it, unless they say so themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from wheeld.core.facts import Fact
from wheeld.core.observations import Command, Standstill
from wheeld.core.tracking.evidence import Evidence

NOTICED_US = 1_000_000
"""A standstill that is shorter is in the log alone: people at the table take it for a slow network, and a computer with
too much to do has many."""
SAID_BEFORE_US_MAX = 60_000_000
"""A network delays a word by so much at most: a connection that fails is made again within half a minute, and the
broker then needs a moment. A sender that names an earlier time has a wrong clock, more likely than a late word."""


def counts_from(name: str, since: int, until: int, said: int | None) -> int:
    """From when a command of that name counts which came in a standstill from `since` to `until`; `said`: when its
    sender says that it was said, None when he does not. All on one clock, whichever it is."""
    if said is not None and since <= said <= until:
        return said
    return since if name == "rien_va" else until


def heard_in(since_us: int, until_us: int, command: Command, said_us: int | None) -> Command:
    """`command`, which was heard when from `since_us` until `until_us` nobody could be, dated by the rule; a "rien va"
    that does not say when it was said is in doubt until the end."""
    from_us = counts_from(command.name, since_us, until_us, said_us)
    is_in_doubt = command.name == "rien_va" and from_us != said_us
    return msgspec.structs.replace(command, t_us=from_us, until_us=until_us if is_in_doubt else None)


def heard_at(command: Command, came_us: int, said_us: int | None) -> Command:
    """`command`, which came at `came_us` while the machine listened. A network may have delayed "rien va" (N7). Any
    other word would then lie before what it was an answer to, by a clock that may be wrong: it counts from when it
    came."""
    is_earlier = said_us is not None and came_us - SAID_BEFORE_US_MAX <= said_us < came_us
    if command.name == "rien_va" and is_earlier and said_us is not None:
        came_us = said_us
    return msgspec.structs.replace(command, t_us=came_us)


def evidence_of(still: Standstill, since: str, until: str) -> Iterator[Evidence]:
    """What a standstill is to the law: a notice, if it was long; and where nothing was observed, a fault of the link
    (N8), whose cause the notice says. `since` and `until`: when it was, as text."""
    lasted_us = still.to_us - still.t_us + still.slept_us
    if lasted_us >= NOTICED_US or still.slept_us:
        fact = Fact.JOURNAL_STOOD if still.what == "journal" else Fact.STOOD_STILL
        seconds = round(lasted_us / 1e6, 1)
        yield Evidence(fact, still.t_us, {"what": still.what, "seconds": seconds, "from": since, "to": until})
    if still.slept_us:
        yield Evidence(Fact.SENSOR_FAULT, still.t_us, {"sensor": "link"})
