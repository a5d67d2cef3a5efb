"""How fast the fleet page answers from a large database: `python -m tests.house.page_figures 1000000`.

It makes that many verdicts of 300 wheels in a private PostgreSQL, over a year, and asks the page over HTTP, one request
after the other.
"""

# ruff: noqa: T201  its output is what it is for
from __future__ import annotations

import asyncio
import random
import sys
import time
from collections.abc import Callable, Sequence
from urllib.parse import urlencode

from tests.house.page_house import PageHouse, Visitor, visiting
from tests.house.postgres import Cluster

WHEELS = 300
BOULERS = 400
REQUESTS = 30
"""Of each kind."""

_MADE = """
select
    1 + g % WHEELS as w, 1 + g / WHEELS as n,
    '2026-01-01'::timestamptz + g * interval '365 days' / TOTAL as at,
    case when g / WHEELS % 10 = 0 then 'table' when g / WHEELS % 10 = 5 then 'void' else 'result' end as kind,
    (array['chef','breakdown','too_few_laps','same_direction'])[1 + g % 4] as cause,
    'bouler-' || (g % WHEELS + g / WHEELS / 40) % BOULERS as bouler,
    (g::bigint * 7919 % 37)::integer as number
from generate_series(FIRST, TOTAL - 1) g
"""
_RECORDS = f"""
insert into house.record (wheel, seq, at, kind, coup, prev, hash, payload, is_signed, is_readable, fence)
select
    w, n, at, kind, n, sha256(int8send(n - 1)), sha256(int8send(n)),
    convert_to(format(
        '{{"schema":"%s/1","seq":%s,"site":"campione","table":"wheel-%s","at":"%s","coup":%s,"bouler":"%s",'
        '"number":%s,"label":"%s","cause":"%s","laps":7.25,"announcement":"Trente-deux, rouge, pair et passe",'
        '"state":"operations","bets":"closed","failing":[],"without":[],"margin":0.93,"margin_of":"pocket"}}',
        kind, n, w, at, n, bouler, number, number, cause), 'UTF8'),
    false, true, 1
from ({_MADE}) made
"""
_VERDICTS = f"""
insert into house.verdict (wheel, seq, at, kind, coup, number, label, cause, bouler)
select w, n, at, kind, n, case kind when 'result' then number end, case kind when 'result' then number::text end,
    case kind when 'void' then cause end, bouler
from ({_MADE}) made where kind <> 'table'
"""


