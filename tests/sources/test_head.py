"""Wheel heads at a table, whole: simulated lines to verdicts, held to the simulator's truth."""

from __future__ import annotations

import msgspec
import pytest

from hw_sim.cammegh.coups import KINDS, HeadCoup, Model
from tests.cammegh.bench import MERCURY, SLINGSHOT, head
from tests.core import head_evening
from tests.sources.head_table import HeadTable, Played, cammegh
from wheeld.core.setting import TableSetting
from wheeld.replay import replay

COUPS = 40
PLAYED_WELL = {
    Model.MERCURY_360: {"valid", "runaway", "slow_rotor", "power_cycle"},
    Model.SLINGSHOT_2: {"valid", "runaway", "off_track", "ball_flickers", "launch_failed", "power_cycle"},
}
"""Kinds in which the ball runs as Art. 10 asks; what else happens, happens before or after."""
AT = {
    Model.MERCURY_360: (MERCURY, head_evening.MERCURY),
    Model.SLINGSHOT_2: (SLINGSHOT, head_evening.SLINGSHOT),
}


def played(model: Model, seed: int, setting: TableSetting | None = None, **more: bool) -> tuple[list[HeadCoup], Played]:
    wheel = head(model, seed, COUPS)
    setup, usual = AT[model]
    return wheel.truth, HeadTable(wheel, cammegh(setup), setting or usual, **more).play()


def well_run(model: Model, truth: list[HeadCoup]) -> list[int]:
    return [coup.number for coup in truth if coup.kind in PLAYED_WELL[model] and coup.number is not None]


def is_subsequence(few: list[int], many: list[int]) -> bool:
    rest = iter(many)
    return all(number in rest for number in few)


@pytest.mark.parametrize("seed", range(6))
def test_a_mercury_has_a_result_for_each_coup_run_well_and_for_no_other(seed: int) -> None:
    truth, outcome = played(Model.MERCURY_360, seed)
    good = well_run(Model.MERCURY_360, truth)
    assert is_subsequence(outcome.results, good), seed
    # One that follows a fault may find the table not open yet; none is invented, and few are missed.
    assert len(outcome.results) >= 0.8 * len(good), (seed, outcome.results, good)
    assert all(result["laps"] >= 3 for result in outcome.of("result")), seed


@pytest.mark.parametrize("seed", range(4))
def test_a_slingshot_alone_never_has_a_result(seed: int) -> None:
    truth, outcome = played(Model.SLINGSHOT_2, seed)
    assert well_run(Model.SLINGSHOT_2, truth)
    assert outcome.results == [], seed
    assert "breakdown" in outcome.causes


@pytest.mark.parametrize("seed", range(4))
def test_what_a_slingshot_cannot_prove_the_chef_may_confirm_and_it_is_recorded(seed: int) -> None:
    truth, outcome = played(Model.SLINGSHOT_2, seed, head_evening.CHEF, confirms=True)
    good = well_run(Model.SLINGSHOT_2, truth)
    assert is_subsequence(outcome.results, good), seed
    assert len(outcome.results) >= 0.6 * len(good), (seed, outcome.results, good)
    for result in outcome.of("result"):
        assert (result["confirmed_by"], result["unproven"], result["laps"]) == ("chef", ["R2"], None), seed


@pytest.mark.parametrize(
    ("model", "kind", "cause"),
    [
        (Model.MERCURY_360, "few_laps", "too_few_laps"),
        (Model.MERCURY_360, "same_direction", "same_direction"),
        (Model.MERCURY_360, "same_direction_unflagged", "same_direction"),
        (Model.MERCURY_360, "rotor_stopped", "rotor_stopped_running"),
        (Model.MERCURY_360, "void_game", "breakdown"),
        (Model.MERCURY_360, "sensor_fault", "breakdown"),
        (Model.SLINGSHOT_2, "same_direction", "same_direction"),
        (Model.SLINGSHOT_2, "rotor_stopped", "rotor_stopped_running"),
        (Model.SLINGSHOT_2, "ball_lost", "breakdown"),
    ],
)
def test_each_kind_of_null_coup_is_void_for_its_cause(model: Model, kind: str, cause: str) -> None:
    wheel = head(model, 3, 4, kinds=[kind])
    setup, setting = AT[model]
    outcome = HeadTable(wheel, cammegh(setup), setting).play()
    assert cause in outcome.causes
    assert is_subsequence(outcome.results, well_run(model, wheel.truth))


def test_the_evidence_of_a_head_replays_to_the_same_bytes() -> None:
    wheel = head(Model.MERCURY_360, 1, 12)
    outcome = HeadTable(wheel, cammegh(MERCURY), head_evening.MERCURY).play()
    assert len(outcome.evidence) >= 6
    verdicts = [message for message in outcome.messages if message["schema"] in ("result/1", "void/1")]
    for log, verdict in zip(outcome.evidence, verdicts, strict=True):
        assert verdict in [msgspec.json.decode(line)["payload"] for line in replay(log.splitlines())]


def test_every_kind_is_known_here() -> None:
    for model, kinds in KINDS.items():
        assert PLAYED_WELL[model] <= set(kinds)
