"""The fleet page: what it shows, whom it lets in, and that nobody can make it show or do anything else."""

from __future__ import annotations

import asyncio
import html
import json
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlencode

import aiohttp
import psycopg
import pytest

from tests.house.page_house import CALM, FORM, PageHouse, visiting
from wheeld.core.catalogue import Catalogue
from wheeld.core.facts import Bets, Cause, StateName
from wheeld.core.names import sensor_text
from wheeld.core.observations import SENSOR_KINDS, RuledAs
from wheeld.core.tracking.evidence import Measure
from wheeld.feed.message import Fault
from wheeld_house.cli import main
from wheeld_house.page.password import is_password, is_password_hash, password_hash
from wheeld_house.page.settings import Account, PageSettings, read_page_settings
from wheeld_house.page.words import ALARMS, BETS, CAUSES, MEASURES, RULED, STATES, age, member_of, said, sensor_of
from wheeld_house.settings import SettingsError

ROOT = Path(__file__).parents[2]
HOSTILE = "<script>alert('1')</script>&\"{{7*7}}"
PROXY: dict[str, Any] = {"user_header": "X-User", "trusted_proxies": ("127.0.0.1",), "acknowledgers": ("anna",)}
ANNA, BRUNO = {"X-User": "anna"}, {"X-User": "bruno"}


def texts(page: str) -> str:
    """What a person reads."""
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)))


def tables(page: str) -> list[str]:
    """The names of the tiles, in their order."""
    return re.findall(r'class="name"><a href="[^"]*">([^<]*)</a>', page)


# --- what it shows ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 12, 300])
async def test_every_wheel_has_a_tile(house: PageHouse, count: int) -> None:
    names = [f"table-{number:03}" for number in range(count)]
    if names:
        house.add(*names)
        house.play(names)
    async with visiting(house) as visitor:
        page = await visitor.page("/")
    assert tables(page) == names
    words = " ".join(texts(page).split())
    assert f"{count} wheel{'' if count == 1 else 's'}, 0 need a person." in words.replace(" ,", ",")
    if count:
        assert "faites vos jeux, bets open" in words
        assert "Waits for: the launch" in words
        assert "collector collector-1" in words


async def test_who_needs_a_person_stands_first(house: PageHouse) -> None:
    names = ["a-calm", "b-silent", "c-suspended", "d-failing", "e-alarm", "f-closed"]
    house.add(*names)
    house.play(["a-calm", "e-alarm"])
    house.say("c-suspended", "table", **CALM | {"state": "suspended", "bets": "closed"})
    house.say("d-failing", "table", **CALM | {"failing": ["beam/1"]})
    house.say("f-closed", "table", **CALM | {"state": "closed", "bets": "closed"})
    house.alarm("e-alarm")
    async with visiting(house) as visitor:
        page = await visitor.page("/")
    assert tables(page) == ["e-alarm", "d-failing", "c-suspended", "b-silent", "a-calm", "f-closed"]
    for why in ("open alarm", "sensor fails", "out of service", "silent"):
        assert f'<p class="why">{why}</p>' in page
    assert "Fails: beam 2" in page


async def test_an_open_table_without_a_message_is_silent_and_a_closed_one_is_not(house: PageHouse) -> None:
    house.add("closed", "open")
    house.say("open", "table", **CALM)
    house.say("closed", "table", **CALM | {"state": "closed"})
    house.sql("alter table house.record disable trigger refuse_change")
    house.sql("update house.record set stored_at = stored_at - interval '1 hour'")
    async with visiting(house) as visitor:
        page = await visitor.page("/")
    assert re.findall(r'class="why">([^<]*)', page) == ["silent"]
    assert tables(page) == ["open", "closed"]
    assert "Last message 1 h ago" in page


