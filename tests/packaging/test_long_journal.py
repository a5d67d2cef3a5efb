"""The journal that the tests of an upgrade start from is one of the daemon's own kind."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from tests.journal.journals import open_reader, write_keys
from tests.packaging.long_journal import write_long_journal
from wheeld.cli.main import main
from wheeld.core.setting import TableSetting
from wheeld.exits import Exit

SETTING = TableSetting(
    table="bench-02", house="campione", game="roulette", wheel="french", rotor_ticks=148, min_laps=3, site="bench",
    beams_deg=(0, 90, 180, 270), readers_deg=(30, 150, 270), levels=True, test=True,
)  # fmt: skip


def test_every_coup_is_there_and_it_verifies(tmp_path: Path) -> None:
    private, public = write_keys(tmp_path)
    path = tmp_path / "journal.sqlite"
    write_long_journal(path, SETTING, private, 20)
    assert main(["journal", "verify", str(path), "--public-key", str(public)]) == Exit.OK
    with closing(open_reader(path)) as reader:
        verdicts = list(reader.last_verdicts(30))
        assert [verdict.topic for verdict in verdicts] == ["void"] * 20
        assert reader.evidence(20) is not None
