"""The host's date steps in a coup or between coups, by an hour or by eighty years: verdicts and their times do not."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from hw_sim.scenarios import SCENARIOS
from tests.faults.kill_awaits import run_one
from tests.faults.kill_house import STARTED_UTC_US, DaemonInput, House
from tests.faults.kill_processes import check_journal, write_config
from tests.journal.journals import open_reader
from wheeld.core.instants import from_text, to_text
from wheeld.exits import Exit
from wheeld.replay import replay

HOUR_US = 3_600_000_000
YEAR_US = 31_556_952_000_000
STEPS_US = {
    "an hour on": HOUR_US,
    "an hour back": -HOUR_US,
    "ten years on": 10 * YEAR_US,
    "ten years back": -10 * YEAR_US,
    "to 1970, as without a battery": -STARTED_UTC_US,
    "beyond 2038": 2**31 * 1_000_000 - STARTED_UTC_US,
    "beyond 2106": 2**32 * 1_000_000 - STARTED_UTC_US,
}
EVENING = ("valid_few_laps", "same_direction", "valid_no_rnvp")
MOMENTS = ("ball_running", "operations", "rien_va")
"""The states in which the clock steps, the first time that the table publishes one of them."""
DATES = {"at", "since", "prev", "hash", "boot_id"}
"""The members with dates and with the identity of the run, besides `*_at`; all others must be the same."""
SHORTLY_US = 30_000_000
DATE_ERROR_US = 2_000_000
"""A date is read about once a second."""


class Stepped(House):
    """A house whose host's date steps once, and whose people then send commands with the new date."""

    def __init__(self, by_us: int, moment: str) -> None:
        super().__init__("clock", iter([SCENARIOS[name] for name in EVENING]))
        self.step_us = 100_000
        self.stepped_us: int | None = None
        """The wheel's time of the step."""
        self._by_us, self._moment = by_us, moment

    @property
    def utc_us(self) -> int:
        by_us = 0 if self.stepped_us is None else self._by_us
        return STARTED_UTC_US + self.now_us + by_us

    def exchange(self) -> DaemonInput | None:
        if (
            self.stepped_us is None
            and self.subscriber.table is not None
            and self.subscriber.table["state"] == self._moment
        ):
            self.stepped_us = self.now_us
            for name, left_us in (("in time", SHORTLY_US), ("too late", -SHORTLY_US)):
                self.command("bouler", id=name, who="Bianchi", expires_at=to_text(self.utc_us + left_us))
        return super().exchange()


def evening(directory: Path, by_us: int, moment: str) -> Stepped:
    """An evening with one daemon, played to its end."""
    directory.mkdir()
    house = Stepped(by_us, moment)
    assert run_one(house, write_config(directory))[0] == Exit.OK
    assert house.stepped_us is not None
    assert house.troubles == []
    check_journal(directory / "journal.sqlite", house)
    assert house.check_verdicts().problems == []
    return house


def dateless(house: House) -> list[tuple[str, dict[str, Any]]]:
    """The feed without its dates."""
    return [
        (one.topic, {key: value for key, value in one.body.items() if key not in DATES and not key.endswith("_at")})
        for one in house.core.stored
    ]


def check_evidence(path: Path) -> int:
    """Replay the evidence of every coup; it must give its verdict again, byte by byte. Returns the number of coups."""
    with contextlib.closing(open_reader(path)) as journal:
        for coup in journal.coups():
            evidence = journal.evidence(coup)
            assert evidence is not None
            assert evidence.log is not None
            assert evidence.seq is not None
            verdict = journal.message(evidence.seq)
            assert verdict is not None
            lines = replay(evidence.log.splitlines())
            payloads = [bytes(msgspec.json.decode(line, type=dict[str, msgspec.Raw])["payload"]) for line in lines]
            assert verdict.payload in payloads, coup
        return len(journal.coups())


def test_a_step_of_the_hosts_date_changes_no_verdict(
    how_many: Callable[[str], int], seed: str, tmp_path: Path, counted: Callable[[str], None]
) -> None:
    cases = [(name, moment) for name in STEPS_US for moment in MOMENTS]
    tried = random.Random(f"clock {seed}").sample(cases, min(len(cases), how_many("steps of the date")))
    undisturbed = {moment: dateless(evening(tmp_path / moment, 0, moment)) for moment in {one[1] for one in tried}}
    verdicts = 0
    for name, moment in tried:
        where, directory = f"{name}, at {moment}", tmp_path / f"{moment} {name}"
        house = evening(directory, STEPS_US[name], moment)
        assert dateless(house) == undisturbed[moment], where
        replies = {reply["id"]: reply for reply in house.replies}
        assert replies["in time"]["done"], where
        assert "the command expired" in replies["too late"]["why"], where
        assert house.stepped_us is not None
        offset_us = house.utc_us - house.now_us
        # Only the dates in messages that were published long enough after the step.
        bodies = [one.body for one in house.core.stored if one.body["t_us"] > house.stepped_us + DATE_ERROR_US]
        errors_us = [abs(from_text(body["at"]) - body["t_us"] - offset_us) for body in bodies]
        assert errors_us, where
        assert max(errors_us) < DATE_ERROR_US, where
        verdicts += check_evidence(directory / "journal.sqlite")
    counted(f"{len(tried)} steps of the host's date: {verdicts} verdicts, their times, seq and chain as without")
