"""A stray pulse after the ball fell: by the beams it runs on, and a reader meets it in its pocket all the same (R3)."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.evening import FRENCH, Evening
from wheeld.core.observations import BallPass, CommandName, Sighting
from wheeld.core.tracking.ball import Phase

TWO_BEAMS = msgspec.structs.replace(FRENCH, beams_deg=(131, 233), readers_deg=(71, 251), rotor_ticks=74)
"""The next pass may come so late that the ball counts as running for longer than a reader needs to meet it."""
REST_US = 2_000_000
"""A ball may bounce for so long after its latest pass (docs/rulebook.md R3)."""
FALL_S = 1.0
MET_EARLY = (0, 5, 15, 16, 19, 24, 32)
"""In these pockets a reader meets the ball while the beams still await its next pass."""


def fallen(into: int) -> Evening:
    """Two slow last laps, the ball lies a second later, and a pulse comes where its next pass could have been."""
    evening = Evening(TWO_BEAMS, rpm=17).open()
    passes = evening.launch(rev_s=1.2, laps=11)
    evening.until(passes[-1].t_us)
    before, last = passes[-3], passes[-1]
    evening.plan(BallPass(last.t_us + passes[-2].t_us - before.t_us, passes[-2].beam))
    evening.wait(FALL_S)
    evening.lying = into
    return evening


def until_met(evening: Evening) -> int:
    """On to the first sighting that counts; its time."""
    while True:
        evening.wait(0.01)
        since_us = (evening.observer.run.last_us or 0) + REST_US
        met = [one.t_us for one in evening.seen if isinstance(one, Sighting) and one.t_us >= since_us]
        if met:
            return met[0]


@pytest.mark.parametrize("word", ["suspend", "close", "rien_va"])
@pytest.mark.parametrize("into", MET_EARLY)
def test_a_word_after_the_ball_was_met_voids_nothing(into: int, word: CommandName) -> None:
    evening = fallen(into)
    until_met(evening)
    evening.ask(word)
    evening.wait(12)
    assert evening.verdicts() == [("result", into)]


def test_such_a_word_finds_the_ball_on_the_track_by_its_beams() -> None:
    """Else the tests above would show nothing."""
    for into in MET_EARLY:
        evening = fallen(into)
        until_met(evening)
        assert evening.observer.run.phase is Phase.ON_TRACK
