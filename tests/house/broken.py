"""Collectors and databases that are broken on purpose: each must be found.

    python -m tests.house.broken collect MUTANT settings.toml
    python -m tests.house.broken nights MUTANT NIGHTS

The first is a collector of a mutant, as the tests start it. The second says in how many of so many drawn nights a
mutant is found.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.house.faults import play
from tests.house.house import house
from tests.house.postgres import Cluster
from wheeld.feed import FeedMessage
from wheeld.feed.message import read_message
from wheeld.feed.order import Order
from wheeld_house import wheel as wheel_module
from wheeld_house.cli import main
from wheeld_house.database import Lease, RecordStore

STEPS = Path(wheel_module.__file__).with_name("migrations") / "versions"


def _replace(owner: object, name: str, other: object) -> None:
    setattr(owner, name, other)


def no_check_of_the_signature() -> None:
    """It commits what it has not verified."""

    def unverified(topic: str, payload: bytes, *, root: str, verify: object, test: bool) -> FeedMessage:
        return read_message(topic, payload, root=root, test=test)

    _replace(wheel_module, "read_message", unverified)


def no_fencing() -> None:
    """It writes every wheel all the time, with whatever fencing number stands."""

    def keep_all(store: RecordStore, lease_s: float, brokers: int, wheels: Sequence[int]) -> list[Lease]:
        rows: list[tuple[Any, ...]] = store._rows("select id, fence, head_seq, head_hash from house.wheel")
        return [Lease(number, fence, seq, bytes(digest).hex()) for number, fence, seq, digest in rows]

    _replace(RecordStore, "keep_leases", keep_all)


def no_dedupe() -> None:
    """It takes what comes again as new."""
    take = wheel_module.CollectedWheel._take_message

    def take_all(each: wheel_module.CollectedWheel, order: Order, leaf: str, payload: bytes, now_s: float) -> None:
        message = read_message(leaf, payload, root=each.root, test=each.settings.test)
        if order.seq is not None and message.seq <= order.seq:
            each.pending.append(message)
        else:
            take(each, order, leaf, payload, now_s)

    _replace(wheel_module.CollectedWheel, "_take_message", take_all)


def no_question() -> None:
    """It waits for what is missing, and asks no wheel."""
    _replace(Order, "question", lambda order, now_s: None)


def no_look_after_an_error() -> None:
    """After an error it goes on with what it has in memory, whatever stands."""
    begin = wheel_module.CollectedWheel.begin

    def go_on(each: wheel_module.CollectedWheel, lease: Lease, now_s: float) -> None:
        if each.order is None:
            begin(each, lease, now_s)

    _replace(wheel_module.CollectedWheel, "begin", go_on)


FENCE = "a.fence is distinct from w.fence"
FOLLOWS = "(each.seq = each.before_seq + 1 and each.prev = each.before_hash)"
KEY = "primary key (wheel, seq, at)"


@dataclass(frozen=True)
class Mutant:
    """A collector that `spoils` itself, at a database whose schema has other words in place of some."""

    spoils: Callable[[], None]
    schema: tuple[tuple[str, str], ...] = ()


MUTANTS = {
    "commits before it verifies": Mutant(no_check_of_the_signature),
    "no fencing": Mutant(no_fencing, ((FENCE, "false"),)),
    "no fencing and no chain": Mutant(no_fencing, ((FENCE, "false"), (FOLLOWS, "true"), (KEY, "check (true)"))),
    "no dedupe": Mutant(no_dedupe, ((FOLLOWS, "true"), (KEY, "check (true)"))),
    "no question": Mutant(no_question),
    "no look after an error": Mutant(no_look_after_an_error),
}


def schema_of(mutant: Mutant) -> str:
    text = "".join(step.read_text() for step in sorted(STEPS.glob("*.sql")))
    for words, others in mutant.schema:
        assert words in text, words
        text = text.replace(words, others)
    return text


def broken_database(cluster: Cluster, mutant: Mutant) -> str:
    """Make a new database with the schema of the mutant, and return its name."""
    return cluster.database(schema_of(mutant) if mutant.schema else None)


def command_of(name: str) -> tuple[str, ...]:
    return ("tests.house.broken", "collect", name)


async def night(cluster: Cluster, name: str, seed: int) -> str | None:
    """Play one drawn night with collectors of the mutant. Returns how it was found."""
    with tempfile.TemporaryDirectory() as folder:
        database = await asyncio.to_thread(broken_database, cluster, MUTANTS[name])
        async with house(cluster, Path(folder), database=database, parts_fail=True) as whole:
            try:
                await play(whole, Path(folder), seed, command_of(name), settle_s=10.0)
            except AssertionError as found:
                return str(found)
    return None


def nights(name: str, count: int) -> None:
    with Cluster(with_disk=True) as cluster:
        found = [asyncio.run(night(cluster, name, seed)) for seed in range(1, count + 1)]
    sys.stdout.write(f"{name}: found in {sum(each is not None for each in found)} of {count}\n")
    for seed, each in enumerate(found, 1):
        sys.stdout.write(f"  {seed}: {(each or 'not found')[:200]}\n")


if __name__ == "__main__":
    if sys.argv[1] == "nights":
        nights(sys.argv[2], int(sys.argv[3]))
    else:
        MUTANTS[sys.argv[2]].spoils()
        sys.exit(main(["collect", sys.argv[3]]))
