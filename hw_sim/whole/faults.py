"""Injects the faults of a plan into a house, and records when the last fault is over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from hw_sim.evening import repeatable
from hw_sim.whole.plan import LAYOUTS, PlannedFault

if TYPE_CHECKING:
    from hw_sim.whole.house import House
    from hw_sim.whole.line import SimLine

BEAMS, READERS = (len(angles) for angles in (LAYOUTS["board"].beams_deg, LAYOUTS["board"].readers_deg))
SETTLE_S = {
    "daemon_killed": 5.0,
    "host_power": 8.0,
    "all_power": 15.0,
    "object_in_the_dark": 8.0,
    "object_gone_in_the_dark": 9.0,
}
"""How long the house needs to recover after the end of each of these faults."""


class Faults:
    """The faults of one house. `injected` counts those that have begun, by kind."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._left = Counter(fault.coup for fault in house.plan.faults)
        self.injected: Counter[str] = Counter()
        self.over_us = 0
        """When all faults that are planned so far are over, without the time that people need to end some of them."""
        computer, sight = house.computer, house.sight
        self._acts: Mapping[str, Callable[[PlannedFault], None]] = {
            # faults of the daemon's computer, and of its disk
            "daemon_killed": self._daemon_killed,
            "daemon_stopped": lambda fault: computer.restart(fault.for_s),
            "host_power": lambda fault: self._do(fault, computer.power, on=(False, True)),
            "stall_short": self._stall,
            "stall": self._stall,
            "busy": lambda fault: self._set(fault, computer, busy_s=(fault.amount, 0.0)),
            "utc_step": lambda fault: computer.step_utc(fault.amount),
            "host_drift": lambda fault: self._do(fault, computer.drift, ppm=(fault.amount, 0.0)),
            "disk_slow": lambda fault: self._set(fault, computer, disk_call_s=(fault.amount, 0.0)),
            "disk_full": lambda fault: self._do(fault, computer.fill_disk, is_full=(True, False)),
            # faults of the board, of the head, and of their lines
            "board_power": lambda fault: self._do(fault, self._line(fault).power, on=(False, True)),
            "board_reset": self._board_reset,
            "board_clock_back": lambda _: house.board.restart_clock(),
            "unplugged": lambda fault: self._do(fault, self._line(fault).plug, is_plugged=(False, True)),
            "cable_cut": lambda fault: self._set(fault, self._line(fault).cable, cut=(True, False)),
            "loose_contact": self._loose_contact,
            "board_mute": lambda fault: self._set(fault, self._line(fault), speaks=(False, True)),
            "board_deaf": lambda fault: self._set(fault, self._line(fault), hears=(False, True)),
            "noise": lambda fault: self._set(
                fault, self._line(fault).cable, noise=(fault.amount, 0.0), drop=(fault.amount, 0.0)
            ),
            "damage": lambda fault: self._set(fault, self._line(fault).cable, damage=(1 / 500, 0.0)),
            "all_power": self._all_power,
            "wheel_stops": lambda _: vars(house.head).update(is_stopped=True),
            "wheel_misfires": lambda fault: self._set(fault, house.head, misfires=(True, False)),
            # faults of the sensors
            "disc_slips": self._disc_slips,
            "disc_slips_back": self._disc_slips,
            "beam_blind": lambda fault: self._sees(fault, sight.blind, [_beam(fault)]),
            "beams_blind": lambda fault: self._sees(fault, sight.blind, [_beam(fault), _beam(fault, 1)]),
            "reader_blind": lambda fault: self._sees(fault, sight.blind, [_reader(fault)]),
            "readers_blind": lambda fault: self._sees(fault, sight.blind, [f"reader/{n}" for n in range(READERS)]),
            "beam_late": lambda fault: self._sees(fault, sight.late, [_beam(fault)]),
            "reader_late": lambda fault: self._sees(fault, sight.late, [_reader(fault)]),
            # faults of the broker and of the settlement core
            "broker_restarted": lambda fault: self._without_broker(fault, remembers=True),
            "broker_forgot": lambda fault: self._without_broker(fault, remembers=False),
            "network_cut": lambda fault: self._do(fault, house.broker.network, works=(False, True)),
            "settlement_away": lambda fault: self._set(fault, house.settlement, runs=(False, True)),
            # faults of people and things
            "object": lambda _: house.put_object(present=True),
            "object_in_the_dark": lambda fault: self._amid(fault, self._dark, partial(house.put_object, present=True)),
            "object_gone_in_the_dark": self._object_gone_in_the_dark,
            "rien_va": self._rien_va,
            "impatience": self._impatience,
            "rien_va_in_a_stall": lambda fault: self._amid(fault, self._stall, partial(self._rien_va, fault)),
        }

    @property
    def are_over(self) -> bool:
        """Whether all faults have begun and ended."""
        return not self._left and self.are_over_now

    @property
    def are_over_now(self) -> bool:
        """Whether all faults that are planned so far are over."""
        return self._house.now_us >= self.over_us

    def of_coup(self, index: int, marks_us: Mapping[str, int]) -> None:
        """Plan the faults of coup `index`, which begins now. `marks_us` is the time of each mark."""
        self._left.pop(index, None)
        for number, fault in enumerate(self._house.plan.faults):
            if fault.coup == index:
                from_us = max(self._house.now_us, marks_us[fault.mark] + round(fault.at_s * 1e6))
                self.over_us = max(self.over_us, from_us + round((fault.for_s + SETTLE_S.get(fault.kind, 0.0)) * 1e6))
                self._house.timeline.at(from_us, partial(self._begin, fault, number))

    def _begin(self, fault: PlannedFault, number: int) -> None:
        house, name = self._house, f"fault {number}"
        self.injected[fault.kind] += 1
        house.witness.begins(name, house.now_us)
        house.timeline.after_s(fault.for_s, lambda: house.witness.ends(name, house.now_us))
        self._acts[fault.kind](fault)

    def _do(self, fault: PlannedFault, act: Callable[..., None], **values: tuple[object, object]) -> None:
        """Call `act` with the first value of each pair now, and with the second when the fault is over."""
        act(**{name: now for name, (now, _) in values.items()})
        self._house.timeline.after_s(fault.for_s, partial(act, **{name: then for name, (_, then) in values.items()}))

    def _amid(self, fault: PlannedFault, begin: Callable[[PlannedFault], None], act: Callable[[], None]) -> None:
        """Call `begin` with `fault` now, and call `act` in the middle of the fault."""
        begin(fault)
        self._house.timeline.after_s(fault.for_s / 2, act)

    def _set(self, fault: PlannedFault, thing: object, **values: tuple[object, object]) -> None:
        """Set each attribute to the first value of its pair now, and to the second when the fault is over."""
        self._do(fault, vars(thing).update, **values)

    def _line(self, fault: PlannedFault) -> SimLine:
        """Return the line that `fault` affects. The house may have two lines."""
        lines = list(self._house.lines.values())
        return lines[round(fault.at_s * 1e4) % len(lines)]

    def _sees(self, fault: PlannedFault, badly: Counter[str], sensors: list[str]) -> None:
        badly.update(sensors)
        self._house.timeline.after_s(fault.for_s, partial(badly.subtract, sensors))

    def _daemon_killed(self, _: PlannedFault) -> None:
        if self._house.computer.runs:
            self._house.computer.kill()

    def _stall(self, fault: PlannedFault) -> None:
        house, computer = self._house, self._house.computer
        computer.stall(fault.for_s)
        house.broker.unheard(lambda: house.now_us < computer.stalled_until_us)

    def _board_reset(self, fault: PlannedFault) -> None:
        line = self._line(fault)
        line.power(on=False)
        self._house.witness.begins("board off", self._house.now_us)
        line.power(on=True)

    def _loose_contact(self, fault: PlannedFault) -> None:
        cable = self._line(fault).cable
        self._set(fault, cable, cut=(True, False))
        for turn in range(1, int(fault.for_s / fault.amount)):
            self._house.timeline.after_s(turn * fault.amount, partial(setattr, cable, "cut", turn % 2 == 0))

    def _all_power(self, fault: PlannedFault) -> None:
        """Cut the power of everything at once. Each part gets it back at a random time within 5 s after the fault."""
        house, rng = self._house, repeatable(f"{self._house.plan.seed} {fault.at_s}")
        house.computer.power(on=False)
        house.broker.stop()
        parts = [partial(house.computer.power, on=True), partial(house.broker.start, remembers=False)]
        for line in house.lines.values():
            line.power(on=False)
            parts.append(partial(line.power, on=True))
        for back in parts:
            house.timeline.after_s(fault.for_s + rng.uniform(0, 5), back)

    def _disc_slips(self, fault: PlannedFault) -> None:
        self._house.sight.slipped += round(fault.amount)

    def _without_broker(self, fault: PlannedFault, *, remembers: bool) -> None:
        self._house.broker.stop()
        self._house.timeline.after_s(fault.for_s, partial(self._house.broker.start, remembers=remembers))

    def _dark(self, fault: PlannedFault) -> None:
        """Cut the power of the device that reports foreign objects: the board, or the computer with the pins."""
        self._do(fault, (self._house.lines.get("board") or self._house.computer).power, on=(False, True))

    def _object_gone_in_the_dark(self, fault: PlannedFault) -> None:
        self._house.put_object(present=True)
        self._house.timeline.after_s(1.0, partial(self._dark, fault))
        self._house.timeline.after_s(1.0 + fault.for_s / 2, partial(self._house.put_object, present=False))

    def _rien_va(self, _: PlannedFault) -> None:
        self._house.panel.give("rien_va", reason="a dispute")

    def _impatience(self, fault: PlannedFault) -> None:
        for second in range(round(fault.for_s)):
            self._house.timeline.after_s(second, self._house.people.say_what_is_awaited)


def _beam(fault: PlannedFault, following: int = 0) -> str:
    return f"beam/{(round(fault.amount) + following) % BEAMS}"


def _reader(fault: PlannedFault) -> str:
    return f"reader/{round(fault.amount) % READERS}"
