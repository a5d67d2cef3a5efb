"""The plan of one evening: coups and faults drawn from a seed. A plan can be printed, replayed and made smaller."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Literal, TypeAlias

import msgspec

from hw_sim.demo import LAYOUT
from hw_sim.evening import drawable, repeatable
from hw_sim.wheel import WheelLayout

Manner: TypeAlias = Literal["prompt", "late", "twice", "wrong"]
Mark: TypeAlias = Literal["start", "launch", "rest"]
Source: TypeAlias = Literal["board", "pins", "mercury", "slingshot", "slingshot_board", "slingshot_pins"]
HEADS: Collection[Source] = ("mercury", "slingshot", "slingshot_board", "slingshot_pins")
"""Sources with the wheel's own head, which gives the number. In the last two sources the head is not alone: a board
also observes rotor, ball and objects, or pins also observe ball and objects."""
HEADS_ALONE: Collection[Source] = ("mercury", "slingshot")
SLINGSHOTS: Collection[Source] = ("slingshot", "slingshot_board", "slingshot_pins")
WIRED: Collection[Source] = ("pins", "slingshot_pins")
_FOUR_BEAMS = replace(LAYOUT, rotor_ticks=37)
LAYOUTS: Mapping[Source, WheelLayout] = {
    "board": _FOUR_BEAMS,
    "pins": replace(_FOUR_BEAMS, rotor_ticks=40),  # with quadrature, the ticks must be a multiple of four
    **dict.fromkeys(HEADS, _FOUR_BEAMS),
}
OF_A_HEAD = frozenset(
    {
        "valid",
        "valid_no_rnvp",
        "valid_rnvp_before_launch",
        "chef_void",
        "suspend_running",
        "suspend_idle",
        "close_running",
    }
)
"""Scenarios that a head can show correctly. If the ball of a void coup comes to rest, a head does not report it."""
NOT_OF_THE_WHOLE = frozenset({"bouler_change"})
"""Scenarios that campaigns test better."""
OF_A_BOARD = frozenset(
    {
        "breakdown_link",
        "breakdown_idle",
        "breakdown_sensor",
        "beam_fails_at_rest",
        "beam_spared",
        "disc_slips_running",
        "link_cut_at_launch",
        "sensor_fails_at_rest",
    }
)
"""Scenarios that need a board: its line fails, or it reports a failing sensor, or it shows at once that the disc slips.
Pins cannot show these events."""


class PlannedFault(msgspec.Struct, frozen=True, omit_defaults=True):
    """A fault of `kind` in coup number `coup`. It begins `at_s` after `mark` (before it if negative) and lasts `for_s`.
    `amount`: see `KINDS`. If the coup does not have that mark, for example because it has no launch, the mark is the
    coup's start."""

    kind: str
    coup: int
    mark: Mark
    at_s: float
    for_s: float = 0.0
    amount: float = 0.0


class PlannedCoup(msgspec.Struct, frozen=True, omit_defaults=True):
    """One scenario, and how the people behave while they make the table ready for it."""

    scenario: str
    manner: Manner = "prompt"


class EveningPlan(msgspec.Struct, frozen=True, omit_defaults=True):
    """The plan of one evening. `seed` decides what the plan does not: the wheel's physics and the people's pauses."""

    seed: str
    source: Source
    coups: tuple[PlannedCoup, ...]
    faults: tuple[PlannedFault, ...] = ()

    def text(self) -> str:
        """Return the plan as one line, which `from_text` reads."""
        return msgspec.json.encode(self).decode()

    def without_fault(self, index: int) -> EveningPlan:
        """Return the same evening without the fault `index`."""
        return msgspec.structs.replace(self, faults=self.faults[:index] + self.faults[index + 1 :])

    def without_coup(self, index: int) -> EveningPlan:
        """Return the same evening without the coup `index` and its faults."""
        faults = (fault for fault in self.faults if fault.coup != index)
        moved = (msgspec.structs.replace(one, coup=one.coup - (one.coup > index)) for one in faults)
        return msgspec.structs.replace(self, coups=self.coups[:index] + self.coups[index + 1 :], faults=tuple(moved))


