"""SIGKILL at any instant: nothing stored or published is lost or doubled, and no coup gets a wrong verdict."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from hw_sim.demo import LAYOUT
from hw_sim.evening import drawable
from tests.faults.kill_house import House, shuffled
from tests.faults.kill_processes import check_journal, daemon_starter
from wheeld.exits import Exit

RUNS_S = (0.004, 0.03, 0.2, 0.6)
"""How long a daemon runs at most: it is killed as it starts, as it takes what waited for it, in a coup, in the next."""
AWAY_US = (50_000, 400_000, 3_000_000, 40_000_000)
"""How long there is no daemon at most; the last is longer than a coup."""
KILLED = -9


def test_kills_at_random_instants_lose_nothing(
    tmp_path: Path, how_many: Callable[[str], int], seed: str, counted: Callable[[str], None]
) -> None:
    kills = how_many("kills")
    rng = random.Random(f"kills {seed}")
    plays = [one for one in drawable(LAYOUT) if one.name != "bouler_change"]
    house = House(f"kills {seed}", shuffled(f"kills {seed}", plays))
    with daemon_starter(tmp_path) as daemons:
        for _ in range(kills):
            assert daemons.run_one(house, rng.uniform(0.0005, rng.choice(RUNS_S))) == KILLED
            house.daemon_died()
            house.advance(round(rng.uniform(0, rng.choice(AWAY_US))))
        house.closing = True
        assert daemons.run_one(house, 0) == Exit.OK, (tmp_path / "log").read_text()[-2000:]
    verdicts = house.check_verdicts()
    check_journal(tmp_path / "journal.sqlite", house)
    assert verdicts.problems == [], f"seed {seed}"
    # On a busy machine daemons are killed before they answer a question; it is asked again.
    assert [one for one in house.troubles if not one.startswith("no answer to resend")] == [], f"seed {seed}"
    counted(
        f"{kills} kills of the daemon: {len(house.core.stored)} messages at the feed, 0 lost, 0 doubled "
        f"({house.core.repeats} came again and were recognised); {len(house.rounds)} scenarios, {verdicts.whole} as "
        f"played, the others {dict(verdicts.voids)} and {verdicts.unseen} launches unseen"
    )
