"""The total table: for every state and every fact one row. The step is a look-up in it.

The rows and their guards stand in one module for each subject: `launch`, `run`, `drop`, `breakdown`, `head`, `people`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from types import MappingProxyType

from wheeld.core.facts import Fact, State
from wheeld.core.law import breakdown, drop, head, launch, people, run
from wheeld.core.law.guards import Known
from wheeld.core.law.late import late_row
from wheeld.core.law.rows import Clause, Row
from wheeld.core.tracking.evidence import Evidence

CLAUSES = (*launch.ROWS, *run.ROWS, *drop.ROWS, *breakdown.ROWS, *head.ROWS, *people.ROWS)
GUARDS = drop.GUARDS | breakdown.GUARDS


def collected(clauses: Iterable[Clause]) -> Mapping[tuple[State, Fact], Row]:
    """The table of these clauses; ValueError unless there is one row, and only one, for each pair. Where no row stands
    for a state, the fact's row for elsewhere holds."""
    rows: dict[tuple[State | None, Fact], Row] = {}
    for clause in clauses:
        for state, fact in product(clause.states or (None,), clause.facts):
            if (state, fact) in rows:
                message = f"two rows for {fact.name} {_place(state)}"
                raise ValueError(message)
            rows[state, fact] = clause.row
    law = {}
    for state, fact in product(State, Fact):
        row = rows.get((state, fact)) or rows.get((None, fact))
        if row is None:
            message = f"no row for {fact.name} {_place(state)}"
            raise ValueError(message)
        law[state, fact] = row
    return MappingProxyType(law)


def _place(state: State | None) -> str:
    return "elsewhere" if state is None else f"in {state.name}"


LAW = collected(CLAUSES)


def rule(state: State, fact: Fact) -> Row:
    """The row for `fact` in `state`; there always is one."""
    return LAW[state, fact]


def ruling(evidence: Evidence, known: Known) -> tuple[Fact, Row]:
    """The fact that this evidence is at this table now, as its guard decides, and the row for it: that of the present
    state, or, for a launch that comes late, one of `late`."""
    guard = GUARDS.get(evidence.fact)
    fact = evidence.fact if guard is None else guard(evidence, known)
    return fact, late_row(evidence, known) or LAW[known.table_state.state, fact]
