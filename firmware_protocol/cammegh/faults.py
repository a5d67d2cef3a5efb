"""Warning bit 4, a failed sensor: reported with the first line that has it, cleared by the second line without it."""

from __future__ import annotations

from collections.abc import Iterator

from firmware_protocol.cammegh import events as e
from firmware_protocol.cammegh.status import Flag, Flags

LINES_MENDED = 2
"""A line has no checksum (docs/wheels.md 1.1), so one line may be damaged."""


class SensorFaults:
    """Whether the wheel's sensors work, by the warning bits of each line."""

    def __init__(self) -> None:
        self._is_faulty = False
        self._good_lines = 0

    def line(self, flags: Flags, host_ns: int) -> Iterator[e.Event]:
        """Report a fault of the sensors, or its end, from the bits of one line."""
        if Flag.SENSOR_FAULT in flags:
            self._good_lines = 0
            if not self._is_faulty:
                self._is_faulty = True
                yield e.SensorFault(host_ns)
            return
        self._good_lines += 1
        if self._is_faulty and self._good_lines == LINES_MENDED:
            self._is_faulty = False
            yield e.SensorMended(host_ns)