async def test_a_wheel_that_no_collector_holds_is_silent(house: PageHouse) -> None:
    house.add("alone")
    house.play(["alone"])
    house.sql("update house.wheel set lease_until = now() - interval '1 minute'")
    async with visiting(house) as visitor:
        page = await visitor.page("/")
    assert "no collector writes it" in page
    assert '<p class="why">silent</p>' in page


async def test_the_script_gets_the_part_that_changes(house: PageHouse) -> None:
    house.add("one")
    house.play(["one"])
    async with visiting(house) as visitor:
        for path in ("/", "/wheel/campione/one"):
            part = await visitor.page(f"{path}?part=")
            assert part.strip()
            assert "<html" not in part
            assert part.strip() in await visitor.page(path)


async def test_a_wheel_has_its_evening(house: PageHouse) -> None:
    house.add("one")
    house.play(["one"], coups=60)
    house.say("one", "void", coup=61, cause="too_few_laps")
    house.alarm("one", why="somebody else has its name")
    async with visiting(house) as visitor:
        page = await visitor.page("/wheel/campione/one")
    shown = [int(coup) for coup in re.findall(r'"/coup/campione/one/(\d+)"', page)]
    assert shown == list(range(61, 11, -1))
    assert "void: too few laps" in page
    assert "somebody else has its name" in page
    assert page.count("faites vos jeux, bets open") == 50


async def test_a_coup_has_all_that_was_said_of_it(house: PageHouse) -> None:
    house.add("one")
    house.say("one", "table", coup=7, **CALM)
    more = {"margin": 0.75, "margin_of": "laps", "evidence": {"laps_proven": 2.5}, "new_member": {"deep": [1, None]}}
    house.say("one", "void", coup=7, cause="too_few_laps", rule="N3", words="Colpo nullo", language="it", **more)
    house.say("one", "ruling", coup=9, about=7, ruled_as="number", number=17, label="17", reason="film", by="Carla")
    (_, void), (_, ruling) = house.wheels["one"].sent[1:]
    async with visiting(house) as visitor:
        page = await visitor.page("/coup/campione/one/7")
        assert (await visitor.get("/coup/campione/one/9"))[0] == 404
    words = " ".join(texts(page).split())
    for expected in (
        "Void: too few laps",
        "bouler Anna",
        "margin (0 to 1) 0.75",
        "measure with this margin the laps of the ball",
        "new member deep 1, not known, or does not apply",
        "laps proven 2.5",
        "Ruling of the direction: another number",
        "reason film",
        "not checked: the collector has no key of this wheel",
        void.decode(),
        ruling.decode(),
    ):
        assert expected in words, expected
    assert house.wheels["one"].hashes[2] in page
    assert '<span lang="it">Colpo nullo</span>' in page


async def test_what_does_not_exist_is_not_found(house: PageHouse) -> None:
    house.add("one")
    async with visiting(house) as visitor:
        for path in (
            "/wheel/campione/two",
            "/coup/campione/one/1",
            "/coup/campione/one/x",
            "/receipt/campione/one/x",
            "/wheel/a/b%00",
            "/x",
        ):
            assert (await visitor.get(path))[0] == 404, path


