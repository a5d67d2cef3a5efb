"""`wheeld/core/law/LAW.md` agrees with the table of the law."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from wheeld import law_page
from wheeld.core import law
from wheeld.core.facts import Cause, Fact, State
from wheeld.core.law.needs import NEEDS
from wheeld.core.law.rows import BEFORE_LAUNCH, COUP, RUNNING, Goto, all_but
from wheeld.core.law.table import CLAUSES, LATE, LAW

GROUPS = {
    "any_state": tuple(State),
    "any_other_state": all_but(State.AWAITING_CHEF),
    "any_open_state": all_but(State.CLOSED, State.AWAITING_CHEF),
    "any_coup": COUP,
    "any_running_state": RUNNING,
    "either_before_launch": BEFORE_LAUNCH,
}
LABEL_MAX = 26
"""Characters of the widest line on an arrow: `rotor_stopped_before_drop` and its "void"."""


def test_the_page_is_current() -> None:
    page = Path(law.__file__).with_name("LAW.md").read_text()
    assert page == law_page.document(), "run: python -m wheeld.law_page > wheeld/core/law/LAW.md"


def test_every_clause_is_on_the_page() -> None:
    page = law_page.document()
    assert all(fact.text in page for clause in CLAUSES for fact in clause.facts)
    assert all(clause.row.text.format(void="rien va", tout_va="tout va") in page for clause in CLAUSES)
    late = {row for row in LATE.values() if row.void is not None}
    assert page.count("**void**") == sum(clause.row.void is not None for clause in CLAUSES) + len(late) + sum(
        row.void is not None for rows in LAW.values() for row in rows
    )


def test_every_need_is_on_the_page_and_what_has_it() -> None:
    page = law_page.document().split("## What a command needs")[1].split("## What waits")[0]
    needs, needing = page.split("| fact |")
    for need in NEEDS:
        (line,) = (line for line in needs.splitlines() if line.startswith(f"| `{need.name}` |"))
        assert need.text in line
        assert need.word in line
        assert all(rule in line for rule in need.rules.split())
        assert need.code is None or f"`{need.code.value}`" in line
        assert f"`{need.name}`" in needing


def test_each_state_shows_what_does_something_there_and_counts_the_rest() -> None:
    page = law_page.document().split("## Each state")[1].split("## Every clause")[0]
    sections = page.split("### ")[1:]
    assert [section.split("`")[1] for section in sections] == [state.value for state in State]
    for state, section in zip(State, sections, strict=True):
        shown = {line.split(" | ")[0].removeprefix("| ") for line in section.splitlines() if line.startswith("| ")}
        counted = [int(count) for count in re.findall(r"^(?:Refused|Ignored): (\d+)", section, re.MULTILINE)]
        assert len(shown - {"fact"}) + sum(counted) == sum(len(LAW[state, fact]) for fact in Fact), state


def arrows() -> list[tuple[str, str, list[str]]]:
    """(source, target, lines of the label) of the diagram."""
    found = re.findall(r"^    (\w+) --> (\w+): (.+)$", law_page.document(), re.MULTILINE)
    return [(source, target, label.split("<br/>")) for source, target, label in found]


def test_the_diagram_has_every_move_and_no_other() -> None:
    drawn = {
        (state.value, target)
        for source, target, _ in arrows()
        for state in GROUPS.get(source) or (State[source.upper()],)
    }
    moves = {
        (state.value, "where_it_was" if row.next is Goto.RETURN else row.next.value)
        for (state, _), rows in LAW.items()
        for row in rows
        if row.next is not Goto.STAY
    }
    assert {(a, b) for a, b in drawn if a != b} == {(a, b) for a, b in moves if a != b}


def test_the_diagram_can_be_read() -> None:
    assert len(arrows()) <= 33
    assert max(len(line) for _, _, label in arrows() for line in label) <= LABEL_MAX + len("void ")


def test_the_page_changes_with_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clause's reason, needs, move or void, in turn: the page that is committed is no longer what is printed."""
    page = law_page.document()
    for n, clause in enumerate(CLAUSES):
        row = clause.row
        others = (
            msgspec.structs.replace(row, text=row.text + "!"),
            msgspec.structs.replace(row, needs=row.needs[:-1] or NEEDS),
            msgspec.structs.replace(row, next=State.CLOSED if row.next is not State.CLOSED else Goto.STAY),
            msgspec.structs.replace(row, void=Cause.CHEF if row.void is not Cause.CHEF else None),
        )
        changed = msgspec.structs.replace(clause, row=others[n % len(others)])
        monkeypatch.setattr(law_page, "CLAUSES", (*CLAUSES[:n], changed, *CLAUSES[n + 1 :]))
        assert law_page.document() != page, clause
