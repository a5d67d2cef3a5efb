"""Messages as a wheel publishes them, made by its own table."""

from __future__ import annotations

from tests.core.evening import Evening
from wheeld.page.numbers import NumberHistory
from wheeld.page.wheel import WheelView

ONLINE = b'{"schema":"availability/1","state":"online","version":"1","boot_id":"b"}'
HEALTH = (
    b'{"schema":"health/1","at":"2026-01-01T00:00:00.000000Z","boot_id":"b","uptime_s":5.0,"state":"operations",'
    b'"sensors":{"link":true,"beam/0":false,"future/1":true},"troubles":{"beam/0":["chatters"]},'
    b'"clock":{"error_us":1500,"drift_ppm":2.0,"synchronised":true},"outbox_depth":3,"counters":{},'
    b'"temperatures_c":{"cpu":51.5}}'
)


def watched(evening: Evening) -> tuple[WheelView, NumberHistory]:
    """What a page knows that has heard all of an evening."""
    wheel, numbers = WheelView(), NumberHistory()
    wheel.is_reached = True
    wheel.take("availability", ONLINE, retained=True, now_s=0)
    for message in evening.published:
        assert wheel.take(message.topic, message.bytes, retained=False, now_s=0)
        if message.topic == "board" and wheel.board is not None:
            numbers.take(wheel.board.numbers)
    return wheel, numbers
