"""Keeps what was observed, from before a coup to its verdict: the log that is stored with the verdict."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from wheeld.core.observations import Header, Observation
from wheeld.core.step import CoupLog, Verdict

IDLE_MAX = 20_000
"""Observations kept while no coup runs (about five idle minutes): what matters to the next coup is its last minute."""


class CoupRecorder:
    """The observation log that is being written: a header with the state of the table, and all that came since."""

    def __init__(self) -> None:
        self.observations: list[Observation] = []
        self._header = b""

    @property
    def is_long(self) -> bool:
        """Whether more is kept than an idle table needs."""
        return len(self.observations) > IDLE_MAX

    def begin(self, header: Header) -> None:
        """Begin a new log with the table as `header` describes it."""
        self.observations = []
        self._header = msgspec.json.encode(header)

    def logs(self, verdicts: Sequence[tuple[int, Verdict]]) -> tuple[CoupLog, ...]:
        """One log for each coup that has had its verdict, by its number."""
        if not verdicts:
            return ()
        log = b"\n".join([self._header, *map(msgspec.json.encode, self.observations), b""])
        return tuple(CoupLog(coup, verdict, log) for coup, verdict in verdicts)
