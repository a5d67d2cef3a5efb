"""Keeps what was observed, from before a coup to its verdict: the log that is stored with the verdict."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from wheeld.core.instants import ClockState
from wheeld.core.observations import Observation
from wheeld.core.setting import Header, TableSetting
from wheeld.core.step import CoupLog, Verdict
from wheeld.core.table_state import TableState
from wheeld.core.tracking.observer import Observer, ObserverState
from wheeld.core.waitlist import Waitlist

IDLE_MAX = 20_000
"""Observations kept while no coup runs (about five idle minutes): what matters to the next coup is its last minute."""


class Snapshot(msgspec.Struct):
    """The whole table between two observations; it stands in the header of each coup's log."""

    now_us: int
    table_state: TableState
    observer: ObserverState
    clock: ClockState
    waitlist: Waitlist = msgspec.field(default_factory=Waitlist)


class CoupRecorder:
    """The observation log that is being written: a header with the state of the table, and all that came since."""

    def __init__(
        self,
        setting: TableSetting,
        boot_id: str,
        state: TableState,
        observer: Observer,
        clock: ClockState,
        waitlist: Waitlist,
    ) -> None:
        self._setting, self._boot_id = setting, boot_id
        self._state, self._observer, self._clock, self._waitlist = state, observer, clock, waitlist
        self._started_at = clock.text(0)
        self._header = b""
        self.observations: list[Observation] = []

    def header(self, now_us: int) -> Header:
        """The first line of a log that begins now, with the whole state, so that a replay goes on from it."""
        snapshot = Snapshot(now_us, self._state, self._observer.state, self._clock, self._waitlist)
        members = msgspec.structs.asdict(self._setting) | {"last_number": self._state.last_number}
        return Header(
            **members,
            format=1,
            started=self._started_at,
            boot_id=self._boot_id,
            snapshot=msgspec.to_builtins(snapshot, str_keys=True),
        )

    def begin(self, now_us: int) -> None:
        """Begin a new log with the table as it is now."""
        self.observations = []
        self._header = msgspec.json.encode(self.header(now_us))

    def logs(self, verdicts: Sequence[tuple[int, Verdict]]) -> tuple[CoupLog, ...]:
        """One log for each coup that has had its verdict: its number, and which."""
        log = b"\n".join([self._header, *map(msgspec.json.encode, self.observations), b""])
        return tuple(CoupLog(coup, verdict, log) for coup, verdict in verdicts)
