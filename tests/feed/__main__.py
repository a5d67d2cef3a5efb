"""`python -m tests.feed HISTORIES SEED JOBS`: so many histories of a dishonest broker, and what was found.

With one seed of a history in place of the numbers it plays that one.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from tests.feed.histories import Ended, play

CHUNK = 250
"""Histories that a process plays at a time: some seconds."""
SHOWN_MAX = 10
"""Seeds that are printed."""


class Tally(NamedTuple):
    """Of some histories."""

    messages: int
    questions: int
    seconds: float
    played: Counter[str]
    refused: Counter[str]
    found: list[tuple[str, tuple[str, ...]]]


def some(seed: str, first: int, last: int) -> Tally:
    """The histories of those numbers."""
    ended = {f"{seed}/{number}": play(f"{seed}/{number}") for number in range(first, last)}
    return Tally(
        sum(one.messages for one in ended.values()),
        sum(one.questions for one in ended.values()),
        sum(one.seconds for one in ended.values()),
        _sum([one.played for one in ended.values()]),
        _sum([one.refused for one in ended.values()]),
        [(name, one.problems) for name, one in ended.items() if one.problems],
    )


def run(histories: int, seed: str, jobs: int) -> int:
    """Play them all and print what came of it; returns the exit code."""
    began_s = time.monotonic()
    with ProcessPoolExecutor(jobs) as pool:
        firsts = range(0, histories, CHUNK)
        asked = [pool.submit(some, seed, first, min(first + CHUNK, histories)) for first in firsts]
        tallies = [future.result() for future in asked]
    found = [each for tally in tallies for each in tally.found]
    kinds = Counter(kind for _, problems in found for kind in {problem.partition(":")[0] for problem in problems})
    took_s, hours = time.monotonic() - began_s, sum(tally.seconds for tally in tallies) / 3600
    messages, questions = sum(tally.messages for tally in tallies), sum(tally.questions for tally in tallies)
    say(f"feed: {histories:,} histories of a dishonest broker, seed {seed}: {hours:,.0f} h in {took_s:.0f} s;")
    say(f"  {messages:,} messages handed out, {questions:,} questions;")
    say(f"  tricks: {_listed(_sum([tally.played for tally in tallies]))}")
    say(f"  refused: {_listed(_sum([tally.refused for tally in tallies]))}")
    counted = (f"{kinds[kind]} {kind}" for kind in ("wrong", "doubled", "stuck", "crashed"))
    say(f"  {', '.join(counted)}, {kinds['questions']} with too many questions")
    for name, problems in found[:SHOWN_MAX]:
        say(f"{name}: {problems[0]}")
        say(f"  play it alone: python -m tests.feed '{name}'")
    return min(len(found), 1)


def alone(seed: str) -> int:
    """Play one and print how it ended."""
    ended: Ended = play(seed)
    for name, value in ended._asdict().items():
        say(f"{name}: {value}")
    return min(len(ended.problems), 1)


def _sum(counters: list[Counter[str]]) -> Counter[str]:
    return sum(counters, Counter[str]())


def _listed(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counter.items()))


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    words = sys.argv[1:]
    sys.exit(alone(words[0]) if len(words) == 1 else run(int(words[0]), words[1], int(words[2])))
