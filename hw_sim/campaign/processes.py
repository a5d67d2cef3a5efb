"""Spreads the evenings of a campaign over processes and hands them back in order: the same nights for any number."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import count
from pathlib import Path
from typing import Protocol, cast

from hw_sim.campaign.evening_run import EveningRun, Plan, run_evening


class _Later(Protocol):
    def result(self) -> EveningRun: ...


class _Now:
    """An evening that is played when it is asked for: one job needs no second process."""

    def __init__(self, plan: Plan, index: int, wheeld: Path) -> None:
        self._what = (plan, index, wheeld)

    def result(self) -> EveningRun:
        return run_evening(*self._what)


def run_evenings(plan: Plan, coups: int, jobs: int, wheeld: Path) -> Iterator[EveningRun]:
    """Evenings 0, 1, 2, … until `coups` have been judged, `jobs` at a time.

    An evening whose layout is refused judges none; so many more are played. One more than is needed is never handed
    out, whatever was begun: which evenings make a campaign depends on its plan alone.
    """
    with _pool(jobs) as submit:
        begun: deque[_Later] = deque()
        indices = count()
        comparisons = 0
        while comparisons < coups:
            while len(begun) <= jobs and comparisons + len(begun) * plan.evening_coups < coups:
                begun.append(submit(plan, next(indices), wheeld))
            night = begun.popleft().result()
            comparisons += len(night.rows)
            yield night


def _pool(jobs: int) -> AbstractContextManager[Callable[[Plan, int, Path], _Later]]:
    return nullcontext(_Now) if jobs == 1 else _processes(jobs)


@contextmanager
def _processes(jobs: int) -> Iterator[Callable[[Plan, int, Path], _Later]]:
    context = multiprocessing.get_context("spawn")  # a fork would inherit the progress bar's thread half
    pool = ProcessPoolExecutor(jobs, mp_context=context)

    def submit(plan: Plan, index: int, wheeld: Path) -> _Later:
        return cast("Future[EveningRun]", pool.submit(run_evening, plan, index, wheeld))

    try:
        yield submit
    finally:
        pool.shutdown(cancel_futures=True)
