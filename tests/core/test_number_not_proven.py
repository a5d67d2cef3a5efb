"""A number that was seen and can't be proven awaits the chef (R3b), whatever becomes of the rotor meanwhile."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.evening import FRENCH, Evening

ONE_READER = msgspec.structs.replace(FRENCH, readers_deg=(30,))


@pytest.mark.parametrize("fell_after_s", [3.0, 6.0])
def test_a_rotor_that_is_spun_again_before_the_proof_is_due_voids_no_number_that_was_seen(fell_after_s: float) -> None:
    """It stood since the only sighting, so that no reader could see the ball again: this shows no bounce."""
    evening = Evening(ONE_READER, rpm=10).open()
    evening.run()
    evening.wait(fell_after_s)
    evening.lying = 9
    while "number_seen" not in evening.notices():
        evening.wait(0.1)
    evening.turn(0)
    evening.wait(3)
    evening.turn(10)
    evening.lying = None
    evening.wait(8)
    assert (evening.verdicts(), evening.state) == ([], "awaiting_chef")
    assert evening.say("confirm", coup=1, reason="all saw it").done
    assert evening.verdicts() == [("result", 9)]
