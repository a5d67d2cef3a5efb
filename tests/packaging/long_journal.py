"""A journal with many coups, as a wheel has it after some weeks: made by the table itself, without a ball."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

from wheeld.core.observations import Command, CommandName, Level
from wheeld.core.setting import TableSetting
from wheeld.core.step import Step, joined
from wheeld.core.table import Table
from wheeld.journal.opening import Owner, open_to_write
from wheeld.journal.seal import FileSigner

COUP_US = 60_000_000
VOID: tuple[CommandName, ...] = ("rien_ne_va_plus", "rien_va", "tout_va")
"""The shortest coup: the chef declares it void before its launch."""


def write_long_journal(path: Path, setting: TableSetting, key: Path, coups: int) -> None:
    """So many coups, each with its evidence, all of them published; the table is open."""
    started_us = time.time_ns() // 1000 - (coups + 2) * COUP_US
    owner = Owner(setting.site, setting.table, test=setting.test)
    with closing(open_to_write(path, owner=owner, signer=FileSigner(key), at_utc_us=started_us)) as journal:
        table, opening = Table.start(setting, boot_id="before", started_utc_us=started_us)
        ready = [table.apply(Level(1, "object", active=False)), table.apply(Command(2, "open", "chef"))]
        journal.append(joined([opening, *ready]), started_us)
        for coup in range(1, coups + 1):
            journal.append(_coup(table, coup * COUP_US), started_us + coup * COUP_US)
        journal.mark_sent([message.id for message in journal.reader.owed(0, 10 * coups)], await_settlement=False)
        journal.seal(by="a test", why="so that the key proves it", at_utc_us=started_us + (coups + 1) * COUP_US)
        assert table.coup >= coups
        assert table.state == "faites_vos_jeux"


def _coup(table: Table, t_us: int) -> Step:
    return joined([table.apply(Command(t_us + at_us, name, "chef")) for at_us, name in enumerate(VOID)])
