"""The order of the feed alone, and its TLS: what it believes of whom, and that it keeps no more than it says."""

from __future__ import annotations

import asyncio
import json
import ssl
from pathlib import Path

import pytest

from tests.feed.wheel import ROOT, Wheel
from tests.feed.world import Caller, World, run_virtually
from tests.mosquitto import free_port
from tests.security.authority import Authority, strict
from wheeld.feed import Feed, Login, Manner, order
from wheeld.feed.message import SEQ_MAX, read_message
from wheeld.feed.order import Order

PATIENCE_S = 20.0


def taken(made: Order, wheel: Wheel, count: int) -> None:
    for _ in range(count):
        leaf, payload = wheel.say()
        assert made.take(read_message(leaf, payload, root=ROOT), 0.0)


def test_before_it_has_asked_it_believes_no_answer() -> None:
    made = Order(0, None, Manner(tell=lambda _: None))
    taken(made, Wheel(), 3)
    made.answered(b'{"id":null,"user":"settlement","name":"resend","last_seq":3}')
    made.connected(0.0)
    assert made.question(1.0) is not None


def test_it_keeps_a_bounded_number_of_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "REMEMBERED", 20)
    made, wheel = Order(0, None, Manner(tell=lambda _: None)), Wheel()
    taken(made, wheel, 100)
    assert len(made._known) == 20
    assert made._known[100] == wheel.hashes[-1]


def test_it_keeps_no_hash_for_who_looks_into_his_own_store() -> None:
    made, wheel = Order(1, "0" * 64, Manner(tell=lambda _: None), remembered=0), Wheel()
    wheel.say()
    wheel.hashes[-1] = "0" * 64
    taken(made, wheel, 3)
    assert made._known == {}


def test_it_says_whether_an_answer_is_open() -> None:
    made = Order(0, None, Manner(tell=lambda _: None))
    made.connected(0.0)
    was = [made.is_asking]
    question = made.question(1.0)
    assert question is not None
    was.append(made.is_asking)
    made.answered(Wheel().answer(question)[-1][1])
    assert [*was, made.is_asking] == [False, True, False]


@pytest.mark.parametrize("other", [{"id": "feed-0"}, {"user": "collector"}, {"name": "seal"}], ids=str)
def test_it_believes_no_answer_to_another_question(other: dict[str, str]) -> None:
    made = Order(0, None, Manner(tell=lambda _: None))
    made.connected(0.0)
    question = made.question(1.0)
    assert question is not None
    reply = json.loads(Wheel().answer(question)[-1][1])
    made.answered(json.dumps({**reply, **other}).encode())
    assert made.is_asking
    made.answered(json.dumps(reply).encode())
    assert not made.is_asking


@pytest.mark.parametrize("last", [None, "7", True, -1, SEQ_MAX + 1], ids=str)
def test_an_answer_without_a_possible_last_message_is_a_refusal(last: object) -> None:
    told: list[str] = []
    made = Order(0, None, Manner(tell=told.append))
    made.connected(0.0)
    question = made.question(1.0)
    assert question is not None
    reply = json.loads(Wheel().answer(question)[-1][1])
    made.answered(json.dumps({**reply, "last_seq": last, "why": "because"}).encode())
    assert told == ["the wheel refused to send again from seq 1: because"]


def test_what_was_refused_while_a_question_was_open_is_asked_for() -> None:
    """The wheel had sent all, and then one more, which came damaged and before the answer."""
    made, wheel = Order(0, None, Manner(tell=lambda _: None)), Wheel()
    made.connected(0.0)
    question = made.question(1.0)
    assert question is not None
    made.doubt()
    made.answered(wheel.answer(question)[-1][1])
    assert [made.question(t_s) is not None for t_s in (2.0, 10.9, 13.6)] == [False, False, True]


def test_a_gap_that_fills_itself_is_not_asked_for() -> None:
    made, wheel = Order(0, None, Manner(tell=lambda _: None)), Wheel()
    made.connected(0.0)
    question = made.question(1.0)
    assert question is not None
    made.answered(wheel.answer(question)[-1][1])
    first, second = (read_message(*wheel.say(), root=ROOT) for _ in range(2))
    assert [made.take(each, 2.0) for each in (second, first, second)] == [False, True, True]
    assert made.question(100.0) is None


def test_a_broker_has_to_prove_its_name(tmp_path: Path) -> None:
    house = Authority(tmp_path)
    context = Login(ca_file=house.file).tls()
    assert context is not None
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2
    assert Login().tls() is None


@pytest.mark.parametrize(("authority", "host"), [("another", "127.0.0.1"), ("house", "127.0.0.2")])
async def test_a_broker_of_another_authority_or_name_is_left(tmp_path: Path, authority: str, host: str) -> None:
    house, reports = Authority(tmp_path), asyncio.Queue[str]()
    theirs = house if authority == "house" else Authority(tmp_path, authority)
    own = house.issue("settlement")
    with strict(tmp_path, theirs.issue("broker", server=True, host=host)) as broker:
        login = Login(port=broker.port, ca_file=own.ca_file, cert_file=own.cert_file, key_file=own.key_file)
        async with Feed("127.0.0.1", root=ROOT, login=login, manner=Manner(tell=reports.put_nowait)):
            told = await asyncio.wait_for(reports.get(), PATIENCE_S)
    assert "CERTIFICATE_VERIFY_FAILED" in told
    assert not [line for line in broker.log if "New client connected" in line]


def test_no_message_leaves_a_task_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    async def whole() -> None:
        world = World(monkeypatch)
        async with Feed("broker", root=ROOT, manner=Manner(tell=lambda _: None)) as feed:
            caller = Caller(feed, [])
            await asyncio.sleep(2)
            world.say()
            await caller.until(lambda: len(caller.stored) == 1)
            await asyncio.sleep(2)
            before = len(asyncio.all_tasks())
            for _ in range(50):
                world.say()
                await asyncio.sleep(1)
            await caller.until(lambda: len(caller.stored) == 51)
            await asyncio.sleep(2)
            assert len(asyncio.all_tasks()) <= before

    run_virtually(whole())


async def test_a_password_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    reports = asyncio.Queue[str]()
    login = Login(port=free_port(), username="settlement", password_file=tmp_path / "none")
    async with Feed("127.0.0.1", root=ROOT, login=login, manner=Manner(tell=reports.put_nowait)):
        assert "No such file" in await asyncio.wait_for(reports.get(), PATIENCE_S)
