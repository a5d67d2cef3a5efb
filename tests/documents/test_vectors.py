"""docs/feed-vectors.json is what the program makes today, and wheeld.feed finds in each case what the file says."""

from __future__ import annotations

import base64
import hashlib
import json
from types import SimpleNamespace
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tests.documents.vectors import FILE, payload_of, text, vectors
from tests.feed.wheel import ROOT, Wheel
from wheeld.core.messages.chain import GENESIS, verify_link
from wheeld.feed import FeedError, Manner
from wheeld.feed.message import check_verdict, ed25519, read_json, read_message
from wheeld.feed.order import Order

VECTORS = vectors()
KEY = base64.b64decode(VECTORS["public_key"])
MESSAGES: list[dict[str, Any]] = VECTORS["messages"]


def test_the_file_is_up_to_date() -> None:
    assert FILE.read_text(encoding="utf-8") == text(), "python -m tests.documents.vectors writes it anew"
    read_json(FILE.read_bytes())  # as strictly as the page wants a consumer to read


def test_the_messages_are_as_the_page_says() -> None:
    """With a hash and a signature of its own, not by the program's code."""
    prev = GENESIS
    for message in MESSAGES:
        payload = message["payload"].encode()
        assert hashlib.sha256(payload[: message["hashed_bytes"]]).hexdigest() == message["hash"]
        assert payload[message["hashed_bytes"] :].startswith(b',"hash":"')
        Ed25519PublicKey.from_public_bytes(KEY).verify(
            base64.b64decode(message["signature"]), message["hash"].encode("ascii")
        )
        assert message["prev"] == prev
        prev = verify_link(payload, prev)


def found(case: dict[str, Any]) -> str:
    """What wheeld.feed finds."""
    order = Order(0, None, Manner(tell=lambda _: None))
    for one in MESSAGES[: case["stored"]]:
        order.take(read_message(one["topic"], one["payload"].encode(), root=VECTORS["root"]), 0.0)
    verify = ed25519(KEY) if case["key"] else None
    try:
        message = read_message(case["topic"], payload_of(case), root=VECTORS["root"], verify=verify)
        check_verdict(message)
        if lost := order.lost_before(message):
            first, last = case["lost"]
            assert f"no messages {first} to {last} any more" in str(lost)
            return lost.fault
        if order.take(message, 0.0):
            return "next"
        return "repeat" if order.seq is not None and message.seq <= order.seq else "gap"
    except FeedError as error:
        return error.fault


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["what"])
def test_the_feed_finds_what_the_file_says(case: dict[str, Any]) -> None:
    assert found(case) == case["finds"]


def test_every_fault_of_one_message_has_a_case() -> None:
    kinds = {"malformed", "foreign", "test", "edited", "signature", "chain", "conflict", "lost"}
    assert {case["finds"] for case in VECTORS["cases"]} == {*kinds, "next", "repeat", "gap"}


@pytest.mark.parametrize("case", VECTORS["replies"], ids=lambda case: case["what"])
def test_the_feed_takes_a_reply_as_the_file_says(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """By what it does: whether and when it asks again, and what it reports."""
    asked, told = VECTORS["question"], list[str]()
    monkeypatch.setattr("uuid.uuid4", lambda: SimpleNamespace(hex=asked["id"].removeprefix("feed-")))
    order = Order(0, None, Manner(tell=told.append), user=asked["user"])
    messages = [read_message(one["topic"], one["payload"].encode(), root=VECTORS["root"]) for one in MESSAGES]
    for message in messages[: asked["from_seq"] - 1]:
        order.take(message, 0.0)
    order.connected(0.0)
    question = json.loads(order.question(1.0) or b"")
    assert (question["id"], question["from_seq"]) == (asked["id"], asked["from_seq"])
    for message in messages[asked["from_seq"] - 1 : case["stored"]]:
        order.take(message, 1.0)
    reply = payload_of(case)
    if case["finds"] in ("test", "rolled_back"):
        with pytest.raises(FeedError) as refused:
            order.answered(reply)
        assert refused.value.fault == case["finds"]
        return
    order.answered(reply)
    asks_soon = order.question(100.0) is not None
    said = {"more": "", "all": "", "refused": "the wheel refused", "drop": "no answer"}[case["finds"]]
    assert asks_soon is (case["finds"] != "all")
    assert [text[: len(said)] for text in told] == ([said] if said else [])


@pytest.mark.parametrize("row", VECTORS["asking"], ids=lambda row: row["what"])
def test_the_feed_asks_when_the_file_says(row: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random.uniform", lambda least, _: least)
    order, wheel, asks_s = Order(0, None, Manner(tell=lambda _: None)), Wheel(), list[float]()
    messages = [read_message(*wheel.say(), root=ROOT) for _ in range(9)]
    other = read_message(*Wheel().say("void"), root=ROOT)
    question, events = b"{}", list(row["events"])
    for tenth in range(10 * row["until_s"]):
        now_s = tenth / 10
        while events and events[0][0] <= now_s:
            _, what, *more = events.pop(0)
            if what == "subscribed":
                order.connected(now_s)
            elif what == "fault":
                order.doubt()
            elif what in ("reply", "refused", "test"):
                whose = {"id": json.loads(question).get("id"), "user": "settlement", "name": "resend"}
                reply = {**whose, "last_seq": more[0] if more else None, "test": what == "test"}
                try:
                    order.answered(json.dumps(reply).encode())
                except FeedError as error:
                    if error.fault != "rolled_back":
                        order.doubt()
            elif what == "conflict":
                with pytest.raises(FeedError, match="another message with this number"):
                    order.take(other, now_s)
            else:
                assert order.take(messages[more[0] - 1], now_s) is (what == "stored")
        if asked := order.question(now_s):
            question = asked
            asks_s.append(now_s)
    assert asks_s == row["asks_s"]
