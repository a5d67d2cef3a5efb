"""How many bytes a coup takes on the disk of a wheel: of records, which stay, and of evidence, which is removed.

python -m tests.journal.bytes_per_coup 100
"""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec

from hw_sim import log as sim_log
from hw_sim.evening import script
from tests.journal.journals import RawSigner, open_writer
from wheeld.core.observations import Observation
from wheeld.core.setting import Header, from_header
from wheeld.core.table import Table
from wheeld.journal.opening import Owner

START_UTC_US = 1_800_000_000_000_000
AN_EVENING = 20
"""Coups of one simulated evening."""


class BytesPerCoup(NamedTuple):
    """Bytes in the file: `records` of one coup, `evidence` of one second at a turning rotor."""

    records: float
    evidence_per_s: float

    def evidence(self, seconds: float) -> float:
        """Of a coup that comes so long after the one before."""
        return self.evidence_per_s * seconds


def measured(coups: int) -> BytesPerCoup:
    """Of so many valid coups at simulated wheels with 148 sectors, whose feed is signed."""
    evenings = [_evening(seed) for seed in range(max(1, coups // AN_EVENING))]
    return BytesPerCoup(*(sum(column) / len(evenings) for column in zip(*evenings, strict=True)))


def _evening(seed: int) -> BytesPerCoup:
    drawn = script(["valid"] * AN_EVENING, seed=seed)
    with TemporaryDirectory() as name:
        path = Path(name) / "evening.jsonl"
        sim_log.write(path, drawn.header, drawn.events())
        first, *rest = path.read_bytes().splitlines()
        table, opening = Table.start(
            from_header(msgspec.json.decode(first, type=Header)), boot_id="b", started_utc_us=0
        )
        journal = path.with_suffix(".sqlite")
        owner = Owner(table.setting.site, table.setting.table)
        with closing(open_writer(journal, signer=RawSigner(bytes(32)), owner=owner)) as writer:
            writer.database.execute("PRAGMA synchronous = OFF")  # this journal is thrown away
            writer.append(opening, START_UTC_US)
            _, empty = _pages(journal)
            for line in rest:
                if step := table.apply(msgspec.json.decode(line, type=Observation)):
                    writer.append(step, START_UTC_US + table.now_us)
            # As in a wheel: what the broker has confirmed is owed no longer.
            writer.mark_sent([message.id for message in writer.owed(0, 100_000)], await_settlement=False)
            evidence, records = _pages(journal)
    return BytesPerCoup((records - empty) / AN_EVENING, evidence / (table.now_us / 1e6))


def _pages(journal: Path) -> tuple[int, int]:
    """Bytes in use in the file: those of the evidence, and all others."""
    with closing(sqlite3.connect(journal)) as file:
        found = dict(file.execute("SELECT name = 'logs', sum(pgsize) FROM dbstat GROUP BY 1"))
    return found[1], found[0]


if __name__ == "__main__":
    found = measured(int(sys.argv[1]))
    evidence = f"{found.evidence(60):,.0f} of evidence where one comes a minute"
    sys.stdout.write(f"a coup: {found.records:,.0f} bytes of records, {evidence}\n")