async def test_what_the_database_holds_cannot_write_html(house: PageHouse) -> None:
    name = "one"
    house.add(name)
    spoken = {"bouler": HOSTILE, "by": HOSTILE, "reason": HOSTILE, "waiting_for": HOSTILE, "language": '" onload="'}
    house.say(name, "table", coup=1, **CALM | spoken | {"state": HOSTILE, "failing": [HOSTILE], "without": [HOSTILE]})
    house.say(name, "result", coup=1, number=5, label=HOSTILE, announcement=HOSTILE, **{HOSTILE: HOSTILE})
    house.say(name, "void", coup=1, cause=HOSTILE, words=HOSTILE, language=HOSTILE, evidence={HOSTILE: HOSTILE})
    house.say(name, "ruling", coup=1, about=1, ruled_as=HOSTILE, reason=HOSTILE, by=HOSTILE)
    house.alarm(name, kind=HOSTILE, why=HOSTILE)
    house.sql("update house.wheel set table_name = %s", HOSTILE)
    async with visiting(house, ANNA, **PROXY) as visitor:
        fleet = await visitor.page("/")
        wheel = re.findall(r'href="(/wheel/[^"]*)"', fleet)[0]
        evening = await visitor.page(wheel)
        coup = await visitor.page(re.findall(r'href="(/coup/[^"]*)"', evening)[0])
        _, missing = await visitor.get(re.findall(r'href="(/receipt/[^"]*)"', coup)[0])
        found = await visitor.page(f"/search?{urlencode({'bouler': HOSTILE, 'table': ''})}")
        alarms = await visitor.page("/alarms")
        _, refused = await visitor.get(f"/search?{urlencode({'number': HOSTILE, 'from': HOSTILE})}")
    for page in (fleet, evening, coup, missing, found, alarms, refused):
        assert "<script>" not in page
        assert 'onload="' not in page
        assert HOSTILE in texts(page).replace("&#39;", "'") or page is refused
    assert found.count("/coup/") == 2


async def test_long_texts_are_cut(house: PageHouse) -> None:
    house.add("one")
    house.say("one", "table", coup=1, **CALM | {"waiting_for": "w" * 20_000, "failing": ["f" * 600] * 60})
    house.say("one", "result", coup=1, number=5, sightings=[{"t_us": 1}] * 3000)
    async with visiting(house) as visitor:
        assert len(await visitor.page("/")) < 100_000
        assert len(await visitor.page("/coup/campione/one/1")) < 300_000


# --- the search ------------------------------------------------------------------------------------------------------


@pytest.fixture
def evening(house: PageHouse) -> PageHouse:
    house.add("one", "two")
    records = []
    for table, bouler in (("one", "Anna"), ("two", "Bruno")):
        records.append(house.record(table, "table", coup=1, **CALM | {"bouler": bouler}))
        for coup in range(1, 21):
            at = f"2026-11-28T{coup:02}:00:00+00:00"
            if coup % 5:
                records.append(house.record(table, coup=coup, at=at, number=coup % 37, label=str(coup % 37)))
            else:
                records.append(
                    house.record(table, "void", coup=coup, at=at, cause="chef" if coup == 5 else "breakdown")
                )
    records.append(house.record("two", coup=21, at="2026-11-28T21:00:00+00:00", number=37, label="00"))
    records.append(house.record("two", "ruling", at="2026-11-28T22:00:00+00:00", about=3, ruled_as="number", number=8))
    house.store(records)
    return house


@pytest.mark.parametrize(
    ("asked", "coups"),
    [
        ({"number": "7"}, ["two/7", "one/7"]),
        ({"number": "8"}, ["two/3", "two/8", "one/8"]),
        ({"number": "00"}, ["two/21"]),
        ({"number": "0"}, []),
        ({"cause": "chef"}, ["two/5", "one/5"]),
        ({"bouler": "Anna", "cause": "breakdown"}, ["one/20", "one/15", "one/10"]),
        ({"bouler": "anna"}, []),
        ({"table": "two", "from": "2026-11-28T20:00", "to": "2026-11-28T21:00"}, ["two/21", "two/20"]),
        ({"table": "campione/one", "to": "2026-11-28T02:00+01:00"}, ["one/1"]),
        ({"table": "elsewhere/one"}, []),
        ({"table": "three"}, []),
        (
            {"number": "7", "table": "one", "bouler": "Anna", "from": "2026-11-28T07:00", "to": "2026-11-28T07:00"},
            ["one/7"],
        ),
    ],
)
async def test_what_is_searched_for_is_found(evening: PageHouse, asked: dict[str, str], coups: list[str]) -> None:
    async with visiting(evening) as visitor:
        page = await visitor.page(f"/search?{urlencode(asked)}")
    assert re.findall(r'"/coup/campione/([^"]*)"', page) == coups
    assert ("Nothing was found" in page) is not bool(coups)


