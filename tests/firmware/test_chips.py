"""What the program of each chip must do in a simulator of the chip."""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware_protocol import messages as m
from tests.firmware.faults import DOOR, Noise, burst, toggling
from tests.firmware.ports import CHIPS, GREETED_NS, WIRES, near
from wheeld.ports import Edge

pytestmark = pytest.mark.timeout(600)
NOISE_NS = {"rp2040": 50_000, "rp2040 by USB": 50_000, "mega2560": 142_857}
"""From edge to edge of a broken wire: 20,000 a second, and 7,000."""


def on_lines(moves: Noise) -> list[Edge]:
    return [Edge(pin, level, at_ns) for at_ns, pin, level in sorted(moves)]


@pytest.mark.parametrize("name", CHIPS)
def test_three_thousand_edges_a_second(name: str, programs: dict[str, Path]) -> None:
    """Pulses of four beams, for two tenths of a second."""
    edges = on_lines(burst(GREETED_NS))
    chip = CHIPS[name](programs[name], {}, edges)
    told = chip.told(GREETED_NS + 900_000_000)
    truth = [m.TimedEvent((one.at_ns + 150_000) // 1000, m.BallPass(one.pin - WIRES.beams[0])) for one in edges[::2]]
    near(told.events, truth, chip)
    beat = told.beats[-1]
    assert (beat.missed_edges, beat.overwritten_events) == (0, 0)
    assert beat.levels == m.Levels(object="clear", door="closed")
    assert chip.measured["interrupt"] < chip.INTERRUPT_CYCLES_MAX
    assert chip.measured["busy_ns"] < chip.BUSY_NS_MAX


@pytest.mark.parametrize("name", CHIPS)
def test_a_line_that_never_rests_stops_nothing_else(name: str, programs: dict[str, Path]) -> None:
    """A broken wire on the door's line, and passes beside it."""
    noise = toggling(DOOR, NOISE_NS[name], 500_000_000)(GREETED_NS)
    passes = [GREETED_NS + 7_000_000 + number * 50_000_000 for number in range(9)]
    beam = WIRES.beams[0]
    pulses = [(at_ns + ns, beam, level) for at_ns in passes for ns, level in ((0, False), (5_000_000, True))]
    chip = CHIPS[name](programs[name], {}, on_lines([*noise, *pulses]))
    told = chip.told(GREETED_NS + 2_500_000_000)
    truth = [m.TimedEvent(at_ns // 1000 + 2500, m.BallPass(0)) for at_ns in passes]
    near([one for one in told.events if isinstance(one.event, m.BallPass)], truth, chip)
    assert told.beats[-1].missed_edges == 0
