"""Runs the evenings of a campaign in parallel processes and returns them in order. The number of processes does not
change the result."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import count
from pathlib import Path
from typing import Protocol, cast

from hw_sim.campaign.evening_run import CampaignPlan, EveningRun, run_evening


class _Pending(Protocol):
    def result(self) -> EveningRun: ...


class _InThisProcess:
    """An evening that runs when its result is asked for: one job needs no second process."""

    def __init__(self, plan: CampaignPlan, index: int, wheeld: Path) -> None:
        self._arguments = (plan, index, wheeld)

    def result(self) -> EveningRun:
        return run_evening(*self._arguments)


def run_evenings(plan: CampaignPlan, coups: int, jobs: int, wheeld: Path) -> Iterator[EveningRun]:
    """Evenings 0, 1, 2, … until they have `coups` rows, `jobs` at a time.

    An evening whose layout is refused has no rows, so more evenings run in its place. An evening that was started and
    is not needed is not returned: which evenings belong to a campaign depends on its plan alone.
    """
    with _workers(jobs) as submit:
        pending: deque[_Pending] = deque()
        indices = count()
        compared = 0
        while compared < coups:
            while len(pending) <= jobs and compared + len(pending) * plan.evening_coups < coups:
                pending.append(submit(plan, next(indices), wheeld))
            evening_run = pending.popleft().result()
            compared += len(evening_run.rows)
            yield evening_run


def _workers(jobs: int) -> AbstractContextManager[Callable[[CampaignPlan, int, Path], _Pending]]:
    return nullcontext(_InThisProcess) if jobs == 1 else _processes(jobs)


@contextmanager
def _processes(jobs: int) -> Iterator[Callable[[CampaignPlan, int, Path], _Pending]]:
    context = multiprocessing.get_context("spawn")  # a fork would copy the locks of the progress bar's thread
    pool = ProcessPoolExecutor(jobs, mp_context=context)

    def submit(plan: CampaignPlan, index: int, wheeld: Path) -> _Pending:
        return cast("Future[EveningRun]", pool.submit(run_evening, plan, index, wheeld))

    try:
        yield submit
    finally:
        pool.shutdown(cancel_futures=True)