async def test_the_pages_of_a_search_have_each_line_once(house: PageHouse) -> None:
    """Also where many lines have the same date, and some have none."""
    house.add("one", "two")
    dates = ["2026-11-28T20:00:00+00:00", "2026-11-28T20:00:00.000001+00:00", "-infinity"]
    records = [
        house.record(table, coup=coup, number=1, at=dates[coup % 3]) for coup in range(80) for table in ("one", "two")
    ]
    house.store(records)
    seen, path = list[str](), "/search?number=1"
    async with visiting(house) as visitor:
        while path:
            page = await visitor.page(path)
            seen += re.findall(r'"/coup/campione/([^"]*)"', page)
            older = re.findall(r'<a href="([^"]*)">Older', page)
            path = html.unescape(older[0]) if older else ""
    assert len(seen) == 160
    assert len(set(seen)) == 160


@pytest.mark.parametrize(
    "asked",
    [
        {"number": "38"},
        {"number": "-1"},
        {"number": "９"},
        {"number": "1" * 5000},
        {"cause": "unknown"},
        {"from": "yesterday"},
        {"to": "2026-13-01T00:00"},
        {"from": "0001-01-01T00:00+14:00"},
        {"bouler": "b" * 201},
        {"table": "a\0b"},
        {"place": "x"},
        {"place": "2026-99-99 00:00:00+00~1~1"},
        {"place": "2026-11-28 20:00:00+00~1~99999999999999999999"},
    ],
)
async def test_what_cannot_be_searched_for_is_refused(house: PageHouse, asked: dict[str, str]) -> None:
    async with visiting(house) as visitor:
        status, page = await visitor.get(f"/search?{urlencode(asked)}")
    assert status == 400, page
    assert 'role="alert"' in page
    assert len(page) < 10_000


LONG = 12_000
ODD: list[dict[str, Any]] = [
    {"number": 1e300, "label": 5, "cause": ["x"]},
    {"number": 17.5, "cause": "c" * LONG},
    {"number": -1, "label": "l" * LONG},
    {"number": "17"},
    {"number": True},
    {"about": 1e30, "number": 10**30},
    {"half": "\ud800"},
]


@pytest.mark.parametrize("leaf", ["result", "void", "ruling", "table"])
async def test_no_message_can_stop_the_collection_or_a_page(house: PageHouse, leaf: str) -> None:
    names = [f"table-{place}" for place in range(len(ODD))]
    house.add(*names)
    for name, odd in zip(names, ODD, strict=True):
        house.say(name, "table", coup=1, **{"bouler": "b" * LONG} | odd)
        house.say(name, leaf, coup=1, **odd)
        house.say(name, leaf, coup=1, bouler={"a": 1}, failing=7, state=[], evidence=[], sightings={})
    assert house.sql("select count(*) from house.record") == [(3 * len(ODD),)]
    assert house.sql("select count(*) from house.verdict") == [(0 if leaf == "table" else 2 * len(ODD),)]
    async with visiting(house) as visitor:
        for path in ("/", "/search", *(f"/wheel/campione/{name}" for name in names)):
            await visitor.page(path)
        if leaf in ("result", "void"):
            for name in names:
                await visitor.page(f"/coup/campione/{name}/1")


# --- alarms ----------------------------------------------------------------------------------------------------------


