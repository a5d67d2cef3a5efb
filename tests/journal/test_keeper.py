"""The keeper: what is sealed when, what is removed when, and what is said of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, NoReturn

import msgspec
import pytest

from tests.broker.world import VirtualClock, settle, working
from tests.core.evening import FRENCH, START_UTC_US, Evening
from tests.journal.journals import OWNER, open_reader, open_writer, write_keys
from wheeld.core.step import Step
from wheeld.journal import keeper
from wheeld.journal.journal import Journal
from wheeld.journal.keeper import PATROL_S, PRUNING_PERIOD_S, UNSEALED_S, JournalKeeper
from wheeld.journal.rows import StoredEvidence
from wheeld.journal.seal import FileSigner, public_key
from wheeld.journal.setting import EVIDENCE_BYTES_MAX, JournalSetting
from wheeld.journal.verify import verify
from wheeld.ports import EventRecord

DAY_S = 86_400.0


class StoredEvening(Evening):
    """An evening whose steps wait to be stored."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        super().__init__(msgspec.structs.replace(FRENCH, language="fr"))

    def _keep(self, t_us: int, step: Step) -> None:
        super()._keep(t_us, step)
        self.steps.append(step)


class Bench:
    """A table, its journal and its keeper, in virtual time."""

    def __init__(self, setting: JournalSetting, journal: Journal) -> None:
        self._path = setting.path
        self.journal = journal
        self.clock = VirtualClock(START_UTC_US)
        self.evening = StoredEvening()
        self.is_clock_trusted = True
        self.keeper = JournalKeeper(
            journal,
            self.evening.table,
            clock=self.clock,
            setting=setting,
            is_clock_trusted=lambda: self.is_clock_trusted,
        )

    async def stored(self) -> None:
        """What happened is stored, and all that follows from it."""
        for step in self.evening.steps:
            await self.journal.append(step, self.clock.utc_us())
        self.evening.steps.clear()
        self.keeper.look()
        await self.everything()

    async def everything(self) -> None:
        """The journal's thread has done all that was asked of it."""
        for _ in range(8):
            await settle()
            await self.journal.last_seq()

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[asyncio.Task[NoReturn]]:
        """The keeper watches the files; the task ends by the journal's error."""
        task = asyncio.create_task(self.keeper.watch())
        try:
            yield task
        finally:
            task.cancel()
            await asyncio.wait([task])

    def evidence(self, coup: int) -> StoredEvidence | None:
        with closing(open_reader(self._path)) as reader:
            return reader.evidence(coup)

    async def delivered(self) -> None:
        owed = await self.journal.owed(0, 10_000)
        await self.journal.mark_sent([message.id for message in owed], await_settlement=False)

    async def notices(self) -> list[dict[str, Any]]:
        found = [msgspec.json.decode(owed.payload) for owed in await self.journal.owed(0, 10_000)]
        return [notice for notice in found if notice["schema"] == "notice/1" and notice["notice"] == "sealed"]


@asynccontextmanager
async def keeping(
    directory: Path, *, age_days: float | None = None, bytes_max: int = EVIDENCE_BYTES_MAX, signs: bool = True
) -> AsyncIterator[Bench]:
    private, _ = write_keys(directory)
    signer = FileSigner(private) if signs else None
    journal = await Journal.open(directory / "j", OWNER, at_utc_us=START_UTC_US, signer=signer)
    setting = JournalSetting(path=directory / "j", evidence_age_days=age_days, evidence_bytes_max=bytes_max)
    bench = Bench(setting, journal)
    try:
        async with working(bench.keeper.seal_shifts(), bench.keeper.prune()):
            yield bench
    finally:
        await journal.close()


async def test_the_end_of_a_shift_is_sealed_and_the_seal_published(tmp_path: Path) -> None:
    async with keeping(tmp_path) as bench:
        evening = bench.evening
        evening.open()
        await bench.stored()
        assert await bench.notices() == []
        for who in ("Anna", "Bruno"):
            evening.say("bouler", who=who)
            await bench.stored()
        evening.say("close")
        await bench.stored()
        notices = await bench.notices()
        assert [(notice["by"], notice["reason"]) for notice in notices] == [
            ("wheeld", "premier bouleur : Anna"),
            ("wheeld", "changement de bouleur : Anna, puis Bruno"),
            ("wheeld", "la table a fermé"),
        ]
        assert notices[0]["text"].startswith("le journal est scellé jusqu'à l'enregistrement ")
    key_id, check = public_key(tmp_path / "wheel.pub")
    with closing(open_reader(tmp_path / "j")) as journal:
        for notice in notices:
            figures = notice["figures"]
            report = verify(journal, {key_id: check}, (figures["n"], bytes.fromhex(figures["head"])))
            assert (report.faults, figures["key_id"]) == ([], key_id)
            assert figures["checkpoint"].split("\n")[:2] == ["wheel/v1/testsite/table-1/1", str(figures["seq"])]
        assert report.sealed is not None
        assert report.sealed.n == figures["n"]


