"""Reads journals of any number of tables into one `WheelRecord` for each table.

A bench table and a live table of the same name are two wheels. A wheel whose number of pockets changes is two wheels,
too. Journals may overlap, as a backup and its original do. A coup, a ruling or a late bet that is in both counts once;
other notices count in each.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, closing
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from wheeld.core.houses import PROFILES
from wheeld.core.observations import BallPass, Rotor, RuledAs
from wheeld.journal.database import Database
from wheeld.journal.reader import JournalReader
from wheeld.journal.rows import JournalError, StoredMessage
from wheeld_report.wheel import Decision, LoggedRun, LoggedSighting, SensorPlaces, ValidCoup, VoidCoup, WheelRecord

LOGS_MAX = 1_000
"""The most logs that are read for one wheel, spread evenly over all its coups. One log takes about a millisecond. A
thousand logs show a beam that misses one pass in a hundred."""
SECOND_US = 1_000_000
FOREVER = range(2**63)
_Key: TypeAlias = tuple[bool, str, str, int]
"""What identifies a wheel: whether it is a bench table, its site, its name, and how many pockets the wheel has."""


class _Message(msgspec.Struct):
    site: str
    table: str
    house: str
    game: str
    test: bool = False


class _Result(_Message, kw_only=True):
    coup: int
    hash: str
    at: datetime
    t_us: int
    pocket_index: int
    laps: float | None
    ball_direction: str | None
    rotor_rpm: float | None
    launched_at: datetime
    left_track_at: datetime | None
    sightings: tuple[LoggedSighting, ...]
    confirmed_by: str | None
    unproven: tuple[str, ...] = ()
    margin: float | None = None
    margin_of: str | None = None


class _Void(_Message, kw_only=True):
    hash: str
    cause: str
    margin: float | None = None
    margin_of: str | None = None


class _Table(_Message, kw_only=True):
    bouler: str | None


class _Ruling(_Message, kw_only=True):
    about: int
    ruled_as: RuledAs
    label: str | None
    by: str
    reason: str


class _Notice(_Message, kw_only=True):
    notice: str
    coup: int
    figures: dict[str, Any] = {}
    by: str | None = None
    reason: str | None = None


_KINDS: dict[str, type[_Message]] = {
    "result": _Result,
    "void": _Void,
    "ruling": _Ruling,
    "table": _Table,
    "notice": _Notice,
}
_DECODERS = {topic: msgspec.json.Decoder(kind) for topic, kind in _KINDS.items()}


class _Book:
    """One wheel while it is read. `places`: each coup with the journal that may contain its log."""

    def __init__(self, wheel: WheelRecord) -> None:
        self.wheel = wheel
        self.hashes: set[str] = set()
        self.notices: set[tuple[int, bytes]] = set()  # a copy of a journal has them under the same id
        self.places: list[tuple[ValidCoup, JournalReader]] = []
        self.decisions: set[Decision] = set()
        self.bouler: str | None = None


def wheels(paths: Iterable[Path], during: range = FOREVER) -> list[WheelRecord]:
    """Return the wheels of these journals, live tables before bench tables, and each group in the order of the names.
    `during`: only records stored in this period, in µs UTC.

    Raises JournalError, OSError.
    """
    books: dict[_Key, _Book] = {}
    with ExitStack() as journals:
        for path in paths:
            path.open("rb").close()  # this error names an unreadable file better than SQLite does
            reader = journals.enter_context(closing(JournalReader(Database(path, read_only=True))))
            try:
                _read(reader, during, books)
            except (msgspec.ValidationError, TypeError, OverflowError) as wrong:
                raise JournalError("corrupt", path, f"a record is damaged ({wrong})") from wrong
        for book in books.values():
            # Sort everything by time, and read a sample of the logs, spread evenly.
            wheel = book.wheel
            wheel.coups.sort(key=lambda coup: coup.at_utc_us)
            wheel.voids.sort(key=lambda void: void.at_utc_us)
            wheel.decisions = sorted(book.decisions, key=lambda decision: decision.at_utc_us)
            book.places.sort(key=lambda place: place[0].at_utc_us)
            count = min(LOGS_MAX, len(book.places))
            for coup, journal in (book.places[len(book.places) * each // count] for each in range(count)):
                if (evidence := journal.evidence(coup.coup)) is None:
                    continue
                layout = layout_of(evidence.log)
                if layout != wheel.layout:  # the sensors were moved, and earlier runs belong to the old angles
                    wheel.layout, wheel.runs = layout, []
                if (run := run_of(coup, evidence.log, layout)) is not None:
                    wheel.runs.append(run)
    return [books[key].wheel for key in sorted(books)]


def _read(reader: JournalReader, during: range, books: dict[_Key, _Book]) -> None:
    book: _Book | None = None
    for stored in reader.all_records():
        if stored.topic not in _DECODERS or stored.at_utc_us not in during:
            continue
        try:
            message = _DECODERS[stored.topic].decode(stored.payload)
            pockets = PROFILES[message.house, message.game].pockets
        except (msgspec.MsgspecError, UnicodeDecodeError, LookupError):
            if book is not None:
                book.wheel.unreadable += 1
            continue
        key = (message.test, message.site, message.table, pockets.count)
        if key not in books:
            books[key] = _Book(WheelRecord(site=message.site, table=message.table, test=message.test, pockets=pockets))
        book = books[key]
        if (name := str(reader.database.path)) not in book.wheel.journals:
            book.wheel.journals.append(name)
            book.bouler = None
        _note(book, message, stored, reader)


def _note(book: _Book, message: _Message, stored: StoredMessage, reader: JournalReader) -> None:
    match message:
        case _Table():
            book.bouler = message.bouler
        case _Notice() if (stored.id, stored.payload) not in book.notices:
            book.notices.add((stored.id, stored.payload))
            book.wheel.notices[message.notice] += 1
            if message.notice == "unobserved_coup":
                book.wheel.unobserved_utc_us.add(stored.at_utc_us)
            if message.notice == "late_bet":
                is_accepted = message.figures.get("accepted") == "yes"
                said: Literal["accepted", "refused"] = "accepted" if is_accepted else "refused"
                who_and_why = message.by or "", message.reason or ""
                book.decisions.add(Decision(stored.at_utc_us, message.coup, said, None, *who_and_why))
        case _Ruling():
            told = (message.ruled_as, message.label, message.by, message.reason)
            book.decisions.add(Decision(stored.at_utc_us, message.about, *told))
        case _Result() if message.hash not in book.hashes:
            book.hashes.add(message.hash)
            coup = _coup(message, stored.at_utc_us, book.bouler)
            book.wheel.coups.append(coup)
            book.places.append((coup, reader))
        case _Void() if message.hash not in book.hashes:
            book.hashes.add(message.hash)
            void = VoidCoup(
                at_utc_us=stored.at_utc_us,
                cause=message.cause,
                margin=message.margin,
                margin_of=message.margin_of,
            )
            book.wheel.voids.append(void)
        case _:
            pass


def _coup(result: _Result, at_utc_us: int, bouler: str | None) -> ValidCoup:
    def sensed_us(at: datetime) -> int:
        return result.t_us - round((result.at - at).total_seconds() * SECOND_US)

    left = result.left_track_at
    is_sensed = result.confirmed_by is None and result.sightings
    since_us = result.t_us - result.sightings[0].t_us if is_sensed else 0
    return ValidCoup(
        at_utc_us=at_utc_us,
        coup=result.coup,
        pocket=result.pocket_index,
        laps=result.laps,
        rotor_rpm=result.rotor_rpm,
        ball_direction=result.ball_direction,
        bouler=bouler,
        ball_s=None if left is None else (left - result.launched_at).total_seconds(),
        rest_s=(at_utc_us - round(result.at.timestamp() * SECOND_US) + since_us) / SECOND_US if is_sensed else None,
        margin=result.margin,
        margin_of=result.margin_of,
        launched_us=sensed_us(result.launched_at),
        left_us=None if left is None else sensed_us(left),
        sightings=result.sightings,
        is_chefs_word="R3" in result.unproven,
    )


# The functions below read the run on the track from the log of one coup. Most lines of a log are encoder edges, some
# thousand for each coup. So lines are selected by their first bytes, and only the edges that two turns need are
# decoded.

SLACK_US = 200_000
"""Passes up to this time before the launch and after the ball left the track belong to the run. Both times come from
the result, in UTC, and may be wrong by this much on the sensing clock, because the host may correct its clock during a
coup. No ball passes a beam so shortly before its launch, or after it left the track."""
_BALL, _ROTOR = b'{"kind":"ball"', b'{"kind":"rotor"'

_header = msgspec.json.Decoder(SensorPlaces)
_ball = msgspec.json.Decoder(BallPass)
_rotor = msgspec.json.Decoder(Rotor)


def layout_of(log: bytes) -> SensorPlaces:
    """Return the places of the sensors from the log's header. Raises msgspec's errors."""
    return _header.decode(log.partition(b"\n")[0])


def run_of(coup: ValidCoup, log: bytes, layout: SensorPlaces) -> LoggedRun | None:
    """Return the run of `coup` from its log, or None if the passes do not show it. Raises msgspec's errors."""
    if coup.left_us is None or coup.ball_direction is None or len(layout.beams_deg) < 2:
        return None
    lines = log.split(b"\n")
    first_us, last_us = coup.launched_us - SLACK_US, coup.left_us + SLACK_US
    passes = [
        seen
        for seen in (_ball.decode(line) for line in lines if line.startswith(_BALL))
        if first_us <= seen.t_us <= last_us
    ]
    if len(passes) < 2:
        return None
    edges = [line for line in lines if line.startswith(_ROTOR)]
    last = passes[-1]
    before_us = next((one.t_us for one in reversed(passes[:-1]) if one.beam == last.beam), None)
    return LoggedRun(
        at_utc_us=coup.at_utc_us,
        ball_direction=coup.ball_direction,
        last_beam=last.beam,
        last_lap_s=None if before_us is None else (last.t_us - before_us) / 1e6,
        slowing=_slowing(edges, coup.launched_us, layout.rotor_ticks),
        passes=tuple((one.t_us, one.beam) for one in passes),
    )


def _slowing(edges: Sequence[bytes], launched_us: int, ticks: int) -> float | None:
    """Return which share of its speed the rotor lost in a second, between its first and its last turn after the
    launch."""
    begin = bisect_left(edges, launched_us, key=lambda line: _rotor.decode(line).t_us)
    if not ticks or len(edges) - begin < 3 * ticks:
        return None
    turns = []  # the duration of each turn and the time of its middle, in s
    for at in (begin, len(edges) - 1 - ticks):
        one, other = _rotor.decode(edges[at]), _rotor.decode(edges[at + ticks])
        if one.tick != other.tick or other.t_us <= one.t_us:
            return None  # edges are missing
        turns.append(((other.t_us - one.t_us) / 1e6, (other.t_us + one.t_us) / 2e6))
    (first_s, first_at_s), (last_s, last_at_s) = turns
    return (1 - first_s / last_s) / (last_at_s - first_at_s)