def fill(house: PageHouse, count: int) -> None:
    """Without the chain: nothing here reads it. The search reads verdicts only, so the records are the newest tenth."""
    house.add(*(f"wheel-{number:03}" for number in range(WHEELS)))
    for month in range(1, 13):
        house.sql(f"select house.make_month('2026-{month:02}-15+00')")
    total = count * 10 // 9  # one message in ten is a state

    def made(statement: str, first: int) -> str:
        values = {"TOTAL": total, "FIRST": first, "WHEELS": WHEELS, "BOULERS": BOULERS}
        for name, value in values.items():
            statement = statement.replace(name, str(value))
        return statement

    house.sql("alter table house.record disable trigger user")
    told(f"{total // 10} records", lambda: house.sql(made(_RECORDS, total - total // 10)))
    house.sql("alter table house.record enable trigger user")
    house.sql(
        "update house.wheel w set head_seq = r.seq, head_hash = r.hash, head_at = r.at from house.record r "
        "where r.wheel = w.id and r.seq = (select max(seq) from house.record where wheel = w.id)"
    )
    house.sql("analyze house.record")
    told(f"{count} verdicts", lambda: house.sql(made(_VERDICTS, 0)))
    told("analyze", lambda: house.sql("analyze"))
    ((size, rows),) = house.sql("select pg_total_relation_size('house.verdict'), (select count(*) from house.verdict)")
    print(f"house.verdict: {rows} rows, {size / rows:.0f} bytes each", flush=True)


def told(what: str, work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    took = time.perf_counter() - begun
    print(f"{what}: {took:.1f} s", flush=True)
    return took


def asked(rng: random.Random, last: int) -> dict[str, Callable[[], str]]:
    """The kinds of requests, each with other values every time. `last`: the newest coup of each wheel."""

    def day() -> str:
        return f"2026-{rng.randint(1, 12):02}-{rng.randint(1, 27):02}"

    def search(**words: str) -> str:
        return f"/search?{urlencode(words)}"

    def span() -> dict[str, str]:
        first = day()
        return {"from": f"{first}T20:00", "to": f"{first}T23:59"}

    def number() -> str:
        return str(rng.randrange(37))

    def table() -> str:
        return f"wheel-{rng.randrange(WHEELS):03}"

    def bouler() -> str:
        return f"bouler-{rng.randrange(BOULERS)}"

    def cause() -> str:
        return rng.choice(("chef", "breakdown", "too_few_laps", "same_direction"))

    return {
        "all": search,
        "number": lambda: search(number=number()),
        "cause": lambda: search(cause=cause()),
        "bouler": lambda: search(bouler=bouler()),
        "table": lambda: search(table=table()),
        "time": lambda: search(**span()),
        "number, table": lambda: search(number=number(), table=table()),
        "number, bouler": lambda: search(number=number(), bouler=bouler()),
        "bouler, table": lambda: search(bouler=bouler(), table=table()),
        "cause, table, time": lambda: search(cause=cause(), table=table(), **span()),
        "number, time": lambda: search(number=number(), **span()),
        "all of them": lambda: search(number=number(), bouler=bouler(), table=table(), to=f"{day()}T20:00"),
        "bouler who is not there": lambda: search(bouler="nobody", number=number()),
        "number, cause": lambda: search(number=number(), cause=cause()),
        "a later page": lambda: search(number=number(), place=f"{day()} 20:00:00+00~100~1000"),
        "wheel": lambda: f"/wheel/campione/{table()}",
        "coup": lambda: f"/coup/campione/{table()}/{last // 10 * 10 - 8 - 10 * rng.randrange(max(1, last // 100 - 2))}",
        "fleet": lambda: "/",
    }


async def measure(house: PageHouse, count: int) -> None:
    """The first answer, and the best of three: on a busy computer most of the first one is waiting for a processor."""
    searches: list[tuple[float, float]] = []
    async with visiting(house) as visitor:
        for what, address in asked(random.Random(1), count * 10 // 9 // WHEELS).items():
            took: list[tuple[float, float]] = []
            for _ in range(REQUESTS):
                path = address()
                times = [await _took_ms(visitor, path) for _ in range(3)]
                took.append((times[0], min(times)))
            print(f"{what:24} {_told(took)}", flush=True)
            if what not in ("wheel", "coup", "fleet"):
                searches += took
    print(f"{'every search':24} {_told(searches)}", flush=True)


async def _took_ms(visitor: Visitor, path: str) -> float:
    begun = time.perf_counter()
    await visitor.page(path)
    return (time.perf_counter() - begun) * 1000


def _told(took: Sequence[tuple[float, float]]) -> str:
    words = []
    for name, each in zip(("first", "best of three"), zip(*took, strict=True), strict=True):
        times = sorted(each)
        words.append(
            f"{name}: p50 {times[len(times) // 2]:.1f} ms, p95 {times[len(times) * 95 // 100]:.1f}, max {times[-1]:.1f}"
        )
    return "; ".join(words)


def storing(house: PageHouse) -> None:
    """What the trigger costs a commit of 1,000 records, one in ten of which is a verdict's state."""
    for _ in range(2):
        for switched in ("enable", "disable"):
            house.sql(f"alter table house.record {switched} trigger note_verdicts")
            name = f"new-{time.perf_counter_ns()}"
            house.add(name)
            records = [house.record(name, "result", coup=n, number=n % 37) for n in range(1000)]
            told(f"1,000 results stored in one commit, the trigger {switched}d", lambda rows=records: house.store(rows))  # type: ignore[misc]
    house.sql("alter table house.record enable trigger note_verdicts")


def main(count: int) -> None:
    with Cluster() as cluster:
        house = PageHouse(cluster, cluster.database())
        fill(house, count)
        asyncio.run(measure(house, count))
        storing(house)
        house.close()


if __name__ == "__main__":
    main(int(sys.argv[1]))
