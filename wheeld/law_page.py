"""Writes the law as a page: theory, diagram, needs, states and clauses. A test compares `LAW.md` with this output.

python -m wheeld.law_page > wheeld/core/law/LAW.md
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from wheeld.core import law
from wheeld.core.facts import SENSED, Fact, State
from wheeld.core.houses import PROFILES
from wheeld.core.law import waiting
from wheeld.core.law.needs import NEEDS
from wheeld.core.law.rows import BEFORE_LAUNCH, COUP, ELSEWHERE, RUNNING, Act, Clause, Goto, Row, all_but
from wheeld.core.law.table import CLAUSES, LATE, LAW, Meaning

_INTRO = """\
# The law of the table

`python -m wheeld.law_page` made this page from `wheeld/core/law`; a test fails if they differ. To find what makes a
coup void, begin at [every clause](#every-clause): there each clause has one row, with all its states.
"""

_GROUPS = {
    "any_state": tuple(State),
    "any_other_state": all_but(State.AWAITING_CHEF),
    "any_open_state": all_but(State.CLOSED, State.AWAITING_CHEF),
    "any_coup": COUP,
    "any_running_state": RUNNING,
    "either_before_launch": BEFORE_LAUNCH,
}
"""Groups of states that mostly move in the same way. A group has one arrow for all its states. A group is not a
state."""
_KEY = """\
`any_state`, `any_other_state` (all but `awaiting_chef`), `any_open_state` (all but that and `closed`),
`any_running_state` (`ball_running`, `rien_ne_va_plus`, `ball_on_obstacle`), `any_coup` (those and `awaiting_chef`) and
`either_before_launch` (`faites_vos_jeux`, `bets_closed_early`) stand for all of their states. `where_it_was` is the
state before the suspension. A move from `any_state` makes a running coup void (breakdown). A number that waits for the
chef's confirmation still waits for it.
"""


_ROWS = {(state, (fact, row.when)): row for (state, fact), rows in LAW.items() for row in rows}
"""Each row, by its state, its fact and its condition."""


def document() -> str:
    """Return the whole page, Markdown with a Mermaid diagram."""
    lines = [_INTRO, law.__doc__ or "", "## How the table moves on", "", _diagram(), "", _KEY]
    lines += [
        *("## What a command needs", ""),
        "| need | rules | without it | what the table waits for meanwhile | how long the word waits |",
        "|---|---|---|---|---|",
    ]
    for need in NEEDS:
        without = f"refused: {need.text}" if need.text else f"done by word: {need.word}" if need.word else "done"
        code = f"`{need.code.value}`" + ", by itself" * (need.code in SENSED) if need.code else "–"
        wait = f"{need.wait_us // 1_000_000} s" if need.wait_us else "–"
        lines.append(f"| `{need.name}` | {', '.join(need.rules.split())} | {without} | {code} | {wait} |")
    lines += ["", "| fact | in | then | needs |", "|---|---|---|---|"]
    lines += [  # the law tests the needs of a clause in this order
        f"| {_facts(clause)} | {_states(clause.states)} | {_then(clause.row)} | "
        f"{', '.join(f'`{need.name}`' for need in clause.row.needs)} |"
        for clause in CLAUSES
        if clause.row.needs
    ]
    lines += ["", "## What waits for an answer", "", waiting.__doc__ or ""]
    lines += ["| question | in | what waits | why |", "|---|---|---|---|"]
    for hold in waiting.HOLDS:
        words = [f"`{word}`" for word in sorted(hold.words)]
        facts = [fact.text for fact in Fact if fact in hold.facts]
        lines.append(f"| {hold.topic.value} | {_states(hold.states)} | {'; '.join([*words, *facts])} | {hold.why} |")
    # Each effect of a launch that was proven only after the table had moved on.
    lines += ["", "## A launch that comes late", ""]
    lines += ["| at the launch | the table is now in | then | rules | why |", "|---|---|---|---|---|"]
    for meaning in Meaning:
        for row in {LATE[meaning, state]: None for state in State if (meaning, state) in LATE}:
            states = tuple(state for state in State if LATE.get((meaning, state)) is row)
            lines.append(f"| {meaning.value} | {_states(states)} | {_then(row)} | {_rules(row)} | {_text(row)} |")
    lines += ["", "In every other state, the launch counts as a launch in that state.", ""]
    written = [clause.row for clause in CLAUSES for _ in clause.facts for _ in clause.states or (None,)]
    refused = sum(row.refuse for row in written)
    ignored = sum(not row.refuse and not _does_something(row) for row in written)
    acting = len(written) - refused - ignored
    figures = (
        f"{len(written)} rows for the {len(LAW)} pairs of {len(State)} states and {len(Fact)} facts: {acting} do "
        f"something, {refused} refuse a command, {ignored} ignore a fact. A row for `elsewhere` holds in every state "
        "that has no row of its own."
    )
    # For each state the facts that do something, and the numbers of refused and ignored facts by reason.
    lines += ["## Each state", "", figures, ""]
    for state in State:
        rows = [(_words(fact, row), row) for fact in Fact for row in LAW[state, fact]]
        lines += [f"### `{state.value}`", "", "| fact | then | rules | why |", "|---|---|---|---|"]
        effective = [(words, row) for words, row in rows if _does_something(row)]
        lines += [f"| {words} | {_then(row)} | {_rules(row)} | {_text(row)} |" for words, row in effective]
        lines += ["", *_reasons("Refused", (row for _, row in rows if row.refuse)), ""]
        lines += [*_reasons("Ignored", (row for _, row in rows if not row.refuse and not _does_something(row))), ""]
    lines += ["## Every clause", "", "| fact | in | then | rules | why |", "|---|---|---|---|---|"]
    lines += [
        f"| {_facts(clause)} | {_states(clause.states)} | {_then(clause.row)} | {_rules(clause.row)} | "
        f"{_text(clause.row)} |"
        for clause in CLAUSES
    ]
    lines += ["", "## The articles of each house", "", f"| rule | {' | '.join('/'.join(pair) for pair in PROFILES)} |"]
    lines.append("|---" * (len(PROFILES) + 1) + "|")
    for rule in dict.fromkeys(rule for profile in PROFILES.values() for rule in profile.articles):
        lines.append(f"| {rule} | {' | '.join(each.articles.get(rule, '–') for each in PROFILES.values())} |")
    return "\n".join([*lines, ""])


def _diagram() -> str:
    """Return the diagram: each move once, with its causes. Rows without a move are left out, and so are conditions that
    do not change the next state. A group replaces its states if all of them have the same target."""
    labels: dict[tuple[str, str], list[str]] = {}
    moves = {}
    for (state, what), row in _ROWS.items():
        without = _ROWS.get((state, (what[0], None)), row)
        is_drawn = row is without or row.next is not without.next
        if is_drawn and row.next is not state and row.next is not Goto.STAY:
            moves[state.value, what] = "where_it_was" if isinstance(row.next, Goto) else row.next.value
    for name, states in _GROUPS.items():
        for what in dict.fromkeys(what for _, what in _ROWS):
            ends = {moves.get((state.value, what), state.value) for state in states}
            moving = [(state.value, what) for state in states if (state.value, what) in moves]
            if len(ends) == 1 and len(moving) > 1:
                moves = {move: to for move, to in moves.items() if move not in moving}
                moves[name, what] = ends.pop()
    order = [*_GROUPS, *(state.value for state in State)]
    for (source, fact_when), target in sorted(moves.items(), key=lambda move: order.index(move[0][0])):
        causes = {_ROWS[state, fact_when].void for state in _GROUPS.get(source) or (State[source.upper()],)}
        cause = causes.pop() if len(causes) == 1 else None
        fact, when = fact_when
        label = f"void {cause.value}" if cause else f"{fact.value}, {when.name}" if when else fact.value
        labels.setdefault((source, target), []).append(label)
    lines = [f"    {a} --> {b}: {'<br/>'.join(dict.fromkeys(told))}" for (a, b), told in labels.items()]
    return "\n".join(["```mermaid", "stateDiagram-v2", "    [*] --> closed", *lines, "```"])


def _does_something(row: Row) -> bool:
    """Return whether a row moves the table, makes its coup void, or has acts."""
    return row.next is not Goto.STAY or row.void is not None or bool(row.acts)


def _reasons(title: str, rows: Iterable[Row]) -> list[str]:
    """Return the number of rows, in total and for each reason."""
    counts = Counter(f"{_rules(row)}: {_text(row)}" if row.rules else _text(row) for row in rows)
    return [f"{title}: {counts.total()}", "", *(f"- {count} × {reason}" for reason, count in counts.most_common())]


def _rules(row: Row) -> str:
    return ", ".join(row.rules) or "–"


def _text(row: Row) -> str:
    """Return the reason of a row, with the words that most tables use for a void."""
    return row.text.format(void="rien va", tout_va="tout va")


def _words(fact: Fact, row: Row) -> str:
    return row.when.of(fact) if row.when else fact.text


def _facts(clause: Clause) -> str:
    return "<br>".join(_words(fact, clause.row) for fact in clause.facts)


def _states(states: tuple[State, ...]) -> str:
    if states is ELSEWHERE:
        return "elsewhere"
    if len(states) == len(State):
        return "any"
    missing = [state for state in State if state not in states]
    if len(missing) <= 2:
        return "any but " + ", ".join(f"`{state.value}`" for state in missing)
    return ", ".join(f"`{state.value}`" for state in states)


def _then(row: Row) -> str:
    """Return what a row does, in a few words."""
    parts = [f"**void** `{row.void.value}`"] if row.void else []
    parts += ["refused"] if row.refuse else []
    parts += [f"notice `{row.notice}`"] if row.notice else []
    parts += [act.value for act in row.acts if act is not Act.NOTICE]
    if row.next is Goto.RETURN:
        parts.append("→ where it was")
    elif isinstance(row.next, State):
        parts.append(f"→ `{row.next.value}`")
    return "; ".join(parts) or "–"


if __name__ == "__main__":  # pragma: no cover - the test calls document()
    print(document(), end="")
