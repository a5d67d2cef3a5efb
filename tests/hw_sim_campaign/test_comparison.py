"""Verdicts against truths, each written by hand."""

from __future__ import annotations

import pytest

from hw_sim.campaign.black_box import Told
from hw_sim.campaign.comparison import FINE, KINDS, Kind, Listening, Span, judge
from hw_sim.table import Outcome
from tests.hw_sim_campaign.messages import DEADLINE_US, EVIDENCE_US, came_out, notice, result, state, void, was_void

TWO_BEAMS = (10.0, 100.0)

PAIRS: list[tuple[Kind, list[Outcome], list[Told]]] = [
    ("right", [came_out(17)], [result(17)]),
    ("right", [was_void("chef")], [void("chef")]),
    ("right", [was_void("chef")], [void("chef", DEADLINE_US)]),
    ("right", [was_void("chef")], [void("chef", EVIDENCE_US - 1_000)]),
    ("wrong_number", [came_out(17)], [result(25)]),
    ("false_valid", [was_void("chef")], [result(17)]),
    ("false_valid", [], [result(17)]),
    ("false_void", [came_out(17)], [void("breakdown")]),
    ("false_void", [came_out(17)], [void("too_few_laps")]),
    ("unproven", [came_out(17, 3.2)], [void("too_few_laps")]),
    ("false_void", [came_out(17, 3.2)], [void("breakdown")]),
    ("wrong_cause", [was_void("chef")], [void("breakdown")]),
    ("premature", [was_void("chef")], [void("chef", EVIDENCE_US - 1_001)]),
    ("late", [was_void("chef")], [void("chef", DEADLINE_US + 1)]),
    ("missed", [was_void("chef")], []),
    ("missed", [came_out(17)], []),
    ("extra_void", [], [void("chef")]),
]


@pytest.mark.parametrize(("kind", "truth", "told"), PAIRS)
def test_a_pair_is_what_it_is(kind: Kind, truth: list[Outcome], told: list[Told]) -> None:
    (judged,) = judge(truth, told, TWO_BEAMS)
    assert judged.kind == kind
    assert judged.outcome is (truth[0] if truth else None)
    assert judged.verdict is (told[0] if told else None)


def test_the_pairs_have_every_kind_that_a_pair_can_be() -> None:
    assert {kind for kind, _, _ in PAIRS} == set(KINDS) - {"stranded"}


def test_only_what_the_law_lets_pass_is_fine() -> None:
    assert {"right", "unproven"} == FINE


def test_without_a_layout_no_run_is_excused() -> None:
    assert [each.kind for each in judge([came_out(17, 3.2)], [void("too_few_laps")])] == ["false_void"]


def test_outcomes_and_verdicts_are_paired_in_order() -> None:
    judged = judge([came_out(17), was_void("early_launch")], [result(17), void("early_launch")])
    assert [each.kind for each in judged] == ["right", "right"]


def test_of_too_many_verdicts_the_one_left_over_is_the_one_that_fits_nowhere() -> None:
    judged = judge([came_out(17)], [void("breakdown"), result(17)])
    assert [each.kind for each in judged] == ["right", "extra_void"]


def test_of_too_few_verdicts_the_missed_outcome_is_the_one_that_fits_nowhere() -> None:
    judged = judge([was_void("too_few_laps"), came_out(17)], [result(17)])
    assert [each.kind for each in judged] == ["right", "missed"]
    assert judged[1].outcome == was_void("too_few_laps")


def _listening(*outcomes: list[Outcome]) -> Listening:
    spans = [Span(7 + place, 30_000_000 * place, tuple(some)) for place, some in enumerate(outcomes)]
    return Listening(spans, TWO_BEAMS)


def test_each_verdict_belongs_to_the_span_in_which_it_was_said() -> None:
    listening = _listening([came_out(17)], [came_out(4)])
    for told in (
        result(17),
        notice("low_margin", 21_000_000),
        state("faites_vos_jeux", 29_999_999),
        result(4, 50_000_000),
    ):
        assert listening.hear(told)
    listening.ended()
    assert [(account.span.index, account.fine) for account in listening.accounts] == [(7, True), (8, True)]
    assert [[each.t for each in account.notices] for account in listening.accounts] == [[21_000_000], []]


def test_a_verdict_said_at_the_very_beginning_of_a_span_is_its_own() -> None:
    listening = _listening([], [came_out(4)])
    listening.hear(result(4, 30_000_000))
    listening.ended()
    assert all(account.fine for account in listening.accounts)


def test_a_span_is_judged_as_soon_as_a_message_shows_that_it_is_over() -> None:
    listening = _listening([came_out(17)], [came_out(4)])
    assert listening.hear(result(17))
    assert listening.accounts == []
    listening.hear(state("ball_running", 40_000_000))
    assert len(listening.accounts) == 1


def test_after_a_disagreement_nothing_more_is_wanted_and_nothing_more_is_judged() -> None:
    listening = _listening([came_out(17)], [came_out(4)], [came_out(5)])
    assert listening.hear(result(18))
    assert not listening.hear(state("ball_running", 40_000_000))
    assert not listening.hear(result(5, 65_000_000))
    listening.ended()
    assert [account.span.index for account in listening.accounts] == [7]
    assert listening.out_of_step


def test_a_silence_over_several_spans_ends_at_the_first() -> None:
    listening = _listening([came_out(17)], [came_out(4)], [came_out(5)])
    assert not listening.hear(result(5, 65_000_000))
    assert [each.kind for account in listening.accounts for each in account.judged] == ["missed"]


def test_a_late_verdict_leaves_the_table_in_step() -> None:
    listening = _listening([was_void("chef")], [came_out(4)])
    listening.hear(void("chef", DEADLINE_US + 1))
    assert listening.hear(result(4, 50_000_000))
    assert not listening.accounts[0].fine


def test_a_run_that_cannot_be_proven_is_fine_but_out_of_step() -> None:
    listening = _listening([came_out(17, 3.1)], [came_out(4)])
    listening.hear(void("too_few_laps"))
    assert not listening.hear(state("ball_running", 50_000_000))
    assert listening.accounts[0].fine


@pytest.mark.parametrize("name", ["suspended", "rien_va", "operations", "closed"])
def test_a_table_that_waits_for_people_who_have_gone_is_stranded(name: str) -> None:
    listening = _listening([came_out(17)], [came_out(4)])
    listening.hear(result(17))
    listening.hear(state(name, 25_000_000))
    assert not listening.hear(state("faites_vos_jeux", 31_000_000))
    assert [each.kind for each in listening.accounts[0].judged] == ["right", "stranded"]


def test_a_table_that_believes_in_a_launch_may_still_tell_of_it() -> None:
    listening = _listening([came_out(17)], [came_out(4)])
    listening.hear(result(17))
    listening.hear(state("ball_running", 25_000_000))
    assert listening.hear(void("breakdown", 31_000_000))
    listening.hear(result(4, 50_000_000))
    listening.ended()
    assert [each.kind for each in listening.accounts[1].judged] == ["right", "extra_void"]


def test_a_disagreement_is_not_counted_a_second_time_as_stranded() -> None:
    listening = _listening([came_out(17)], [came_out(4)])
    listening.hear(void("breakdown"))
    listening.hear(state("suspended", 11_000_001))
    listening.ended()
    assert [each.kind for each in listening.accounts[0].judged] == ["false_void"]