def from_text(text: str) -> EveningPlan:
    """Return the plan that a line contains. Raises msgspec's errors."""
    return msgspec.json.decode(text, type=EveningPlan)


ALL: Collection[Source] = ("board", "pins", *HEADS)
LINES: Collection[Source] = ("board", *HEADS)
BOARD: tuple[Source, ...] = ("board",)
BOARDS: Collection[Source] = ("board", "slingshot_board")
SEEN: Collection[Source] = (*BOARDS, *WIRED)
READ: Collection[Source] = ("board", "pins")
"""Sources in LINES have a line to a device, in BOARDS a board, in SEEN an object sensor, in READ pocket readers."""


class FaultKind(msgspec.Struct, frozen=True):
    """One kind of fault. `for_s`: shortest and longest duration. `amount`: a range, in the unit that `about` names.

    `is_harmless`: the fault must not change a verdict. `at`: the sources at which it can occur.
    """

    about: str
    for_s: tuple[float, float] = (0.0, 0.0)
    amount: tuple[float, float] = (0.0, 0.0)
    is_harmless: bool = False
    at: Collection[Source] = ALL


KINDS: Mapping[str, FaultKind] = {
    # Faults of the daemon's computer
    "daemon_killed": FaultKind("the daemon's process is killed; systemd starts it again after 5 s"),
    "daemon_stopped": FaultKind("the daemon is told to stop, and started again", (1, 20)),
    "host_power": FaultKind("the daemon's computer loses its power", (3, 40)),
    "stall_short": FaultKind("the daemon stands still, but for less time than a line may be silent", (0.05, 0.7)),
    "stall": FaultKind("the daemon stands still", (1, 15)),
    "busy": FaultKind(
        "now and then another process has the processor for up to `amount` s, also between two readings of the clocks",
        (5, 60),
        (0.02, 0.09),
        is_harmless=True,
    ),
    "utc_step": FaultKind("the computer's date is set, by `amount` s", (0, 0), (-4000, 4000), is_harmless=True),
    "host_drift": FaultKind("the computer's clock runs too fast, by `amount` ppm", (20, 60), (50, 1500)),
    # Faults of its disk
    "disk_slow": FaultKind("each call of the journal takes `amount` s", (2, 20), (0.05, 0.8)),
    "disk_full": FaultKind("the disk is full", (2, 20)),
    # Faults of the board and of its line
    "board_power": FaultKind("the board loses its power", (0.5, 30), at=LINES),
    "board_reset": FaultKind("the board's watchdog resets it", at=LINES),
    "board_clock_back": FaultKind("the board's clock begins at 0 again, without a new boot", at=BOARDS),
    "unplugged": FaultKind("the plug of the line is pulled", (0.3, 30), at=LINES),
    "cable_cut": FaultKind("no byte passes", (0.2, 20), at=LINES),
    "loose_contact": FaultKind("a contact of the line opens or closes each `amount` s", (8, 30), (0.8, 2.5), at=LINES),
    "board_mute": FaultKind("the host hears nothing from the board, but the board hears the host", (0.2, 20), at=LINES),
    "board_deaf": FaultKind("the board hears nothing from the host, but the host hears the board", (1, 130), at=LINES),
    "noise": FaultKind(
        "a part `amount` of the bytes is lost, and as many false bytes arrive", (2, 20), (0.0002, 0.02), at=LINES
    ),
    "damage": FaultKind(
        "one byte in 500 arrives with another value, in both directions", (5, 30), is_harmless=True, at=BOARD
    ),
    "all_power": FaultKind("everything loses its power, and the parts get it back one by one", (2, 30)),
    # Faults of the sensors. For a beam or a reader, `amount` selects which one. The disc has 37 ticks, so 36 ticks
    # ahead is the same as one tick back.
    "disc_slips": FaultKind("the encoder's disc slips, by `amount` ticks", (0, 0), (2, 35), at=BOARD),
    "disc_slips_back": FaultKind("the encoder's disc slips, by `amount` ticks", (0, 0), (-35, -2), at=BOARD),
    "beam_blind": FaultKind("a beam sees nothing", (5, 90), (0, 100), at=SEEN),
    "beams_blind": FaultKind("two adjacent beams see nothing", (5, 90), (0, 100), at=SEEN),
    "reader_blind": FaultKind("a reader sees nothing", (5, 90), (0, 100), at=READ),
    "readers_blind": FaultKind("no reader sees anything", (5, 90), at=READ),
    "beam_late": FaultKind("a beam reports a pass 30 ms late", (5, 90), (0, 100), at=SEEN),
    "reader_late": FaultKind("a reader reports a ball 30 ms late", (5, 90), (0, 100), at=READ),
    # Faults of the wheel's own head
    "wheel_stops": FaultKind("a SlingShot 2 stops its own game", at=SLINGSHOTS),
    "wheel_misfires": FaultKind("the launch of a SlingShot 2 fails", (6, 60), at=SLINGSHOTS),
    # Faults of the broker and of the settlement core
    "broker_restarted": FaultKind("the broker restarts, and keeps all its data", (0.2, 15), is_harmless=True),
    "broker_forgot": FaultKind("the broker restarts, and has lost all its data", (0.2, 15), is_harmless=True),
    "network_cut": FaultKind("nothing passes between daemon and broker", (0.5, 25), is_harmless=True),
    "settlement_away": FaultKind("the settlement core does not run", (1, 40), is_harmless=True),
    # Faults of people and things
    "object": FaultKind("a foreign object falls in the cylinder; it is taken out when the table asks for it", at=SEEN),
    "object_in_the_dark": FaultKind(
        "a foreign object falls in while the device that reports it has no power", (1, 20), at=SEEN
    ),
    "object_gone_in_the_dark": FaultKind(
        "a foreign object is taken out while the device that reports it has no power", (1, 20), at=SEEN
    ),
    "rien_va": FaultKind("the chef says rien va at a panel"),
    "impatience": FaultKind("each second the chef gives the command for which the table waits, even in a run", (2, 20)),
    "rien_va_in_a_stall": FaultKind("the chef says rien va at a panel while the daemon stands still", (2, 15)),
}
"""Every kind of fault. Those named `…_in_the_dark` or `…_in_a_stall` combine two faults that rarely meet by chance."""

