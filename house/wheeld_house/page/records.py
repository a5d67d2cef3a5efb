"""Reads from the database what the pages show: rows, to which words for people are added.

Every list has a limit, and every long text is cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec
import psycopg

from wheeld_house.checkpoints import receipt_of
from wheeld_house.page.database import PageDatabase, Row
from wheeld_house.page.words import (
    ALARMS,
    BETS,
    CAUSES,
    KINDS,
    NEEDS,
    RULED,
    STATES,
    age,
    colour_of,
    cut,
    label_of,
    member_of,
    said,
    sensors_of,
    text_of,
)
from wheeld_house.qr import TooLongError, qr_code

WHEELS_MAX = 2000
PAGE = 50
"""The most lines in a list."""
PAYLOAD_MAX = 65_536
"""A longer message is listed, but its content is not read."""
SITES_MAX = 100
RECEIPT_RECORDS_MAX = 2_000_000
"""The most records for one receipt. Their hashes take about 200 MB of memory, and the service has 512 MB."""
QUIET = ("closed", "suspended")
"""States in which a table may be silent for hours."""
SEALING = ("prev", "hash", "signature", "schema", "language", "site", "table", "coup", "evidence", "sightings")
"""Members of a verdict that the page does not show in the list of members, because it shows them in another place."""

# ruff: noqa: S608  the statements contain only constants of the program; values are passed separately
_PAYLOAD = f"case when octet_length(r.payload) <= {PAYLOAD_MAX} then r.payload end as payload"
_FLEET = f"""
select
    w.site, w.table_name, w.is_test, w.lease_until > clock_timestamp() and w.holder is not null as is_held, c.name,
    extract(epoch from clock_timestamp() - h.stored_at)::float8 as seen_s, t.payload, coalesce(a.open, 0) as open
from house.wheel w
left join house.collector c on c.holder = w.holder
left join lateral (
    select r.stored_at from house.record r where r.wheel = w.id and r.seq = w.head_seq and r.at = w.head_at
) h on true
left join lateral (
    select {_PAYLOAD} from house.record r where r.wheel = w.id and r.kind = 'table' order by r.seq desc limit 1
) t on true
left join (
    select wheel, count(*) as open from house.alarm where acknowledged_at is null group by wheel
) a on a.wheel = w.id
order by w.site, w.table_name
limit {WHEELS_MAX + 1}
"""
_WHEEL = "select id, site, table_name, is_test from house.wheel where site = %s and table_name = %s"
_NAMED = f"select id from house.wheel where table_name = %s and (%s::text is null or site = %s) limit {SITES_MAX}"
_FOUND = """
select v.wheel, v.seq, nullif(v.at, '-infinity') as at, v.at::text as place, v.kind, v.coup, v.number, v.label, v.cause,
    v.bouler, w.site, w.table_name, w.is_test
from house.verdict v join house.wheel w on w.id = v.wheel
"""
_LAST = f"{_FOUND} where v.wheel = %s and v.kind in ('result', 'void') order by v.seq desc limit {PAGE}"
_STATES = f"""
select r.seq, nullif(r.at, '-infinity') as at, {_PAYLOAD}
from house.record r where r.wheel = %s and r.kind = 'table' order by r.seq desc limit {PAGE}
"""
_COUP = f"""
select r.seq, nullif(r.at, '-infinity') as at, r.kind, r.is_signed, r.stored_at, encode(r.hash, 'hex') as hash,
    encode(sha256(r.payload), 'hex') as sha256, octet_length(r.payload) as size, {_PAYLOAD}, v.number, v.label, v.cause,
    v.bouler
from house.verdict v join house.record r on r.wheel = v.wheel and r.seq = v.seq and r.at = v.at
where v.wheel = %s and v.coup = %s order by r.seq limit {PAGE}
"""
_COUP_STATES = f"""
select r.seq, nullif(r.at, '-infinity') as at, {_PAYLOAD}
from house.record r where r.wheel = %s and r.coup = %s and r.kind = 'table' order by r.seq limit {PAGE}
"""
_ALARM = """
select a.id, w.site, w.table_name, a.kind, a.seq, left(a.why, 500) as why, a.raised_at, a.acknowledged_at,
    a.acknowledged_by, a.reason
