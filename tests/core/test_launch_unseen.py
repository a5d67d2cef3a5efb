"""A ball that may have run before the sensors watched: its coup was not observed fully (docs/rulebook.md N8)."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.evening import FRENCH, Evening, ball_passes
from wheeld.core.setting import TableSetting

FOUR_BEAMS, TWO_BEAMS = FRENCH, msgspec.structs.replace(FRENCH, beams_deg=(131, 233))
HIDDEN_S = {FOUR_BEAMS.beams_deg: 1.32, TWO_BEAMS.beams_deg: 2.4}
"""A ball at 0.38 laps a second, the slowest that stays on the track, is met by the beam after the next in this time;
with two beams it has left sooner."""


def seen_after(setting: TableSetting, watched_s: float) -> Evening:
    """Restarted at an open table; `watched_s` later a pass of a ball that makes eight laps from there on."""
    before = Evening(setting).open()
    after = Evening(setting, memory=before.memory)
    first_us = round(watched_s * 1e6)
    passes = ball_passes(setting.beams_deg, "cw", start_us=0, rev_s=1.5, laps=8)
    late_us = first_us - passes[0].t_us
    passes = [msgspec.structs.replace(one, t_us=one.t_us + late_us) for one in passes]
    after.plan(*passes)
    after.lying = None
    after.until(passes[-1].t_us)
    after.fall(9)
    return after


@pytest.mark.parametrize("setting", [FOUR_BEAMS, TWO_BEAMS])
def test_a_ball_that_may_have_run_before_makes_no_result(setting: TableSetting) -> None:
    hidden_s = HIDDEN_S[setting.beams_deg]
    for watched_s in (0.3, 0.5 * hidden_s, hidden_s - 0.15):
        after = seen_after(setting, watched_s)
        assert (after.verdicts(), after.state) == ([("void", "breakdown")], "suspended"), watched_s


@pytest.mark.parametrize("setting", [FOUR_BEAMS, TWO_BEAMS])
def test_a_ball_that_no_beam_met_for_so_long_was_launched_since(setting: TableSetting) -> None:
    """Yet no reader met it after the restart: the chef confirms that its pocket is the one that the encoder shows."""
    after = seen_after(setting, HIDDEN_S[setting.beams_deg] + 0.15)
    assert (after.verdicts(), after.state) == ([], "awaiting_chef")
    assert after.say("confirm", coup=1, number=9, reason="all saw it").done
    (result,) = after.of("result")
    assert (result["number"], result["unproven"]) == (9, ["R3"])


def test_a_line_that_was_lost_begins_to_watch_when_it_is_back() -> None:
    evening = Evening().open()
    evening.sensor("link", ok=False)
    evening.wait(1)
    evening.sensor("link", ok=True)
    assert evening.say("resume").done
    evening.launch()
    evening.wait(3)
    assert (evening.verdicts(), evening.state) == ([("void", "breakdown")], "suspended")


def cut_after_two_passes(rests_in: int | None) -> Evening:
    """A launch that the cut line hid; the line works again, and play is resumed."""
    evening = Evening().open()
    evening.wait(5)
    evening.lying = None
    evening.plan(*ball_passes(FRENCH.beams_deg, "cw", start_us=evening.now_us + 100_000, rev_s=1.5, laps=8)[:2])
    evening.until(evening.now_us + 500_000)
    evening.sensor("link", ok=False)
    evening.lying = rests_in
    evening.wait(1)
    evening.sensor("link", ok=True)
    evening.wait(9)
    assert (evening.verdicts(), evening.last("table").payload["failing"]) == ([("void", "breakdown")], [])
    assert evening.say("resume").done
    return evening


def test_a_ball_whose_launch_was_hidden_by_a_cut_line_may_lie_in_any_pocket() -> None:
    """No reader saw it taken, and the encoder has not slipped: nobody needs to name its pocket."""
    assert cut_after_two_passes(rests_in=9).state == "rien_va"


def test_what_readers_saw_before_a_hidden_launch_shows_nothing_of_the_ball_that_is_put_back() -> None:
    evening = cut_after_two_passes(rests_in=None)
    evening.lying = 17
    evening.wait(1)
    assert len(evening.readers.sightings) == 1
    assert "put_back" in evening.last("table").payload["waiting_codes"]
    evening.wait(1)
    assert evening.last("table").payload["waiting_codes"] == ["tout_va"]