async def test_an_alarm_is_acknowledged_with_a_reason(house: PageHouse) -> None:
    house.add("one")
    alarm = house.alarm("one")
    async with visiting(house, ANNA, **PROXY) as visitor:
        assert "Acknowledge alarm" in await visitor.page("/alarms")
        answer = await visitor.send(f"/alarms/{alarm}", {"reason": " the clone is <found> "}, **FORM)
        assert (answer.status, answer.headers["Location"]) == (303, f"/alarms?done={alarm}")
        assert "None." in await visitor.page(f"/alarms?done={alarm}")
        done = await visitor.page("/alarms?which=acknowledged")
        assert "Acknowledged by anna" in done
        assert "the clone is &lt;found&gt;" in done
        assert (await visitor.send(f"/alarms/{alarm}", {"reason": "again"}, **FORM)).status == 409
        assert (await visitor.send("/alarms/999", {"reason": "none"}, **FORM)).status == 409
    ((by, reason, is_now),) = house.sql(
        "select acknowledged_by, reason, acknowledged_at > now() - interval '1 minute' from house.alarms"
    )
    assert (by, reason, is_now) == ("anna", "the clone is <found>", True)


@pytest.mark.parametrize("reason", ["", "  ", "r" * 501, "\0"])
async def test_an_alarm_is_not_acknowledged_without_a_reason(house: PageHouse, reason: str) -> None:
    house.add("one")
    alarm = house.alarm("one")
    async with visiting(house, ANNA, **PROXY) as visitor:
        assert (await visitor.send(f"/alarms/{alarm}", {"reason": reason}, **FORM)).status == 400
        assert (await visitor.send(f"/alarms/{alarm}", {"reason": "r" * 100_000}, **FORM)).status == 413
    assert house.sql("select count(*) from house.alarm where acknowledged_at is null") == [(1,)]


@pytest.mark.parametrize(
    ("headers", "settings"),
    [
        (BRUNO | FORM, PROXY),
        (FORM, {}),
        (FORM, PROXY),
        (ANNA | {"Sec-Fetch-Site": "cross-site"}, PROXY),
        (ANNA | {"Sec-Fetch-Site": "same-site"}, PROXY),
        (ANNA | {"Origin": "https://evil.example"}, PROXY),
        (ANNA | {"Origin": "null"}, PROXY),
        (ANNA, PROXY),
        (ANNA | FORM, PROXY | {"trusted_proxies": ("10.0.0.1",)}),
    ],
)
async def test_nobody_else_acknowledges(house: PageHouse, headers: dict[str, str], settings: dict[str, Any]) -> None:
    house.add("one")
    alarm = house.alarm("one")
    async with visiting(house, **settings) as visitor:
        assert (await visitor.send(f"/alarms/{alarm}", {"reason": "false"}, **headers)).status == 403
        assert (await visitor.get(f"/alarms/{alarm}", **headers))[0] in (403, 405)
    assert house.sql("select count(*) from house.alarm where acknowledged_at is null") == [(1,)]


async def test_a_form_of_a_browser_without_sec_fetch_site_is_known_by_its_origin(house: PageHouse) -> None:
    house.add("one")
    alarm = house.alarm("one")
    async with visiting(house, ANNA, **PROXY) as visitor:
        assert (await visitor.send(f"/alarms/{alarm}", {"reason": "seen"}, Origin=visitor.address)).status == 303


async def test_alarms_come_in_pages(house: PageHouse) -> None:
    house.add("one")
    for seq in range(120):
        house.alarm("one", seq=seq)
    seen, path = list[str](), "/alarms"
    async with visiting(house) as visitor:
        while path:
            page = await visitor.page(path)
            seen += re.findall(r"alarm (\d+),", page)
            older = re.findall(r'<a href="([^"]*)">Older', page)
            path = html.unescape(older[0]) if older else ""
    assert [int(each) for each in seen] == sorted({int(each) for each in seen}, reverse=True)
    assert len(seen) == 120


