"""Verdicts against truths, each written by hand."""

from __future__ import annotations

import pytest

from hw_sim.campaign.black_box import HeardMessage
from hw_sim.campaign.comparison import AGREEING, KINDS, Kind, MarkSpan, SpanComparer, compare
from hw_sim.table import Outcome
from tests.hw_sim_campaign.messages import (
    DEADLINE_US,
    EVIDENCE_US,
    OUT_US,
    came_out,
    evidence,
    notice,
    result,
    state,
    void,
    was_down,
    was_void,
)

TWO_BEAMS = (10.0, 100.0)
LAUNCHED_AGAIN = void("breakdown", OUT_US + 1_000_000, evidence={"first_pass_us": OUT_US + 500_000})
HAD_STRAY: Outcome = {**came_out(17), "stray_t": OUT_US - 1_000_000}

PAIRS: list[tuple[Kind, list[Outcome], list[HeardMessage]]] = [
    ("right", [came_out(17)], [result(17)]),
    ("right", [was_void("chef")], [void("chef")]),
    ("right", [was_void("chef")], [void("chef", DEADLINE_US)]),
    ("right", [was_void("chef")], [void("chef", EVIDENCE_US - 1_000)]),
    ("wrong_number", [came_out(17)], [result(25)]),
    ("false_valid", [was_void("chef")], [result(17)]),
    ("false_valid", [], [result(17)]),
    ("false_void", [came_out(17)], [void("breakdown")]),
    ("false_void", [came_out(17)], [void("too_few_laps")]),
    ("false_void", [came_out(17)], [void("chef", OUT_US + 1_000)]),
    ("false_void", [came_out(17)], [void("chef", OUT_US + 5_000_000, **evidence(OUT_US - 1))]),
    ("void_after_number", [came_out(17)], [void("chef", OUT_US + 1_001)]),
    ("void_after_number", [came_out(17)], [void("rotor_stopped_before_drop", OUT_US + 2_000_000)]),
    ("unproven", [came_out(17, 3.2)], [void("too_few_laps", OUT_US + 5_000_000)]),
    ("unproven", [came_out(17, 3.2)], [void("too_few_laps")]),
    ("false_void", [came_out(17, 3.2)], [void("breakdown")]),
    ("broke_down", [was_down(10_999_999)], [void("breakdown")]),
    ("false_void", [was_down(11_000_001)], [void("breakdown")]),
    ("false_void", [was_down(10_999_999)], [void("same_direction")]),
    ("broke_down", [HAD_STRAY], [LAUNCHED_AGAIN]),
    ("void_after_number", [came_out(17)], [LAUNCHED_AGAIN]),
    ("void_after_number", [HAD_STRAY], [void("rotor_stopped_before_drop", OUT_US + 2_000_000)]),
    ("false_void", [HAD_STRAY], [void("breakdown")]),
    ("asked", [{**came_out(17), "readers_dead": True}], [void("early_launch")]),
    ("asked", [{**came_out(17), "readers_dead": True}], [void("breakdown")]),
    ("false_void", [{**came_out(17), "readers_dead": True}], [void("same_direction")]),
    ("chef_voided", [{**came_out(17), "readers_dead": True}], [void("chef", OUT_US + 5_000_000)]),
    ("false_void", [came_out(17)], [void("early_launch")]),
    ("wrong_cause", [was_void("chef")], [void("breakdown")]),
    ("premature", [was_void("chef")], [void("chef", EVIDENCE_US - 1_001)]),
    ("late", [was_void("chef")], [void("chef", DEADLINE_US + 1)]),
    ("missed", [was_void("chef")], []),
    ("missed", [came_out(17)], []),
    ("extra_void", [], [void("chef")]),
]


@pytest.mark.parametrize(("kind", "truth", "messages"), PAIRS)
def test_a_pair_is_what_it_is(kind: Kind, truth: list[Outcome], messages: list[HeardMessage]) -> None:
    (comparison,) = compare(truth, messages, TWO_BEAMS)
    assert comparison.kind == kind
    assert comparison.outcome is (truth[0] if truth else None)
    assert comparison.verdict is (messages[0] if messages else None)


