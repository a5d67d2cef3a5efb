"""The power fails at any moment, and the disk may lose all that was not synced: nothing confirmed is lost.

The real journal writes above a shim that records its file calls. From this record `disk_power` makes the files that
could be there afterwards, and `disk_check` opens them. Journals that are broken on purpose do not pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.faults import disk_writer as writer
from tests.faults.disk_check import LOST, Reference
from tests.faults.disk_script import JOURNAL, Script, evening, migration
from tests.faults.disk_shim import build, read_log
from tests.faults.disk_worker import Findings, PowerCuts, carry_out

PARTS = 2
"""Tasks for the states of one script; each task replays the log."""


class Bench:
    """The scripts, what the journal has to hold after each, and the record of each run."""

    def __init__(self, directory: Path, shim: Path, scripts: list[Script]) -> None:
        self._directory, self._shim = directory, shim
        self._references = [writer.reference(script, directory / script.name) for script in scripts]

    def cut_power(self, states: int, seed: str, flavours: Sequence[str]) -> Findings:
        """Check at least `states` states of journals of each flavour; the findings have the flavour as their label."""
        each = -(-states // (len(self._references) * PARTS))
        tasks = []
        for flavour, some in self.record(flavours).items():
            for reference, run in zip(self._references, some, strict=True):
                _assert_complete(run)
                tasks += [PowerCuts(flavour, reference, run.log, each, f"{seed}.{part}") for part in range(PARTS)]
        return carry_out(tasks, shim=None)

    def record(self, flavours: Sequence[str]) -> dict[str, list[writer.Run]]:
        """Perform each script on a journal of each flavour, above the shim."""
        runs = {flavour: [self._run(reference, flavour) for reference in self._references] for flavour in flavours}
        todo = [run for some in runs.values() for run in some if not run.log.exists()]
        carry_out(todo, shim=self._shim)
        return runs

    def _run(self, reference: Reference, flavour: str) -> writer.Run:
        directory = self._directory / f"{reference.script.name} {flavour}"
        log = directory.with_suffix(".log")
        return writer.Run(reference.script, directory, log, reference.key, flavour=flavour, with_data=True)


def _assert_complete(run: writer.Run) -> None:
    marks = [call.mark_values() for call in read_log(run.log) if call.kind == "mark"]
    assert not [mark for mark in marks if "wrong" in mark or "halted" in mark]
    assert marks[-1] == {"confirmed": len(run.script.ops) - 1}, "the shim did not see the run"


def test_the_runs_have_every_kind_of_file_call(bench: Bench) -> None:
    """Files made and removed, a WAL that starts over, checkpoints while the journal is open."""
    for run in bench.record([writer.SOUND])[writer.SOUND]:
        calls = read_log(run.log)
        done = Counter((call.kind, call.name.removeprefix(JOURNAL)) for call in calls)
        starts = [call for call in calls if (call.kind, call.name, call.offset) == ("write", f"{JOURNAL}-wal", 0)]
        assert done["sync", "-wal"] > 10
        assert done["sync", ""] >= done["unlink", "-wal"] >= 1
        if run.script.checkpoint_every is not None:
            assert len(starts) > 2 * done["create", "-wal"]
        if run.script.file is None:
            assert done["create", ""] == 1
            assert done["create", "-wal"] == 2


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    directory = tmp_path_factory.mktemp("power")
    scripts = [
        evening("evening", first=(1, 5), second=(3, 4, 5), checkpoint_every=None),
        evening("small WAL", first=(1,), second=(17, 4), checkpoint_every=4),
        migration(),
    ]
    return Bench(directory, build(directory), scripts)


def test_nothing_confirmed_is_lost_in_a_power_cut(
    bench: Bench, how_many: Callable[[str], int], seed: str, counted: Callable[[str], None]
) -> None:
    """Creation, first opening, recovery, checkpoints, pruning, sealing, closing, the migration of an old journal."""
    found = bench.cut_power(how_many("states after a power cut"), seed, [writer.SOUND])
    counts = found.counts[writer.SOUND]
    counted(f"{counts['tried']:,} states of the disk: {counts[LOST]} lost, {counts['half']} half there")
    assert not counts["bad"], "\n".join(found.problems[writer.SOUND])
    assert counts["tried"] >= how_many("states after a power cut")


def test_broken_journals_do_not_pass(
    bench: Bench, how_many: Callable[[str], int], seed: str, counted: Callable[[str], None]
) -> None:
    """The control: each of these loses confirmed rows, or debts, in many of such states."""
    # Without a WAL few states lose something (a rollback journal that is back): only the long form finds one.
    shares = {
        writer.NORMAL: 5,
        writer.OFF: 5,
        writer.CONFIRMS_EARLY: 10,  # a third of the operations wait for a later one, and lose nothing by it
        writer.SPLIT: 5,
        writer.ROLLBACK: how_many("share of a rollback journal"),
    }
    flavours = [flavour for flavour, share in shares.items() if share]
    found = bench.cut_power(how_many("states of each broken journal"), seed, flavours)
    for flavour in flavours:
        counts = found.counts[flavour]
        counted(f"{flavour}: {counts['bad']:,} of {counts['tried']:,} states are not as confirmed")
        assert counts["bad"] > counts["tried"] / shares[flavour], (seed, flavour, counts)
        assert counts[LOST] > counts["tried"] / (2 * shares[flavour]), (seed, flavour, counts)
