"""`python -m tests.whole EVENINGS SEED JOBS`: so many evenings, what was injected, and what was found, made smaller.
After these, kinds of faults: no others are injected.

With a plan, a line of JSON, in place of the numbers it plays that one and prints its day.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Collection, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from hw_sim.whole.house import House
from hw_sim.whole.plan import EveningPlan, from_text
from tests.whole.daemon import play
from tests.whole.evening import Ended, plan_of, played, shrunk
from tests.whole.oracles import problems

CHUNK = 10
TOLD_EACH = 1000
"""After so many evenings, some minutes of two cores, a line says how many are done."""


class Found(NamedTuple):
    """An evening with which something is wrong."""

    plan: EveningPlan
    problems: tuple[str, ...]


class Tally(NamedTuple):
    """Of some evenings."""

    evenings: int
    injected: Counter[str]
    verdicts: int
    seconds: float
    cpu_s: float
    found: list[Found]


def some(seed: str, first: int, last: int, only: Collection[str]) -> Tally:
    """The evenings of those numbers."""
    injected, verdicts, seconds, found = Counter[str](), 0, 0.0, list[Found]()
    began_s = time.process_time()
    for index in range(first, last):
        plan = plan_of(seed, index, only)
        ended = one(plan)
        injected += ended.injected
        verdicts += ended.verdicts
        seconds += ended.seconds
        if ended.problems:
            found.append(Found(plan, ended.problems))
    return Tally(last - first, injected, verdicts, seconds, time.process_time() - began_s, found)


def one(plan: EveningPlan) -> Ended:
    """That evening; one that cannot be played to its end is found, too."""
    try:
        return played(plan)
    except Exception as wrong:  # noqa: BLE001  whatever it is, the plan must be printed
        return Ended((f"crashed: {wrong!r}",), Counter(), 0, 0.0, "")


def run(evenings: int, seed: str, jobs: int, only: Collection[str]) -> int:
    """Play them all; print what is found at once, and the report at the end. Returns the exit code."""
    began_s = time.monotonic()
    tallies, done = list[Tally](), 0
    for tally in _tallies(evenings, seed, jobs, only):
        tallies.append(tally)
        done += tally.evenings
        for each in tally.found:
            say("\n  ".join((f"\n{each.plan.seed}:", *each.problems)))
        if done % TOLD_EACH == 0 and done < evenings:
            say(f"{done} of {evenings} evenings, {time.monotonic() - began_s:.0f} s")
    _report(tallies, seed, time.monotonic() - began_s)
    found = [each for tally in tallies for each in tally.found]
    for each in found[:3]:
        smaller = shrunk(each.plan, lambda plan: bool(one(plan).problems))
        say(f"\nplay it alone: python -m tests.whole '{smaller.text()}'")
    return min(len(found), 1)


def _tallies(evenings: int, seed: str, jobs: int, only: Collection[str]) -> Iterator[Tally]:
    """Of some evenings each, as they are done."""
    with ProcessPoolExecutor(jobs) as pool:
        firsts = range(0, evenings, CHUNK)
        asked = [pool.submit(some, seed, first, min(first + CHUNK, evenings), only) for first in firsts]
        yield from (future.result() for future in as_completed(asked))


def _report(tallies: list[Tally], seed: str, took_s: float) -> None:
    injected = sum((tally.injected for tally in tallies), Counter[str]())
    evenings, verdicts = sum(one.evenings for one in tallies), sum(one.verdicts for one in tallies)
    hours = sum(one.seconds for one in tallies) / 3600
    say(f"whole: {evenings} evenings, seed {seed}: {hours:.1f} h at the table in {took_s:.0f} s,", end=" ")
    cpu_s = sum(tally.cpu_s for tally in tallies) / evenings
    say(f"{evenings / took_s:.2f} evenings a second, {cpu_s:.2f} s of a core each;", end=" ")
    say(f"{verdicts} verdicts, {injected.total()} faults:")
    say("  " + ", ".join(f"{kind} {count}" for kind, count in sorted(injected.items())))
    kinds = Counter(each.problems[0].partition(":")[0] for tally in tallies for each in tally.found)
    others = kinds.total() - kinds["unsafe"] - kinds["stuck"]
    say(f"  {kinds['unsafe']} unsafe, {kinds['stuck']} stuck, {others} other")


def day(plan: EveningPlan) -> Iterator[str]:
    """The plan's evening, line by line."""
    with TemporaryDirectory() as directory:
        house = House(plan)
        play(house, Path(directory))
    witness = house.witness
    lines = [(one.t_us, f"{one.leaf:6} {_shown(one.body)}") for one in witness.published]
    lines += [(word.t_us, f"said   {word.name}: {word.reply and word.reply['why']}") for word in witness.words]
    lines += [(t_us, f"log    {level} {event}") for t_us, level, event in witness.logged]
    for what, spans in witness.spans.items():
        for span in spans:
            lines += [(span.from_us, f"true   {what} begins")]
            lines += [(int(span.to_us), f"true   {what} ends")] if span.to_us < float("inf") else []
    for coup in witness.coups:
        lines += [(coup.launch_us, "true   launch"), (coup.rest_us, f"true   rest in {coup.number}")]
    yield from (f"{t_us / 1e6:9.3f}  {text}" for t_us, text in sorted(lines))
    yield from problems(house) or ["nothing is wrong"]


def _shown(body: dict[str, object]) -> str:
    names = ("coup", "seq", "state", "bets", "waiting_codes", "failing", "number", "cause", "notice", "text")
    return " ".join(f"{name}={body[name]}" for name in names if body.get(name) not in (None, []))


def say(text: str, end: str = "\n") -> None:
    sys.stdout.write(text + end)
    sys.stdout.flush()


def main() -> int:
    if sys.argv[1].startswith("{"):
        for line in day(from_text(sys.argv[1])):
            say(line)
        return 0
    evenings, seed, jobs, *kinds = sys.argv[1:]
    return run(int(evenings), seed, int(jobs), kinds)


if __name__ == "__main__":
    sys.exit(main())