def test_the_pairs_have_every_kind_that_a_pair_can_be() -> None:
    assert {kind for kind, _, _ in PAIRS} == set(KINDS) - {
        "stranded",
        "bets_open",
        "untold",
        "false_alarm",
        "in_wake",
    }


def test_only_what_the_law_lets_pass_is_fine() -> None:
    assert {"right", "unproven", "chef_voided", "broke_down", "asked", "in_wake"} == AGREEING


def test_without_a_layout_no_run_is_excused() -> None:
    assert [each.kind for each in compare([came_out(17, 3.2)], [void("too_few_laps")])] == ["false_void"]


def test_outcomes_and_verdicts_are_paired_in_order() -> None:
    comparisons = compare([came_out(17), was_void("early_launch")], [result(17), void("early_launch")])
    assert [each.kind for each in comparisons] == ["right", "right"]


def test_of_too_many_verdicts_the_one_left_over_is_the_one_that_fits_nowhere() -> None:
    comparisons = compare([came_out(17)], [void("breakdown"), result(17)])
    assert [each.kind for each in comparisons] == ["right", "extra_void"]


def test_of_too_few_verdicts_the_missed_outcome_is_the_one_that_fits_nowhere() -> None:
    comparisons = compare([was_void("too_few_laps"), came_out(17)], [result(17)])
    assert [each.kind for each in comparisons] == ["right", "missed"]
    assert comparisons[1].outcome == was_void("too_few_laps")


def _listening(*outcomes: list[Outcome]) -> SpanComparer:
    spans = [MarkSpan(7 + place, 30_000_000 * place, tuple(some)) for place, some in enumerate(outcomes)]
    return SpanComparer(spans, TWO_BEAMS)


def test_each_verdict_belongs_to_the_span_in_which_it_was_published() -> None:
    comparer = _listening([came_out(17)], [came_out(4)])
    for message in (
        result(17),
        notice("low_margin", 21_000_000),
        state("faites_vos_jeux", 29_999_999),
        result(4, 50_000_000),
    ):
        assert comparer.receive(message)
    comparer.finish()
    assert [(compared.span.index, not compared.disagreement) for compared in comparer.compared] == [
        (7, True),
        (8, True),
    ]
    assert [[each.t for each in compared.notices] for compared in comparer.compared] == [
        [21_000_000],
        [],
    ]


def test_a_verdict_at_the_very_beginning_of_a_span_is_its_own() -> None:
    comparer = _listening([], [came_out(4)])
    comparer.receive(result(4, 30_000_000))
    comparer.finish()
    assert not any(compared.disagreement for compared in comparer.compared)


def test_a_span_is_compared_as_soon_as_a_message_shows_that_it_is_over() -> None:
    comparer = _listening([came_out(17)], [came_out(4)])
    assert comparer.receive(result(17))
    assert comparer.compared == []
    comparer.receive(state("ball_running", 40_000_000))
    assert len(comparer.compared) == 1


@pytest.mark.parametrize(
    ("figures", "cause", "kind"),
    [
        ({"unproven": "R3"}, "chef", "chef_voided"),
        ({"number_seen": 17}, "chef", "chef_voided"),
        ({"unproven": "R3"}, "breakdown", "void_after_number"),
        ({}, "chef", "void_after_number"),
    ],
)
def test_only_a_number_that_awaited_the_chef_is_his_to_void(figures: dict[str, object], cause: str, kind: Kind) -> None:
    comparer = _listening([came_out(17)])
    comparer.receive(void(cause, OUT_US + 2_000_000, evidence=figures))
    comparer.finish()
    assert [each.kind for compared in comparer.compared for each in compared.comparisons] == [kind]


def test_after_a_disagreement_nothing_more_is_wanted_and_nothing_more_is_compared() -> None:
    comparer = _listening([came_out(17)], [came_out(4)], [came_out(5)])
    assert comparer.receive(result(18))
    assert not comparer.receive(state("ball_running", 40_000_000))
    assert not comparer.receive(result(5, 65_000_000))
    comparer.finish()
    assert [compared.span.index for compared in comparer.compared] == [7]
    assert comparer.out_of_step