from house.alarm a join house.wheel w on w.id = a.wheel
"""
_ACKNOWLEDGE = """
update house.alarm set acknowledged_at = clock_timestamp(), acknowledged_by = %s, reason = %s
where id = %s and acknowledged_at is null returning id
"""
PLACE = re.compile(r"(-infinity|[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:.]{8,15}\+00)~([0-9]{1,9})~([0-9]{1,18})\Z")
"""Where the next page of a search begins: date, wheel and `seq` of the last line before it."""


class NotStoredError(Exception):
    """The database has no such wheel or coup."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """All wheels: those that need a person, and the others. `is_cut`: there are more than WHEELS_MAX."""

    needy: Sequence[Row]
    calm: Sequence[Row]
    is_cut: bool


@dataclass(frozen=True, slots=True)
class CoupReceipt:
    """The receipt of a coup, and its QR code as SVG. If the receipt does not fit in a code, `why` says so."""

    text: str
    code: str
    why: str


@dataclass(frozen=True, slots=True)
class Search:
    """What a person searches for. None or an empty text matches everything. `place`: only lines after it match."""

    number: int | None = None
    cause: str = ""
    from_at: datetime | None = None
    to_at: datetime | None = None
    bouler: str = ""
    table: str = ""
    place: tuple[str, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A page of lines, and where the next page begins, if there is one."""

    lines: Sequence[Any]
    more: str | None = None


class HouseRecords:
    """Reads the database for the pages. Each call may raise DatabaseError."""

    def __init__(self, database: PageDatabase, *, silent_after_s: float) -> None:
        self._database, self._silent_after_s = database, silent_after_s

    async def fleet(self) -> Fleet:
        """Return every wheel. Wheels that need a person come in the order of their most important need."""
        rows = await self._database.rows(_FLEET)
        tiles: list[Row] = []
        for row in rows[:WHEELS_MAX]:
            body = _body(row["payload"])
            state, number = text_of(body.get("state")), body.get("last_number")
            failing, seen_s = sensors_of(body.get("failing")), row["seen_s"]
            is_silent = not row["is_held"] or seen_s is None or (state not in QUIET and seen_s > self._silent_after_s)
            has = {"alarm": row["open"] > 0, "failing": failing, "suspended": state == "suspended", "silent": is_silent}
            words = {
                "state": _state(body) or "nothing is known of it yet",
                "label": label_of(number, body.get("last_label")) if colour_of(number) else "",
                "colour": colour_of(number),
                "seen": age(seen_s),
                "waits": text_of(body.get("waiting_for")),
                "language": _language(body),
                "failing": failing,
                "without": sensors_of(body.get("without")),
                "needs": {need: words for need, words in NEEDS.items() if has[need]},
            }
            tiles.append(row | words)
        order = list(NEEDS)
        needy = sorted(
            (tile for tile in tiles if tile["needs"]), key=lambda tile: order.index(next(iter(tile["needs"])))
        )
        return Fleet(needy, [tile for tile in tiles if not tile["needs"]], len(rows) > WHEELS_MAX)

    async def wheel(self, site: str, table: str) -> Row:
        """Return the wheel with this name. Raises NotStoredError."""
        rows = await self._database.rows(_WHEEL, site, table)
        if not rows:
            raise NotStoredError
        return rows[0]

    async def last_coups(self, wheel: int) -> list[Row]:
        """Return the last verdicts of this wheel, newest first."""
        return [_verdict(row) for row in await self._database.rows(_LAST, wheel)]

    async def changes(self, wheel: int) -> list[Row]:
        """Return the last states of this wheel's table, newest first."""
        return [_change(row) for row in await self._database.rows(_STATES, wheel)]

    async def coup(self, wheel: int, coup: int) -> tuple[list[Row], list[Row]]:
        """Return the verdict and the rulings of a coup, and the states of the table during the coup. Raises
        NotStoredError."""
        messages = [_message(row) for row in await self._database.rows(_COUP, wheel, coup)]
        if not messages:
            raise NotStoredError
        return messages, [_change(row) for row in await self._database.rows(_COUP_STATES, wheel, coup)]

    async def receipt(self, site: str, table: str, coup: int) -> CoupReceipt:
        """Return the receipt of a coup. Raises LookupError if the coup has no verdict, or no checkpoint covers it yet.
        Raises TooManyRecordsError if the receipt needs too many records."""

        def make(database: psycopg.Connection[Any]) -> CoupReceipt:
            text, _ = receipt_of(database, site, table, coup, records_max=RECEIPT_RECORDS_MAX)
            try:
                code: str = qr_code(text).svg_inline(light="white", omitsize=True)
            except TooLongError as wrong:
                return CoupReceipt(text, "", str(wrong))
            return CoupReceipt(text, code, "")

        return await self._database.work(make)

    async def search(self, question: Search) -> Found:
        """Return a page of the verdicts that match the search, newest first."""
        wheels: list[int] | None = None
        if question.table:
            site, slash, table = question.table.rpartition("/")
            named = await self._database.rows(_NAMED, table, site if slash else None, site)
            wheels = [row["id"] for row in named]
            if not wheels:
                return Found([])
        conditions: list[tuple[str, tuple[object, ...]]] = []
        if wheels is not None:
            only_one = len(wheels) == 1
            conditions.append(("v.wheel = %s", (wheels[0],)) if only_one else ("v.wheel = any(%s)", (wheels,)))
        for column, value in (("number", question.number), ("cause", question.cause), ("bouler", question.bouler)):
            if value is not None and value != "":
                conditions.append((f"v.{column} = %s", (value,)))
        if question.from_at is not None:
            conditions.append(("v.at >= %s", (question.from_at,)))
        if question.to_at is not None:
            conditions.append(("v.at <= %s", (question.to_at,)))
        if question.place is not None:
            conditions.append(("(v.at, v.wheel, v.seq) < (%s::timestamptz, %s, %s)", question.place))
        where = " and ".join(text for text, _ in conditions)
        statement = f"{_FOUND} where {where or 'true'} order by v.at desc, v.wheel desc, v.seq desc limit %s"
        rows = await self._database.rows(statement, *(value for _, values in conditions for value in values), PAGE + 1)
        more = None
        if len(rows) > PAGE:
            last = rows[PAGE - 1]
            more = f"{last['place']}~{last['wheel']}~{last['seq']}"
        return Found([_verdict(row) for row in rows[:PAGE]], more)

    async def alarms(self, *, is_open: bool, before: int | None = None, wheel: int | None = None) -> Found:
        """Return a page of alarms, newest first."""
        conditions = [f"a.acknowledged_at is {'null' if is_open else 'not null'}"]
        values: list[object] = []
        for text, value in (("a.id < %s", before), ("a.wheel = %s", wheel)):
            if value is not None:
                conditions.append(text)
                values.append(value)
        statement = f"{_ALARM} where {' and '.join(conditions)} order by a.id desc limit %s"
        rows = await self._database.rows(statement, *values, PAGE + 1)
        lines = [
            row
            | {name: row[name] and _at(row[name]) for name in ("raised_at", "acknowledged_at")}
            | {"word": ALARMS.get(row["kind"], cut(row["kind"]))}
            for row in rows[:PAGE]
        ]
        return Found(lines, str(rows[PAGE - 1]["id"]) if len(rows) > PAGE else None)

    async def acknowledge(self, alarm: int, by: str, reason: str) -> bool:
        """Store who looked at an alarm, and why it is over. Returns False if there is no such open alarm."""
        return bool(await self._database.write(_ACKNOWLEDGE, by, reason, alarm))


