"""Runs the evenings of a campaign in parallel processes and returns them in order. The number of processes does not
change the result."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import TypeAlias

from hw_sim.campaign.evening_run import CampaignPlan, EveningRun, run_evening

Result: TypeAlias = Callable[[], EveningRun]
"""Waits until an evening has been run, and returns it."""


def run_evenings(plan: CampaignPlan, coups: int, jobs: int, wheeld: Path) -> Iterator[EveningRun]:
    """Run evenings 0, 1, 2, … until they have `coups` rows, `jobs` at a time.

    An evening whose layout is refused has no rows, so other evenings run in its place. An evening that was started but
    is not needed is not returned, because only the plan may decide which evenings belong to a campaign.
    """
    with _workers(jobs) as submit:
        pending: deque[Result] = deque()
        indices = count()
        compared = 0
        while compared < coups:
            while len(pending) <= jobs and compared + len(pending) * plan.evening_coups < coups:
                pending.append(submit(plan, next(indices), wheeld))
            evening_run = pending.popleft()()
            compared += len(evening_run.rows)
            yield evening_run


@contextmanager
def _workers(jobs: int) -> Iterator[Callable[[CampaignPlan, int, Path], Result]]:
    if jobs == 1:  # no second process is needed: an evening runs when its result is requested
        yield lambda *evening: partial(run_evening, *evening)
        return
    context = multiprocessing.get_context("spawn")  # a fork would copy the locks of the progress bar's thread
    pool = ProcessPoolExecutor(jobs, mp_context=context)

    try:
        yield lambda *evening: pool.submit(run_evening, *evening).result
    finally:
        pool.shutdown(cancel_futures=True)