def test_a_silence_over_several_spans_ends_at_the_first() -> None:
    comparer = _listening([came_out(17)], [came_out(4)], [came_out(5)])
    assert not comparer.receive(result(5, 65_000_000))
    assert [each.kind for compared in comparer.compared for each in compared.comparisons] == ["missed"]


def test_a_late_verdict_leaves_the_table_in_step() -> None:
    comparer = _listening([was_void("chef")], [came_out(4)])
    comparer.receive(void("chef", DEADLINE_US + 1))
    assert comparer.receive(result(4, 50_000_000))
    assert comparer.compared[0].disagreement == {"late"}


def test_a_run_that_cannot_be_proven_is_fine_but_out_of_step() -> None:
    comparer = _listening([came_out(17, 3.1)], [came_out(4)])
    comparer.receive(void("too_few_laps"))
    assert not comparer.receive(state("ball_running", 50_000_000))
    assert not comparer.compared[0].disagreement


@pytest.mark.parametrize("name", ["suspended", "rien_va", "operations", "closed"])
def test_a_table_that_waits_for_people_who_have_gone_is_stranded(name: str) -> None:
    comparer = _listening([came_out(17)], [came_out(4)])
    comparer.receive(result(17))
    comparer.receive(state(name, 25_000_000))
    assert not comparer.receive(state("faites_vos_jeux", 31_000_000))
    assert [each.kind for each in comparer.compared[0].comparisons] == ["right", "stranded"]


@pytest.mark.parametrize(
    ("shown", "kinds"),
    [
        ([], ["right"]),
        ([("open", OUT_US - 9), ("closed", OUT_US - 8)], ["right"]),
        ([("open", OUT_US - 9), ("closed", OUT_US + 1), ("open", OUT_US + 9)], ["right", "bets_open"]),
    ],
    ids=["never open", "closed in time", "closed too late"],
)
def test_bets_are_closed_by_the_time_that_the_truth_gives(shown: list[tuple[str, int]], kinds: list[Kind]) -> None:
    comparer = _listening([{**came_out(17), "closed_t": OUT_US}], [came_out(4)])
    for bets, t_us in shown:
        comparer.receive(state("ball_running", t_us, bets))
    comparer.receive(result(17))
    comparer.receive(state("faites_vos_jeux", 25_000_000, "open"))
    comparer.finish()
    assert [each.kind for each in comparer.compared[0].comparisons] == kinds
    assert comparer.compared[0].in_step


@pytest.mark.parametrize(
    ("blind", "told", "kinds"),
    [(3, "beam/2", []), (3, None, ["untold"]), (3, "beam/1", ["untold", "false_alarm"]), (2, None, [])],
)
def test_people_are_told_of_a_blind_sensor_and_of_no_other(blind: int, told: str | None, kinds: list[Kind]) -> None:
    numbers = [came_out(number) for number in (17, 4, 9)]
    comparer = _listening([{**one, "blind": "beam/2"} if at < blind else one for at, one in enumerate(numbers)])
    for number in (17, 4, 9):
        comparer.receive(result(number))
    if told is not None:
        comparer.receive(notice("sensor_trouble", OUT_US, sensor=told, what="blind"))
    comparer.finish()
    assert [each.kind for each in comparer.compared[0].comparisons] == ["right"] * 3 + kinds


@pytest.mark.parametrize(("blind", "kinds"), [("beam/2", []), ("beam/1", ["untold"])])
def test_a_sensor_that_stays_blind_is_told_once(blind: str, kinds: list[Kind]) -> None:
    """In one span after the other."""
    spans = list[list[Outcome]]()
    for sensor in ("beam/2", blind):
        spans.append([{**came_out(number), "blind": sensor} for number in (17, 4, 9)])
    comparer = _listening(*spans)
    comparer.receive(notice("sensor_trouble", OUT_US, sensor="beam/2", what="blind"))
    for t_us in (OUT_US, 50_000_000):
        for number in (17, 4, 9):
            comparer.receive(result(number, t_us))
        comparer.receive(state("faites_vos_jeux", t_us))
    comparer.finish()
    found = [[each.kind for each in span.comparisons] for span in comparer.compared]
    assert found == [["right"] * 3, ["right"] * 3 + kinds]


