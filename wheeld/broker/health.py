"""Health: one retained message. It shows from far away that a cable or a clock is bad, or that the computer is hot.

Counters count since the daemon's start: if a report is lost, the next one contains its counts too. Reports are
published at QoS 0, every ten seconds and soon after a change.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from wheeld.broker.payloads import Health
from wheeld.ports import HostClock, Publication, Publisher, PublishError

PERIOD_S = 10.0
"""The time between two reports (docs/interfaces.md). If three in a row are missing, the daemon needs attention."""

CHANGE_GAP_S = 1.0
"""Changes within this time are published together. A sensor that flickers must not flood the displays."""

THERMAL_ROOT = Path("/sys/class/thermal")


def temperatures_c(root: Path = THERMAL_ROOT) -> dict[str, float]:
    """Return the host's temperatures in °C, by thermal zone (`type` or `type/N`). Unreadable zones are left out."""
    found: dict[str, float] = {}
    for zone in sorted(root.glob("thermal_zone*")):
        try:
            name = (zone / "type").read_text(encoding="ascii").strip()
            degrees = int((zone / "temp").read_text(encoding="ascii")) / 1000
        except (OSError, ValueError):
            continue  # A zone without a sensor answers with an error.
        found[f"{name}/{zone.name.removeprefix('thermal_zone')}" if name in found else name] = degrees
    return found


class HealthReporter:
    """Publishes what `snapshot` returns to `{root}health`, retained: every 10 s and soon after `changed()`."""

    def __init__(
        self, *, publisher: Publisher, clock: HostClock, root: str, snapshot: Callable[[], Awaitable[Health]]
    ) -> None:
        self._publisher = publisher
        self._clock = clock
        self._topic = root + "health"
        self._snapshot = snapshot
        self._change = asyncio.Event()

    def changed(self) -> None:
        """Ask for a report soon, because something in it has changed (a sensor, the link, the state)."""
        self._change.set()

    async def run(self) -> None:
        """Publish reports until cancelled. A report that fails is not repeated: the next one is newer."""
        while True:
            session = await self._publisher.connected()
            self._change.clear()
            payload = msgspec.json.encode(await self._snapshot())
            try:
                await self._publisher.publish(
                    Publication(topic=self._topic, payload=payload, qos=0, retain=True), session=session
                )
            except PublishError:
                await self._clock.sleep(CHANGE_GAP_S)
                continue
            await self._clock.sleep(CHANGE_GAP_S)
            period = asyncio.ensure_future(self._clock.sleep(PERIOD_S - CHANGE_GAP_S))
            change = asyncio.ensure_future(self._change.wait())
            try:
                await asyncio.wait({period, change}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                period.cancel()
                change.cancel()
