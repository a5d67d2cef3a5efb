"""What `systemctl status` shows of a wheel: where it stands, for what it waits, and that the broker is away."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import cast

import pytest
from msgspec import structs

from tests.broker.world import VirtualClock, settle
from tests.core.evening import FRENCH, START_UTC_US, Evening
from wheeld.broker.mqtt import Outage, Refusal, Refused
from wheeld.broker.outbox import Outbox
from wheeld.config import instance
from wheeld.config.instance import WheelFiles
from wheeld.core.catalogue import Text
from wheeld.core.table import Table
from wheeld.daemon.self_test import SelfTest
from wheeld.daemon.sources import Source
from wheeld.daemon.status import LOOK_S, DaemonStatus
from wheeld.service.program import Program
from wheeld.service.time_sync import TimeSync

EXPIRED = "the broker's certificate has expired: it has to be renewed at the broker"
CHECK = "; `wheeld check-config wheel-3` checks the address, the certificate and its key"


class Bench:
    """The status of a table whose other parts are all well."""

    def __init__(self, table: Table, *unavailable: str, refused: tuple[Text, Text] | None = None) -> None:
        self.clock = VirtualClock(START_UTC_US)
        self.outage: Outage | None = None
        self.refusals: dict[Refused, Refusal] = {}
        self.owed = 0
        self.not_renewed = ""
        self.sent: list[str] = []
        self.status = DaemonStatus(
            table,
            cast(
                "Source",
                SimpleNamespace(sensing=SimpleNamespace(is_up=True), unavailable=unavailable, refused=refused),
            ),
            cast("TimeSync", SimpleNamespace(is_synchronised=True)),
            wheel=WheelFiles(instance.ROOT / instance.CONFIGURATIONS / "wheel-3.toml"),
            clock=self.clock,
            outbox=cast("Outbox", SimpleNamespace(depth=self._depth)),
            program=cast("Program", None),
            self_test=cast("SelfTest", None),
            outage=lambda: self.outage,
            refusals=self.refusals,
            not_renewed=lambda: self.not_renewed,
            counters=dict,
        )

    async def _depth(self) -> int:
        return self.owed

    @property
    def away(self) -> str:
        """What is said of the broker, without the command that each trouble there ends with."""
        told = self.status.line.partition("; the broker ")[2]
        assert told.count(CHECK) == (1 if told else 0)
        return told.replace(CHECK, "")


def bench(evening: Evening | None = None) -> Bench:
    return Bench((evening or Evening()).table)


@pytest.fixture(autouse=True)
def in_campione(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The clock on the wall is an hour ahead of UTC."""
    monkeypatch.setenv("TZ", "CET-1")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_where_it_stands_and_for_what_it_waits() -> None:
    evening = Evening()
    assert bench(evening).status.line == "campione-03: closed, coup 0; waiting for: opening of the table"
    evening.open()
    assert bench(evening).status.line == "campione-03: faites_vos_jeux, coup 1; waiting for: launch of the ball"


def test_nobody_waits_for_what_comes_by_itself() -> None:
    evening = Evening().open()
    evening.launch()
    evening.wait(2)
    assert bench(evening).status.line.endswith('; waiting for: "rien ne va plus", then the number')
    evening.say("rien_ne_va_plus")
    assert bench(evening).status.line == "campione-03: rien_ne_va_plus, coup 1"


def test_it_is_english_whatever_the_table_speaks() -> None:
    table, _ = Table.start(structs.replace(FRENCH, language="it"), boot_id="b", started_utc_us=0)
    assert Bench(table).status.line.endswith("waiting for: opening of the table")


def test_a_line_that_cannot_be_opened_is_said_before_what_the_table_waits_for() -> None:
    gone = "/dev/ttyACM7: the port is not there"
    assert f"; {gone}; waiting for: " in Bench(Evening().table, gone).status.line


