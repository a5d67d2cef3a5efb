"""Writes the law as a page: its diagram, then every clause. A test holds `LAW.md` to what this prints.

python -m wheeld.core.law.document > wheeld/core/LAW.md
"""

from __future__ import annotations

from wheeld.core.law.facts import Fact, State
from wheeld.core.law.rows import BEFORE_LAUNCH, COUP, RUNNING, Goto, Row
from wheeld.core.law.table import CLAUSES, rule

_INTRO = """\
# The law of the table

Made from the table in `law.py` and `law_people.py` by `python -m wheeld.core.law.document`; a test fails when they
differ. For every state and every fact there is one row. C = Campione roulette, V = Venezia roulette francese, VF =
Venezia Fair Roulette, by article; R, N and A are the rulebook's rows: R what makes a coup valid, N what makes it void,
A what happens around it.
"""

_GROUPS = {
    "any_state": tuple(State),
    "any_coup": COUP,
    "any_running_state": RUNNING,
    "either_before_launch": BEFORE_LAUNCH,
}
"""States that mostly move alike: one arrow for all of them instead of one each. Not states themselves."""
_KEY = """\
`any_state`, `any_running_state` (`ball_running`, `rien_ne_va_plus`, `ball_on_obstacle`), `any_coup` (those and
`awaiting_chef`) and `either_before_launch` (`faites_vos_jeux`, `bets_closed_early`) stand for all of their states,
`where_it_was` for the one that a suspension hid. What leads from any state makes a coup that was running void
(breakdown).
"""


def document() -> str:
    """The whole page, Markdown, with a Mermaid diagram."""
    return "\n".join(
        [_INTRO, "## How the table moves on", "", _diagram(), "", _KEY, "## Every clause", "", *_clauses(), ""]
    )


def _diagram() -> str:
    """Each move once, labelled with what causes it; stays are left out, and what a whole group does is drawn once."""
    labels: dict[tuple[str, str], list[str]] = {}
    for source, target, fact in _lifted():
        labels.setdefault((source, target), []).append(_label(source, fact))
    lines = [f"    {a} --> {b}: {'<br/>'.join(dict.fromkeys(said))}" for (a, b), said in labels.items()]
    return "\n".join(["```mermaid", "stateDiagram-v2", "    [*] --> closed", *lines, "```"])


def _moves() -> dict[tuple[str, Fact], str]:
    """Where each fact leads, of those that lead elsewhere."""
    moves = {}
    for clause in CLAUSES:
        target = clause.row.next
        for state in clause.states:
            if target is not state and target is not Goto.STAY:
                moves[state.value, clause.fact] = "where_it_was" if isinstance(target, Goto) else target.value
    return moves


def _lifted() -> list[tuple[str, str, Fact]]:
    """(source, target, fact) of every move; a group stands for its members where all of them end up alike."""
    moves = _moves()
    for name, states in _GROUPS.items():
        for fact in Fact:
            ends = {moves.get((state.value, fact), state.value) for state in states}
            moving = [(state.value, fact) for state in states if (state.value, fact) in moves]
            if len(ends) == 1 and len(moving) > 1:
                moves = {move: to for move, to in moves.items() if move not in moving}
                moves[name, fact] = ends.pop()
    order = [*_GROUPS, *(state.value for state in State)]
    return [
        (source, to, fact) for (source, fact), to in sorted(moves.items(), key=lambda move: order.index(move[0][0]))
    ]


def _label(source: str, fact: Fact) -> str:
    """The fact; or, in a group or state that it voids, the cause."""
    states = _GROUPS.get(source) or (State[source.upper()],)
    causes = {rule(state, fact).void for state in states}
    cause = causes.pop() if len(causes) == 1 else None
    return f"void {cause.value}" if cause else fact.name.lower()


def _clauses() -> list[str]:
    head = ["| fact | in | then | rules | why |", "|---|---|---|---|---|"]
    return head + [
        f"| {clause.fact.value} | {_states(clause.states)} | {_then(clause.row)} | {_rules(clause.row)} | "
        f"{clause.row.text} |"
        for clause in CLAUSES
    ]


def _rules(row: Row) -> str:
    return ", ".join(row.rules) or "–"


def _states(states: tuple[State, ...]) -> str:
    if len(states) == len(State):
        return "any"
    missing = [state for state in State if state not in states]
    if len(missing) <= 2:
        return "any but " + ", ".join(f"`{state.value}`" for state in missing)
    return ", ".join(f"`{state.value}`" for state in states)


def _then(row: Row) -> str:
    """What happens, in a few words."""
    parts = [f"**void** `{row.void.value}`"] if row.void else []
    parts += ["refused"] if row.refuse else []
    parts += [f"notice `{row.notice}`"] if row.notice else []
    parts += [act.value for act in row.acts if act.name != "NOTICE"]
    if row.next is Goto.RETURN:
        parts.append("→ where it was")
    elif isinstance(row.next, State):
        parts.append(f"→ `{row.next.value}`")
    return "; ".join(parts) or "–"


if __name__ == "__main__":  # pragma: no cover - the test calls document()
    print(document(), end="")
