"""SIGKILL at any instant: nothing stored or published is lost or comes twice, and no coup ends wrongly."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from hw_sim.demo import LAYOUT
from hw_sim.evening import drawable
from tests.faults.kill_house import House, shuffled
from tests.faults.kill_nursery import check_journal, nursery
from wheeld.exits import Exit

LIVES_S = (0.004, 0.03, 0.2, 0.6)
"""How long a daemon may live at most: dying as it starts, as it takes what waited for it, in a coup, in the next."""
DEAD_US = (50_000, 400_000, 3_000_000, 40_000_000)
"""How long it may be away at most; the last is a whole coup that nobody looks at."""
KILLED = -9


def test_killed_at_random_instants(
    tmp_path: Path, how_many: Callable[[str], int], seed: str, counted: Callable[[str], None]
) -> None:
    kills = how_many("kills")
    luck = random.Random(f"kills {seed}")
    plays = [one for one in drawable(LAYOUT) if one.name != "bouler_change"]
    house = House(f"kills {seed}", shuffled(f"kills {seed}", plays))
    with nursery(tmp_path) as daemons:
        for _ in range(kills):
            assert daemons.life(house, luck.uniform(0.0005, luck.choice(LIVES_S))) == KILLED
            house.died()
            house.live(round(luck.uniform(0, luck.choice(DEAD_US))))
        house.closing = True
        assert daemons.life(house, 0) == Exit.OK, (tmp_path / "log").read_text()[-2000:]
    judged = house.judge()
    check_journal(tmp_path / "journal.sqlite", house)
    assert judged.problems == [], f"seed {seed}"
    assert house.troubles == []
    counted(
        f"{kills} kills of the daemon: {len(house.core.stored)} messages at the feed, 0 lost, 0 doubled "
        f"({house.core.repeats} came again and were told apart); {len(house.rounds)} scenarios, {judged.whole} as "
        f"played, the others {dict(judged.voids)} and {judged.unseen} launches unseen"
    )
