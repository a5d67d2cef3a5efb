"""One run of a ball: what was reported of it, each once, and what a new direction opens again."""

from __future__ import annotations

import msgspec

from wheeld.core.facts import Fact
from wheeld.core.tracking.ball import DIRECTION_FACTS, Phase, Run, RunRecord


def reported(*facts: Fact) -> Run:
    run = Run(Phase.ON_TRACK, launched_us=5)
    for fact in facts:
        run.report(fact)
    return run


def test_a_fact_is_noted_once_in_the_order_of_the_reports() -> None:
    run = reported(Fact.LAUNCHED, Fact.BALL_SLOWED, Fact.LAUNCHED)
    assert run.reported == [Fact.LAUNCHED, Fact.BALL_SLOWED]
    assert run.has_reported(Fact.FALL_OVERDUE, Fact.BALL_SLOWED)
    assert not run.has_reported(*DIRECTION_FACTS)


def test_a_direction_known_anew_may_be_reported_again_and_stands_until_then() -> None:
    run = reported(Fact.LAUNCHED)
    run.report_direction(Fact.OPPOSITE_DIRECTION)
    run.turn("ccw")
    assert (run.direction, run.reported, run.opposite) == ("ccw", [Fact.LAUNCHED], True)
    run.report_direction(Fact.SAME_DIRECTION)
    assert not run.opposite


def test_of_a_run_that_is_over_nothing_is_known() -> None:
    run = reported(Fact.LAUNCHED, Fact.OPPOSITE_DIRECTION)
    run.disowned = True
    run.clear()
    assert run == Run()


def test_a_run_is_stored_as_json_and_resumed() -> None:
    run = reported(Fact.LAUNCHED, Fact.ROTOR_WRONG_WAY)
    stored = msgspec.json.encode(msgspec.to_builtins(run, str_keys=True))
    assert stored == msgspec.json.encode(run)
    assert msgspec.convert(msgspec.json.decode(stored), Run, str_keys=True) == run


def test_a_run_whose_laps_nobody_counts_is_short() -> None:
    assert RunRecord({}, None, None, None).is_short_of(1)
    assert RunRecord({}, 2.99, 5, 3.4).is_short_of(3)
    assert not RunRecord({}, 3 - 1e-9, 5, 3.4).is_short_of(3)


def test_a_run_may_have_laps_that_are_not_proven() -> None:
    assert RunRecord({}, None, None, None).may_have(3)
    assert RunRecord({}, 2.6, 5, 3.4).may_have(3)
    assert not RunRecord({}, 2.2, 5, 2.99).may_have(3)