def test_why_a_board_is_refused_is_said() -> None:
    refused = Text("it is {found}", {"found": "SIM-0001"}), Text("connect that board")
    assert "; it is SIM-0001: connect that board; waiting for: " in Bench(Evening().table, refused=refused).status.line


def test_nobody_is_sent_to_the_cable_of_a_line_whose_trouble_is_said() -> None:
    evening = Evening().open()
    evening.sensor("link", ok=False)
    assert "; waiting for: repair the line to the sensors" in bench(evening).status.line
    gone, refused = "/dev/ttyACM7: the port is not there", (Text("another board"), Text("connect that board"))
    assert Bench(evening.table, gone).status.line.endswith(f"; {gone}")
    assert Bench(evening.table, refused=refused).status.line.endswith("; another board: connect that board")
    evening.sensor("link", ok=True)
    assert "; waiting for: resumption of play" in Bench(evening.table, gone).status.line


async def test_a_broker_that_is_away_is_said_with_since_when_why_and_what_is_owed() -> None:
    at = bench()
    following = asyncio.create_task(at.status.follow(at.sent.append))
    await at.clock.advance(LOOK_S)
    assert at.sent == [], "nothing has changed"
    at.outage, at.owed = Outage("10.0.0.2:8883", at.clock.monotonic_ns(), EXPIRED), 12
    assert at.away == f"10.0.0.2:8883 has not been reached since 19:00: {EXPIRED}", "what is owed was not counted yet"
    await at.clock.advance(LOOK_S)
    assert at.sent == [at.status.line]
    assert at.away == f"10.0.0.2:8883 has not been reached since 19:00: {EXPIRED}; messages owed: 12"
    await at.clock.advance(3600)
    assert len(at.sent) == 1, "and said once"
    at.owed = 0
    await at.clock.advance(LOOK_S)
    assert at.away == f"10.0.0.2:8883 has not been reached since 19:00: {EXPIRED}", "and nothing of what is not owed"
    at.owed = 12
    await at.clock.advance(LOOK_S)
    at.sent[1:] = []
    at.outage = at.outage._replace(why="the broker says that our certificate has expired: renew cert_file")
    at.outage = None
    await at.clock.advance(LOOK_S)
    assert at.sent[1:] == [at.status.line]
    assert at.away == ""
    following.cancel()
    await settle()


async def test_what_the_broker_refuses_is_said_until_it_is_allowed() -> None:
    at = bench()
    following = asyncio.create_task(at.status.follow(at.sent.append))
    await settle()
    at.refusals["publication", "result"] = Refusal(at.clock.monotonic_ns(), "Not authorized")
    await at.clock.advance(LOOK_S)
    assert at.sent == [at.status.line]
    assert at.away.startswith(
        "has refused publication of result since 19:00: Not authorized; if the certificate is this wheel's, "
        "correct the broker's access list"
    )
    assert "`wheeld acl wheel-3` prints" in at.away
    at.outage = Outage("broker:1883", at.clock.monotonic_ns(), "refused")
    assert "has refused" not in at.status.line, "of a broker that is away nobody knows what it refuses"
    assert "wheeld acl" not in at.status.line
    at.outage = None
    at.refusals.clear()
    await at.clock.advance(LOOK_S)
    assert at.away == ""
    assert at.sent[1:] == [at.status.line]
    following.cancel()
    await settle()


def test_files_that_were_renewed_wrongly_are_said() -> None:
    at = bench()
    at.not_renewed = "cert_file /etc/wheeld/wheel.crt expired at 2026-11-01 00:00 UTC"
    assert at.status.line.endswith(
        "; the changed files for TLS are not used, and the connection keeps the earlier ones: cert_file "
        f"/etc/wheeld/wheel.crt expired at 2026-11-01 00:00 UTC{CHECK}"
    )


async def test_of_a_day_before_the_date_is_said_too() -> None:
    at = bench()
    at.outage = Outage("broker:1883", at.clock.monotonic_ns(), "refused")
    await at.clock.advance(86_401)
    assert at.away == "broker:1883 has not been reached since 2026-11-20 19:00: refused"
