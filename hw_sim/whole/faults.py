"""Injects the faults of a plan into a house, and knows when the last of them is over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
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
"""How long the house itself takes to put right what such a fault did."""


class Faults:
    """The faults of one house. `injected` counts them by kind."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._left = Counter(fault.coup for fault in house.plan.faults)
        self.injected: Counter[str] = Counter()
        self.over_us = 0
        """When those that have begun are over, as far as they go by themselves."""

    @property
    def are_over(self) -> bool:
        """Whether none is still to come, and none lasts."""
        return not self._left and self.are_over_now

    @property
    def are_over_now(self) -> bool:
        """Whether none lasts."""
        return self._house.now_us >= self.over_us

    def of_coup(self, index: int, marks_us: Mapping[str, int]) -> None:
        """That coup begins; when its marks are reached."""
        self._left.pop(index, None)
        for number, fault in enumerate(self._house.plan.faults):
            if fault.coup == index:
                from_us = max(self._house.now_us, marks_us[fault.mark] + round(fault.at_s * 1e6))
                self.over_us = max(self.over_us, from_us + round((fault.for_s + SETTLE_S.get(fault.kind, 0.0)) * 1e6))
                self._house.timeline.at(from_us, partial(self._begin, fault, number))

    def _begin(self, fault: PlannedFault, number: int) -> None:
        house = self._house
        self.injected[fault.kind] += 1
        house.witness.begins(f"fault {number}", house.now_us)

        def over() -> None:
            house.witness.ends(f"fault {number}", house.now_us)

        house.timeline.after_s(fault.for_s, over)
        getattr(self, f"_{fault.kind}")(fault)

    def _later(self, fault: PlannedFault, act: partial[None]) -> None:
        self._house.timeline.after_s(fault.for_s, act)

    def _for_a_while(self, fault: PlannedFault, seconds: str) -> None:
        """That attribute of the computer has the fault's amount until the fault is over, and is 0 then."""
        setattr(self._house.computer, seconds, fault.amount)
        self._later(fault, partial(setattr, self._house.computer, seconds, 0.0))

    # --- the daemon's computer ---------------------------------------------------------------------------------------

    def _daemon_killed(self, _: PlannedFault) -> None:
        if self._house.computer.runs:
            self._house.computer.kill()

    def _daemon_stopped(self, fault: PlannedFault) -> None:
        self._house.computer.restart(fault.for_s)

    def _host_power(self, fault: PlannedFault) -> None:
        self._house.computer.power(on=False)
        self._later(fault, partial(self._house.computer.power, on=True))

    def _stall(self, fault: PlannedFault) -> None:
        house, computer = self._house, self._house.computer
        computer.stall(fault.for_s)
        house.broker.unheard(lambda: house.now_us < computer.stalled_until_us)

    _stall_short = _stall

    def _busy(self, fault: PlannedFault) -> None:
        self._for_a_while(fault, "busy_s")

    def _utc_step(self, fault: PlannedFault) -> None:
        self._house.computer.step_utc(fault.amount)

    def _host_drift(self, fault: PlannedFault) -> None:
        self._house.computer.drift(fault.amount)
        self._later(fault, partial(self._house.computer.drift, 0.0))

    def _disk_slow(self, fault: PlannedFault) -> None:
        self._for_a_while(fault, "disk_call_s")

    def _disk_full(self, fault: PlannedFault) -> None:
        self._house.computer.fill_disk(is_full=True)
        self._later(fault, partial(self._house.computer.fill_disk, is_full=False))

    # --- the board, the head, and their lines ------------------------------------------------------------------------

    def _line(self, fault: PlannedFault) -> SimLine:
        """The line that it is about, where there are two."""
        lines = list(self._house.lines.values())
        return lines[round(fault.at_s * 1e4) % len(lines)]

    def _board_power(self, fault: PlannedFault) -> None:
        line = self._line(fault)
        line.power(on=False)
        self._later(fault, partial(line.power, on=True))

    def _board_reset(self, fault: PlannedFault) -> None:
        line = self._line(fault)
        line.power(on=False)
        self._house.witness.begins("board off", self._house.now_us)
        line.power(on=True)

    def _board_clock_back(self, _: PlannedFault) -> None:
        self._house.board.restart_clock()

    def _unplugged(self, fault: PlannedFault) -> None:
        line = self._line(fault)
        line.plug(is_plugged=False)
        self._later(fault, partial(line.plug, is_plugged=True))

    def _cable_cut(self, fault: PlannedFault) -> None:
        self._set(fault, self._line(fault).cable, "cut", (True, False))

    def _loose_contact(self, fault: PlannedFault) -> None:
        cable = self._line(fault).cable
        self._set(fault, cable, "cut", (True, False))
        for turn in range(1, int(fault.for_s / fault.amount)):
            self._house.timeline.after_s(turn * fault.amount, partial(setattr, cable, "cut", turn % 2 == 0))

    def _board_mute(self, fault: PlannedFault) -> None:
        self._set(fault, self._line(fault), "speaks", (False, True))

    def _board_deaf(self, fault: PlannedFault) -> None:
        self._set(fault, self._line(fault), "hears", (False, True))

    def _noise(self, fault: PlannedFault) -> None:
        self._set(fault, self._line(fault).cable, "noise", (fault.amount, 0.0))
        self._set(fault, self._line(fault).cable, "drop", (fault.amount, 0.0))

    def _damage(self, fault: PlannedFault) -> None:
        self._set(fault, self._line(fault).cable, "damage", (1 / 500, 0.0))

    def _set(self, fault: PlannedFault, thing: object, name: str, values: tuple[object, object]) -> None:
        setattr(thing, name, values[0])
        self._later(fault, partial(setattr, thing, name, values[1]))

    def _all_power(self, fault: PlannedFault) -> None:
        """Everything at once; then back in an order of its own, up to 5 s after each other."""
        house, rng = self._house, repeatable(f"{self._house.plan.seed} {fault.at_s}")
        house.computer.power(on=False)
        house.broker.stop()
        parts = [partial(house.computer.power, on=True), partial(house.broker.start, remembers=False)]
        for line in house.lines.values():
            line.power(on=False)
            parts.append(partial(line.power, on=True))
        for back in parts:
            house.timeline.after_s(fault.for_s + rng.uniform(0, 5), back)

    def _wheel_stops(self, _: PlannedFault) -> None:
        self._house.head.is_stopped = True

    def _wheel_misfires(self, fault: PlannedFault) -> None:
        self._set(fault, self._house.head, "misfires", (True, False))

    # --- the sensors -----------------------------------------------------------------------------------------------

    def _disc_slips(self, fault: PlannedFault) -> None:
        self._house.sight.slipped += round(fault.amount)

    _disc_slips_back = _disc_slips

    def _beam_blind(self, fault: PlannedFault) -> None:
        self._sees(fault, self._house.sight.blind, f"beam/{round(fault.amount) % BEAMS}")

    def _beams_blind(self, fault: PlannedFault) -> None:
        for beam in (round(fault.amount), round(fault.amount) + 1):
            self._sees(fault, self._house.sight.blind, f"beam/{beam % BEAMS}")

    def _reader_blind(self, fault: PlannedFault) -> None:
        self._sees(fault, self._house.sight.blind, f"reader/{round(fault.amount) % READERS}")

    def _readers_blind(self, fault: PlannedFault) -> None:
        for reader in range(READERS):
            self._sees(fault, self._house.sight.blind, f"reader/{reader}")

    def _beam_late(self, fault: PlannedFault) -> None:
        self._sees(fault, self._house.sight.late, f"beam/{round(fault.amount) % BEAMS}")

    def _reader_late(self, fault: PlannedFault) -> None:
        self._sees(fault, self._house.sight.late, f"reader/{round(fault.amount) % READERS}")

    def _sees(self, fault: PlannedFault, badly: Counter[str], sensor: str) -> None:
        badly[sensor] += 1

        def again() -> None:
            badly[sensor] -= 1

        self._later(fault, partial(again))

    # --- broker and settlement ---------------------------------------------------------------------------------------

    def _broker_restarted(self, fault: PlannedFault) -> None:
        self._house.broker.stop()
        self._later(fault, partial(self._house.broker.start))

    def _broker_forgot(self, fault: PlannedFault) -> None:
        self._house.broker.stop()
        self._later(fault, partial(self._house.broker.start, remembers=False))

    def _network_cut(self, fault: PlannedFault) -> None:
        self._house.broker.cut_network()
        self._later(fault, partial(self._house.broker.mend_network))

    def _settlement_away(self, fault: PlannedFault) -> None:
        self._set(fault, self._house.settlement, "runs", (False, True))

    # --- people and things -------------------------------------------------------------------------------------------

    def _object(self, _: PlannedFault) -> None:
        self._house.put_object(present=True)

    def _dark(self, fault: PlannedFault) -> None:
        """What reports a foreign object has no power: the board, or the computer whose pins see it."""
        line = self._house.lines.get("board")
        if line is None:
            self._host_power(fault)
            return
        line.power(on=False)
        self._later(fault, partial(line.power, on=True))

    def _object_in_the_dark(self, fault: PlannedFault) -> None:
        self._dark(fault)
        self._house.timeline.after_s(fault.for_s / 2, partial(self._house.put_object, present=True))

    def _object_gone_in_the_dark(self, fault: PlannedFault) -> None:
        self._house.put_object(present=True)
        self._house.timeline.after_s(1.0, partial(self._dark, fault))
        self._house.timeline.after_s(1.0 + fault.for_s / 2, partial(self._house.put_object, present=False))

    def _rien_va(self, _: PlannedFault) -> None:
        self._house.panel.give("rien_va", reason="a dispute")

    def _impatience(self, fault: PlannedFault) -> None:
        for second in range(round(fault.for_s)):
            self._house.timeline.after_s(second, self._house.people.say_what_is_awaited)

    def _rien_va_in_a_stall(self, fault: PlannedFault) -> None:
        self._stall(fault)
        self._house.timeline.after_s(fault.for_s / 2, partial(self._rien_va, fault))
