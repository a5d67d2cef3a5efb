"""Two sources, one history."""

from __future__ import annotations

import random

import pytest

from wheeld.core.observations import BallPass, HeadRotor, Observation, SensorState, TimePassed
from wheeld.sources.interleave import WAITING_MAX, Interleaver
from wheeld.sources.sensing import Batch


class Table:
    def __init__(self) -> None:
        self.batches: list[Batch] = []

    async def put(self, batch: Batch) -> None:
        self.batches.append(batch)

    @property
    def seen(self) -> list[Observation]:
        return [seen for batch in self.batches for seen in batch.observations]


async def test_the_second_waits_until_the_first_has_reported_a_later_time() -> None:
    table = Table()
    both = Interleaver()
    first = both.onto(table.put)
    both.second(SensorState(10, "head", ok=True))
    both.second(SensorState(30, "head", ok=False))
    await first(Batch([BallPass(10, 0), BallPass(20, 1)], None))
    assert table.seen == [BallPass(10, 0), SensorState(10, "head", ok=True), BallPass(20, 1)]
    await first(Batch([TimePassed(30)], None))
    assert table.seen[3:] == [TimePassed(30)]
    await first(Batch([TimePassed(31)], None))
    assert table.seen[4:] == [SensorState(30, "head", ok=False), TimePassed(31)]


@pytest.mark.parametrize("seed", range(20))
async def test_nothing_is_lost_and_all_is_in_order(seed: int) -> None:
    rng = random.Random(seed)
    table = Table()
    both = Interleaver()
    first = both.onto(table.put)
    passes = [BallPass(t_us, 0) for t_us in sorted(rng.sample(range(10_000), 60))]
    second = [SensorState(t_us, "head", ok=True) for t_us in sorted(rng.sample(range(10_000), 40))]
    given = list(second)
    while passes:
        count = rng.randint(1, 9)
        batch, passes = passes[:count], passes[count:]
        while given and given[0].t_us <= batch[-1].t_us:  # it is dated by the host's clock, never ahead of the present
            both.second(given.pop(0))
        await first(Batch([*batch], None))
    for late in given:
        both.second(late)
    await first(Batch([TimePassed(20_000)], None))
    assert [seen.t_us for seen in table.seen] == sorted(seen.t_us for seen in table.seen), seed
    assert [seen for seen in table.seen if isinstance(seen, SensorState)] == second, seed
    assert len(table.seen) == 101, seed


async def test_what_waits_is_bounded_and_counted() -> None:
    table = Table()
    both = Interleaver()
    first = both.onto(table.put)
    for t_us in range(WAITING_MAX + 3):
        both.second(SensorState(t_us, "head", ok=True))
    assert both.dropped == 3
    await first(Batch([TimePassed(WAITING_MAX + 10)], None))
    assert table.seen[0].t_us == 3


async def test_a_clock_that_was_corrected_back_makes_nothing_late() -> None:
    table = Table()
    both = Interleaver()
    first = both.onto(table.put)
    both.second(SensorState(1_000, "head", ok=True))
    both.second(SensorState(999, "head", ok=False))
    await first(Batch([TimePassed(1_005)], None))
    assert table.seen == [SensorState(1_000, "head", ok=True), SensorState(1_000, "head", ok=False), TimePassed(1_005)]


async def test_a_report_that_comes_once_is_kept_longer_than_one_that_repeats_itself() -> None:
    table = Table()
    both = Interleaver()
    first = both.onto(table.put)
    both.second(SensorState(0, "head", ok=True))
    for t_us in range(1, WAITING_MAX + 3):
        both.second(HeadRotor(t_us, 15.0, "cw"))
    await first(Batch([TimePassed(WAITING_MAX + 10)], None))
    assert (both.dropped, table.seen[0]) == (3, SensorState(0, "head", ok=True))
    assert len(table.seen) == WAITING_MAX + 1