def test_the_role_of_the_page_may_read_and_acknowledge_and_nothing_else(house: PageHouse) -> None:
    house.add("one")
    house.play(["one"])
    first, second = house.alarm("one"), house.alarm("one", seq=2)
    acknowledge = (
        "update house.alarm set acknowledged_at = '-infinity', acknowledged_by = 'x', reason = 'y' where id = %s"
    )
    with psycopg.connect(house.cluster.dsn(house.database), autocommit=True) as page:
        page.execute("set role wheeld_page")
        for view in ("messages", "results", "events", "tables", "alarms", "verdict", "wheel", "collector"):
            page.execute(f"select * from house.{view}".encode())
        page.execute(acknowledge, [first])
        for refused in (
            "update house.alarm set why = 'x'",
            "update house.alarm set kind = 'x', reason = 'y'",
            "delete from house.alarm",
            "insert into house.alarm (wheel, kind, seq, subject, why) values (1, 'x', 1, '', '')",
            "update house.wheel set head_seq = 0",
            "update house.verdict set number = 1",
            "insert into house.verdict (wheel, seq, at, kind) values (1, 99, now(), 'result')",
            "update house.record set coup = 1",
            "select house.release_leases(gen_random_uuid())",
            "create table house.mine ()",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                page.execute(refused.encode())
        for change in ("reason = 'z'", "acknowledged_at = null, acknowledged_by = null, reason = null"):
            with pytest.raises(psycopg.errors.RaiseException, match="acknowledged already"):
                page.execute(f"update house.alarm set {change} where id = {first}".encode())
        with pytest.raises(psycopg.errors.CheckViolation):
            page.execute(f"update house.alarm set reason = 'z' where id = {second}".encode())
    assert house.sql("select acknowledged_at > now() - interval '1 minute' from house.alarm where id = %s", first) == [
        (True,)
    ]
    with pytest.raises(psycopg.errors.RaiseException, match="only the acknowledgement"):
        house.sql("update house.alarm set why = 'x' where acknowledged_at is null")


async def test_a_user_of_that_role_is_enough(house: PageHouse) -> None:
    house.add("one")
    alarm = house.alarm("one")
    house.sql("create role test_page login in role wheeld_page")
    try:
        database = house.cluster.dsn(house.database, "test_page")
        async with visiting(house, ANNA, **PROXY | {"database": database}) as visitor:
            for path in ("/", "/wheel/campione/one", "/search", "/alarms"):
                await visitor.page(path)
            assert (await visitor.send(f"/alarms/{alarm}", {"reason": "seen"}, **FORM)).status == 303
    finally:
        house.sql("drop role test_page")


# --- who may look ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("", 421),
        ("[", 421),
        ("fleet.example", 200),
        ("FLEET.example.:443", 200),
        ("localhost:8500", 200),
        ("127.0.0.1", 200),
        ("[::1]:80", 200),
    ],
)
async def test_only_its_own_names_lead_to_it(house: PageHouse, host: str, status: int) -> None:
    async with visiting(house, names=("fleet.example",)) as visitor:
        assert (await visitor.get("/", Host=host))[0] == status


async def test_every_answer_forbids_what_is_not_ours(house: PageHouse) -> None:
    async with visiting(house) as visitor:
        for path, status in (("/", 200), ("/x", 404), ("/files/style.css", 200), ("/search?number=x", 400)):
            async with visitor.session.get(f"{visitor.address}{path}") as answer:
                assert answer.status == status
                assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
                assert answer.headers["Cache-Control"] == "no-store"
        for path in ("/files/../pages.py", "/files/..%2Fpages.py", "/files/other.js"):
            assert (await visitor.get(path))[0] == 404


async def test_the_header_counts_from_the_proxy_only(house: PageHouse) -> None:
    async with visiting(house, **PROXY) as visitor:
        assert (await visitor.get("/"))[0] == 403
        assert (await visitor.get("/", **{"X-User": "  "}))[0] == 403
        assert (await visitor.get("/", **{"X-User": "a" * 201}))[0] == 403
        status, page = await visitor.get("/", **{"X-User": "bruno"})
        assert (status, "<span>bruno</span>" in page) == (200, True)
        headers = [("X-User", "bruno"), ("X-User", "anna")]
        async with visitor.session.get(visitor.address, headers=headers) as answer:
            assert answer.status == 403
    async with visiting(house, **PROXY | {"trusted_proxies": ("10.0.0.0/8", "fd00::/8")}) as visitor:
        assert (await visitor.get("/", **ANNA))[0] == 403


