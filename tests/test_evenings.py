"""Evenings of our own simulator, which shares nothing with the core: verdicts, determinism, and evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import pytest

from hw_sim import log
from hw_sim.evening import Evening, draw_evening, script
from hw_sim.faults import GROSS, Rates, add_faults
from hw_sim.scenarios import SCENARIOS
from hw_sim.table import Outcome
from tests.faults.conftest import size_of
from tests.truth import differences, verdicts
from wheeld.core.observations import Observation
from wheeld.core.setting import Header, from_header
from wheeld.core.table import Table
from wheeld.replay import output_lines, replay

SEEDS = size_of("evenings")
NOISY_SEEDS = size_of("evenings with faulty sensors")
LIKELY = 0.99
"""Sensors that err may hide what would have proven a coup: a few verdicts rightly differ from what happened."""
BATCH = 20


def _lines(evening: Evening) -> Iterator[bytes]:
    return log.lines(evening.header, evening.events())


@pytest.mark.parametrize("first", range(0, SEEDS, BATCH))
def test_every_verdict_of_drawn_evenings_equals_the_truth(first: int) -> None:
    for seed in range(first, first + BATCH):
        evening = draw_evening(seed)
        assert differences(verdicts(replay(_lines(evening))), evening.truth) == [], f"seed {seed}"


def test_sensors_that_err_at_ordinary_rates_make_no_result_and_change_hardly_a_verdict() -> None:
    truths, wrong = 0, []
    for seed in range(NOISY_SEEDS):
        evening = draw_evening(seed)
        spoilt = add_faults(evening, f"evenings {seed}", Rates(), without=GROSS)
        published = verdicts(replay(log.lines(evening.header, spoilt.events)))
        assert [v for v in published if v["topic"] == "result"] == _true_results(published, spoilt.truth), (
            f"seed {seed}"
        )
        truths += len(spoilt.truth)
        wrong += [f"seed {seed}: {problem}" for problem in differences(published, spoilt.truth)]
    assert len(wrong) <= (1 - LIKELY) * truths, wrong


def _true_results(published: list[dict[str, Any]], truth: Sequence[Outcome]) -> list[dict[str, Any]]:
    """The published results that the truth has too, in the same place and with the same number."""
    pairs = zip(published, truth, strict=False)  # `differences` reports those that are missing
    return [v for v, outcome in pairs if v["topic"] == "result" and v["payload"]["number"] == outcome.get("number")]


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_each_scenario_alone_is_adjudicated_as_it_was_played(name: str) -> None:
    evening = script([name], seed=7)
    assert differences(verdicts(replay(_lines(evening))), evening.truth) == [], f"{name}, seed 7"


@pytest.mark.parametrize("seed", range(40))
def test_a_launch_of_two_to_four_laps_is_never_valid_under_three(seed: int) -> None:
    """What the passes neither prove nor rule out is the chef's to say; what was not run is never valid."""
    evening = script(["lap_margin"], seed=seed)
    assert differences(verdicts(replay(_lines(evening))), evening.truth) == [], f"seed {seed}"


@pytest.mark.parametrize("seed", [3, 14])
def test_the_same_log_gives_the_same_bytes(seed: int) -> None:
    assert list(replay(_lines(draw_evening(seed)))) == list(replay(_lines(draw_evening(seed))))


@pytest.mark.parametrize("seed", [1, 5, 8])
def test_the_stored_evidence_of_each_coup_replays_to_the_payloads_that_were_published(seed: int) -> None:
    header, *lines = _lines(draw_evening(seed))
    setting = from_header(msgspec.json.decode(header, type=Header))
    table, _ = Table.start(setting, boot_id="b" * 32, started_utc_us=1_795_000_000_000_000)
    since_last: list[bytes] = []
    coups = 0
    for line in lines:
        step = table.apply(msgspec.json.decode(line, type=Observation))
        since_last += output_lines(step)
        if step.coup_logs:
            for evidence in step.coup_logs:
                assert list(replay(evidence.log.splitlines())) == since_last, f"seed {seed}, coup {evidence.coup}"
                coups += 1
            since_last = []
    assert coups >= 3, f"seed {seed}"


@pytest.mark.parametrize("seed", [2, 11])
def test_evenings_cover_more_than_one_outcome(seed: int) -> None:
    """The suite above would prove little on evenings of one kind."""
    kinds = {outcome.get("cause", "result") for outcome in draw_evening(seed).truth}
    assert len(kinds) >= 3, f"seed {seed}"