def test_a_table_in_ball_running_may_still_publish_a_verdict() -> None:
    comparer = _listening([came_out(17)], [came_out(4)])
    comparer.receive(result(17))
    comparer.receive(state("ball_running", 25_000_000))
    assert comparer.receive(void("breakdown", 31_000_000))
    comparer.receive(result(4, 50_000_000))
    comparer.finish()
    assert [each.kind for each in comparer.compared[1].comparisons] == ["extra_void", "right"]


@pytest.mark.parametrize(
    ("truth", "number", "kind"),
    [
        (came_out(17), 17, "asked"),
        (came_out(17), None, "asked"),
        (came_out(17), 25, "missed"),
        (was_void("early_launch"), None, "missed"),
    ],
)
def test_a_number_that_awaits_a_chef_who_does_not_answer_is_asked_for(
    truth: Outcome, number: int | None, kind: Kind
) -> None:
    comparer = _listening([truth], [came_out(4)])
    awaiting = state("awaiting_chef", 25_000_000)
    awaiting.payload.update({} if number is None else {"number_awaiting_chef": number})
    comparer.receive(awaiting)
    comparer.finish()
    assert [each.kind for each in comparer.compared[0].comparisons] == [kind]
    assert comparer.out_of_step


def test_only_what_can_follow_from_a_wrong_verdict_is_in_its_wake() -> None:
    numbers = [came_out(number) for number in (1, 2, 3, 4, 5)]
    comparer = _listening(numbers)
    for message in (result(1, 1), void("breakdown", 2), void("early_launch", 3), result(7, 4), result(5, 5)):
        comparer.receive(message)
    comparer.finish()
    kinds = [each.kind for each in comparer.compared[0].comparisons]
    assert kinds == ["right", "false_void", "in_wake", "wrong_number", "right"]
    assert comparer.compared[0].disagreement == {"false_void", "wrong_number"}


def test_a_number_that_awaits_a_person_is_asked_for_once_however_often_people_launch_again() -> None:
    comparer = _listening([came_out(number) for number in (1, 2, 3)])
    comparer.receive(result(1, 1))
    comparer.receive(state("awaiting_chef", 2))
    comparer.finish()
    assert [each.kind for each in comparer.compared[0].comparisons] == ["right", "asked", "in_wake"]


def test_a_disagreement_is_not_counted_a_second_time_as_stranded() -> None:
    comparer = _listening([came_out(17)], [came_out(4)])
    comparer.receive(void("breakdown"))
    comparer.receive(state("suspended", 11_000_001))
    comparer.finish()
    assert [each.kind for each in comparer.compared[0].comparisons] == ["false_void"]


@pytest.mark.parametrize(
    ("published", "idle"),
    [
        ([state("suspended", OUT_US)], 1),
        ([state("suspended", OUT_US), state("suspended", OUT_US + 1)], 1),
        ([state("operations", OUT_US)], 0),
        ([void("breakdown", OUT_US), state("suspended", OUT_US)], 0),
    ],
    ids=["idle", "told twice", "another state", "a coup ran"],
)
def test_a_table_that_is_suspended_while_no_coup_runs_is_noted(published: list[HeardMessage], idle: int) -> None:
    comparer = SpanComparer([MarkSpan(0, 0, ())], TWO_BEAMS)
    for message in published:
        comparer.receive(message)
    comparer.finish()
    assert len(comparer.compared[0].suspensions) == idle


def test_a_person_who_suspends_the_table_is_no_idle_suspension() -> None:
    comparer = SpanComparer([MarkSpan(0, 0, ())], TWO_BEAMS)
    comparer.receive(HeardMessage(OUT_US, "table", {"state": "suspended", "bets": "closed", "by": "chef"}))
    comparer.finish()
    assert comparer.compared[0].suspensions == ()