async def test_much_that_was_stored_is_sealed_without_being_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a flood of a week makes no start long: what stands behind the last seal is verified before it is over."""
    monkeypatch.setattr(keeper, "SEALED_AFTER", 20)
    async with keeping(tmp_path) as bench, working(bench.keeper.seal_much()):
        for _ in range(3):
            for _ in range(18):
                await bench.journal.note(EventRecord(event="sensor_failed"), START_UTC_US)
            await bench.clock.advance(UNSEALED_S)
            await bench.everything()
            await bench.clock.advance(UNSEALED_S)
            await bench.everything()
        notices = await bench.notices()
        assert [notice["by"] for notice in notices] == ["wheeld"] * 2
        # 1 + 18 + 18; then the seal, its notice, and 18
        assert [notice["reason"] for notice in notices] == [
            "37 enregistrements depuis le dernier sceau",
            "20 enregistrements depuis le dernier sceau",
        ]
        assert await bench.journal.unsealed() == 2


async def test_how_much_is_unsealed_is_known_after_a_start(tmp_path: Path) -> None:
    private, _ = write_keys(tmp_path)
    with closing(open_writer(tmp_path / "j", signer=FileSigner(private))) as journal:
        assert journal.unsealed() == 1
        journal.seal(by="Zoé", why="shift change", at_utc_us=START_UTC_US)
        journal.note(EventRecord(event="stop"), START_UTC_US)
    with closing(open_writer(tmp_path / "j", signer=FileSigner(private))) as journal:
        assert journal.unsealed() == 2
    with closing(open_writer(tmp_path / "unkeyed")) as journal:
        assert journal.unsealed() == 0


async def test_without_a_key_nothing_is_sealed_nor_said(tmp_path: Path) -> None:
    async with keeping(tmp_path, signs=False) as bench:
        bench.evening.open()
        bench.evening.say("bouler", who="Anna")
        await bench.stored()
        assert await bench.keeper.seal(by="Anna", why="asked") is None
        assert await bench.notices() == []


async def test_evidence_goes_when_it_is_old_and_only_then(tmp_path: Path) -> None:
    async with keeping(tmp_path, age_days=2) as bench:
        bench.evening.open()
        bench.evening.coup(8)
        await bench.stored()
        await bench.delivered()
        await bench.clock.advance(2 * DAY_S - PRUNING_PERIOD_S)
        await bench.everything()
        assert bench.evidence(1) is not None
        bench.is_clock_trusted = False
        await bench.clock.advance(3 * PRUNING_PERIOD_S)
        await bench.everything()
        assert bench.evidence(1) is not None
        bench.is_clock_trusted = True
        await bench.clock.advance(PRUNING_PERIOD_S)
        await bench.everything()
        assert bench.evidence(1) is None


async def test_the_patrol_checks_all_beside_retention(tmp_path: Path) -> None:
    async with keeping(tmp_path, bytes_max=1) as bench:
        bench.evening.open()
        for number in (8, 9):
            bench.evening.coup(number)
            bench.evening.say("operations_done")
        await bench.stored()
        await bench.delivered()
        assert await bench.journal.patrol()
        assert await bench.journal.prune(START_UTC_US, max_bytes=0) == 2
        while await bench.journal.patrol():
            pass
        async with working(bench.keeper.patrol()):
            await bench.clock.advance(10 * PATROL_S)
            await bench.everything()


async def test_nothing_is_removed_while_a_coup_runs(tmp_path: Path) -> None:
    """And evidence beyond the size goes whatever the clock says."""
    async with keeping(tmp_path, bytes_max=1) as bench:
        bench.is_clock_trusted = False
        bench.evening.open()
        bench.evening.coup(8)
        bench.evening.say("operations_done")
        bench.evening.launch()
        bench.evening.wait(3)
        await bench.stored()
        await bench.delivered()
        assert bench.evening.table.is_running
        await bench.clock.advance(PRUNING_PERIOD_S)
        await bench.everything()
        assert bench.evidence(1) is not None
        bench.evening.say("rien_va")
        await bench.stored()
        await bench.clock.advance(PRUNING_PERIOD_S)
        await bench.everything()
        assert bench.evidence(1) is None
