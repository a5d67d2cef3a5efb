"""Report the events of one boot of a board once each, in strict order of number, together with gaps and watermarks."""

from __future__ import annotations

from collections.abc import Iterator

from firmware_protocol import messages as m
from firmware_protocol.host_events import LostEvents, Observed, Watermark


class EventStream:
    """Keeps track of the next expected event. `next_seq` is its number."""

    def __init__(self, next_seq: int) -> None:
        self.next_seq = next_seq
        self.heartbeat: m.Heartbeat | None = None
        """The latest heartbeat of this boot."""
        self.reported = 0
        """How many events were reported since the session began."""
        self.duplicates = 0
        """How many events came again."""
        self._waiting: m.Heartbeat | None = None
        """A heartbeat that is not used yet, because events before it are still missing."""
        self._watermark_us = -1

    def begin_boot(self, next_seq: int) -> None:
        """Start a new boot: numbers and times begin again."""
        self.next_seq = next_seq
        self.heartbeat = self._waiting = None
        self._watermark_us = -1

    def is_early(self, message: m.Events) -> bool:
        """Return whether events before those of `message` are missing."""
        return message.first_seq > self.next_seq

    def take(self, message: m.Events) -> Iterator[Observed | Watermark]:
        """Yield the new events of a message that is not early."""
        known = self.next_seq - message.first_seq
        self.duplicates += len(message.events[:known])
        for timed in message.events[known:]:
            yield Observed(self.next_seq, timed.board_us, timed.event)
            self.reported += 1
            self.next_seq += 1
            if self._waiting is not None:
                yield from self._release_watermark()

    def skip_lost(self, oldest_seq: int) -> Iterator[LostEvents | Watermark]:
        """Skip the events before `oldest_seq`, which the board no longer has. Those that did not arrive are lost."""
        first_seq = self.next_seq
        if oldest_seq > first_seq:
            self.next_seq = oldest_seq
            yield LostEvents(first_seq, oldest_seq - 1)
            yield from self._release_watermark()

    def take_heartbeat(self, beat: m.Heartbeat) -> Iterator[Watermark]:
        """Use the time of `beat` as soon as every event before it has been reported."""
        if beat.board_us > (self._waiting.board_us if self._waiting else self._watermark_us):
            self.heartbeat = self._waiting = beat
            yield from self._release_watermark()

    def _release_watermark(self) -> Iterator[Watermark]:
        beat = self._waiting
        if beat and beat.next_seq <= self.next_seq:
            self._watermark_us = beat.board_us
            self._waiting = None
            yield Watermark(beat.board_us, beat.levels if beat.next_seq == self.next_seq else None)
