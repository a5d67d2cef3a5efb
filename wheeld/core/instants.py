"""Makes UTC from sensing times, and text from UTC. All times are integers: a float would lose the microseconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec

from wheeld.core.observations import ClockReading

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

AHEAD_US_MAX = 60_000_000
"""If the host's clock is set back by more than this, the dates of messages go back at once, and a notice reports it.
Dates that are an hour ahead would be worse. After a smaller correction the dates of messages never go back."""


class ClockState(msgspec.Struct):
    """The latest reading of the sensing clock: UTC at `t_us`, and how much faster UTC runs, in parts per billion.

    If a reading shows that message dates are ahead of the true date by no more than `AHEAD_US_MAX`, they advance at
    half speed until the true date has reached them. `ahead_us`: how far they were ahead at `t_us`. `stood_us`: the
    beginning and the end of the latest standstill.
    """

    t_us: int = 0
    utc_us: int = 0
    rate_ppb: int = 0
    ahead_us: int = 0
    stood_us: tuple[int, int] = (0, 0)

    @classmethod
    def starting(cls, utc_us: int, *, told_us: int) -> ClockState:
        """Return the state at a start: sensing time 0 is `utc_us`. `told_us`: the latest date of a message."""
        return cls(utc_us=utc_us, ahead_us=_ahead_us(told_us, utc_us))

    def read(self, reading: ClockReading, *, told_us: int) -> None:
        """Date everything by this reading from now on. `told_us`: the latest date of a message."""
        self.ahead_us = _ahead_us(told_us, reading.utc_us)
        self.t_us, self.utc_us, self.rate_ppb = reading.t_us, reading.utc_us, reading.rate_ppb

    def published_us(self, t_us: int) -> int:
        """Return when to publish, at the earliest, what was decided at `t_us`: not before the end of a standstill."""
        since_us, until_us = self.stood_us
        return max(t_us, until_us) if since_us <= t_us else t_us

    def utc_at_us(self, t_us: int) -> int:
        """Return the sensing time `t_us` in UTC, as µs since 1970."""
        passed_us = t_us - self.t_us
        passed_us += passed_us * self.rate_ppb // 1_000_000_000
        ahead_us = max(0, self.ahead_us - max(0, passed_us) // 2)
        return self.utc_us + passed_us + ahead_us

    def text(self, t_us: int) -> str:
        """Return the UTC of the sensing time `t_us` as text (see `to_text`)."""
        return to_text(self.utc_at_us(t_us))

    def dated(self, now_us: int, *times_us: int) -> tuple[int, list[str]]:
        """Return the UTC of `now_us` in µs since 1970, and the texts of `now_us` and of the other sensing times."""
        return self.utc_at_us(now_us), self.texts(now_us, *times_us)

    def texts(self, *times_us: int) -> list[str]:
        """Return the UTC of each sensing time as text."""
        return [to_text(self.utc_at_us(t_us)) for t_us in times_us]


def _ahead_us(told_us: int, utc_us: int) -> int:
    return told_us - utc_us if 0 < told_us - utc_us <= AHEAD_US_MAX else 0


def to_text(utc_us: int) -> str:
    """Return µs since 1970 as RFC 3339 text in UTC: "2026-11-20T18:00:14.553061Z"."""
    return (_EPOCH + timedelta(microseconds=utc_us)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def from_text(text: str) -> int:
    """Return the µs since 1970 of an RFC 3339 text. Raises ValueError if the text is wrong, or has no UTC offset."""
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None:
        message = f"{text!r} names no offset: end it with Z"
        raise ValueError(message)
    return to_utc_us(instant)


def to_utc_us(instant: datetime) -> int:
    """Return the µs since 1970 of an instant that has a UTC offset."""
    return (instant - _EPOCH) // timedelta(microseconds=1)
