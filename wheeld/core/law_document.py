"""Writes the law as a page: its diagram, then every clause. A test holds `LAW.md` to what this prints.

python -m wheeld.core.law_document > wheeld/core/LAW.md
"""

from __future__ import annotations

from wheeld.core.facts import State
from wheeld.core.law import CLAUSES, Clause, Goto, Row

_INTRO = """\
# The law of the table

Made from the table in `law.py` by `python -m wheeld.core.law_document`; a test fails when they differ. For every state
and every fact there is one row. C = Campione roulette, V = Venezia roulette francese, VF = Venezia Fair Roulette, by
article; R, N and A are the rulebook's rows: R what makes a coup valid, N what makes it void, A what happens around it.
"""


def document() -> str:
    """The whole page, Markdown, with a Mermaid diagram."""
    return "\n".join([_INTRO, "## How the table moves on", "", _diagram(), "", "## Every clause", "", *_clauses(), ""])


def _diagram() -> str:
    """Each move once, labelled with what causes it; stays are left out, and suspensions drawn from one state."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for clause in CLAUSES:
        for state in clause.states:
            target = clause.row.next
            if target is state or target is Goto.STAY:
                continue
            name = "where_it_was" if isinstance(target, Goto) else target.value
            arrows.setdefault((state.value, name), []).append(_label(clause))
    lines = [f"    {a} --> {b}: {' / '.join(dict.fromkeys(labels))}" for (a, b), labels in arrows.items()]
    return "\n".join(["```mermaid", "stateDiagram-v2", "    [*] --> closed", *lines, "```"])


def _label(clause: Clause) -> str:
    return clause.fact.name.lower() if clause.row.void is None else f"void {clause.row.void.value}"


def _clauses() -> list[str]:
    head = ["| fact | in | then | why |", "|---|---|---|---|"]
    return head + [
        f"| {clause.fact.value} | {_states(clause.states)} | {_then(clause.row)} | {clause.row.why} |"
        for clause in CLAUSES
    ]


def _states(states: tuple[State, ...]) -> str:
    if len(states) == len(State):
        return "any"
    missing = [state for state in State if state not in states]
    if len(missing) <= 2:
        return "any but " + ", ".join(f"`{state.value}`" for state in missing)
    return ", ".join(f"`{state.value}`" for state in states)


def _then(row: Row) -> str:
    """What happens, in a few words."""
    parts = [f"**void** `{row.void.value}` ({row.void.article})"] if row.void else []
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