def _body(payload: bytes | None) -> Mapping[str, Any]:
    """Return the members of a message. Empty if it cannot be read."""
    if payload is None:
        return {}
    try:
        return msgspec.json.decode(payload, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}


def _language(body: Mapping[str, Any]) -> str:
    """Return the language of the texts for people in a message. Empty if it is not one of our languages."""
    language = body.get("language")
    return language if language in ("fr", "it", "en") else ""


def _state(body: Mapping[str, Any]) -> str:
    state, bets = text_of(body.get("state")), text_of(body.get("bets"))
    return ", ".join(word for word in (STATES.get(state, state), BETS.get(bets, bets)) if word)


def _at(value: datetime | None) -> str:
    return "no date" if value is None else f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S}"


def _verdict(row: Row) -> Row:
    return row | _words(row) | {"at": _at(row["at"]), "cause": CAUSES.get(row["cause"] or "", row["cause"] or "")}


def _words(row: Row) -> Row:
    """Return the words for the kind and the number of a message."""
    return {
        "word": KINDS.get(row["kind"], row["kind"]),
        "label": label_of(row["number"], row["label"]),
        "colour": colour_of(row["number"]),
    }


def _change(row: Row) -> Row:
    """Return one state of a table, and who caused it."""
    body = _body(row["payload"])
    return {
        "at": _at(row["at"]),
        "state": _state(body) or "cannot be read",
        **{name: text_of(body.get(name)) for name in ("bouler", "by", "reason")},
        "failing": sensors_of(body.get("failing")),
    }


def _message(row: Row) -> Row:
    """Return one message of a coup, with all its members in words."""
    body = _body(row["payload"])
    figures, sightings = body.get("evidence"), body.get("sightings")
    kind, cause = row["kind"], row["cause"] or ""
    ruled = text_of(body.get("ruled_as"))
    members = _members(each for each in list(body.items())[:PAGE] if each[0] not in SEALING)
    if kind != "ruling":
        members.insert(0, ("bouler", row["bouler"] or "not known"))
    more = {
        "head": {"void": CAUSES.get(cause, cause), "ruling": RULED.get(ruled, ruled)}.get(kind, ""),
        "language": _language(body),
        "stored_at": _at(row["stored_at"]),
        "members": members,
        "figures": _members(list(figures.items())[:PAGE]) if isinstance(figures, dict) else [],
        "sightings": [said("sightings", each) for each in sightings[:PAGE]] if isinstance(sightings, list) else [],
        "text": "" if row["payload"] is None else row["payload"].decode("utf-8", "replace"),
    }
    return row | _words(row) | more


def _members(some: Iterable[tuple[str, object]]) -> list[tuple[str, str]]:
    return [(member_of(name), said(name, value)) for name, value in some]
