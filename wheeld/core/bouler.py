"""Who spins, and for how long (A4). His time runs while the table is open, and goes on after a restart."""

from __future__ import annotations

import msgspec

CUSTOM_US = 30 * 60 * 1_000_000
"""A4: a bouler customarily spins for half an hour."""


class Bouler(msgspec.Struct):
    """The present bouler, and his time. All times in microseconds; `…_utc_us` since 1970.

    `who`: None while nobody was named. `served_us`: his time before `since_utc_us`, which is since when it runs now;
    None while the table is closed. `due_reported`: it was published that his time is over.
    """

    who: str | None = None
    served_us: int = 0
    since_utc_us: int | None = None
    due_reported: bool = False

    @property
    def is_early_to_go(self) -> bool:
        """Whether a change now comes before his time is over."""
        return self.who is not None and not self.due_reported

    @property
    def due_utc_us(self) -> int | None:
        """When his time is over; None while it stands still, and when that was published."""
        if self.who is None or self.since_utc_us is None or self.due_reported:
            return None
        return self.since_utc_us + CUSTOM_US - self.served_us

    def served_at_us(self, utc_us: int) -> int:
        """How long he has spun. A clock that was set back takes nothing from it."""
        running_us = 0 if self.since_utc_us is None else max(0, utc_us - self.since_utc_us)
        return self.served_us + running_us

    def begin(self, who: str, utc_us: int) -> None:
        """Another one spins from now on: he has served nothing yet."""
        self.who, self.served_us, self.due_reported = who, 0, False
        if self.since_utc_us is not None:
            self.since_utc_us = utc_us

    def start(self, utc_us: int) -> None:
        """The table opens: his time runs."""
        self.since_utc_us = utc_us

    def stop(self, utc_us: int) -> None:
        """The table closes: his time stands still."""
        self.served_us, self.since_utc_us = self.served_at_us(utc_us), None