async def test_the_account_logs_in_and_out(house: PageHouse) -> None:
    house.add("one")
    alarm = house.alarm("one")
    account = Account(user="anna", password=password_hash("roulette"))
    async with visiting(house, account=account) as visitor:
        assert (await visitor.get("/"))[0] == 303
        assert (await visitor.get("/alarms"))[0] == 303
        assert (await visitor.send(f"/alarms/{alarm}", {"reason": "seen"}, **FORM)).status == 303
        assert (await visitor.get("/login"))[0] == 200
        assert (await visitor.get("/files/style.css"))[0] == 200
        for user, password in (("anna", "baccarat"), ("bruno", "roulette"), ("anna", ""), ("anna", "r" * 5000)):
            wrong = await visitor.send("/login", {"user": user, "password": password}, **FORM)
            assert wrong.status == 401
            assert "Set-Cookie" not in wrong.headers
        right = {"user": "anna", "password": "roulette"}
        assert (await visitor.send("/login", right, **{"Sec-Fetch-Site": "cross-site"})).status == 403
        answer = await visitor.send("/login", right, **FORM)
        assert answer.status == 303
        for part in ("HttpOnly", "SameSite=Strict", "Path=/"):
            assert part in answer.headers["Set-Cookie"]
        assert "<span>anna</span>" in await visitor.page("/")
        assert house.sql("select count(*) from house.alarm where acknowledged_at is null") == [(1,)]
        assert (await visitor.send(f"/alarms/{alarm}", {"reason": "seen"}, **FORM)).status == 303
        assert house.sql("select acknowledged_by from house.alarm") == [("anna",)]
        cookie = answer.cookies["wheeld_house"].value
        assert (await visitor.send("/logout", {}, **FORM)).status == 303
        assert (await visitor.get("/", Cookie=f"wheeld_house={cookie}"))[0] == 303


def test_a_password_is_known_by_its_hash_only() -> None:
    hashed = password_hash("roulette")
    assert is_password("roulette", hashed)
    assert not is_password("Roulette", hashed)
    assert hashed != password_hash("roulette")
    assert is_password_hash(hashed)
    for false in ("roulette", hashed[:-4], hashed.replace("32768", "1048576"), "scrypt$32768$8$1$!$!", ""):
        assert not is_password_hash(false)


OPEN = {"listen": "0.0.0.0:8500"}
ACCOUNT = {"account": {"user": "anna", "password": password_hash("x")}}


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        (OPEN, "other computers can reach"),
        (OPEN | ACCOUNT, "needs cert_file"),
        ({"account": {"user": "anna", "password": "plain"}}, "not a hash"),
        ({"user_header": "X-User"}, "needs trusted_proxies"),
        ({"trusted_proxies": ["10.0.0.1"]}, "need user_header"),
        (ACCOUNT | {"user_header": "X-User", "trusted_proxies": ["10.0.0.1"]}, "not both"),
        ({"user_header": "X-User", "trusted_proxies": ["proxy"]}, "trusted_proxies"),
        ({"user_header": "X User", "trusted_proxies": ["10.0.0.1"]}, "user_header"),
        ({"listen": "8500"}, "not an address"),
        ({"listen": "127.0.0.1:99999"}, "not an address"),
        ({"listen": "fleet.example:80"}, "not an address"),
        ({"unknown": 1}, "unknown"),
    ],
)
def test_settings_that_show_the_page_to_others_are_refused(tmp_path: Path, settings: dict[str, Any], why: str) -> None:
    file = tmp_path / "page.toml"
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items() if key != "account"]
    lines += (
        ["[account]", *(f'{key} = "{value}"' for key, value in settings["account"].items())]
        if "account" in settings
        else []
    )
    file.write_text("\n".join(['database = "dbname=house"', *lines]))
    with pytest.raises(SettingsError, match=why):
        read_page_settings(file, database=None, listen=None)
    assert main(["page", str(file)]) == 2


