"""What befalls a board at a table, and what the host must tell of it: one table for all ports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter

from hw_sim.scenarios import SCENARIOS
from hw_sim.scenarios.interruptions import resume, running
from hw_sim.scenarios.registry import Play
from hw_sim.scenarios.voids import block_or_fall, restore
from hw_sim.table import SimTable
from tests.firmware.ports import WIRES, Port
from wheeld.ports import Edge

S = 1_000_000_000
Noise = Iterable[tuple[int, int, bool]]
"""Times in ns, pins and levels."""
VALID = SCENARIOS["valid"]
DOOR = WIRES.switches["door"]
PLACE_S = 9.0
"""After which an encoder that failed knows its place again, for the mark has come by twice."""
STOPPED = "rotor_stopped_running"
"""Until the mark comes by, a rotor with a dead channel is one that stands: the coup is void all the same."""


def breaks_for(seconds: float, cause: str = "breakdown") -> Play:
    """Something breaks for so long while the ball runs. People take up the game when it is over."""

    def play(table: SimTable) -> None:
        running(table)
        table.void(cause, table.now_s, table.now_s)
        back_s = table.outage("link", seconds, seconds)
        block_or_fall(table)
        table.wait_until(back_s + PLACE_S)
        resume(table, "repaired")
        restore(table)

    return play


def told(sensor: str, *troubles: str) -> frozenset[tuple[str, str]]:
    return frozenset((sensor, trouble) for trouble in troubles)


@dataclass(frozen=True)
class Fault:
    """`play`: the coup that it befalls, in the middle of its run, or when it breaks in `breaks_for`.

    `troubles`, `failed`: what is told, in the words of the daemon. `perhaps`: what may be told beside. `lasts_ns`: how
    long it is so, and `pins`: which lines then follow `noise`, in place of the wheel. `deaf`: the host stands still so
    long. `openings`: of the door. `too_fast_for`: ports that promise less.
    """

    play: Play = VALID
    troubles: frozenset[tuple[str, str]] = frozenset()
    perhaps: frozenset[tuple[str, str]] = frozenset()
    failed: frozenset[str] = frozenset()
    lasts_ns: int = 0
    begins: Callable[[Port], None] | None = None
    ends: Callable[[Port], None] | None = None
    pins: tuple[int, ...] = ()
    noise: Callable[[int], Noise] | None = None
    deaf: bool = False
    damage: float = 0.0
    openings: int = 0
    too_fast_for: tuple[str, ...] = ()


def toggling(pin: int, every_ns: int, for_ns: int) -> Callable[[int], Noise]:
    """A line that changes for ever: a broken wire beside a lamp."""
    return lambda at_ns: [(at_ns + number * every_ns, pin, number % 2 == 0) for number in range(for_ns // every_ns)]


def stuck(pin: int, *, level: bool) -> Callable[[int], Noise]:
    """A line that stays as it is put."""
    return lambda at_ns: [(at_ns, pin, level)]


def burst(at_ns: int) -> Noise:
    """3,000 edges a second on the four beams for two tenths of a second."""
    for number in range(300):
        begins_ns = at_ns + number * 666_667
        yield begins_ns, WIRES.beams[number % 4], False
        yield begins_ns + 300_000, WIRES.beams[number % 4], True


def on_lines(edges: list[Edge], levels: dict[int, bool], fault: Fault, at_ns: int) -> Iterator[Edge]:
    """The edges of all lines. At its end each line stands as the wheel has it."""
    ends_ns = at_ns + fault.lasts_ns
    noise = [Edge(pin, level, ns) for ns, pin, level in fault.noise(at_ns)] if fault.noise else []
    true, now = dict(levels), dict(levels)
    back = {pin: Edge(pin, level=False, at_ns=ends_ns) for pin in fault.pins}
    for edge in sorted([*edges, *noise, *back.values()], key=attrgetter("at_ns")):
        is_own = edge not in noise and edge is not back.get(edge.pin)
        if is_own:
            true[edge.pin] = edge.level
        level = true[edge.pin] if edge is back.get(edge.pin) else edge.level
        is_held = is_own and edge.pin in fault.pins and at_ns <= edge.at_ns < ends_ns
        if not is_held and level is not now[edge.pin]:
            now[edge.pin] = level
            yield Edge(edge.pin, level, edge.at_ns)


FAULTS = {
    "power cut": Fault(
        breaks_for(6),
        told("link", "nothing_heard", "board_restarted"),
        told("link", "garbage_heard"),  # if the host looks while the first frame is on its way
        begins=lambda port: port.power_off(),
        ends=lambda port: port.start(keeps_memory=False),
    ),
    "brown-out": Fault(
        breaks_for(6), told("link", "board_restarted"), begins=lambda port: port.start(keeps_memory=True)
    ),
    "noise on the line": Fault(VALID, told("link", "line_damaged"), damage=1 / 500),
    "a host that does not read for 4 s": Fault(lasts_ns=4 * S, deaf=True),
    "a host that does not read for 45 s": Fault(
        breaks_for(45), told("link", "events_lost"), lasts_ns=45 * S, deaf=True
    ),
    "a door's line that changes for ever": Fault(
        lasts_ns=3 * S, pins=(DOOR,), noise=toggling(DOOR, 200_000, 3 * S), openings=1
    ),
    "a beam that changes for ever": Fault(
        VALID, told("beam/1", "chatters"), failed=frozenset({"beam/1"}), lasts_ns=3 * S, pins=(6,),
        noise=toggling(6, 500_000, 3 * S), too_fast_for=("mega2560",),
    ),
    "a beam that is stuck": Fault(
        failed=frozenset({"beam/1"}), lasts_ns=5 * S, pins=(6,), noise=stuck(6, level=False)
    ),
    "a reader that is stuck": Fault(
        failed=frozenset({"reader/1"}), lasts_ns=5 * S, pins=(10,), noise=stuck(10, level=False)
    ),
    "an encoder's channel that is stuck": Fault(
        breaks_for(15, STOPPED), failed=frozenset({"rotor"}), lasts_ns=15 * S, pins=(WIRES.a,),
        noise=stuck(WIRES.a, level=True),
    ),
    "3,000 edges a second": Fault(
        breaks_for(8), frozenset().union(*(told(f"beam/{beam}", "chatters") for beam in range(4))),
        failed=frozenset(f"beam/{beam}" for beam in range(4)), lasts_ns=S // 5, pins=WIRES.beams, noise=burst,
    ),
}  # fmt: skip
