"""Instants in UTC from the sensing clock, and as text. Integers throughout: a float would lose the microseconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec

from wheeld.core.observations import ClockReading

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class ClockState(msgspec.Struct):
    """The latest reading of the sensing clock: UTC at `t_us`, its error, and its rate."""

    t_us: int = 0
    utc_us: int = 0
    error_us: int = 0
    rate_ppb: int = 0

    def read(self, reading: ClockReading) -> None:
        """Date everything from this reading on."""
        self.t_us, self.utc_us = reading.t_us, reading.utc_us
        self.error_us, self.rate_ppb = reading.error_us, reading.rate_ppb

    def utc_at_us(self, t_us: int) -> int:
        """UTC, µs since 1970, of the sensing time `t_us`."""
        passed_us = t_us - self.t_us
        return self.utc_us + passed_us + passed_us * self.rate_ppb // 1_000_000_000

    def text(self, t_us: int) -> str:
        """The instant of the sensing time `t_us` as text (see `to_text`)."""
        return to_text(self.utc_at_us(t_us))

    def texts(self, *times_us: int) -> list[str]:
        """The instants of several sensing times as text."""
        return [to_text(self.utc_at_us(t_us)) for t_us in times_us]


def to_text(utc_us: int) -> str:
    """RFC 3339 with microseconds: "2026-11-20T18:00:14.553061Z"."""
    return (_EPOCH + timedelta(microseconds=utc_us)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def from_text(text: str) -> int:
    """UTC µs since 1970 of an RFC 3339 instant; ValueError when it is none, or names no offset."""
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None:
        message = f"{text!r} names no offset: end it with Z"
        raise ValueError(message)
    return (instant - _EPOCH) // timedelta(microseconds=1)
