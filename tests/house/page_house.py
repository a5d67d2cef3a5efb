"""A house for the tests of the fleet page: wheels with records in a database, without brokers, and the page itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.feed.wheel import SITE, Wheel
from tests.house.postgres import Cluster
from tests.house.test_checkpoints import HOUSE, RAW, SIGNER
from wheeld.feed.message import read_message
from wheeld.journal.tree import FeedTree
from wheeld_house.checkpoints import read_signed
from wheeld_house.database import Alarm, Lease, NewRecord, RecordStore
from wheeld_house.page.serve import serving
from wheeld_house.page.settings import PageSettings
from wheeld_house.settings import HouseWheel

CALM: dict[str, Any] = {"state": "faites_vos_jeux", "bets": "open", "bouler": "Anna", "failing": [], "without": []}
LASTING_S = 3600.0
KEY = Ed25519PrivateKey.from_private_bytes(RAW)
"""Of every wheel."""
FORM = {"Sec-Fetch-Site": "same-origin"}
"""What a browser sends with a form of our own page."""


class PageHouse:
    """Its wheels, and one collector that holds them all. `say` and `alarm` store at once."""

    def __init__(self, cluster: Cluster, database: str) -> None:
        self.cluster, self.database = cluster, database
        self.wheels: dict[str, Wheel] = {}
        self._store = RecordStore(cluster.dsn(database), "collector-1")
        self._leases: dict[str, Lease] = {}

    def add(self, *tables: str) -> None:
        """Wheels of which nothing is stored yet."""
        self._store.open()
        numbers = self._store.register([HouseWheel(site=SITE, table=table) for table in tables])
        leases = {lease.wheel: lease for lease in self._store.keep_leases(LASTING_S, 1, list(numbers.values()))}
        self.wheels |= {table: Wheel(table, KEY) for table in tables}
        self._leases |= {table: leases[numbers[f"wheel/v1/{SITE}/{table}"]] for table in tables}

    def close(self) -> None:
        self._store.close()

    def record(self, table: str, leaf: str = "result", at: str = "2026-11-28T20:00:00+00:00", **more: Any) -> NewRecord:
        """Its next message, as the collector would store it."""
        wheel, lease = self.wheels[table], self._leases[table]
        message = read_message(*wheel.say(leaf, at=at, **more), root=f"wheel/v1/{SITE}/{table}")
        return NewRecord(lease.wheel, lease.fence, message, at, more.get("coup"), is_signed=False)

    def store(self, records: Sequence[NewRecord]) -> None:
        self._store.add(records)

    def say(self, table: str, leaf: str = "result", **more: Any) -> None:
        """One message."""
        self.store([self.record(table, leaf, **more)])

    def play(self, tables: Sequence[str], coups: int = 3) -> None:
        """A few coups at each, the last state of which is calm."""
        records = []
        for place, table in enumerate(tables):
            for coup in range(1, coups + 1):
                number = (place * 7 + coup * 5) % 37
                records.append(self.record(table, "result", coup=coup, number=number, label=str(number)))
                state = CALM | {"last_number": number, "last_label": str(number), "waiting_for": "the launch"}
                records.append(self.record(table, "table", coup=coup, language="en", **state))
        for first in range(0, len(records), 1000):
            self.store(records[first : first + 1000])

    def alarm(self, table: str, kind: str = "conflict", seq: int = 1, why: str = "another message came") -> int:
        """One more alarm; returns its id."""
        lease = self._leases[table]
        self._store.alarm([Alarm(lease.wheel, lease.fence, kind, seq, b"", why)])
        return int(self.sql("select max(id) from house.alarm")[0][0])

    def seal(self, table: str) -> None:
        """Its checkpoint, proven and cosigned, as the collector would do it."""
        tree, lease, root = FeedTree(), self._leases[table], f"wheel/v1/{SITE}/{table}"
        for _, payload in self.wheels[table].sent:
            tree.add(payload)
        signed = read_signed(tree.checkpoint(SITE, table, SIGNER), root, SIGNER.public_key)
        assert self._store.prove(lease.wheel, lease.fence, signed, HOUSE)

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        return self.cluster.sql(self.database, statement, *values)

    def settings(self, **more: Any) -> PageSettings:
        given = {"database": self.cluster.dsn(self.database), "listen": "127.0.0.1:0"} | more
        settings = PageSettings(**given)
        settings.check()
        return settings


@dataclass
class Visitor:
    """Asks the page. `headers` go with each request."""

    session: aiohttp.ClientSession
    address: str

    async def get(self, path: str, **headers: str) -> tuple[int, str]:
        async with self.session.get(f"{self.address}{path}", headers=headers, allow_redirects=False) as answer:
            return answer.status, await answer.text()

    async def page(self, path: str) -> str:
        status, text = await self.get(path)
        assert status == 200, (path, status, text)
        return text

    async def send(self, path: str, fields: dict[str, str], **headers: str) -> aiohttp.ClientResponse:
        answer = await self.session.post(f"{self.address}{path}", data=fields, headers=headers, allow_redirects=False)
        await answer.read()
        return answer


@asynccontextmanager
async def visiting(house: PageHouse, headers: dict[str, str] | None = None, **settings: Any) -> AsyncIterator[Visitor]:
    """The page as its process serves it, and who asks it."""
    jar = aiohttp.CookieJar(unsafe=True)  # it keeps the cookies of an address too
    async with (
        serving(house.settings(**settings)) as address,
        aiohttp.ClientSession(headers=headers, cookie_jar=jar) as session,
    ):
        yield Visitor(session, address.rstrip("/"))
