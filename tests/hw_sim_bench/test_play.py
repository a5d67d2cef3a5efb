"""Who plays: the people of the demo, or whoever presses the buttons; and what is told of either."""

from __future__ import annotations

import asyncio

import pytest

from hw_sim.bench.hand import NotPossibleError
from hw_sim.bench.ledger import ENTRIES_MAX, Ledger
from tests.hw_sim_bench.virtual import VirtualBench


def test_the_people_play_by_themselves_and_nobody_else_meanwhile() -> None:
    bench = VirtualBench(1, by_hand=False)
    while len(bench.verdicts) < 4:
        bench.run(5)
    with pytest.raises(NotPossibleError, match="Press “By hand” first"):
        bench.play.press("launch")
    with pytest.raises(NotPossibleError, match="by themselves already"):
        bench.play.press("by-itself")
    played = [text for text in bench.truth if text.startswith("The people play")]
    true = [text for text in bench.truth if text.startswith("The truth:")]
    assert len(played) >= 3
    assert len(true) >= 2


def test_they_finish_their_coup_before_they_hand_over() -> None:
    bench = VirtualBench(1, by_hand=False)
    bench.run(30)
    assert bench.play.press("by-hand") == "The people finish their coup. Then it is your turn."
    with pytest.raises(NotPossibleError, match="Then it is your turn"):
        bench.play.press("launch")
    bench.until_handed_over()
    assert bench.truth[-1].startswith("The truth:")
    assert bench.people.differences == []


def test_they_take_over_a_wheel_in_any_condition_and_put_it_in_order() -> None:
    bench = VirtualBench(2)
    bench.until_handed_over()
    for name in ("stop-rotor", "chip", "unplug", "take-ball"):
        bench.play.press(name)
        bench.run(1)
    bench.play.press("by-itself")
    while len(bench.verdicts) < 2:
        bench.run(5)
    order = (
        "A hand takes the chip out.",
        "The cable of the sensor board is plugged in.",
        "The bouler pushes the rotor.",
    )
    assert set(order) <= set(bench.truth)
    assert bench.people.differences == []


def test_a_running_ball_gets_its_number_before_the_people_take_over() -> None:
    bench = VirtualBench(3)
    bench.until_handed_over()
    bench.play.press("launch")
    bench.run(3)
    bench.play.press("by-itself")
    assert bench.until_verdict().startswith("result ")
    while len(bench.verdicts) < 7:
        bench.run(5)
    assert "void" in " ".join(bench.verdicts), "after which the ball goes back to where the table says"
    assert bench.people.differences == []


async def test_a_ledger_keeps_the_newest() -> None:
    ledger = Ledger()
    for number in range(ENTRIES_MAX + 5):
        ledger.write("truth", f"{number}")
    kept = await ledger.after(0)
    assert (len(kept), kept[0].text) == (ENTRIES_MAX, "5")
    reading = asyncio.ensure_future(ledger.after(kept[-1].number))
    await asyncio.sleep(0)
    assert not reading.done()
    ledger.write("message", "void", name="void", coup=3)
    assert [(entry.name, entry.coup) for entry in await reading] == [("void", 3)]
