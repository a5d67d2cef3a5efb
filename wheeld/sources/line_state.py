"""Whether the line to the sensors works, as reported to the core, and what is wrong with it.

A trouble *stands* until it is over (for example, nothing is received), or it *happens* at one moment (events were
lost). Unless it is a warning, it is a fault at once. The line works again after it has reported for some time without a
fault. So the number of messages and log lines is limited even if the line fails often: two in each `GOOD_US`, and fewer
if the faults continue. A warning is reported once, each time that it begins.
"""

from __future__ import annotations

from collections.abc import Iterator

import structlog

from wheeld.core.facts import Trouble
from wheeld.core.observations import SensorState

GOOD_US = 1_000_000
"""How long a line must report without a fault before it works again. This is as long as a silence that is a fault."""
GOOD_US_MAX = 16_000_000
"""If the line fails again soon, it must then be good for twice as long as before, but never longer than this."""
RELAPSE_US = 10_000_000
"""If the line fails again within this time after it worked again, the cause is assumed to be the same."""
RETELL_US = 1_000_000
"""While the line is down, a change of its trouble is reported again, but not more often than this."""


class LineState:
    """One line. `name`: the name of its source, for the log. All times are on the sensing clock."""

    def __init__(self, name: str) -> None:
        self.is_up = True
        """Whether the line works, as last reported to the core. Each change is reported as an observation."""
        self.fault_count = 0
        self._name = name
        self._standing: dict[Trouble, dict[str, object]] = {}
        self._happened: Trouble | None = None
        self._happened_count = 0
        self._bad_us = 0
        self._back_us: int | None = None
        self._good_us = GOOD_US
        self._told: Trouble | None = None
        self._told_us = 0
        self._warned: set[Trouble] = set()
        self._log = structlog.get_logger(name)

    @property
    def troubles(self) -> tuple[Trouble, ...]:
        """All present troubles, the most specific one first."""
        happened = (self._happened,) if not self.is_up and self._happened is not None else ()
        return tuple(trouble for trouble in Trouble if trouble in self._standing or trouble in happened)

    def is_so(self, trouble: Trouble) -> bool:
        """Return whether this trouble stands."""
        return trouble in self._standing

    def stands(self, trouble: Trouble, **details: object) -> None:
        """Remember that the trouble stands until `over` is called for it. `details` are for the log."""
        self._standing.setdefault(trouble, details)

    def over(self, *troubles: Trouble) -> None:
        """Remember that none of these troubles is present now."""
        for trouble in troubles:
            self._standing.pop(trouble, None)

    def happens(self, trouble: Trouble, reported_us: int, now_us: int, **details: object) -> Iterator[SensorState]:
        """Process a trouble that happened at `now_us` and is over. Yield what the core must be told now."""
        self._happened, self._happened_count = trouble, self._happened_count + 1
        self._bad_us = max(self._bad_us, now_us)
        if self.is_up:
            yield self._fail(trouble, reported_us, now_us, details)

    def report(self, reported_us: int, now_us: int) -> Iterator[SensorState]:
        """Yield what the core must be told now. `reported_us`: up to when the sensors have reported."""
        faults = [each for each in self.troubles if self.is_so(each) and not each.is_warning] if self._standing else []
        if faults:
            self._bad_us = max(self._bad_us, now_us)
        what = faults[0] if faults else self._happened
        if self.is_up and faults:
            yield self._fail(faults[0], reported_us, now_us, self._standing[faults[0]])
        elif self.is_up:
            self._warned &= self._standing.keys()
            for trouble, details in self._standing.items():
                if trouble not in self._warned:
                    self._warned.add(trouble)
                    told = {"reason": trouble.value, "what": trouble.text, "mend": trouble.mend}
                    self._log.warning(f"{self._name}.link_warning", **told, **details)
                    yield SensorState(reported_us, "link", ok=True, what=trouble)
        elif not faults and reported_us >= self._bad_us + self._good_us:
            self._log.info(f"{self._name}.link_back", good_s=self._good_us / 1e6, happened=self._happened_count)
            self.is_up, self._back_us = True, now_us
            self._happened, self._happened_count, self._told = None, 0, None
            yield SensorState(reported_us, "link", ok=True)
        elif what is not None and what is not self._told and now_us - self._told_us >= RETELL_US:
            yield self._tell(what, reported_us, now_us, self._standing.get(what, {}))

    def _fail(self, what: Trouble, reported_us: int, now_us: int, details: dict[str, object]) -> SensorState:
        is_relapse = self._back_us is not None and now_us - self._back_us < RELAPSE_US
        self._good_us = min(max(self._good_us, GOOD_US) * 2, GOOD_US_MAX) if is_relapse else GOOD_US
        if not reported_us:
            self._good_us = 0  # the line is not bad but new: nothing was ever reported
        self.is_up = False
        self.fault_count += 1
        return self._tell(what, reported_us, now_us, details)

    def _tell(self, what: Trouble, reported_us: int, now_us: int, details: dict[str, object]) -> SensorState:
        self._told, self._told_us = what, now_us
        self._log.warning(f"{self._name}.link_fault", reason=what.value, what=what.text, mend=what.mend, **details)
        return SensorState(reported_us, "link", ok=False, what=what)
