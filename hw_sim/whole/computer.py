"""The daemon's computer: power, processes, clocks, its disk's faults, and systemd, which starts the daemon again."""

from __future__ import annotations

from collections.abc import Callable

from hw_sim.whole.timeline import Timeline
from hw_sim.whole.witness import Witness

STARTED_UTC_US = 1_800_000_000_000_000
WATCHDOG_S = 20.0
RESTART_S = 5.0
"""Of the service's unit: systemd kills a daemon that gives no sign for so long, and starts it again so much later."""
BOOT_S = 8.0
"""From the power to the daemon's start."""


class SimComputer:
    """What stands between the daemon's program and the house. Who runs the program sets the callables."""

    def __init__(self, timeline: Timeline, witness: Witness) -> None:
        self._timeline = timeline
        self._witness = witness
        self.has_power = True
        self.wants_daemon = True
        """Whether the daemon's program has to be started now."""
        self.runs = False
        self.started_us = 0
        self.stalled_until_us = 0
        self.busy_s = 0.0
        """For how long another process has the processor at most, when it takes it."""
        self.disk_call_s = 0.0
        self.disk_free_us = 0
        """When the disk has made the calls that a slow one kept waiting."""
        self.disk_is_full = False
        self.kill: Callable[[], None] = _nothing
        """Ends the program at once."""
        self.lose_power: Callable[[], None] = _nothing
        """Ends the program at once, and what was not on disk is gone."""
        self.stop: Callable[[], None] = _nothing
        """Asks the program to end."""
        self.disk_changed: Callable[[], None] = _nothing
        """Called when the disk is full, or no longer."""
        self._utc_step_us = 0
        self._host_ns, self._since_us, self._ppm = 0, 0, 0.0
        self._alive_us = 0
        self._starts = 0
        self._restarts_s = RESTART_S

    # --- clocks ------------------------------------------------------------------------------------------------------

    def monotonic_ns(self) -> int:
        """The host's monotonic clock."""
        past_us = self._timeline.now_us - self._since_us
        return self._host_ns + past_us * 1_000 + round(past_us * self._ppm / 1e3)

    def utc_us(self) -> int:
        """The host's date."""
        return STARTED_UTC_US + self._utc_step_us + self._timeline.now_us

    def step_utc(self, seconds: float) -> None:
        """Somebody sets the date."""
        self._utc_step_us += round(seconds * 1e6)

    def drift(self, ppm: float) -> None:
        """The clock runs by so much too fast from now on."""
        self._host_ns, self._since_us, self._ppm = self.monotonic_ns(), self._timeline.now_us, ppm

    # --- the program -------------------------------------------------------------------------------------------------

    @property
    def is_well(self) -> bool:
        """Whether the program has run for a while, undisturbed, on a disk that works."""
        aged = self._timeline.now_us - self.started_us > 5e6
        stands = self._timeline.now_us < max(self.stalled_until_us, self.disk_free_us)
        return self.runs and aged and not stands and not self.disk_call_s and not self.disk_is_full

    def started(self) -> None:
        """The program begins."""
        self.wants_daemon, self.runs = False, True
        self.started_us = self._alive_us = self._timeline.now_us
        self._starts += 1
        self._witness.ends("down", self._alive_us)
        number = self._starts
        self._timeline.after_s(WATCHDOG_S, lambda: self._watch(number))

    def alive(self) -> None:
        """The program feeds the watchdog."""
        self._alive_us = self._timeline.now_us

    def ended(self) -> None:
        """The program has ended, or was killed; systemd starts it again."""
        self.runs = False
        self.stalled_until_us = 0
        self._witness.begins("down", self._timeline.now_us)
        wait_s, self._restarts_s = self._restarts_s, RESTART_S
        if self.has_power:
            self._timeline.after_s(wait_s, self._want)

    def _want(self) -> None:
        if self.has_power and not self.runs:
            self.wants_daemon = True

    def _watch(self, number: int) -> None:
        if not self.runs or number != self._starts:
            return
        silent_s = (self._timeline.now_us - self._alive_us) / 1e6
        if silent_s >= WATCHDOG_S:
            self._witness.begins("starved", self._timeline.now_us)
            self._witness.ends("starved", self._timeline.now_us)
            self.kill()
        else:
            self._timeline.after_s(WATCHDOG_S - silent_s, lambda: self._watch(number))

    # --- faults ------------------------------------------------------------------------------------------------------

    def stall(self, seconds: float) -> None:
        """The program stands still for so long; two that overlap are one."""
        if not self.runs:
            return
        now_us = self._timeline.now_us
        if now_us >= self.stalled_until_us:
            self._witness.begins("stall", now_us)
        self.stalled_until_us = max(self.stalled_until_us, now_us + round(seconds * 1e6))
        self._timeline.after_s(seconds, self._go_on)

    def _go_on(self) -> None:
        if self._timeline.now_us >= self.stalled_until_us:
            self._witness.ends("stall", self._timeline.now_us)

    def fill_disk(self, *, is_full: bool) -> None:
        """The disk takes no more, or has room again."""
        self.disk_is_full = is_full
        self.disk_changed()

    def restart(self, pause_s: float) -> None:
        """Somebody stops the daemon in order, and starts it after so long."""
        if self.runs:
            self._restarts_s = pause_s
            self.stop()

    def power(self, *, on: bool) -> None:
        """The computer loses its power, or gets it back and boots."""
        self.has_power = on
        if on:
            self._timeline.after_s(BOOT_S, self._want)
        elif self.runs:
            self.lose_power()


def _nothing() -> None:
    return
