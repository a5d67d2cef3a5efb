"""Each file call of the journal fails once, or is the last one of the process: nothing is lost, no error is hidden.

A full disk, an I/O error, a short write, an fsync that fails, a file system that turns read-only, a kill before and
after each call. The long form tries every call of a short evening, the others a sample.
"""

from __future__ import annotations

import errno
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from tests.faults import disk_writer as writer
from tests.faults.disk_check import LOST
from tests.faults.disk_script import JOURNAL, evening
from tests.faults.disk_shim import Call, Mode, Plan, build, read_log
from tests.faults.disk_worker import Faults, Findings, carry_out

PARTS = 2
CHANGES = {"create", "write", "cut", "unlink"}
NEEDS_SPACE = {"create", "write", "cut", "sync"}

KINDS: dict[str, Callable[[Call], Plan | None]] = {
    "I/O error": lambda call: Plan(Mode.FAIL, call.n, errno.EIO) if call.kind != "close" else None,
    "disk full": lambda call: Plan(Mode.FAIL, call.n, errno.ENOSPC) if call.kind in NEEDS_SPACE else None,
    "short write": lambda call: Plan(Mode.SHORT, call.n) if _is_divisible(call) else None,
    "short write, then full": lambda call: Plan(Mode.SHORT_THEN_FULL, call.n) if _is_divisible(call) else None,
    "read-only from here": lambda call: Plan(Mode.READ_ONLY, call.n) if call.kind in CHANGES else None,
    "killed before": lambda call: Plan(Mode.KILL_BEFORE, call.n),
    "killed after": lambda call: Plan(Mode.KILL_AFTER, call.n),
}


def _is_divisible(call: Call) -> bool:
    return call.kind == "write" and call.result > 1


class Bench:
    """A short evening, what the journal has to hold after it, and every file call that it makes."""

    def __init__(self, directory: Path) -> None:
        self._shim = build(directory)
        script = evening("short evening", first=(1,), second=(3,), checkpoint_every=4)
        self._reference = writer.reference(script, directory / "reference")
        log = directory / "log"
        carry_out([writer.Run(script, directory / "run", log, self._reference.key)], shim=self._shim)
        self.calls = [call for call in read_log(log) if call.kind != "mark"]
        assert {call.kind for call in self.calls} >= {"create", "write", "sync", "unlink"}, (
            "the shim did not see the run"
        )

    def plans(self, kind: str, calls: Sequence[Call] | None = None) -> list[Plan]:
        """The plans of one kind, for all calls that it applies to."""
        chosen = self.calls if calls is None else calls
        return [plan for call in chosen if (plan := KINDS[kind](call)) is not None]

    def inject(self, plans: Mapping[str, Sequence[Plan]]) -> Findings:
        """One run for each plan. Returns the findings of each label, which may name a flavour of the journal."""
        tasks = [
            Faults(label, self._reference, some[part::PARTS], label if label in writer.FLAVOURS else writer.SOUND)
            for label, some in plans.items()
            for part in range(PARTS)
        ]
        return carry_out(tasks, shim=self._shim)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("disk"))


def test_when_any_file_call_fails_nothing_confirmed_is_lost(
    bench: Bench, how_many: Callable[[str], int], seed: str, counted: Callable[[str], None]
) -> None:
    every = {kind: bench.plans(kind) for kind in KINDS}
    rng = random.Random(seed)
    most = how_many("file calls of each kind")
    tried = {kind: rng.sample(plans, min(len(plans), most)) for kind, plans in every.items()}
    found = bench.inject(tried)
    for kind, counts in found.counts.items():
        endings = [f"{counts[ending]:,} {ending}" for ending in ("halted", "went on", "killed") if counts[ending]]
        of = f"{counts['tried']:,} of {len(every[kind]):,} calls"
        counted(f"{kind}: {of}: {', '.join(endings)}; {counts['bad']} lost, doubled or not clean")
        assert not counts["bad"], f"seed {seed}\n" + "\n".join(found.problems[kind])
        assert counts["tried"] == len(tried[kind])


def test_broken_journals_do_not_pass(bench: Bench, how_many: Callable[[str], int], seed: str) -> None:
    """The control: each has its own problem, which has to be found. For most only certain failing calls show it."""
    every = how_many("file calls of a broken journal")
    syncs = bench.plans("I/O error", [call for call in bench.calls if call.kind == "sync"])[::every]
    writes = bench.plans("I/O error", [call for call in bench.calls if call.name == JOURNAL and call.kind == "write"])
    kills = bench.plans("killed before")[:: 5 * every]
    shown = {
        writer.TRIES_AGAIN: (syncs, "no error although sync wheel.journal-wal failed"),
        writer.SYNCS_AGAIN: (syncs, "fsync of wheel.journal-wal after one had failed"),
        writer.AUTO_CHECKPOINT: (writes[::every], "no error although write wheel.journal failed"),
        writer.CONFIRMS_EARLY: (kills, LOST),
        writer.SPLIT: (kills, LOST),
    }
    found = bench.inject({flavour: plans for flavour, (plans, _) in shown.items()})
    for flavour, (_, problem) in shown.items():
        assert found.counts[flavour][problem], (seed, flavour, found.counts[flavour], found.problems[flavour])
