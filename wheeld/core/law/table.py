"""The total table: for every state and every fact one row. The step is a look-up in it.

The rows and their guards stand in one module for each subject: `launch`, `run`, `drop`, `breakdown`, `head`, `people`.
What a person asks may have further rows for the same pair, each for a condition (`When`) that holds or not.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from itertools import product
from types import MappingProxyType
from typing import NamedTuple

from wheeld.core.facts import Fact, State
from wheeld.core.law import breakdown, drop, head, launch, people, run
from wheeld.core.law.guards import Known
from wheeld.core.law.late import late_row
from wheeld.core.law.rows import STAY, Clause, Need, Row, When
from wheeld.core.tracking.evidence import Evidence

CLAUSES = (*launch.ROWS, *run.ROWS, *drop.ROWS, *breakdown.ROWS, *head.ROWS, *people.ROWS)
GUARDS = drop.GUARDS | breakdown.GUARDS


def collected(clauses: Iterable[Clause]) -> Mapping[tuple[State, Fact], tuple[Row, ...]]:
    """The table of these clauses: of each pair the rows with a condition, as they are written, and then the one
    without; ValueError unless there is one without, and only one of each. Where no such row stands for a state, the
    fact's row for elsewhere holds."""
    rows: dict[tuple[State | None, Fact], dict[When | None, Row]] = {}
    for clause in clauses:
        for state, fact in product(clause.states or (None,), clause.facts):
            if clause.row.when in (of_pair := rows.setdefault((state, fact), {})):
                message = f"two rows for {fact.name} {_place(state)}"
                raise ValueError(message)
            of_pair[clause.row.when] = clause.row
    law = {}
    for state, fact in product(State, Fact):
        found = rows.get((None, fact), {}) | rows.get((state, fact), {})
        if None not in found:
            message = f"no row for {fact.name} {_place(state)}"
            raise ValueError(message)
        law[state, fact] = (*(row for when, row in found.items() if when is not None), found[None])
    return MappingProxyType(law)


def _place(state: State | None) -> str:
    return "elsewhere" if state is None else f"in {state.name}"


LAW = collected(CLAUSES)


def rule(state: State, fact: Fact, held: Container[When] = ()) -> Row:
    """The row for `fact` in `state`, where of the conditions those in `held` hold; there always is one."""
    return next(row for row in LAW[state, fact] if row.when is None or row.when in held)


def row_for(fact: Fact, known: Known) -> Row:
    """The row for `fact` at this table now, whatever is in its way."""
    rows = LAW[known.table_state.state, fact]
    return next(row for row in rows if row.when is None or row.when.holds(known))


def lacking(row: Row, known: Known) -> list[Need]:
    """What a row needs and is not so now."""
    return [need for need in row.needs if not need.is_met(known)]


def in_the_way(row: Row, known: Known) -> Need | None:
    """For which need a command with this row is refused now; or else which is granted on a person's word."""
    lacks = lacking(row, known)
    return next((need for need in lacks if need.text), next((need for need in lacks if need.word), None))


class Ruling(NamedTuple):
    """Which fact it is, and its row; of a command also the need that is in its way."""

    fact: Fact
    row: Row
    need: Need | None = None


def ruling(evidence: Evidence, known: Known) -> Ruling:
    """What this evidence is at this table now, as its guard decides, and the row for it: that of the present state, or,
    for a launch that comes late, one of `late`; for a command that lacks what it needs, a refusal."""
    guard = GUARDS.get(evidence.fact)
    fact = evidence.fact if guard is None else guard(evidence, known)
    row = late_row(evidence, known) or row_for(fact, known)
    need = None if known.command is None else in_the_way(row, known)
    if need is not None and need.text and not row.refuse:
        row = Row(STAY, tuple(need.rules.split()), need.text, refuse=True)
    return Ruling(fact, row, need)
