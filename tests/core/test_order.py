"""The verdict depends on the order of the evidence alone, whatever proves each happening, and however late it does.

Two to four happenings within three seconds, in every order, each proven early or late. `rulebook_order` says from
docs/rulebook.md what must come of them; here each history is played to a `Table` and compared.
"""

from __future__ import annotations

import math
import random
from itertools import permutations
from typing import Any

import pytest

from tests.core.happenings import (
    COMMANDS,
    PLACES,
    Happening,
    History,
    Place,
    Played,
    Proofs,
    can_follow,
    names_at,
    play,
)
from tests.core.rulebook_order import HELD_TURNS, LAUNCH_KNOWN_US, STOP_KNOWN_US, UNKNOWN, outcomes
from tests.faults.conftest import SEED, size_of

EARLY, LATE = Proofs(beams=6, readers=3, rpm=27), Proofs(beams=2, readers=1, rpm=18, missed_pass=1, is_quiet=True)
SPEEDS_RPM = (18, 27)
FIRST_US, GAP_US = 300_000, 300_000
"""Fixed instants: a launch is proven after 0.2 s early and after 1.2 s late, a number after 1.5 s and after 7 s."""
WINDOW_US = 3_000_000
BATCH = 100
"""Drawn histories that share one place and one set of sensors: to come there takes longer than a history."""
SHORT_OF_ALL = size_of("orders of three")
BATCHES = size_of("batches of drawn orders")
AT_ONCE_US = 50_000
"""Section 6."""
EVIDENCE_OF = {
    "early_launch": ("launch",),
    "rotor_stopped_running": ("stop",),
    "rotor_stopped_before_drop": ("stop",),
    "foreign_object": ("object_in",),
    "chef": ("rien_va",),
    "breakdown": ("fault", "suspend", "close", "seen"),
}


def problems(history: History, played: Played) -> list[str]:
    """What the rulebook does not allow of what came of a history."""
    allowed = outcomes(history.place, played)
    found = []
    if not any(played.verdicts == verdicts and state in (UNKNOWN, played.state) for verdicts, state in allowed):
        found.append(f"published {played.verdicts}, {played.state}; allowed: {sorted(allowed)}")
    for (kind, name), published_us in zip(played.verdicts, played.published_us, strict=True):
        latest_us = _latest_us(history, played, kind, name)
        if published_us > latest_us:
            found.append(f"{kind} {name} published {published_us - latest_us} µs too late")
    return found


def _latest_us(history: History, played: Played, kind: str, name: Any) -> int:
    """Until when the verdict may be published: a result with the sighting that proves it, a void as section 6 says."""
    dates = {dated.name: dated.t_us for dated in played.evidence}
    if kind == "result" and played.proven_us is not None:
        is_late = played.proof_turns > HELD_TURNS  # sightings that far apart may count anew
        return played.proven_us + is_late * math.ceil(60e6 / history.proofs.rpm)
    if kind == "result":  # by the chef's word, that waits until the sensors can't prove it
        return played.published_us[-1]
    evidence_us = max(dates.get(each, 0) for each in EVIDENCE_OF[name])
    if name == "breakdown" and played.proven_us is not None:  # a ball of no coup fell
        evidence_us = max(evidence_us, played.proven_us)
    launched_us = dates.get("launch", 0)
    known_us = max(evidence_us, launched_us) + (STOP_KNOWN_US if name.startswith("rotor") else AT_ONCE_US)
    seen_us = min((dates[each] for each in ("bounce", "seen") if each in dates), default=known_us)
    held_us = HELD_TURNS * 60e6 / history.proofs.rpm + STOP_KNOWN_US if seen_us < evidence_us else 0
    return round(max(known_us, launched_us + LAUNCH_KNOWN_US) + held_us)


def failures(histories: list[History]) -> list[str]:
    """One line for each history of which something came that the rulebook does not allow."""
    found = []
    for history in histories:
        played = play(history)
        found += [f"{problem}; {history}; {played.evidence}" for problem in problems(history, played)]
    return found


def _at_fixed_instants(place: Place, proofs: Proofs, count: int) -> list[History]:
    """All orders of so many happenings there."""
    return [
        History(
            place,
            proofs,
            tuple(Happening(name, FIRST_US + number * GAP_US) for number, name in enumerate(names)),
        )
        for names in permutations(names_at(place), count)
        if can_follow(names)
    ]


@pytest.mark.parametrize("proofs", [EARLY, LATE], ids=["early", "late"])
@pytest.mark.parametrize("place", PLACES)
def test_one_happening_and_two_in_every_order(place: Place, proofs: Proofs) -> None:
    histories = [*_at_fixed_instants(place, proofs, 1), *_at_fixed_instants(place, proofs, 2)]
    assert failures(histories) == []


@pytest.mark.parametrize("proofs", [EARLY, LATE], ids=["early", "late"])
@pytest.mark.parametrize("place", PLACES)
def test_three_happenings_in_every_order(place: Place, proofs: Proofs) -> None:
    assert failures(_at_fixed_instants(place, proofs, 3)[::SHORT_OF_ALL]) == []


def _drawn(rng: random.Random, place: Place, proofs: Proofs) -> History:
    """Two to four happenings; people may say a thing twice, and the wheel does each thing once."""
    while True:
        once = [name for name in names_at(place) if name not in COMMANDS]
        names = rng.sample([*once, *COMMANDS, *COMMANDS], rng.randint(2, 4))
        if can_follow(names):
            break
    instants_us = sorted(rng.sample(range(FIRST_US, WINDOW_US, 10_000), len(names)))
    return History(place, proofs, tuple(map(Happening, names, instants_us)))


def _proofs(rng: random.Random, beams: int, readers: int, rpm: int) -> Proofs:
    return Proofs(beams, readers, rpm, rng.randint(0, 2), rng.randint(0, 2), is_quiet=rng.random() < 0.5)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_drawn_histories(batch: int) -> None:
    rng = random.Random(f"{SEED} {batch}")
    place = PLACES[batch % len(PLACES)]
    beams, readers, rpm = rng.randint(2, 6), rng.randint(1, 3), rng.choice(SPEEDS_RPM)
    histories = [_drawn(rng, place, _proofs(rng, beams, readers, rpm)) for _ in range(BATCH)]
    found = failures(histories)
    assert found == [], f"seed {SEED}, batch {batch}: {len(found)} of {BATCH}"
