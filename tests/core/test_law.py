"""The law as a table: total, one row a pair, each with its reason, and no way round a void."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, get_args, get_type_hints

import msgspec
import pytest

from wheeld.core.facts import Cause, Fact, State
from wheeld.core.houses import PROFILES
from wheeld.core.law.needs import AT_REST, CHEF_AWAITED, DIRECTION_SAYS, IN_PLACE, LEVEL_TOLD, NEEDS, NO_OBSTACLE
from wheeld.core.law.rows import ELSEWHERE, RETURN, STAY, Act, Row
from wheeld.core.law.table import CLAUSES, LAW, collected, rule
from wheeld.core.observations import Command
from wheeld.core.table import Snapshot
from wheeld.core.tracking.evidence import Evidence, Pass, Seen

RUNNING = {State.BALL_RUNNING, State.RIEN_NE_VA_PLUS, State.BALL_ON_OBSTACLE}
COUP = RUNNING | {State.AWAITING_CHEF}
NULL = {State.RIEN_VA, State.RIEN_VA_OPERATIONS_OWED}
ROWS = [
    ((state, fact), row)
    for (state, fact), rows in sorted(LAW.items(), key=lambda item: (item[0][0].value, item[0][1].value))
    for row in rows
]
COMMANDS = {
    Fact.OPEN, Fact.RIEN_NE_VA_PLUS, Fact.RIEN_VA, Fact.TOUT_VA, Fact.OPERATIONS_DONE, Fact.LAST_COUP,
    Fact.LAST_COUP_OFF, Fact.CLOSE, Fact.SUSPEND, Fact.RESUME, Fact.BOULER, Fact.ACKNOWLEDGE, Fact.CONFIRM,
    Fact.LATE_BET, Fact.RULING,
}  # fmt: skip


def targets(row: Row, state: State) -> set[State]:
    """Where a row may lead. Back from a suspension: to "rien va", or to any state where no coup runs; with a number
    that awaits the chef, to him, or to a closed table."""
    if row.next is STAY:
        return {state}
    if row is rule(State.SUSPENDED, Fact.RESUME, [CHEF_AWAITED]):
        return {State.AWAITING_CHEF, State.CLOSED}
    if row.next is RETURN:
        return set(State) - COUP - {State.SUSPENDED}
    assert isinstance(row.next, State)
    return {row.next}


def test_every_state_and_fact_is_ruled_exactly_once() -> None:
    ruled = Counter(
        (state, fact, clause.row.when)
        for clause in CLAUSES
        for fact in clause.facts
        for state in clause.states or (None,)
    )
    assert [pair for pair, times in ruled.items() if times > 1] == []
    assert len(LAW) == len(State) * len(Fact)
    for pair, rows in LAW.items():
        assert [row.when for row in rows].index(None) == len(rows) - 1, pair
        assert len(rows) == 1 or pair[1] in COMMANDS, "facts of sensors have guards"


def test_there_are_no_more_facts_than_a_person_can_know() -> None:
    assert len(Fact) <= 60


def remembered(kind: Any, counted: set[type]) -> int:
    """The fields of all structures in this type, each structure once."""
    fields = sum(remembered(part, counted) for part in get_args(kind))
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind not in counted:
        counted.add(kind)
        fields += sum(1 + remembered(of_field, counted) for of_field in get_type_hints(kind).values())
    return fields


def test_the_core_remembers_no_more_than_it_needs() -> None:
    """Besides what it takes in and draws from that: commands, evidence, sightings and passes."""
    assert remembered(Snapshot, {Command, Evidence, Seen, Pass}) <= 153


def test_a_row_for_elsewhere_holds_somewhere() -> None:
    elsewhere = [clause for clause in CLAUSES if clause.states is ELSEWHERE]
    assert all(
        clause.row in {row for state in State for row in LAW[state, fact]}
        for clause in elsewhere
        for fact in clause.facts
    )


def test_a_table_with_a_pair_missing_or_ruled_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="no row for LAUNCHED in FAITES_VOS_JEUX"):
        collected(CLAUSES[1:])
    with pytest.raises(ValueError, match="two rows for LAUNCHED in FAITES_VOS_JEUX"):
        collected((*CLAUSES, CLAUSES[0]))
    elsewhere = next(clause for clause in CLAUSES if clause.states is ELSEWHERE)
    with pytest.raises(ValueError, match=r"two rows for .* elsewhere"):
        collected((*CLAUSES, elsewhere))


def test_the_look_up_gives_the_clause_that_was_written() -> None:
    for clause in CLAUSES:
        for state in clause.states:
            held = [clause.row.when] if clause.row.when else []
            assert all(rule(state, fact, held) is clause.row for fact in clause.facts)


RULES = re.compile(r"R[1-4]b?|N[1-8]|A[1-9]|[1-7]")


def test_every_row_gives_its_reason_and_cites_only_rules_of_the_rulebook() -> None:
    for pair, row in ROWS:
        assert len(row.text) > 8, pair
        assert all(RULES.fullmatch(rule) for rule in row.rules), pair
        assert not re.search(r"\b(Art|[CV]F?\d|[RNA]\d|rulebook)", row.text), (pair, row.text)


def test_every_cause_of_the_rulebook_can_come_about() -> None:
    assert {row.void for _, row in ROWS} - {None} == set(Cause)


@pytest.mark.parametrize(
    ("cause", "name", "rule"),
    [
        (Cause.SAME_DIRECTION, "same_direction", "N1"),
        (Cause.EARLY_LAUNCH, "early_launch", "N2"),
        (Cause.TOO_FEW_LAPS, "too_few_laps", "N3"),
        (Cause.ROTOR_STOPPED_RUNNING, "rotor_stopped_running", "N4"),
        (Cause.ROTOR_STOPPED_BEFORE_DROP, "rotor_stopped_before_drop", "N5"),
        (Cause.FOREIGN_OBJECT, "foreign_object", "N6"),
        (Cause.CHEF, "chef", "N7"),
        (Cause.BREAKDOWN, "breakdown", "N8"),
    ],
)
def test_each_cause_has_its_name_and_rule(cause: Cause, name: str, rule: str) -> None:
    assert (cause.value, cause.rule) == (name, rule)


def test_each_void_has_its_article_where_the_regulation_numbers_one() -> None:
    for table, profile in PROFILES.items():
        if table == ("south-dakota", "american"):
            continue
        articles = [profile.articles.get(cause.rule) for cause in Cause]
        assert articles == [*["Art. 11" if table == ("campione", "roulette") else None] * 7, None]


def test_each_voids_row_names_its_rulebook_row() -> None:
    row_of = {
        Cause.SAME_DIRECTION: "N1", Cause.EARLY_LAUNCH: "N2", Cause.TOO_FEW_LAPS: "N3",
        Cause.ROTOR_STOPPED_RUNNING: "N4", Cause.ROTOR_STOPPED_BEFORE_DROP: "N5", Cause.FOREIGN_OBJECT: "N6",
        Cause.CHEF: "N7", Cause.BREAKDOWN: "N8",
    }  # fmt: skip
    for pair, row in ROWS:
        if row.void is not None:
            assert row.rules[0] == row_of[row.void], (pair, row.rules)


def test_a_result_comes_only_from_a_running_ball_and_a_number_or_from_the_chef_who_confirms_one() -> None:
    for (_state, fact), row in ROWS:
        if Act.RESULT in row.acts or Act.CONFIRM in row.acts:
            assert fact in (Fact.NUMBER, Fact.CONFIRM)
            assert (fact is Fact.CONFIRM) == (Act.CONFIRM in row.acts)
            assert row.next is State.OPERATIONS
            assert row.void is None
    assert {state for (state, _), row in ROWS if Act.RESULT in row.acts} == COUP
    assert {state for (state, _), row in ROWS if Act.CONFIRM in row.acts} == {
        State.AWAITING_CHEF,
        State.BALL_ON_OBSTACLE,
    }


def test_a_refused_command_changes_nothing() -> None:
    for pair, row in ROWS:
        if row.refuse:
            assert pair[1] in COMMANDS, pair
            assert (row.next, row.void, row.acts, row.notice) == (STAY, None, (), None), pair


def test_a_coup_is_voided_only_while_it_runs_or_by_the_launch_that_begins_it() -> None:
    for (state, _fact), row in ROWS:
        if row.void is not None:
            assert state in COUP or Act.BEGIN in row.acts


def test_a_void_always_leaves_the_running_states() -> None:
    for pair, row in ROWS:
        if row.void is not None:
            assert targets(row, pair[0]) <= NULL | {State.SUSPENDED, State.CLOSED}, pair


def test_a_breakdown_suspends_unless_the_direction_ends_play() -> None:
    for (state, fact), row in ROWS:
        if row.void is Cause.BREAKDOWN:
            ended = fact is Fact.CLOSE or state is State.CLOSED
            assert row.next is (State.CLOSED if ended else State.SUSPENDED), (state, fact)


def test_a_coup_that_began_runs_or_is_void_at_once() -> None:
    for pair, row in ROWS:
        if Act.BEGIN in row.acts:
            assert row.void is not None or row.next in RUNNING, pair


def test_a_coup_is_left_only_with_a_verdict_or_with_its_number_kept_for_the_chef() -> None:
    for (state, fact), row in ROWS:
        is_stopped = state is State.AWAITING_CHEF and fact in (Fact.CLOSE, Fact.SUSPEND)
        if state in COUP and not targets(row, state) <= COUP and not is_stopped:
            assert (row.void is None) == (Act.RESULT in row.acts or Act.CONFIRM in row.acts), (state, fact)


def test_a_number_that_awaits_the_chef_is_lost_by_no_fact_but_his_word() -> None:
    """N8, R3b: walk all rows. Stopped by the direction it is kept, and play goes on with it."""
    rows = {fact: rule(State.AWAITING_CHEF, fact) for fact in Fact}
    assert {fact for fact, row in rows.items() if row.void is not None} == {Fact.RIEN_VA}
    leaving = {fact: row.next for fact, row in rows.items() if row.next not in (STAY, State.AWAITING_CHEF)}
    decided = {Fact.NUMBER: State.OPERATIONS, Fact.CONFIRM: State.OPERATIONS, Fact.RIEN_VA: State.RIEN_VA}
    assert leaving == decided | {Fact.SUSPEND: State.SUSPENDED, Fact.CLOSE: State.CLOSED}
    for state, fact in ((State.SUSPENDED, Fact.RESUME), (State.CLOSED, Fact.OPEN)):
        row = rule(state, fact, [CHEF_AWAITED])
        assert State.AWAITING_CHEF in targets(row, state)
        assert row.void is None
        assert {*row.needs} <= {DIRECTION_SAYS}, "refused for no fault"


def test_running_states_are_entered_only_by_a_launch() -> None:
    for (state, fact), row in ROWS:
        if state not in RUNNING and targets(row, state) & RUNNING - {state}:
            assert fact is Fact.LAUNCHED, state
            assert Act.BEGIN in row.acts


def test_a_number_awaits_the_chef_only_from_a_running_ball_and_never_runs_again() -> None:
    again = {(State.CLOSED, Fact.OPEN)}
    ways = {(state, fact) for (state, fact), row in ROWS if row.next is State.AWAITING_CHEF} - again
    facts = (Fact.NUMBER_UNCONFIRMED, Fact.NUMBER_NOT_PROVEN, Fact.ROTOR_STOPPED_IN_FALL)
    assert ways == {(state, fact) for state in RUNNING for fact in facts}
    assert all(Act.AWAIT in rule(*way).acts for way in ways)
    for fact in Fact:
        assert not targets(rule(State.AWAITING_CHEF, fact), State.AWAITING_CHEF) & RUNNING


def test_nothing_but_resume_and_close_leaves_a_suspension() -> None:
    """C15: what the direction, or a fault, suspended goes on only when a person resumes it."""
    leaving = {
        fact for (state, fact), row in ROWS if state is State.SUSPENDED and targets(row, state) != {State.SUSPENDED}
    }
    assert leaving == {Fact.RESUME, Fact.CLOSE}


def test_no_state_that_waits_for_tout_va_lets_a_coup_begin() -> None:
    """docs/rulebook.md 3 and 6: from "rien va" the game goes on by "tout va" with the ball in its pocket, and no other
    way."""
    opening = [(fact, row) for (state, fact), row in ROWS if state in NULL and row.next is State.FAITES_VOS_JEUX]
    assert [fact for fact, _ in opening] == [Fact.TOUT_VA]
    assert IN_PLACE in opening[0][1].needs


def test_a_need_that_refuses_cites_a_rule_and_gives_its_reason() -> None:
    for need in NEEDS:
        assert all(RULES.fullmatch(rule) for rule in need.rules.split()), need.name
        assert bool(need.text) + bool(need.word) <= 1, need.name
        assert need.text or need.word or need.code, need.name
        if need.text:
            assert need.rules, need.name
            assert not re.search(r"\b(Art|[CV]F?\d|[RNA]\d|rulebook)", need.text), need.name
        if need.wait_us:
            assert need.text, need.name


def test_every_need_is_needed_and_listed_once() -> None:
    used = {need for clause in CLAUSES for need in clause.row.needs}
    assert used == set(NEEDS)
    assert len({need.name for need in NEEDS}) == len(NEEDS) == len(set(NEEDS))


def test_every_word_that_opens_the_bets_needs_the_ball_at_rest_and_a_table_that_sees() -> None:
    """docs/rulebook.md 6 and 7: whatever else is so."""
    for (state, fact), row in ROWS:
        if fact in COMMANDS and (row.next is State.FAITES_VOS_JEUX or row is rule(State.SUSPENDED, Fact.RESUME)):
            assert {AT_REST, NO_OBSTACLE, LEVEL_TOLD} <= set(row.needs), (state, fact)


def test_play_begins_where_a_closed_table_opens_and_ends_where_one_closes() -> None:
    """A4, A5: so the bouler's time, and la dernière, can't outlive an evening."""
    for (state, fact), row in ROWS:
        opens = state is State.CLOSED and isinstance(row.next, State) and row.next not in (state, State.SUSPENDED)
        assert (Act.BEGIN_PLAY in row.acts) == opens, (state, fact)
        assert (Act.END_PLAY in row.acts) == (state is not State.CLOSED and row.next is State.CLOSED), (state, fact)


def test_every_state_can_be_reached_and_left() -> None:
    ways = {
        state: {to for (at, _), row in ROWS if at is state for to in targets(row, state)} - {state} for state in State
    }
    for start in State:
        seen, front = {start}, [start]
        while front:
            found = ways[front.pop()] - seen
            seen |= found
            front += found
        assert seen == set(State), (start, set(State) - seen)


def test_states_and_facts_of_people_have_the_names_of_the_wire() -> None:
    assert {state.wire_name for state in State} == {
        "closed",
        "faites_vos_jeux",
        "ball_running",
        "rien_ne_va_plus",
        "ball_on_obstacle",
        "awaiting_chef",
        "operations",
        "rien_va",
        "suspended",
    }
