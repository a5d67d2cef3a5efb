"""The line between board and daemon: cut for long, cut for a moment, and full of garbage."""

from __future__ import annotations

import random
from pathlib import Path

from hw_sim.events import SensorState
from hw_sim.scenarios.registry import Play
from hw_sim.table import SimTable
from hw_sim.world import us
from tests.live.bench import SPEED, expected, table
from tests.mosquitto import Mosquitto


def cut(seconds: float) -> Play:
    """A coup in which the cable fails during the run for so many simulated seconds; the wheel is not affected."""

    def play(stage: SimTable) -> None:
        stage.prepare_launch()
        stage.launch(seconds=8)
        stage.wait_for_part_of_run(0.3, 0.4)
        for at_s, ok in ((stage.now_s, False), (stage.now_s + seconds, True)):
            stage.world.direct_events.append(SensorState(us(at_s), "link", ok=ok))
        mended_s = stage.now_s + seconds
        stage.result(stage.fall())
        stage.wait_until(mended_s)
        stage.wait(0.5, 1)

    return play


async def test_a_line_cut_for_long_makes_a_breakdown_and_the_game_continues_when_it_is_back(
    tmp_path: Path, broker: Mosquitto
) -> None:
    async with table(tmp_path, broker.port, seed=2, silence_s=0.5) as (wheel, subscriber, daemon):
        await wheel.play(cut(1.2 * SPEED))
        assert (await daemon.until("board.link_fault"))["reason"] == "nothing_heard"
        await daemon.until("board.link_back")
        await subscriber.until_state("suspended")
        (void,) = subscriber.of("result", "void")
        assert (void["cause"], void["rule"]) == ("breakdown", "N8")

        await subscriber.command_when_asked("resume")
        await subscriber.until_state("rien_va")
        wheel.live_table.table.last_number = subscriber.of("table")[-1]["last_number"]
        await wheel.play(SimTable.put_ball_back)
        await wheel.press("tout_va")
        await subscriber.until_state("faites_vos_jeux")
        await wheel.play("valid")
        await subscriber.until_verdicts(2)
        assert subscriber.verdicts() == ["void breakdown", *expected(wheel.truth[1:])]
        assert list(subscriber.feed()) == list(range(1, len(subscriber.feed()) + 1))


async def test_a_short_cut_loses_nothing(tmp_path: Path, broker: Mosquitto) -> None:
    async with table(tmp_path, broker.port, seed=3) as (wheel, subscriber, _):
        await wheel.play(cut(0.15 * SPEED))
        await subscriber.until_verdicts(1)
        assert subscriber.verdicts() == expected(wheel.truth)
        (result,) = subscriber.of("result")
        # What may be stray at each end proves no laps, and passes that are missing would take a whole gap more.
        assert result["laps"] >= wheel.truth[0]["laps"] - 1.0, "passes of the cut are missing: a gap proves no laps"
        await subscriber.until(lambda: _board(subscriber.of("health"), "replay_requests") > 0, "a replay")
        assert _board(subscriber.of("health"), "link_faults") == 0


async def test_garbage_on_the_line_is_counted_and_changes_no_verdict(tmp_path: Path, broker: Mosquitto) -> None:
    async with table(tmp_path, broker.port, seed=4) as (wheel, subscriber, _):
        wheel.board.cable.noise = wheel.board.cable.drop = 0.0002  # some ten spoilt frames a second
        wheel.noise = random.Random(4)
        await wheel.play("valid", "same_direction")
        await subscriber.until_verdicts(2)
        assert subscriber.verdicts() == expected(wheel.truth)
        await subscriber.until(lambda: _board(subscriber.of("health"), "crc") > 0, "frames rejected for their CRC")
        assert _board(subscriber.of("health"), "cobs") > 0


def _board(reports: list[dict[str, dict[str, dict[str, int]]]], counter: str) -> int:
    return reports[-1]["counters"]["board"][counter] if reports else 0