COUPS = (1, 2)
FAULTS = (1, 4)
AT_S: Mapping[Mark, tuple[float, float]] = {"start": (0.0, 32.0), "launch": (-1.0, 12.0), "rest": (-5.0, 6.0)}
"""How long after each mark a fault may begin, as a range. A coup takes about half a minute."""
MANNERS: tuple[Manner, ...] = ("prompt", "prompt", "prompt", "late", "twice", "wrong")


def draw_plan(seed: str, source: Source, *, only: Collection[str] = KINDS) -> EveningPlan:
    """Draw the evening of `seed`, with faults of the kinds in `only`."""
    rng = repeatable(f"whole {seed}")
    left_out = NOT_OF_THE_WHOLE if source == "board" else NOT_OF_THE_WHOLE | OF_A_BOARD
    scenarios = [one for one in drawable(LAYOUTS[source]) if one.name not in left_out]
    if source in HEADS:
        scenarios = [one for one in scenarios if one.name in OF_A_HEAD]
    weights = [one.weight + one.rare + one.hasty for one in scenarios]
    names = [one.name for one in rng.choices(scenarios, weights, k=rng.randint(*COUPS))]
    coups = tuple(PlannedCoup(name, rng.choice(MANNERS)) for name in names)
    faults: list[PlannedFault] = []
    for _ in range(rng.randint(*FAULTS)):
        name = rng.choice([name for name, kind in KINDS.items() if source in kind.at and name in only])
        mark, kind = rng.choice(list(AT_S)), KINDS[name]
        at_s, for_s, amount = (round(rng.uniform(*span), 4) for span in (AT_S[mark], kind.for_s, kind.amount))
        faults.append(PlannedFault(name, rng.randrange(len(coups)), mark, at_s, for_s, amount))
    return EveningPlan(seed, source, coups, tuple(faults))
