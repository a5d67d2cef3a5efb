"""The daemon's computer: power, processes, clocks, faults of the disk, and systemd, which starts the daemon again."""

from __future__ import annotations

from collections.abc import Callable

from hw_sim.whole.timeline import Timeline
from hw_sim.whole.witness import Witness

STARTED_UTC_US = 1_800_000_000_000_000
WATCHDOG_S = 20.0
RESTART_S = 5.0
"""These are the values of the service's unit: systemd kills a daemon that is silent for WATCHDOG_S, and starts it again
RESTART_S later."""
BOOT_S = 8.0
"""The time from power-on to the daemon's start."""


class SimComputer:
    """The computer between the daemon's program and the house. The code that runs the program sets the callables."""

    def __init__(self, timeline: Timeline, witness: Witness) -> None:
        self._timeline = timeline
        self._witness = witness
        self.has_power = True
        self.wants_daemon = True
        """Whether somebody must start the daemon's program now."""
        self.runs = False
        self.started_us = 0
        self.stalled_until_us = 0
        self.busy_s = 0.0
        """The longest time for which another process takes the processor."""
        self.disk_call_s = 0.0
        self.disk_free_us = 0
        """The time at which a slow disk will have finished the calls that wait."""
        self.disk_is_full = False
        self.kill: Callable[[], None] = lambda: None
        """Ends the program at once."""
        self.lose_power: Callable[[], None] = lambda: None
        """Ends the program at once. Data that is not on disk is lost."""
        self.stop: Callable[[], None] = lambda: None
        """Asks the program to end."""
        self.disk_changed: Callable[[], None] = lambda: None
        """This is called when the disk becomes full or has room again."""
        self._utc_step_us = 0
        self._host_ns, self._since_us, self._ppm = 0, 0, 0.0
        self._alive_us = 0
        self._starts = 0
        self._restarts_s = RESTART_S

    # --- clocks ------------------------------------------------------------------------------------------------------

    def monotonic_ns(self) -> int:
        """Return the time of the host's monotonic clock."""
        past_us = self._timeline.now_us - self._since_us
        return self._host_ns + past_us * 1_000 + round(past_us * self._ppm / 1e3)

    def utc_us(self) -> int:
        """Return the host's date."""
        return STARTED_UTC_US + self._utc_step_us + self._timeline.now_us

    def step_utc(self, seconds: float) -> None:
        """Change the date by `seconds`."""
        self._utc_step_us += round(seconds * 1e6)

    def drift(self, ppm: float) -> None:
        """Let the monotonic clock run too fast by `ppm` from now on."""
        self._host_ns, self._since_us, self._ppm = self.monotonic_ns(), self._timeline.now_us, ppm

    # --- the program -------------------------------------------------------------------------------------------------

    @property
    def is_well(self) -> bool:
        """Whether the program has run for a while, undisturbed, on a disk that works."""
        aged = self._timeline.now_us - self.started_us > 5e6
        stands = self._timeline.now_us < max(self.stalled_until_us, self.disk_free_us)
        return self.runs and aged and not stands and not self.disk_call_s and not self.disk_is_full

    def started(self) -> None:
        """Remember that the program has started."""
        self.wants_daemon, self.runs = False, True
        self.started_us = self._alive_us = self._timeline.now_us
        self._starts += 1
        self._witness.ends("down", self._alive_us)
        number = self._starts
        self._timeline.after_s(WATCHDOG_S, lambda: self._watch(number))

    def alive(self) -> None:
        """Feed the watchdog."""
        self._alive_us = self._timeline.now_us

    def ended(self) -> None:
        """Remember that the program has ended or was killed. Then systemd starts it again."""
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
        """Let the program stand still for `seconds`. If two stalls overlap, they count as one."""
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
        """Make the disk full, or give it room again."""
        self.disk_is_full = is_full
        self.disk_changed()

    def restart(self, pause_s: float) -> None:
        """Ask the daemon to end. After its end, wait `pause_s` and start it again."""
        if self.runs:
            self._restarts_s = pause_s
            self.stop()

    def power(self, *, on: bool) -> None:
        """Cut the computer's power, or restore it so that the computer boots."""
        self.has_power = on
        if on:
            self._timeline.after_s(BOOT_S, self._want)
        elif self.runs:
            self.lose_power()
