"""The whole: the real daemon in a house where everything fails, hours in seconds (`make whole` plays thousands)."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from hw_sim.evening import drawable
from hw_sim.whole.house import House
from hw_sim.whole.plan import (
    KINDS,
    LAYOUTS,
    NOT_OF_THE_WHOLE,
    OF_A_BOARD,
    EveningPlan,
    PlannedCoup,
    PlannedFault,
    from_text,
)
from hw_sim.whole.settlement import Settlement
from hw_sim.whole.witness import FirstTaken, Round, TimeSpan, TrueCoup, TrueRun, Witness, Word
from tests.journal.journals import open_reader
from tests.whole import oracles
from tests.whole.daemon import JOURNAL, play
from tests.whole.evening import FOUND, SOURCES, plan_of, played, shrunk
from wheeld.journal.verify import verify


@pytest.mark.parametrize("index", range(len(SOURCES)))
def test_an_evening_is_safe_and_goes_on(index: int) -> None:
    plan = plan_of("test", index)
    assert played(plan).problems == (), plan.text()


@pytest.mark.parametrize("index", range(8))
def test_after_a_slip_no_number_is_wrong_and_people_play_on(index: int) -> None:
    """`make whole EVENINGS=400 ONLY="disc_slips disc_slips_back"` plays more of them."""
    plan = plan_of("slips", index, ("disc_slips", "disc_slips_back"))
    assert {fault.kind for fault in plan.faults} <= {"disc_slips", "disc_slips_back"}
    assert played(plan).problems == (), plan.text()


@pytest.mark.parametrize("plan", FOUND, ids=[plan.seed for plan in FOUND])
def test_what_was_found_once_stays_away(plan: EveningPlan) -> None:
    assert played(plan).problems == ()


@pytest.mark.parametrize("index", [0, 2])
def test_the_same_plan_is_the_same_evening_to_the_byte(index: int) -> None:
    plan = plan_of("twice", index)
    assert played(plan).digest == played(plan).digest


def test_a_plan_is_written_and_read_back() -> None:
    plan = plan_of("text", 0)
    assert from_text(plan.text()) == plan


def test_each_kind_of_fault_can_be_injected() -> None:
    assert House(plan_of("text", 0)).faults._acts.keys() == KINDS.keys()
    scenarios = {one.name for one in drawable(LAYOUTS["board"])}
    assert scenarios >= NOT_OF_THE_WHOLE | OF_A_BOARD


def test_a_plan_that_fails_is_made_smaller() -> None:
    """Down to what makes it fail: here one fault, in one coup."""
    faults = tuple(PlannedFault(kind, coup, "start", 1.0) for coup in range(3) for kind in ("stall", "object", "noise"))
    plan = EveningPlan(
        "smaller", "board", (PlannedCoup("valid"), PlannedCoup("chef_void"), PlannedCoup("valid")), faults
    )
    smaller = shrunk(plan, lambda one: any(fault.kind == "object" for fault in one.faults))
    assert smaller == msgspec.structs.replace(plan, coups=plan.coups[:1], faults=(faults[1],))


# --- the oracles themselves ------------------------------------------------------------------------------------------


def _result(t_s: float, number: int, seq: int, **more: object) -> FirstTaken:
    body = {"coup": seq, "seq": seq, "number": number, "confirmed_by": None, "prev": "", "hash": "", **more}
    return FirstTaken(round(t_s * 1e6), "result", msgspec.json.encode(body), body)


COUP = TrueCoup(0, 10_000_000, 30_000_000, 17)


def _unsafe(witness: Witness) -> list[str]:
    return list(oracles.unsafe(witness))


def test_a_result_needs_a_coup_at_rest() -> None:
    assert _unsafe(Witness([COUP], [_result(32, 17, 1)])) == []
    assert "no such coup" in _unsafe(Witness([COUP], [_result(29, 17, 1)]))[0]
    assert "no such coup" in _unsafe(Witness([COUP], [_result(32, 18, 1)]))[0]
    assert "no such coup" in _unsafe(Witness([COUP], [_result(32, 17, 1), _result(33, 17, 2)]))[0]
    assert "2 verdicts" in _unsafe(Witness([COUP], [_result(32, 17, 1), _result(33, 17, 2, coup=1)]))[0]


@pytest.mark.parametrize(("what", "said"), [("object", "foreign object"), ("board off", "no power")])
def test_a_result_needs_a_run_that_was_whole_and_clear(what: str, said: str) -> None:
    during, after = (
        Witness([COUP], [_result(32, 17, 1)], spans={what: [TimeSpan(us, us + 9)]}) for us in (2 * 10**7, 31 * 10**6)
    )
    assert said in _unsafe(during)[0]
    assert _unsafe(after) == []


def test_what_the_chef_says_in_time_counts() -> None:
    answer = {"why": "too late"}
    for said_us, reply, is_unsafe in (
        (20 * 10**6, answer, True),
        (20 * 10**6, None, False),
        (31 * 10**6, answer, False),
    ):
        word = Word(said_us, "rien_va", "1", is_taken=True, reply=reply)
        assert bool(_unsafe(Witness([COUP], [_result(32, 17, 1)], [word]))) is is_unsafe


def _house(witness: Witness) -> Any:
    return SimpleNamespace(witness=witness, plan=EveningPlan("made up", "board", (PlannedCoup("valid"),)))


def _table(t_s: float, state: str) -> FirstTaken:
    return FirstTaken(round(t_s * 1e6), "table", b"", {"coup": 1, "seq": 1, "state": state})


RUN = TrueRun(10_000_000, 26_000_000, 10_400_000, 10_700_000)


def test_bets_that_are_open_in_a_run_close_as_the_ball_leaves_the_track() -> None:
    for until_s, late in ((25.0, 0), (28.0, 0), (32.0, 1)):
        shown = {"shown open": [TimeSpan(0, until_s * 1e6)]}
        assert len(list(oracles._open_after_the_run(_house(Witness(runs=[RUN], spans=shown))))) == late
    blind = {**shown, "blind": [TimeSpan(12_000_000, 13_000_000)]}
    assert list(oracles._open_after_the_run(_house(Witness(runs=[RUN], spans=blind)))) == []


def test_a_launch_that_the_table_awaited_has_a_verdict_before_the_bets_are_open_again() -> None:
    before, suspended, opened = _table(5, "faites_vos_jeux"), _table(12, "suspended"), _table(40, "faites_vos_jeux")
    told = [before, suspended, opened]
    assert "no verdict" in next(oracles._unjudged(_house(Witness(runs=[RUN], published=told))))
    judged = [before, suspended, _result(32, 17, 1), opened]
    assert list(oracles._unjudged(_house(Witness(runs=[RUN], published=judged)))) == []
    unseen = Witness(runs=[RUN], published=told, spans={"blind": [TimeSpan(10_300_000)]})
    assert list(oracles._unjudged(_house(unseen))) == []
    for stopped_s, is_wrong in ((10.5, False), (11.5, True)):
        stopped = {"down": [TimeSpan(round(stopped_s * 1e6), 20_000_000)]}
        wrong = oracles._unjudged(_house(Witness(runs=[RUN], published=[before, opened], spans=stopped)))
        assert bool(list(wrong)) is is_wrong, "two passes near to each other prove no launch"


def test_no_breakdown_voids_a_coup_whose_ball_was_seen_at_rest() -> None:
    void = FirstTaken(35_000_000, "void", b"", {"coup": 1, "seq": 2, "cause": "breakdown"})
    told = [_table(11, "ball_running"), void]
    assert "at rest" in next(oracles._voided_at_rest(_house(Witness([COUP], told, sightings=[31_000_000]))))
    assert list(oracles._voided_at_rest(_house(Witness([COUP], told, sightings=[36_000_000])))) == []


def test_the_settlement_core_stores_each_message_once_in_order_and_asks_for_what_is_missing() -> None:
    said: list[str] = []

    def say(leaf: str, _: bytes) -> bool:
        said.append(leaf)
        return True

    core = Settlement(say)
    for seq in (1, 3, 3, 2, 1):
        core.take("table", b'{"seq":%d}' % seq, 0.0)
    assert core.stored == [b'{"seq":1}', b'{"seq":2}', b'{"seq":3}']
    assert Counter(said) == {"ack": 5, "cmd/settlement/resend": 1}


@pytest.mark.parametrize("index", [0, 1])
def test_what_happens_to_the_device_is_in_its_journal(index: int, tmp_path: Path) -> None:
    house = House(plan_of("device", index))
    play(house, tmp_path)
    with closing(open_reader(tmp_path / JOURNAL)) as journal:
        assert verify(journal).faults == []
        names = [each.event for each in journal.events(0, 10_000)]
        ups = [msgspec.json.decode(each.details) for each in journal.events(0, 10_000) if each.event == "power_up"]
    logged = Counter(event for _, _, event in house.witness.logged)
    assert names[0] == "power_up"
    assert len(ups) >= logged["daemon.ready"] > 0
    assert len({each["boot_id"] for each in ups}) == len(ups)
    # Each start but the first says truly how the run before it ended.
    before = [name for name in names if name in ("power_up", "stop")]
    assert [up["stopped_in_order"] for up in ups] == [
        None if n == 0 else before[n - 1] == "stop" for n, name in enumerate(before) if name == "power_up"
    ]
    assert Counter(names)["broker_back"] - Counter(names)["broker_lost"] <= len(ups)
    assert names.count("broker_back") > 0
    assert len(names) < 20 * len(ups) + 40, "a flood"


def test_a_round_after_la_derniere_ends_with_its_first_number() -> None:
    said = FirstTaken(10_000_000, "notice", b"", {"notice": "last_coup"})
    numbers, void = ["result 17", "result 0"], "void too_few_laps"
    voided = FirstTaken(35_000_000, "void", b"", {"cause": "too_few_laps", "coup": 1})
    for truth, told, is_wrong in (
        (numbers, [said, _result(40, 17, 1)], False),
        (numbers, [_result(40, 17, 1)], True),
        (numbers, [said, _result(40, 0, 1)], True),
        (numbers, [said, _table(20, "closed"), _result(40, 17, 1)], True),
        ([void, *numbers], [said, voided, _result(40, 17, 2)], False),
        ([void, *numbers], [said, voided], True),
    ):
        wrong = oracles._quiet_rounds(_house(Witness(rounds=[Round(1, 30_000_000, truth)], published=told)))
        assert bool(list(wrong)) is is_wrong, (truth, told)
