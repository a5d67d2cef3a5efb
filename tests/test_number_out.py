"""The number is out when the ball rests (R3, R3b): what a hand, a coin or a word does after that, and how long the
result takes. Coups of our own simulator; `pytest -s` prints the times.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeAlias

import msgspec
import pytest

from hw_sim.evening import repeatable
from hw_sim.log import lines
from hw_sim.table import SimTable
from hw_sim.wheel import WheelLayout
from hw_sim.world import us
from tests.faults.conftest import size_of
from tests.number_proof import Met, proven_us
from wheeld.core.observations import Command, Observation
from wheeld.core.setting import Header, from_header
from wheeld.core.table import Table

COUPS_TIMED = size_of("coups from rest to result")
TICKS = 74
LATEST_S = 40.0
"""After rest: three turns of the slowest rotor here, and more."""
STOP_S = 2.0
"""A hand takes the rotor so long after the ball rests."""
SAID_S = 1.5
"""A coin falls, or the chef says rien va, so long after the ball rests."""
LIFTED_S = 1.0
HOUSE: dict[str, Any] = {
    "kind": "wheel",
    "format": 1,
    "table": "rest",
    "house": "campione",
    "game": "roulette",
    "wheel": "french",
    "min_laps": 3,
    "started": "2026-11-20T18:00:00Z",
    "last_number": 17,
}
Happening: TypeAlias = Callable[[SimTable], None]


@dataclass(frozen=True)
class Coup:
    """One coup that ran its laps: what happened at the wheel, and what was published of it."""

    table: SimTable
    number: int
    rest_us: int
    happened_us: int
    published: list[dict[str, Any]]
    live: Table

    @property
    def met(self) -> list[Met]:
        """Every sighting of the ball in its pocket."""
        rotor, stay = self.table.world.rotor, self.table.world.stays[-1]
        seen = self.table.world.sightings(stay, stay.from_s, min(stay.to_s, self.rest_us / 1e6 + LATEST_S))
        return [Met(us(t_s), reader, abs(rotor.angle_at(t_s) - rotor.angle_at(stay.from_s))) for t_s, reader in seen]

    @property
    def was_seen(self) -> bool:
        """Whether a reader had met the ball before the hand, the coin or the word came."""
        return any(met.t_us < self.happened_us for met in self.met)

    @property
    def verdicts(self) -> list[tuple[str, Any]]:
        named = {"result": "number", "void": "cause"}
        return [(m["topic"], m["payload"][named[m["topic"]]]) for m in self.published if m["topic"] in named]

    @property
    def state(self) -> str:
        return self.live.state

    def say(self, name: str, **members: Any) -> list[dict[str, Any]]:
        """The chef says something now; all that is published of it."""
        command = msgspec.convert({"t": self.live.now_us, "kind": "command", "name": name, "by": "chef", **members},
                                  type=Command)  # fmt: skip
        return _payloads(self.live, [command])


def _payloads(table: Table, seen: list[Observation]) -> list[dict[str, Any]]:
    return [
        {"t": each.t_us, "topic": message.topic, "payload": msgspec.json.decode(message.payload)}
        for each in seen
        for message in table.apply(each).messages
    ]


def play(readers: int, seed: int, happening: Happening | None = None, *, wait_s: float = 0.0) -> Coup:
    """A coup whose ball rests; `wait_s` later something happens, and then nothing more."""
    beams_deg, readers_deg = (0.0, 90.0, 180.0, 270.0), tuple(30 + 360 / readers * n for n in range(readers))
    layout = WheelLayout("campione", "roulette", TICKS, beams_deg, readers_deg)
    table = SimTable(layout, repeatable(f"rest {readers} {seed}"), 17)
    table.wait(0.1, 1.0)
    table.command("open")
    table.prepare_launch()
    table.launch()
    table.wait_for_part_of_run(0.35, 0.9)
    table.command("rien_ne_va_plus")
    number = table.fall()
    rest_s = table.now_s
    table.now_s += wait_s
    happened_us = us(table.now_s)
    if happening is not None:
        happening(table)
    header = {**HOUSE, "rotor_ticks": TICKS, "beams_deg": list(beams_deg), "readers_deg": list(readers_deg)}
    first, *log = lines(header, table.world.events(rest_s + LATEST_S))
    setting = from_header(msgspec.json.decode(first, type=Header))
    live, _ = Table.start(setting, boot_id="test", started_utc_us=1_795_197_600_000_000)
    published = _payloads(live, [msgspec.json.decode(line, type=Observation) for line in log])
    return Coup(table, number, us(rest_s), happened_us, published, live)


def stop(table: SimTable) -> None:
    table.stop_rotor()


def coin(table: SimTable) -> None:
    table.foreign_object(present=True)


def rien_va(table: SimTable) -> None:
    table.command("rien_va", reason="late bet disputed")


def lift(table: SimTable) -> None:
    table.lift_ball()


def _seen_coups(readers: int, count: int, happening: Happening, wait_s: float) -> list[tuple[int, Coup]]:
    """So many coups of which a reader had met the ball before it happened, with their seeds."""
    found: list[tuple[int, Coup]] = []
    seed = 0
    while len(found) < count:
        coup = play(readers, seed, happening, wait_s=wait_s)
        if coup.was_seen:
            found.append((seed, coup))
        seed += 1
    return found


# --- after rest ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("readers", [3, 2, 1])
def test_a_hand_on_the_rotor_two_seconds_after_rest_voids_nothing(readers: int) -> None:
    """R3: a result, where the sightings had proven the number by then; R3b: else the chef's word, also where no reader
    had met the ball yet: nobody but people can tell then whether it rests on an obstacle (N5)."""
    for seed in range(16):
        coup = play(readers, seed, stop, wait_s=STOP_S)
        case = f"{readers} readers, seed {seed}"
        if proven_us(coup.met) is not None:
            assert coup.verdicts == [("result", coup.number)], case
        else:
            assert (coup.verdicts, coup.state) == ([], "awaiting_chef"), case


@pytest.mark.parametrize("readers", [3, 2, 1])
@pytest.mark.parametrize(("happening", "cause"), [(coin, "foreign_object"), (rien_va, "chef")])
def test_a_coin_or_the_chefs_word_voids_nothing_once_a_reader_met_the_ball(
    happening: Happening, cause: str, readers: int
) -> None:
    """Before that, what no sensor has seen dates no number: the coin or the word came first."""
    seen = unseen = seed = 0
    while seen < 20:
        coup = play(readers, seed, happening, wait_s=SAID_S)
        case = f"{readers} readers, seed {seed}"
        if coup.was_seen:
            assert (coup.verdicts, coup.state) == ([("result", coup.number)], "operations"), case
        else:
            assert (coup.verdicts, coup.state) == ([("void", cause)], "rien_va"), case
        seen, unseen, seed = seen + coup.was_seen, unseen + (not coup.was_seen), seed + 1
    assert unseen, "one of these coups or more must not have been seen"


# --- the ball lifted before the number is called ------------------------------------------------------------------


@pytest.mark.parametrize("readers", [3, 1])
def test_a_ball_lifted_before_its_number_is_called_awaits_the_chef(readers: int) -> None:
    for seed, coup in _seen_coups(readers, 10, lift, LIFTED_S):
        assert (coup.verdicts, coup.state) == ([], "awaiting_chef"), f"{readers} readers, seed {seed}"


@pytest.mark.parametrize("named", [None, "the same", "another"])
@pytest.mark.parametrize(("happening", "wait_s"), [(lift, LIFTED_S), (stop, STOP_S)])
def test_the_chef_confirms_the_number_that_was_seen_or_states_another(
    happening: Happening, wait_s: float, named: str | None
) -> None:
    for seed, coup in _seen_coups(1, 6, happening, wait_s):
        number = (coup.number + 1) % 37 if named == "another" else coup.number
        members = {} if named is None else {"number": number}
        published = coup.say("confirm", coup=coup.live.coup, reason="seen by all", **members)
        (result,) = [m["payload"] for m in published if m["topic"] == "result"]
        assert result["number"] == number, f"seed {seed}"
        assert (result["confirmed_by"], result["confirmed_reason"]) == ("chef", "seen by all")
        assert coup.state == "operations"


def test_the_chef_may_declare_such_a_coup_void() -> None:
    for seed, coup in _seen_coups(3, 4, lift, LIFTED_S):
        (void,) = [m["payload"] for m in coup.say("rien_va") if m["topic"] == "void"]
        assert void["cause"] == "chef", f"seed {seed}"
        assert coup.state == "rien_va"


# --- from rest to result ------------------------------------------------------------------------------------------


def _p95(times_s: list[float]) -> float:
    return sorted(times_s)[math.ceil(0.95 * len(times_s)) - 1]


@pytest.mark.parametrize("readers", [3, 2, 1])
def test_the_result_comes_at_the_sighting_that_proves_the_number(readers: int) -> None:
    """Never later, and never sooner."""
    needed_s, taken_s = [], []
    for seed in range(COUPS_TIMED):
        coup = play(readers, seed)
        (result,) = [m for m in coup.published if m["topic"] == "result"]
        proof_us = proven_us(coup.met)
        assert proof_us is not None, f"{readers} readers, seed {seed}"
        assert result["payload"]["number"] == coup.number, f"{readers} readers, seed {seed}"
        needed_s.append((proof_us - coup.rest_us) / 1e6)
        taken_s.append((result["t"] - coup.rest_us) / 1e6)
    sys.stdout.write(
        f"\n{readers} readers, rest to result: median {median(taken_s):.2f} s, p95 {_p95(taken_s):.2f} s; "
        f"to the sighting that proves it: median {median(needed_s):.2f} s, p95 {_p95(needed_s):.2f} s\n"
    )
    assert taken_s == needed_s
