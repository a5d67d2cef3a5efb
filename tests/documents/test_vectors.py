"""docs/feed-vectors.json is what the program makes today, and wheeld.feed finds in each case what the file says."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tests.documents.vectors import FILE, payload_of, text, vectors
from wheeld.core.messages.chain import GENESIS, verify_link
from wheeld.feed import FeedError, FeedMessage, Manner
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
    ids = iter([asked["id"].removeprefix("feed-"), "another", "one more"])
    monkeypatch.setattr("uuid.uuid4", lambda: SimpleNamespace(hex=next(ids)))
    order = Order(0, None, Manner(tell=told.append), user=asked["user"])
    messages = [read_message(one["topic"], one["payload"].encode(), root=VECTORS["root"]) for one in MESSAGES]
    for message in messages[: asked["from_seq"] - 1]:
        order.take(message, 0.0)
    order.connected(0.0)
    question = json.loads(order.question(1.0) or b"")
    assert (question["id"], question["from_seq"]) == (asked["id"], asked["from_seq"])
    if "asked_again" in case:
        assert order.question(20.0) is not None
        told.clear()
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


class Asking:
    """Plays `events` to wheeld.feed."""

    def __init__(self) -> None:
        self.order, self.question, self.is_connected = Order(0, None, Manner(tell=lambda _: None)), b"{}", False

    def happens(self, now_s: float, what: str, *more: Any) -> None:
        if what in ("started", "disconnected"):
            self.is_connected = False
            if what == "started":
                self.order = Order(self.order.seq, str(self.order.seq), Manner(tell=lambda _: None))
        elif what == "subscribed":
            self.is_connected = True
            self.order.connected(now_s)
        elif what == "fault":
            self.order.doubt()
        elif what in ("reply", "refused", "test"):
            self._reply(*more, test=what == "test")
        elif what == "conflict":
            with pytest.raises(FeedError, match="another message with this number"):
                self.order.take(replace(_numbered(more[0]), hash="other"), now_s)
        elif what in ("stored", "gap", "repeat"):
            assert self.order.take(_numbered(*more), now_s) is (what == "stored")

    def _reply(self, last: int | None = None, *, test: bool) -> None:
        whose = {"id": json.loads(self.question).get("id"), "user": "settlement", "name": "resend"}
        try:
            self.order.answered(json.dumps({**whose, "last_seq": last, "test": test}).encode())
        except FeedError as error:
            if error.fault != "rolled_back":
                self.order.doubt()


def asked_s(events: list[list[Any]], until_s: float) -> list[float]:
    """When wheeld.feed asks."""
    asking, asks_s, events = Asking(), list[float](), events[:]
    for now_s in (tenth / 10 for tenth in range(round(10 * until_s))):
        while events and events[0][0] <= now_s:
            asking.happens(now_s, *events.pop(0)[1:])
        if asking.is_connected and (asked := asking.order.question(now_s)):
            asking.question = asked
            asks_s.append(now_s)
    return asks_s


def _numbered(seq: int, body: dict[str, Any] | None = None) -> FeedMessage:
    prev = GENESIS if seq == 1 else str(seq - 1)
    return FeedMessage(seq, "table", b"", body or {}, prev, str(seq))


@pytest.mark.parametrize("row", VECTORS["asking"], ids=lambda row: row["what"])
def test_the_feed_asks_when_the_file_says(row: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random.uniform", lambda least, _: least)
    assert asked_s(row["events"], row["until_s"]) == row["asks_s"]