def test_options_count_instead_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "page.toml"
    file.write_text('database = "dbname=a"\nlisten = "0.0.0.0:1"\n')
    settings = read_page_settings(file, database="dbname=b", listen="[::1]:2")
    assert (settings.database, settings.address) == ("dbname=b", ("::1", 2))
    assert read_page_settings(None, database="dbname=c", listen=None) == PageSettings(database="dbname=c")
    with pytest.raises(SettingsError, match="database"):
        read_page_settings(None, database=None, listen=None)


# --- when something fails --------------------------------------------------------------------------------------------


async def test_lost_connections_are_made_again(house: PageHouse) -> None:
    house.add("one")
    async with visiting(house) as visitor:
        await visitor.page("/search")
        house.sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'wheeld-house-page'")
        await visitor.page("/search")


async def test_without_a_database_it_says_so(house: PageHouse) -> None:
    database = house.cluster.dsn("no_such_database")
    async with visiting(house, database=database) as visitor:
        for path in ("/", "/search", "/alarms", "/wheel/a/b"):
            status, page = await visitor.get(path)
            assert status == 503
            assert "The database gives no answer" in page
            assert "no_such_database" not in page
        assert (await visitor.get("/files/style.css"))[0] == 200


async def test_the_command_serves_until_it_is_asked_to_stop(house: PageHouse) -> None:
    house.add("one")
    words = ["-m", "wheeld_house", "page", "--database", house.cluster.dsn(house.database), "--listen", "127.0.0.1:0"]
    path = os.pathsep.join((str(ROOT), str(ROOT / "house")))
    process = await asyncio.create_subprocess_exec(
        sys.executable, *words, stderr=asyncio.subprocess.PIPE, env=os.environ | {"PYTHONPATH": path}
    )
    assert process.stderr is not None
    line = (await process.stderr.readline()).decode()
    address = line.removeprefix("page: ready at ").strip()
    async with aiohttp.ClientSession() as session, session.get(address) as answer:
        assert tables(await answer.text()) == ["one"]
    process.send_signal(signal.SIGTERM)
    assert await process.wait() == 0


def test_the_command_prints_the_hash_of_a_password(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("wheeld_house.cli.getpass", lambda _: "roulette")
    assert main(["password"]) == 0
    assert is_password("roulette", capsys.readouterr().out.strip())


# --- words -----------------------------------------------------------------------------------------------------------


def test_every_word_of_a_message_is_known() -> None:
    assert set(STATES) == set(get_args(StateName))
    assert set(BETS) == set(get_args(Bets))
    assert {cause.value: cause.text for cause in Cause} == CAUSES
    assert set(RULED) == set(get_args(RuledAs))
    assert set(ALARMS) == {*get_args(Fault), "late", "split"}
    assert set(MEASURES) == set(get_args(Measure))
    sensors = [*SENSOR_KINDS, "beam/0", "reader/11"]
    assert [sensor_of(each) for each in sensors if each != "beam"] == [
        Catalogue("en").say_text(sensor_text(each)) for each in sensors if each != "beam"
    ]


def test_ages_and_values_in_words() -> None:
    assert [age(seconds) for seconds in (None, 0.2, 59.9, 60, 7199, 90_000, 200_000)] == [
        "never", "now", "59 s ago", "1 min ago", "1 h ago", "1 day ago", "2 days ago",
    ]  # fmt: skip
    nested: Any = "x"
    for _ in range(50):
        nested = [nested]
    assert said("any", nested) == "…"
    assert member_of("silence_us") == "silence (µs)"
    assert member_of("laps_proven") == "laps proven"
    assert said("any", {"a": [True, 1.5, ""]}) == "a yes, 1.5, empty"
