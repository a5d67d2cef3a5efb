"""Worker processes for these tests: they read pickled `tasks` and write their findings.

Tasks that write run with the shim (LD_PRELOAD); all tasks check a journal by opening it.
"""

from __future__ import annotations

import errno
import os
import pickle
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE
from typing import NamedTuple, TypeAlias

from tests.faults.disk_check import Progress, Reference, check
from tests.faults.disk_power import Disk, moments, put
from tests.faults.disk_script import JOURNAL
from tests.faults.disk_shim import Call, Mode, Plan, Shim, read_log
from tests.faults.disk_writer import SOUND, Run, write

PROCESSES = 2
ROOT = Path(__file__).parents[2]
PROBLEMS_MAX = 10
"""Problems kept in full; the rest is counted."""


class PowerCuts(NamedTuple):
    """`states` states of the disk after the power failed in the run of `log`."""

    label: str
    reference: Reference
    log: Path
    states: int
    seed: str


class Faults(NamedTuple):
    """One run for each plan, checked by `check_ending`."""

    label: str
    reference: Reference
    plans: Sequence[Plan]
    flavour: str = SOUND


Task: TypeAlias = Run | PowerCuts | Faults


@dataclass(frozen=True)
class Findings:
    """The results of the tasks of each label: counts, and some problems in full."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    problems: dict[str, list[str]] = field(default_factory=dict)

    def __add__(self, other: Findings) -> Findings:
        labels = [*self.counts, *(label for label in other.counts if label not in self.counts)]
        counts = {label: self.counts.get(label, Counter()) + other.counts.get(label, Counter()) for label in labels}
        problems = {label: self.problems.get(label, []) + other.problems.get(label, []) for label in labels}
        return Findings(counts, {label: some[:PROBLEMS_MAX] for label, some in problems.items()})


def carry_out(tasks: Sequence[Task], *, shim: Path | None) -> Findings:
    """Carry out all tasks in several processes, with `shim` preloaded where it is given."""
    environment = {name: value for name, value in os.environ.items() if name != "COVERAGE_PROCESS_CONFIG"}
    environment |= {} if shim is None else {"LD_PRELOAD": str(shim)}
    command = [sys.executable, "-c", f"from {__name__} import serve; serve()"]
    found = Findings()
    with ExitStack() as stack:
        shares = [pickle.dumps(list(tasks[part::PROCESSES])) for part in range(PROCESSES)]
        workers = [
            stack.enter_context(subprocess.Popen(command, cwd=ROOT, env=environment, stdin=PIPE, stdout=PIPE))
            for _ in shares
        ]
        # A worker writes nothing before it has read everything.
        for worker, share in zip(workers, shares, strict=True):
            assert worker.stdin is not None
            worker.stdin.write(share)
            worker.stdin.close()
        for worker in workers:
            assert worker.stdout is not None
            findings = worker.stdout.read()
            assert worker.wait() == 0, "a worker failed; its stderr shows why"
            found += pickle.loads(findings)
    return found


def serve() -> None:
    """The main function of a worker: tasks from stdin, findings to stdout."""
    found = Findings()
    fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="wheeld-disk-", dir=fast) as directory:
        for task in pickle.load(sys.stdin.buffer):
            found += _carry_out(task, Path(directory))
    sys.stdout.buffer.write(pickle.dumps(found))


def _carry_out(task: Task, directory: Path) -> Findings:
    if isinstance(task, Run):
        write(task, _shim())
        return Findings()
    if isinstance(task, PowerCuts):
        return cut_power(task, directory)
    found = Findings()
    for plan in task.plans:
        found += inject(task, plan, directory)
    return found


def _shim() -> Shim:
    return Shim(os.environ["LD_PRELOAD"])


# --- power cuts --------------------------------------------------------------------------------------------------


def cut_power(task: PowerCuts, directory: Path) -> Findings:
    """Open and check each state of the disk."""
    reference, calls = task.reference, read_log(task.log)
    disk = Disk({} if reference.script.file is None else {JOURNAL: reference.script.file})
    progress, at = Progress(), 0
    found = Findings()
    for number, moment in enumerate(moments(calls, task.states, random.Random(task.seed))):
        for call in calls[at:moment]:
            if call.kind == "mark":
                progress.take(call)
            else:
                disk.take(call)
        at = moment
        seed = f"{task.seed}/{number}"
        put(disk.after_power_cut(random.Random(seed)), directory / "cut")
        where = (
            f"{reference.script.name}, power cut {seed} after entry {moment} (operation {progress.confirmed} confirmed)"
        )
        found += _found(task.label, where, check(directory / "cut", reference, progress))
    return found


def _found(label: str, where: str, problems: list[str], *more: str) -> Findings:
    kinds = {problem.partition(":")[0] for problem in problems}
    counts = Counter(["tried", *more, *kinds, *(["bad"] if kinds else [])])
    return Findings({label: counts}, {label: [f"{where}: {problem}" for problem in problems[:2]]})


# --- failing calls -----------------------------------------------------------------------------------------------


def inject(task: Faults, plan: Plan, directory: Path) -> Findings:
    """One run with one fault, and what is wrong with its end and with the journal."""
    reference = task.reference
    here, log = directory / "run", directory / "log"
    shutil.rmtree(here, ignore_errors=True)
    log.unlink(missing_ok=True)
    write(Run(reference.script, here, log, reference.key, plan, task.flavour), _shim())
    calls, progress = read_log(log), Progress()
    for call in calls:
        if call.kind == "mark":
            progress.take(call)
    ending, problems = check_ending(calls, plan)
    if ending == "went on" and progress.confirmed != len(reference.contents) - 1:
        problems.append("it ended early without an error")
    return _found(task.label, f"{reference.script.name}, {plan}", problems + check(here, reference, progress), ending)


def check_ending(calls: Sequence[Call], plan: Plan) -> tuple[str, list[str]]:
    """How the run ended, and what is wrong with that. What it left on the disk is checked elsewhere."""
    marks = [(at, call.mark_values()) for at, call in enumerate(calls) if call.kind == "mark"]
    wrong = [str(mark["wrong"]) for _, mark in marks if "wrong" in mark]
    if plan.mode in {Mode.KILL_BEFORE, Mode.KILL_AFTER}:
        reached = max((call.n for call in calls), default=0)
        expected = plan.at - (plan.mode is Mode.KILL_BEFORE)
        return "killed", wrong if reached == expected else [*wrong, f"the last call was {reached}"]
    failed = [at for at, call in enumerate(calls) if call.result < 0 and _is_injected(call, plan)]
    if plan.mode is not Mode.SHORT and not failed:
        return "not reached", [*wrong, "the call that was to fail was never made"]
    halts = [at for at, mark in marks if "halted" in mark]
    if not halts:
        return "went on", wrong + _ignored(calls, plan, failed)
    closing = next((at for at, mark in marks if at > halts[0] and "closing" in mark), len(calls))
    between = [call.kind for call in calls[halts[0] : closing] if call.kind != "mark"]
    if between and any("closing" in mark for _, mark in marks):
        wrong.append(f"it used the disk after it had failed: {between}")
    if any("confirmed" in mark for at, mark in marks if at > halts[0]):
        wrong.append("it confirmed something after it had failed")
    wrong += _wrong_fault(calls[failed[0]], calls[halts[0]].mark_values()["halted"], plan)
    wrong += [] if calls[halts[0]].mark_values()["opening"] else _retried(calls, failed[0], halts[0])
    return "halted", wrong


def _is_injected(call: Call, plan: Plan) -> bool:
    return call.n == plan.at + (plan.mode is Mode.SHORT_THEN_FULL) or (
        plan.mode is Mode.READ_ONLY and call.n >= plan.at
    )


def _ignored(calls: Sequence[Call], plan: Plan, failed: Sequence[int]) -> list[str]:
    """A failed call that gave no error is a problem, except where `_is_harmless`; a short write is completed."""
    if plan.mode is Mode.SHORT or not failed or _is_harmless(calls, failed[0]):
        return []
    call = calls[failed[0]]
    return [f"no error although {call.kind} {call.name} failed"]


def _is_harmless(calls: Sequence[Call], failed: int) -> bool:
    """A failure while it closes leaves the data in the WAL. The journal itself syncs the directory too."""
    marks = [call.mark_values() for call in calls[:failed] if call.kind == "mark"]
    if marks and "closing" in marks[-1]:
        return True
    if calls[failed].name != ".":
        return False
    made = max((at for at, call in enumerate(calls[:failed]) if call.kind == "create"), default=0)
    marked = next((at for at in range(failed, len(calls)) if calls[at].kind == "mark"), len(calls))
    return any(call.kind == "sync" and call.name == "." and call.result == 0 for call in calls[made:marked])


def _wrong_fault(call: Call, fault: object, plan: Plan) -> list[str]:
    """`full` where a write found no space, else `io`: SQLite does not see why space for -shm was refused.

    To SQLite a read that fails is a damaged file.
    """
    is_full = plan.mode is Mode.SHORT_THEN_FULL or (plan.mode is Mode.FAIL and plan.error == errno.ENOSPC)
    right = {"full"} if is_full and call.kind == "write" and not call.name.endswith("-shm") else {"io"}
    right |= {"corrupt"} if call.kind == "read" else set()
    return [] if fault in right else [f"{call.kind} {call.name}: the fault is reported as {fault}, not {right}"]


def _retried(calls: Sequence[Call], failed: int, halted: int) -> list[str]:
    """After an fsync that failed, the next one may succeed although data is lost.

    Closing is allowed, also after an opening that failed: SQLite then writes again what was confirmed before.
    """
    if calls[failed].kind != "sync":
        return []
    again = [call for call in calls[failed + 1 : halted] if call.kind == "sync"]
    return [f"fsync of {again[0].name} after one had failed"] if again else []
